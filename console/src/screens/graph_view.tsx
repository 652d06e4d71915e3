// The vertices and edges of a result as a picture. Each can be chosen, by a click or by the keyboard, and says what it has;
// the neighbours of a vertex can be asked for.
import { useMemo, useState } from "preact/hooks";
import { type Container, type Json, query } from "../lib/api";
import { plural } from "../lib/format";
import { type Edge, graphOf, height, propertiesOfElement, type Vertex, width } from "../lib/graph";
import { Button, Problem } from "../parts/parts";

const radius = 13;
const neighboursMax = 50;
const short = (text: string) => (text.length > 18 ? `${text.slice(0, 17)}…` : text);

// From rim to rim; those of the same two vertices lie beside one another.
function pathOf(from: Vertex, to: Vertex, nth: number): { d: string; x: number; y: number } {
  if (from === to) {
    const r = 15 + nth * 7;
    return { d: `M${from.x - 6} ${from.y - radius}a${r} ${r} 0 1 1 12 0`, x: from.x, y: from.y - radius - 2 * r };
  }
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.max(1, Math.hypot(dx, dy));
  const [ux, uy] = [dx / length, dy / length];
  const bend = 14 + nth * 20;
  const [mx, my] = [(from.x + to.x) / 2 - uy * bend, (from.y + to.y) / 2 + ux * bend];
  const near = radius + 2;
  const end = radius + 7;
  return { d: `M${from.x + ux * near} ${from.y + uy * near}Q${mx} ${my} ${to.x - ux * end} ${to.y - uy * end}`, x: (from.x + to.x) / 4 + mx / 2, y: (from.y + to.y) / 4 + my / 2 };
}

// `isGraph`: all rows are vertices or edges.
export function GraphView({ db, container, rows, isGraph = false }: { db: string; container: Container; rows: Json[]; isGraph?: boolean }) {
  const [more, setMore] = useState<Json[]>([]);
  const [chosen, setChosen] = useState<string>();
  const [error, setError] = useState<unknown>();
  const [isAsking, setAsking] = useState(false);
  const path = container.partitionKey?.paths[0] ?? "";
  const graph = useMemo(() => graphOf([...rows, ...more], path, isGraph), [rows, more, path, isGraph]);
  if (!graph) return null;
  const byId = new Map(graph.vertices.map((one) => [one.id, one]));
  const vertex = graph.vertices.find((one) => `v${one.id}` === chosen);
  const edge = graph.edges.find((one) => `e${one.id}` === chosen);
  const colour = (label: string) => { const at = graph.labels.indexOf(label); return at < 6 ? `var(--k${at + 1})` : "var(--rest)"; };
  const seen = new Map<string, number>();
  const nth = (one: Edge) => {
    const pair = `${one.from}>${one.to}`;
    const n = seen.get(pair) ?? 0;
    seen.set(pair, n + 1);
    return n;
  };
  const pick = (id: string) => ({
    tabindex: 0, role: "button" as const, "aria-pressed": chosen === id,
    onClick: () => setChosen(chosen === id ? undefined : id),
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      setChosen(id);
    },
  });
  const ask = async (of: Vertex) => {
    setAsking(true);
    setError(undefined);
    try {
      const id = JSON.parse(of.id)[0] as string;
      const edges = await query(db, container.id, `SELECT TOP ${neighboursMax} * FROM c WHERE c._isEdge = true AND (c._vertexId = @id OR c._sink = @id)`, { parameters: [{ name: "@id", value: id }] });
      const ids = [...new Set(edges.body.Documents.flatMap((row) => [(row as Record<string, Json>)["_vertexId"], (row as Record<string, Json>)["_sink"]]))] as string[];
      const ends = await query(db, container.id, "SELECT * FROM c WHERE NOT IS_DEFINED(c._isEdge) AND ARRAY_CONTAINS(@ids, c.id)", { parameters: [{ name: "@ids", value: [id, ...ids] }] });
      setMore([...more, ...edges.body.Documents, ...ends.body.Documents]);
    } catch (caught) {
      setError(caught);
    }
    setAsking(false);
  };
  const said = `${plural(graph.vertices.length, "vertex", "vertices")} and ${plural(graph.edges.length, "edge")}`;
  return (
    <div class="graph">
      <div class="graph-picture">
        <svg viewBox={`0 0 ${width} ${height}`} role="group" aria-label={`A graph of ${said}`}>
          <defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 0 8 4 0 8z" /></marker></defs>
          {graph.edges.map((one) => {
            const [from, to] = [byId.get(one.from)!, byId.get(one.to)!];
            const { d, x, y } = pathOf(from, to, nth(one));
            return (
              <g key={`e${one.id}`} class={`edge ${edge === one ? "on" : ""}`} aria-label={`Edge ${one.label} from ${from.name} to ${to.name}`} {...pick(`e${one.id}`)}>
                <path class="reach" d={d} /><path class="line" d={d} marker-end="url(#arrow)" />
                {graph.edges.length <= 60 && <text x={x} y={y}>{short(one.label)}</text>}
              </g>
            );
          })}
          {graph.vertices.map((one) => (
            <g key={`v${one.id}`} class={`vertex ${vertex === one ? "on" : ""}`} aria-label={`Vertex ${one.name}, ${one.label}`} {...pick(`v${one.id}`)}>
              <circle cx={one.x} cy={one.y} r={radius} style={one.row ? { fill: colour(one.label) } : { stroke: colour(one.label) }} class={one.row ? "" : "hollow"} />
              <text x={one.x} y={one.y + radius + 13}>{short(one.name)}</text>
            </g>
          ))}
        </svg>
        <div class="legend">
          {graph.labels.slice(0, 7).map((label) => <span key={label}><i class="dot" style={{ background: colour(label) }} />{label}</span>)}
          {graph.vertices.some((one) => !one.row) && <span><i class="dot hollow" />named by an edge, not in the result</span>}
          <span class="dim">{said}{graph.leftOut > 0 ? `; ${graph.leftOut} more are not drawn` : ""}</span>
        </div>
      </div>
      <div class="graph-facts" aria-live="polite">
        {error !== undefined && <Problem error={error} title="The neighbours could not be read" />}
        {!vertex && !edge && <p class="dim">Choose a vertex or an edge to see what it has.</p>}
        {(vertex || edge) && <h2>{vertex ? vertex.name : edge!.label}</h2>}
        {vertex && <p class="dim small">{vertex.label} · <code>{JSON.parse(vertex.id)[0]}</code></p>}
        {edge && <p class="dim small">from {byId.get(edge.from)!.name} to {byId.get(edge.to)!.name} · <code>{JSON.parse(edge.id)[0]}</code></p>}
        <Facts row={vertex?.row ?? edge?.row} />
        {vertex && !vertex.row && <p class="dim small">Not in this result: an edge names it.</p>}
        {vertex && <Button disabled={isAsking} onClick={() => ask(vertex)}>Show neighbours</Button>}
      </div>
    </div>
  );
}

function Facts({ row }: { row?: Record<string, Json> }) {
  if (!row) return null;
  return <dl class="element">{propertiesOfElement(row).map(([key, value], i) => <div key={i}><dt>{key}</dt><dd>{value}</dd></div>)}</dl>;
}
