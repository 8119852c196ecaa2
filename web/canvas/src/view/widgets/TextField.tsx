/** A text: a real field of the browser, so that input methods, spell checkers and copying work. */
import type { Field } from "./Widget";

const COLOUR = /^#[0-9a-f]{6}$/i; // is picked, too

export function TextField({ field }: { field: Field }) {
  const { input, value, set, end } = field;
  const text = typeof value === "string" ? value : "";
  if (input.multiline) {
    return (
      <textarea
        className="nowheel" value={text} aria-label={input.name} placeholder={input.placeholder || input.name} spellCheck
        onChange={(event) => set(event.target.value)} onBlur={end}
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
