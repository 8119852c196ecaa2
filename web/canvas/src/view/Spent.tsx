/** Under a node: where its time went, and why it ran where it ran. */
import { memo } from "react";
import { useTranslation } from "react-i18next";
import { useApp } from "../app/store";
import type { NodeRun } from "../run/runs";
import { fallbacks, sharesOf, slower, slowest, timeText } from "../run/spent";

/** A bar by phase, as long as the node took against the slowest; and the same in words. */
export const Spent = memo(function Spent({ run }: { run: NodeRun }) {
  const { t } = useTranslation();
  const longest = useApp((state) => slowest(state.runs.tabs.get(state.workspace.current)?.nodes.values() ?? []));
  if (run.seconds === null) return null;
  const shares = sharesOf(run);
  const parts = shares.map((share) => `${t(`phase.${share.phase}`)} ${timeText(share.seconds)}`).join(", ");
  const change = slower(run);
  const total = timeText(run.seconds);
  return (
    <div className={run.state === "waiting" || run.state === "reused" ? "spent is-old" : "spent"}>
      <div className="spent-bar" role="img" aria-label={t("node.spent", { total, parts })} title={parts}>
        <div style={{ width: `${Math.max(4, longest > 0 ? (100 * run.seconds) / longest : 0)}%` }}>
          {shares.map((share) => (
            <i key={share.phase} className={`phase-${share.phase}`} style={{ width: `${share.percent}%` }} />
          ))}
        </div>
      </div>
      <span>{total}</span>
      {change !== null && <span className={change > 0 ? "is-slower" : "is-faster"} title={t("node.before", { time: timeText(run.before ?? 0) })}>{change > 0 ? `+${change}` : `−${-change}`} %</span>}
    </div>
  );
});

/** The device a node ran on; marked where it is not the one that was asked for. */
export function RanOn({ run }: { run: NodeRun }) {
  const { t } = useTranslation();
  const { placement } = run;
  if (!placement?.actual) return null;
  const reasons = fallbacks(run);
  const said = [t("node.ranOn", { device: placement.actual }), ...reasons.map((reason) => reason.sentence)].join(". ");
  const device = placement.actual.split(/[^A-Z]/)[0]?.toLowerCase() ?? "";
  return (
    <span className={`ran-on on-${device}${reasons.length > 0 ? " is-fallback" : ""}`} role="img" aria-label={said} title={said}>
      {reasons.length > 0 && "⚠ "}{placement.actual}
    </span>
  );
}

/** Why a node did not run where it was asked to, and what to do. */
export function Fallbacks({ run }: { run: NodeRun }) {
  const { t } = useTranslation();
  const reasons = fallbacks(run);
  if (reasons.length === 0) return null;
  const { requested = "", actual = "" } = run.placement ?? {};
  return (
    <ul className="fallbacks" aria-label={t("node.fallback", { requested, actual })}>
      {reasons.map((reason) => (
        <li key={`${reason.code} ${reason.sentence}`}>⚠ {reason.sentence}{reason.fix && `. ${t("node.fix", { fix: reason.fix })}`}</li>
      ))}
    </ul>
  );
}
