// The ring of hashes: every physical partition is a planet at the middle of its range, one orbit
// further out for each split that made it, held by the arms of the ranges it came from. Area is
// bytes, slices are the keys that fill most of it, the dial outside is the load of its share.
import { useEffect, useState } from "preact/hooks";
import type { PartitionsView } from "../lib/api";
import { bytes, percent } from "../lib/format";
import { colours, type Load, spansOf } from "../lib/verdict";
import { Button } from "../parts/parts";

interface Node { id: number; from: number; to: number; depth: number; parent?: number; bytes: number; throttled: number; units: number; share: number; slices: [number, number][]; isLeaf: boolean }
interface Split { parent: number; children: number[] }

// All ranges that there are and were. Numbers grow with time, so they tell the order of splits.
export function familyOf(view: PartitionsView, loads: Map<number, Load>): { nodes: Map<number, Node>; splits: Split[] } {
  const nodes = new Map<number, Node>();
  const named = colours(view);
  const spans = spansOf(view);
  for (const one of view.partitions) {
    const [from, to] = spans.get(one.id)!;
    const slices = view.keys
      .filter((key) => key.range === one.id && named.has(`${key.range}/${key.key}`) && one.bytes > 0)
      .map((key): [number, number] => [named.get(`${key.range}/${key.key}`)!, key.bytes / one.bytes]);
    const load = loads.get(one.id);
    nodes.set(one.id, {
      id: one.id, from, to, depth: one.parents.length, parent: one.parents.at(-1), bytes: one.bytes, slices, isLeaf: true,
      throttled: load?.throttledPerSecond ?? 0, units: load?.unitsPerSecond ?? 0, share: one.share,
    });
    one.parents.forEach((id, depth) => {
      const old = nodes.get(id);
      nodes.set(id, {
        id, from: Math.min(from, old?.from ?? 1), to: Math.max(to, old?.to ?? 0), depth, parent: one.parents[depth - 1],
        bytes: one.bytes + (old?.bytes ?? 0), slices: [], isLeaf: false, throttled: 0, units: 0, share: 0,
      });
    });
  }
  const children = new Map<number, number[]>();
  for (const node of nodes.values()) if (node.parent !== undefined) children.set(node.parent, [...(children.get(node.parent) ?? []), node.id]);
  const splits = [...children].map(([parent, ids]) => ({ parent, children: ids })).sort((a, b) => Math.min(...a.children) - Math.min(...b.children));
  return { nodes, splits };
}

const middle = 160;
const dial = 138;
const polar = (turn: number, r: number): [number, number] => [middle + r * Math.sin(turn * 2 * Math.PI), middle - r * Math.cos(turn * 2 * Math.PI)];
const arc = (from: number, to: number, r: number) => {
  if (to - from > 0.9999) to = from + 0.9999;
  const [x1, y1] = polar(from, r);
  const [x2, y2] = polar(to, r);
  return `M${x1.toFixed(2)} ${y1.toFixed(2)}A${r} ${r} 0 ${to - from > 0.5 ? 1 : 0} 1 ${x2.toFixed(2)} ${y2.toFixed(2)}`;
};

