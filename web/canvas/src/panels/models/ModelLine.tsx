/** A model: what it is, how it was verified, and what can be done with it. */
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { type Model, removeModel } from "../../api/models";
import { tellProblem } from "../../app/files";
import { loaderOf, placeLoader } from "../../app/loaders";
import { fetchModel } from "../../app/models";
import { notify, useApp } from "../../app/store";
import { sizeText } from "../../run/spent";
import { say } from "../../words/words";

export function ModelLine({ model, onChange }: { model: Model; onChange: () => void }) {
  const { t } = useTranslation();
  const [asking, setAsking] = useState(false);
  const catalogue = useApp((state) => state.catalogue);
  const { name, verification } = model;
  const here = model.state !== "in catalogue";
  const figures = verification && [
    verification.snr === null ? t("models.same") : `SNR ${verification.snr.toFixed(0)} dB`,
    t("models.error", { error: verification.maxError.toPrecision(2) }), t("models.cosine", { cosine: verification.cosine.toFixed(6) }),
  ].join(", ");
  const remove = async (): Promise<void> => {
    setAsking(false);
    try {
      notify(say("models.freed", { size: sizeText(await removeModel(name)) }));
      onChange();
    } catch (error) {
      tellProblem(error);
    }
  };
  return (
    <li>
      <span className="models-name">{name} <small>{model.kind}</small></span>
      <span className={`models-state is-${model.state.replace(" ", "-")}`}>{t(`models.state.${model.state}`, { defaultValue: model.state })}</span>
      <details>
        <summary>{t("models.about")}</summary>
        <p>{model.detail}</p>
        <dl>
          {model.bytes > 0 && <><dt>{t("models.size")}</dt><dd>{sizeText(model.bytes)}</dd></>}
          {model.dtype && <><dt>{t("models.weights")}</dt><dd>{model.dtype}</dd></>}
          {figures && <><dt>{t("models.verified")}</dt><dd>{figures}</dd></>}
          {model.made && <><dt>{t("models.made")}</dt><dd>{model.made} · OpenVINO {model.openvino}</dd></>}
          <dt>{t("models.licence")}</dt><dd>{model.licence}</dd>
          <dt>{t("models.source")}</dt><dd>{model.source}</dd>
        </dl>
      </details>
      {model.state !== "converted" && <button type="button" onClick={() => void fetchModel(name)}>{t(here ? "models.again" : "models.fetch")}</button>}
      {loaderOf(catalogue, model.kind) && <button type="button" onClick={() => placeLoader(model.kind, name)}>{t("models.use")}</button>}
      {here && !asking && <button type="button" onClick={() => setAsking(true)}>{t("models.remove")}</button>}
      {asking && (
        <span role="alert">{t("models.sure", { name })} <button type="button" onClick={() => void remove()}>{t("models.remove")}</button> <button type="button" onClick={() => setAsking(false)}>{t("models.keep")}</button></span>
      )}
    </li>
  );
}
