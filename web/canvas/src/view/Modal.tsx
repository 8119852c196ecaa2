/** Something that lies over the page until it is answered or left. */
import { type ReactNode, useEffect, useRef } from "react";
import type { Point } from "../model/document";

interface Properties {
  readonly title: string;
  readonly on?: Point | null;
  readonly wide?: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

export function Modal({ title, on = null, wide = false, onClose, children }: Properties) {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = box.current;
    const before = document.activeElement as HTMLElement | null;
    if (dialog && !dialog.open) dialog.showModal();
    return () => before?.focus?.();
  }, []);
  // Near where it was asked for, but whole on the page.
  const place = on
    ? { left: Math.max(8, Math.min(on.x, window.innerWidth - 440)), top: Math.max(8, Math.min(on.y, window.innerHeight - 420)), margin: 0 }
    : {};
  return (
    <dialog
      ref={box} className={wide ? "modal is-wide" : "modal"} aria-label={title} style={place} onCancel={(event) => { event.preventDefault(); onClose(); }}
      onPointerDown={(event) => event.target === box.current && onClose()}
    >
      <h2>{title}</h2>
      {children}
    </dialog>
  );
}
