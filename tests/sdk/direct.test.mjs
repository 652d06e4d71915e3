// Direct mode (RNTBD) by hand: addresses, the frames of a connection, and what the Java SDK in tests/clients does
// not show. Some seconds.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { answers } from "./expect.mjs";
import { decodeResults, encodeBatch } from "./hybrid_rows.mjs";
import { authorization } from "./rest.mjs";
import { DirectConnection } from "./rntbd.mjs";
import { shared } from "./server.mjs";

const container = "dbs/direct/colls/items";

describe("direct mode", () => {
  const at = shared({ args: ["--direct-port", "0"] });
  let made;

  // The container, and a connection; once.
  async function ready() {
    made ??= (async () => {
      const { database } = await at.client.databases.createIfNotExists({ id: "direct" });
      await database.containers.createIfNotExists({ id: "items", partitionKey: "/pk" });
      const { body } = answers(await at.rest("GET", `/${container}`), 200);
      const feed = `${body._self}docs`;
      return { rid: body._rid, feed, addresses: await addressesOf(feed, body._rid) };
    })();
    return made;
  }

  async function addressesOf(feed, rid, { path = "/addresses/", ranges = "0" } = {}) {
    const date = new Date().toUTCString();
    const { body } = answers(await at.rest("GET",
      `${path}?$resolveFor=${encodeURIComponent(feed)}&$filter=protocol%20eq%20rntbd&$partitionKeyRangeIds=${ranges}`,
      { headers: { "x-ms-date": date, host: "localhost:1",
        authorization: authorization(at.server.key, "GET", { type: "docs", link: rid.toLowerCase() }, date) } }), 200);
    return body;
  }

  const portOf = (addresses) => Number(new URL(addresses.Addresss[0].physcialUri.replace("rntbd:", "http:")).port);
  const pathOf = (addresses, primary = true) => new URL(addresses.Addresss.find((one) => one.isPrimary === primary)
    .physcialUri.replace("rntbd:", "http:")).pathname.replace(/\/$/, "");
  const signedFor = (verb, id) => ({ verb, type: "docs", link: id === undefined ? container : `${container}/docs/${id}` });

  async function connect(t) {
    const { addresses } = await ready();
    const connection = await DirectConnection.open(portOf(addresses));
    t.after(() => connection.close());
    const names = { database: "direct", container: "items", replicaPath: pathOf(addresses) };
    const ask = (operation, { id, keys = ["a"], key = keys[0], body, tokens = {}, verb = "post" } = {}) =>
      connection.send(["item", operation],
        { ...names, ...(key === undefined ? {} : { key: JSON.stringify([key]) }), ...(id === undefined ? {} : { item: id }), ...tokens },
        { key: at.server.key, signed: signedFor(verb, id), body });
    return { connection, ask, names };
  }

  it("addresses: two for each range, at the host that the client dialled, in both spellings of the path", async () => {
    const { rid, feed, addresses } = await ready();
    assert.deepEqual(addresses.Addresss.map(({ isPrimary, protocol, partitionKeyRangeId }) =>
      [isPrimary, protocol, partitionKeyRangeId]), [[true, "rntbd", "0"], [false, "rntbd", "0"]]);
    assert.equal(addresses._count, 2);
    assert.match(addresses.Addresss[0].physcialUri, /^rntbd:\/\/localhost:\d+\/apps\/.*p\/$/);
    assert.match(addresses.Addresss[1].physcialUri, /s\/$/);
    assert.deepEqual(await addressesOf(feed, rid, { path: "//addresses/" }), addresses);
    assert.equal((await addressesOf(feed, rid, { ranges: "17" }))._count, 0);
  });

  it("addresses: of databases and users, signed as their feed", async () => {
    const date = new Date().toUTCString();
    const ask = (type) => at.rest("GET", "/addresses/?$resolveFor=dbs&$filter=protocol%20eq%20rntbd", { headers: {
      "x-ms-date": date, authorization: authorization(at.server.key, "GET", { type, link: "" }, date) } });
    assert.equal(answers(await ask("dbs"), 200).body._count, 2);
    answers(await ask("docs"), 401);
  });

  it("addresses: of what makes no sense, and of nothing", async () => {
    for (const query of ["", "?$resolveFor=", "?$resolveFor=addresses", "?$resolveFor=dbs%2Fx", "?$resolveFor=%zz",
      `?${"$resolveFor=addresses?".repeat(1000)}`]) {
      answers(await at.rest("GET", `/addresses/${query}`), 400);
    }
  });

  it("a connection begins with its context, which is also how clients look whether it lives", async (t) => {
    const { connection } = await connect(t);
    assert.equal(connection.context.status, 200);
    assert.equal((await connection.exchangeContext()).status, 200);
  });

  it("a request before the context is refused, and the connection closed", async (t) => {
    const { addresses } = await ready();
    const connection = await DirectConnection.open(portOf(addresses), { context: false });
    t.after(() => connection.close());
    const refusal = connection.answer("context");
    connection.send(["item", "read"], { database: "direct" }).catch(() => {});
    assert.equal((await refusal).status, 400);
    await connection.closed;
  });

  it("items: what over HTTP are headers comes as tokens", async (t) => {
    const { ask } = await connect(t);
    const created = await ask("create", { body: { id: "1", pk: "a", n: 1 } });
    assert.equal(created.status, 201);
    assert.equal(created.body.n, 1);
    assert.ok(created.tokens.charge > 0);
    assert.match(created.tokens.sessionToken, /^-1#\d+$/);
    assert.equal(created.tokens.range, "0");
    assert.equal(created.tokens.ownerFullName, container);
    assert.equal(created.tokens.lsn, created.tokens.quorumAckedLsn);
    assert.equal(created.tokens.replicaSetSize, 1);
    const read = await ask("read", { id: "1", verb: "get", tokens: { sessionToken: `0:${created.tokens.sessionToken}` } });
    assert.equal(read.status, 200);
    assert.equal(read.body._etag, created.body._etag);
    assert.equal(read.tokens.etag, created.tokens.etag);
    const known = await ask("read", { id: "1", verb: "get", tokens: { match: read.tokens.etag } });
    assert.equal(known.status, 304);
    assert.equal(known.body, undefined);
    const lost = await ask("replace", { id: "1", verb: "put", body: { id: "1", pk: "a" }, tokens: { match: '"0"' } });
    assert.equal(lost.status, 412);
    const quiet = await ask("upsert", { body: { id: "1", pk: "a", n: 2 }, tokens: { returnPreference: 1 } });
    assert.equal(quiet.status, 200);
    assert.equal(quiet.body, undefined);
    assert.equal((await ask("delete", { id: "1", verb: "delete" })).status, 204);
    const gone = await ask("read", { id: "1", verb: "get" });
    assert.equal(gone.status, 404);
    assert.equal(gone.body.code, "NotFound");
    assert.ok(gone.tokens.lsn > 0);
  });

  it("answers come in any order, each with the id of its request", async (t) => {
    const { ask } = await connect(t);
    const made = await Promise.all(Array.from({ length: 200 }, (_, n) =>
      ask("upsert", { key: `k${n}`, body: { id: `m${n}`, pk: `k${n}`, n } })));
    assert.ok(made.every(({ status }) => status === 201));
    const read = await Promise.all(made.map((_, n) => ask("read", { id: `m${n}`, key: `k${n}`, verb: "get" })));
    assert.deepEqual(read.map(({ body }) => body.n), made.map((_, n) => n));
  });

  it("payloads that are larger than a connection's own memory", async (t) => {
    const { ask } = await connect(t);
    const text = "x".repeat(300_000);
    const made = await Promise.all([1, 2, 3].map((n) => ask("upsert", { body: { id: `large${n}`, pk: "a", text } })));
    assert.deepEqual(made.map(({ status }) => status), [201, 201, 201]);
    assert.equal((await ask("read", { id: "large2", verb: "get" })).body.text, text);
  });

  it("a signature that does not fit is refused, for what is large before it is read", async (t) => {
    const { connection, names } = await connect(t);
    const signed = signedFor("post", "another");
    const tokens = { ...names, key: '["a"]' };
    assert.equal((await connection.send(["item", "create"], tokens,
      { key: at.server.key, signed, body: { id: "1", pk: "a" } })).status, 401);
    assert.equal((await connection.send(["item", "create"], tokens,
      { key: at.server.key, signed, body: { id: "1", pk: "a", text: "x".repeat(300_000) } })).status, 401);
    await connection.closed;
  });

  it("batches and bulk requests in HybridRow, as .NET sends them, are answered in it", async (t) => {
    const { ask } = await connect(t);
    const batch = (list, tokens) => ask("batch", { body: encodeBatch(list), tokens, ...(tokens.batchAtomic ? {} : { keys: [] }) });
    const create = (id, more = {}) => ({ operationType: "Create", resourceBody: { id, pk: "a", ...more } });
    const long = "x".repeat(100_000);
    const made = await batch([create("h1", { long }), create("h2"), { operationType: "Read", id: "h2" }], { batchAtomic: 1 });
    assert.equal(made.status, 200, made.body?.message);
    const results = decodeResults(made.payload);
    assert.deepEqual(results.map((one) => one.statusCode), [201, 201, 200]);
    assert.equal(results[0].resourceBody.long, long);
    assert.equal(results[2].eTag, results[1].eTag);
    const failed = await batch([create("h3"), create("h1")], { batchAtomic: 1 });
    assert.equal(failed.status, 207);
    assert.deepEqual(decodeResults(failed.payload).map((one) => one.statusCode), [424, 409]);
    assert.equal((await ask("read", { id: "h3", verb: "get" })).status, 404, "nothing of it was done");
    const bulk = await batch([
      { operationType: "Upsert", partitionKey: '["b"]', resourceBody: { id: "h4", pk: "b" } },
      { operationType: "Read", id: "absent", partitionKey: '["a"]' },
      { operationType: "Delete", id: "h1", partitionKey: '["a"]' },
    ], { batchAtomic: 0, continueOnError: 1, range: "0" });
    assert.equal(bulk.status, 207, bulk.body?.message);
    assert.deepEqual(decodeResults(bulk.payload).map((one) => one.statusCode), [201, 404, 204]);
    const broken = await ask("batch", { body: encodeBatch([create("h5")]).subarray(0, 20), tokens: { batchAtomic: 1 } });
    assert.equal(broken.status, 400);
  });

  it("queries go to a range, page by page", async (t) => {
    const { ask } = await connect(t);
    for (let n = 0; n < 5; ++n) await ask("upsert", { key: "q", body: { id: `q${n}`, pk: "q", n } });
    const query = { query: "SELECT VALUE c.n FROM c WHERE c.pk = @pk", parameters: [{ name: "@pk", value: "q" }] };
    const found = [];
    let continuation;
    do {
      const page = await ask("query", { key: "q", body: query,
        tokens: { range: "0", pageSize: 2, queryMetrics: 1, ...(continuation ? { continuation } : {}) } });
      assert.equal(page.status, 200);
      assert.match(page.tokens.queryMetrics, /totalExecutionTimeInMs/);
      found.push(...page.body.Documents);
      ({ continuation } = page.tokens);
    } while (continuation);
    assert.deepEqual(found.sort(), [0, 1, 2, 3, 4]);
  });

  it("databases: strong reads are not refused, and have an LSN, also when there is none", async (t) => {
    const { connection } = await connect(t);
    const read = (database) => connection.send(["database", "read"], { database, consistency: 0 },
      { key: at.server.key, signed: { verb: "get", type: "dbs", link: `dbs/${database}` } });
    const there = await read("direct");
    assert.equal(there.status, 200);
    assert.ok(there.tokens.lsn > 0 && there.tokens.lsn === there.tokens.quorumAckedLsn);
    const nowhere = await read("nowhere");
    assert.equal(nowhere.status, 404);
    assert.ok(nowhere.tokens.lsn > 0);
    const list = await connection.send(["database", "readFeed"], { consistency: 0, pageSize: 0xffffffff },
      { key: at.server.key, signed: { verb: "get", type: "dbs", link: "" } });
    assert.ok(list.body.Databases.some(({ id }) => id === "direct"));
  });

  it("barriers have reached what they ask for", async (t) => {
    const { connection, names } = await connect(t);
    const barrier = await connection.send(["container", "head"], { ...names, key: '["a"]', targetLsn: 3 },
      { key: at.server.key, signed: { verb: "head", type: "colls", link: container } });
    assert.equal(barrier.status, 200);
    assert.equal(barrier.body, undefined);
    assert.ok(barrier.tokens.lsn >= 3 && barrier.tokens.globalCommittedLsn >= 3);
  });

  it("an address of another range or container is answered with 410 and what to look up again", async (t) => {
    const { ask, names } = await connect(t);
    const stale = await ask("upsert", { body: { id: "s", pk: "a" },
      tokens: { replicaPath: names.replicaPath.replace(/0(\/replicas)/, "9$1") } });
    assert.deepEqual([stale.status, stale.tokens.substatus], [410, 1007]);
    const range = await ask("readFeed", { verb: "get", tokens: { range: "9" } });
    assert.deepEqual([range.status, range.tokens.substatus], [410, 1002]);
    const other = await ask("upsert", { body: { id: "s", pk: "a" },
      tokens: { replicaPath: names.replicaPath.replace(/.(\/partitions)/, "0$1").replace(/[0-9a-f]{4}0(\/partitions)/, "fff00$1") } });
    assert.deepEqual([other.status, other.tokens.substatus], [410, 1000]);
  });

  it("what it does not know is answered, and the connection goes on", async (t) => {
    const { connection, ask } = await connect(t);
    assert.equal((await connection.send(["item", "read"], { database: "direct" })).status, 400);
    assert.equal((await ask("read", { id: "none", verb: "get" })).status, 404);
  });

  it("bytes that are no frame end the connection", async (t) => {
    const { connection } = await connect(t);
    connection.socket.write(Buffer.from("GET / HTTP/1.1\r\n\r\n"));
    await connection.closed;
  });
});

describe("direct mode that is off", () => {
  const at = shared();

  it("addresses say how to turn it on", async () => {
    const date = new Date().toUTCString();
    const answer = await at.rest("GET", "/addresses/?$resolveFor=dbs", { headers: {
      "x-ms-date": date, authorization: authorization(at.server.key, "GET", { type: "dbs", link: "" }, date) } });
    assert.ok(answer.status >= 400);
    assert.match(answer.body.message, /--direct-port/);
  });
});
