// A plot of some figures over time: lines with one axis, a crosshair that all plots of a page share,
// and gaps where nothing was measured.
import { useEffect, useRef, useState } from "preact/hooks";
import { clock, short } from "../lib/format";
import { Shared } from "../lib/live";

// The time that the pointer is at, in all plots.
export const cross = new Shared<number | undefined>(undefined);

export interface Series { name: string; colour: string; values: number[]; unit?: string }

const height = 150;
const top = 16;
const base = height - 18;

export function Plot({ title, metric, times, series, from, to, step, sentence, format = short, unit }: {
  title: string; metric: string; times: number[]; series: Series[]; from: number; to: number; step: number;
  sentence: string; format?: (value: number) => string; unit: string;
}) {
  const at = cross.use();
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(360);
  useEffect(() => {
    const watch = new ResizeObserver(([one]) => setWidth(Math.max(200, one!.contentRect.width)));
    watch.observe(box.current!);
    return () => watch.disconnect();
  }, []);
  const most = Math.max(1e-9, ...series.flatMap((one) => one.values)) * 1.08;
  const x = (time: number) => ((time - from) / Math.max(1, to - from)) * width;
  const y = (value: number) => base - (value / most) * (base - top);
  // A line is broken where samples are missing.
  const pathOf = (values: number[]) => values.map((value, i) => `${i === 0 || times[i]! - times[i - 1]! > 2.5 * step ? "M" : "L"}${x(times[i]!).toFixed(1)} ${y(value).toFixed(1)}`).join("");
  const nearest = at === undefined ? times.length - 1 : times.reduce((best, time, i) => (Math.abs(time - at) < Math.abs((times[best] ?? 0) - at) ? i : best), 0);
  const now = times[nearest];
  const single = series.length === 1 ? series[0] : undefined;
  return (
    <section class="card" aria-label={title}>
      <header><h2>{title}</h2><span class="grow" /><code class="dim small tight wide-only">{metric}</code></header>
      <div class="series">
        {series.map((one) => <span key={one.name}><i class={`swatch bg-${one.colour}`} /><b>{now === undefined ? "–" : format(one.values[nearest] ?? 0)}</b> <span class="dim">{one.name}</span></span>)}
        <span class="grow" />{at !== undefined && now !== undefined && <span class="dim small">at {clock(now, step < 60)}</span>}
      </div>
      <div ref={box}>
        <svg class="plot" width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img"
          aria-label={`${title}: ${series.map((one) => `${one.name} ${format(one.values.at(-1) ?? 0)} ${unit}`).join(", ")}. ${sentence}`}
          onPointerMove={(event) => cross.set(from + (event.offsetX / width) * (to - from))} onPointerLeave={() => cross.set(undefined)}>
          {[0.25, 0.5, 0.75].map((part) => <line key={part} class="grid-line" x1="0" x2={width} y1={top + part * (base - top)} y2={top + part * (base - top)} />)}
          <text x="0" y="10">{format(most / 1.08)} {unit}</text>
          {single && single.values.length > 1 && <path class={`area fill-${single.colour}`} d={`${pathOf(single.values)}L${x(times.at(-1)!)} ${base}L${x(times[0]!)} ${base}Z`} />}
          {series.map((one) => <path key={one.name} class={`curve stroke-${one.colour}`} d={pathOf(one.values)} />)}
          <line class="base" x1="0" x2={width} y1={base} y2={base} />
          {[0, 0.5, 1].map((part) => <text key={part} x={part * width} y={height - 4} text-anchor={part === 0 ? "start" : part === 1 ? "end" : "middle"}>{clock(from + part * (to - from))}</text>)}
          {at !== undefined && now !== undefined && <line class="cross" x1={x(now)} x2={x(now)} y1={top} y2={base} />}
        </svg>
      </div>
      <p class="small dim">{sentence}</p>
    </section>
  );
}
