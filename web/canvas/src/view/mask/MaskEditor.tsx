/** Paints the mask of a picture, and keeps both as a file of the input folder. */
import { type KeyboardEvent, type PointerEvent, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { type FileName, uploadMask, viewUrl } from "../../api/client";
import { tellProblem } from "../../app/files";
import { change, show } from "../../app/store";
import type { InputPlace } from "../../model/document";
import { Modal } from "../Modal";
import { alphaOf, type Brush, emptyMask, feathered, inverted, type Mask, maskOf, stroke } from "./brush";

const FEATHER = 4; // pixels a press
const MOST_UNDO = 30;
const TINT = [255, 60, 60, 150] as const;

interface Loaded {
  readonly pixels: Uint8ClampedArray;
  readonly width: number;
  readonly height: number;
}

export default function MaskEditor({ to, file }: { to: InputPlace; file: string }) {
  const { t } = useTranslation();
  const [loaded, setLoaded] = useState<Loaded | null>(null);
  const [past, setPast] = useState<readonly Mask[]>([]);
  const [mask, setMask] = useState<Mask>(emptyMask(1, 1));
  const [brush, setBrush] = useState<Brush>({ radius: 12, soft: 0.2, erase: false });
  const surface = useRef<HTMLCanvasElement>(null);
  const last = useRef<readonly [number, number] | null>(null);
  useEffect(() => {
    void read(file).then((found) => {
      setLoaded(found);
      setMask(maskOf(found.pixels, found.width, found.height));
      setBrush((before) => ({ ...before, radius: Math.max(2, Math.round(found.width / 16)) }));
    }, tellProblem);
  }, [file]);
  useEffect(() => {
    if (loaded && surface.current) draw(surface.current, loaded, mask);
  }, [loaded, mask]);
  const edit = (next: Mask): void => {
    setPast([...past, mask].slice(-MOST_UNDO));
    setMask(next);
  };
  const undo = (): void => {
    const before = past.at(-1);
    if (before) setMask(before);
    setPast(past.slice(0, -1));
  };
  const place = (event: PointerEvent<HTMLCanvasElement>): readonly [number, number] => {
    const box = event.currentTarget.getBoundingClientRect();
    return [((event.clientX - box.x) / box.width) * mask.width, ((event.clientY - box.y) / box.height) * mask.height];
  };
  const onDown = (event: PointerEvent<HTMLCanvasElement>): void => {
    event.currentTarget.setPointerCapture(event.pointerId);
    last.current = place(event);
    edit(stroke(mask, { ...brush, erase: brush.erase || event.button === 2 }, last.current, last.current));
  };
  const onMove = (event: PointerEvent<HTMLCanvasElement>): void => {
    if (event.buttons === 0 || !last.current) return;
    const now = place(event);
    setMask(stroke(mask, { ...brush, erase: brush.erase || event.buttons === 2 }, last.current, now));
    last.current = now;
  };
  const onKey = (event: KeyboardEvent): void => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z") {
      event.preventDefault();
      undo();
    }
  };
  const save = async (): Promise<void> => {
    if (!loaded) return;
    try {
      const value = await uploadMask(await written(mask, file), named(file));
      change({ type: "set-input", to, value });
      show(null);
    } catch (error) {
      tellProblem(error);
    }
  };
  return (
    <Modal title={t("mask.title")} onClose={() => show(null)} wide>
      <div className="mask" onKeyDown={onKey}>
        <div className="mask-tools">
          <label>{t("mask.size")} <input type="range" min={1} max={Math.max(8, Math.round(mask.width / 3))} value={brush.radius} onChange={(event) => setBrush({ ...brush, radius: Number(event.target.value) })} /></label>
          <label>{t("mask.soft")} <input type="range" min={0} max={100} value={brush.soft * 100} onChange={(event) => setBrush({ ...brush, soft: Number(event.target.value) / 100 })} /></label>
          <label><input type="checkbox" checked={brush.erase} onChange={(event) => setBrush({ ...brush, erase: event.target.checked })} /> {t("mask.erase")}</label>
          <button type="button" onClick={() => edit(inverted(mask))}>{t("mask.invert")}</button>
          <button type="button" onClick={() => edit(feathered(mask, FEATHER))}>{t("mask.feather")}</button>
          <button type="button" onClick={() => edit(emptyMask(mask.width, mask.height))}>{t("mask.clear")}</button>
          <button type="button" disabled={past.length === 0} onClick={undo}>{t("mask.undo")}</button>
          <button type="button" disabled={!loaded} onClick={() => void save()}>{t("mask.save")}</button>
        </div>
        <canvas
          ref={surface} role="img" aria-label={t("mask.picture")} width={mask.width} height={mask.height}
          onPointerDown={onDown} onPointerMove={onMove} onPointerUp={() => { last.current = null; }} onContextMenu={(event) => event.preventDefault()}
        />
      </div>
    </Modal>
  );
}

async function read(file: string): Promise<Loaded> {
  const picture = new Image();
  picture.src = viewUrl(named(file));
  await picture.decode();
  const { naturalWidth: width, naturalHeight: height } = picture;
  const brush = new OffscreenCanvas(width, height).getContext("2d") as OffscreenCanvasRenderingContext2D;
  brush.drawImage(picture, 0, 0);
  return { pixels: brush.getImageData(0, 0, width, height).data, width, height };
}

/** Show the picture opaque, and the mask over it. */
function draw(surface: HTMLCanvasElement, loaded: Loaded, mask: Mask): void {
  const shown = new Uint8ClampedArray(loaded.pixels);
  for (let index = 0; index < mask.on.length; index += 1) {
    const share = ((mask.on[index] ?? 0) / 255) * (TINT[3] / 255);
    for (let channel = 0; channel < 3; channel += 1) {
      const at = 4 * index + channel;
      shown[at] = (shown[at] ?? 0) * (1 - share) + (TINT[channel] ?? 0) * share;
    }
    shown[4 * index + 3] = 255;
  }
  surface.getContext("2d")?.putImageData(new ImageData(shown, loaded.width, loaded.height), 0, 0);
}

/** Only its alpha counts: the server puts it on the picture, whose colours under the mask stay. */
async function written(mask: Mask, file: string): Promise<File> {
  const surface = new OffscreenCanvas(mask.width, mask.height);
  surface.getContext("2d")?.putImageData(new ImageData(alphaOf(mask), mask.width, mask.height), 0, 0);
  const name = (file.split("/").at(-1) ?? file).replace(/(-mask)?\.\w+$/, "-mask.png");
  return new File([await surface.convertToBlob({ type: "image/png" })], name, { type: "image/png" });
}

function named(file: string): FileName {
  const parts = file.split("/");
  return { filename: parts.at(-1) ?? file, subfolder: parts.slice(0, -1).join("/"), type: "input" };
}
