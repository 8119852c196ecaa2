/** All keys, from the table that the canvas obeys; and what can be chosen for this browser. */
import { type KeyboardEvent, useState } from "react";
import { useTranslation } from "react-i18next";
import { choose, show, useApp } from "../app/store";
import { type Command, FIXED, keysOf, nameOf, rebound } from "../keys/keyMap";
import { Modal } from "./Modal";

export function Help() {
  const { t } = useTranslation();
  return (
    <Modal title={t("help.title")} onClose={() => show(null)}>
      <p>{t("help.hint")}</p>
      <Choices />
      <KeyTable />
      <button type="button" autoFocus onClick={() => show(null)}>{t("help.close")}</button>
    </Modal>
  );
}

function KeyTable() {
  const { t } = useTranslation();
  const own = useApp((state) => state.settings.keys);
  const [recording, setRecording] = useState<Command | null>(null);
  const press = (event: KeyboardEvent, command: Command): void => {
    if (["Control", "Shift", "Alt", "Meta"].includes(event.key)) return; // more is to come
    event.preventDefault();
    event.stopPropagation();
    setRecording(null);
    if (event.key !== "Escape") choose({ keys: rebound(own, command, nameOf(event)) });
  };
  return (
    <>
      <table>
        <thead><tr><th scope="col">{t("help.key")}</th><th scope="col">{t("help.does")}</th></tr></thead>
        <tbody>
          {keysOf(own).map(({ command, keys }) => (
            <tr key={command}>
              <td>
                <button
                  type="button" className="keys" aria-label={t(recording === command ? "help.press" : "help.change", { command: t(`command.${command}`) })}
                  disabled={FIXED.has(command)} onClick={() => setRecording(command)} onBlur={() => setRecording(null)} onKeyDown={(event) => recording === command && press(event, command)}
                >
                  {recording === command ? "…" : keys.length > 0 ? keys.map((key) => <kbd key={key}>{key}</kbd>) : "–"}
                </button>
              </td>
              <td>{t(`command.${command}`)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {Object.keys(own).length > 0 && <button type="button" onClick={() => choose({ keys: {} })}>{t("help.reset")}</button>}
    </>
  );
}

function Choices() {
  const { t } = useTranslation();
  const settings = useApp((state) => state.settings);
  return (
    <fieldset>
      <legend>{t("settings.title")}</legend>
      <label><input type="checkbox" checked={settings.snap} onChange={(event) => choose({ snap: event.target.checked })} /> {t("settings.snap")}</label>
      <label><input type="checkbox" checked={settings.drag === "select"} onChange={(event) => choose({ drag: event.target.checked ? "select" : "pan" })} /> {t("settings.drag")}</label>
      <label><input type="checkbox" checked={settings.minimap} onChange={(event) => choose({ minimap: event.target.checked })} /> {t("settings.minimap")}</label>
    </fieldset>
  );
}
