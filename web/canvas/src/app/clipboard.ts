/** Copy and paste by the system's clipboard, as workflow text: between tabs, windows and programs. */
import { openText } from "../formats/open";
import { write } from "../formats/ourFile";
import { EMPTY } from "../model/document";
import type { Point } from "../model/document";
import { say } from "../words/words";
import { deleteSelected, pasteFragment, selectedFragment } from "./edits";
import { showDocument } from "./files";
import { takeFile } from "./pictures";
import { app, notify, tab } from "./store";
import { selectedNodes } from "./workspace";

/** Say whether a field has the focus: then the clipboard is the field's. */
export function isWriting(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

function take(event: ClipboardEvent): boolean {
  if (isWriting(event.target) || !window.getSelection()?.isCollapsed) return false;
  const fragment = selectedFragment();
  if (fragment.nodes.length + fragment.groups.length === 0) return false;
  const nodes = new Map(fragment.nodes.map((node) => [node.id, node]));
  event.clipboardData?.setData("text/plain", write({ ...EMPTY, nodes, groups: fragment.groups }, app().catalogue));
  event.preventDefault();
  notify(say("note.copied", { count: fragment.nodes.length }));
  return true;
}

/** Listen to the clipboard's events. `center`: middle of what is seen, where things from elsewhere go. */
export function listenToClipboard(center: () => Point): () => void {
  let withLinks = false;
  const ending = new AbortController();
  const { signal } = ending;
  document.addEventListener("keydown", (event) => (withLinks = event.shiftKey), { signal });
  document.addEventListener("copy", (event) => void take(event), { signal });
  document.addEventListener("cut", (event) => void (take(event) && deleteSelected()), { signal });
  document.addEventListener("paste", (event) => {
    if (isWriting(event.target)) return;
    const file = event.clipboardData?.files[0];
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (file) void takeFile(file, center(), selectedNodes(tab())[0] ?? null);
    else if (text.trim()) pasteText(text, withLinks, center());
    event.preventDefault();
  }, { signal });
  return () => ending.abort();
}

function pasteText(text: string, withLinks: boolean, center: Point): void {
  let found;
  try {
    found = openText(text, app().catalogue);
  } catch {
    return; // some other text is on the clipboard
  }
  const nodes = [...found.nodes.values()];
  if (nodes.some((node) => Number.isNaN(node.pos.x))) {
    void showDocument("", found);
    return;
  }
  const here = nodes.every((node) => tab().history.present.nodes.has(node.id));
  pasteFragment({ nodes, groups: found.groups }, withLinks, here ? null : center);
}
