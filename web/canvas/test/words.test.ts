import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { EXAMPLES } from "../src/app/examples";
import { PRESETS } from "../src/app/presets";
import { KEY_MAP } from "../src/keys/keyMap";
import { COLUMNS } from "../src/panels/timing/rows";
import { COMPARED } from "../src/panels/timing/compared";
import { PANELS } from "../src/panels/panels";
import { PHASES } from "../src/run/messages";
import { PROBLEMS } from "../src/model/problems";
import { AFTERWARDS } from "../src/model/seeds";
import { en } from "../src/words/en";
import { zh } from "../src/words/zh";

/** Give key -> sentence, keys with dots. */
function flat(words: object, before = ""): Map<string, string> {
  const found = Object.entries(words).flatMap(([key, value]: [string, unknown]): [string, string][] =>
    typeof value === "string" ? [[before + key, value]] : [...flat(value as object, `${before}${key}.`)],
  );
  return new Map(found);
}

const LINES = ["left", "right", "top", "bottom", "middle", "centre", "across", "down"];
const [english, chinese] = [flat(en), flat(zh)];
const SOURCE = new URL("../src/", import.meta.url);
const source = readdirSync(SOURCE, { recursive: true, encoding: "utf8" })
  .filter((name) => /\.tsx?$/.test(name) && !/(^|[\\/])words/.test(name))
  .map((name) => readFileSync(new URL(name, SOURCE), "utf8"))
  .join("\n");
const all = (pattern: RegExp): string[] => [...source.matchAll(pattern)].map((found) => found[1] as string);

/** Keys that panels build of what the server says, or of a number. */
const BUILT = [
  ...["starting", "ready", "busy", "waiting", "stopped"].map((phase) => `devices.phase.${phase}`),
  ...["ok", "missing", "broken", "old", "not reached"].map((state) => `devices.state.${state}`),
  ...PRESETS.map((preset) => `devices.preset.${preset}`),
  ...["node", "asked", "would", "ran"].map((column) => `devices.column.${column}`),
  ...["precision", "performance", "priority"].map((option) => `devices.${option}`),
  ...["devices.selected", "devices.ops", "bar.faults"].flatMap((key) => [`${key}_one`, `${key}_other`]),
  ...["waiting", "running", "failed", "cancelled", "done"].map((state) => `models.job.${state}`),
  ...["in catalogue", "pulled", "converted", "damaged"].map((state) => `models.state.${state}`),
];
const PLURAL = new Set(["devices.selected", "devices.ops", "bar.faults"]);

/** Every key that the source names, and those it builds from a code. */
function used(): Set<string> {
  const named = all(/["']((?:about|app|example|bar|palette|node|group|link|fault|note|file|help|find|menu|mask|settings|timing|queue|results|devices|models)\.[\w-]+)["']/g);
  const codes = [...all(/FormatError\("([\w-]+)"/g), ...all(/refuse\("([\w-]+)"/g)].map((code) => `fault.${code}`);
  const links = all(/code: "(no-node|no-output|no-input|kind|cycle)"/g).map((code) => `link.${code}`);
  return new Set([...named, ...codes, ...links, ...KEY_MAP.map((key) => `command.${key.command}`), ...Object.keys(EXAMPLES).map((name) => `example.${name}`), ...BUILT, ...[...COLUMNS, ...COMPARED].map((column) => `timing.column.${column}`), ...["failed", "cancelled"].flatMap((state) => [`timing.${state}`, `queue.${state}`]), ...PANELS.map((panel) => `${panel}.title`), ...PHASES.map((phase) => `phase.${phase}`), ...AFTERWARDS.map((after) => `after.${after}`), ...PROBLEMS.map((code) => `problem.${code}`), ...LINES.map((how) => `menu.${how}`)]);
}

describe("words", () => {
  it("are there for all that is said", () => {
    expect(used().size).toBeGreaterThan(100);
    expect([...used()].filter((key) => !english.has(key) && !PLURAL.has(key))).toEqual([]);
  });

  it("are all said somewhere", () => {
    const spoken = used();
    expect([...english.keys()].filter((key) => !spoken.has(key) && key !== "command.theme")).toEqual([]);
  });

  it("are the same in Chinese, with the same gaps to fill", () => {
    expect([...chinese.keys()].sort()).toEqual([...english.keys()].sort());
    const gaps = (text: string): string[] => [...text.matchAll(/\{\{(\w+)\}\}/g)].map((found) => found[1] as string).sort();
    for (const [key, sentence] of english) expect(gaps(chinese.get(key) ?? ""), key).toEqual(gaps(sentence));
  });

  it("are Chinese in Chinese", () => {
    const plain = new Set(["bar.language", "bar.percent"]);
    const foreign = [...chinese].filter(([key, sentence]) => !plain.has(key) && !/\p{Script=Han}/u.test(sentence));
    expect(foreign).toEqual([]);
  });
});
