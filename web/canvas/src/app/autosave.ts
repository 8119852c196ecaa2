/** Keeps the open workflows in the browser, so that a closed page loses nothing. */
import { fromJson, write } from "../formats/ourFile";
import { readJson } from "../formats/readJson";
import { EMPTY } from "../model/document";
import { say } from "../words/words";
import { newTab } from "./files";
import { app, notify, send, useApp } from "./store";
import { openExample } from "./start";
import { isChanged, type Tab, type Viewport } from "./workspace";

const [LIST, TAB] = ["vinode.tabs", "vinode.tab."];
const PAUSE = 400; // ms after the last edit

interface Kept {
  readonly id: string;
  readonly name: string;
  readonly changed: boolean;
  readonly view?: Viewport | null;
}

/** Open what was open when the page was left; at first, the example. */
export async function restore(): Promise<void> {
  const { tabs, current } = kept();
  for (const { id, name, changed, view } of tabs) {
    const text = localStorage.getItem(TAB + id);
    if (text === null) continue;
    try {
      const document = fromJson(readJson(text));
      send({ type: "open", id, name, document: document.nodes.size + document.groups.length === 0 ? EMPTY : document, unsaved: changed, view: isView(view) ? view : null });
    } catch {
      localStorage.removeItem(TAB + id); // half written, or of a newer version
    }
  }
  if (app().workspace.tabs.length === 0) await openExample("textToImage");
  else send({ type: "switch", id: current });
}

function kept(): { tabs: readonly Kept[]; current: string } {
  try {
    const told = JSON.parse(localStorage.getItem(LIST) ?? "") as { tabs: Kept[]; current: string };
    return { tabs: Array.isArray(told.tabs) ? told.tabs : [], current: told.current };
  } catch {
    return { tabs: [], current: "" };
  }
}

function isView(told: unknown): told is Viewport {
  const { x, y, zoom } = (told ?? {}) as Partial<Record<keyof Viewport, unknown>>;
  return [x, y, zoom].every((value) => typeof value === "number" && Number.isFinite(value)) && (zoom as number) > 0;
}

/** Write what changed, a moment after it did and when the page is left. */
export function keepSaving(): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  // What was kept before is not written anew: another page may have edited it since.
  let last = new Map(app().workspace.tabs.map((tab) => [tab.id, tab.history.present]));
  const saveNow = (): void => {
    clearTimeout(timer);
    last = save(last);
  };
  useApp.subscribe((state, before) => {
    if (state.workspace === before.workspace) return;
    if (state.workspace.tabs.length === 0) newTab();
    clearTimeout(timer);
    timer = setTimeout(saveNow, PAUSE);
  });
  window.addEventListener("pagehide", saveNow);
}

function save(last: Map<string, Tab["history"]["present"]>): Map<string, Tab["history"]["present"]> {
  const { workspace, catalogue } = app();
  const now = new Map(workspace.tabs.map((tab) => [tab.id, tab.history.present]));
  try {
    for (const tab of workspace.tabs) {
      const isKept = last.get(tab.id) === tab.history.present && localStorage.getItem(TAB + tab.id) !== null;
      if (!isKept) localStorage.setItem(TAB + tab.id, write(tab.history.present, catalogue));
    }
    for (const id of last.keys()) if (!now.has(id)) localStorage.removeItem(TAB + id);
    const tabs = workspace.tabs.map((tab): Kept => ({ id: tab.id, name: tab.name, changed: isChanged(tab), view: tab.view }));
    // Another page of this browser has tabs too, which are not this page's to forget.
    const others = kept().tabs.filter(({ id }) => !now.has(id) && !last.has(id));
    localStorage.setItem(LIST, JSON.stringify({ tabs: [...tabs, ...others], current: workspace.current }));
  } catch {
    notify(say("note.full"), "error"); // the quota of the browser
  }
  return now;
}
