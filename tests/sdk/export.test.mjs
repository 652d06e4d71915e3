// orrery export: what is written is read back as it was; stopping and going on; splits on the way; other accounts.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import zlib from "node:zlib";

import { shared, start } from "./server.mjs";
import { begin, byId, itemsOf, lines, reached, run, seen, workFolder } from "./transfer.mjs";

const items = (count, more = {}) =>
  Array.from({ length: count }, (_, i) => ({ id: `i${i}`, pk: `k${i % 50}`, n: i, ...more }));
const strange = [
  { id: "quotes", pk: "a", text: "say \"hello\", then\r\nleave" },
  { id: "looks", pk: "a", text: "123", other: "true", json: "{\"a\":1}", list: "[1]", string: "\"x\"", none: "null", empty: "" },
  { id: "types", pk: 5, yes: true, no: false, nothing: null, n: -0.5e-7, big: 12345678901234567, object: { a: { b: [] } }, array: [1, "2", null] },
  { id: "names", pk: true, "a.b": 1, "with \"quotes\"": 2, "with,comma": 3, "": 4 },
  { id: "ünïcode ☃", pk: "ключ 🗝", text: "\u2028\u0001" },
];

describe("export", () => {
  const at = shared();
  const file = workFolder();
  let source, all;
  before(async () => {
    source = await at.container({ throughput: 18_000 });
    all = byId([...items(300), ...strange]);
    for (const one of all) await source.items.create(one);
  });
  const out = (...args) => run(["export", `db/${source.id}`, ...args, "--data", at.server.data], { folder: file() });
  const back = async (name, ...args) => {
    const container = await at.container();
    const { code, stderr } = await run(["import", `db/${container.id}`, name, "--data", at.server.data, ...args], { folder: file() });
    assert.equal(code, 0, `${name}: ${stderr}`);
    return itemsOf(container);
  };

  it("A34: every format and compression is read back as it was", async () => {
    for (const format of ["json", "ndjson", "csv"]) {
      // --columns takes neither a name with a comma nor none.
      const chosen = [...new Set(all.flatMap(Object.keys))].filter((name) => name !== "" && !name.includes(","));
      const want = format !== "csv" ? all : all.map((one) => Object.fromEntries(Object.entries(one).filter(([name]) => chosen.includes(name))));
      for (const end of ["", ".gz", ".zst"]) {
        const name = `all.${format}${end}`;
        const { code, stderr, result } = await out(name, ...(format === "csv" ? ["--columns", chosen.join(",")] : []));
        assert.equal(code, 0, `${name}: ${stderr}`);
        assert.equal(result.written, all.length);
        assert.deepEqual(await back(name), want, name);
        if (format === "json" && end === "") assert.deepEqual(byId(JSON.parse(readFileSync(file(name), "utf8"))), all);
        if (format === "ndjson" && end === ".gz") {
          assert.equal(zlib.gunzipSync(readFileSync(file(name))).toString("utf8").trim().split("\n").length, all.length);
        }
        assert.equal(statSync(file(name)).mode & 0o077, 0, "only the owner can read it");
      }
    }
  });

  it("the columns of CSV are found by looking at every item; nested ones by dots", async () => {
    const { container } = await at.db.containers.create({ id: "cols", partitionKey: { paths: ["/pk"] } });
    await container.items.create({ pk: "k", id: "1", address: { city: "Oslo", at: { x: 1 } }, none: {} });
    await container.items.create({ pk: "k", id: "2", late: "yes" });
    for (const args of [[], ["--nested"]]) {
      const name = `cols${args.length}.csv`;
      const { code, stderr } = await run(["export", "db/cols", name, "--data", at.server.data, ...args], { folder: file() });
      assert.equal(code, 0, stderr);
      const header = readFileSync(file(name), "utf8").split("\r\n")[0];
      assert.equal(header.split(",")[0], "id");
      assert.equal(header.includes("address.at.x"), args.length === 1);
      assert.deepEqual(await back(name, ...args), await itemsOf(container));
    }
  });

  it("a folder gets parts, and what is there is not written over unless told", async () => {
    const { code, stderr, result } = await out("parts/", "--format", "json", "--compression", "gzip");
    assert.equal(code, 0, stderr);
    assert.equal(result.files, 1);
    assert.deepEqual(readdirSync(file("parts")), ["part-00001.json.gz"]);
    assert.deepEqual(await back("parts"), all);
    const again = await out("parts/", "--format", "json", "--compression", "gzip");
    assert.equal(again.code, 1);
    assert.match(again.stderr, /part-00001\.json\.gz is there already.*--overwrite/);
    assert.equal((await out("parts/", "--format", "json", "--compression", "gzip", "--overwrite")).code, 0);
  });

  it("many parts are one export, each readable by itself", async () => {
    const container = await at.container({ throughput: 18_000 });
    const large = items(1_500, { text: "x".repeat(2_000) });
    await container.items.executeBulkOperations(large.map((one) => ({ operationType: "Create", partitionKey: one.pk, resourceBody: one })));
    for (const format of ["json", "ndjson", "csv"]) {
      const { code, stderr, result } = await run(["export", `db/${container.id}`, `many-${format}/`, "--format", format, "--part-mb", "1",
        "--data", at.server.data], { folder: file() });
      assert.equal(code, 0, stderr);
      assert.ok(result.files >= 3);
      assert.deepEqual(await back(`many-${format}`), byId(large));
      for (const name of readdirSync(file(`many-${format}`))) {
        const part = await at.container();
        assert.equal((await run(["import", `db/${part.id}`, `many-${format}/${name}`, "--data", at.server.data], { folder: file() })).code, 0);
        if (format === "csv") break;
      }
    }
  });

  it("A34: standard output has the data alone, and a query chooses them", async () => {
    const { code, stdout, stderr, result } = await out("-", "--query", "SELECT c.id, c.n FROM c WHERE c.n < 5");
    assert.equal(code, 0, stderr);
    const found = stdout.trim().split("\n").map((line) => JSON.parse(line));
    assert.deepEqual(byId(found), byId([...items(5).map(({ id, n }) => ({ id, n })), { id: "types", n: -0.5e-7 }]));
    assert.equal(JSON.parse(stderr.trim().split("\n").at(-1)).written, 6);
    assert.ok(result);
    const kept = await out("-", "--system-properties");
    assert.ok(JSON.parse(kept.stdout.split("\n")[0])._etag);
    const empty = await at.container();
    const nothing = await run(["export", `db/${empty.id}`, "-", "--format", "json", "--data", at.server.data], { folder: file() });
    assert.equal(nothing.stdout, "[]\n");
  });

  it("A34: another account is a target, over https", async () => {
    const other = await start({ dev: false });
    after(() => other.close());
    const { code, stderr, result } = await run(["export", `db/${source.id}`, `https://127.0.0.1:${other.port}/new/copy`, "--to-data", other.data,
      "--create", "--partition-key", "/pk", "--throughput", "20000", "--data", at.server.data], { folder: file() });
    assert.equal(code, 0, stderr);
    assert.deepEqual([result.command, result.written], ["export", all.length]);
    assert.deepEqual(await itemsOf(other.client().database("new").container("copy")), all);
  });

  it("what a row of CSV cannot be is rejected with the reason", async () => {
    const { code, result } = await out("-", "--format", "csv", "--query", "SELECT VALUE c.n FROM c WHERE c.n < 3", "--rejects", "rows.rejects");
    assert.equal(code, 2);
    assert.ok(result.rejected > 0);
    assert.match(lines(file("rows.rejects"))[0].reason, /not an object/);
    const nameless = await out("nameless.csv", "--rejects", "nameless.rejects");
    assert.deepEqual([nameless.code, nameless.result.written], [2, all.length - 1], nameless.stderr);
    assert.match(lines(file("nameless.rejects"))[0].reason, /without a name/);
    assert.deepEqual(await back("nameless.csv"), all.filter((one) => one.id !== "names"));
  });
});

