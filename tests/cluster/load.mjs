// A load on one container through all nodes of a cluster, with a history of what each client saw, and what that history has
// to show: items are linearizable by strong reads, sessions keep their guarantees, and nothing that was acknowledged is lost.
//
// The account's level has to be Strong (startCluster's `args`). Requests are made by hand, each once: the vendor's client
// repeats some by itself, and then nobody knows how often a write was sent. What has no answer, or one that does not tell
// (408, 5xx), has an unknown outcome.
//
// All events are numbered in the order in which this process sees them; that is their order in real time.
import assert from "node:assert/strict";

import { until } from "./cluster.mjs";
import { keyHeader } from "../sdk/rest.mjs";
import { checkRegister } from "./linearizable.mjs";
import { brokenGuarantees } from "./session.mjs";

const docs = "/dbs/db/colls/c/docs";
// Answers that a client must be ready for while nodes fail; any other is a defect.
const unknownOutcome = new Set([408, 410, 500, 503]);
const refusals = new Set([412, 429, 449]);
const pause_ms = 4;
// A node that hangs answers nothing; then a client goes to another.
const answered_within_ms = 6_000;

export class Load {
  #clock = 0;
  #stopped = false;
  #running = [];
  #values = 0;

  constructor(cluster, { clients = 6, sessions = 3, items = 9, seed = Date.now() % 1_000_000 } = {}) {
    this.cluster = cluster;
    this.seed = seed;
    this.random = randomOf(seed);
    this.items = Array.from({ length: items }, (_, i) => `i${i}`);
    this.history = new Map(this.items.map((item) => [item, []]));
    this.sessionHistory = [];
    this.owned = [];  // items of sessions
    this.strange = [];
    this.unknown = 0;
    this.names = cluster.names;
    for (let i = 0; i < clients; ++i) this.#running.push(this.#client(i));
    for (let i = 0; i < sessions; ++i) this.#running.push(this.#session(i));
  }

  get operations() {
    return [...this.history.values()].reduce((sum, all) => sum + all.length, this.sessionHistory.length);
  }

  // Until every item was written once more through one of these nodes by requests that began after now. Returns how many
  // ms that took.
  async isServedBy(names, since = performance.now()) {
    let last = 0;
    await until(`every item is written through ${names}`, () => this.items.every((item) => {
      const first = this.history.get(item).find((one) =>
        one.kind !== "read" && one.returned !== Infinity && one.called_ms >= since && names.includes(one.node));
      if (first) last = Math.max(last, first.returned_ms);
      return first;
    }));
    return Math.round(last - since);
  }

  async stop() {
    this.#stopped = true;
    await Promise.all(this.#running);
  }

  // Ends the load, reads every item at every node that is left, and looks at all that was seen.
  async finish() {
    await this.stop();
    for (const name of this.cluster.names) {
      for (const item of this.items) {
        await until(`${item} can be read at ${name}`, () => !this.cluster.nodes.has(name) || this.#read("last", name, item));
      }
    }
    for (const { item, versions } of this.owned) {
      const found = await until(`${item} can be read`, async () => {
        const answer = await this.#ask(this.cluster.names[0], "GET", `${docs}/${item}`, { headers: keyHeader(item) });
        return answer && [200, 404].includes(answer.status) && { version: answer.body?.version ?? 0 };
      });
      const least = versions.acknowledged;
      assert.ok(found.version >= least, `${item}: ${least} was acknowledged and ${found.version} is there`);
    }
    const seed = `seed ${this.seed}`;
    assert.deepEqual(this.strange, [], seed);
    for (const [item, operations] of this.history) {
      const found = checkRegister(operations);
      assert.ok(found.ok, `${item} is not linearizable (${seed}): ${found.why}\n${found.history?.join("\n")}`);
    }
    assert.deepEqual(brokenGuarantees(this.sessionHistory), [], seed);
    return { operations: this.operations, unknown: this.unknown };
  }

  // --- clients of strong reads -------------------------------------------------------------------

  async #client(client) {
    let home = this.names[client % this.names.length];
    const tags = new Map();  // item → what this client knows last: {value, etag}
    while (!this.#stopped) {
      const item = this.#one(this.items);
      const dice = this.random(10);
      const known = tags.get(item);
      const done = dice < 5 ? await this.#read(client, home, item)
        : dice < 8 || !known?.etag ? await this.#write(client, home, item)
          : await this.#write(client, home, item, known);
      if (done) tags.set(item, done);
      else tags.delete(item);
      home = this.#homeAfter(home, done);
      await new Promise((resolve) => setTimeout(resolve, pause_ms));
    }
  }

  // A client whose node gives no answer goes to another.
  #homeAfter(home, done) {
    if (done !== undefined && this.cluster.nodes.has(home)) return home;
    return this.#one(this.cluster.names);
  }

