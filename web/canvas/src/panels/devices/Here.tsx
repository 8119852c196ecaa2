/** The devices of this computer, the process that owns them, and what the doctor finds missing. */
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { type Devices, type Finding, getDevices, getFindings, lookForDevices } from "../../api/devices";
import { tellProblem } from "../../app/files";
import { useApp } from "../../app/store";
import { sizeText } from "../../run/spent";

const VERSIONS = /DRIVER_VERSION$/;
const MEMORY = /TOTAL_MEM_SIZE$/;

export function Here() {
  const { t } = useTranslation();
  const [found, setFound] = useState<Devices | null>(null);
  const worker = useApp((state) => state.runs.worker);
  const connected = useApp((state) => state.connected);
  useEffect(() => {
    let wanted = connected;
    if (wanted) getDevices().then((devices) => wanted && setFound(devices), tellProblem);
    return () => {
      wanted = false;
    };
  }, [worker, connected]);
  if (!found) return <p role="status">{t("bar.loading")}</p>;
  return (
    <section aria-label={t("devices.here")}>
      <ul>
        {found.devices.map((device) => {
          const told = (pattern: RegExp): string => [...device.properties].find(([key]) => pattern.test(key))?.[1] ?? "";
          const [version, memory] = [told(VERSIONS), Number(told(MEMORY))];
          return (
            <li key={device.name}>
              <b>{device.name}</b> {device.fullName}
              {version && <small> {t("devices.driver", { version })}</small>}
              {memory > 0 && <small> {sizeText(memory)}</small>}
              {device.simulated && <small> {t("devices.simulated")}</small>}
            </li>
          );
        })}
      </ul>
      {found.known && found.devices.length === 0 && <p>{t("devices.none")}</p>}
      <p><small>OpenVINO {found.openvino || "?"} · {t("devices.worker", { phase: t(`devices.phase.${found.phase || "stopped"}`), memory: sizeText(found.rss), restarts: found.restarts })}</small></p>
      {found.problem && <p role="alert">{found.problem}</p>}
      <button type="button" onClick={() => void lookForDevices().catch(tellProblem)}>{t("devices.look")}</button>
      <Doctor />
    </section>
  );
}

/** Asks the doctor when somebody wants to know: it tries drivers, which takes some seconds. */
function Doctor() {
  const { t } = useTranslation();
  const [findings, setFindings] = useState<readonly Finding[] | "asking" | null>(null);
  const ask = async (): Promise<void> => {
    setFindings("asking");
    try {
      setFindings(await getFindings());
    } catch (error) {
      setFindings(null);
      tellProblem(error);
    }
  };
  if (findings === "asking") return <p role="status">{t("devices.asking")} <progress /></p>;
  return (
    <>
      <button type="button" onClick={() => void ask()}>{t("devices.doctor")}</button>
      {findings && (
        <ul aria-label={t("devices.doctor")}>
          {findings.map((finding) => (
            <li key={finding.name} className={`is-${finding.state}`}>
              <b>{finding.name}</b> {t(`devices.state.${finding.state}`, { defaultValue: finding.state })}: {finding.detail}
              {finding.fix && <small> → {finding.fix}</small>}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
