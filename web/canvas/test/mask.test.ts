import { describe, expect, it } from "vitest";
import { alphaOf, emptyMask, feathered, inverted, maskOf, stroke } from "../src/view/mask/brush";

const HARD = { radius: 3, soft: 0, erase: false };
const count = (on: Uint8ClampedArray): number => on.filter((value) => value === 255).length;

describe("a mask", () => {
  it("is painted round, and along a stroke", () => {
    const dot = stroke(emptyMask(20, 20), HARD, [10, 10], [10, 10]);
    expect(Math.abs(count(dot.on) - Math.PI * 9)).toBeLessThan(6);
    const line = stroke(emptyMask(20, 20), HARD, [4, 10], [16, 10]);
    expect(line.on[10 * 20 + 10]).toBe(255);
    expect(count(line.on)).toBeGreaterThan(count(dot.on) + 60);
  });

  it("is taken off again by the eraser, and put back by nothing else", () => {
    const dot = stroke(emptyMask(20, 20), HARD, [10, 10], [10, 10]);
    expect(count(stroke(dot, { ...HARD, erase: true }, [10, 10], [10, 10]).on)).toBe(0);
    expect(count(dot.on)).toBeGreaterThan(20); // what it was made of stays
  });

  it("is painted at the edge and beyond without harm", () => {
    const corner = stroke(emptyMask(8, 8), HARD, [-2, -2], [0, 0]);
    expect(corner.on[0]).toBe(255);
    expect(count(stroke(emptyMask(8, 8), HARD, [100, 100], [200, 200]).on)).toBe(0);
  });

  it("is soft where the brush is", () => {
    const soft = stroke(emptyMask(40, 40), { radius: 15, soft: 1, erase: false }, [20, 20], [20, 20]);
    const [near, far] = [soft.on[20 * 40 + 22] ?? 0, soft.on[20 * 40 + 32] ?? 0];
    expect(near).toBeGreaterThan(far);
    expect(far).toBeGreaterThan(0);
  });

  it("inverts, softens without losing any of it, and comes back from a picture", () => {
    const dot = stroke(emptyMask(20, 20), HARD, [10, 10], [10, 10]);
    expect(inverted(inverted(dot)).on).toEqual(dot.on);
    const sum = (on: Uint8ClampedArray): number => on.reduce((a, b) => a + b, 0);
    expect(Math.abs(sum(feathered(dot, 2).on) / sum(dot.on) - 1)).toBeLessThan(0.05);
    expect(maskOf(alphaOf(dot), 20, 20).on).toEqual(dot.on);
  });
});
