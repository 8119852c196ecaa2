import { describe, expect, it } from "vitest";
import { openBytes } from "../src/formats/open";
import { SOME } from "./catalogue";
import { hasPython, python } from "./python";

const PROMPT = '{"1": {"class_type": "LoadImage", "inputs": {"image": "é.png"}}}';

/** Have Pillow write a picture of two pixels. */
function picture(save: string): Uint8Array {
  const code = "import sys, io, base64; from PIL import Image, PngImagePlugin\n" +
    `p = ${JSON.stringify(PROMPT)}\nf = io.BytesIO(); i = Image.new('RGB', (2, 1))\n${save}\n` +
    "print(base64.b64encode(f.getvalue()).decode())";
  return new Uint8Array(Buffer.from(python(code), "base64"));
}

describe.runIf(hasPython)("pictures", () => {
  const png = (text: string) => picture(`t = PngImagePlugin.PngInfo(); ${text}; i.save(f, 'PNG', pnginfo=t)`);

  it("PNG gives its workflow, packed or not", async () => {
    const ways = ["t.add_text('prompt', p.replace('é', '\\\\u00e9'))", "t.add_itxt('prompt', p)", "t.add_itxt('prompt', p, zip=True)", "t.add_text('prompt', p, zip=True)"];
    for (const way of ways) {
      const document = await openBytes(png(way), SOME);
      expect(document.nodes.get("1")?.inputs.get("image"), way).toBe("é.png");
    }
  });

  it("PNG of ours gives frames too, and one of A1111 a graph", async () => {
    const ours = png(`t.add_text('prompt', p); t.add_text('vinode', '{"extra_data": {"vinode": {"groups": [{"title": "G"}]}}}')`);
    expect((await openBytes(ours, SOME)).groups[0]?.title).toBe("G");
    const theirs = png("t.add_text('parameters', 'a fox\\nSteps: 20, Sampler: Euler, Seed: 1')");
    expect((await openBytes(theirs, SOME)).nodes.size).toBeGreaterThan(5);
  });

  it("WebP gives its workflow", async () => {
    const bytes = picture("e = i.getexif(); e[0x0110] = 'prompt:' + p; i.save(f, 'WEBP', exif=e, lossless=True)");
    expect((await openBytes(bytes, SOME)).nodes.get("1")?.type).toBe("LoadImage");
  });

  it("a picture without one is refused in words, a damaged one too", async () => {
    const plain = png("0");
    await expect(openBytes(plain, SOME)).rejects.toThrow("no-workflow-in-picture");
    for (const length of [9, 20, 40, plain.length - 5]) {
      await expect(openBytes(plain.subarray(0, length), SOME)).rejects.toThrow("no-workflow-in-picture");
    }
  });
});
