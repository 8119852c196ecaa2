/** English. Keys are the same in every language; a test finds what is missing. */
import { en as devices } from "../panels/devices/words";
import { en as models } from "../panels/models/words";
import { en as queue } from "../panels/queue/words";
import { en as results } from "../panels/results/words";
import { en as timing } from "../panels/timing/words";

export const en = {
  app: { untitled: "Untitled", connecting: "The server does not answer. Trying again…", worker: "Worker: {{problem}}" },
  example: {
    title: "Examples", textToImage: "Draw from a prompt", imageToImage: "Redraw a picture", inpaint: "Paint a part anew", detectFaces: "Find faces",
  },
  bar: {
    run: "Run", stop: "Stop", queue: "{{count}} waiting", open: "Open", save: "Save", download: "Download", help: "Keys and help",
    theme: "Light or dark", language: "中文", add: "Add node", arrange: "Arrange", newTab: "New workflow", closeTab: "Close {{name}}",
    tabs: "Open workflows", tools: "Tools", changed: "not saved", percent: "{{percent}} %",
    faults_one: "{{count}} fault", faults_other: "{{count}} faults",
    closePanel: "Close {{title}}", loading: "Loading…", panelSize: "Size of the panel", panels: "Panels",
  },
  palette: {
    title: "Add a node", search: "Search nodes", none: "No node answers “{{query}}”.", fits: "Nodes that take {{kind}}",
    gives: "Nodes that give {{kind}}",
  },
  node: {
    carriedNothing: "Nothing is known of it: run the workflow.", carried: "carried {{value}}",
    unknown: "This server has no node of this type. It is kept as it is.", problem: "Problem", bypassed: "bypassed", muted: "muted",
    device: "Device", title: "Title", linked: "from a wire", output: "Output {{name}}: {{kind}}", input: "Input {{name}}: {{kind}}",
    pictures: "Pictures of {{title}}", picture: "Picture {{number}} of {{count}}", running: "running", reused: "as before",
    upload: "Choose or drop a picture", after: "After a run", randomise: "New random number", pinned: "pinned",
    spent: "{{total}}: {{parts}}", before: "{{time}} in the run before", ranOn: "Ran on {{device}}", ranBefore: "Ran on {{device}} when it was asked elsewhere",
    absent: "There is no {{device}} here, only {{here}}: the node will run there. `vinode doctor` tells what is missing.",
    fallback: "{{requested}} was asked for, {{actual}} was used", fix: "Fix: {{fix}}", wires: "Wires into {{title}}", noWire: "no wire", fetch: "Fetch the model {{name}}",
  },
  phase: {
    wait: "waiting", convert: "converting", load: "loading", compile: "compiling", upload: "to the device", compute: "computing",
    download: "from the device", host: "Python",
  },
  after: { fixed: "keep", increment: "add 1", decrement: "subtract 1", randomize: "random" },
  group: { colour: "Colour of the group", title: "Title of the group", name: "Group" },
  link: {
    "no-node": "There is no node {{node}}.",
    "no-output": "{{node}} has no output {{slot}}.",
    "no-input": "{{node}} has no input {{input}}.",
    kind: "{{input}} takes {{wanted}}, and this gives {{given}}.",
    cycle: "This wire would close a circle: the node would wait for itself.",
  },
  problem: {
    "unknown-type": "This server has no node of the type {{type}}.",
    "missing-input": "{{input}} is missing: give a {{kind}}.",
    "not-fed": "Nothing comes in at {{input}}: what is wired to it is bypassed and has nothing to pass on.",
    "needs-link": "{{input}} takes a {{kind}} from a wire.",
    "not-whole": "{{input}} takes a whole number, not {{got}}.",
    "not-a-number": "{{input}} takes a number, not {{got}}.",
    "not-true-or-false": "{{input}} is true or false, not {{got}}.",
    "not-a-text": "{{input}} takes a text.",
    "too-small": "{{input}} is at least {{minimum}} {{unit}}, not {{got}}.",
    "too-large": "{{input}} is at most {{maximum}} {{unit}}, not {{got}}.",
    "not-in-list": "{{input}} has no choice {{got}}.",
    "no-output-node": "Nothing would come of it: add a node that saves or shows something.",
  },
  fault: {
    empty: "The file is empty.",
    "no-workflow": "This is no workflow. Open a workflow of vinode or ComfyUI, or a picture that carries one.",
    "no-workflow-in-picture": "The picture carries no workflow.",
    "no-class": "Node {{node}} says no class_type, so nobody knows what it is.",
    "too-new": "The file is of a newer version ({{got}}). Update vinode to open it.",
    "too-large": "The file is larger than 64 MB.",
    "too-many-nodes": "The workflow has more than {{most}} nodes, counting those of subgraphs at each use.",
    "no-object": "{{key}} of node {{node}} is no object, so the file is damaged.",
    "json-tail": "Not JSON: something follows at line {{line}}, column {{column}}.",
    "json-deep": "Brackets are nested too deep at line {{line}}.",
    "json-key": "Not JSON: a key is missing at line {{line}}, column {{column}}.",
    "json-twice": "The key “{{got}}” stands twice at line {{line}}. Keep one.",
    "json-colon": "Not JSON: a colon is missing at line {{line}}, column {{column}}.",
    "json-comma": "Not JSON: a comma or bracket is missing at line {{line}}, column {{column}}.",
    "json-string": "Not JSON: a text does not end, or has a wrong escape, at line {{line}}, column {{column}}.",
    "json-value": "Not JSON: a value is missing at line {{line}}, column {{column}}.",
    "json-number": "A number is too large at line {{line}}, column {{column}}.",
  },
  note: {
    fetched: "The model {{name}} is here.",
    saved: "Saved as {{name}}.", copied: "Copied {{count}} nodes.", unknown: "Unknown node types: {{names}}. They are kept.",
    offline: "The server does not answer.", nothing: "There is nothing to run yet: add nodes.", full: "The browser's storage is full; save your work to a file.",
  },
  file: {
    title: "Open a workflow", here: "From this computer…", none: "No workflow is saved on the server yet.", name: "Name",
    saveTitle: "Save on the server", save: "Save",
  },
  help: {
    change: "Other key for: {{command}}", press: "Press the key for: {{command}}", reset: "All keys as they were",
    title: "Keys", close: "Close", key: "Key", does: "What it does", hint: "Double-click the canvas to add a node. Drop a picture or a JSON file to open the workflow in it." },
  settings: {
    title: "This browser", snap: "Snap nodes to a grid", drag: "Dragging the canvas selects, and the wheel moves it", minimap: "Show the minimap",
  },
  about: { takes: "Takes", gives: "Gives" },
  mask: {
    title: "Paint a mask", size: "Brush", soft: "Softness", erase: "Erase", invert: "Invert", feather: "Soften the edge", clear: "Clear", undo: "Undo",
    save: "Use it", picture: "The picture, and its mask in red",
  },
  menu: {
    title: "What to do", left: "Align left", right: "Align right", top: "Align top", bottom: "Align bottom", middle: "One above the other",
    centre: "In one row", across: "Equal gaps across", down: "Equal gaps down",
  },
  find: { title: "Find a node", search: "Title, type or number", none: "No node of this workflow answers “{{query}}”." },
  command: {
    palette: "Add a node", run: "Run", "run-front": "Run before all others", "run-selected": "Run only what is selected", stop: "Stop", undo: "Undo", redo: "Redo", copy: "Copy", cut: "Cut",
    paste: "Paste", "paste-linked": "Paste with wires from outside", duplicate: "Duplicate", delete: "Delete", "select-all": "Select all",
    "clear-selection": "Select nothing", group: "Group", collapse: "Collapse or open", bypass: "Bypass", mute: "Mute", pin: "Pin", wires: "Wires into the node", about: "What the node does",
    arrange: "Arrange", fit: "Show all", "fit-selection": "Show the selection", minimap: "Minimap", save: "Save", "save-as": "Save as",
    open: "Open", "new-tab": "New workflow", "next-tab": "Next workflow", help: "Keys and help", find: "Find a node", theme: "Light or dark",
    "zoom-in": "Nearer", "zoom-out": "Farther",
    "panel-timing": "Timing", "panel-queue": "Queue", "panel-results": "Results", "panel-devices": "Devices", "panel-models": "Models",
  },
  timing, queue, results, devices, models,
};

export type Words<T = typeof en> = { readonly [K in keyof T]: T[K] extends string ? string : Words<T[K]> };
