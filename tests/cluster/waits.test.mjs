// While partitions move, because an operator says so, or a node is drained, leaves or joins, no request fails, and none waits
// for longer than a second. Every request is made by hand, once: its outcome and how long it took are kept.
//
// How long a request takes depends on the machine. Beside the requests for partitions that move there are others, for one
// that stays, at the same nodes and at the same time: ten times what the slowest of those took is not the move's. And of all
// changes the usual one counts, not the one during which the machine had other things to do.
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { startCluster, until } from "./cluster.mjs";
import { keyHeader } from "../sdk/rest.mjs";

const longest_ms = 1_000;
const of_others = 10;  // see above
const upTo = (count) => Array.from({ length: count }, (_, i) => i);
const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

// Clients that write and read items by turns, each with keys of its own, in the container "c", whose partitions move, and in
// "still", whose one partition does not.
class Clients {
  #stopped = false;
  #running = [];

  constructor(cluster, counts) {
    this.cluster = cluster;
    this.names = cluster.names;  // that they may ask
    this.requests = [];
    this.written = new Map();
    for (const [container, count] of Object.entries(counts)) {
      for (const i of upTo(count)) this.#running.push(this.#client(container, `${container}${i}`));
    }
  }

  async #client(container, id) {
    const docs = `/dbs/db/colls/${container}/docs`;
    for (let n = 0; !this.#stopped; ++n) {
      const name = this.names[n % this.names.length];
      const rest = this.cluster.nodes.get(name).rest();
      const request = { container, id, name, began: performance.now() };
      this.requests.push(request);
      const headers = keyHeader(id);
      try {
        const answer = n % 2 === 0
          ? await rest("POST", docs, { body: { id, pk: id, n }, headers: { ...headers, "x-ms-documentdb-is-upsert": "True" } })
          : await rest("GET", `${docs}/${id}`, { headers });
        request.status = answer.status;
        if (n % 2 === 0) this.written.set(`${docs}/${id}`, n);
        else if (answer.body?.n !== n - 1) request.status = `read ${answer.body?.n} and not ${n - 1}: ${answer.text}`;
      } catch (error) {
        request.status = error.message;
      }
      request.ended = performance.now();
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  // Until each client has had answers to so many more requests.
  async more(count) {
    const from = performance.now();
    await until("the clients go on", () => {
      const answered = new Map();
      for (const { id, began, ended } of this.requests) {
        if (began >= from && ended) answered.set(id, (answered.get(id) ?? 0) + 1);
      }
      return answered.size === this.#running.length && [...answered.values()].every((one) => one >= count);
    });
  }

  async stop() {
    this.#stopped = true;
    await Promise.all(this.#running);
  }

  // The longest waits of requests that were under way in that time, by container.
  waits(from, to) {
    const waits = { c: 0, still: 0 };
    for (const { container, began, ended = to } of this.requests) {
      if (began < to && ended > from) waits[container] = Math.max(waits[container], ended - began);
    }
    return waits;
  }

  get failures() {
    return this.requests.filter(({ status }) => status !== 200 && status !== 201);
  }
}

describe("partitions that move", () => {
  test("drains, joins, leaves and moves under load: no request fails, none waits for a second", async () => {
    const cluster = await startCluster(["n1", "n2", "n3"], { steady: true });
    let clients;
    try {
      const { database } = await cluster.nodes.get("n1").client().databases.createIfNotExists({ id: "db" });
      await database.containers.create({ id: "c", partitionKey: "/pk", throughput: 40_000 });
      await database.containers.create({ id: "still", partitionKey: "/pk", throughput: 10_000 });
      const [{ node: home }] = await cluster.settled("db", "still");
      const [leaving, other] = cluster.names.filter((name) => name !== home);
      assert.equal((await cluster.command(home, "rebalance")).code, 0);
      const has = async (name) => (await cluster.partitions("db", "c", home)).filter(({ node }) => node === name);
      await until("all nodes serve", async () => (await has(leaving)).length > 0 && (await has(other)).length > 0);
      clients = new Clients(cluster, { c: 8, still: 3 });
      await clients.more(4);

      const changes = [];
      const change = async (what, action) => {
        const from = performance.now();
        await action();
        await clients.more(4);
        const { c, still } = clients.waits(from, performance.now());
        changes.push({ what, c: Math.round(c), still: Math.round(still), own: c - of_others * still });
      };
      const run = async (...args) => {
        const { code, out } = await cluster.command(home, ...args);
        assert.equal(code, 0, out);
      };
      for (const to of [other, leaving, other, leaving]) {
        const range = (await cluster.partitions("db", "c", home)).find(({ node }) => node !== to);
        await change("move", async () => {
          await run("move", "db/c", String(range.id), to);
          await until("it has moved", async () => (await has(to)).some(({ id }) => id === range.id));
        });
      }
      await run("rebalance");  // what was moved by hand is not to stay where it is
      for (let i = 0; i < 2; ++i) {
        await until("it serves something", async () => (await has(leaving)).length > 0);
        await change("drain", () => run("drain", leaving));
        assert.deepEqual(await has(leaving), []);
        await change("come back", async () => {
          await run("undrain", leaving);
          await run("rebalance");
          await until("it serves again", async () => (await has(leaving)).length > 0);
        });
      }
      clients.names = cluster.names.filter((name) => name !== leaving);
      await clients.more(1);  // none is under way at the node that stops
      await change("leave", () => cluster.remove(leaving));
      await change("join", async () => {
        await cluster.add("spare");
        await run("rebalance");
        await until("the new node serves something", async () => (await has("spare")).length > 0);
      });
      await clients.stop();

      for (const { what, c, still } of changes) console.log(`# ${what}: waited for ${c} ms at most, ${still} ms for what stayed`);
      assert.deepEqual(clients.failures, []);
      const usual = median(changes.map(({ own }) => own));
      assert.ok(usual <= longest_ms, `a request waits for ${Math.round(usual)} ms while its partition moves`);
      for (const [path, n] of clients.written) {
        const id = path.split("/").at(-1);
        const { body } = await cluster.nodes.get("spare").rest()("GET", path, { headers: keyHeader(id) });
        assert.equal(body.n, n);
      }
    } catch (error) {
      console.log(cluster.logs);
      throw error;
    } finally {
      await clients?.stop();
      await cluster.close();
    }
  });
});
