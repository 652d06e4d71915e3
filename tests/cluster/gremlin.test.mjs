// The Gremlin face of several nodes: a traversal reads and writes partitions of all of them, whichever is asked. Three
// nodes, about 20 s.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { graphClient, rows } from "../sdk/gremlin.mjs";
import { freePort } from "../sdk/server.mjs";
import { startCluster, until } from "./cluster.mjs";

describe("graphs of several nodes", () => {
  let cluster;
  let clients;

  before(async () => {
    const ports = new Map();
    cluster = await startCluster(["n1", "n2", "n3"], {
      steady: true,
      args: async (name) => {
        ports.set(name, await freePort());
        return ["--gremlin-port", String(ports.get(name))];
      },
    });
    const { database } = await cluster.nodes.get("n1").client().databases.createIfNotExists({ id: "db" });
    await database.containers.createIfNotExists({ id: "people", partitionKey: "/pk", throughput: 40_000 });
    // Wherever balance has put them: the first is at the first node, and so on.
    for (const [i, { id }] of (await cluster.settled("db", "people")).entries()) {
      const { code, out } = await cluster.command("n1", "move", "db/people", String(id), cluster.names[i % 3]);
      assert.equal(code, 0, out);
    }
    await until("partitions at several nodes", async () => {
      const nodes = new Set((await cluster.partitions("db", "people")).map(({ node }) => node));
      return nodes.size > 1 && [...nodes].every((name) => cluster.nodes.has(name));
    });
    clients = cluster.names.map((name) => graphClient({ gremlinUrl: `ws://127.0.0.1:${ports.get(name)}/gremlin` }, "people"));
  });
  after(async () => {
    await Promise.all((clients ?? []).map((client) => client.close().catch(() => {})));
    await cluster?.close();
  });

  test("a traversal writes to partitions of every node, and all nodes see it", async () => {
    for (const [at, client] of clients.entries()) {
      for (let i = 0; i < 8; ++i) {
        await client.submit("g.addV('person').property('id', id).property('pk', id).property('n', n)", { id: `${at}-${i}`, n: i });
      }
      // One traversal over several partitions: its edges lie with their sources.
      await client.submit(`g.V().hasLabel('person').has('n', lt(4)).has('pk', startingWith('${at}-')).addE('knows').to(__.V('${at}-7'))`);
    }
    for (const [at, client] of clients.entries()) {
      assert.deepEqual(await rows(client, "g.V().count()"), [24]);
      assert.deepEqual(await rows(client, "g.E().count()"), [12]);
      assert.deepEqual((await rows(client, `g.V('${at}-7').in('knows').values('n')`)).sort(), [0, 1, 2, 3]);
      await client.submit("g.V().hasLabel('person').property('seen', by)", { by: at });
    }
    for (const client of clients) {
      assert.deepEqual(await rows(client, "g.V().values('seen').dedup()"), [2]);
      await client.submit("g.V().has('n', 7).limit(1).drop()");
    }
    for (const client of clients) assert.deepEqual(await rows(client, "g.V().has('n', 7).count()"), [0]);
  });
});
