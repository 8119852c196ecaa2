/** JSON text -> values of which nothing is lost: order of keys, seeds to 2^64-1, 8.0 as 8.0. */
import { Float, type Json, type JsonObject } from "../model/json";
import { FormatError } from "./formatError";

const DEEPEST = 200; // brackets inside each other, as the server reads them
const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
// oxlint-disable-next-line no-control-regex -- JSON forbids them in texts
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const SPACE = /[ \t\r\n]*/y;
const ESCAPES: Record<string, string> = {
  '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t",
};
const WORDS: readonly [string, Json][] = [["true", true], ["false", false], ["null", null]];

/** Read JSON strictly; FormatError says line and column. */
export function readJson(text: string): Json {
  return new Reader(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text, WORDS).whole();
}

/** Read JSON as Python writes it into ComfyUI's pictures, where NaN may stand: it is null here. */
export function readPythonJson(text: string): Json {
  return new Reader(text, [...WORDS, ["NaN", null], ["Infinity", null], ["-Infinity", null]]).whole();
}

class Reader {
  private at = 0;
  private depth = 0;

  constructor(
    private readonly text: string,
    private readonly words: readonly [string, Json][],
  ) {}

  whole(): Json {
    this.space();
    if (this.at >= this.text.length) this.refuse("empty");
    const value = this.value();
    this.space();
    if (this.at < this.text.length) this.refuse("json-tail");
    return value;
  }

  private value(): Json {
    const next = this.text[this.at];
    if (next === "{") return this.nested(() => this.object());
    if (next === "[") return this.nested(() => this.list());
    if (next === '"') return this.string();
    for (const [word, value] of this.words) {
      if (this.text.startsWith(word, this.at)) {
        this.at += word.length;
        return value;
      }
    }
    return this.number();
  }

  private nested<T>(read: () => T): T {
    this.depth += 1;
    if (this.depth > DEEPEST) this.refuse("json-deep");
    this.at += 1;
    this.space();
    const value = read();
    this.depth -= 1;
    return value;
  }

  private object(): JsonObject {
    const found = new Map<string, Json>();
    if (this.taken("}")) return found;
    do {
      this.space();
      if (this.text[this.at] !== '"') this.refuse("json-key");
      const key = this.string();
      if (found.has(key)) this.refuse("json-twice", key);
      this.space();
      if (!this.taken(":")) this.refuse("json-colon");
      this.space();
      found.set(key, this.value());
      this.space();
    } while (this.taken(","));
    if (!this.taken("}")) this.refuse("json-comma");
    return found;
  }

  private list(): Json[] {
    const found: Json[] = [];
    if (this.taken("]")) return found;
    do {
      this.space();
      found.push(this.value());
      this.space();
    } while (this.taken(","));
    if (!this.taken("]")) this.refuse("json-comma");
    return found;
  }

  private string(): string {
    this.at += 1;
    let found = "";
    for (;;) {
      found += this.match(PLAIN)?.[0] ?? "";
      const end = this.text[this.at];
      this.at += 1;
      if (end === '"') return found;
      if (end !== "\\") this.refuse("json-string");
      found += this.escape();
    }
  }

  private escape(): string {
    const letter = this.text[this.at] ?? "";
    this.at += 1;
    const plain = ESCAPES[letter];
    if (plain !== undefined) return plain;
    const code = this.text.slice(this.at, this.at + 4);
    if (letter !== "u" || !/^[0-9a-fA-F]{4}$/.test(code)) this.refuse("json-string");
    this.at += 4;
    return String.fromCharCode(parseInt(code, 16));
  }

  private number(): Json {
    const found = this.match(NUMBER);
    if (!found) this.refuse("json-value");
    const [digits, fraction, exponent] = found;
    const value = Number(digits);
    if (fraction === undefined && exponent === undefined) {
      if (Number.isSafeInteger(value)) return value + 0; // -0 is 0, as a whole number
      return digits.length < 400 ? BigInt(digits) : this.refuse("json-number");
    }
    if (!Number.isFinite(value)) this.refuse("json-number");
    return Number.isInteger(value) ? new Float(value) : value;
  }

  private match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found) this.at = pattern.lastIndex;
    return found;
  }

  private space(): void {
    this.match(SPACE);
  }

  private taken(letter: string): boolean {
    if (this.text[this.at] !== letter) return false;
    this.at += 1;
    return true;
  }

  private refuse(code: string, got = ""): never {
    const before = this.text.slice(0, this.at);
    const line = before.split("\n").length;
    const column = this.at - before.lastIndexOf("\n");
    throw new FormatError(code, { line: String(line), column: String(column), got: got.slice(0, 60) });
  }
}
