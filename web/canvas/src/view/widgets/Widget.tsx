/** A widget of an input, by what the signature says of it. */
import { memo, useCallback } from "react";
import { useTranslation } from "react-i18next";
import { change, send } from "../../app/store";
import { type Given, isLink, type Node } from "../../model/document";
import type { Json } from "../../model/json";
import type { Input } from "../../model/nodeType";
import { Choice } from "./Choice";
import { NumberField } from "./NumberField";
import { SeedAfter } from "./SeedAfter";
import { TextField } from "./TextField";
import { Upload } from "./Upload";

interface Properties {
  readonly node: Node;
  readonly input: Input;
  readonly height: number;
}

/** set(value): part of the gesture under way. end(): what comes next is undone by itself. */
export interface Field {
  readonly input: Input;
  readonly value: Json | undefined;
  readonly set: (value: Json) => void;
  readonly end: () => void;
}

export const Widget = memo(function Widget({ node, input, height }: Properties) {
  const { t } = useTranslation();
  const given: Given | undefined = node.inputs.get(input.name);
  const { id } = node;
  const set = useCallback(
    (value: Json) => change({ type: "set-input", to: { node: id, input: input.name }, value }, `input ${id} ${input.name}`),
    [id, input.name],
  );
  const end = useCallback(() => send({ type: "settle" }), []);
  if (isLink(given)) {
    return <div className="widget is-linked" style={{ height }} title={input.help}>{input.name}<em>{t("node.linked")}</em></div>;
  }
  const field: Field = { input, value: given ?? input.default, set, end };
  return (
    <div className={`widget nodrag${input.multiline ? " is-text" : ""}`} style={{ height }} title={input.help}>
      <Editor field={field} />
      {input.seed && <SeedAfter node={node} field={field} />}
      {input.upload && <Upload field={field} node={id} />}
    </div>
  );
});

function Editor({ field }: { field: Field }) {
  const { input, value, set } = field;
  switch (input.kind) {
    case "INT":
    case "FLOAT":
      return <NumberField field={field} />;
    case "BOOLEAN":
      return (
        <label className="toggle">
          <span>{input.name}</span>
          <input type="checkbox" checked={value === true} onChange={(event) => { set(event.target.checked); field.end(); }} />
        </label>
      );
    case "COMBO":
      return <Choice field={field} />;
    default:
      return <TextField field={field} />;
  }
}
