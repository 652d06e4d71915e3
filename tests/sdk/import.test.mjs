// orrery import: formats, what is rejected, stopping and going on, throttling, other accounts.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import zlib from "node:zlib";

import { shared, start } from "./server.mjs";
import { begin, byId, itemsOf, lines, reached, run, seen, workFolder } from "./transfer.mjs";

const items = (count, more = {}) =>
  Array.from({ length: count }, (_, i) => ({ id: `i${i}`, pk: `k${i % 20}`, n: i, ...more }));
const ndjson = (all) => all.map((one) => JSON.stringify(one)).join("\n");

describe("import", () => {
  const at = shared();
  const file = workFolder();
  const where = (container) => `db/${container.id}`;
  const into = (container, ...args) =>
    run(["import", where(container), ...args, "--data", at.server.data], { folder: file() });

  it("A34: NDJSON, arrays and CSV, plain and in gzip, are told by name or by their bytes", async () => {
    const all = items(50, { text: "π \"quoted\", with\nlines", none: null, deep: { list: [1, { a: "]" }], yes: true } });
    const csv = ["id,pk,n,text,none,deep", ...all.map((one) =>
      `${one.id},${one.pk},${one.n},"π ""quoted"", with\nlines",null,"${JSON.stringify(one.deep).replaceAll('"', '""')}"`)].join("\r\n");
    const array = JSON.stringify(all, null, 2);
    writeFileSync(file("a.ndjson"), ndjson(all));
    writeFileSync(file("a.json"), array);
    writeFileSync(file("a.csv"), csv);
    writeFileSync(file("a.jsonl.gz"), zlib.gzipSync(ndjson(all)));
    // Of two parts, as `cat a.gz b.gz` makes; and without a name that tells.
    writeFileSync(file("b.csv.gz"), Buffer.concat([zlib.gzipSync(csv.slice(0, 700)), zlib.gzipSync(csv.slice(700))]));
    writeFileSync(file("packed"), zlib.gzipSync(array));
    for (const name of ["a.ndjson", "a.json", "a.csv", "a.jsonl.gz", "b.csv.gz", "packed"]) {
      const container = await at.container();
      const { code, stderr, result } = await into(container, name);
      assert.equal(code, 0, `${name}: ${stderr}`);
      assert.deepEqual([result.result, result.read, result.written, result.rejected], ["complete", 50, 50, 0]);
      assert.ok(result.requestUnits > 50);
      assert.deepEqual(await itemsOf(container), byId(all), name);
    }
  });

  it("A34: standard input, in pieces", async () => {
    const container = await at.container();
    const all = items(200);
    const command = begin(["import", where(container), "-", "--data", at.server.data], { folder: file(), input: null });
    const text = ndjson(all);
    command.child.stdin.write(text.slice(0, 3_000));
    // What came is written while more is waited for.
    await seen(async () => (await itemsOf(container)).length > 0, () => "items before the end of the input");
    command.child.stdin.end(text.slice(3_000));
    assert.equal((await command.ended).code, 0);
    assert.deepEqual(await itemsOf(container), byId(all));
  });

  it("cells of CSV have types by rules, and by --types; columns may be given, and nested", async () => {
    const container = await at.container();
    writeFileSync(file("t.csv"), "1;k;007;12345678901234567890;1e3;\"5\";true;;{x;Oslo;3\n");
    const { code, stderr } = await into(container, "t.csv", "--delimiter", ";",
      "--columns", "id,pk,zeros,long,number,text,yes,absent,brace,address.city,address.floor", "--nested",
      "--types", "id=string,address.floor=string");
    assert.equal(code, 0, stderr);
    assert.deepEqual(await itemsOf(container), [{
      id: "1", pk: "k", zeros: "007", long: "12345678901234567890", number: 1000, text: "5", yes: true, brace: "{x",
      address: { city: "Oslo", floor: "3" },
    }]);
    writeFileSync(file("u.csv"), "id,pk,price\n\"1\",k,cheap\n\"2\",k,5\n");
    const refused = await into(container, "u.csv", "--types", "price=number", "--rejects", "u.rejects");
    assert.equal(refused.code, 2, refused.stderr);
    assert.match(lines(file("u.rejects"))[0].reason, /column 'price' is not a number/);
  });

  it("a folder is the files in it whose names say a format", async () => {
    const container = await at.container();
    mkdirSync(file("folder"));
    writeFileSync(file("folder/1.ndjson"), ndjson(items(10)));
    writeFileSync(file("folder/2.json"), JSON.stringify([{ id: "last", pk: "k" }]));
    writeFileSync(file("folder/README"), "not data");
    const { code, stderr } = await into(container, "folder");
    assert.equal(code, 0, stderr);
    assert.match(stderr, /passed over .*README/);
    assert.equal((await itemsOf(container)).length, 11);
  });

  it("A34: makes database and container with key and throughput, if asked", async () => {
    writeFileSync(file("one.ndjson"), ndjson(items(1)));
    const to = (name, ...args) => run(["import", name, "one.ndjson", "--data", at.server.data, ...args], { folder: file() });
    const missing = await to("made/first");
    assert.equal(missing.code, 1);
    assert.match(missing.stderr, /has no container made\/first: --create makes it/);
    const { code, stderr } = await to("made/first", "--create", "--partition-key", "/pk", "--throughput", "auto:5000");
    assert.equal(code, 0, stderr);
    const made = at.client.database("made").container("first");
    assert.deepEqual((await made.read()).resource.partitionKey.paths, ["/pk"]);
    const offer = (await made.readOffer()).resource;
    assert.equal(offer.content.offerAutopilotSettings.maxThroughput, 5000);
    const other = await to("made/first", "--create", "--partition-key", "/other");
    assert.equal(other.code, 1);
    assert.match(other.stderr, /is there already, with the partition key \/pk/);
    assert.equal((await to("made/levels", "--create", "--partition-key", "/pk,/n")).code, 0);
    assert.deepEqual((await at.client.database("made").container("levels").read()).resource.partitionKey.kind, "MultiHash");
    assert.equal((await to("made/fixed", "--create")).code, 0);
  });

  it("A34: what is rejected is in a file, with the reason and the record, and nothing else is lost", async () => {
    const container = await at.container({ uniqueKeyPolicy: { uniqueKeys: [{ paths: ["/code"] }] } });
    const bad = [
      "{\"pk\":\"k\"}", "not json", "[1]", "{\"id\":5,\"pk\":\"k\"}", "{\"id\":\"a/b\",\"pk\":\"k\"}",
      `{"id":"large","pk":"k","text":"${"x".repeat(2_200_000)}"}`, `{"id":"huge","pk":"k","text":"${"x".repeat(9_000_000)}"}`,
      "{\"id\":\"twice\",\"pk\":\"k\",\"code\":1}", "{\"id\":\"array\",\"pk\":[1]}", "{\"id\":\"dup\",\"id\":\"dup\",\"pk\":\"k\"}",
    ];
    const good = items(150, { code: 1 }).map((one) => ({ ...one, pk: one.id }));
    good.push({ id: "k", pk: "k", code: 1 });
    const text = [...good.map((one) => JSON.stringify(one)), ...bad].join("\n");
    writeFileSync(file("bad.ndjson"), text);
    const { code, stderr, result } = await into(container, "bad.ndjson", "--rejects", "bad.rejects");
    assert.equal(code, 2, stderr);
    assert.deepEqual([result.read, result.written, result.rejected], [161, 151, 10]);
    assert.equal(result.rejects, "bad.rejects");
    const rejects = lines(file("bad.rejects"));
    assert.deepEqual(rejects.map((one) => one.line), bad.map((_, i) => 152 + i));
    for (const [i, pattern] of [/no id/, /not JSON/, /not a JSON object/, /not a string/, /400|id/, /2200\d+ bytes.*at most 2097152/,
      /90000\d+ bytes/, /409|unique/, /array/, /not JSON|twice/].entries()) {
      assert.match(rejects[i].reason, pattern);
      assert.equal(rejects[i].source, "bad.ndjson");
    }
    assert.equal(rejects[0].record, bad[0]);
    assert.ok(rejects[6].record.length < 5_000, "of one that is too long, its beginning");
    assert.deepEqual(await itemsOf(container), byId(good));
    const few = await into(container, "bad.ndjson", "--max-rejects", "2", "--rejects", "few.rejects");
    assert.equal(few.code, 1);
    assert.match(few.stderr, /more than 2 records are rejected/);
    // Rejected records of another run are not written over.
    const again = await into(container, "bad.ndjson", "--rejects", "bad.rejects");
    assert.equal(again.code, 1);
    assert.match(again.stderr, /cannot write the rejected records/);
  });

  it("memory has a bound, whatever a file expands to", async () => {
    const container = await at.container();
    const bomb = zlib.createGzip({ level: 1 });
    const parts = [];
    bomb.on("data", (part) => parts.push(part));
    bomb.write("[{\"id\":\"first\",\"pk\":\"k\"},\"");
    const filler = Buffer.alloc(4 << 20, "x");
    for (let i = 0; i < 100; ++i) if (!bomb.write(filler)) await new Promise((go) => bomb.once("drain", go));
    bomb.end("\",{\"id\":\"last\",\"pk\":\"k\"}]");
    await new Promise((go) => bomb.once("end", go));
    writeFileSync(file("bomb.json.gz"), Buffer.concat(parts));
    const { code, stderr, result } = await run(
      ["import", where(container), "bomb.json.gz", "--data", at.server.data, "--rejects", "bomb.rejects"],
      { folder: file(), memory: 200 << 20 });
    assert.equal(code, 2, stderr);
    assert.deepEqual([result.written, result.rejected], [2, 1]);
    assert.match(lines(file("bomb.rejects"))[0].reason, /419430402 bytes/);
  });

  it("files that are cut off or damaged fail, after what can be read of them was written", async () => {
    const container = await at.container();
    const whole = JSON.stringify(items(20));
    writeFileSync(file("cut.json"), whole.slice(0, -20));
    const packed = zlib.gzipSync(ndjson(items(2_000)));
    writeFileSync(file("cut.ndjson.gz"), packed.subarray(0, packed.length - 200));
    writeFileSync(file("what"), "some text");
    for (const [name, pattern] of [["cut.json", /cut\.json: the file ends at line 1 before the array does/],
      ["cut.ndjson.gz", /ends in the middle of its compressed data/], ["what", /say --format/], ["gone.json", /no file gone\.json/]]) {
      const { code, stderr, result } = await into(container, name, "--rejects", `${name}.rejects`);
      assert.equal(code, 1, name);
      assert.match(stderr, pattern);
      assert.equal(result.result, "failed");
    }
    assert.ok((await itemsOf(container)).length >= 19);
  });

  it("what is there already is replaced, rejected or left, as --mode says", async () => {
    const container = await at.container();
    await container.items.create({ id: "i0", pk: "k0", n: "other" });
    writeFileSync(file("mode.ndjson"), ndjson(items(3)));
    const skip = await into(container, "mode.ndjson", "--mode", "skip");
    assert.deepEqual([skip.code, skip.result.written, skip.result.present], [0, 2, 1]);
    // What says the same was written before.
    const create = await into(container, "mode.ndjson", "--mode", "create", "--rejects", "mode.rejects");
    assert.deepEqual([create.code, create.result.present, create.result.rejected], [2, 2, 1], create.stderr);
    assert.match(lines(file("mode.rejects"))[0].reason, /there already, and is another/);
    assert.equal((await into(container, "mode.ndjson")).result.written, 3);
    assert.deepEqual(await itemsOf(container), items(3));
  });

  it("of an item that comes several times, the last one stays", async () => {
    const container = await at.container({ throughput: 18_000 });
    const all = Array.from({ length: 3_000 }, (_, i) => ({ id: `i${i % 7}`, pk: `k${i % 7}`, n: i }));
    writeFileSync(file("versions.ndjson"), ndjson(all));
    const { code, stderr, result } = await into(container, "versions.ndjson");
    assert.deepEqual([code, result.written], [0, 3_000], stderr);
    assert.deepEqual(await itemsOf(container), byId(all.slice(-7)));
  });

  it("items without an id get the same one each time", async () => {
    const container = await at.container();
    writeFileSync(file("noid.ndjson"), "{\"pk\":\"a\"}\n{\"pk\":\"b\"}\n{\"id\":\"own\",\"pk\":\"c\"}\n");
    for (const _ of [1, 2]) {
      const { code, stderr } = await into(container, "noid.ndjson", "--generate-ids");
      assert.equal(code, 0, stderr);
      assert.equal((await itemsOf(container)).length, 3);
    }
  });

  it("says what it could not reach", async () => {
    const container = await at.container();
    writeFileSync(file("r.ndjson"), ndjson(items(1)));
    const refused = await run(["import", where(container), "r.ndjson", "--data", file("nowhere")], { folder: file() });
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /no server is running on the data folder .*nowhere/);
    const gone = await run(["import", where(container), "r.ndjson", "--host", "127.0.0.1", "--port", "1", "--key", at.server.key],
      { folder: file() });
    assert.match(gone.stderr, /no server answers on 127\.0\.0\.1:1/);
  });
});

