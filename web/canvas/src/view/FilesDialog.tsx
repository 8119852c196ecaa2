/** Opens workflows of the server or of this computer, and names what is saved. */
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { listWorkflows, type SavedWorkflow } from "../api/client";
import { EXAMPLES, type Example } from "../app/examples";
import { chooseFile, openFromServer, saveAs, tellProblem } from "../app/files";
import { openExample } from "../app/start";
import { show, useTab } from "../app/store";
import { Modal } from "./Modal";

export function FilesDialog({ kind }: { kind: "open" | "save" }) {
  return kind === "open" ? <OpenDialog /> : <SaveDialog />;
}

function OpenDialog() {
  const { t, i18n } = useTranslation();
  const [files, setFiles] = useState<readonly SavedWorkflow[] | null>(null);
  useEffect(() => {
    listWorkflows().then((found) => setFiles([...found].sort((a, b) => b.modified - a.modified)), tellProblem);
  }, []);
  const open = (path: string): void => {
    show(null);
    void openFromServer(path);
  };
  return (
    <Modal title={t("file.title")} onClose={() => show(null)}>
      <button type="button" autoFocus onClick={() => { show(null); chooseFile(); }}>{t("file.here")}</button>
      <Examples />
      <ul>
        {files?.map((file) => (
          <li key={file.path}>
            <button type="button" onClick={() => open(file.path)}>
              {file.path.replace(/\.json$/, "")} <small>{new Date(file.modified).toLocaleString(i18n.language)}</small>
            </button>
          </li>
        ))}
      </ul>
      {files?.length === 0 && <p>{t("file.none")}</p>}
    </Modal>
  );
}

function Examples() {
  const { t } = useTranslation();
  const open = (example: Example): void => {
    show(null);
    void openExample(example);
  };
  return (
    <fieldset>
      <legend>{t("example.title")}</legend>
      {(Object.keys(EXAMPLES) as Example[]).map((example) => (
        <button key={example} type="button" onClick={() => open(example)}>{t(`example.${example}`)}</button>
      ))}
    </fieldset>
  );
}

function SaveDialog() {
  const { t } = useTranslation();
  const [name, setName] = useState(useTab().name);
  const save = (): void => {
    if (!name.trim()) return;
    show(null);
    void saveAs(name.trim());
  };
  return (
    <Modal title={t("file.saveTitle")} onClose={() => show(null)}>
      <form onSubmit={(event) => { event.preventDefault(); save(); }}>
        <input autoFocus type="text" aria-label={t("file.name")} placeholder={t("file.name")} value={name} maxLength={100} onChange={(event) => setName(event.target.value)} />
        <button type="submit">{t("file.save")}</button>
      </form>
    </Modal>
  );
}
