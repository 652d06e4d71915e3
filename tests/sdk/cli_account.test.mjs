// What people do from a shell: ls, scale, query, and --json of the other commands.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";

import { freePort, program, shared } from "./server.mjs";

// {code, out, err} of a command that ends by itself.
function run(args, { input, env = {} } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"], env: { ...process.env, ...env } });
    let out = "";
    let err = "";
    child.stdout.on("data", (text) => (out += text));
    child.stderr.on("data", (text) => (err += text));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, out, err }));
    child.stdin.end(input);
  });
}

describe("commands about an account", () => {
  const at = shared({ dev: false, args: ["--throttling", "report"] });
  const command = (...args) => run([...args, "--data", at.server.data]);
  const works = async (...args) => {
    const result = await command(...args);
    assert.equal(result.code, 0, result.err);
    return result.out;
  };
  const json = async (...args) => JSON.parse(await works(...args, "--json"));
  let container;
  before(async () => {
    container = await at.container({ id: "orders", partitionKey: { paths: ["/city"], kind: "Hash", version: 2 }, throughput: 12_000 });
    for (let i = 0; i < 30; ++i) {
      await container.items.create({ id: `${i}`, city: ["Berlin", "Rome", "Oslo"][i % 3], n: i, text: `a "b", ${i}` });
    }
  });

  it("A13: ls shows databases, containers and items", async () => {
    assert.match(await works("ls"), /^database\s+containers\s+items\s+stored\ndb\s+1\s+30\s/);
    assert.match(await works("ls", "db"), /^orders\s+\/city\s+2\s+30\s+.*\s12000$/m);
    const items = await works("ls", "db/orders");
    assert.match(items, /^"Berlin"\s+0\s+20\d\d-/m);
    assert.equal(items.trim().split("\n").length, 31);
    assert.deepEqual((await json("ls")).map(({ database, containers, items: count }) => ({ database, containers, count })),
      [{ database: "db", containers: 1, count: 30 }]);
    const [{ definition, figures }] = await json("ls", "db");
    assert.equal(definition.id, "orders");
    assert.equal(figures.partitions, 2);
    assert.equal((await json("ls", "db/orders", "--count", "7")).length, 7);
    const some = await command("ls", "db/orders", "--count", "7");
    assert.match(some.err, /there are more/);
  });

  it("A13: scale sets throughput, from manual to autoscale and back, and waits for splits", async () => {
    const made = await at.container({ id: "scaled", throughput: 400 });
    assert.match(await works("scale", "db/scaled"), /^db\/scaled: 400 RU\/s\n1 partition, 400 RU\/s each\n$/);
    assert.match(await works("scale", "db/scaled", "25000", "--wait"), /^db\/scaled: 25,000 RU\/s, was 400 RU\/s\n3 partitions, 8,333 RU\/s each\n$/);
    assert.equal((await made.readOffer()).resource.content.offerThroughput, 25_000);
    assert.deepEqual((await json("scale", "db/scaled", "auto:30000", "--wait")).after, { units: 30_000, autoscale: true });
    assert.equal((await made.readOffer()).resource.content.offerAutopilotSettings.maxThroughput, 30_000);
    const { before: was, after: is, partitions, scaling } = await json("scale", "db/scaled", "400");
    assert.deepEqual([was.autoscale, is, partitions, scaling], [true, { units: 400, autoscale: false }, 3, false]);
    await at.client.databases.create({ id: "sharing", throughput: 1000 });
    await at.client.database("sharing").containers.create({ id: "a", partitionKey: "/pk" });
    assert.match(await works("scale", "sharing", "2000"), /^sharing: 2,000 RU\/s, was 1,000 RU\/s\n$/);
    for (const [args, says] of [
      [["sharing/a", "500"], /shares that of its database.*orrery scale sharing/],
      [["db", "500"], /its containers do/],
      [["db/scaled", "450"], /100/],
      [["db/scaled", "much"], /'much' is no throughput/],
      [["db/none", "500"], /answered 404/],
      [["a/b/c", "500"], /is not of the form DB\/CONTAINER/],
    ]) {
      const { code, out, err } = await command("scale", ...args);
      assert.equal(code, 1, out);
      assert.match(err, says);
    }
  });

  it("A13: query prints rows as a table, JSON or CSV, over all partitions", async () => {
    const sorted = await json("query", "db/orders", "SELECT c.id, c.n FROM c WHERE c.n >= @least ORDER BY c.n DESC", "--param", "least=27");
    assert.deepEqual(sorted, [29, 28, 27].map((n) => ({ id: `${n}`, n })));
    assert.deepEqual(await json("query", "db/orders", "SELECT VALUE COUNT(1) FROM c"), [30]);
    assert.deepEqual(await json("query", "db/orders", "SELECT * FROM c WHERE false"), []);
    assert.deepEqual((await json("query", "db/orders", "SELECT VALUE c.city FROM c", "--partition", "Oslo")), Array(10).fill("Oslo"));
    const csv = await works("query", "db/orders", "SELECT c.id, c.text FROM c WHERE c.n < 2 ORDER BY c.n", "--format", "csv");
    assert.equal(csv, 'id,text\r\n0,"a ""b"", 0"\r\n1,"a ""b"", 1"\r\n');
    const table = await command("query", "db/orders", "SELECT c.id, c.city FROM c ORDER BY c.n", "--format", "table", "--count", "2");
    assert.equal(table.out, "id  city\n0   Berlin\n1   Rome\n");
    assert.match(table.err, /^2 rows, \d+\.\d\d RU; there are more\n$/);
    assert.deepEqual(JSON.parse((await run(["query", "db/orders", "-", "--data", at.server.data], { input: "SELECT VALUE 1" })).out), [1]);
    const wrong = await command("query", "db/orders", "SELEC");
    assert.equal(wrong.code, 1);
    assert.match(wrong.err, /answered 400: .*Syntax error/i);
    assert.equal((await command("query", "db/orders", "SELECT 1", "--format", "xml")).code, 1);
    assert.equal((await command("query", "db/orders", "SELECT 1", "--param", "novalue")).code, 1);
  });

  it("A13: query goes through all pages, and tells of columns that it leaves out", async () => {
    const many = await at.container({ id: "many" });
    const operations = Array.from({ length: 1_200 }, (_, i) => (
      { operationType: "Create", resourceBody: { id: `${i}`, pk: `${i % 5}`, n: i, ...(i === 1_100 ? { late: true } : {}) } }));
    for (let i = 0; i < operations.length; i += 100) {
      for (const one of await many.items.bulk(operations.slice(i, i + 100))) assert.equal(one.statusCode, 201);
    }
    const all = await json("query", "db/many", "SELECT VALUE c.n FROM c");
    assert.deepEqual(all.sort((a, b) => a - b), operations.map((_, i) => i));
    const query = "SELECT c.n, c.late FROM c ORDER BY c.n";
    const csv = await command("query", "db/many", query, "--format", "csv");
    assert.equal(csv.code, 1);
    assert.match(csv.err, /left out: late/);
    assert.equal(csv.out.trim().split("\r\n").length, 1_201);
    assert.equal((await json("query", "db/many", query)).length, 1_200);
    assert.equal((await json("query", "db/many", query, "--count", "1100")).length, 1_100);
  });

  it("--json of the other commands is JSON", async () => {
    const { partitions } = await json("partitions", "db/orders");
    assert.deepEqual(partitions.map(({ items }) => items).reduce((sum, one) => sum + one), 30);
    const { children } = await json("split", "db/orders");
    assert.equal(children.length, 2);
    assert.deepEqual(await json("keys", "list"), {
      primary: at.server.keys.primary, secondary: at.server.keys.secondary,
      "primary-readonly": at.server.keys.primaryReadonly, "secondary-readonly": at.server.keys.secondaryReadonly,
    });
    assert.deepEqual(Object.keys(await json("keys", "regenerate", "secondary")), ["secondary"]);
  });

  it("a server that cannot be reached is named", async () => {
    const port = await freePort();
    const nowhere = mkdtempSync(join(tmpdir(), "orrery-nowhere-"));
    after(() => rmSync(nowhere, { recursive: true, force: true }));
    for (const args of [["ls"], ["scale", "db/c", "400"], ["query", "db/c", "SELECT 1"], ["top", "--once"], ["doctor"]]) {
      const away = await run([...args, "--data", at.server.data, "--host", "127.0.0.1", "--port", String(port), "--ca", join(at.server.data, "cert.pem")]);
      assert.equal(away.code, 1, away.out);
      assert.match(away.err, new RegExp(`127\\.0\\.0\\.1:${port}`), args[0]);
      const none = await run([...args, "--data", join(nowhere, "x")]);
      assert.equal(none.code, 1, none.out);
      assert.match(none.err, new RegExp(nowhere), args[0]);
    }
  });

  it("what clients wrote does not command the terminal", async () => {
    const evil = await at.container({ id: "evil" });
    await evil.items.create({ id: "\u001b[2J", pk: "\u009b2J" });
    for (const args of [["ls", "db/evil"], ["query", "db/evil", "SELECT c.id, c.pk FROM c", "--format", "table"]]) {
      assert.doesNotMatch(await works(...args), /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    }
  });
});
