import { describe, expect, it } from "vitest";
import { weighted } from "../src/model/weights";

/** `[` and `]` mark what is selected. */
function press(text: string, ...ups: boolean[]): string {
  const start = text.indexOf("[");
  const end = text.indexOf("]") - 1;
  const first = { text: text.replace("[", "").replace("]", ""), start, end };
  const last = ups.reduce((marked, up) => weighted(marked, up) ?? marked, first);
  return `${last.text.slice(0, last.start)}[${last.text.slice(last.start, last.end)}]${last.text.slice(last.end)}`;
}

describe("weights of a prompt", () => {
  it("rise and fall by steps, and go at 1", () => {
    expect(press("a [red cat] on a sofa", true)).toBe("a [(red cat:1.05)] on a sofa");
    expect(press("a [red cat] on a sofa", true, true)).toBe("a [(red cat:1.1)] on a sofa");
    expect(press("a [red cat] on a sofa", true, false)).toBe("a [red cat] on a sofa");
    expect(press("a [red cat] on a sofa", false)).toBe("a [(red cat:0.95)] on a sofa");
  });

  it("are those of the word at the caret, and of the brackets around it", () => {
    expect(press("a r[]ed cat", true)).toBe("a [(red:1.05)] cat");
    expect(press("a ([red cat]:1.2) here", true)).toBe("a [(red cat:1.25)] here");
  });

  it("stay within bounds, and nothing is weighted where there is nothing", () => {
    expect(press("[(x:0)]", false)).toBe("[(x:0)]");
    expect(press("[(x:10)]", true)).toBe("[(x:10)]");
    expect(press("a [] b", true)).toBe("a [] b");
  });

  it("work with Chinese", () => {
    expect(press("[红色的猫]，沙发", true)).toBe("[(红色的猫:1.05)]，沙发");
  });
});
