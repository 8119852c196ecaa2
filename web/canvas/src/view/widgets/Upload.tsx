/** A picture for an input: chosen, or dropped onto the widget. */
import { type DragEvent, useRef } from "react";
import { useTranslation } from "react-i18next";
import { uploadImage } from "../../api/client";
import { tellProblem } from "../../app/files";
import { show } from "../../app/store";
import type { Field } from "./Widget";

export function Upload({ field, node }: { field: Field; node: string }) {
  const { t } = useTranslation();
  const input = useRef<HTMLInputElement>(null);
  const send = (file: File | undefined): void => {
    if (!file) return;
    uploadImage(file).then((name) => { field.set(name); field.end(); }, tellProblem);
  };
  const onDrop = (event: DragEvent): void => {
    event.preventDefault();
    event.stopPropagation();
    send(event.dataTransfer.files[0]);
  };
  return (
    <>
      <button type="button" title={t("node.upload")} aria-label={t("node.upload")} onDrop={onDrop} onDragOver={(event) => event.preventDefault()} onClick={() => input.current?.click()}>📁</button>
      {typeof field.value === "string" && field.value !== "" && (
        <button type="button" title={t("mask.title")} aria-label={t("mask.title")} onClick={() => show({ kind: "mask", to: { node, input: field.input.name }, file: String(field.value) })}>🖌</button>
      )}
      <input ref={input} type="file" accept="image/*" hidden onChange={(event) => send(event.target.files?.[0])} />
    </>
  );
}
