// Batches and bulk requests in HybridRow, as .NET clients send them and read their answers, and items in binary JSON. A few
// seconds.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { answers, bare, eventually, fails } from "./expect.mjs";
import { decodeResults, encodeBatch } from "./hybrid_rows.mjs";
import { keyHeader } from "./rest.mjs";
import { shared } from "./server.mjs";

const item = (id, more = {}) => ({ id, pk: "a", ...more });
const create = (id, more = {}) => ({ operationType: "Create", resourceBody: item(id, more) });
const codes = (results) => results.map((one) => one.statusCode);

describe("batches in HybridRow", () => {
  const at = shared();
  const post = (container, body, headers) => at.rest("POST", `/dbs/db/colls/${container.id}/docs`,
    { body, headers: { "x-ms-cosmos-is-batch-request": "True", ...headers } });
  const transact = (container, list) => post(container, encodeBatch(list),
    { "x-ms-cosmos-batch-atomic": "True", "x-ms-cosmos-batch-ordered": "True", ...keyHeader("a") });
  const bulk = (container, list, headers = {}) => post(container, encodeBatch(list),
    { "x-ms-cosmos-batch-atomic": "False", "x-ms-cosmos-batch-continue-on-error": "True", ...headers });

  it("every kind of operation in one transaction, answered in HybridRow", async () => {
    const container = await at.container();
    for (const id of ["replaced", "deleted", "patched", "read"]) await container.items.create(item(id, { n: 1 }));
    const long = "x".repeat(100_000);
    const answer = answers(await transact(container, [
      create("created", { long }),
      { operationType: "Upsert", resourceBody: item("new"), minimalReturnPreference: true },
      { operationType: "Replace", id: "replaced", resourceBody: item("replaced", { n: 2 }) },
      { operationType: "Delete", id: "deleted" },
      { operationType: "Patch", id: "patched", resourceBody: { operations: [{ op: "incr", path: "/n", value: 4 }] } },
      { operationType: "Read", id: "read" },
    ]), 200);
    assert.equal(answer.headers["content-type"], "application/octet-stream");
    assert.match(answer.headers["x-ms-session-token"], /^\d+:-1#\d+$/);
    const results = decodeResults(answer.bytes);
    assert.deepEqual(codes(results), [201, 201, 200, 204, 200, 200]);
    const [created, minimal, replaced, deleted, patched, read] = results;
    assert.deepEqual(bare(created.resourceBody), item("created", { long }));
    assert.equal(created.eTag, created.resourceBody._etag);
    assert.equal(minimal.resourceBody, undefined);
    assert.equal(replaced.resourceBody.n, 2);
    assert.deepEqual([deleted.eTag, deleted.resourceBody], [undefined, undefined]);
    assert.equal(patched.resourceBody.n, 5);
    assert.deepEqual(read.resourceBody, (await container.item("read", "a").read()).resource);
    assert.ok(results.every((one) => one.requestCharge > 0));
    assert.equal(Number(answer.headers["x-ms-request-charge"]),
      Number(results.reduce((sum, one) => sum + one.requestCharge, 0).toFixed(2)));
    assert.deepEqual((await container.item("created", "a").read()).resource, created.resourceBody);
    await fails(container.item("deleted", "a").read(), 404);
  });

  it("a transaction that fails does nothing, and says which operation failed", async () => {
    const container = await at.container();
    const { resource } = await container.items.create(item("there"));
    const answer = answers(await transact(container, [create("1"), create("there"), create("2")]), 207);
    assert.deepEqual(codes(decodeResults(answer.bytes)), [424, 409, 424]);
    const conditions = answers(await transact(container, [
      { operationType: "Read", id: "there", ifNoneMatch: resource._etag },
      { operationType: "Delete", id: "there", ifMatch: "\"another\"" },
    ]), 207);
    assert.deepEqual(codes(decodeResults(conditions.bytes)), [424, 412]);
    assert.deepEqual((await container.items.readAll().fetchAll()).resources.map(({ id }) => id), ["there"]);
  });

  it("bulk: each operation has its own key and its own result", async () => {
    const container = await at.container();
    await container.items.create(item("there"));
    const one = (operationType, id, pk, more = {}) => ({ operationType, id, partitionKey: JSON.stringify([pk]), ...more });
    const answer = answers(await bulk(container, [
      { operationType: "Create", partitionKey: '["b"]', resourceBody: { id: "1", pk: "b" } },
      { operationType: "Upsert", partitionKey: '["c"]', resourceBody: { id: "1", pk: "c" }, minimalReturnPreference: true },
      one("Read", "absent", "a"), one("Delete", "there", "a"),
      { operationType: "Create", partitionKey: '["b"]', resourceBody: { id: "2", pk: "other" } },
    ], { "x-ms-documentdb-partitionkeyrangeid": "0" }), 207);
    const results = decodeResults(answer.bytes);
    assert.deepEqual(codes(results), [201, 201, 404, 204, 400]);
    assert.equal(results[4].subStatusCode, 1001);
    assert.deepEqual(bare(results[0].resourceBody), { id: "1", pk: "b" });
    const all = answers(await bulk(container, [one("Read", "1", "b"), one("Read", "1", "c")]), 200);
    assert.deepEqual(decodeResults(all.bytes).map((result) => result.resourceBody.pk), ["b", "c"]);
  });

  it("what is damaged is refused whole, with a JSON error, and nothing of it is done", async () => {
    const container = await at.container();
    const good = encodeBatch([create("1"), create("2")]);
    const flipped = Buffer.from(good);
    flipped[good.length - 3] ^= 1;
    const headers = { "x-ms-cosmos-batch-atomic": "True", ...keyHeader("a") };
    for (const [body, message] of [
      [flipped, /CRC/], [good.subarray(0, good.length - 5), /longer than what was sent/], [good.subarray(0, 10), /no operations/],
    ]) {
      answers(await post(container, body, headers), 400, { message });
    }
    const many = Array.from({ length: 101 }, (_, i) => create(`${i}`));
    answers(await post(container, encodeBatch(many), headers), 400, { message: /more than 100/ });
    assert.deepEqual((await container.items.readAll().fetchAll()).resources, []);
  });
});

// A string, and an object of one level with texts and numbers below 32, in binary JSON.
const binaryString = (text) => (text === "id" ? Buffer.from([0x2c]) : Buffer.concat([Buffer.from([0x80 + text.length]), Buffer.from(text)]));
function binaryItem(object) {
  const parts = Object.entries(object).flatMap(([name, value]) =>
    [binaryString(name), typeof value === "number" ? Buffer.from([value]) : binaryString(value)]);
  const bytes = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([0x80, 0xea, bytes.length]), bytes]);
}

