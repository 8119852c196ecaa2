/** Masks as bytes, 255 where they are on; painted with a round brush. Pure: the editor draws what comes out. */

/** width × height bytes, row by row. */
export interface Mask {
  readonly width: number;
  readonly height: number;
  readonly on: Uint8ClampedArray;
}

/** radius: pixels. soft: 0, a hard edge, to 1, soft up to the middle. erase: takes off instead. */
export interface Brush {
  readonly radius: number;
  readonly soft: number;
  readonly erase: boolean;
}

export function emptyMask(width: number, height: number): Mask {
  return { width, height, on: new Uint8ClampedArray(width * height) };
}

/** Paint a stroke from one place to another, pixels; what is on already gets no less. */
export function stroke(mask: Mask, brush: Brush, from: readonly [number, number], to: readonly [number, number]): Mask {
  const on = mask.on.slice();
  const { radius, soft, erase } = brush;
  const [[x0, y0], [x1, y1]] = [from, to];
  const left = Math.max(0, Math.floor(Math.min(x0, x1) - radius));
  const right = Math.min(mask.width - 1, Math.ceil(Math.max(x0, x1) + radius));
  const top = Math.max(0, Math.floor(Math.min(y0, y1) - radius));
  const bottom = Math.min(mask.height - 1, Math.ceil(Math.max(y0, y1) + radius));
  const [dx, dy] = [x1 - x0, y1 - y0];
  const length = dx * dx + dy * dy;
  for (let y = top; y <= bottom; y += 1) {
    for (let x = left; x <= right; x += 1) {
      // The nearest point of the stroke to the middle of the pixel.
      const along = length > 0 ? Math.max(0, Math.min(1, ((x + 0.5 - x0) * dx + (y + 0.5 - y0) * dy) / length)) : 0;
      const distance = Math.hypot(x + 0.5 - x0 - along * dx, y + 0.5 - y0 - along * dy);
      if (distance > radius) continue;
      const edge = Math.max(1e-6, soft * radius);
      const strength = 255 * Math.min(1, (radius - distance) / edge);
      const at = y * mask.width + x;
      on[at] = erase ? Math.min(on[at] ?? 0, 255 - strength) : Math.max(on[at] ?? 0, strength);
    }
  }
  return { ...mask, on };
}

export function inverted(mask: Mask): Mask {
  return { ...mask, on: mask.on.map((value) => 255 - value) };
}

/** Soften the edge: the mean over a square of 2 × pixels + 1, across and then down. */
export function feathered(mask: Mask, pixels: number): Mask {
  const across = mean(mask.on, mask.width, mask.height, 1, mask.width, pixels);
  return { ...mask, on: mean(across, mask.height, mask.width, mask.width, 1, pixels) };
}

/** Give the running mean along lines of `count` bytes that lie `step` apart, `lines` of them `next` apart. */
function mean(from: Uint8ClampedArray, count: number, lines: number, step: number, next: number, reach: number): Uint8ClampedArray {
  const to = new Uint8ClampedArray(from.length);
  for (let line = 0; line < lines; line += 1) {
    const at = (index: number): number => from[line * next + Math.max(0, Math.min(count - 1, index)) * step] ?? 0;
    let sum = 0;
    for (let index = -reach; index <= reach; index += 1) sum += at(index);
    for (let index = 0; index < count; index += 1) {
      to[line * next + index * step] = sum / (2 * reach + 1);
      sum += at(index + reach + 1) - at(index - reach);
    }
  }
  return to;
}

/** Give the bytes (red green blue alpha) of a picture that is transparent where the mask is on, as loaders read it. */
export function alphaOf(mask: Mask): Uint8ClampedArray<ArrayBuffer> {
  const pixels = new Uint8ClampedArray(4 * mask.on.length);
  for (let index = 0; index < mask.on.length; index += 1) pixels[4 * index + 3] = 255 - (mask.on[index] ?? 0);
  return pixels;
}

/** Give the mask that a picture carries already. */
export function maskOf(pixels: Uint8ClampedArray, width: number, height: number): Mask {
  return { width, height, on: Uint8ClampedArray.from({ length: width * height }, (_, index) => 255 - (pixels[4 * index + 3] ?? 255)) };
}
