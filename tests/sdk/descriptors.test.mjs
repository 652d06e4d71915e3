// A process that may have only few files open.
import assert from "node:assert/strict";
import net from "node:net";
import { after, before, describe, it } from "node:test";

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
      // Many at once, too: they take turns.
      await Promise.all(containers.map(async (container, i) => {
        const { resources } = await container.items.query("SELECT VALUE c.i FROM c").fetchAll();
        assert.deepEqual(resources, [i, i, i]);
      }));
    } finally {
      for (const socket of idle) socket.destroy();
    }
  });

  it("more connections than it allows are told, and do not take files from partitions", async () => {
    const sockets = Array.from({ length: 300 }, () => net.connect(server.port, "127.0.0.1"));
    try {
      for (const socket of sockets) socket.on("error", () => {});
      const text = await Promise.any(sockets.map((socket) => new Promise((resolve, reject) => {
        socket.once("data", (bytes) => resolve(bytes.toString()));
        socket.once("close", () => reject(new Error("closed without a word")));
      })));
      assert.match(text, /^HTTP\/1\.1 503/);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
    const client = server.client();
    for (let i = 0; i < 20; ++i) {
      const { resource } = await client.database("db").container(`c${i}`).item("first", "a").read();
      assert.equal(resource?.i, i);
    }
  });
});
