// Bulk: many operations in few requests, each on its own.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { answers, bare, eventually } from "./expect.mjs";
import { keyHeader } from "./rest.mjs";
import { shared } from "./server.mjs";

const create = (id, pk, more = {}) => ({ operationType: "Create", partitionKey: pk, resourceBody: { id, pk, ...more } });
const codes = (results) => results.map((one) => one.statusCode);

describe("bulk", () => {
  const at = shared();
  const count = async (container) =>
    (await container.items.query("select value count(1) from c").fetchAll()).resources.reduce((a, b) => a + b, 0);

  it("A34: operations on many keys and partitions, of every kind", async () => {
    const container = await at.container({ throughput: 18_000 });
    for (let i = 0; i < 10; ++i) await container.items.create({ id: `${i}`, pk: `k${i}`, n: 0 });
    const results = await container.items.bulk([
      create("new", "k50"),
      { operationType: "Upsert", partitionKey: "k0", resourceBody: { id: "0", pk: "k0", n: 1 } },
      { operationType: "Replace", id: "1", partitionKey: "k1", resourceBody: { id: "1", pk: "k1", n: 1 } },
      { operationType: "Read", id: "2", partitionKey: "k2" },
      { operationType: "Delete", id: "3", partitionKey: "k3" },
      { operationType: "Patch", id: "4", partitionKey: "k4", resourceBody: { operations: [{ op: "incr", path: "/n", value: 5 }] } },
    ]);
    assert.deepEqual(codes(results), [201, 200, 200, 200, 204, 200]);
    assert.deepEqual(bare(results[0].resourceBody), { id: "new", pk: "k50" });
    assert.equal(results[5].resourceBody.n, 5);
    assert.ok(results.every((one) => one.requestCharge > 0));
    assert.equal(await count(container), 10);
  });

  it("one that fails does not keep the others from being done", async () => {
    const container = await at.container();
    await container.items.create({ id: "there", pk: "a" });
    const results = await container.items.bulk([
      create("1", "a"), create("there", "a"), { operationType: "Read", id: "absent", partitionKey: "a" },
      { operationType: "Delete", id: "there", partitionKey: "a", ifMatch: "\"not its etag\"" },
      { operationType: "Create", partitionKey: "a", resourceBody: { id: "mismatch", pk: "b" } },
      create("2", "a"),
    ]);
    assert.deepEqual(codes(results), [201, 409, 404, 412, 400, 201]);
    assert.equal(results[4].subStatusCode, 1001);
    assert.equal(await count(container), 3);
  });

  it("without continue-on-error what comes after a failure is not done: 424", async () => {
    const container = await at.container();
    const results = await container.items.bulk(
      [create("1", "a"), create("2", "a"), create("1", "a"), create("3", "a"), create("a/b", "a")], { continueOnError: false });
    assert.deepEqual(codes(results), [201, 201, 409, 424, 424]);
    assert.equal(await count(container), 2);
    const refused = await container.items.bulk([create("4", "a"), create("a/b", "a"), create("5", "a")], { continueOnError: false });
    assert.deepEqual(codes(refused), [201, 400, 424]);
    assert.equal(await count(container), 3);
  });

  it("operations on one item are done in order", async () => {
    const container = await at.container();
    const results = await container.items.bulk([
      create("1", "a", { n: 1 }),
      { operationType: "Read", id: "1", partitionKey: "a" },
      { operationType: "Patch", id: "1", partitionKey: "a", resourceBody: [{ op: "incr", path: "/n", value: 1 }] },
      { operationType: "Read", id: "1", partitionKey: "a" },
      { operationType: "Delete", id: "1", partitionKey: "a" },
      { operationType: "Read", id: "1", partitionKey: "a" },
    ]);
    assert.deepEqual(codes(results), [201, 200, 200, 200, 204, 404]);
    assert.equal(results[3].resourceBody.n, 2);
  });

  it("A34: executeBulkOperations, which groups and retries by itself", async () => {
    const container = await at.container({ throughput: 18_000 });
    const operations = Array.from({ length: 500 }, (_, i) => create(`${i}`, `k${i % 40}`, { i }));
    const results = await container.items.executeBulkOperations(operations);
    assert.equal(results.length, 500);
    results.forEach((one, i) => {
      assert.equal(one.response?.statusCode, 201, one.error?.message);
      assert.equal(one.response.resourceBody.i, i);
    });
    assert.equal(await count(container), 500);
    const again = await container.items.executeBulkOperations(operations.slice(0, 3));
    assert.deepEqual(again.map((one) => one.error?.code), [409, 409, 409]);
  });

  it("A10 A34: a split in the middle of a bulk load loses and doubles nothing", async () => {
    const container = await at.container();
    const total = 1200;
    let loaded = 0;
    const splits = (async () => {
      for (const share of [0.2, 0.6]) {
        await eventually(async () => loaded >= total * share, { every_ms: 5, what: "a part of the load" });
        const { code, out } = await at.server.split(container);
        assert.equal(code, 0, out);
      }
    })();
    for (let from = 0; from < total; from += 100) {
      const results = await container.items.bulk(
        Array.from({ length: 100 }, (_, i) => create(`${from + i}`, `k${(from + i) % 97}`)));
      assert.deepEqual(codes(results), Array(100).fill(201));
      loaded = from + 100;
    }
    await splits;
    assert.equal(await count(container), total);
    assert.ok((await container.readPartitionKeyRanges().fetchAll()).resources.length >= 3);
  });

  it("a key outside of the range that the request names: 410/1002, and nothing is done", async () => {
    const container = await at.container({ throughput: 12_000 });
    const path = `/dbs/db/colls/${container.id}/docs`;
    const send = (range, body) => at.rest("POST", path, { body, headers: {
      "x-ms-cosmos-is-batch-request": "True", "x-ms-cosmos-batch-atomic": "False", "x-ms-documentdb-partitionkeyrangeid": range,
    } });
    const operations = Array.from({ length: 20 }, (_, i) => ({ ...create(`${i}`, `k${i}`), partitionKey: JSON.stringify([`k${i}`]) }));
    answers(await send("0", operations), 410, { substatus: 1002 });
    answers(await send("77", operations), 410, { substatus: 1002 });
    assert.equal(await count(container), 0);
    // Without a range each finds its own.
    const all = answers(await at.rest("POST", path, { body: operations, headers: {
      "x-ms-cosmos-is-batch-request": "True", "x-ms-cosmos-batch-atomic": "False",
    } }), 200);
    assert.equal(all.headers["x-ms-session-token"].split(",").length, 2);
    assert.equal(await count(container), 20);
  });

  it("limits: 100 operations, 2 MB, and what reads bring back", async () => {
    const container = await at.container();
    const path = `/dbs/db/colls/${container.id}/docs`;
    const send = (body) => at.rest("POST", path, { body, headers: {
      ...keyHeader("a"), "x-ms-cosmos-is-batch-request": "True", "x-ms-cosmos-batch-atomic": "False" } });
    const many = Array.from({ length: 101 }, (_, i) => ({ operationType: "Read", id: `${i}` }));
    answers(await send(many), 400, { message: /100/ });
    const large = "x".repeat(1_500_000);
    answers(await send([create("1", "a", { large: large + large })].map(({ partitionKey, ...one }) => one)), 413);
    await container.items.create({ id: "large", pk: "a", large });
    const reads = answers(await send(many.slice(0, 5).map((one) => ({ ...one, id: "large" }))), 207).body;
    assert.deepEqual(codes(reads), [200, 200, 413, 413, 413]);
    assert.equal(reads[2].subStatusCode, 3402);
  });
});

describe("bulk over the budget", () => {
  const at = shared({ args: ["--throttling", "on"], clock: true });

  it("A14: single operations get 429 and the time to wait", async () => {
    const container = await at.container({ throughput: 400 });
    const large = "x".repeat(60_000);
    const upserts = Array.from({ length: 40 }, (_, i) =>
      ({ operationType: "Upsert", partitionKey: "a", resourceBody: { id: `${i}`, pk: "a", large } }));
    let throttled;
    at.server.clock.stop();  // no budget comes back
    await eventually(async () => {
      throttled = (await container.items.bulk(upserts)).find((one) => one.statusCode === 429);
      return throttled;
    }, { what: "a 429" });
    assert.equal(throttled.subStatusCode, 3200);
    assert.ok(throttled.retryAfterMilliseconds > 0);
  });
});
