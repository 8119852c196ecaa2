/** The page: bar, canvas, and what lies over them. */
import { ReactFlowProvider } from "@xyflow/react";
import { lazy, type MouseEvent, Suspense, useEffect } from "react";
import { useTranslation } from "react-i18next";
import { isDark } from "../app/commands";
import { useApp } from "../app/store";
import { Dock } from "../panels/Dock";
import { About } from "./About";
import { Bar } from "./Bar";
import { Canvas } from "./Canvas";
import { FaultsDialog } from "./Faults";
import { FilesDialog } from "./FilesDialog";
import { Finder } from "./Finder";
import { Help } from "./Help";
import { Menu } from "./Menu";
import { Notices } from "./Notices";
import { Palette } from "./Palette";
import { Tabs } from "./Tabs";
import { Wires } from "./Wires";

const MaskEditor = lazy(() => import("./mask/MaskEditor"));

/** What the mouse pressed keeps no focus, or Space would press it again instead of opening the palette. */
function giveBackFocus(event: MouseEvent): void {
  const isMouse = event.detail > 0;
  if (isMouse && event.target instanceof Element) event.target.closest("button")?.blur();
}

export function App() {
  const { t } = useTranslation();
  const dialog = useApp((state) => state.dialog);
  const theme = useApp((state) => state.settings.theme);
  const current = useApp((state) => state.workspace.current);
  const connected = useApp((state) => state.connected);
  const workerProblem = useApp((state) => state.runs.worker.problem);
  useEffect(() => {
    document.documentElement.dataset["theme"] = isDark() ? "dark" : "light";
  }, [theme]);
  return (
    <ReactFlowProvider>
      <div className="page">
        <header onClick={giveBackFocus}>
          <h1 className="unseen">vinode</h1>
          <Tabs />
          <Bar />
        </header>
        {!connected && <p className="warning" role="status">{t("app.connecting")}</p>}
        {workerProblem && <p className="warning" role="status">{t("app.worker", { problem: workerProblem })}</p>}
        <main className="work">
          <div className="desk">
            <Canvas key={current} />
            <Dock edge="bottom" />
          </div>
          <Dock edge="right" />
        </main>
        {dialog?.kind === "palette" && <Palette dialog={dialog} />}
        {dialog?.kind === "menu" && <Menu on={dialog.on} />}
        {dialog?.kind === "help" && <Help />}
        {dialog?.kind === "wires" && <Wires id={dialog.node} />}
        {dialog?.kind === "find" && <Finder />}
        {dialog?.kind === "faults" && <FaultsDialog />}
        {dialog?.kind === "about" && <About type={dialog.type} />}
        {dialog?.kind === "mask" && <Suspense fallback={null}><MaskEditor to={dialog.to} file={dialog.file} /></Suspense>}
        {(dialog?.kind === "open" || dialog?.kind === "save") && <FilesDialog kind={dialog.kind} />}
        <Notices />
      </div>
    </ReactFlowProvider>
  );
}
