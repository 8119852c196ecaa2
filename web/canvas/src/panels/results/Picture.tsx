/** One picture, large, with what made it and what can be done with it. */
import { type KeyboardEvent, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { viewUrl } from "../../api/client";
import { getRun } from "../../api/runs";
import { tellProblem } from "../../app/files";
import { openRun, pictureInputs, sendPicture, type Setting, settingsOf } from "../../app/pastRuns";
import { timeText } from "../../run/spent";
import { Modal } from "../../view/Modal";
import type { Result } from "./Panel";

interface Properties {
  readonly result: Result;
  readonly onClose: () => void;
  readonly onStep: (by: number) => void;
}

export function Picture({ result, onClose, onStep }: Properties) {
  const { t } = useTranslation();
  const [whole, setWhole] = useState(false);
  const { run, picture } = result;
  const press = (event: KeyboardEvent): void => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by === undefined || event.target instanceof HTMLSelectElement) return;
    event.preventDefault();
    onStep(by);
  };
  return (
    <Modal title={picture.filename} onClose={onClose} wide>
      <div className="picture" onKeyDown={press}>
        <button type="button" className={whole ? "picture-large is-whole" : "picture-large"} autoFocus aria-label={t("results.zoom")} onClick={() => setWhole(!whole)}>
          <img src={viewUrl(picture)} alt={picture.filename} />
        </button>
        <div className="picture-tools">
          <button type="button" onClick={() => onStep(-1)} aria-label={t("results.before")}>←</button>
          <button type="button" onClick={() => onStep(1)} aria-label={t("results.after")}>→</button>
          <button type="button" onClick={() => { onClose(); void openRun(run.id, picture.filename.replace(/\.\w+$/, "")); }}>{t("results.open")}</button>
          <a href={viewUrl(picture)} download={picture.filename}>{t("results.download")}</a>
          <SendTo result={result} onSent={onClose} />
          <button type="button" onClick={onClose}>{t("results.close")}</button>
        </div>
        <Settings result={result} />
      </div>
    </Modal>
  );
}

/** Chooses an input of the open workflow that the picture is sent to. */
function SendTo({ result, onSent }: { result: Result; onSent: () => void }) {
  const { t } = useTranslation();
  const inputs = pictureInputs();
  const sendTo = (value: string): void => {
    onSent();
    void sendPicture(result.picture, inputs[Number(value)] ?? null);
  };
  return (
    <select aria-label={t("results.send")} value="" onChange={(event) => sendTo(event.target.value)}>
      <option value="">{t("results.send")}</option>
      {inputs.map((input, index) => <option key={`${input.node} ${input.input}`} value={index}>{input.title}</option>)}
      <option value="new">{t("results.new")}</option>
    </select>
  );
}

function Settings({ result }: { result: Result }) {
  const { i18n, t } = useTranslation();
  const { run } = result;
  const [settings, setSettings] = useState<readonly Setting[]>([]);
  useEffect(() => {
    let wanted = true;
    getRun(run.id).then((found) => wanted && setSettings(settingsOf(found)), tellProblem);
    return () => {
      wanted = false;
    };
  }, [run.id]);
  return (
    <table aria-label={t("results.settings")}>
      <tbody>
        <tr><th scope="row">{t("results.made")}</th><td /><td>{new Date(run.ended * 1000).toLocaleString(i18n.language)}, {timeText(run.seconds)}</td></tr>
        {settings.map((setting) => (
          <tr key={`${setting.node} ${setting.name}`}><th scope="row">{setting.node}</th><td>{setting.name}</td><td>{setting.value}</td></tr>
        ))}
      </tbody>
    </table>
  );
}
