import { describe, expect, it } from "vitest";
import { freshId } from "../src/app/ids";
import { readJson } from "../src/formats/readJson";
import { readMessage } from "../src/run/messages";
import { NO_RUNS, type NodeRun, type RunEvent, tell } from "../src/run/runs";
import { absentDevice, fallbacks, isOtherwiseAsked, sharesOf, slower, timeText } from "../src/run/spent";

/** Give the node after the server told these entries of it, one run each. */
function after(...entries: object[]): NodeRun {
  const events = entries.flatMap((entry, run): RunEvent[] => {
    const told = { type: "vinode_node", data: { prompt_id: `r${run}`, node: "1", ...entry } };
    const message = readMessage(readJson(JSON.stringify(told)));
    const end = { type: "run", run: `r${run}`, state: "done", percent: 100, seconds: 1 } as const;
    return message ? [{ type: "asked", run: `r${run}`, tab: "t" }, { type: "told", message }, { type: "told", message: end }] : [];
  });
  return events.reduce(tell, NO_RUNS).tabs.get("t")?.nodes.get("1") as NodeRun;
}

const REASON = { code: "device-absent", sentence: "no NPU is here", fix: "ask doctor", fixes: [{ kind: "device", value: "CPU" }, { kind: "advice", value: "" }] };

describe("time spent", () => {
  it("is parted by phase, in the order in which they happen", () => {
    const node = after({ state: "done", seconds: 2, phases: { compute: 0.5, compile: 1.5, host: 0 } });
    expect(sharesOf(node)).toEqual([
      { phase: "compile", seconds: 1.5, percent: 75 },
      { phase: "compute", seconds: 0.5, percent: 25 },
    ]);
  });

  it("is compared with the run before, where that tells something", () => {
    expect(slower(after({ state: "done", seconds: 1 }, { state: "done", seconds: 1.5 }))).toBe(50);
    expect(slower(after({ state: "done", seconds: 1 }, { state: "done", seconds: 1.05 }))).toBeNull();
    expect(slower(after({ state: "done", seconds: 0.001 }, { state: "done", seconds: 0.003 }))).toBeNull();
    expect(slower(after({ state: "done", seconds: 1 }))).toBeNull();
  });

  it("is written short", () => {
    expect([0.00042, 0.0121, 1.2345, 12.345, 125.2].map(timeText)).toEqual(["0.4 ms", "12 ms", "1.23 s", "12.3 s", "125 s"]);
  });
});

describe("a fallback", () => {
  it("has a reason, a fix and what can be applied; Python of the node itself is none", () => {
    const fell = after({ state: "done", seconds: 1, placement: { requested: "NPU", where: "CPU", reasons: [REASON] } });
    expect(fallbacks(fell)).toEqual([{ code: "device-absent", sentence: "no NPU is here", fix: "ask doctor", ops: [], fixes: [{ kind: "device", value: "CPU", sentence: "" }] }]);
    const plain = after({ state: "done", seconds: 1, placement: { requested: "", where: "CPU", reasons: [{ ...REASON, code: "python-node" }] } });
    expect(fallbacks(plain)).toEqual([]);
  });

  it("is of the device that was asked for then", () => {
    const fell = after({ state: "done", seconds: 1, placement: { requested: "NPU", where: "CPU", reasons: [REASON] } });
    expect([isOtherwiseAsked(fell, "NPU"), isOtherwiseAsked(fell, "GPU"), isOtherwiseAsked(fell, "")]).toEqual([false, true, false]);
  });

  it("is foreseen where the device is not there", () => {
    expect(absentDevice("NPU", ["CPU", "GPU.0"])).toBe("NPU");
    expect(absentDevice("HETERO:NPU,CPU", ["CPU"])).toBe("NPU");
    for (const hint of ["", "AUTO", "CPU", "GPU", "GPU.0", "NPU!"]) expect(absentDevice(hint, ["CPU", "GPU.0"]), hint).toBeNull();
    expect(absentDevice("NPU", [])).toBeNull();
  });
});

describe("an id", () => {
  it("is a UUID, and another each time", () => {
    expect(freshId()).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(freshId()).not.toBe(freshId());
  });
});
