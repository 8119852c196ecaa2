/** Nodes in the lanes of their devices, over time. Ctrl and wheel, + and − look nearer, arrows move along and from node to node. */
import { type KeyboardEvent, memo, useEffect, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import type { Phase } from "../../run/messages";
import { timeText } from "../../run/spent";
import { type Bar, type Gantt, layOut, moved, seen, ticks, type Window, zoomed } from "./gantt";
import type { TimedNode } from "./timed";

const ROW = 22;
const AXIS = 20;
const LANE = 64; // pixels for the names of lanes
const NARROW = 4; // pixels below which a bar has one colour
const READABLE = 40; // pixels from which on a bar has its name inside

interface Properties {
  readonly nodes: readonly TimedNode[];
  readonly isLive: boolean;
  readonly onGo: (id: string) => void;
}

export function GanttView({ nodes, isLive, onGo }: Properties) {
  const { t } = useTranslation();
  const gantt = useMemo(() => layOut(nodes), [nodes]);
  const [chosen, setChosen] = useState<Window | null>(null);
  const [at, setAt] = useState(0);
  const { box, width } = useWidth();
  // What is still growing is shown whole.
  const end = gantt.end || 1e-3;
  const window = chosen && !isLive ? moved(chosen, 0, end) : { from: 0, to: end };
  const room = Math.max(1, width - LANE);
  const active = gantt.bars[Math.min(at, gantt.bars.length - 1)];
  const press = (event: KeyboardEvent): void => {
    const middle = (window.from + window.to) / 2;
    const span = window.to - window.from;
    const moves: Record<string, () => void> = {
      "+": () => setChosen(zoomed(window, 1.5, middle, end)),
      "=": () => setChosen(zoomed(window, 1.5, middle, end)),
      "-": () => setChosen(zoomed(window, 1 / 1.5, middle, end)),
      ArrowRight: () => setChosen(moved(window, span / 8, end)),
      ArrowLeft: () => setChosen(moved(window, -span / 8, end)),
      Home: () => setChosen(null),
      ArrowDown: () => setAt(Math.min(at + 1, gantt.bars.length - 1)),
      ArrowUp: () => setAt(Math.max(at - 1, 0)),
      Enter: () => active && onGo(active.node.id),
    };
    const move = moves[event.key];
    if (!move || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    move();
  };
  // Without Ctrl the wheel scrolls the lanes.
  useWheel(box, (event) => {
    const x = event.clientX - (box.current?.getBoundingClientRect().left ?? 0) - LANE;
    const time = window.from + (x / room) * (window.to - window.from);
    if (event.shiftKey) setChosen(moved(window, ((window.to - window.from) * event.deltaY) / 800, end));
    else setChosen(zoomed(window, Math.exp(-event.deltaY / 400), time, end));
  });
  return (
    <div
      ref={box} className="gantt" role="listbox" tabIndex={0} aria-label={t("timing.gantt")} aria-activedescendant={active ? `bar-${active.node.id}` : undefined}
      onKeyDown={press}
    >
      <Lanes gantt={gantt} window={window} room={room} active={active} onGo={onGo} />
    </div>
  );
}

interface Drawn {
  readonly gantt: Gantt;
  readonly window: Window;
  readonly room: number;
  readonly active: Bar | undefined;
  readonly onGo: (id: string) => void;
}

const Lanes = memo(function Lanes({ gantt, window, room, active, onGo }: Drawn) {
  const { t } = useTranslation();
  const scale = room / (window.to - window.from);
  const x = (time: number): number => LANE + (time - window.from) * scale;
  const height = AXIS + gantt.rows * ROW + 4;
  return (
    <svg width={LANE + room} height={height} role="presentation">
      {ticks(window, Math.max(2, room / 90)).map((time) => (
        <g key={time} aria-hidden="true">
          <line x1={x(time)} x2={x(time)} y1={AXIS - 4} y2={height} className="gantt-tick" />
          <text x={x(time) + 3} y={AXIS - 7}>{time === 0 ? "0" : timeText(time)}</text>
        </g>
      ))}
      {gantt.lanes.map((lane) => (
        <g key={lane.name} aria-hidden="true">
          <line x1={0} x2={LANE + room} y1={AXIS + lane.row * ROW} y2={AXIS + lane.row * ROW} className="gantt-lane" />
          <text x={4} y={AXIS + lane.row * ROW + 15} className="gantt-name">{lane.name || t("timing.python")}</text>
        </g>
      ))}
      <svg x={LANE} width={room} height={height} viewBox={`${LANE} 0 ${room} ${height}`} role="presentation">
        {seen(gantt, window).map((bar) => (
          <BarView key={bar.node.id} bar={bar} x={x} isActive={bar === active} onGo={onGo} />
        ))}
      </svg>
    </svg>
  );
});

function BarView({ bar, x, isActive, onGo }: { bar: Bar; x: (time: number) => number; isActive: boolean; onGo: (id: string) => void }) {
  const { t } = useTranslation();
  const { node } = bar;
  const y = AXIS + bar.row * ROW + 2;
  const [left, wide] = [x(bar.start), Math.max(1.5, x(bar.end) - x(bar.start))];
  // Words cost more than rectangles, and stay the same however near the bar is looked at.
  const said = useMemo(() => {
    const parts = bar.pieces.map((piece) => `${t(`phase.${piece.phase}`)} ${timeText(piece.end - piece.start)}`);
    return t("timing.bar", { title: node.title, total: timeText(bar.end - bar.start), device: node.ranOn || t("timing.python"), parts: parts.join(", ") });
  }, [bar, node, t]);
  const narrow = wide < NARROW;
  // Steps nearer than three pixels would be one grey block.
  const steps = bar.steps.length > 1 && (x(bar.end) - x(bar.start)) / bar.steps.length > 3 ? bar.steps : [];
  return (
    <g id={`bar-${node.id}`} role="option" aria-selected={isActive} aria-label={said} className={isActive ? "gantt-bar is-active" : "gantt-bar"} onClick={() => onGo(node.id)}>
      <title>{said}</title>
      <rect x={left} y={y} width={wide} height={ROW - 4} className={narrow ? `fill-${longest(bar)}` : "gantt-back"} />
      {!narrow && bar.pieces.map((piece) => (
        <rect key={piece.phase} x={x(piece.start)} y={y} width={Math.max(0.5, x(piece.end) - x(piece.start))} height={ROW - 4} className={`fill-${piece.phase}`} />
      ))}
      {steps.map(([start, end], index) => (
        <rect key={index} x={x(start)} y={y + ROW - 8} width={Math.max(1, x(end) - x(start) - 1)} height={4} className="gantt-step" />
      ))}
      {wide > READABLE && <text x={Math.max(left, LANE) + 4} y={y + 13} className="gantt-title">{node.title.slice(0, Math.floor(wide / 7))}</text>}
    </g>
  );
}

/** Name the phase that took longest. */
function longest(bar: Bar): Phase {
  return bar.pieces.reduce((most, piece) => (piece.end - piece.start > most.end - most.start ? piece : most), bar.pieces[0] ?? { phase: "host" as const, start: 0, end: 0 }).phase;
}

/** Give the width of a box in CSS pixels, as it changes. */
function useWidth(): { box: React.RefObject<HTMLDivElement | null>; width: number } {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(600);
  useEffect(() => {
    const watched = box.current;
    if (!watched) return;
    const observer = new ResizeObserver(() => setWidth(watched.clientWidth));
    observer.observe(watched);
    return () => observer.disconnect();
  }, []);
  return { box, width };
}

/** Listen to the wheel so that the page does not scroll: React's own listener cannot keep it from that. */
function useWheel(box: React.RefObject<HTMLDivElement | null>, onWheel: (event: WheelEvent) => void): void {
  const latest = useRef(onWheel);
  latest.current = onWheel;
  useEffect(() => {
    const watched = box.current;
    const listen = (event: WheelEvent): void => {
      if (event.ctrlKey || event.shiftKey || event.altKey) {
        event.preventDefault();
        latest.current(event);
      }
    };
    watched?.addEventListener("wheel", listen, { passive: false });
    return () => watched?.removeEventListener("wheel", listen);
  }, [box]);
}
