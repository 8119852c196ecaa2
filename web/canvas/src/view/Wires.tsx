/** The wires that end in a node, as a form: for those who do not draw them with a mouse. */
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { unlink, wireProblem } from "../app/edits";
import { app, change, show, useTab, useRun } from "../app/store";
import { type Document, isLink, type Link, type Node, type NodeId, titleOf } from "../model/document";
import type { Input } from "../model/nodeType";
import { shapeOf } from "../model/shape";
import { Modal } from "./Modal";

export function Wires({ id }: { id: NodeId }) {
  const { t } = useTranslation();
  const document = useTab().history.present;
  const node = document.nodes.get(id);
  if (!node) return null;
  const type = app().catalogue.types.get(node.type);
  const { inputs, widgets } = shapeOf(node, type);
  return (
    <Modal title={t("node.wires", { title: nameOf(node) })} onClose={() => show(null)}>
      {[...inputs, ...widgets.map((widget) => widget.input)].map((input, index) => (
        <WireChoice key={input.name} document={document} node={node} input={input} isFirst={index === 0} />
      ))}
      <button type="button" onClick={() => show(null)}>{t("help.close")}</button>
    </Modal>
  );
}

function WireChoice({ document, node, input, isFirst }: { document: Document; node: Node; input: Input; isFirst: boolean }) {
  const { t } = useTranslation();
  const to = useMemo(() => ({ node: node.id, input: input.name }), [node.id, input.name]);
  const given = node.inputs.get(input.name);
  const outputs = useMemo(() => outputsOf(document).filter(({ from }) => wireProblem(from, to) === null), [document, to]);
  const carried = useRun()?.nodes.get(isLink(given) ? given.node : "")?.outputs[isLink(given) ? given.slot : 0];
  const set = (key: string): void => {
    const found = outputs.find((each) => keyOf(each.from) === key);
    change(found ? { type: "link", from: found.from, to } : unlink(document, node.id, input.name));
  };
  return (
    <label className="wire">
      <span>{input.name} <small>{input.kind}</small></span>
      <select autoFocus={isFirst} value={isLink(given) ? keyOf(given) : ""} onChange={(event) => set(event.target.value)}>
        <option value="">{t("node.noWire")}</option>
        {outputs.map(({ from, name }) => (
          <option key={keyOf(from)} value={keyOf(from)}>{name}</option>
        ))}
      </select>
      {carried && <small className="wire-carried">{t("node.carried", { value: carried })}</small>}
    </label>
  );
}

function keyOf(link: Link): string {
  return `${link.slot} ${link.node}`;
}

function nameOf(node: Node): string {
  return titleOf(node) || app().catalogue.types.get(node.type)?.title || node.type;
}

/** Give all outputs of a workflow with names that tell them apart. */
function outputsOf(document: Document): { from: Link; name: string }[] {
  return [...document.nodes.values()].flatMap((node) =>
    shapeOf(node, app().catalogue.types.get(node.type)).outputs.map((output, slot) => ({
      from: { node: node.id, slot }, name: `${nameOf(node)} (${node.id}): ${output.name}`,
    })),
  );
}
