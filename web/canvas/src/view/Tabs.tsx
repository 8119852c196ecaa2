/** The open workflows. A tab is closed by its cross, by the middle mouse button, or by Delete. */
import { type KeyboardEvent, type MouseEvent } from "react";
import { useTranslation } from "react-i18next";
import { newTab } from "../app/files";
import { send, useApp } from "../app/store";
import { isChanged } from "../app/workspace";

export function Tabs() {
  const { t } = useTranslation();
  const { tabs, current } = useApp((state) => state.workspace);
  const close = (id: string) => (event: MouseEvent | KeyboardEvent) => {
    event.preventDefault();
    event.stopPropagation();
    send({ type: "close", id });
  };
  return (
    <div className="tabs">
      <div className="tab-list" role="tablist" aria-label={t("bar.tabs")}>
        {tabs.map((tab) => {
          const name = tab.name || t("app.untitled");
          return (
            <button
              key={tab.id} type="button" role="tab" aria-selected={tab.id === current} aria-keyshortcuts="Delete" className="tab"
              onClick={() => send({ type: "switch", id: tab.id })} onAuxClick={(event) => event.button === 1 && close(tab.id)(event)}
              onKeyDown={(event) => event.key === "Delete" && close(tab.id)(event)}
            >
              {name}{isChanged(tab) && <span title={t("bar.changed")}> •</span>}
              <span className="tab-close" aria-hidden="true" title={t("bar.closeTab", { name })} onClick={close(tab.id)}>×</span>
            </button>
          );
        })}
      </div>
      <button type="button" aria-label={t("bar.newTab")} title={t("bar.newTab")} onClick={newTab}>+</button>
    </div>
  );
}
