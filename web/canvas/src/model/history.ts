/** Undo and redo: one entry a gesture, so that a drag or a typed word is undone at once. */
import { apply } from "./apply";
import type { Document } from "./document";
import type { Event } from "./events";

const LONGEST = 200;

/** gesture: name of what is under way; events of one gesture share an entry. "" ends it. */
export interface History {
  readonly past: readonly Document[];
  readonly present: Document;
  readonly future: readonly Document[];
  readonly gesture: string;
}

export function begin(document: Document): History {
  return { past: [], present: document, future: [], gesture: "" };
}

/** Give the history after an event. */
export function edit(history: History, event: Event, gesture = ""): History {
  const present = apply(history.present, event);
  if (present === history.present) return history;
  if (gesture !== "" && gesture === history.gesture) return { ...history, present, future: [] };
  const past = [...history.past, history.present].slice(-LONGEST);
  return { past, present, future: [], gesture };
}

/** End the gesture under way: what comes next is undone by itself. */
export function settle(history: History): History {
  return history.gesture === "" ? history : { ...history, gesture: "" };
}

export function undo(history: History): History {
  const last = history.past.at(-1);
  if (!last) return settle(history);
  const future = [history.present, ...history.future];
  return { past: history.past.slice(0, -1), present: last, future, gesture: "" };
}

export function redo(history: History): History {
  const [next, ...future] = history.future;
  if (!next) return settle(history);
  return { past: [...history.past, history.present], present: next, future, gesture: "" };
}
