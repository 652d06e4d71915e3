// Rows of a result as a table, and the texts that were run earlier as a menu: what queries and traversals share.
import { useState } from "preact/hooks";
import type { Json } from "../lib/api";
import { ms, plural, units } from "../lib/format";
import { isExact, systemNames } from "../lib/json";
import { ColumnHead, type Widths } from "./columns";
import { Button } from "./parts";

const columnsMax = 40;
const isObject = (row: Json): row is Record<string, Json> => row !== null && typeof row === "object" && !Array.isArray(row) && !isExact(row);

// A short text of a value, for a cell.
export function Cell({ value }: { value: Json | undefined }) {
  if (value === undefined) return <span class="dim" aria-label="no value">–</span>;
  const kind = value === null ? "null" : typeof value === "boolean" ? String(value) : isExact(value) ? "number" : typeof value;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return <span class={`v-${kind}`} title={text.length > 30 ? text.slice(0, 500) : undefined}>{text.slice(0, 200)}</span>;
}

export function Rows({ rows, widths, busy, none }: { rows: Json[]; widths: Widths; busy: boolean; none: string }) {
  const columns = [...new Set(rows.flatMap((row) => (isObject(row) ? Object.keys(row).filter((one) => !systemNames.has(one)) : ["value"])))].slice(0, columnsMax);
  return (
    <div class={`grid plain ${busy ? "busy" : ""}`} tabIndex={0} role="region" aria-label="Rows">
      <table>
        <thead><tr>{columns.map((one) => <ColumnHead key={one} name={one} widths={widths} />)}</tr></thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={i}>{columns.map((one) => {
              const value = isObject(row) ? row[one] : one === "value" ? row : undefined;
              return <td key={one} class={typeof value === "number" ? "num" : typeof value === "string" ? "" : "mono"} style={widths.style(one)}><Cell value={value} /></td>;
            })}</tr>
          ))}
          {rows.length === 0 && <tr><td class="dim">{none}</td></tr>}
        </tbody>
      </table>
    </div>
  );
}

export interface Past { text: string; bindings?: string; charge: number; ms: number; rows: number; at: number }
const pastMax = 100;
// With the text at the front, once.
export const withPast = (past: Past[], now: Past) => [now, ...past.filter((other) => other.text !== now.text)].slice(0, pastMax);

export function Earlier({ past, what, onPick }: { past: Past[]; what: string; onPick: (one: Past) => void }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <div class="anchor">
      <Button icon="clock" label={`Earlier ${what}`} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)} />
      {isOpen && (
        <div class="menu history-list" style={{ left: "0", right: "auto", width: "min(420px, 80vw)" }}>
          {past.length === 0 && <p class="dim small">{what[0]!.toUpperCase() + what.slice(1)} that you run are listed here until you close the page.</p>}
          {past.map((one) => (
            <button type="button" key={one.at} onClick={() => { onPick(one); setOpen(false); }}>
              <code>{one.text}</code>
              <span class="dim small">{units(one.charge)} RU · {ms(one.ms)} · {plural(one.rows, "row")}</span>
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
