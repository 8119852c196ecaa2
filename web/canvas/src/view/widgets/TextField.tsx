/** A text: a real field of the browser, so that input methods, spell checkers and copying work. */
import type { KeyboardEvent } from "react";
import { flushSync } from "react-dom";
import { weighted } from "../../model/weights";
import type { Field } from "./Widget";

const COLOUR = /^#[0-9a-f]{6}$/i; // is picked, too

export function TextField({ field }: { field: Field }) {
  const { input, value, set, end } = field;
  const text = typeof value === "string" ? value : "";
  if (input.multiline) {
    return (
      <textarea
        className="nowheel" value={text} aria-label={input.name} placeholder={input.placeholder || input.name} spellCheck
        onChange={(event) => set(event.target.value)} onBlur={end} onKeyDown={(event) => weigh(event, set)}
      />
    );
  }
  return (
    <label>
      <span>{input.name}</span>
      {COLOUR.test(text) && <input type="color" value={text} aria-label={input.name} onChange={(event) => set(event.target.value)} onBlur={end} />}
      <input type="text" value={text} placeholder={input.placeholder} onChange={(event) => set(event.target.value)} onBlur={end} />
    </label>
  );
}

/** Ctrl and up or down: the weight of what is marked. */
function weigh(event: KeyboardEvent<HTMLTextAreaElement>, set: (text: string) => void): void {
  const field = event.currentTarget;
  if (!(event.ctrlKey || event.metaKey) || event.nativeEvent.isComposing || !["ArrowUp", "ArrowDown"].includes(event.key)) return;
  event.preventDefault();
  event.stopPropagation();
  const next = weighted({ text: field.value, start: field.selectionStart, end: field.selectionEnd }, event.key === "ArrowUp");
  if (!next) return;
  flushSync(() => set(next.text)); // or the marks would be set in the text of before
  field.setSelectionRange(next.start, next.end);
}
