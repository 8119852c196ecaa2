/** What a node shows: what it saved, what it works on just now, or what it loads. */
import { memo, useState } from "react";
import { useTranslation } from "react-i18next";
import { viewUrl } from "../api/client";
import { type Node, titleOf } from "../model/document";
import { textOf } from "../model/json";
import type { Shape } from "../model/shape";
import type { NodeRun } from "../run/runs";

interface Properties {
  readonly node: Node;
  readonly shape: Shape;
  readonly run: NodeRun | undefined;
}

export const Pictures = memo(function Pictures({ node, shape, run }: Properties) {
  const { t } = useTranslation();
  const [at, setAt] = useState(0);
  const urls = addresses(node, shape, run);
  const texts = run?.texts ?? [];
  if (urls.length === 0 && texts.length === 0) return shape.picture ? <div className="pictures is-empty" style={{ height: shape.picture }} /> : null;
  const shown = Math.min(at, urls.length - 1);
  // Where the node has no place of its own for it, it hangs below the node.
  const place = shape.picture ? { height: shape.picture } : {};
  return (
    <figure className={shape.picture ? "pictures" : "pictures is-below"} style={place} aria-label={t("node.pictures", { title: titleOf(node) || node.type })}>
      {urls[shown] && <img src={urls[shown].small} alt="" draggable={false} onError={(event) => { event.currentTarget.hidden = true; }} onLoad={(event) => { event.currentTarget.hidden = false; }} onDoubleClick={() => window.open(urls[shown]?.full, "_blank", "noopener")} />}
      {texts.length > 0 && <pre className="nodrag nowheel">{texts.join("\n")}</pre>}
      {urls.length > 1 && (
        <button type="button" className="nodrag" onClick={() => setAt((shown + 1) % urls.length)} aria-label={t("node.picture", { number: shown + 1, count: urls.length })}>
          {shown + 1}/{urls.length}
        </button>
      )}
    </figure>
  );
});

function addresses(node: Node, shape: Shape, run: NodeRun | undefined): { small: string; full: string }[] {
  if (run?.preview) return [{ small: run.preview, full: run.preview }];
  if (run && run.pictures.length > 0) return run.pictures.map((each) => ({ small: viewUrl(each, true), full: viewUrl(each) }));
  const loaded = shape.widgets.find(({ input }) => input.upload);
  const given = loaded && node.inputs.get(loaded.input.name);
  const name = typeof given === "string" ? textOf(given) : "";
  if (!name) return [];
  const file = { filename: name, subfolder: "", type: "input" };
  return [{ small: viewUrl(file, true), full: viewUrl(file) }];
}
