/** Asks Intel's compiler, before any run, whether the open workflow would go onto an NPU. */
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { ApiError } from "../../api/client";
import { getPreflight, type Outlook } from "../../api/devices";
import { tellProblem } from "../../app/files";
import { app, tab } from "../../app/store";
import { toParts } from "../../formats/ourFile";
import { type Fault, faultText } from "../../run/messages";
import { timeText } from "../../run/spent";

const PLATFORMS = { 3720: "Meteor Lake, Arrow Lake", 4000: "Lunar Lake", 5010: "Panther Lake" } as const;

type Answer = { readonly outlooks: readonly Outlook[]; readonly faults: readonly Fault[] } | { readonly problem: string };

export function Preflight() {
  const { t } = useTranslation();
  const [platform, setPlatform] = useState("4000");
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [asking, setAsking] = useState(false);
  const turn = useRef(0);
  const ask = async (): Promise<void> => {
    turn.current += 1;
    const mine = turn.current;
    setAsking(true);
    setAnswer(null);
    try {
      const { prompt } = toParts(tab().history.present, app().catalogue);
      const found = await getPreflight(prompt, "NPU", [platform]);
      if (mine === turn.current) setAnswer(found);
    } catch (error) {
      // That there is no compiler is an answer too, with what to do about it.
      if (mine === turn.current && error instanceof ApiError && error.message !== "offline") setAnswer({ problem: error.message });
      else tellProblem(error);
    }
    if (mine === turn.current) setAsking(false);
  };
  const giveUp = (): void => {
    turn.current += 1;
    setAsking(false);
  };
  return (
    <section aria-label={t("devices.preflight")}>
      <h3>{t("devices.preflight")}</h3>
      <select aria-label={t("devices.platform")} value={platform} onChange={(event) => setPlatform(event.target.value)}>
        {Object.entries(PLATFORMS).map(([number, name]) => <option key={number} value={number}>{number} ({name})</option>)}
      </select>{" "}
      {asking ? <button type="button" onClick={giveUp}>{t("devices.giveUp")}</button> : <button type="button" onClick={() => void ask()}>{t("devices.ask")}</button>}
      {asking && <p role="status">{t("devices.compiling")} <progress /></p>}
      {answer && "problem" in answer && <p role="alert">{answer.problem}</p>}
      {answer && "outlooks" in answer && (
        <>
          {answer.faults.map((fault) => <p key={fault.place + fault.problem} role="alert">{fault.place}: {faultText(fault)}</p>)}
          {answer.outlooks.map((outlook) => <Verdict key={outlook.platform} outlook={outlook} />)}
        </>
      )}
    </section>
  );
}

function Verdict({ outlook }: { outlook: Outlook }) {
  const { t } = useTranslation();
  const estimate = outlook.seconds === null ? "" : ` ${t("devices.estimate", { time: timeText(outlook.seconds) })}`;
  return (
    <>
      <p><b>{t(outlook.fits ? "devices.fits" : "devices.unfit", { platform: outlook.platform })}</b>{estimate}</p>
      <ul>
        {outlook.parts.map((part) => (
          <li key={`${part.node} ${part.part}`} className={part.compiles ? "is-ok" : "is-broken"}>
            {part.compiles ? "✓" : "✗"} {part.node}: {part.part}
            {part.reason && `. ${part.reason}`}{part.fix && ` → ${part.fix}`}
          </li>
        ))}
        {outlook.unknown.map((each) => <li key={each}>? {each}</li>)}
      </ul>
    </>
  );
}
