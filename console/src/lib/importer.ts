// One import at a time: reads the records of a file and writes them, some requests in flight, until
// the file is at its end or somebody stops it. It goes on while other screens are looked at. No record
// is dropped: one that cannot be written is kept with the reason.
import { ApiError, call, type Container, containerPath, enc, type Item, type Json, keyHeader } from "./api";
import { keyValues, systemNames, valueAt, pathParts, withoutSystem } from "./json";
import { Shared } from "./live";
import { type FileRecord, type ReadOptions, records } from "./records";

// What becomes of an item whose id and key are taken. As `orrery import --mode` has it.
export type Mode = "upsert" | "create" | "skip";
export interface Rejected { line: number; number: number; reason: string; record: string }
export interface Job {
  file: File;
  db: string;
  container: string;
  state: "running" | "paused" | "stopped" | "failed" | "done";
  ended: boolean; // nothing is in flight any more
  trouble?: string; // while it waits for the server; why it failed
  read: number;
  written: number;
  present: number; // were there already
  throttled: number; // answers, not records
  charge: number;
  bytes: number; // of the file
  busy_ms: number; // without pauses
  rejected: Rejected[];
}
export interface Plan { file: File; options: ReadOptions; db: string; container: Container; mode: Mode; makeIds: boolean }

export const job = new Shared<Job | undefined>(undefined);

// As many connections as a browser gives to one server.
const inFlight = 6;
const recordBytesMax = 32 * 2 ** 20; // of all that are rejected
const rejectedMax = 50_000;
const longestWait_ms = 5_000;
const trouble_ms = 2_000;

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const sorted = (value: Json | undefined): Json | undefined => {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map((one) => sorted(one)!);
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, one]) => [name, sorted(one)!]));
};
const isSame = (a: Json, b: Json) => JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));

class Import {
  private resumed: (() => void)[] = [];
  private readonly flying = new Map<string, Promise<void>>(); // by id and key
  private rejectedBytes = 0;
  private notBefore = 0; // the server asked to be left alone until then
  private refusals = 0; // one after the other
  private shownAt = 0;
  private lastTick = performance.now();

  constructor(private readonly plan: Plan, private readonly now: Job) {}

  // Many records a second: what people see changes less often.
  show(always = false) {
    const at = performance.now();
    if (this.now.state === "running") this.now.busy_ms += at - this.lastTick;
    this.lastTick = at;
    if (!always && at - this.shownAt < 100) return;
    this.shownAt = at;
    if (job.get() === undefined || job.get()!.file === this.now.file) job.set({ ...this.now });
  }
  set(state: Job["state"], trouble?: string) {
    this.show(true);
    this.now.state = state;
    this.now.trouble = trouble;
    this.show(true);
    if (state !== "paused") for (const go of this.resumed.splice(0)) go();
  }
  get isOver() {
    return this.now.state !== "running" && this.now.state !== "paused";
  }

  async run() {
    const working = new Set<Promise<void>>();
    try {
      for await (const record of records(this.plan.file, this.plan.options, (bytes) => { this.now.bytes += bytes; })) {
        await this.mayGoOn();
        if (this.isOver) break;
        ++this.now.read;
        const one = this.take(record).finally(() => working.delete(one));
        one.catch(() => {}); // told by whoever waits for them all
        working.add(one);
        if (working.size >= inFlight) await Promise.race(working);
        this.show();
      }
      await Promise.all(working);
      if (!this.isOver) this.set("done");
    } catch (error) {
      await Promise.allSettled(working);
      this.set("failed", (error as Error).message);
    }
    this.now.ended = true;
    this.show(true);
  }

  private async mayGoOn() {
    while (this.now.state === "paused") await new Promise<void>((resolve) => this.resumed.push(resolve));
  }

  private reject(record: FileRecord, reason: string) {
    this.now.rejected.push({ number: record.number, line: record.line, reason, record: record.text });
    this.rejectedBytes += record.text.length;
    if (this.rejectedBytes > recordBytesMax || this.now.rejected.length >= rejectedMax) {
      throw new Error(`${this.now.rejected.length} records were rejected, as many as the browser keeps: it stopped after record ${this.now.read}.`);
    }
  }

