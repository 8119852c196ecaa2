/** Text that PNG and WebP pictures carry: keyword -> text. Pixels are not looked at. */

const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const WANTED = ["prompt", "workflow", "vinode", "parameters"];
const MAX_TEXT = 64 * 2 ** 20;
const latin1 = new TextDecoder("latin1");
const utf8 = new TextDecoder("utf-8");

export function isPng(bytes: Uint8Array): boolean {
  return PNG.every((byte, index) => bytes[index] === byte);
}

export function isWebp(bytes: Uint8Array): boolean {
  return word(bytes, 0) === "RIFF" && word(bytes, 8) === "WEBP";
}

/** Read a PNG's tEXt, zTXt and iTXt chunks that may hold a workflow, the first of each name, as far as the file goes. */
export async function pngText(bytes: Uint8Array): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const waited = new Set(WANTED);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 8; at + 12 <= bytes.length; ) {
    const [size, kind] = [view.getUint32(at), word(bytes, at + 4)];
    const content = bytes.subarray(at + 8, at + 8 + size);
    const isText = content.length === size && ["tEXt", "zTXt", "iTXt"].includes(kind);
    const end = isText ? content.subarray(0, 80).indexOf(0) : -1;
    const key = latin1.decode(content.subarray(0, Math.max(end, 0)));
    if (end > 0 && waited.delete(key)) {
      const text = await chunkText(kind, content.subarray(end + 1));
      if (text !== null) found.set(key, text);
    }
    at += size + 12;
  }
  return found;
}

async function chunkText(kind: string, rest: Uint8Array): Promise<string | null> {
  // A text that says it is Latin-1 is often UTF-8 all the same; JSON in ASCII is both.
  if (kind === "tEXt") return latin1.decode(rest);
  if (kind === "zTXt") return unpacked(rest.subarray(1)).then((plain) => plain && latin1.decode(plain));
  const language = rest.indexOf(0, 2);
  const keyword = rest.indexOf(0, language + 1);
  if (language < 0 || keyword < 0) return null;
  const body = rest.subarray(keyword + 1);
  if (rest[0] !== 1) return utf8.decode(body);
  return unpacked(body).then((plain) => plain && utf8.decode(plain));
}

/** Unpack zlib's stream; null where it is damaged or grows beyond all measure. */
async function unpacked(packed: Uint8Array): Promise<Uint8Array | null> {
  const stream = new Blob([packed as BlobPart]).stream().pipeThrough(new DecompressionStream("deflate"));
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    const reader = stream.getReader();
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      size += next.value.length;
      if (size > MAX_TEXT) return null;
      parts.push(next.value);
    }
  } catch {
    return null;
  }
  return new Uint8Array(await new Blob(parts as BlobPart[]).arrayBuffer());
}

/** Read the texts `keyword:text` of a WebP's EXIF fields, as ComfyUI writes them. */
export function webpText(bytes: Uint8Array): Map<string, string> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 12; at + 8 <= bytes.length; ) {
    const size = view.getUint32(at + 4, true);
    if (word(bytes, at) === "EXIF") return exifText(bytes.subarray(at + 8, at + 8 + size));
    at += 8 + size + (size % 2);
  }
  return new Map();
}

function exifText(chunk: Uint8Array): Map<string, string> {
  const found = new Map<string, string>();
  // Some writers put JPEG's "Exif\0\0" before the TIFF header.
  const tiff = word(chunk, 0) === "Exif" ? chunk.subarray(6) : chunk;
  const little = word(tiff, 0).startsWith("II");
  const view = new DataView(tiff.buffer, tiff.byteOffset, tiff.byteLength);
  if (tiff.length < 8) return found;
  const start = view.getUint32(4, little);
  if (start + 2 > tiff.length) return found;
  const count = view.getUint16(start, little);
  let read = 0;
  for (let index = 0; index < count && read < MAX_TEXT; index += 1) {
    const at = start + 2 + 12 * index;
    if (at + 12 > tiff.length) break;
    const [kind, size] = [view.getUint16(at + 2, little), view.getUint32(at + 4, little)];
    if (kind !== 2) continue; // text
    const place = size <= 4 ? at + 8 : view.getUint32(at + 8, little);
    const text = utf8.decode(tiff.subarray(place, place + size)).replace(/\0+$/, "");
    read += size; // entries may all name the same bytes
    const colon = text.indexOf(":");
    if (colon > 0) found.set(text.slice(0, colon), text.slice(colon + 1));
  }
  return found;
}

function word(bytes: Uint8Array, at: number): string {
  return latin1.decode(bytes.subarray(at, at + 4));
}
