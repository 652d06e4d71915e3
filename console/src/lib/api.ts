// How the page talks to its server: always below /console/api/, always with the header that other
// sites cannot send, and with nothing but the session's cookie to say who it is.
import { parseExactly } from "./json";

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly activityId = "",
    readonly substatus = 0,
    readonly what = "",
    readonly retryAfter_ms = 0,
  ) {
    super(message);
  }
}

export interface Answer<T> {
  body: T;
  status: number;
  charge: number;
  ms: number;
  headers: Headers;
}

type Listener = () => void;
const signedOut = new Set<Listener>();
export const onSignedOut = (listener: Listener) => {
  signedOut.add(listener);
  return () => signedOut.delete(listener);
};

// Whether the server answers, and since when it does not.
const reach = { lostAt: 0, listeners: new Set<Listener>() };
export const lostAt = () => reach.lostAt;
export const onReach = (listener: Listener) => {
  reach.listeners.add(listener);
  return () => reach.listeners.delete(listener);
};
function setReach(lost: boolean) {
  if (lost === reach.lostAt > 0) return;
  reach.lostAt = lost ? Date.now() : 0;
  for (const listener of reach.listeners) listener();
}

export interface Request {
  method?: string;
  headers?: Record<string, string>;
  body?: unknown;
  raw?: string; // the body as it is
  signal?: AbortSignal;
}

