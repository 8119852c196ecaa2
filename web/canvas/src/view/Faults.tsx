/** All that is wrong with the open workflow, seen before it runs or told by the last run; each leads to its node. */
import { useReactFlow } from "@xyflow/react";
import { useEffect, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { send, show, useApp, useRun, useTab } from "../app/store";
import { titleOf } from "../model/document";
import { problemsOf, sentenceOf } from "../model/problems";
import { faultText } from "../run/messages";
import { Modal } from "./Modal";

const PAUSE = 250; // ms without an edit

/** node "": of the workflow as a whole. */
interface Said {
  readonly node: string;
  readonly sentence: string;
}

function useFaults(): readonly Said[] {
  const { t } = useTranslation();
  const document = useRested(useTab().history.present);
  const catalogue = useApp((state) => state.catalogue);
  const run = useRun();
  const seen = useMemo(() => problemsOf(document, catalogue).map((problem): Said => ({ node: problem.node, sentence: t(sentenceOf(problem), problem.about) })), [document, catalogue, t]);
  return useMemo(() => {
    const told = [...(run?.nodes ?? [])].flatMap(([node, known]) => known.faults.map((fault): Said => ({ node, sentence: faultText(fault) })));
    const whole = (run?.faults ?? []).map((fault): Said => ({ node: "", sentence: faultText(fault) }));
    return [...seen, ...told, ...whole].filter((each) => !each.node || document.nodes.has(each.node));
  }, [seen, document, run]);
}

/** Give what a value was when it last rested: whoever types does not wait for what is made of it. */
function useRested<T>(value: T): T {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), PAUSE);
    return () => clearTimeout(timer);
  }, [value]);
  return rested;
}

export function FaultsButton() {
  const { t } = useTranslation();
  const count = useFaults().length;
  if (count === 0) return null;
  return <button type="button" className="faults" onClick={() => show({ kind: "faults" })}>⚠ {t("bar.faults", { count })}</button>;
}

export function FaultsDialog() {
  const { t } = useTranslation();
  const flow = useReactFlow();
  const faults = useFaults();
  const { nodes } = useTab().history.present;
  const types = useApp((state) => state.catalogue.types);
  const go = (id: string): void => {
    show(null);
    send({ type: "select", ids: [id] });
    void flow.fitView({ nodes: [{ id }], maxZoom: 1, duration: 300 });
  };
  return (
    <Modal title={t("bar.faults", { count: faults.length })} onClose={() => show(null)}>
      <ul className="faults-list">
        {faults.map(({ node, sentence }) => {
          const known = nodes.get(node);
          const name = known && `${titleOf(known) || types.get(known.type)?.title || known.type} (${node})`;
          return (
            <li key={`${node} ${sentence}`}>
              {name ? <button type="button" onClick={() => go(node)}><b>{name}</b> <span>{sentence}</span></button> : sentence}
            </li>
          );
        })}
      </ul>
    </Modal>
  );
}
