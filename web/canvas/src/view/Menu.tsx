/** What can be done to the selection, for those who do not know the keys. */
import { useTranslation } from "react-i18next";
import { obey } from "../app/commands";
import { lineUp } from "../app/edits";
import { show, useApp, useTab } from "../app/store";
import { selectedNodes } from "../app/workspace";
import { type Command, keyOf } from "../keys/keyMap";
import type { Point } from "../model/document";
import { Modal } from "./Modal";
import { useView } from "./useKeys";

const COMMANDS: readonly Command[] = ["run-selected", "collapse", "bypass", "mute", "pin", "wires", "about", "duplicate", "group", "arrange", "fit-selection", "delete"];
const LINES = ["left", "right", "top", "bottom", "middle", "centre"] as const;
const GAPS = ["across", "down"] as const;

export function Menu({ on }: { on: Point }) {
  const { t } = useTranslation();
  const view = useView();
  const count = selectedNodes(useTab()).length;
  const keys = useApp((state) => state.settings.keys);
  const after = (act: () => void) => (): void => {
    show(null);
    act();
  };
  return (
    <Modal title={t("menu.title")} on={on} onClose={() => show(null)}>
      <ul className="menu">
        {COMMANDS.map((command) => (
          <li key={command}>
            <button type="button" onClick={after(() => obey(command, view))}>
              {t(`command.${command}`)} <kbd>{keyOf(command, keys)}</kbd>
            </button>
          </li>
        ))}
        {count > 1 && [...LINES, ...(count > 2 ? GAPS : [])].map((how) => (
          <li key={how}><button type="button" onClick={after(() => lineUp(how))}>{t(`menu.${how}`)}</button></li>
        ))}
      </ul>
    </Modal>
  );
}