describe("binary JSON", () => {
  const at = shared();

  it("items are read in it, alone and in batches, and kept as any others", async () => {
    const container = await at.container();
    const docs = `/dbs/db/colls/${container.id}/docs`;
    const send = (method, path, body, headers = {}) => at.rest(method, path, { body: binaryItem(body), headers: { ...keyHeader("a"), ...headers } });
    const created = answers(await send("POST", docs, item("1", { n: 5 })), 201);
    assert.deepEqual(bare(created.body), item("1", { n: 5 }));
    answers(await send("POST", docs, item("1", { n: 6 }), { "x-ms-documentdb-is-upsert": "True" }), 200);
    answers(await send("PUT", `${docs}/1`, item("1", { n: 7 })), 200);
    assert.equal((await container.item("1", "a").read()).resource.n, 7);
    const batch = answers(await at.rest("POST", docs, {
      body: encodeBatch([{ operationType: "Create", resourceBody: binaryItem(item("2", { n: 8 })) }, create("3")]),
      headers: { "x-ms-cosmos-is-batch-request": "True", "x-ms-cosmos-batch-atomic": "True", ...keyHeader("a") } }), 200);
    assert.deepEqual(decodeResults(batch.bytes).map((one) => bare(one.resourceBody)), [item("2", { n: 8 }), item("3")]);
    const found = await container.items.query("select value c.n from c where c.n > 6 order by c.n").fetchAll();
    assert.deepEqual(found.resources, [7, 8]);
    for (const body of [Buffer.from([0x80]), Buffer.from([0x80, 0xea, 0xff, 0x2c]), Buffer.from([0x80, 0x05]), Buffer.from([0x80, 0xd3])]) {
      answers(await at.rest("POST", docs, { body, headers: keyHeader("a") }), 400);
    }
  });

  it("an item is answered in it to who asks for that alone; who takes text as well gets text", async () => {
    const container = await at.container();
    const docs = `/dbs/db/colls/${container.id}/docs`;
    const formats = (list) => ({ "x-ms-cosmos-supported-serialization-formats": list });
    const created = answers(await at.rest("POST", docs, { body: item("1"), headers: { ...keyHeader("a"), ...formats("CosmosBinary") } }), 201);
    const read = answers(await at.rest("GET", `${docs}/1`, { headers: { ...keyHeader("a"), ...formats("CosmosBinary") } }), 200);
    assert.deepEqual(read.bytes, created.bytes);
    assert.deepEqual(read.bytes.subarray(0, 2), Buffer.from([0x80, 0xec]));
    assert.equal(read.bytes.readUInt32LE(2), read.bytes.length - 6);
    assert.deepEqual(read.bytes.subarray(6, 13), Buffer.concat([binaryString("id"), binaryString("1"), binaryString("pk"), binaryString("a")]).subarray(0, 7));
    for (const list of ["JsonText", "JsonText,CosmosBinary", "CosmosBinary, JsonText", "HybridRow", ""]) {
      assert.equal(answers(await at.rest("GET", `${docs}/1`, { headers: { ...keyHeader("a"), ...formats(list) } }), 200).body.id, "1");
    }
    // Errors and feeds are text for everybody.
    answers(await at.rest("GET", `${docs}/absent`, { headers: { ...keyHeader("a"), ...formats("CosmosBinary") } }), 404);
    assert.equal(answers(await at.rest("GET", docs, { headers: formats("CosmosBinary") }), 200).body._count, 1);
  });
});

describe("batches in HybridRow over the budget", () => {
  const at = shared({ args: ["--throttling", "on"], clock: true });

  it("an operation without throughput is refused alone, with the time to wait", async () => {
    const container = await at.container({ throughput: 400 });
    const headers = { "x-ms-cosmos-is-batch-request": "True", "x-ms-cosmos-batch-atomic": "False" };
    const list = Array.from({ length: 100 }, (_, i) => ({
      operationType: "Upsert", partitionKey: '["a"]', resourceBody: item(`${i}`, { text: "x".repeat(15_000) }),
    }));
    at.server.clock.stop();  // no budget comes back
    const throttled = await eventually(async () => {
      const answer = await at.rest("POST", `/dbs/db/colls/${container.id}/docs`, { body: encodeBatch(list), headers });
      return answer.status === 207 && decodeResults(answer.bytes).find((one) => one.statusCode === 429);
    }, { every_ms: 0, what: "a 429" });
    assert.equal(throttled.subStatusCode, 3200);
    assert.ok(throttled.retryAfterMilliseconds > 0);
  });
});
