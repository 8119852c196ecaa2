/** An edge of the page, and the panel that is open there. */
import { type CSSProperties, type KeyboardEvent, type PointerEvent, Suspense } from "react";
import { useTranslation } from "react-i18next";
import { choose, useApp } from "../app/store";
import { type Edge, PLACES, toggled } from "./panels";

const STEP = 20;
const LEAST = 160;

export function Dock({ edge }: { edge: Edge }) {
  const { t } = useTranslation();
  const open = useApp((state) => state.settings.panels);
  const size = useApp((state) => state.settings[edge]);
  const panel = open.find((each) => PLACES[each].edge === edge);
  if (!panel) return null;
  const { Body } = PLACES[panel];
  const title = t(`${panel}.title`);
  return (
    <aside className={`dock dock-${edge}`} style={{ "--size": `${size}px` } as CSSProperties} aria-label={title}>
      <Grip edge={edge} size={size} />
      <header>
        <h2>{title}</h2>
        <button type="button" aria-label={t("bar.closePanel", { title })} onClick={() => choose({ panels: toggled(open, panel) })}>×</button>
      </header>
      <div className="dock-body">
        <Suspense fallback={<p role="status">{t("bar.loading")}</p>}><Body /></Suspense>
      </div>
    </aside>
  );
}

/** The edge between canvas and panel: dragged, or moved by arrow keys. */
function Grip({ edge, size }: { edge: Edge; size: number }) {
  const { t } = useTranslation();
  const isRight = edge === "right";
  const most = 0.8 * (isRight ? window.innerWidth : window.innerHeight);
  const set = (to: number): void => choose({ [edge]: Math.round(Math.min(most, Math.max(LEAST, to))) });
  const drag = (event: PointerEvent): void => {
    if (event.buttons === 1) set(isRight ? window.innerWidth - event.clientX : window.innerHeight - event.clientY);
  };
  const press = (event: KeyboardEvent): void => {
    const larger = isRight ? "ArrowLeft" : "ArrowUp";
    const smaller = isRight ? "ArrowRight" : "ArrowDown";
    if (event.key === larger) set(size + STEP);
    else if (event.key === smaller) set(size - STEP);
    else return;
    event.preventDefault();
  };
  return (
    <div
      className="grip-edge" role="separator" tabIndex={0} aria-label={t("bar.panelSize")} aria-orientation={isRight ? "vertical" : "horizontal"}
      aria-valuenow={size} aria-valuemin={LEAST} aria-valuemax={Math.round(most)} onKeyDown={press}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)} onPointerMove={drag}
    />
  );
}
