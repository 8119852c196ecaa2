/** Where a whole workflow is put at once; what each means is the server's. */
export const PRESETS = ["AUTO", "all-npu", "all-gpu", "unet-npu"] as const;
export type Preset = (typeof PRESETS)[number];
