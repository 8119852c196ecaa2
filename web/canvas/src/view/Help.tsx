/** All keys, from the table that the canvas obeys; and what can be chosen for this browser. */
import { useTranslation } from "react-i18next";
import { choose, show, useApp } from "../app/store";
import { KEY_MAP } from "../keys/keyMap";
import { Modal } from "./Modal";

export function Help() {
  const { t } = useTranslation();
  return (
    <Modal title={t("help.title")} onClose={() => show(null)}>
      <p>{t("help.hint")}</p>
      <Choices />
      <table>
        <thead><tr><th scope="col">{t("help.key")}</th><th scope="col">{t("help.does")}</th></tr></thead>
        <tbody>
          {KEY_MAP.map(({ command, keys }) => (
            <tr key={command}>
              <td>{keys.map((key) => <kbd key={key}>{key}</kbd>)}</td>
              <td>{t(`command.${command}`)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <button type="button" autoFocus onClick={() => show(null)}>{t("help.close")}</button>
    </Modal>
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
