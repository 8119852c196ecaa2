/** (workspace, event) -> workspace: the open workflows, each with its history, selection and view. */
import { type Document, EMPTY, type NodeId } from "../model/document";
import type { Event } from "../model/events";
import { begin, edit, type History, redo, settle, undo } from "../model/history";

export interface Viewport {
  readonly x: number;
  readonly y: number;
  readonly zoom: number;
}

/**
 * An open workflow.
 *
 * selected  ids of what is selected on the canvas: nodes, frames and wires
 * saved     the workflow as it was last saved or opened
 * view      null: show all of it
 */
export interface Tab {
  readonly id: string;
  readonly name: string;
  readonly history: History;
  readonly selected: ReadonlySet<string>;
  readonly saved: Document;
  readonly view: Viewport | null;
}

export interface Workspace {
  readonly tabs: readonly Tab[];
  readonly current: string;
}

export type WorkspaceEvent =
  | { readonly type: "open"; readonly id: string; readonly name: string; readonly document: Document; readonly view?: Viewport | null; readonly unsaved?: boolean }
  | { readonly type: "close"; readonly id: string }
  | { readonly type: "switch"; readonly id: string }
  | { readonly type: "rename"; readonly id: string; readonly name: string }
  | { readonly type: "saved"; readonly id: string; readonly name: string }
  | { readonly type: "edit"; readonly event: Event; readonly gesture?: string }
  | { readonly type: "select"; readonly ids: Iterable<string> }
  | { readonly type: "view"; readonly view: Viewport }
  | { readonly type: "undo" | "redo" | "settle" };

const NOTHING: ReadonlySet<string> = new Set();
export const NO_TAB: Tab = { id: "", name: "", history: begin(EMPTY), selected: NOTHING, saved: EMPTY, view: null };
export const NO_TABS: Workspace = { tabs: [], current: "" };

/** Give the tab that is shown. */
export function currentTab(workspace: Workspace): Tab {
  return workspace.tabs.find((tab) => tab.id === workspace.current) ?? NO_TAB;
}

export function isChanged(tab: Tab): boolean {
  return tab.history.present !== tab.saved;
}

/** Give the nodes that are selected, in the workflow's order. */
export function selectedNodes(tab: Tab): NodeId[] {
  return [...tab.history.present.nodes.keys()].filter((id) => tab.selected.has(id));
}

/** Give the workspace after an event. */
export function reduce(workspace: Workspace, event: WorkspaceEvent): Workspace {
  switch (event.type) {
    case "open":
      return open(workspace, event);
    case "close":
      return close(workspace, event.id);
    case "switch":
      return workspace.tabs.some((tab) => tab.id === event.id) ? { ...workspace, current: event.id } : workspace;
    case "rename":
      return ofTab(workspace, event.id, (tab) => ({ ...tab, name: event.name }));
    case "saved":
      return ofTab(workspace, event.id, (tab) => ({ ...tab, name: event.name, saved: tab.history.present }));
    case "edit":
      return ofHistory(workspace, (history) => edit(history, event.event, event.gesture));
    case "undo":
      return ofHistory(workspace, undo);
    case "redo":
      return ofHistory(workspace, redo);
    case "settle":
      return ofHistory(workspace, settle);
    case "select":
      return ofTab(workspace, workspace.current, (tab) => select(tab, new Set(event.ids)));
    case "view":
      return ofTab(workspace, workspace.current, (tab) => ({ ...tab, view: event.view }));
  }
}

function open(workspace: Workspace, event: Extract<WorkspaceEvent, { type: "open" }>): Workspace {
  const saved = event.unsaved ? EMPTY : event.document;
  const tab = { id: event.id, name: event.name, history: begin(event.document), selected: NOTHING, saved, view: event.view ?? null };
  return { tabs: [...workspace.tabs, tab], current: event.id };
}

/** Close a tab; the one beside it is shown then. */
function close(workspace: Workspace, id: string): Workspace {
  const at = workspace.tabs.findIndex((tab) => tab.id === id);
  if (at < 0) return workspace;
  const tabs = workspace.tabs.filter((tab) => tab.id !== id);
  const beside = tabs[Math.min(at, tabs.length - 1)]?.id ?? "";
  return { tabs, current: workspace.current === id ? beside : workspace.current };
}

function ofTab(workspace: Workspace, id: string, change: (tab: Tab) => Tab): Workspace {
  let changed = false;
  const tabs = workspace.tabs.map((tab) => {
    const next = tab.id === id ? change(tab) : tab;
    changed ||= next !== tab;
    return next;
  });
  return changed ? { ...workspace, tabs } : workspace;
}

function ofHistory(workspace: Workspace, change: (history: History) => History): Workspace {
  return ofTab(workspace, workspace.current, (tab) => {
    const history = change(tab.history);
    return history === tab.history ? tab : { ...tab, history };
  });
}

function select(tab: Tab, ids: ReadonlySet<string>): Tab {
  const same = ids.size === tab.selected.size && [...ids].every((id) => tab.selected.has(id));
  return same ? tab : { ...tab, selected: ids };
}
