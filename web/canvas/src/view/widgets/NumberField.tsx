/** A number: typed, stepped with the arrow keys, or dragged by its name. */
import { type PointerEvent, useRef, useState } from "react";
import { numberOf } from "../../model/json";
import { shown, stepOf, stepped, typed } from "../../model/numbers";
import type { Field } from "./Widget";

const PIXELS = 6; // of drag a step

export function NumberField({ field }: { field: Field }) {
  const { input, value, set, end } = field;
  // What is half typed, as "-" or "1e", is no number yet.
  const [draft, setDraft] = useState<string | null>(null);
  const commit = (): void => {
    const number = draft === null ? null : typed(draft, input);
    if (number !== null) set(number);
    setDraft(null);
    end();
  };
  const step = (steps: number): void => {
    set(stepped(draft === null ? value : (typed(draft, input) ?? value), steps, input));
    setDraft(null);
  };
  const range = input.range;
  return (
    <label>
      <Grip name={input.name} value={value} field={field} />
      <input
        type="text" inputMode={input.kind === "INT" ? "numeric" : "decimal"} className="number" role="spinbutton" aria-label={input.name}
        aria-valuenow={numberOf(value)} aria-valuemin={range?.minimum === null ? undefined : Number(range?.minimum ?? 0)}
        aria-valuemax={range?.maximum === null ? undefined : Number(range?.maximum ?? 0)}
        aria-invalid={draft !== null && typed(draft, input) === null}
        value={draft ?? shown(value)} onChange={(event) => setDraft(event.target.value)} onBlur={commit}
        onKeyDown={(event) => {
          if (event.key === "Enter") commit();
          if (event.key === "Escape") setDraft(null);
          if (event.key === "ArrowUp" || event.key === "ArrowDown") {
            step((event.key === "ArrowUp" ? 1 : -1) * (event.shiftKey ? 10 : 1));
            event.preventDefault();
          }
        }}
      />
      {range?.unit && <small>{range.unit}</small>}
    </label>
  );
}

/** The name, by which the number is dragged. Shift: finer. */
function Grip({ name, value, field }: { name: string; value: Field["value"]; field: Field }) {
  const start = useRef<{ x: number; value: Field["value"] } | null>(null);
  const onDown = (event: PointerEvent<HTMLSpanElement>): void => {
    start.current = { x: event.clientX, value };
    event.currentTarget.setPointerCapture(event.pointerId);
  };
  const onMove = (event: PointerEvent<HTMLSpanElement>): void => {
    if (!start.current) return;
    const steps = Math.round((event.clientX - start.current.x) / (event.shiftKey ? 4 * PIXELS : PIXELS));
    // Sizes of pictures go by thousands: whole numbers without a step of their own move by 8.
    const pace = field.input.kind === "INT" && stepOf(field.input) === 1 && (numberOf(start.current.value) ?? 0) >= 256 ? 8 : 1;
    field.set(stepped(start.current.value, steps * pace, field.input));
  };
  const onUp = (): void => {
    if (start.current) field.end();
    start.current = null;
  };
  return <span className="grip" onPointerDown={onDown} onPointerMove={onMove} onPointerUp={onUp} onPointerCancel={onUp}>{name}</span>;
}
