import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "@xyflow/react/dist/style.css";
import "./view/canvas.css";
import { keepSaving, restore } from "./app/autosave";
import { connect } from "./app/running";
import { app } from "./app/store";
import { App } from "./view/App";
import { setUpWords } from "./words/words";

setUpWords(app().settings.language);
const root = createRoot(document.getElementById("root") as HTMLElement);
// Node types first: sizes of nodes, and which values a file's widgets have, hang on them.
void connect().finally(async () => {
  await restore();
  keepSaving();
  root.render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
});
