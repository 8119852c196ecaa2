/** The times of nodes, frames and the whole run, to be sorted by any column. */
import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { useTab } from "../../app/store";
import { timeText } from "../../run/spent";
import { type Column, COLUMNS, groupRows, nodeRows, type Order, type Row, runRow, sorted, valueOf } from "./rows";
import type { TimedNode } from "./timed";

const WORDS: ReadonlySet<Column> = new Set(["title", "asked", "ranOn"]);

interface Properties {
  readonly nodes: readonly TimedNode[];
  /** The nodes are those of the open workflow, so its frames are theirs. */
  readonly ofTab: boolean;
  readonly onGo: (id: string) => void;
}

export function Table({ nodes, ofTab, onGo }: Properties) {
  const { t } = useTranslation();
  const document = useTab().history.present;
  const [order, setOrder] = useState<Order>({ column: "seconds", descending: true });
  const rows = useMemo(() => sorted([...nodeRows(nodes), ...(ofTab ? groupRows(nodes, document) : [])], order), [nodes, ofTab, document, order]);
  const sort = (column: Column): void =>
    setOrder({ column, descending: order.column === column ? !order.descending : !WORDS.has(column) });
  return (
    <div className="timing-table" tabIndex={0} role="region" aria-label={t("timing.table")}>
      <table>
        <thead>
          <tr>
            {COLUMNS.map((column) => (
              <th key={column} scope="col" aria-sort={order.column === column ? (order.descending ? "descending" : "ascending") : "none"}>
                <button type="button" onClick={() => sort(column)}>{t(`timing.column.${column}`)}</button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{rows.map((row) => <Line key={`${row.kind} ${row.id}`} row={row} onGo={onGo} />)}</tbody>
        <tfoot><Line row={runRow(nodes, t("timing.whole"))} onGo={onGo} /></tfoot>
      </table>
    </div>
  );
}

function Line({ row, onGo }: { row: Row; onGo: (id: string) => void }) {
  return (
    <tr className={`is-${row.kind}`}>
      {COLUMNS.map((column) => {
        const value = valueOf(row, column);
        if (column === "title") {
          return <th key={column} scope="row">{row.kind === "node" ? <button type="button" onClick={() => onGo(row.id)}>{row.title}</button> : row.title}</th>;
        }
        return <td key={column} className={column === "change" ? changeClass(value) : ""}>{cell(column, value)}</td>;
      })}
    </tr>
  );
}

function cell(column: Column, value: number | string | null): string {
  if (value === null || (typeof value === "number" && Math.abs(value) < 5e-5)) return ""; // 0.0 ms says nothing
  if (typeof value === "string") return value;
  return column === "change" ? changeText(value) : timeText(value);
}

/** Write a difference: +12 ms, −0.4 ms. */
export function changeText(seconds: number): string {
  return `${seconds < 0 ? "−" : "+"}${timeText(Math.abs(seconds))}`;
}

/** What changes by less than 1 ms is neither. */
export function changeClass(value: number | string | null): string {
  if (typeof value !== "number" || Math.abs(value) < 1e-3) return "";
  return value > 0 ? "is-slower" : "is-faster";
}