describe("import into a server that throttles", () => {
  const at = shared({ dev: false });
  const file = workFolder();
  let number = 0;
  const slow = async (throughput) => {
    const { container } = await at.db.containers.create({ id: `s${++number}`, partitionKey: { paths: ["/pk"] }, throughput });
    return container;
  };
  const faster = async (container) => {
    const { resource: offer } = await container.readOffer();
    offer.content.offerThroughput = 50_000;
    await at.client.offer(offer.id).replace(offer);
  };
  const count = 2_000;
  before(() => writeFileSync(file("many.ndjson"),
    items(count).map((one) => (one.n % 100 === 7 ? `bad ${one.n}` : JSON.stringify(one))).join("\n")));
  const args = (container, ...more) => ["import", `db/${container.id}`, "many.ndjson", "--data", at.server.data, "--checkpoint",
    `${container.id}.checkpoint`, "--rejects", `${container.id}.rejects`, ...more];
  const check = async (container) => {
    assert.deepEqual((await itemsOf(container)).map((one) => one.n), byId(items(count)).map((one) => one.n).filter((n) => n % 100 !== 7));
    const rejected = lines(file(`${container.id}.rejects`)).map((one) => one.record);
    assert.deepEqual(rejected, items(count).filter((one) => one.n % 100 === 7).map((one) => `bad ${one.n}`), "each once, in order");
    assert.ok(!existsSync(file(`${container.id}.checkpoint`)));
  };

  it("A34: 429s are waited for, and every item gets there", async () => {
    const container = await slow(1_000);
    const command = begin(args(container), { folder: file() });
    await reached(file(`${container.id}.checkpoint`), 100);
    await faster(container);
    const { code, stderr, result } = await command.ended;
    assert.equal(code, 2, stderr);
    assert.ok(result.throttled > 0);
    assert.equal(result.written, count - 20);
    await check(container);
  });

  it("A34: on a terminal a bar tells rate, charge and time left, and is gone at the end", async () => {
    const container = await slow(1_000);
    const command = begin(args(container), { folder: file(), terminal: true });
    await command.said(/\r\[#+\.+\] +\d+ %  [\d,]+ records  [\d,]+\/s  [\d,]+ RU\/s[^\r\n]* (\d+:)?\d+:\d\d left\x1b\[K/);
    await faster(container);
    const { code, stdout } = await command.ended;
    assert.equal(code, 2, stdout);
    const bars = stdout.split("\r").filter((one) => /^\[[#.]{24}\] /.test(one));
    assert.ok(bars.length > 0);
    for (const one of bars) assert.match(one, /^[^\n]*\x1b\[K$/, "each is drawn over the one before, on one line");
    const left = stdout.slice(stdout.lastIndexOf("\x1b[K") + 3);
    assert.equal(JSON.parse(left).written, count - 20, "what follows is the result alone");
    await check(container);
  });

  it("A34: killed in the middle, it goes on where it was", async () => {
    const container = await slow(1_000);
    const first = begin(args(container), { folder: file() });
    await reached(file(`${container.id}.checkpoint`), 100);
    first.kill("SIGKILL");
    await first.ended;
    assert.ok((await itemsOf(container)).length < count - 20);
    await faster(container);
    const { code, stderr, result } = await run(args(container), { folder: file() });
    assert.equal(code, 2, stderr);
    assert.match(stderr, /going on from .*: [\d,]+ records were done/);
    assert.deepEqual([result.read, result.written, result.rejected], [count, count - 20, 20]);
    await check(container);
  });

  it("A34: a signal stops it in good order, and creates are not taken for conflicts afterwards", async () => {
    const container = await slow(1_000);
    const first = begin(args(container, "--mode", "create"), { folder: file() });
    await reached(file(`${container.id}.checkpoint`), 100);
    first.kill("SIGTERM");
    const stopped = await first.ended;
    assert.equal(stopped.code, 3, stopped.stderr);
    assert.equal(stopped.result.result, "stopped");
    await faster(container);
    const other = await run(["import", `db/${container.id}`, "other.ndjson", "--data", at.server.data, "--checkpoint",
      `${container.id}.checkpoint`], { folder: file() });
    assert.equal(other.code, 1);
    const { code, stderr, result } = await run(args(container, "--mode", "create"), { folder: file() });
    assert.equal(code, 2, stderr);
    assert.equal(result.written + result.present, count - 20);
    await check(container);
  });

  it("A34: partitions that split on the way are found again", async () => {
    const container = await slow(1_000);
    const command = begin(args(container), { folder: file() });
    await reached(file(`${container.id}.checkpoint`), 100);
    const split = await at.server.split(container);
    assert.equal(split.code, 0, split.out);
    await faster(container);
    const { code, stderr } = await command.ended;
    assert.equal(code, 2, stderr);
    await check(container);
  });

  it("a server that goes away and comes back is waited for", async () => {
    const container = await slow(1_000);
    const command = begin(args(container), { folder: file() });
    await reached(file(`${container.id}.checkpoint`), 100);
    await at.server.restart({ hard: true });
    at.client = at.server.client();
    at.db = at.client.database("db");
    const again = at.db.container(container.id);
    await faster(again);
    const { code, stderr } = await command.ended;
    assert.equal(code, 2, stderr);
    await check(again);
  });
});

describe("import from another account", () => {
  const at = shared();
  const file = workFolder();
  let other, source;
  before(async () => {
    other = await start({ dev: false });
    const client = other.client();
    const { database } = await client.databases.create({ id: "there" });
    source = (await database.containers.create({ id: "things", partitionKey: { paths: ["/pk"] }, throughput: 18_000 })).container;
    await source.items.executeBulkOperations(items(500).map((one) => ({ operationType: "Create", partitionKey: one.pk, resourceBody: one })));
  });
  after(() => other?.close());

  it("A34: over https, with a read-only key, and only if its certificate is to be trusted", async () => {
    const container = await at.container();
    const address = `https://localhost:${other.port}/there/things`;
    const from = (...args) => run(["import", `db/${container.id}`, address, "--data", at.server.data, ...args],
      { folder: file(), env: { ORRERY_FROM_KEY: other.keys.primaryReadonly } });
    const strange = await from();
    assert.equal(strange.code, 1);
    assert.match(strange.stderr, /the certificate of localhost:\d+ is not one to trust.*--from-ca/);
    assert.equal((await itemsOf(container)).length, 0);
    const { code, stderr, result } = await from("--from-ca", join(other.data, "cert.pem"));
    assert.equal(code, 0, stderr);
    assert.equal(result.written, 500);
    assert.deepEqual(await itemsOf(container), byId(items(500)));
    assert.equal((await from("--from-insecure")).code, 0);
    const some = await from("--from-data", other.data, "--query", "SELECT * FROM c WHERE c.n < 10");
    assert.deepEqual([some.code, some.result.read], [0, 10], some.stderr);
  });
});
