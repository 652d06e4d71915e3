// GET /metrics, as Prometheus reads it.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import net from "node:net";
import { join } from "node:path";
import { describe, it } from "node:test";

import { MongoClient } from "./mongo.mjs";
import { shared } from "./server.mjs";

// {name: sum over its labels}
function parse(text) {
  const sums = {};
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const found = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{.*\})? (\S+)$/.exec(line);
    assert.ok(found, `not a metric: ${line}`);
    assert.ok(found[3] === "+Inf" || !Number.isNaN(Number(found[3])), line);
    sums[found[1]] = (sums[found[1]] ?? 0) + Number(found[3]);
  }
  return sums;
}

describe("metrics", () => {
  const at = shared();
  const read = async () => {
    const answer = await at.rest("GET", "/metrics", { key: null });
    assert.equal(answer.status, 200, answer.text);
    assert.match(answer.headers["content-type"], /^text\/plain/);
    return parse(answer.text);
  };

  it("requests, latencies and charges are counted", async () => {
    const container = await at.container();
    const before = await read();
    for (let i = 0; i < 10; ++i) await container.items.create({ id: `${i}`, pk: "a" });
    for (let i = 0; i < 10; ++i) await container.item(`${i}`, "a").read();
    const after = await read();
    const grown = Object.keys(after).filter((name) => after[name] > (before[name] ?? 0));
    const requests = grown.filter((name) => /requests?(_total)?$/.test(name));
    assert.ok(requests.some((name) => after[name] - (before[name] ?? 0) >= 20), `${grown}`);
    assert.ok(grown.some((name) => /(seconds|latency).*_count$/.test(name)), `${grown}`);
    assert.ok(grown.some((name) => /charge|request_unit/.test(name)), `${grown}`);
    assert.ok(Object.keys(after).every((name) => name.startsWith("orrery_") || name.startsWith("process_")), "all of them are ours");
  });

  it("each partition has its own figures", async () => {
    const container = await at.container({ throughput: 12_000 });
    for (let i = 0; i < 20; ++i) await container.items.create({ id: `${i}`, pk: `${i}` });
    const { text } = await at.rest("GET", "/metrics", { key: null });
    const lines = text.split("\n").filter((line) => /range="\d+"/.test(line) && line.includes(`"${container.id}"`));
    const named = (name) => lines.filter((line) => line.startsWith(`orrery_partition_${name}{`));
    assert.equal(named("bytes").length, 2, text.slice(0, 2000));
    const items = named("items").reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
    assert.equal(items, 20);
  });

  it("no key is in them", async () => {
    const { text } = await at.rest("GET", "/metrics", { key: null });
    assert.ok(!text.includes(at.server.key));
  });
});

describe("metrics of listeners", () => {
  const at = shared({ args: ["--mongo-port", "0", "--table-port", "0"] });

  // {listener: value} of one metric.
  const byListener = async (name) => {
    const { text } = await at.rest("GET", "/metrics", { key: null });
    return Object.fromEntries([...text.matchAll(new RegExp(`^${name}\\{listener="(\\w+)"\\} (\\d+)$`, "gm"))]
      .map(([, listener, value]) => [listener, Number(value)]));
  };

  it("each counts its own connections", async () => {
    const { faces } = JSON.parse(readFileSync(join(at.server.data, "server.json"), "utf8"));
    const before = await byListener("orrery_connections_accepted_total");
    assert.deepEqual(Object.keys(before), ["cosmos", "table", "mongo"]);
    assert.equal(before.mongo, 0);
    assert.equal(before.table, 0);
    assert.ok(before.cosmos > 0);
    const client = new MongoClient(`mongodb://127.0.0.1:${faces.mongo}/`);
    try {
      await client.db("test").command({ ping: 1 });
      assert.ok((await byListener("orrery_connections_accepted_total")).mongo > 0);
      const open = await byListener("orrery_connections_open");
      assert.ok(open.mongo > 0);
      assert.equal(open.table, 0);
    } finally {
      await client.close();
    }
  });

  it("each counts what was not its protocol", async () => {
    const { faces } = JSON.parse(readFileSync(join(at.server.data, "server.json"), "utf8"));
    const before = await byListener("orrery_bad_requests_total");
    const socket = net.connect(faces.table, "127.0.0.1");
    socket.end("not HTTP\r\n\r\n");
    socket.resume();
    await once(socket, "close");
    const after = await byListener("orrery_bad_requests_total");
    assert.deepEqual(after, { ...before, table: before.table + 1 });
  });
});

describe("metrics of a server that is not for development", () => {
  const at = shared({ dev: false });
  const page = (method, headers) => at.rest(method, "/metrics", { key: null, headers });
  const token = () => readFileSync(join(at.server.data, "metrics-token"), "utf8").trim();

  it("are for those who have their token", async () => {
    const container = await at.container();
    await container.items.create({ id: "1", pk: "a" });
    const read = await page("GET", { authorization: `Bearer ${token()}` });
    assert.equal(read.status, 200, read.text);
    assert.ok(read.text.includes(`"${container.id}"`));
    assert.equal((await page("HEAD", { authorization: `Bearer ${token()}` })).status, 200);
  });

  it("tell nothing to anybody else", async () => {
    const refused = [{}, { authorization: "Bearer " }, { authorization: `Bearer ${token()}x` },
      { authorization: token() }, { authorization: `Bearer ${at.server.key}` }];
    for (const headers of refused) {
      const answer = await page("GET", headers);
      assert.equal(answer.status, 401, answer.text);
      assert.equal(answer.headers["www-authenticate"], "Bearer");
      assert.ok(!answer.text.includes("orrery_"), answer.text);
    }
    assert.equal((await at.rest("GET", "/metrics")).status, 401, "a signature is no token");
    assert.equal((await at.rest("GET", "/dbs", { key: null, headers: { authorization: `Bearer ${token()}` } })).status, 401,
      "the token opens nothing else");
  });

  it("many readers at once get them", async () => {
    const all = await Promise.all(Array.from({ length: 12 }, () => page("GET", { authorization: `Bearer ${token()}` })));
    for (const answer of all) assert.equal(answer.status, 200, answer.text);
  });

  it("the health answer is for everybody, and says nothing else", async () => {
    const answer = await at.rest("GET", "/healthz", { key: null });
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.body, { status: "ok" });
  });
});