// Reading 10,000 items costs some 1,800 RU: seconds, with 400 RU/s.
describe("export from a server that throttles", () => {
  const file = workFolder();
  const count = 10_000;
  let server, container;
  before(async () => {
    server = await start({ dev: false, args: ["--throttling", "report"] });
    writeFileSync(file("all.ndjson"), items(count, { text: "y".repeat(900) }).map((one) => JSON.stringify(one)).join("\n"));
    const { code, stderr } = await run(["import", "db/c", "all.ndjson", "--create", "--partition-key", "/pk", "--throughput", "400",
      "--data", server.data], { folder: file() });
    assert.equal(code, 0, stderr);
    await server.restart({ args: [] });
    container = server.client().database("db").container("c");
  });
  after(() => server?.close());
  const args = (name, ...more) => ["export", "db/c", name, "--data", server.data, ...more];
  const ids = (name) => lines(file(name)).map((one) => one.id).sort();
  const wanted = items(count).map((one) => one.id).sort();

  it("A34: partitions that split on the way lose nothing, and give nothing twice", async () => {
    const command = begin(args("split.ndjson"), { folder: file() });
    await seen(() => existsSync(file("split.ndjson.partial")) && statSync(file("split.ndjson.partial")).size > 0, () => "a beginning");
    const split = await server.split(container);
    assert.equal(split.code, 0, split.out);
    const { code, stderr, result } = await command.ended;
    assert.equal(code, 0, stderr);
    assert.ok(result.throttled > 0);
    assert.deepEqual(ids("split.ndjson"), wanted);
  });

  for (const end of ["ndjson", "ndjson.gz", "json"]) {
    it(`A34: killed in the middle, an export to ${end} goes on where it was`, async () => {
      const name = `killed.${end}`;
      const checkpoint = ["--checkpoint", `${name}.checkpoint`];
      const first = begin(args(name, ...checkpoint), { folder: file() });
      await reached(file(`${name}.checkpoint`), 1);
      first.kill("SIGKILL");
      await first.ended;
      assert.ok(!existsSync(file(name)), "a file that is not complete has another name");
      const { code, stderr, result } = await run(args(name, ...checkpoint), { folder: file() });
      assert.equal(code, 0, stderr);
      assert.match(stderr, /going on from/);
      assert.equal(result.written, count);
      const bytes = readFileSync(file(name));
      const text = (end.endsWith("gz") ? zlib.gunzipSync(bytes) : bytes).toString("utf8");
      const found = end === "json" ? JSON.parse(text) : text.trim().split("\n").map((line) => JSON.parse(line));
      assert.deepEqual(found.map((one) => one.id).sort(), wanted);
    });
  }

  it("a signal stops it; without a checkpoint nothing is left behind", async () => {
    const command = begin(args("stopped.ndjson"), { folder: file() });
    await seen(() => existsSync(file("stopped.ndjson.partial")), () => "a beginning");
    command.kill("SIGINT");
    assert.equal((await command.ended).code, 3);
    assert.ok(!existsSync(file("stopped.ndjson.partial")) && !existsSync(file("stopped.ndjson")));
  });
});
