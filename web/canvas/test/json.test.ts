import { describe, expect, it } from "vitest";
import { readJson } from "../src/formats/readJson";
import { compact, pretty } from "../src/formats/writeJson";
import { Float } from "../src/model/json";
import { hasPython, python } from "./python";

/** Texts that a plain JSON.parse and JSON.stringify would change. */
const HARD = [
  '{"10": 1, "2": 2, "a": 3}',
  '{"seed": 18446744073709551615, "other": 1125899906842624123, "min": -9223372036854775808}',
  "[8.0, 0.1, 1e-05, 1e+16, 123456789012345.6, -0.0, 5e-324, 1.7976931348623157e+308, 100000.0, 0.0001]",
  '{"__proto__": {"x": 1}, "": null}',
  '["\\ud800", "\\u0001", "\u2028", "\u4e2d\u6587", "\\"\\\\\\n"]',
];

describe("JSON", () => {
  it("is written as it was read", () => {
    for (const text of HARD) expect(compact(readJson(text))).toBe(text);
  });

  it("keeps what kind of number was written", () => {
    expect(readJson("8")).toBe(8);
    expect(readJson("8.0")).toEqual(new Float(8));
    expect(readJson("9007199254740993")).toBe(9007199254740993n);
  });

  it("refuses what is no JSON, with line and column", () => {
    const wrong = ["", "{", '{"a": 1,}', '{"a": 1, "a": 2}', "[1 2]", "nul", "01", '"\n"', "1e999", "[1] 2", "[".repeat(300)];
    for (const text of wrong) expect(() => readJson(text), text).toThrow("line");
    expect(() => readJson('{\n "a": 1\n "b": 2}')).toThrow('"line":"3","column":"2"');
  });

  it.runIf(hasPython)("is written as Python writes it", () => {
    const code = "import json,sys; v=json.load(sys.stdin); sys.stdout.write(json.dumps(v, ensure_ascii=False, indent=1)" +
      ".encode('utf-8', 'backslashreplace').decode())";
    for (const text of HARD) expect(pretty(readJson(text))).toBe(python(code, text));
  });
});
