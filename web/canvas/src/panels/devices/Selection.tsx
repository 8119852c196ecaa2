/** Puts nodes on devices: by a preset, or as the selected nodes are asked to run. */
import { useTranslation } from "react-i18next";
import { applyPreset, setDevice } from "../../app/mend";
import { type Preset, PRESETS } from "../../app/presets";
import { change, useApp, useTab } from "../../app/store";
import { selectedNodes } from "../../app/workspace";
import { textOf } from "../../model/json";

/** What a node's `_meta` may say of how it is compiled, as OpenVINO names it. */
const OPTIONS = {
  precision: ["f32", "f16", "bf16"],
  performance: ["LATENCY", "THROUGHPUT", "CUMULATIVE_THROUGHPUT"],
  priority: ["LOW", "MEDIUM", "HIGH"],
} as const;
type Option = keyof typeof OPTIONS;

export function Selection() {
  const { t } = useTranslation();
  const tab = useTab();
  const types = useApp((state) => state.catalogue.types);
  const here = useApp((state) => state.runs.worker.devices);
  const { nodes } = tab.history.present;
  const chosen = selectedNodes(tab).filter((id) => types.get(nodes.get(id)?.type ?? "")?.usesDevice);
  const scope = chosen.length > 0 ? chosen : [...nodes.keys()];
  const shared = (key: string): string => {
    const values = new Set(chosen.map((id) => textOf(nodes.get(id)?.meta.get(key))));
    return values.size === 1 ? ([...values][0] ?? "") : "";
  };
  const device = shared("device");
  const names = [...new Set(["CPU", "GPU", "NPU", ...here, ...(device ? [device.replace(/!$/, "")] : [])])];
  const strict = device.endsWith("!");
  const set = (name: string, refuse: boolean): void => setDevice(chosen, name && refuse ? `${name}!` : name);
  const setOption = (key: Option, value: string): void => change({ type: "set-meta", nodes: chosen, key, value: value || undefined });
  return (
    <section aria-label={t("devices.put")}>
      <h3>{chosen.length > 0 ? t("devices.selected", { count: chosen.length }) : t("devices.all")}</h3>
      <div className="devices-presets">
        {PRESETS.map((preset: Preset) => (
          <button key={preset} type="button" onClick={() => void applyPreset(preset, scope)}>{t(`devices.preset.${preset}`)}</button>
        ))}
      </div>
      {chosen.length > 0 && (
        <div className="devices-options">
          <label>{t("devices.device")}
            <select value={device.replace(/!$/, "")} onChange={(event) => set(event.target.value, strict)}>
              <option value="">AUTO</option>
              {names.map((name) => <option key={name} value={name}>{name}</option>)}
              <option value="HETERO:NPU,CPU">HETERO:NPU,CPU</option>
            </select>
          </label>
          <label><input type="checkbox" checked={strict} disabled={!device} onChange={(event) => set(device.replace(/!$/, ""), event.target.checked)} /> {t("devices.strict")}</label>
          {(Object.keys(OPTIONS) as Option[]).map((key) => (
            <label key={key}>{t(`devices.${key}`)}
              <select value={shared(key)} onChange={(event) => setOption(key, event.target.value)}>
                <option value="">{t("devices.own")}</option>
                {OPTIONS[key].map((value) => <option key={value} value={value}>{value}</option>)}
              </select>
            </label>
          ))}
        </div>
      )}
    </section>
  );
}
