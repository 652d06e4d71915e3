// Queries that run until their time is up: what others notice of them, and what becomes of one whose
// client has gone.
import assert from "node:assert/strict";
import { once } from "node:events";
import net from "node:net";
import { before, describe, it } from "node:test";

import { authorization } from "./rest.mjs";
import { shared } from "./server.mjs";

// More rows than can be looked at while a test waits; a page may take that long here.
const endless = "SELECT VALUE COUNT(1) FROM c JOIN a IN c.l JOIN b IN c.l JOIN d IN c.l JOIN e IN c.l WHERE a + b + d + e = -1";
const workers = 4;  // threads that run what does not end at once

describe("long queries", () => {
  // Nor is one refused for having waited: a container has all but one of the threads.
  const at = shared({ limits: { "query-time-ms": 3_600_000, "queue-time-ms": 3_600_000 } });
  let container;
  let link;

  before(async () => {
    container = await at.container({});
    link = `dbs/db/colls/${container.id}`;
    await container.items.create({ id: "wide", pk: "w", l: Array.from({ length: 1000 }, (_, i) => i) });
    for (let i = 0; i < 10; ++i) await container.items.create({ id: `${i}`, pk: "k", n: i });
  });

  // Sends the query on a connection of its own, and gives that.
  async function begin() {
    const date = new Date().toUTCString();
    const body = JSON.stringify({ query: endless });
    const socket = net.connect(at.server.port, "127.0.0.1");
    socket.on("error", () => {});
    await once(socket, "connect");
    socket.write([`POST /${link}/docs HTTP/1.1`, "Host: localhost", "x-ms-version: 2020-07-15", `x-ms-date: ${date}`,
      `authorization: ${authorization(at.server.key, "POST", { type: "docs", link }, date)}`,
      "content-type: application/query+json", "x-ms-documentdb-isquery: True",
      "x-ms-documentdb-query-enablecrosspartition: True",
      `content-length: ${Buffer.byteLength(body)}`].join("\r\n") + `\r\n\r\n${body}`);
    return socket;
  }

  it("point reads and short queries are answered meanwhile", async () => {
    const sockets = await Promise.all(Array.from({ length: workers }, begin));
    try {
      let answered = 0;
      for (const socket of sockets) socket.once("data", () => ++answered);
      for (let i = 0; i < 50; ++i) {
        const { resource } = await container.item(`${i % 10}`, "k").read();
        assert.equal(resource.n, i % 10);
        const { resources } = await container.items.query(`SELECT VALUE c.n FROM c WHERE c.n = ${i % 10}`, { partitionKey: "k" })
          .fetchAll();
        assert.deepEqual(resources, [i % 10]);
      }
      assert.equal(answered, 0, "the long queries had ended");
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });

  it("a query ends when its client has gone", async () => {
    // Twice as many as run at a time: those that went on after their clients would leave no thread for the
    // feed, which would have no answer within the client's 30 s.
    const sockets = await Promise.all(Array.from({ length: 2 * workers }, begin));
    for (const socket of sockets) socket.destroy();
    const { resources } = await container.items.readAll().fetchAll();
    assert.equal(resources.length, 11);
  });
});
