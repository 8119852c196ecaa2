/** All keys, from the table that the canvas obeys. */
import { useTranslation } from "react-i18next";
import { show } from "../app/store";
import { KEY_MAP } from "../keys/keyMap";
import { Modal } from "./Modal";

export function Help() {
  const { t } = useTranslation();
  return (
    <Modal title={t("help.title")} onClose={() => show(null)}>
      <p>{t("help.hint")}</p>
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
