// The Table face of several nodes, in both flavours: any of them answers for all. Three nodes each, about half a minute.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { freePort } from "../sdk/server.mjs";
import { all, devCredential, rawOf, tableClient } from "../sdk/table.mjs";
import { startCluster, until } from "./cluster.mjs";

// Inside describe(): three nodes with the Table face. at.nodes() are those that live.
function tableNodes(...args) {
  const at = { nodes: () => [...at.cluster.nodes.values()] };
  const ports = new Map();
  before(async () => {
    at.cluster = await startCluster(["n1", "n2", "n3"], {
      steady: true,
      args: async (name) => {
        ports.set(name, await freePort());
        return ["--table-port", String(ports.get(name)), ...args];
      },
    });
    for (const [name, node] of at.cluster.nodes) node.tablePort = ports.get(name);
  });
  after(() => at.cluster?.close());
  return at;
}

// On a busy machine a new partition may have no node for some seconds: the client waits, as it does of itself.
const patient = { retryOptions: { maxRetries: 20, maxRetryDelayInMs: 1000 } };
const clientsOf = (nodes, table) => nodes.map((node) => tableClient(node, table, devCredential(), patient));

// [{id, node, …}], once they are at more than one node and there are enough.
async function spread(node, container, least = 2) {
  return until(`${least} partitions of several nodes`, async () => {
    const reply = await node.rest()("GET", `/admin/partitions?face=table&database=tables&container=${container}`);
    assert.equal(reply.status, 200, reply.text);
    const { partitions } = reply.body;
    return partitions.length >= least && new Set(partitions.map((one) => one.node)).size > 1 && partitions;
  });
}

describe("tables of several nodes", () => {
  const { nodes } = tableNodes("--table-flavour", "cosmos");

  test("any node makes tables, writes and reads entities, runs batches and pages of queries", async () => {
    const made = await rawOf(nodes()[1])("POST", "Tables", { body: { TableName: "Spread" }, headers: { "x-ms-offer-throughput": "40000" } });
    assert.equal(made.status, 201, made.text);
    // Every other node knows it at once, or asks.
    for (const node of nodes()) assert.equal((await rawOf(node)("GET", "Tables('spread')")).status, 200);
    const clients = clientsOf(nodes(), "Spread");
    const keys = Array.from({ length: 30 }, (_, i) => `k${i}`);
    for (const [i, partitionKey] of keys.entries()) {
      await clients[i % 3].createEntity({ partitionKey, rowKey: "1", n: i });
      await clients[(i + 1) % 3].submitTransaction([
        ["update", { partitionKey, rowKey: "1", m: 1 }, "Merge"], ["upsert", { partitionKey, rowKey: "2", n: -i }, "Merge"]]);
    }
    await spread(nodes()[0], "spread");
    for (const client of clients) {
      for (const [i, partitionKey] of keys.entries()) {
        const read = await client.getEntity(partitionKey, "1");
        assert.deepEqual([read.n, read.m], [i, 1]);
      }
      const found = await all(client.listEntities());
      assert.equal(found.length, 60);
      assert.equal(found.reduce((sum, one) => sum + one.n, 0), 0);
      const some = await all(client.listEntities({ queryOptions: { filter: "RowKey eq '2' and n lt -20" } }));
      assert.equal(some.length, 9);
    }
    const { etag } = await clients[0].getEntity("k5", "1");
    await clients[1].updateEntity({ partitionKey: "k5", rowKey: "1", n: 500 }, "Replace", { etag });
    await assert.rejects(clients[2].deleteEntity("k5", "1", { etag }), (error) => error.statusCode === 412);
    await rawOf(nodes()[2])("DELETE", "Tables('Spread')");
    for (const node of nodes()) {
      assert.equal((await rawOf(node)("GET", "Spread(PartitionKey='k1',RowKey='1')")).status, 404);
    }
  });
});

describe("ordered tables of several nodes", () => {
  const { nodes } = tableNodes("--limit", "physical-partition-bytes=300000");

  test("a table that splits over nodes stays in the order of its keys, whichever node is asked", async () => {
    const [maker] = clientsOf(nodes(), "Ordered");
    await maker.createTable();
    const clients = clientsOf(nodes(), "Ordered");
    const name = (i) => `k${String(i).padStart(3, "0")}`;
    const long = "x".repeat(2_000);
    // Each node appends in its turn, in batches whose sum is 0.
    for (let i = 0; i < 120; ++i) {
      await clients[i % 3].submitTransaction(["a", "b", "c"].map((rowKey, n) => ["create", { partitionKey: name(i), rowKey, n: n - 1, long }]));
    }
    await spread(nodes()[0], "ordered", 3);
    const expected = Array.from({ length: 120 }, (_, i) => ["a", "b", "c"].map((row) => name(i) + row)).flat();
    for (const client of clients) {
      const listed = await all(client.listEntities({ queryOptions: { select: ["PartitionKey", "RowKey", "n"] } }));
      assert.deepEqual(listed.map((one) => one.partitionKey + one.rowKey), expected);
      assert.equal(listed.reduce((sum, one) => sum + one.n, 0), 0);
      const filter = `PartitionKey ge '${name(30)}' and PartitionKey lt '${name(90)}' and RowKey eq 'b'`;
      assert.deepEqual((await all(client.listEntities({ queryOptions: { filter } }))).map((one) => one.partitionKey),
        Array.from({ length: 60 }, (_, i) => name(30 + i)));
      for (const i of [0, 59, 119]) assert.equal((await client.getEntity(name(i), "c")).n, 1);
    }
    // A page taken at one node goes on at another.
    const first = (await clients[0].listEntities().byPage({ maxPageSize: 50 }).next()).value;
    const rest = [];
    for await (const page of clients[1].listEntities().byPage({ maxPageSize: 50, continuationToken: first.continuationToken })) rest.push(...page);
    assert.deepEqual([...first, ...rest].map((one) => one.partitionKey + one.rowKey), expected);
    await assert.rejects(clients[2].createEntity({ partitionKey: name(60), rowKey: "a" }), (error) => error.statusCode === 409);
  });
});
