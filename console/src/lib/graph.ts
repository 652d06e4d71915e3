// Vertices and edges among the rows of a query, in the layout that Gremlin's containers have, and where to draw them. The
// same rows give the same picture.
import type { Json } from "./api";

export interface Vertex { id: string; name: string; label: string; row?: Record<string, Json>; x: number; y: number }
export interface Edge { id: string; label: string; from: string; to: string; row: Record<string, Json> }
export interface Graph { vertices: Vertex[]; edges: Edge[]; labels: string[]; leftOut: number }

export const verticesMax = 120;
export const edgesMax = 400;
export const width = 1000;
export const height = 640;

type Row = Record<string, Json>;
const isRow = (row: Json): row is Row => row !== null && typeof row === "object" && !Array.isArray(row);
const isEdge = (row: Row) => row["_isEdge"] === true && typeof row["_vertexId"] === "string" && typeof row["_sink"] === "string";
const isProperty = (value: Json | undefined) => Array.isArray(value) && value.length > 0 && value.every((one) => isRow(one) && "_value" in one);
const isVertex = (row: Row) => typeof row["id"] === "string" && typeof row["label"] === "string" && row["_isEdge"] === undefined;
// Of a vertex: ids are unique within a partition key only.
const keyOf = (id: Json | undefined, part: Json | undefined) => JSON.stringify([id ?? null, part ?? null]);

// What one reads first of a vertex.
function nameOf(row: Row): string {
  for (const key of ["name", "title"]) {
    const value = row[key];
    if (isProperty(value)) return String((value as Row[])[0]!["_value"]);
  }
  return String(row["id"]);
}

// Nothing when no row is an edge, or a vertex with properties as Gremlin writes them; `isGraph`: all rows are vertices or
// edges. `path`: of the partition key.
export function graphOf(rows: Json[], path: string, isGraph = false): Graph | undefined {
  const part = path.replace(/^\//, "");
  const edges = rows.filter(isRow).filter(isEdge);
  const found = rows.filter(isRow).filter(isVertex);
  if (edges.length === 0 && (isGraph ? found.length === 0 : !found.some((row) => Object.values(row).some(isProperty)))) return undefined;
  const vertices = new Map<string, Vertex>();
  const links = new Map<string, Edge>();
  let leftOut = 0;
  for (const row of found) {
    const key = keyOf(row["id"], row[part]);
    if (vertices.size < verticesMax) vertices.set(key, { id: key, name: nameOf(row), label: String(row["label"]), row, x: 0, y: 0 });
    else if (!vertices.has(key)) ++leftOut;
  }
  // An edge may not tell the partition key of an end: then it is the vertex of that id, if there is one.
  const ids = new Map([...vertices.values()].reverse().map((one) => [one.row!["id"], one.id]));
  const endOf = (id: Json | undefined, of: Json | undefined) => {
    const key = keyOf(id, of);
    return of === undefined && !vertices.has(key) ? ids.get(id!) ?? key : key;
  };
  for (const row of edges) {
    const from = endOf(row["_vertexId"], row[part]);
    const to = endOf(row["_sink"], row["_sinkPartition"]);
    const missing = [[from, "_vertexId", "_vertexLabel"], [to, "_sink", "_sinkLabel"]].filter(([key]) => !vertices.has(key!));
    if (links.size >= edgesMax || vertices.size + missing.length > verticesMax) {
      ++leftOut;
      continue;
    }
    // One that only its edge tells of.
    for (const [key, id, label] of missing) vertices.set(key!, { id: key!, name: String(row[id!]), label: String(row[label!] ?? "vertex"), x: 0, y: 0 });
    const id = keyOf(row["id"], row[part] ?? (JSON.parse(from) as Json[])[1]);
    links.set(id, { id, label: String(row["label"]), from, to, row });
  }
  const graph = { vertices: [...vertices.values()], edges: [...links.values()], labels: [] as string[], leftOut };
  graph.labels = [...new Set(graph.vertices.map((one) => one.label))];
  place(graph);
  return graph;
}

// Vertices push one another away, edges pull their ends together; less with every step.
function place({ vertices, edges }: Graph) {
  const at = new Map(vertices.map((one, i) => [one.id, i]));
  const x = vertices.map((_, i) => Math.sqrt(i + 0.5) * Math.cos(i * 2.399963));
  const y = vertices.map((_, i) => Math.sqrt(i + 0.5) * Math.sin(i * 2.399963));
  const links = edges.map((edge) => [at.get(edge.from)!, at.get(edge.to)!] as const).filter(([a, b]) => a !== b);
  const steps = 200;
  for (let step = 0; step < steps; ++step) {
    const dx = new Array<number>(x.length).fill(0);
    const dy = new Array<number>(x.length).fill(0);
    const push = (a: number, b: number, force: (distance: number) => number) => {
      const [sx, sy] = [x[a]! - x[b]!, y[a]! - y[b]!];
      const distance = Math.max(0.05, Math.hypot(sx, sy));
      const by = force(distance) / distance;
      dx[a]! += sx * by; dy[a]! += sy * by;
      dx[b]! -= sx * by; dy[b]! -= sy * by;
    };
    for (let a = 0; a < x.length; ++a) for (let b = 0; b < a; ++b) push(a, b, (distance) => 1 / distance);
    for (const [a, b] of links) push(a, b, (distance) => -0.35 * distance * distance);
    const most = 0.6 * (1 - step / steps) + 0.01;
    for (let i = 0; i < x.length; ++i) {
      // Towards the middle, so that parts without an edge between them stay near.
      const [sx, sy] = [dx[i]! - 0.06 * x[i]!, dy[i]! - 0.06 * y[i]!];
      const length = Math.max(0.0001, Math.hypot(sx, sy));
      x[i]! += (sx / length) * Math.min(length, most);
      y[i]! += (sy / length) * Math.min(length, most);
    }
  }
  const scaled = (values: number[], size: number, margin: number) => {
    const low = Math.min(...values);
    const span = Math.max(...values) - low;
    return values.map((value) => (span < 0.001 ? size / 2 : margin + ((value - low) / span) * (size - 2 * margin)));
  };
  const xs = scaled(x, width, 90);
  const ys = scaled(y, height, 50);
  vertices.forEach((one, i) => { one.x = xs[i]!; one.y = ys[i]!; });
}

// What an element has, as people read it.
export function propertiesOfElement(row: Row): [string, string][] {
  const shown: [string, string][] = [];
  for (const [key, value] of Object.entries(row)) {
    if (key.startsWith("_") || key === "id" || key === "label") continue;
    if (isProperty(value)) for (const one of value as Row[]) shown.push([key, String(one["_value"])]);
    else shown.push([key, typeof value === "string" ? value : JSON.stringify(value)]);
  }
  return shown;
}
