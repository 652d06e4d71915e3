// Memory and descriptors that run out at a named point (ORRERY_FAULT): the request that was there fails
// and says why, which proves that the point was passed, and the server goes on.
import assert from "node:assert/strict";
import net from "node:net";
import { describe, it } from "node:test";

import { keyHeader } from "./rest.mjs";
import { start } from "./server.mjs";

const create = (rest, id) =>
  rest("POST", "/dbs/db/colls/c/docs", { headers: keyHeader("k"), body: { id, pk: "k" } });
const query = (rest) =>
  rest("POST", "/dbs/db/colls/c/docs", {
    headers: {
      ...keyHeader("k"), "x-ms-documentdb-isquery": "true", "content-type": "application/query+json",
    },
    body: { query: "SELECT VALUE c.id FROM c WHERE c.pk = 'k' ORDER BY c.id", parameters: [] },
  });
const execute = (rest) => rest("POST", "/dbs/db/colls/c/sprocs/hello", { headers: keyHeader("k"), body: [] });

// A server whose container and procedure are there; then again with the fault.
async function withFault(fault, use) {
  const server = await start();
  try {
    const rest = server.rest();
    assert.equal((await rest("POST", "/dbs", { body: { id: "db" } })).status, 201);
    const made = await rest("POST", "/dbs/db/colls", { body: { id: "c", partitionKey: { paths: ["/pk"], kind: "Hash", version: 2 } } });
    assert.equal(made.status, 201, made.text);
    const procedure = await rest("POST", "/dbs/db/colls/c/sprocs", {
      body: { id: "hello", body: "function () { getContext().getResponse().setBody('hello'); }" },
    });
    assert.equal(procedure.status, 201, procedure.text);
    assert.equal((await create(rest, "before")).status, 201);
    await server.restart({ env: { ORRERY_FAULT: fault } });
    await use(server.rest(), server);
    assert.equal(server.process.exitCode, null);
  } finally {
    await server.close();
  }
}

async function eventually(ask, status) {
  for (const end = Date.now() + 60_000; ;) {
    const answer = await ask();
    if (answer.status === status || Date.now() > end) return answer;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

describe("memory that runs out", () => {
  it("while an item is decoded fails its write alone", () =>
    withFault("item.decode=memory@2", async (rest) => {
      assert.equal((await create(rest, "one")).status, 201);
      const failed = await create(rest, "two");
      assert.equal(failed.status, 503, failed.text);
      assert.match(failed.body.message, /out of memory/);
      assert.equal((await create(rest, "two")).status, 201);
    }));

  it("while a query runs fails that page alone", () =>
    withFault("query.page=memory@1", async (rest) => {
      const failed = await query(rest);
      assert.equal(failed.status, 503, failed.text);
      assert.match(failed.body.message, /out of memory/);
      assert.deepEqual((await query(rest)).body.Documents, ["before"]);
    }));

  it("at a commit fails what it had, and the partition goes on", () =>
    withFault("partition.commit=memory@2", async (rest) => {
      assert.equal((await create(rest, "one")).status, 201);
      const failed = await create(rest, "two");
      assert.equal(failed.status, 503, failed.text);
      assert.match(failed.body.message, /memory/);
      assert.equal((await eventually(() => create(rest, "two"), 201)).status, 201);
      assert.deepEqual((await query(rest)).body.Documents, ["before", "one", "two"]);
    }));
});

describe("descriptors that run out", () => {
  it("when a partition is opened fails its requests for a second", () =>
    // The first claim is the catalog's.
    withFault("volume.claim=error@2", async (rest) => {
      const failed = await create(rest, "one");
      assert.equal(failed.status, 503, failed.text);
      assert.match(failed.body.message, /Too many open files/);
      assert.equal((await eventually(() => create(rest, "one"), 201)).status, 201);
      assert.deepEqual((await query(rest)).body.Documents, ["before", "one"]);
    }));

  it("when a script worker is started fails that execution", () =>
    withFault("script.worker=error@1", async (rest) => {
      const failed = await execute(rest);
      assert.equal(failed.status, 429, failed.text);
      assert.match(failed.body.message, /Too many open files/);
      const answer = await eventually(() => execute(rest), 200);
      assert.equal(answer.body, "hello", answer.text);
    }));

  it("when a connection is accepted costs that connection", () =>
    withFault("net.accept=error@2", async (rest, server) => {
      const sockets = Array.from({ length: 3 }, () => net.connect(server.port, "127.0.0.1"));
      try {
        await Promise.any(sockets.map((socket) => new Promise((resolve) => {
          socket.on("error", () => {});
          socket.on("close", resolve);
          socket.resume();
        })));
        assert.equal((await rest("GET", "/dbs")).status, 200);
        assert.equal(sockets.filter((socket) => !socket.destroyed).length, 2);
      } finally {
        for (const socket of sockets) socket.destroy();
      }
    }));
});
