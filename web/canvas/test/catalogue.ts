/** A small catalogue in the server's own shape. */
import { readJson } from "../src/formats/readJson";
import { type Catalogue, readCatalogue } from "../src/model/nodeType";

interface Port {
  readonly name: string;
  readonly kind: string;
  readonly [key: string]: unknown;
}

const port = (name: string, kind: string): Port => ({ name, kind, widget: false, required: true });
const widget = (name: string, kind: string, more: object = {}): Port => ({ name, kind, widget: true, required: true, ...more });
const out = (...kinds: string[]): Port[] => kinds.map((kind) => ({ name: kind, kind }));
const node = (id: string, inputs: Port[], outputs: Port[] = [], more: object = {}): object => ({
  id, title: id, category: "test", inputs, outputs, ...more,
});

export const SOME: Catalogue = readCatalogue(
  readJson(
    JSON.stringify({
      kinds: {},
      nodes: [
        node("CheckpointLoaderSimple", [widget("ckpt_name", "COMBO", { options: ["a.safetensors"] })], out("MODEL", "CLIP", "VAE")),
        node("CLIPTextEncode", [widget("text", "STRING", { multiline: true }), port("clip", "CLIP")], out("CONDITIONING")),
        node("EmptyLatentImage", [widget("width", "INT"), widget("height", "INT"), widget("batch_size", "INT")], out("LATENT")),
        node(
          "KSampler",
          [
            port("model", "MODEL"), widget("seed", "INT", { seed: true }), widget("steps", "INT"), widget("cfg", "FLOAT"),
            widget("sampler_name", "COMBO", { options: ["euler"] }), widget("scheduler", "COMBO", { options: ["normal"] }),
            port("positive", "CONDITIONING"), port("negative", "CONDITIONING"), port("latent_image", "LATENT"), widget("denoise", "FLOAT"),
          ],
          out("LATENT"),
        ),
        node("VAEDecode", [port("samples", "LATENT"), port("vae", "VAE")], out("IMAGE")),
        node("LoadImage", [widget("image", "COMBO", { options: [], closed: false, upload: true })], out("IMAGE", "MASK")),
        node("ImageInvert", [port("image", "IMAGE")], out("IMAGE")),
        node("ImageScale", [port("image", "IMAGE"), widget("width", "INT"), widget("height", "INT")], out("IMAGE")),
        node("SaveImage", [port("images", "IMAGE"), widget("filename_prefix", "STRING")], [], { is_output: true }),
        node("PrimitiveInt", [widget("value", "INT")], out("INT")),
        node("PrimitiveString", [widget("value", "STRING")], out("STRING")),
      ],
    }),
  ),
);
