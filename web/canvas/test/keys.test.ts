import { describe, expect, it } from "vitest";
import { commandOf, KEY_MAP, keyOf, keysOf, readOwnKeys, rebound } from "../src/keys/keyMap";

const press = (key: string, more: object = {}) => ({ key, code: "", ctrlKey: false, metaKey: false, shiftKey: false, altKey: false, ...more });

describe("keys", () => {
  it("do one thing each", () => {
    const all = KEY_MAP.flatMap(({ keys }) => keys);
    expect(new Set(all).size).toBe(all.length);
  });

  it("are changed, and whoever had the key before has it no more", () => {
    const own = rebound({}, "group", "Ctrl+m");
    expect(commandOf(press("m", { ctrlKey: true }), false, own)).toBe("group");
    expect(commandOf(press("g", { ctrlKey: true }), false, own)).toBeNull();
    expect(keyOf("mute", own)).toBe("");
    const all = keysOf(own).flatMap(({ keys }) => keys);
    expect(new Set(all).size).toBe(all.length);
  });

  it("are text in a field, where they are letters", () => {
    const own = rebound({}, "run", "r");
    expect(commandOf(press("r"), false, own)).toBe("run");
    expect(commandOf(press("r"), true, own)).toBeNull();
    expect(commandOf(press("Enter", { ctrlKey: true }), true)).toBe("run");
  });

  it("are read from what was kept, and nonsense is left out", () => {
    expect(readOwnKeys({ group: ["g"], nonsense: ["x"], mute: "m", pin: [5] })).toEqual({ group: ["g"] });
    expect(readOwnKeys(null)).toEqual({});
    expect(readOwnKeys("x")).toEqual({});
  });
});