export async function call<T>(path: string, request: Request = {}): Promise<Answer<T>> {
  const { method = "GET", headers = {}, body, raw, signal } = request;
  const started = performance.now();
  let response: Response;
  try {
    response = await fetch(`/console/api/${path}`, {
      method,
      signal,
      credentials: "same-origin",
      headers: {
        "x-orrery-console": "1",
        accept: "application/json",
        ...(raw !== undefined || body !== undefined ? { "content-type": "application/json" } : {}),
        ...headers,
      },
      body: raw ?? (body === undefined ? undefined : JSON.stringify(body)),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    setReach(true);
    throw new ApiError(0, "NoAnswer", "The server does not answer. It may have stopped, or be restarting.");
  }
  setReach(false);
  const text = await response.text();
  let parsed: unknown;
  try {
    parsed = text === "" ? undefined : parseExactly(text);
  } catch {
    parsed = undefined;
  }
  if (!response.ok && response.status !== 304) {
    const said = parsed as { code?: string; message?: string } | undefined;
    if (response.status === 401 && path !== "session") for (const listener of signedOut) listener();
    throw new ApiError(response.status, said?.code ?? String(response.status),
      (said?.message ?? response.statusText).split("\r\nActivityId")[0]!,
      response.headers.get("x-ms-activity-id") ?? "",
      Number(response.headers.get("x-ms-substatus") ?? 0),
      `${method} ${path.replace(/^data/, "")}`,
      Number(response.headers.get("x-ms-retry-after-ms") ?? 0));
  }
  return {
    body: parsed as T,
    status: response.status,
    charge: Number(response.headers.get("x-ms-request-charge") ?? 0),
    ms: performance.now() - started,
    headers: response.headers,
  };
}

// --- the session ---------------------------------------------------------------------------------
export interface SessionInfo {
  account: string;
  version: string;
  withoutKey: boolean;
  otherFaces?: string[];
  languages?: string[]; // faces whose texts runText() runs
  access?: "read-write" | "read-only";
  endsInSeconds?: number;
  mostSeconds?: number;
}
export const session = () => call<SessionInfo>("session");
export const signIn = (key?: string) => call<SessionInfo>("session", { method: "POST", body: key === undefined ? {} : { key } });
export const signOut = () => call<SessionInfo>("session", { method: "DELETE" });

// --- what operators see --------------------------------------------------------------------------
export interface Throughput { units: number; autoscale: boolean; shared: boolean }
export interface ContainerFigures {
  face: string; database: string; container: string; partitions: number; bytes: number; largest: number;
  items: number | null; throttled: number; requestUnits: number; throughput: Throughput | null; scaling: boolean;
}
export interface PartitionFigures {
  id: number; min: string; max: string; bytes: number; items: number; lsn: number; reads: number; writes: number;
  throttled: number; requestUnits: number; indexed: number; problem: string; parents: number[]; share: number;
  splitting: boolean; node: string;
  known: boolean; // otherwise its node has not told: sizes and counts are 0
}
export type SplitCause = "asked" | "storage" | "throughput" | "load";
export interface KeyFigures { key: string; range: number; bytes: number; items: number }
export interface PartitionsView {
  partitions: PartitionFigures[]; keys: KeyFigures[]; largestKeys: KeyFigures[];
  splits: { at: number; cause: SplitCause; parent: number; children: number[] }[];
  placement: string; throughput: Throughput | null; scaling: boolean; at: number;
  limits: { partitionBytes: number; keyBytes: number; partitionUnits: number; containerUnitsMax: number };
}
export interface HistoryView { stepSeconds: number; figures: string[]; samples: number[][] }

const named = (db: string, c: string) => `database=${encodeURIComponent(db)}&container=${encodeURIComponent(c)}`;
export const containerFigures = () => call<{ containers: ContainerFigures[]; at: number }>("admin/containers");
export const partitions = (db: string, c: string, keys: number) =>
  call<PartitionsView>(`admin/partitions?${named(db, c)}&keys=${keys}`);
export interface HotKeys { sampled: number; keys: { key: string; part: number; unitsPerSecond: number }[] }
export const hotKeys = (db: string, c: string) => call<HotKeys>(`hot?${named(db, c)}`);
export const history = (step: number, from: number) => call<HistoryView>(`admin/history?step=${step}&from=${Math.floor(from)}`);
export const split = (database: string, container: string, range?: number) =>
  call<{ parent: number; children: [number, number]; pauseMs: number; totalMs: number }>("admin/split", {
    method: "POST", body: { database, container, ...(range === undefined ? {} : { range }) },
  });

// --- keys ----------------------------------------------------------------------------------------
export interface KeyInfo { key: string; access: "read-write" | "read-only"; maySee: boolean }
export const keyList = () => call<{ fixed: boolean; keys: KeyInfo[] }>("keys");
export const showKey = (key: string) => call<{ value: string }>("keys", { method: "POST", body: { key } });
export const newKey = (key: string) => call("admin/keys/regenerate", { method: "POST", body: { key } });

// --- the nodes of a cluster ----------------------------------------------------------------------
export interface MemberView {
  name: string; address: string; incarnation: string; state: "live" | "revoked" | "over"; draining: boolean; ranges: number; silentS: number;
  unheardS: number; catalogLsn: number; hasPlan: boolean; quiet: boolean; cannotReach: string;
}
export interface ClusterView {
  node: string; coordinator: string; isCoordinator: boolean; leaseGood: boolean; term: number; plan: number; ranges: number; catalogLsn: number;
  catalogAgeS: number; members: MemberView[];
}
export const clusterView = () => call<ClusterView>("admin/cluster");
export const drainNode = (node: string, draining: boolean) => call("admin/cluster/drain", { method: "POST", body: { node, draining } });
export const moveRange = (database: string, container: string, range: number, node: string) =>
  call("admin/cluster/move", { method: "POST", body: { database, container, range, node } });
export const rebalanceCluster = () => call("admin/cluster/rebalance", { method: "POST", body: {} });

// --- data ----------------------------------------------------------------------------------------
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type Item = { id: string; _rid?: string; _etag?: string; _ts?: number; [name: string]: Json | undefined };
export interface Database { id: string; _rid: string; _ts: number }
export interface PartitionKey { paths: string[]; kind: string; version?: number }
export interface Container {
  id: string; _rid: string; _ts: number; _etag: string; partitionKey?: PartitionKey; indexingPolicy: Json; defaultTtl?: number;
  uniqueKeyPolicy?: Json; conflictResolutionPolicy?: Json; [name: string]: unknown;
}
export interface Offer {
  id: string; _rid: string; offerResourceId: string;
  content: { offerThroughput: number; offerAutopilotSettings?: { maxThroughput: number } };
  [name: string]: unknown;
}
export const enc = encodeURIComponent;
export const dbPath = (db: string) => `data/dbs/${enc(db)}`;
export const containerPath = (db: string, c: string) => `${dbPath(db)}/colls/${enc(c)}`;

async function all<T>(path: string, member: string): Promise<T[]> {
  const found: T[] = [];
  let continuation: string | null = null;
  do {
    const page: Answer<Record<string, T[]>> = await call(path, { headers: continuation ? { "x-ms-continuation": continuation } : {} });
    found.push(...(page.body[member] ?? []));
    continuation = page.headers.get("x-ms-continuation");
  } while (continuation && found.length < 10_000);
  return found;
}
export const databases = () => all<Database>("data/dbs", "Databases");
export const containers = (db: string) => all<Container>(`${dbPath(db)}/colls`, "DocumentCollections");
export const container = (db: string, c: string) => call<Container>(containerPath(db, c));
export const offers = () => all<Offer>("data/offers", "Offers");

export function throughputHeaders(throughput?: { units: number; autoscale: boolean }): Record<string, string> {
  if (!throughput) return {};
  return throughput.autoscale
    ? { "x-ms-cosmos-offer-autopilot-settings": JSON.stringify({ maxThroughput: throughput.units }) }
    : { "x-ms-offer-throughput": String(throughput.units) };
}
export const setOffer = (offer: Offer, throughput: { units: number; autoscale: boolean }) =>
  call<Offer>(`data/offers/${enc(offer.id)}`, {
    method: "PUT",
    body: {
      ...offer,
      content: throughput.autoscale
        ? { offerThroughput: throughput.units, offerAutopilotSettings: { maxThroughput: throughput.units } }
        : { offerThroughput: throughput.units },
    },
  });

// Header values are ASCII: JSON has an escape for everything else.
const ascii = (text: string) => text.replace(/[\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
export const keyHeader = (values: (Json | undefined)[]) => ({
  "x-ms-documentdb-partitionkey": ascii(JSON.stringify(values.map((value) => (value === undefined ? {} : value)))),
});

export interface QueryPage { Documents: Json[]; _count: number }
export interface QueryOptions { parameters?: { name: string; value: Json }[]; size?: number; continuation?: string | null; metrics?: boolean; signal?: AbortSignal }
export const query = (db: string, c: string, text: string, options: QueryOptions = {}) =>
  call<QueryPage>(`${containerPath(db, c)}/docs`, {
    method: "POST",
    signal: options.signal,
    body: { query: text, parameters: options.parameters ?? [] },
    headers: {
      "content-type": "application/query+json",
      "x-ms-documentdb-isquery": "true",
      "x-ms-documentdb-query-enablecrosspartition": "true",
      "x-orrery-whole-query": "true",
      "x-ms-max-item-count": String(options.size ?? 100),
      ...(options.continuation ? { "x-ms-continuation": options.continuation } : {}),
      ...(options.metrics
        ? { "x-ms-documentdb-populatequerymetrics": "true", "x-ms-cosmos-populateindexmetrics": "true" }
        : {}),
    },
  });

// A text in the language of another face, over a container of this one.
export interface TextResults { results: Json[]; more: boolean; ms: number }
export const runText = (face: string, database: string, container: string, text: string, bindings?: { [name: string]: Json }, signal?: AbortSignal) =>
  call<TextResults>("admin/run", { method: "POST", body: { face, database, container, text, bindings }, signal });

// Which ranges of placement keys a query can touch.
export interface QueryPlan { queryRanges?: { min: string; max: string; isMinInclusive: boolean; isMaxInclusive: boolean }[]; queryInfo?: Record<string, Json> }
export const queryPlan = (db: string, c: string, text: string) =>
  call<QueryPlan>(`${containerPath(db, c)}/docs`, {
    method: "POST",
    body: { query: text, parameters: [] },
    headers: {
      "content-type": "application/query+json",
      "x-ms-documentdb-isquery": "true",
      "x-ms-cosmos-is-query-plan-request": "true",
      "x-ms-cosmos-supported-query-features":
        "Aggregate,CompositeAggregate,CountIf,DCount,Distinct,GroupBy,HybridSearch,MultipleAggregates,MultipleOrderBy,NonStreamingOrderBy,NonValueAggregate,OffsetAndLimit,OrderBy,Top,WeightedRankFusion",
    },
  });

// --- the advisor ---------------------------------------------------------------------------------
export interface Finding { code: string; text: string }
export interface AdvisedKey {
  name: string;
  score: number;
  factors: Record<string, number>;
  needed_ru: number;
  fan_out: number;
  busiest: { value: string; share: number; ru: number };
  largest: { value: string; bytes: number; at_horizon: number; limit_day: string | null };
  distinct: { estimate: number; low: number; high: number };
  throttled: number | null;
  hard: Finding[];
  warn: Finding[];
}
export interface AdviseView {
  verdict: "choose" | "keep" | "change" | "none_good" | "insufficient";
  confidence: string;
  notes: Finding[];
  best: string;
  present: string | null;
  advice: Finding[];
  N: number;
  throughput: number;
  peak_ru: number;
  items: number;
  bytes: number;
  items_read: number;
  requests_read: number;
  candidates: AdvisedKey[];
  reasons: { key: string; because: string[] }[];
  bars: { key: string; bytes: number[]; ru: number[] }[];
}
export const advise = (db: string, container: string, key: string) =>
  call<AdviseView>(`admin/advise?${named(db, container)}${key ? `&key=${encodeURIComponent(key)}` : ""}`);
