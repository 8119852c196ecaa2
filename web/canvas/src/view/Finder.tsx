/** Finds a node of the workflow, and shows it. */
import { useReactFlow } from "@xyflow/react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { app, send, show, useTab } from "../app/store";
import { titleOf } from "../model/document";
import { score } from "../model/search";
import { Modal } from "./Modal";

export function Finder() {
  const { t } = useTranslation();
  const flow = useReactFlow();
  const { history } = useTab();
  const [query, setQuery] = useState("");
  const named = [...history.present.nodes.values()].map((node) => {
    const name = titleOf(node) || app().catalogue.types.get(node.type)?.title || node.type;
    const value = query ? Math.max(score(query, name) ?? 0, score(query, node.type) ?? 0, node.id === query ? 999 : 0) : 1;
    return { id: node.id, name, value };
  });
  const found = named.filter((each) => each.value > 0).sort((a, b) => b.value - a.value).slice(0, 50);
  const go = (id: string | undefined): void => {
    if (id === undefined) return;
    show(null);
    send({ type: "select", ids: [id] });
    void flow.fitView({ nodes: [{ id }], maxZoom: 1, duration: 300 });
  };
  return (
    <Modal title={t("find.title")} onClose={() => show(null)}>
      <input
        autoFocus type="search" aria-label={t("find.search")} placeholder={t("find.search")} value={query} onChange={(event) => setQuery(event.target.value)}
        onKeyDown={(event) => event.key === "Enter" && !event.nativeEvent.isComposing && go(found[0]?.id)}
      />
      <ul>
        {found.map((each) => (
          <li key={each.id}><button type="button" onClick={() => go(each.id)}>{each.name} <small>{each.id}</small></button></li>
        ))}
      </ul>
      {found.length === 0 && <p>{t("find.none", { query })}</p>}
    </Modal>
  );
}
