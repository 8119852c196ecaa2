/** The open workflows. */
import { useTranslation } from "react-i18next";
import { newTab } from "../app/files";
import { send, useApp } from "../app/store";
import { isChanged } from "../app/workspace";

export function Tabs() {
  const { t } = useTranslation();
  const { tabs, current } = useApp((state) => state.workspace);
  return (
    <div className="tabs" role="tablist" aria-label={t("bar.tabs")}>
      {tabs.map((tab) => {
        const name = tab.name || t("app.untitled");
        return (
          <span key={tab.id} className={tab.id === current ? "tab is-current" : "tab"}>
            <button type="button" role="tab" aria-selected={tab.id === current} onClick={() => send({ type: "switch", id: tab.id })}>
              {name}{isChanged(tab) && <span title={t("bar.changed")}> •</span>}
            </button>
            <button type="button" aria-label={t("bar.closeTab", { name })} onClick={() => send({ type: "close", id: tab.id })}>×</button>
          </span>
        );
      })}
      <button type="button" aria-label={t("bar.newTab")} title={t("bar.newTab")} onClick={newTab}>+</button>
    </div>
  );
}
