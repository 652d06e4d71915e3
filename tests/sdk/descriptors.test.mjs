// A process that may have only few files open.
import assert from "node:assert/strict";
import net from "node:net";
import { after, before, describe, it } from "node:test";

import { keyHeader } from "./rest.mjs";
import { start } from "./server.mjs";

describe("with 256 descriptors", () => {
  let server;
  before(async () => {
    server = await start({ descriptors: 256 });
  });
  after(() => server?.close());

  it("the start says what they allow", () => {
    assert.match(server.log, /few files may be open .*descriptors=256 open_partitions=\d+ connections=\d+/);
  });

  it("60 containers are served in turn, and connections too", async () => {
    const client = server.client();
    const { database } = await client.databases.create({ id: "db" });
    const idle = Array.from({ length: 30 }, () => net.connect(server.port, "127.0.0.1"));
    try {
      const containers = [];
      for (let i = 0; i < 60; ++i) {
        const made = await database.containers.create({ id: `c${i}`, partitionKey: { paths: ["/pk"], kind: "Hash", version: 2 } });
        containers.push(made.container);
        await made.container.items.create({ id: "first", pk: "a", i });
      }
      for (let round = 0; round < 2; ++round) {
        for (const [i, container] of containers.entries()) {
          await container.items.create({ id: `${round}`, pk: "a", i });
          assert.equal((await container.item("first", "a").read()).resource?.i, i);
        }
      }
      // Ten at once, too: more than may be open, so they take turns.
      for (let from = 0; from < containers.length; from += 10) {
        await Promise.all(containers.slice(from, from + 10).map(async (container, i) => {
          const { resources } = await container.items.query("SELECT VALUE c.i FROM c").fetchAll();
          assert.deepEqual(resources, [from + i, from + i, from + i]);
        }));
      }
    } finally {
      for (const socket of idle) socket.destroy();
    }
  });

  it("more connections than it allows are closed, and take no files from partitions", async () => {
    const rest = server.rest();
    assert.equal((await rest("GET", "/dbs")).status, 200);  // on a connection that stays
    let closed = 0;
    const sockets = Array.from({ length: 300 }, () => net.connect(server.port, "127.0.0.1"));
    try {
      await new Promise((resolve) => {
        for (const socket of sockets) {
          socket.on("error", () => {});
          socket.resume();
          socket.on("close", () => {
            if (++closed === 200) resolve();
          });
        }
      });
      for (let i = 0; i < 20; ++i) {
        const answer = await rest("GET", `/dbs/db/colls/c${i}/docs/first`, { headers: keyHeader("a") });
        assert.equal(answer.status, 200, answer.text);
      }
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });
});
