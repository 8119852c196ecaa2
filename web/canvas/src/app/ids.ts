/** UUIDs, as the server takes them for runs; also where a page comes over plain HTTP, which crypto.randomUUID refuses. */
export function freshId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
