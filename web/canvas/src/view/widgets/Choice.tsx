/** One of a list of names, found by typing. */
import { useId } from "react";
import type { Field } from "./Widget";

const SHORT = 12; // names that are seen at once need no search

export function Choice({ field }: { field: Field }) {
  const id = useId();
  const { input, value, set, end } = field;
  const options = input.options ?? [];
  const now = typeof value === "string" ? value : "";
  if (input.closed && options.length <= SHORT) {
    return (
      <label>
        <span>{input.name}</span>
        <select value={now} onChange={(event) => { set(event.target.value); end(); }}>
          {!options.includes(now) && <option value={now}>{now && `⚠ ${now}`}</option>}
          {options.map((option) => (
            <option key={option} value={option}>{option}</option>
          ))}
        </select>
      </label>
    );
  }
  return (
    <label>
      <span>{input.name}</span>
      <input
        type="text" list={id} value={now} aria-invalid={input.closed && !options.includes(now)} onChange={(event) => set(event.target.value)} onBlur={end}
        onFocus={(event) => event.target.select()}
      />
      <datalist id={id}>
        {options.map((option) => (
          <option key={option} value={option} />
        ))}
      </datalist>
    </label>
  );
}