  #one(of) {
    return of[this.random(of.length)];
  }

  // {value, etag} or, when it was refused, null; undefined when there was no answer at all.
  async #read(client, node, item) {
    const operation = { kind: "read", client, node, called: ++this.#clock, returned: Infinity, called_ms: performance.now() };
    const answer = await this.#ask(node, "GET", `${docs}/${item}`, { headers: keyHeader(item) });
    if (!answer || ![200, 404].includes(answer.status)) return this.#noteRefusal("read", answer);
    operation.value = answer.body?.value;
    if (answer.status === 404) operation.value = undefined;
    operation.returned = ++this.#clock;
    operation.returned_ms = performance.now();
    this.history.get(item).push(operation);
    return { value: operation.value, etag: answer.body?._etag };
  }

  // With `known`, only if the item is still that.
  async #write(client, node, item, known) {
    const value = `v${++this.#values}`;
    const operation = { kind: known ? "swap" : "write", value, expected: known?.value, client, node,
      called: ++this.#clock, returned: Infinity, called_ms: performance.now() };
    const body = { id: item, pk: item, value };
    const answer = known
      ? await this.#ask(node, "PUT", `${docs}/${item}`, { body, headers: { ...keyHeader(item), "if-match": known.etag } })
      : await this.#ask(node, "POST", docs, { body, headers: { ...keyHeader(item), "x-ms-documentdb-is-upsert": "True" } });
    if (answer && [200, 201].includes(answer.status)) {
      operation.returned = ++this.#clock;
      operation.returned_ms = performance.now();
      this.history.get(item).push(operation);
      return { value, etag: answer.body._etag };
    }
    // One that was not even sent has not happened; nor has one that was refused.
    if (!answer || !refusals.has(answer.status)) this.history.get(item).push(operation);
    return this.#noteRefusal(operation.kind, answer);
  }

  #noteRefusal(kind, answer) {
    if (!answer) return undefined;
    if (unknownOutcome.has(answer.status)) ++this.unknown;
    else if (!refusals.has(answer.status)) this.strange.push(`${kind}: ${answer.status} ${answer.text}`);
    return null;
  }

  // --- sessions ----------------------------------------------------------------------------------

  async #session(session) {
    let home = this.names[session % this.names.length];
    const tokens = new Map();  // item → the session token of the newest that was seen of it
    let own = this.#newItem(session, 0);
    for (let n = 0; !this.#stopped; ++n) {
      let done;
      if (n % 3 === 0) {
        done = await this.#writeVersion(session, home, own, tokens);
        // Its next versions would have no order with the one that nobody knows of.
        if (!done) own = this.#newItem(session, n);
      } else {
        done = await this.#readVersion(session, home, n % 3 === 1 ? own.item : this.#one(this.owned).item, tokens);
      }
      // Sessions wander, as their clients do behind a load balancer.
      home = n % 5 === 0 ? this.#one(this.cluster.names) : this.#homeAfter(home, done);
      await new Promise((resolve) => setTimeout(resolve, pause_ms));
    }
  }

  #newItem(session, n) {
    const made = { item: `s${session}-${n}`, versions: { last: 0, acknowledged: 0 } };
    this.owned.push(made);
    return made;
  }

  async #writeVersion(session, node, { item, versions }, tokens) {
    const version = ++versions.last;
    const called = ++this.#clock;
    const answer = await this.#ask(node, "POST", docs, {
      body: { id: item, pk: item, version }, headers: { ...keyHeader(item), "x-ms-documentdb-is-upsert": "True" },
    });
    if (!answer || ![200, 201].includes(answer.status)) return this.#noteRefusal("session write", answer);
    versions.acknowledged = version;
    keepToken(tokens, item, answer);
    this.sessionHistory.push({ kind: "write", session, item, version, called, returned: ++this.#clock });
    return answer;
  }

  async #readVersion(session, node, item, tokens) {
    const called = ++this.#clock;
    const token = tokens.get(item);
    const answer = await this.#ask(node, "GET", `${docs}/${item}`, {
      headers: { ...keyHeader(item), "x-ms-consistency-level": "Session", ...(token ? { "x-ms-session-token": token } : {}) },
    });
    // 1002: it does not have what the token asks for yet.
    if (!answer || ![200, 404].includes(answer.status) || answer.substatus === 1002) {
      return answer?.substatus === 1002 ? null : this.#noteRefusal("session read", answer);
    }
    keepToken(tokens, item, answer);
    const version = answer.body?.version ?? 0;
    this.sessionHistory.push({ kind: "read", session, item, version, called, returned: ++this.#clock });
    return answer;
  }

  async #ask(name, method, path, options) {
    const node = this.cluster.nodes.get(name);
    if (!node) return undefined;
    try {
      return await node.rest({ within: answered_within_ms })(method, path, options);
    } catch {
      return undefined;
    }
  }
}

// A session keeps the token that is further; they are "RANGE:…#LSN".
function keepToken(tokens, item, answer) {
  const token = answer.headers["x-ms-session-token"];
  if (!token) return;
  const lsn = (text) => Number(/#(\d+)/.exec(text)?.[1] ?? 0);
  if (lsn(token) >= lsn(tokens.get(item) ?? "")) tokens.set(item, token);
}

function randomOf(seed) {
  let state = (seed * 2654435761 + 1) >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