export function Ring({ view, loads }: { view: PartitionsView; loads: Map<number, Load> }) {
  const { nodes, splits } = familyOf(view, loads);
  const [chosen, setChosen] = useState<number>();
  const [playing, setPlaying] = useState(false);
  const step = Math.min(chosen ?? splits.length, splits.length);
  const done = new Set(splits.slice(0, step).map((one) => one.parent));
  const born = new Set(splits.slice(0, step).flatMap((one) => one.children));
  const all = [...nodes.values()].filter((node) => node.parent === undefined || born.has(node.id));
  const leaves = all.filter((node) => !done.has(node.id));
  const isNow = step === splits.length;
  useEffect(() => {
    if (!playing) return;
    if (step >= splits.length) {
      setPlaying(false);
      setChosen(undefined);
      return;
    }
    const timer = setTimeout(() => setChosen(step + 1), 900);
    return () => clearTimeout(timer);
  }, [playing, step, splits.length]);
  const deepest = Math.max(1, ...[...nodes.values()].map((node) => node.depth + 1));
  const orbit = (depth: number) => 22 + ((depth + 1) / deepest) * 68;
  const most = Math.max(1, ...leaves.map((node) => node.bytes));
  const isCrowded = leaves.length > 40;
  const size = (node: Node) => (isCrowded ? 3 : 5) + Math.sqrt(node.bytes / most) * (leaves.length > 16 ? 6 : 11);
  const place = (node: Node) => polar((node.from + node.to) / 2, leaves.length === 1 ? 0 : orbit(node.depth));
  const isHash = view.placement === "hash-2" || view.placement === "multi-hash";
  const hex = (part: number) => Math.round(part * 0x40).toString(16).toUpperCase().padStart(2, "0");
  const said = `${leaves.length} ${leaves.length === 1 ? "range" : "ranges"} on the ring of hashes${splits.length ? `, after ${splits.length} splits` : ""}. The fullest holds ${bytes(most)}.`;
  return (
    <figure class="stack tight-gap">
      <svg class="ring" viewBox="0 0 320 320" role="img" aria-label={said}>
        {Array.from({ length: deepest }, (_, i) => <circle key={i} class="orbit" cx={middle} cy={middle} r={orbit(i)} />)}
        <circle class="dial" cx={middle} cy={middle} r={dial} />
        {isNow && leaves.map((node) => {
          const used = node.share > 0 ? node.units / node.share : 0;
          return used > 0.002 && <path key={node.id} class={`load ${node.throttled > 0 ? "over" : ""}`} d={arc(node.from, node.from + (node.to - node.from) * Math.min(1, used), dial)}><title>{`Range ${node.id}: ${percent(used)} of its share`}</title></path>;
        })}
        {leaves.length > 1 && leaves.map((node) => {
          const [x1, y1] = polar(node.from, dial - 5);
          const [x2, y2] = polar(node.from, dial + 5);
          return <path key={node.id} class="cut" d={`M${x1} ${y1}L${x2} ${y2}`} />;
        })}
        {isHash && [0, 0.25, 0.5, 0.75].map((part) => {
          const [x, y] = polar(part, dial + 14);
          return <text key={part} class="tick" x={x} y={y}>{hex(part)}</text>;
        })}
        {leaves.length > 1 && all.map((node) => {
          const parent = node.parent === undefined ? undefined : nodes.get(node.parent);
          const [x1, y1] = parent ? place(parent) : [middle, middle];
          const [x2, y2] = place(node);
          return <path key={node.id} class="arm" d={`M${x1} ${y1}L${x2} ${y2}`} />;
        })}
        {all.filter((node) => done.has(node.id)).map((node) => {
          const [x, y] = place(node);
          return <circle key={node.id} class="bead" cx={x} cy={y} r="4"><title>{`Range ${node.id}, which was split`}</title></circle>;
        })}
        {leaves.length > 1 && <circle class="sun" cx={middle} cy={middle} r="8" />}
        {leaves.map((node) => {
          const [x, y] = place(node);
          const r = leaves.length === 1 ? 34 : size(node);
          const [lx, ly] = leaves.length === 1 ? [middle, middle] : polar((node.from + node.to) / 2, orbit(node.depth) + r + 11);
          let turn = 0;
          return (
            <g key={node.id}>
              <title>{`Range ${node.id}: ${bytes(node.bytes)}`}</title>
              {isNow && node.throttled > 0 && <circle class="halo" cx={x} cy={y} r={r + 4} />}
              <circle class="planet fill-rest" cx={x} cy={y} r={r} />
              {isNow && node.slices.map(([colour, part]) => {
                const from = turn;
                turn += part;
                if (part > 0.999) return <circle key={colour} class={`planet fill-k${colour}`} cx={x} cy={y} r={r} />;
                const at = (t: number) => `${(x + r * Math.sin(t * 2 * Math.PI)).toFixed(2)} ${(y - r * Math.cos(t * 2 * Math.PI)).toFixed(2)}`;
                return <path key={colour} class={`fill-k${colour}`} d={`M${x} ${y}L${at(from)}A${r} ${r} 0 ${part > 0.5 ? 1 : 0} 1 ${at(turn)}Z`} />;
              })}
              {!isCrowded && (leaves.length > 1 || r > 20) && <text x={lx} y={ly}>{node.id}</text>}
            </g>
          );
        })}
      </svg>
      {splits.length > 0 && (
        <figcaption class="row">
          <Button kind="quiet" icon={playing ? "stop" : "play"} label={playing ? "Stop" : "Play the splits"} onClick={() => { if (!playing && step >= splits.length) setChosen(0); setPlaying(!playing); }} />
          <input class="slider grow" type="range" aria-label="Splits so far" min={0} max={splits.length} value={step} onInput={(event) => { setPlaying(false); setChosen(Number(event.currentTarget.value)); }} />
          <span class="small dim">{isNow ? "now" : `${step} of ${splits.length} splits`}</span>
        </figcaption>
      )}
    </figure>
  );
}
