/** The bar of tools. */
import { useReactFlow } from "@xyflow/react";
import { useTranslation } from "react-i18next";
import { isDark, togglePanel } from "../app/commands";
import { arrange } from "../app/edits";
import { download } from "../app/files";
import { run, stop } from "../app/running";
import { FaultsButton } from "./Faults";
import { choose, show, tab, useApp, useRun } from "../app/store";
import { saveAs } from "../app/files";
import { keyOf } from "../keys/keyMap";
import { PANELS } from "../panels/panels";

export function Bar() {
  const { t, i18n } = useTranslation();
  const flow = useReactFlow();
  const remaining = useApp((state) => state.runs.remaining);
  const keys = useApp((state) => state.settings.keys);
  const panels = useApp((state) => state.settings.panels);
  const last = useRun();
  const isRunning = last?.state === "running" || last?.state === "queued";
  const add = (): void => {
    const at = flow.screenToFlowPosition({ x: window.innerWidth / 2, y: window.innerHeight / 2 });
    show({ kind: "palette", at, on: null, loose: null });
  };
  const speak = (): void => {
    const language = i18n.language === "zh" ? "en" : "zh";
    void i18n.changeLanguage(language);
    document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
    choose({ language });
  };
  return (
    <div className="bar" role="toolbar" aria-label={t("bar.tools")}>
      <button type="button" className="run" title={keyOf("run", keys)} onClick={() => void run()}>▶ {t("bar.run")}</button>
      <button type="button" title={keyOf("stop", keys)} disabled={remaining === 0} onClick={stop}>■ {t("bar.stop")}</button>
      <FaultsButton />
      {isRunning && <progress value={last.percent} max={100} aria-label={t("bar.percent", { percent: Math.round(last.percent) })} />}
      {remaining > 0 && <span role="status">{t("bar.queue", { count: remaining })}</span>}
      <span className="gap" />
      <span className="panels" role="group" aria-label={t("bar.panels")}>
        {PANELS.map((panel) => (
          <button key={panel} type="button" aria-pressed={panels.includes(panel)} title={keyOf(`panel-${panel}`, keys)} onClick={() => togglePanel(panel)}>
            {t(`${panel}.title`)}
          </button>
        ))}
      </span>
      <button type="button" title={keyOf("palette", keys)} onClick={add}>{t("bar.add")}</button>
      <button type="button" title={keyOf("arrange", keys)} onClick={() => void arrange("selected")}>{t("bar.arrange")}</button>
      <button type="button" title={keyOf("open", keys)} onClick={() => show({ kind: "open" })}>{t("bar.open")}</button>
      <button type="button" title={keyOf("save", keys)} onClick={() => (tab().name ? void saveAs(tab().name) : show({ kind: "save" }))}>{t("bar.save")}</button>
      <button type="button" onClick={download}>{t("bar.download")}</button>
      <button type="button" title={t("bar.theme")} aria-label={t("bar.theme")} onClick={() => choose({ theme: isDark() ? "light" : "dark" })}>◐</button>
      <button type="button" onClick={speak}>{t("bar.language")}</button>
      <button type="button" title={t("bar.help")} aria-label={t("bar.help")} onClick={() => show({ kind: "help" })}>?</button>
    </div>
  );
}
