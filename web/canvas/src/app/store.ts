/** The one place where what is shown is kept; its parts are pure and in files of their own. */
import { create } from "zustand";
import type { InputPlace, NodeId, Point } from "../model/document";
import type { Event } from "../model/events";
import { type Catalogue, NO_CATALOGUE } from "../model/nodeType";
import type { Jobs } from "../run/jobs";
import { NO_RUNS, type RunEvent, type Runs, tell, type TabRun } from "../run/runs";
import { keepSettings, loadSettings, type Settings } from "./settings";
import { currentTab, NO_TABS, reduce, type Tab, type Workspace, type WorkspaceEvent } from "./workspace";

/** A port from which a wire was drawn onto the empty canvas. */
export type Loose =
  | { readonly end: "output"; readonly node: NodeId; readonly slot: number; readonly kind: string }
  | { readonly end: "input"; readonly node: NodeId; readonly input: string; readonly kind: string };

/** What lies over the canvas. `at`: of the canvas, where a node is to be put; `on`: of the page. */
export type Dialog =
  | { readonly kind: "palette"; readonly at: Point; readonly on: Point | null; readonly loose: Loose | null }
  | { readonly kind: "help" }
  | { readonly kind: "find" }
  | { readonly kind: "faults" }
  | { readonly kind: "about"; readonly type: string }
  | { readonly kind: "mask"; readonly to: InputPlace; readonly file: string }
  | { readonly kind: "wires"; readonly node: NodeId }
  | { readonly kind: "menu"; readonly on: Point }
  | { readonly kind: "open" }
  | { readonly kind: "save" };

/** A sentence at the edge of the page. `id` tells two of the same words apart. */
export interface Notice {
  readonly id: number;
  readonly tone: "info" | "error";
  readonly text: string;
}

export interface AppState {
  readonly workspace: Workspace;
  readonly catalogue: Catalogue;
  readonly runs: Runs;
  readonly jobs: Jobs;
  readonly settings: Settings;
  readonly dialog: Dialog | null;
  readonly notices: readonly Notice[];
  readonly connected: boolean;
  readonly problem: string;
}

export const useApp = create<AppState>()(() => ({
  workspace: NO_TABS, catalogue: NO_CATALOGUE, runs: NO_RUNS, jobs: new Map(), settings: loadSettings(), dialog: null, notices: [],
  connected: false, problem: "",
}));

export const app = (): AppState => useApp.getState();

/** Tell the workspace of an event. */
export function send(event: WorkspaceEvent): void {
  useApp.setState((state) => ({ workspace: reduce(state.workspace, event) }));
}

/** Edit the workflow that is shown. Edits of one gesture are undone at once. */
export function change(event: Event, gesture = ""): void {
  send({ type: "edit", event, gesture });
}

export function sendRun(event: RunEvent): void {
  useApp.setState((state) => ({ runs: tell(state.runs, event) }));
}

export function show(dialog: Dialog | null): void {
  useApp.setState({ dialog });
}

export function choose(change: Partial<Settings>): void {
  const settings = { ...app().settings, ...change };
  keepSettings(settings);
  useApp.setState({ settings });
}

let noticed = 0;

/** Show a sentence for a while; errors stay longer. */
export function notify(text: string, tone: Notice["tone"] = "info"): void {
  noticed += 1;
  const id = noticed;
  useApp.setState((state) => ({ notices: [...state.notices, { id, tone, text }].slice(-4) }));
  setTimeout(() => dismiss(id), tone === "error" ? 9000 : 4000);
}

export function dismiss(id: number): void {
  useApp.setState((state) => ({ notices: state.notices.filter((notice) => notice.id !== id) }));
}

export const useTab = (): Tab => useApp((state) => currentTab(state.workspace));
export const tab = (): Tab => currentTab(app().workspace);
export const useRun = (): TabRun | undefined => useApp((state) => state.runs.tabs.get(state.workspace.current));
