// Requests that wait for a thread: how many may, whose turn it is, and what becomes of those whose
// client has gone. What waits and runs is read from the metrics, so nothing here depends on time.
import assert from "node:assert/strict";
import http from "node:http";
import { describe, it } from "node:test";

import { authorization, keyHeader, signedParts } from "./rest.mjs";
import { start } from "./server.mjs";

const forEver = "function f() { for (;;) {} }";
const atOnce = "function f() { getContext().getResponse().setBody('done'); }";
const writesForEver = `function f() {
  const collection = getContext().getCollection();
  collection.createDocument(collection.getSelfLink(), { id: "lost", pk: "a" }, () => { for (;;) {} });
}`;

// {queue: {waiting, running, refused_total, dropped_total, failed_total}}
async function queuesOf(server) {
  const { text } = await server.rest()("GET", "/metrics");
  const queues = {};
  for (const [, figure, queue, number] of
    text.matchAll(/^orrery_queue_(\w+)\{queue="(\w+)"\} (\S+)$/gm)) {
    (queues[queue] ??= {})[figure] = Number(number);
  }
  return queues;
}

async function until(server, queue, wanted) {
  for (;;) {
    const now = (await queuesOf(server))[queue];
    if (Object.entries(wanted).every(([figure, number]) => now[figure] === number)) return now;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

// A request on a connection of its own, which can be left: {answer, leave}.
function ask(server, path, headers = {}) {
  const date = new Date().toUTCString();
  let request;
  const answer = new Promise((resolve) => {
    request = http.request({
      host: "127.0.0.1", port: server.port, method: "POST", path, agent: false,
      headers: {
        "x-ms-date": date, "x-ms-version": "2020-07-15", "content-type": "application/json",
        authorization: authorization(server.key, "POST", signedParts(path), date),
        ...keyHeader("a"), ...headers,
      },
    }, (response) => {
      const parts = [];
      response.on("data", (part) => parts.push(part));
      response.on("end", () => resolve({
        status: response.statusCode, headers: response.headers,
        text: Buffer.concat(parts).toString("utf8"),
      }));
    });
    request.on("error", () => resolve({ status: 0 }));
    request.end("[]");
  });
  return { answer, leave: () => request.destroy() };
}

async function withContainers(options, work) {
  const server = await start({ limits: { "script-workers": 1, "script-time-ms": 600_000 }, ...options });
  try {
    const { database } = await server.client().databases.create({ id: "db" });
    for (const id of ["a", "b"]) {
      const { container } = await database.containers.create({
        id, partitionKey: { paths: ["/pk"], kind: "Hash", version: 2 },
      });
      for (const [name, body] of Object.entries({ forEver, atOnce, writesForEver })) {
        await container.scripts.storedProcedures.create({ id: name, body });
      }
    }
    const run = (container, procedure) =>
      ask(server, `/dbs/db/colls/${container}/sprocs/${procedure}`);
    await work({ server, database, run });
  } finally {
    await server.close();
  }
}

describe("scripts that wait", () => {
  it("L1 take turns by container, end when their client leaves, and are dropped unrun", () =>
    withContainers({}, async ({ server, run }) => {
      const running = run("a", "forEver");
      await until(server, "scripts", { running: 1, waiting: 0 });
      const waiting = [];
      for (let i = 1; i <= 3; ++i) {
        waiting.push(run("a", "forEver"));
        await until(server, "scripts", { running: 1, waiting: i });
      }
      const other = run("b", "atOnce");
      await until(server, "scripts", { running: 1, waiting: 4 });
      running.leave();
      const answer = await other.answer;
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.text, '"done"');
      // One loop of the other container runs by now; all of them are left.
      await until(server, "scripts", { running: 1, waiting: 2 });
      for (const one of waiting) one.leave();
      const after = await until(server, "scripts", { running: 0, waiting: 0 });
      assert.equal(after.dropped_total, 2);
      assert.equal((await run("a", "atOnce").answer).status, 200);
    }));

  it("L2 a script that is ended so has written nothing", () =>
    withContainers({}, async ({ server, database, run }) => {
      const running = run("a", "writesForEver");
      await until(server, "scripts", { running: 1 });
      running.leave();
      await until(server, "scripts", { running: 0 });
      assert.equal((await run("a", "atOnce").answer).status, 200);
      assert.equal((await database.container("a").item("lost", "a").read()).statusCode, 404);
    }));

  it("L3 beyond the limit are refused at once, the container with most of them first", () =>
    withContainers({
      limits: { "script-workers": 1, "script-time-ms": 600_000, "request-queue": 2 },
    }, async ({ server, run }) => {
      const running = run("a", "forEver");
      await until(server, "scripts", { running: 1, waiting: 0 });
      const first = run("a", "forEver");
      await until(server, "scripts", { running: 1, waiting: 1 });
      const second = run("a", "forEver");
      await until(server, "scripts", { running: 1, waiting: 2 });
      const third = await run("a", "forEver").answer;
      assert.equal(third.status, 429, third.text);
      assert.ok(Number(third.headers["x-ms-retry-after-ms"]) > 0);
      const other = run("b", "atOnce");
      assert.equal((await second.answer).status, 429);
      running.leave();
      assert.equal((await other.answer).status, 200);
      first.leave();
      const after = await until(server, "scripts", { running: 0, waiting: 0 });
      assert.equal(after.refused_total, 2);
    }));
});

describe("memory that runs out", () => {
  it("L4 under a request is answered with 503, and the server goes on", async () => {
    const names = ["management", "queries", "scripts", "admin"];
    await withContainers({}, async ({ server, database }) => {
      const rest = server.rest();
      const container = database.container("a");
      await container.items.create({ id: "1", pk: "a" });
      await server.restart({
        env: { ORRERY_FAULT: names.map((name) => `task.${name}=memory`).join(",") },
      });
      const requests = {
        management: () => rest("GET", "/dbs/db"),
        queries: () => rest("GET", "/dbs/db/colls/a/docs"),
        scripts: () => rest("POST", "/dbs/db/colls/a/sprocs/atOnce",
          { body: "[]", headers: keyHeader("a") }),
      };
      for (const [name, request] of Object.entries(requests)) {
        const failed = await request();
        assert.equal(failed.status, 503, `${name}: ${failed.text}`);
        assert.match(failed.body.message, /out of memory/);
        const next = await request();
        assert.equal(next.status, 200, `${name}: ${next.text}`);
        assert.equal((await queuesOf(server))[name].failed_total, 1, name);
      }
      const { out } = await server.command("partitions", "db/a", "--data", server.data);
      assert.match(out, /out of memory/);
      assert.equal((await server.command("partitions", "db/a", "--data", server.data)).code, 0);
    });
  });

  it("L5 under a write, or while a partition is opened, does the same", async () => {
    const server = await start();
    try {
      const client = server.client();
      const { database } = await client.databases.create({ id: "db" });
      await database.containers.create({
        id: "a", partitionKey: { paths: ["/pk"], kind: "Hash", version: 2 },
      });
      await server.restart({ env: { ORRERY_FAULT: "pool.opener=memory,pool.writer=memory" } });
      const create = () => server.rest()("POST", "/dbs/db/colls/a/docs",
        { body: { id: "1", pk: "a" }, headers: keyHeader("a") });
      assert.equal((await create()).status, 503, "the opener");
      assert.equal((await create()).status, 503, "the writer, while the catalog notes the files");
      // Opening that has failed is not tried again at once.
      let answer;
      do answer = await create(); while (answer.status === 503);
      assert.equal(answer.status, 201, answer.text);
    } finally {
      await server.close();
    }
  });
});
