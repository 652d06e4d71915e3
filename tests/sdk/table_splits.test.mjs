// The Table face over range placement: tables that split by bytes, while clients notice nothing; and group
// transactions through splits and a kill. Two servers, about half a minute.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import { eventually, together } from "./expect.mjs";
import { all, rawOf, refused, sharedTables, startTables, tableClient } from "./table.mjs";

const pad = "x".repeat(4000);
const limits = { "physical-partition-bytes": 1_000_000 };

// How many physical partitions a table has, as the Cosmos DB face tells them.
async function partitions(server, table) {
  const answer = await server.rest()("GET", `/dbs/table:tables/colls/${table.tableName.toLowerCase()}/pkranges`);
  assert.equal(answer.status, 200, answer.text);
  return answer.body.PartitionKeyRanges.length;
}

async function splitted(server, table, count) {
  await eventually(async () => (await partitions(server, table)) >= count, { what: `${count} partitions` });
}

const name = (i) => `k${String(i).padStart(5, "0")}`;

describe("table splits", () => {
  const at = sharedTables({ limits });

  it("D1 D3: a table that only grows at its end splits by bytes; order, points and ranges stay as they were", async () => {
    const table = await at.table();
    const insert = (i) => () => table.createEntity({ partitionKey: name(i), rowKey: "r", i, pad });
    for (let from = 0; from < 800; from += 100) {
      await together(16, Array.from({ length: 100 }, (_, i) => insert(from + i)));
    }
    await splitted(at.server, table, 3);
    const listed = await all(table.listEntities({ queryOptions: { select: ["partitionKey", "i"] } }));
    assert.deepEqual(listed.map((one) => one.i), Array.from({ length: 800 }, (_, i) => i));
    const some = await all(table.listEntities({ queryOptions: { filter: `PartitionKey ge '${name(150)}' and PartitionKey lt '${name(650)}'` } }));
    assert.deepEqual(some.map((one) => one.i), Array.from({ length: 500 }, (_, i) => i + 150));
    assert.equal((await table.getEntity(name(433), "r")).i, 433);
    await refused(table.createEntity({ partitionKey: name(1), rowKey: "r" }), 409, "EntityAlreadyExists");
  });

  it("D3: a table with more throughput than a partition serves is cut where its load is, as keys arrive", async () => {
    assert.equal((await at.raw("POST", "Tables", { body: { TableName: "Loaded" }, headers: { "x-ms-offer-throughput": "20000" } })).status, 201);
    const table = tableClient(at.server, "Loaded");
    assert.equal(await partitions(at.server, table), 1);  // before there are keys nobody knows where to cut
    let i = 0;
    await eventually(async () => {
      await together(8, Array.from({ length: 40 }, () => () => table.upsertEntity({ partitionKey: name(i++ % 97), rowKey: "r" })));
      return (await partitions(at.server, table)) >= 2;
    }, { what: "a split by load" });
    assert.equal((await all(table.listEntities())).length, Math.min(i, 97));
  });

  it("D3: a continuation taken before splits goes on after them; every entity comes once", async () => {
    const table = await at.table();
    await together(16, Array.from({ length: 60 }, (_, i) => () => table.createEntity({ partitionKey: name(i * 10), rowKey: "r", n: i })));
    const pages = table.listEntities({ queryOptions: { filter: "n ge 0" } }).byPage({ maxPageSize: 20 });
    const first = (await pages.next()).value;
    assert.equal(first.length, 20);
    // New entities between the old ones, many enough for splits.
    await together(16, Array.from({ length: 600 }, (_, i) => () => table.upsertEntity({ partitionKey: name(i), rowKey: "s", pad })));
    await splitted(at.server, table, 2);
    const rest = [];
    for await (const page of table.listEntities({ queryOptions: { filter: "n ge 0" } })
      .byPage({ maxPageSize: 20, continuationToken: first.continuationToken })) rest.push(...page);
    assert.deepEqual([...first, ...rest].map((one) => one.n), Array.from({ length: 60 }, (_, i) => i));
  });

  it("D4: group transactions go on through splits, and each is done whole", async () => {
    const table = await at.table();
    await together(8, Array.from({ length: 60 }, (_, i) => () => table.submitTransaction(
      Array.from({ length: 10 }, (_, row) => ["create", { partitionKey: name(i), rowKey: String(row), n: row - 4.5, pad }]))));
    await splitted(at.server, table, 2);
    const found = await all(table.listEntities({ queryOptions: { select: ["n"] } }));
    assert.equal(found.length, 600);
    assert.equal(found.reduce((sum, one) => sum + one.n, 0), 0);
  });
});

describe("table crash", () => {
  let server;
  before(async () => {
    server = await startTables({ limits });
  });
  after(() => server?.close());

  it("D4: sums are kept over kills and splits: a transaction is there whole or not at all", async () => {
    const make = () => tableClient(server, "bank");
    await make().createTable();
    const keys = Array.from({ length: 6 }, (_, i) => `bank${i}`);
    for (const partitionKey of keys) {
      await make().submitTransaction(["a", "b", "c"].map((rowKey) => ["create", { partitionKey, rowKey, n: 100 }]));
    }
    let done = 0;
    // The long logs of a round fill a partition and a half, and those of all rounds no key's share: a partition that is
    // full of one key could not be split, and would take no transfers.
    const long = "x".repeat(30_000);
    const longLogs = 8;
    const acknowledged = new Map(keys.map((key) => [key, 0]));
    const transfer = async (table, partitionKey, i, text) => {
      const rows = ["a", "b", "c"];
      const [from, to] = [rows[i % 3], rows[(i + 1) % 3]];
      const [a, b] = await Promise.all([table.getEntity(partitionKey, from), table.getEntity(partitionKey, to)]);
      await table.submitTransaction([
        ["update", { partitionKey, rowKey: from, n: a.n - 1 }, "Replace", { etag: a.etag }],
        ["update", { partitionKey, rowKey: to, n: b.n + 1 }, "Replace", { etag: b.etag }],
        ["upsert", { partitionKey, rowKey: `log${i}`, text }, "Merge"]]);
      acknowledged.set(partitionKey, acknowledged.get(partitionKey) + 1);
      ++done;
    };
    assert.equal(await partitions(server, make()), 1);
    for (const kills of [1, 2, 3]) {
      let stop = false;
      const workers = keys.map(async (key, k) => {
        const filled = acknowledged.get(key) + longLogs;
        for (let i = 0; !stop; ++i) {
          const text = acknowledged.get(key) < filled ? long : "short";
          // Whatever the kill interrupts is not acknowledged; it may be done or not.
          await transfer(make(), key, kills * 100_000 + i * keys.length + k, text).catch(() => {});
        }
      });
      // What the transfers write is all that fills partitions, so they are under way at every split.
      await splitted(server, make(), kills + 1);
      const before = done;
      await eventually(async () => done >= before + 20, { what: "transfers after the split" });
      await server.kill();
      stop = true;
      await Promise.all(workers);
      await server.restart();
    }
    assert.ok((await partitions(server, make())) >= 4);
    const found = await all(make().listEntities());
    for (const key of keys) {
      const mine = found.filter((one) => one.partitionKey === key);
      const sum = mine.filter((one) => one.n !== undefined).reduce((total, one) => total + one.n, 0);
      assert.equal(sum, 300, key);
      // Each transfer that was acknowledged left its log.
      assert.ok(mine.length - 3 >= acknowledged.get(key), key);
    }
    assert.equal((await rawOf(server)("GET", "Tables('bank')")).status, 200);
  });
});
