// Columns of a table whose widths a person sets: by dragging the edge of a heading, or with the arrow
// keys on it; Home, or a double click, gives the usual width back. Widths are kept on this device by
// the names of the columns.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { keep, kept } from "../lib/live";

const least = 48;
const most = 1200;
const step = 16;
const keptMax = 100; // columns of one table

export interface Widths { of: (name: string) => number | undefined; set: (name: string, width: number | undefined) => void; style: (name: string) => Record<string, string> | undefined }

export function useWidths(table: string): Widths {
  const storeName = `widths.${table}`;
  const [state, setState] = useState<{ storeName: string; widths: Record<string, number> }>({ storeName, widths: kept(storeName, {}) });
  const widths = state.storeName === storeName ? state.widths : kept<Record<string, number>>(storeName, {});
  const of = (name: string) => (Object.hasOwn(widths, name) ? widths[name] : undefined);
  return {
    of,
    set: (name, width) => {
      const { [name]: _, ...others } = widths;
      const next = Object.fromEntries([...Object.entries(others), ...(width === undefined ? [] : [[name, Math.round(Math.min(most, Math.max(least, width)))] as const])].slice(-keptMax));
      keep(storeName, next);
      setState({ storeName, widths: next });
    },
    style: (name) => {
      const width = of(name);
      return width === undefined ? undefined : { width: `${width}px`, minWidth: `${width}px`, maxWidth: `${width}px` };
    },
  };
}

export function ColumnHead({ name, widths, class: extra = "", children }: { name: string; widths: Widths; class?: string; children?: ComponentChildren }) {
  const shown = (edge: Element) => edge.closest("th")!.getBoundingClientRect().width;
  return (
    <th scope="col" class={`sized ${extra}`} style={widths.style(name)}>
      <span class="tight">{children ?? name}</span>
      <span class="edge wide-only" role="separator" aria-orientation="vertical" aria-label={`Width of ${name}`} tabIndex={0}
        aria-valuemin={least} aria-valuemax={most} aria-valuenow={widths.of(name) ?? least} aria-valuetext={widths.of(name) === undefined ? "as wide as needed" : `${widths.of(name)} pixels`}
        title="Drag, or use the arrow keys; a double click gives the usual width"
        onDblClick={() => widths.set(name, undefined)}
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          event.preventDefault();
          const edge = event.currentTarget;
          edge.focus();
          const from = event.clientX;
          const was = shown(edge);
          edge.setPointerCapture(event.pointerId);
          const move = (now: PointerEvent) => {
            if (now.clientX !== from) widths.set(name, was + now.clientX - from);
          };
          const end = () => {
            edge.removeEventListener("pointermove", move);
            edge.removeEventListener("pointerup", end);
            edge.removeEventListener("pointercancel", end);
          };
          edge.addEventListener("pointermove", move);
          edge.addEventListener("pointerup", end);
          edge.addEventListener("pointercancel", end);
        }}
        onKeyDown={(event) => {
          const by = event.key === "ArrowRight" ? step : event.key === "ArrowLeft" ? -step : 0;
          if (by !== 0) widths.set(name, shown(event.currentTarget) + by);
          else if (event.key === "Home") widths.set(name, undefined);
          else return;
          event.preventDefault();
        }} />
    </th>
  );
}
