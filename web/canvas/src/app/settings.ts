import { type OwnKeys, readOwnKeys } from "../keys/keyMap";
import { PANELS, type PanelId } from "../panels/panels";

/** What somebody chose for this browser: kept in its storage. */
export interface Settings {
  readonly theme: "system" | "dark" | "light";
  readonly language: string;
  readonly minimap: boolean;
  readonly snap: boolean;
  /** pan: dragging the canvas moves it; select: it draws a box. */
  readonly drag: "pan" | "select";
  /** Keys that somebody chose. */
  readonly keys: OwnKeys;
  /** Bring the node that runs into view. */
  readonly follow: boolean;
  /** Colour nodes by the share of the run's time that they took. */
  readonly heat: boolean;
  /** Panels that are open, one an edge at most. */
  readonly panels: readonly PanelId[];
  /** How wide or high the panel at an edge is, CSS pixels. */
  readonly right: number;
  readonly bottom: number;
}

const KEY = "vinode.settings";

export const DEFAULTS: Settings = {
  theme: "system", language: "", minimap: true, snap: false, drag: "pan", keys: {}, follow: false, heat: false, panels: [], right: 360, bottom: 260,
};

/** Read settings; what is missing or strange has its default. */
export function readSettings(text: string | null): Settings {
  try {
    const told = JSON.parse(text ?? "{}") as Record<string, unknown>;
    const one = <T>(key: keyof Settings, allowed: readonly T[]): T | undefined => allowed.find((each) => each === told[key]);
    const size = (key: "right" | "bottom"): number => {
      const value = told[key];
      return typeof value === "number" && value >= 160 && value <= 4000 ? value : DEFAULTS[key];
    };
    const panels = Array.isArray(told["panels"]) ? PANELS.filter((panel) => (told["panels"] as unknown[]).includes(panel)) : [];
    return {
      theme: one("theme", ["system", "dark", "light"] as const) ?? DEFAULTS.theme,
      language: one("language", ["en", "zh"] as const) ?? DEFAULTS.language,
      minimap: one("minimap", [true, false]) ?? DEFAULTS.minimap,
      snap: one("snap", [true, false]) ?? DEFAULTS.snap,
      drag: one("drag", ["pan", "select"] as const) ?? DEFAULTS.drag,
      keys: readOwnKeys(told["keys"]),
      follow: one("follow", [true, false]) ?? DEFAULTS.follow,
      heat: one("heat", [true, false]) ?? DEFAULTS.heat,
      panels,
      right: size("right"),
      bottom: size("bottom"),
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
