/** Ids that nothing else has; also where a page comes over plain HTTP, which crypto.randomUUID refuses. */
export function freshId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
