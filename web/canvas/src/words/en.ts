/** English. Keys are the same in every language; a test finds what is missing. */
export const en = {
  app: { untitled: "Untitled", connecting: "The server does not answer. Trying again…", worker: "Worker: {{problem}}" },
  bar: {
    run: "Run", stop: "Stop", queue: "{{count}} waiting", open: "Open", save: "Save", download: "Download", help: "Keys and help",
    theme: "Light or dark", language: "中文", add: "Add node", arrange: "Arrange", newTab: "New workflow", closeTab: "Close {{name}}",
    tabs: "Open workflows", tools: "Tools", changed: "not saved", percent: "{{percent}} %",
  },
  palette: {
    title: "Add a node", search: "Search nodes", none: "No node answers “{{query}}”.", fits: "Nodes that take {{kind}}",
    gives: "Nodes that give {{kind}}",
  },
  node: {
    unknown: "This server has no node of this type. It is kept as it is.", problem: "Problem", bypassed: "bypassed", muted: "muted",
    device: "Device", title: "Title", linked: "from a wire", output: "Output {{name}}: {{kind}}", input: "Input {{name}}: {{kind}}",
    pictures: "Pictures of {{title}}", picture: "Picture {{number}} of {{count}}", running: "running", reused: "as before",
    upload: "Choose or drop a picture", after: "After a run", randomise: "New random number", pinned: "pinned",
  },
  after: { fixed: "keep", increment: "add 1", decrement: "subtract 1", randomize: "random" },
  group: { title: "Title of the group", name: "Group" },
  link: {
    "no-node": "There is no node {{node}}.",
    "no-output": "{{node}} has no output {{slot}}.",
    "no-input": "{{node}} has no input {{input}}.",
    kind: "{{input}} takes {{wanted}}, and this gives {{given}}.",
    cycle: "This wire would close a circle: the node would wait for itself.",
  },
  fault: {
    empty: "The file is empty.",
    "no-workflow": "This is no workflow. Open a workflow of vinode or ComfyUI, or a picture that carries one.",
    "no-workflow-in-picture": "The picture carries no workflow.",
    "no-class": "Node {{node}} says no class_type, so nobody knows what it is.",
    "too-new": "The file is of a newer version ({{got}}). Update vinode to open it.",
    "too-large": "The file is larger than 64 MB.",
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
    saved: "Saved as {{name}}.", copied: "Copied {{count}} nodes.", unknown: "Unknown node types: {{names}}. They are kept.",
    offline: "The server does not answer.", nothing: "There is nothing to run yet: add nodes.", full: "The browser's storage is full; save your work to a file.",
  },
  file: {
    title: "Open a workflow", here: "From this computer…", none: "No workflow is saved on the server yet.", name: "Name",
    saveTitle: "Save on the server", save: "Save",
  },
  help: { title: "Keys", close: "Close", key: "Key", does: "What it does", hint: "Double-click the canvas to add a node. Drop a picture or a JSON file to open the workflow in it." },
  find: { title: "Find a node", search: "Title, type or number", none: "No node of this workflow answers “{{query}}”." },
  command: {
    palette: "Add a node", run: "Run", "run-front": "Run before all others", stop: "Stop", undo: "Undo", redo: "Redo", copy: "Copy", cut: "Cut",
    paste: "Paste", "paste-linked": "Paste with wires from outside", duplicate: "Duplicate", delete: "Delete", "select-all": "Select all",
    "clear-selection": "Select nothing", group: "Group", collapse: "Collapse or open", bypass: "Bypass", mute: "Mute", pin: "Pin",
    arrange: "Arrange", fit: "Show all", "fit-selection": "Show the selection", minimap: "Minimap", save: "Save", "save-as": "Save as",
    open: "Open", "new-tab": "New workflow", "next-tab": "Next workflow", help: "Keys and help", find: "Find a node", theme: "Light or dark",
    "zoom-in": "Nearer", "zoom-out": "Farther",
  },
};

export type Words<T = typeof en> = { readonly [K in keyof T]: T[K] extends string ? string : Words<T[K]> };
