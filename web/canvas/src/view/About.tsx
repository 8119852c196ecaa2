/** What a node does, what it takes and gives: its docstring, as `vinode nodes NAME` tells it. */
import { useTranslation } from "react-i18next";
import { show, useApp } from "../app/store";
import { Modal } from "./Modal";

export function About({ type }: { type: string }) {
  const { t } = useTranslation();
  const known = useApp((state) => state.catalogue.types.get(type));
  const kinds = useApp((state) => state.catalogue.kinds);
  if (!known) return null;
  const rows = (list: readonly { readonly name: string; readonly kind: string; readonly help: string }[]) =>
    list.map(({ name, kind, help }) => (
      <tr key={name}><th scope="row">{name}</th><td title={kinds.get(kind)?.about}>{kind}</td><td>{help}</td></tr>
    ));
  return (
    <Modal title={known.title} onClose={() => show(null)}>
      <div className="about">
        <p>{known.help || known.summary}</p>
        {known.inputs.length > 0 && <table><caption>{t("about.takes")}</caption><tbody>{rows(known.inputs)}</tbody></table>}
        {known.outputs.length > 0 && <table><caption>{t("about.gives")}</caption><tbody>{rows(known.outputs)}</tbody></table>}
        <p><small>{known.id} · {known.pack}</small></p>
        <button type="button" autoFocus onClick={() => show(null)}>{t("help.close")}</button>
      </div>
    </Modal>
  );
}
