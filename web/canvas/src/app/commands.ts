/** What each command of the key map does. */
import type { Command } from "../keys/keyMap";
import { type PanelId, toggled } from "../panels/panels";
import { say } from "../words/words";
import { arrange, deleteSelected, groupSelected, pasteFragment, selectAll, selectedFragment, toggleMode, togglePinned, toggleSelectedCollapsed } from "./edits";
import { newTab, saveAs } from "./files";
import { run, stop } from "./running";
import { app, choose, send, show, tab } from "./store";
import { selectedNodes } from "./workspace";

/** What only the canvas can do: it knows what is seen. */
export interface View {
  readonly fit: (ids: readonly string[] | null) => void;
  readonly zoom: (factor: number) => void;
  readonly palette: () => void;
}

/** Do a command. False: leave the key to the browser. */
export function obey(command: Command, view: View): boolean {
  const simple = COMMANDS[command];
  if (!simple) return false;
  simple(view);
  return true;
}

const COMMANDS: Partial<Record<Command, (view: View) => void>> = {
  palette: (view) => view.palette(),
  run: () => void run(),
  "run-front": () => void run(true),
  "run-selected": () => void (tab().selected.size > 0 && run(false, selectedNodes(tab()))),
  stop,
  undo: () => send({ type: "undo" }),
  redo: () => send({ type: "redo" }),
  // copy, cut and paste come as events of the clipboard
  duplicate: () => pasteFragment(selectedFragment(), true),
  delete: deleteSelected,
  "select-all": selectAll,
  "clear-selection": () => (app().dialog ? show(null) : send({ type: "select", ids: [] })),
  group: () => groupSelected(say("group.name")),
  collapse: toggleSelectedCollapsed,
  bypass: () => toggleMode("bypass"),
  mute: () => toggleMode("mute"),
  pin: togglePinned,
  wires: showWires,
  about: showAbout,
  arrange: () => void arrange("selected"),
  fit: (view) => view.fit(null),
  "fit-selection": (view) => view.fit([...tab().selected]),
  "zoom-in": (view) => view.zoom(1.2),
  "zoom-out": (view) => view.zoom(1 / 1.2),
  minimap: () => choose({ minimap: !app().settings.minimap }),
  save: () => (tab().name ? void saveAs(tab().name) : show({ kind: "save" })),
  "save-as": () => show({ kind: "save" }),
  open: () => show({ kind: "open" }),
  "new-tab": newTab,
  "next-tab": nextTab,
  help: () => show({ kind: "help" }),
  find: () => show({ kind: "find" }),
  "panel-timing": () => togglePanel("timing"),
  "panel-queue": () => togglePanel("queue"),
  "panel-results": () => togglePanel("results"),
  "panel-devices": () => togglePanel("devices"),
  "panel-models": () => togglePanel("models"),
  theme: () => choose({ theme: isDark() ? "light" : "dark" }),
};

/** Open a panel, or close it. */
export function togglePanel(panel: PanelId): void {
  choose({ panels: toggled(app().settings.panels, panel) });
}

function showWires(): void {
  const [node] = selectedNodes(tab());
  if (node !== undefined) show({ kind: "wires", node });
}

/** Tell what the first selected node does. */
function showAbout(): void {
  const [node] = selectedNodes(tab());
  const type = tab().history.present.nodes.get(node ?? "")?.type ?? "";
  if (app().catalogue.types.has(type)) show({ kind: "about", type });
}

function nextTab(): void {
  const { tabs, current } = app().workspace;
  const at = tabs.findIndex((each) => each.id === current);
  const next = tabs[(at + 1) % tabs.length];
  if (next) send({ type: "switch", id: next.id });
}

/** Say whether the page is dark now. */
export function isDark(): boolean {
  const { theme } = app().settings;
  return theme === "system" ? matchMedia("(prefers-color-scheme: dark)").matches : theme === "dark";
}
