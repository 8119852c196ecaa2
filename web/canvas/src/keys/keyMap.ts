/** Which key does what. One table: the canvas obeys it, and the help page shows it. */

export type Command =
  | "palette" | "run" | "run-front" | "run-selected" | "stop" | "undo" | "redo" | "copy" | "cut" | "paste" | "paste-linked" | "duplicate"
  | "delete" | "select-all" | "clear-selection" | "group" | "collapse" | "bypass" | "mute" | "pin" | "wires" | "arrange" | "fit"
  | "fit-selection" | "minimap" | "save" | "save-as" | "open" | "new-tab" | "next-tab" | "help" | "find" | "theme" | "zoom-in" | "zoom-out"
  | "about" | "panel-timing" | "panel-queue" | "panel-results" | "panel-devices" | "panel-models";

export interface Key {
  readonly command: Command;
  readonly keys: readonly string[];
}

/** Names of keys as KeyboardEvent.key gives them, letters small; Ctrl is Cmd on a Mac. */
export const KEY_MAP: readonly Key[] = [
  { command: "run", keys: ["Ctrl+Enter"] },
  { command: "run-front", keys: ["Ctrl+Shift+Enter"] },
  { command: "run-selected", keys: ["Alt+Enter"] },
  { command: "stop", keys: ["Ctrl+Alt+Enter"] },
  { command: "palette", keys: ["Space", "Tab", "Shift+a"] },
  { command: "undo", keys: ["Ctrl+z"] },
  { command: "redo", keys: ["Ctrl+y", "Ctrl+Shift+z"] },
  { command: "copy", keys: ["Ctrl+c"] },
  { command: "cut", keys: ["Ctrl+x"] },
  { command: "paste", keys: ["Ctrl+v"] },
  { command: "paste-linked", keys: ["Ctrl+Shift+v"] },
  { command: "duplicate", keys: ["Ctrl+d"] },
  { command: "delete", keys: ["Delete", "Backspace"] },
  { command: "select-all", keys: ["Ctrl+a"] },
  { command: "clear-selection", keys: ["Escape"] },
  { command: "group", keys: ["Ctrl+g"] },
  { command: "collapse", keys: ["Alt+c"] },
  { command: "bypass", keys: ["Ctrl+b"] },
  { command: "mute", keys: ["Ctrl+m"] },
  { command: "pin", keys: ["p"] },
  { command: "wires", keys: ["w"] },
  { command: "about", keys: ["i"] },
  { command: "arrange", keys: ["Ctrl+Shift+f"] },
  { command: "find", keys: ["Ctrl+f"] },
  { command: "fit", keys: ["."] },
  { command: "fit-selection", keys: ["f"] },
  { command: "zoom-in", keys: ["Alt+="] },
  { command: "zoom-out", keys: ["Alt+-"] },
  { command: "minimap", keys: ["Alt+m"] },
  { command: "save", keys: ["Ctrl+s"] },
  { command: "save-as", keys: ["Ctrl+Shift+s"] },
  { command: "open", keys: ["Ctrl+o"] },
  { command: "new-tab", keys: ["Alt+n"] },
  { command: "next-tab", keys: ["Alt+w"] },
  { command: "panel-timing", keys: ["t"] },
  { command: "panel-queue", keys: ["q"] },
  { command: "panel-results", keys: ["a"] },
  { command: "panel-devices", keys: ["d"] },
  { command: "panel-models", keys: ["m"] },
  { command: "help", keys: ["?", "F1"] },
];

/** The browser tells of these as events of the clipboard, by its own keys: they stay as they are. */
export const FIXED: ReadonlySet<Command> = new Set(["copy", "cut", "paste", "paste-linked"]);

/** What works while somebody writes into a field, too. */
const IN_FIELDS: ReadonlySet<Command> = new Set(["run", "run-front", "stop", "save", "save-as", "open"]);

/** What of a keyboard event is looked at. */
export interface Press {
  readonly key: string;
  readonly code: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly shiftKey: boolean;
  readonly altKey: boolean;
}

/** Write a press as the table does: `Ctrl+Shift+Enter`. */
export function nameOf(press: Press): string {
  // Alt changes what a letter gives on some keyboards, so its place counts there.
  const letter = press.altKey && /^Key[A-Z]$/.test(press.code) ? press.code.slice(3) : press.key;
  const key = letter === " " ? "Space" : letter.length === 1 ? letter.toLowerCase() : letter;
  const shifted = press.shiftKey && (letter.length > 1 || /[a-z]/i.test(letter) || letter === " ");
  const parts = [press.ctrlKey || press.metaKey ? "Ctrl" : "", shifted ? "Shift" : "", press.altKey ? "Alt" : "", key];
  return parts.filter(Boolean).join("+");
}

/** What somebody chose instead of the table: command -> its keys; the others are the table's. */
export type OwnKeys = Readonly<Partial<Record<Command, readonly string[]>>>;

/** Give the keys of every command, as they are obeyed. */
export function keysOf(own: OwnKeys): Key[] {
  return KEY_MAP.map(({ command, keys }) => ({ command, keys: own[command] ?? keys }));
}

/** Give a command another key. Whoever had it before has it no more: a key does one thing. */
export function rebound(own: OwnKeys, command: Command, key: string): OwnKeys {
  const next: Partial<Record<Command, readonly string[]>> = { ...own, [command]: [key] };
  for (const other of keysOf(own)) {
    if (other.command !== command && other.keys.includes(key)) next[other.command] = other.keys.filter((each) => each !== key);
  }
  return next;
}

/** Read what was kept; commands and keys that are none are left out. */
export function readOwnKeys(told: unknown): OwnKeys {
  if (typeof told !== "object" || told === null) return {};
  const known = new Set<string>(KEY_MAP.map(({ command }) => command));
  const isKeys = (keys: unknown): keys is string[] => Array.isArray(keys) && keys.every((key) => typeof key === "string" && key.length < 40);
  return Object.fromEntries(Object.entries(told).filter(([command, keys]) => known.has(command) && isKeys(keys))) as OwnKeys;
}

/** Give the first key of a command, "" where it has none. */
export function keyOf(command: Command, own: OwnKeys = {}): string {
  return keysOf(own).find((each) => each.command === command)?.keys[0] ?? "";
}

/** Give what a press does, or null. `writing`: a field has the focus. */
export function commandOf(press: Press, writing: boolean, own: OwnKeys = {}): Command | null {
  const name = nameOf(press);
  const found = keysOf(own).find((each) => each.keys.includes(name))?.command ?? null;
  // A letter by itself is text in a field, whatever command it was given.
  return found && writing && (!IN_FIELDS.has(found) || name.length === 1) ? null : found;
}
