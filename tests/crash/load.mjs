// What the programs of this folder share: a seeded random, the split and merge requests, the partition map, and
// a load of workers that remember what the server acknowledged.
import { keyHeader, readFeed } from "../sdk/rest.mjs";

// Deterministic: the same seed gives the same choices (the timing of a kill is still the machine's).
export function randomOf(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return {
    below: (n) => Math.floor(next() * n),
    between: (low, high) => low + Math.floor(next() * (high - low + 1)),
    pick: (list) => list[Math.floor(next() * list.length)],
  };
}

export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// Everything that must never happen: it ends the program with what is known about it.
export class Violation extends Error {}

export function split(rest, container, range) {
  return rest("POST", "/admin/split", {
    body: { database: "db", container, ...(range === undefined ? {} : { range: Number(range) }) },
  });
}

export function merge(rest, container, left, right) {
  return rest("POST", "/admin/merge", { body: { database: "db", container, ranges: [Number(left), Number(right)] } });
}

// The ranges of a container, in order; a gap or an overlap is a violation.
export async function partitionMap(rest, container) {
  const { items } = await readFeed(rest, `/dbs/db/colls/${container}/pkranges`, "PartitionKeyRanges");
  const ranges = [...items].sort((a, b) => (a.minInclusive < b.minInclusive ? -1 : 1));
  const told = () => JSON.stringify(ranges.map((r) => [r.id, r.minInclusive, r.maxExclusive]));
  if (ranges[0]?.minInclusive !== "" || ranges.at(-1)?.maxExclusive !== "FF") {
    throw new Violation(`the map does not cover everything: ${told()}`);
  }
  for (let i = 1; i < ranges.length; ++i) {
    if (ranges[i].minInclusive !== ranges[i - 1].maxExclusive) {
      throw new Violation(`the map has a gap or an overlap: ${told()}`);
    }
  }
  if (new Set(ranges.map((r) => r.id)).size !== ranges.length) {
    throw new Violation(`a range id is there twice: ${told()}`);
  }
  return ranges;
}

// A load on one container. Every id belongs to one worker, so its states follow one another; a
// state is the version last written, or null when the item is not there.
export class Load {
  constructor({ container, random, workers = 8, idsPerWorker = 90, padMax = 2500 }) {
    this.container = container;
    this.random = random;
    this.padMax = padMax;
    this.ids = Array.from({ length: workers }, (_, w) =>
      Array.from({ length: idsPerWorker }, (_, i) => `w${w}-${i}`));
    this.states = new Map(this.ids.flat().map((id) => [id, { allowed: [null] }]));
    this.version = 0;
    this.acknowledged = 0;
    this.longest_ms = 0;
  }

  get docs() {
    return `/dbs/db/colls/${this.container}/docs`;
  }

  keyOf(id) {
    return `key ${[...id].reduce((sum, c) => (sum * 31 + c.charCodeAt(0)) % 211, 7)}`;
  }

  // Runs until `stopped()` or until the server is gone. An answer that is not the expected one is a
  // violation; no answer leaves both states allowed, and verify() has to decide before the next run.
  async run(rest, stopped) {
    await Promise.all(this.ids.map((ids) => this.work(rest, ids, stopped)));
  }

  async work(rest, ids, stopped) {
    while (!stopped()) {
      const id = this.random.pick(ids);
      const state = this.states.get(id);
      const [before, ...others] = state.allowed;
      if (others.length > 0) throw new Error(`${id} is not decided: verify() comes first`);
      const { verb, method, path, expected, upsert } = this.choose(id, before);
      const after = verb === "delete" ? null : ++this.version;
      state.allowed = [before, after];
      const started = performance.now();
      let answer;
      try {
        answer = await rest(method, path, {
          headers: { ...keyHeader(this.keyOf(id)), ...(upsert ? { "x-ms-documentdb-is-upsert": "true" } : {}) },
          ...(after === null ? {} : { body: this.body(id, after) }),
        });
      } catch {
        return;
      }
      this.longest_ms = Math.max(this.longest_ms, performance.now() - started);
      if (answer.status !== expected) {
        throw new Violation(`${verb} ${id}: ${answer.status} instead of ${expected}: ${answer.text.slice(0, 500)}`);
      }
      ++this.acknowledged;
      state.allowed = [after];
      state.token = answer.headers["x-ms-session-token"] ?? state.token;
    }
  }

  choose(id, before) {
    const there = before !== null;
    const one = `${this.docs}/${id}`;
    const verb = this.random.pick(there ? ["upsert", "replace", "replace", "delete"] : ["create", "create", "upsert"]);
    if (verb === "delete") return { verb, method: "DELETE", path: one, expected: 204 };
    if (verb === "replace") return { verb, method: "PUT", path: one, expected: 200 };
    return { verb, method: "POST", path: this.docs, expected: there ? 200 : 201, upsert: verb === "upsert" };
  }

  body(id, version) {
    return { id, pk: this.keyOf(id), version, pad: "x".repeat(this.random.below(this.padMax)) };
  }

  // Reads every item and the whole feed: what was acknowledged is there, once, and nothing else.
  // Of a write that was under way, what was found is what holds from now on.
  async verify(rest) {
    const there = new Map();
    const readAll = async (ids) => {
      for (const id of ids) {
        const state = this.states.get(id);
        const found = await this.readVersion(rest, id, state);
        if (!state.allowed.includes(found)) {
          throw new Violation(`${id} is ${found} and should be ${state.allowed.map(String).join(" or ")} (null: not there)`);
        }
        state.allowed = [found];
        if (found !== null) there.set(id, found);
      }
    };
    await Promise.all(this.ids.map(readAll));
    const { items } = await readFeed(rest, this.docs, "Documents", {
      headers: { "x-ms-max-item-count": "200" },
    });
    const seen = new Set();
    for (const { id, version } of items) {
      if (seen.has(id)) throw new Violation(`${id} is twice in the feed`);
      seen.add(id);
      if (there.get(id) !== version) {
        throw new Violation(`${id} is ${version} in the feed and ${there.get(id) ?? "not there"} by itself`);
      }
    }
    for (const id of there.keys()) {
      if (!seen.has(id)) throw new Violation(`${id} is not in the feed`);
    }
    return there.size;
  }

  async readVersion(rest, id, { token }) {
    const answer = await rest("GET", `${this.docs}/${id}`, {
      headers: { ...keyHeader(this.keyOf(id)), ...(token ? { "x-ms-session-token": token } : {}) },
    });
    if (answer.status === 404 && answer.substatus === 0) return null;
    if (answer.status !== 200) {
      throw new Violation(`reading ${id} with the session token ${token}: ${answer.status} ` +
        `${answer.substatus}: ${answer.text.slice(0, 500)}`);
    }
    return answer.body.version;
  }
}

export async function createContainer(rest, id) {
  await rest("POST", "/dbs", { body: { id: "db" } });
  const answer = await rest("POST", "/dbs/db/colls", {
    body: { id, partitionKey: { paths: ["/pk"], kind: "Hash", version: 2 } },
  });
  if (answer.status !== 201) throw new Violation(`cannot create ${id}: ${answer.status} ${answer.text}`);
}
