/** What becomes of a seed after a run, and a new one at once. */
import { useTranslation } from "react-i18next";
import { change } from "../../app/store";
import type { Node } from "../../model/document";
import { objectOf, withKey } from "../../model/json";
import { afterOf, AFTERWARDS, randomSeed } from "../../model/seeds";
import type { Field } from "./Widget";

export function SeedAfter({ node, field }: { node: Node; field: Field }) {
  const { t } = useTranslation();
  const { input, set, end } = field;
  const choose = (after: string): void => {
    const all = withKey(objectOf(node.meta.get("after")), input.name, after === "fixed" ? undefined : after);
    change({ type: "set-meta", nodes: [node.id], key: "after", value: all.size > 0 ? all : undefined });
  };
  return (
    <>
      <select aria-label={t("node.after")} value={afterOf(node, input.name)} onChange={(event) => choose(event.target.value)}>
        {AFTERWARDS.map((after) => (
          <option key={after} value={after}>{t(`after.${after}`)}</option>
        ))}
      </select>
      <button type="button" aria-label={t("node.randomise")} title={t("node.randomise")} onClick={() => { set(randomSeed(BigInt(input.range?.maximum ?? 2n ** 64n - 1n))); end(); }}>🎲</button>
    </>
  );
}
