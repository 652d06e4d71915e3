// orrery advise: of files, and of a running server that has recorded what it was asked.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { gzipSync } from "node:zlib";

import { answers } from "./expect.mjs";
import { runProgram, shared, start } from "./server.mjs";

const lines = (all) => all.map((one) => JSON.stringify(one)).join("\n") + "\n";

describe("orrery advise", () => {
  const at = shared();
  const folder = mkdtempSync(join(tmpdir(), "orrery-advise-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const file = (name, content) => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  const items = Array.from({ length: 2000 }, (_, i) => ({
    id: `i${i}`, owner: `o${(i * 7919) % 400}`, kind: i % 3 ? "a" : "b", _ts: 1_760_000_000 + i * 3600,
  }));
  const workload = [
    { k: "head", v: 1, throughput: 20000, items: 5_000_000, bytes: 5e9, partitionKey: ["/kind"], from: 1_767_000_000, to: 1_767_600_000, hash: "none" },
    { k: "shape", shape: 0, op: "query", text: "SELECT * FROM c WHERE c.owner = @1", count: 800, ru: 4000, asked: 2, pages: 1 },
    { k: "shape", shape: 1, op: "create", count: 200, ru: 1200 },
    { k: "time", t: 1_767_000_000, s: 3600, requests: 1000, ru: 5_200_000 },
    ...Array.from({ length: 1000 }, (_, i) => i % 5
      ? { k: "req", t: 1_767_000_000 + i, shape: 0, ru: 5, v: { "/owner": `o${(i * 31) % 400}` } }
      : { k: "req", t: 1_767_000_000 + i, shape: 1, ru: 6, v: { "/id": `n${i}`, "/owner": `o${(i * 31) % 400}`, "/kind": "a" } }),
  ];
  const run = async (...args) => {
    const { code, out } = await runProgram(["advise", ...args]);
    return { code, stdout: out, stderr: out };
  };

  it("A36: a file of items and requests is judged", async () => {
    const workloadFile = file("requests.ndjson", lines(workload));
    const svg = join(folder, "bars.svg");
    for (const path of [
      file("items.ndjson", lines(items)), file("items.json", JSON.stringify(items)), file("items.ndjson.gz", gzipSync(lines(items))),
      file("items.csv", `id,owner,kind,_ts\n${items.map((one) => `${one.id},${one.owner},${one.kind},${one._ts}`).join("\n")}\n`),
    ]) {
      const { code, stdout, stderr } = await run("--items", path, "--workload", workloadFile, "--json", "--svg", svg);
      assert.equal(code, 0, stderr);
      const said = JSON.parse(stdout);
      assert.equal(said.best, "/owner", path);
      assert.equal(said.verdict, "change");
      assert.ok(said.candidates.find((one) => one.name === "/kind").hard.some(({ code: why }) => why === "few_values"));
    }
    assert.match(readFileSync(svg, "utf8"), /^<svg [^]*<\/svg>\n$/);
    const path = join(folder, "items.ndjson");
    const table = await run("--items", path, "--workload", workloadFile, "--check", "--key", "suffix(/owner,5)");
    assert.equal(table.code, 5);
    assert.match(table.stdout, /change from \/kind to \/owner/);
    assert.match(table.stdout, /suffix\(\/owner,5\)/);
    const again = await run("--items", path, "--workload", workloadFile, "--check", "--key", "suffix(/owner,5)");
    assert.equal(again.stdout, table.stdout);
  });

  it("what is wrong is told, with its line", async () => {
    const good = file("good.ndjson", lines(items));
    const told = async (expected, message, ...args) => {
      const { code, stderr } = await run(...args);
      assert.equal(code, expected, stderr);
      assert.match(stderr, message);
    };
    await told(1, /DB\/CONTAINER or --items/);
    await told(1, /nowhere/, "--items", join(folder, "nowhere"));
    await told(2, /bad\.ndjson:3/, "--items", file("bad.ndjson", `${lines(items.slice(0, 2))}{"id":\n`));
    await told(2, /bad\.workload:2: .*no shape 9/, "--items", good, "--workload", file("bad.workload", lines([workload[0], { k: "req", t: 1, shape: 9, ru: 1 }])));
    await told(1, /no time/, "--items", good, "--horizon", "soon");
    await told(1, /suffix/, "--items", good, "--key", "suffix(/a)");
    const few = await run("--items", file("few.ndjson", lines(items.slice(0, 300))), "--workload", file("few.workload", lines(workload.slice(0, 150))));
    assert.equal(few.code, 3);
    assert.match(few.stdout, /too little is known[^]*few_items[^]*few_requests/);
  });

  it("A36: the server records requests without their values, and advises", async () => {
    const orders = await at.container({ partitionKey: { paths: ["/status"], kind: "Hash", version: 2 } });
    const made = Array.from({ length: 600 }, (_, i) => ({ id: `o${i}`, status: ["open", "paid"][i % 2], customer: `customer-${i % 150}`, at: new Date(1_790_000_000_000 + i * 60_000).toISOString() }));
    for (let i = 0; i < made.length; i += 100) {
      await orders.items.bulk(made.slice(i, i + 100).map((one) => ({ operationType: "Create", partitionKey: one.status, resourceBody: one })));
    }
    for (let i = 0; i < 30; ++i) await orders.item(`o${i}`, ["open", "paid"][i % 2]).read();
    await orders.items.query("SELECT * FROM c WHERE c.customer = 'customer-7'").fetchAll();
    await orders.item("o1", "paid").patch([{ op: "set", path: "/at", value: "2026-11-16T00:00:00Z" }]);
    await orders.items.batch([{ operationType: "Create", resourceBody: { id: "b1", status: "open", customer: "customer-1" } },
      { operationType: "Create", resourceBody: { id: "b2", status: "open", customer: "customer-1" } }], "open");
    // Most requests are queries, so most of the 48 that are kept are, whichever these are.
    for (let round = 0; round < 20; ++round) {
      await Promise.all(Array.from({ length: 50 }, async (_, i) => orders.items.query(
        { query: "SELECT * FROM c WHERE c.customer = @who", parameters: [{ name: "@who", value: `customer-${i}` }] }).fetchAll()));
    }

    const name = `db/${orders.id}`;
    const target = `/admin/workload?database=db&container=${orders.id}`;
    answers(await at.rest("GET", target), 200);
    const path = join(folder, "recorded.ndjson");
    const server = ["--data", at.server.data];
    const recorded = await run(name, "--record-to", path, ...server);
    assert.equal(recorded.code, 0, recorded.stderr);
    const text = readFileSync(path, "utf8");
    for (const value of ["customer-7", "customer-1", "open", "paid", "o29"]) assert.ok(!text.includes(value), value);
    const records = text.trim().split("\n").map((line) => JSON.parse(line));
    assert.equal(records[0].k, "head");
    assert.deepEqual(records[0].partitionKey, ["/status"]);
    assert.equal(records[0].key, null);
    assert.equal(records[0].items, 602);
    const ops = new Set(records.filter((one) => one.k === "shape").map((one) => one.op));
    for (const op of ["create", "query", "read", "patch", "batch"]) assert.ok(ops.has(op), op);
    const query = records.find((one) => one.k === "shape" && one.op === "query");
    assert.deepEqual(query.eq, ["/customer"]);
    assert.ok(records.filter((one) => one.k === "shape" && one.op === "query").length === 1, "literals do not make shapes");
    assert.ok(records.some((one) => one.k === "req" && one.v?.["/customer"]));

    const { code, stdout, stderr } = await run(name, "--json", ...server);
    assert.ok([0, 3].includes(code), stderr);
    const said = JSON.parse(stdout);
    assert.equal(said.present, "/status");
    assert.equal(said.best, "/customer");
    assert.equal(said.items_read, 602);
    assert.ok(said.requests_read > 0 && said.requests_read <= 48 * 2);
    const page = await at.rest("GET", `/admin/advise?database=db&container=${orders.id}`);
    answers(page, 200);
    assert.equal(page.body.best, "/customer");
    assert.ok(page.body.bars.length === 2);
    answers(await at.rest("GET", "/admin/advise?database=db&container=nothing"), 404);
    answers(await at.rest("GET", `/admin/advise?database=db&container=${orders.id}&key=nonsense`), 400);
  });

  it("A36: what updates change and what is refused with 429 is recorded", async () => {
    const server = await start({ args: ["--throttling", "on"], clock: true });
    try {
      const { database } = await server.client().databases.create({ id: "db" });
      const rest = server.rest();
      const partitionKey = { paths: ["/owner"], version: 2 };
      const { container } = await database.containers.create({ id: "updated", partitionKey }, { offerThroughput: 10_000 });
      const item = (i, step) => ({ id: `i${i}`, owner: `o${i % 3}`, state: `s${step}`, place: { city: "x", at: step } });
      const recorded = async (name) => {
        const file_ = join(folder, `${name}.ndjson`);
        const { code, stderr } = await run(`db/${name}`, "--record-to", file_, "--data", server.data);
        assert.equal(code, 0, stderr);
        return readFileSync(file_, "utf8").trim().split("\n").map((line) => JSON.parse(line));
      };
      for (let i = 0; i < 5; ++i) {
        await container.items.create(item(i, 0));
        await container.item(`i${i}`, `o${i % 3}`).replace(item(i, 1));
        await container.items.upsert(item(i, 2));
        await container.item(`i${i}`, `o${i % 3}`).patch([{ op: "set", path: "/state", value: "s3" }, { op: "set", path: "/place/city", value: "x" }]);
        await container.items.upsert(item(i + 100, 0)); // nothing was there
      }
      const changes = Object.fromEntries((await recorded("updated")).filter(({ k }) => k === "change").map((one) => [one.path, [one.changed, one.replaced]]));
      assert.deepEqual(changes, { "/id": [0, 15], "/owner": [0, 15], "/state": [15, 15], "/place/city": [0, 15], "/place/at": [10, 15] });

      await database.containers.create({ id: "refused", partitionKey }, { offerThroughput: 400 });
      const counts = { 200: 0, 201: 0, 429: 0 };
      server.clock.stop(); // no budget comes back
      for (let i = 0; i < 1_000 && counts[429] < 20; ++i) {
        const { status } = await rest("POST", "/dbs/db/colls/refused/docs", { body: { id: `${i}`, owner: "a" }, headers: { "x-ms-documentdb-partitionkey": '["a"]' } });
        ++counts[status];
      }
      for (let i = 0; i < 7; ++i) ++counts[(await rest("GET", "/dbs/db/colls/refused/docs/0", { headers: { "x-ms-documentdb-partitionkey": '["a"]' } })).status];
      server.clock.resume();
      assert.equal(counts[429], 27);
      const times = (await recorded("refused")).filter(({ k }) => k === "time");
      const sum = (name) => times.reduce((total, one) => total + one[name], 0);
      // Each that is taken stands for some others when there are many: to within these.
      assert.ok(Math.abs(sum("throttled") - counts[429]) <= 4, `${sum("throttled")} of ${counts[429]}`);
      assert.ok(Math.abs(sum("requests") - counts[201]) <= 4, `${sum("requests")} of ${counts[201]}`);
    } finally {
      await server.close();
    }
  });

  it("A36: each operation of a bulk request is recorded by itself", async () => {
    const container = await at.container({ partitionKey: { paths: ["/owner"], kind: "Hash", version: 2 } });
    const item = (i) => ({ id: `i${i}`, owner: `o${i % 3}`, color: "red" });
    const named = (operationType, i) => ({ operationType, id: `i${i}`, partitionKey: `o${i % 3}` });
    const operations = [
      ...[0, 1, 2, 3, 4, 5].map((i) => ({ operationType: "Create", partitionKey: `o${i % 3}`, resourceBody: item(i) })),
      ...[0, 1, 2].map((i) => named("Read", i)), named("Delete", 4), { ...named("Replace", 5), resourceBody: item(5) },
    ];
    const results = await container.items.bulk(operations);
    assert.ok(results.every(({ statusCode }) => statusCode < 300));
    const path = join(folder, "bulk.ndjson");
    const { code, stderr } = await run(`db/${container.id}`, "--record-to", path, "--data", at.server.data);
    assert.equal(code, 0, stderr);
    const records = readFileSync(path, "utf8").trim().split("\n").map((line) => JSON.parse(line));
    const shapes = Object.fromEntries(records.filter(({ k }) => k === "shape").map((one) => [one.op, one.count]));
    assert.deepEqual(shapes, { create: 6, read: 3, delete: 1, replace: 1 });
    const reads = records.filter(({ k, shape }) => k === "req" && records.find((one) => one.k === "shape" && one.shape === shape)?.op === "read");
    assert.ok(reads.length > 0 && reads.every(({ v }) => v["/id"] && v["/owner"]), JSON.stringify(reads));
  });

  it("--limit advise-requests=0 records nothing", async () => {
    const server = await start({ limits: { "advise-requests": 0 } });
    try {
      const client = server.client();
      const { database } = await client.databases.create({ id: "db" });
      const { container } = await database.containers.create({ id: "c", partitionKey: { paths: ["/pk"], version: 2 } });
      await container.items.create({ id: "a", pk: "b" });
      await container.item("a", "b").read();
      const path = join(folder, "nothing.ndjson");
      assert.equal((await run("db/c", "--record-to", path, "--data", server.data)).code, 0);
      assert.ok(existsSync(path));
      assert.equal(readFileSync(path, "utf8").trim().split("\n").length, 1);
    } finally {
      await server.close();
    }
  });
});
