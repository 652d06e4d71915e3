// The Table face of several nodes: any of them answers for all. Three nodes, about ten seconds.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { freePort } from "../sdk/server.mjs";
import { all, devCredential, rawOf, tableClient } from "../sdk/table.mjs";
import { startCluster, until } from "./cluster.mjs";

describe("tables of several nodes", () => {
  let cluster;
  const ports = new Map();
  before(async () => {
    cluster = await startCluster(["n1", "n2", "n3"], {
      steady: true,
      args: async (name) => {
        ports.set(name, await freePort());
        return ["--table-port", String(ports.get(name)), "--table-flavour", "cosmos"];
      },
    });
    for (const [name, node] of cluster.nodes) node.tablePort = ports.get(name);
  });
  after(() => cluster?.close());
  const nodes = () => [...cluster.nodes.values()];

  test("any node makes tables, writes and reads entities, runs batches and pages of queries", async () => {
    const made = await rawOf(nodes()[1])("POST", "Tables", { body: { TableName: "Spread" }, headers: { "x-ms-offer-throughput": "40000" } });
    assert.equal(made.status, 201, made.text);
    // Every other node knows it at once, or asks.
    for (const node of nodes()) assert.equal((await rawOf(node)("GET", "Tables('spread')")).status, 200);
    // On a busy machine a new partition may have no node for some seconds: the client waits, as it does of itself.
    const patient = { retryOptions: { maxRetries: 20, maxRetryDelayInMs: 1000 } };
    const clients = nodes().map((node) => tableClient(node, "Spread", devCredential(), patient));
    const keys = Array.from({ length: 30 }, (_, i) => `k${i}`);
    for (const [i, partitionKey] of keys.entries()) {
      await clients[i % 3].createEntity({ partitionKey, rowKey: "1", n: i });
      await clients[(i + 1) % 3].submitTransaction([
        ["update", { partitionKey, rowKey: "1", m: 1 }, "Merge"], ["upsert", { partitionKey, rowKey: "2", n: -i }, "Merge"]]);
    }
    const owners = await until("partitions of several nodes", async () => {
      const reply = await nodes()[0].rest()("GET", "/admin/partitions?face=table&database=tables&container=spread");
      assert.equal(reply.status, 200, reply.text);
      const all_ = new Set(reply.body.partitions.map((one) => one.node));
      return all_.size > 1 && all_;
    });
    assert.ok(owners.size > 1);
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