  private async take(record: FileRecord) {
    if (!record.value) return this.reject(record, record.problem ?? "it is no JSON object");
    let { json } = record;
    let item = record.value as Item;
    if (item.id === undefined && this.plan.makeIds) item = { ...item, id: `${this.plan.file.name}-${record.number}` };
    if (typeof item.id !== "string" || item.id === "") return this.reject(record, "it has no id: every item needs one, a string");
    const own = withoutSystem(item);
    if (item !== record.value || Object.keys(item).some((name) => systemNames.has(name))) json = JSON.stringify(own);
    const key = keyValues(own, this.plan.container.partitionKey);
    // An item that comes several times is written in that order.
    const name = JSON.stringify([item.id, key.map((one) => one ?? null)]);
    const before = this.flying.get(name);
    const writing = (async () => {
      await before;
      await this.write(record, item.id, key, own, json);
    })();
    const ended = writing.catch(() => {});
    this.flying.set(name, ended);
    try {
      await writing;
    } finally {
      if (this.flying.get(name) === ended) this.flying.delete(name);
    }
  }

  // Until it is written, rejected or somebody stops it.
  private async write(record: FileRecord, id: string, key: (Json | undefined)[], own: Json, json: string) {
    const { db, container, mode } = this.plan;
    for (;;) {
      await this.mayGoOn();
      if (this.isOver) return this.reject(record, "it was not written: the import was stopped");
      const wait = this.notBefore - performance.now();
      if (wait > 0) {
        await sleep(Math.min(wait, longestWait_ms));
        continue;
      }
      try {
        const answer = await call<Item>(`${containerPath(db, container.id)}/docs`, {
          method: "POST", raw: json,
          headers: { ...(container.partitionKey ? keyHeader(key) : {}), ...(mode === "upsert" ? { "x-ms-documentdb-is-upsert": "true" } : {}) },
        });
        this.now.charge += answer.charge;
        ++this.now.written;
        this.refusals = 0;
        if (this.now.trouble !== undefined) this.now.trouble = undefined;
        return this.show();
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        if (error.status === 429) {
          ++this.now.throttled;
          // The more of them in a row, the longer.
          this.wait(Math.max(error.retryAfter_ms, 1) * 2 ** Math.min(++this.refusals / inFlight, 6));
        } else if (error.status === 0 || error.status === 503 || error.status === 449 || error.status === 408 || error.status === 410) {
          this.now.trouble = error.message;
          this.wait(Math.max(error.retryAfter_ms, error.status === 0 ? trouble_ms : 200));
        } else if (error.status === 401) {
          this.set("paused", "The session has ended. Sign in, and go on.");
        } else if (error.status === 409 && (await this.isPresent(id, key, own))) {
          ++this.now.present;
          return;
        } else if (error.status === 404 || error.status === 403) {
          // Of the container, or of what the key may do: the next would fare no better.
          this.reject(record, error.message);
          if (!this.isOver) this.set("failed", error.message);
          return;
        } else {
          return this.reject(record, error.message);
        }
      }
    }
  }

  private wait(ms: number) {
    this.notBefore = Math.max(this.notBefore, performance.now() + Math.min(ms, longestWait_ms));
    this.show();
  }

  // What is there may be what an answer that got lost was about.
  private async isPresent(id: string, key: (Json | undefined)[], own: Json): Promise<boolean> {
    if (this.plan.mode === "skip") return true;
    try {
      const { db, container } = this.plan;
      const { body } = await call<Item>(`${containerPath(db, container.id)}/docs/${enc(id)}`, { headers: container.partitionKey ? keyHeader(key) : {} });
      return isSame(withoutSystem(body), own);
    } catch {
      return false;
    }
  }
}

let current: Import | undefined;
export function start(plan: Plan) {
  const now: Job = {
    file: plan.file, db: plan.db, container: plan.container.id, state: "running", ended: false, read: 0, written: 0, present: 0, throttled: 0, charge: 0,
    bytes: 0, busy_ms: 0, rejected: [],
  };
  job.set(now);
  current = new Import(plan, now);
  void current.run();
}
export const pause = () => current?.set("paused");
export const goOn = () => current?.set("running");
export const stop = () => current?.set("stopped");
export const forget = () => {
  current = undefined;
  job.set(undefined);
};

// The file of rejected records, as `orrery import` writes it.
export const rejectsText = ({ file, rejected }: Job) =>
  [...rejected].sort((a, b) => a.number - b.number).map(({ line, reason, record }) => JSON.stringify({ source: file.name, line, reason, record }) + "\n").join("");

// What of the container's key a record lacks.
export function problemOf(record: FileRecord, paths: string[], makeIds: boolean): string | undefined {
  if (record.problem || !record.value) return record.problem ?? "it is no JSON object";
  if (!(makeIds && record.value["id"] === undefined) && (typeof record.value["id"] !== "string" || record.value["id"] === "")) return "no id";
  const missing = paths.find((path) => valueAt(record.value, pathParts(path)) === undefined);
  return missing === undefined ? undefined : `no ${missing}`;
}
