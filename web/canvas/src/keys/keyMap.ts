/** Which key does what. One table: the canvas obeys it, and the help page shows it. */

export type Command =
  | "palette" | "run" | "run-front" | "run-selected" | "stop" | "undo" | "redo" | "copy" | "cut" | "paste" | "paste-linked" | "duplicate"
  | "delete" | "select-all" | "clear-selection" | "group" | "collapse" | "bypass" | "mute" | "pin" | "wires" | "arrange" | "fit"
  | "fit-selection" | "minimap" | "save" | "save-as" | "open" | "new-tab" | "next-tab" | "help" | "find" | "theme" | "zoom-in" | "zoom-out"
  | "panel-timing" | "panel-queue" | "panel-results" | "panel-devices" | "panel-models";

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

/** Give the first key of a command, "" where it has none. */
export function keyOf(command: Command): string {
  return KEY_MAP.find((each) => each.command === command)?.keys[0] ?? "";
}

/** Give what a press does, or null. `writing`: a field has the focus. */
export function commandOf(press: Press, writing: boolean): Command | null {
  const name = nameOf(press);
  const found = KEY_MAP.find((each) => each.keys.includes(name))?.command ?? null;
  return found && writing && !IN_FIELDS.has(found) ? null : found;
}
