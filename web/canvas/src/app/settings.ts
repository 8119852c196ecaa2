/** What somebody chose for this browser: kept in its storage. */
export interface Settings {
  readonly theme: "system" | "dark" | "light";
  readonly language: string;
  readonly minimap: boolean;
  readonly snap: boolean;
  /** pan: dragging the canvas moves it; select: it draws a box. */
  readonly drag: "pan" | "select";
}

const KEY = "vinode.settings";

export const DEFAULTS: Settings = { theme: "system", language: "", minimap: true, snap: false, drag: "pan" };

/** Read settings; what is missing or strange has its default. */
export function readSettings(text: string | null): Settings {
  try {
    const told = JSON.parse(text ?? "{}") as Record<string, unknown>;
    const one = <T>(key: keyof Settings, allowed: readonly T[]): T | undefined => allowed.find((each) => each === told[key]);
    return {
      theme: one("theme", ["system", "dark", "light"] as const) ?? DEFAULTS.theme,
      language: one("language", ["en", "zh"] as const) ?? DEFAULTS.language,
      minimap: one("minimap", [true, false]) ?? DEFAULTS.minimap,
      snap: one("snap", [true, false]) ?? DEFAULTS.snap,
      drag: one("drag", ["pan", "select"] as const) ?? DEFAULTS.drag,
    };
  } catch {
    return DEFAULTS;
  }
}

export function loadSettings(): Settings {
  return readSettings(localStorage.getItem(KEY));
}

export function keepSettings(settings: Settings): void {
  localStorage.setItem(KEY, JSON.stringify(settings));
}
