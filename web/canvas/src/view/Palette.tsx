/** The palette: node types by what is typed; after a loose wire only those that fit. */
import { type KeyboardEvent, useId, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { addNode } from "../app/edits";
import { type Dialog, show, useApp } from "../app/store";
import { firstInput, firstOutput } from "../model/links";
import type { NodeType } from "../model/nodeType";
import { search } from "../model/search";
import { kindColour } from "./flow";
import { Modal } from "./Modal";

const MOST = 60; // that are drawn

export function Palette({ dialog }: { dialog: Extract<Dialog, { kind: "palette" }> }) {
  const { t } = useTranslation();
  const catalogue = useApp((state) => state.catalogue);
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const list = useId();
  const { loose } = dialog;
  const fitting = useMemo(() => {
    const all = [...catalogue.types.values()];
    if (!loose) return all;
    return all.filter((type) => (loose.end === "output" ? firstInput(catalogue, type.id, loose.kind) : firstOutput(catalogue, type.id, loose.kind)) !== null);
  }, [catalogue, loose]);
  const found = useMemo(() => search(fitting, query).slice(0, MOST), [fitting, query]);
  const pick = (type: NodeType | undefined): void => {
    if (!type) return;
    show(null);
    addNode(type, dialog.at, loose);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return; // Enter ends a word of the input method
    const move = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (move) setAt((now) => Math.max(0, Math.min(found.length - 1, now + move)));
    if (event.key === "Enter") pick(found[at]);
    if (move || event.key === "Enter") event.preventDefault();
  };
  const title = loose ? t(loose.end === "output" ? "palette.fits" : "palette.gives", { kind: loose.kind }) : t("palette.title");
  return (
    <Modal title={title} on={dialog.on} onClose={() => show(null)}>
      <input
        autoFocus type="search" role="combobox" aria-expanded aria-controls={list} aria-activedescendant={found[at] ? `${list}${at}` : undefined}
        aria-label={t("palette.search")} placeholder={t("palette.search")} value={query} onKeyDown={onKeyDown}
        onChange={(event) => { setQuery(event.target.value); setAt(0); }}
      />
      <ul role="listbox" id={list} aria-label={title}>
        {found.map((type, index) => (
          <li
            key={type.id} id={`${list}${index}`} role="option" aria-selected={index === at} onClick={() => pick(type)} onPointerMove={() => setAt(index)}
            ref={index === at ? (item) => item?.scrollIntoView({ block: "nearest" }) : undefined}
          >
            <i style={{ background: kindColour(catalogue, type.outputs[0]?.kind ?? "") }} />
            <b>{type.title}</b> <span>{type.category}</span>
            <small>{type.summary}</small>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p>{t("palette.none", { query })}</p>}
    </Modal>
  );
}
