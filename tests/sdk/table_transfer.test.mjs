// orrery import and export of tables: every type both ways, what is rejected, modes, stopping and going on, throttling.
// Three servers, some twenty seconds.
import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";

import { sharedTables, startTables, tableClient } from "./table.mjs";
import { begin, lines, reached, run, workFolder } from "./transfer.mjs";

const ndjson = (records) => records.map((one) => (typeof one === "string" ? one : JSON.stringify(one))).join("\n");
const entities = (count, more = {}) => Array.from({ length: count }, (_, i) =>
  ({ PartitionKey: `p${i % 7}`, RowKey: `r${String(i).padStart(6, "0")}`, n: i, ...more }));

// Every type, at its edges; as the Table protocol writes them, so that digits can be compared.
const everyType = [
  {
    PartitionKey: "it's \"quoted\" π", RowKey: "", text: "a\nb", empty: "", yes: true, no: false, small: -2147483648,
    long: "9223372036854775807", "long@odata.type": "Edm.Int64", past53: "9007199254740993", "past53@odata.type": "Edm.Int64",
    real: 0.1, whole: "5.0", "whole@odata.type": "Edm.Double", tiny: 5e-324,
    when: "2024-02-29T23:59:59.1234567Z", "when@odata.type": "Edm.DateTime",
    first: "1601-01-01T00:00:00Z", "first@odata.type": "Edm.DateTime",
    guid: "c9da6455-213d-42c9-9a79-3e9149a57833", "guid@odata.type": "Edm.Guid",
    bytes: "AP8Q", "bytes@odata.type": "Edm.Binary", none: "", "none@odata.type": "Edm.Binary",
    // The server adds neither of these to entities.
    _ts: 7, id: "an id of mine",
  },
  { PartitionKey: "", RowKey: "b", nan: "NaN", "nan@odata.type": "Edm.Double", inf: "Infinity", "inf@odata.type": "Edm.Double",
    minus: "-Infinity", "minus@odata.type": "Edm.Double", looks: "12", date: "2024-02-29T00:00:00Z" },
];

describe("import and export of tables", () => {
  const at = sharedTables();
  const file = workFolder();
  const orrery = (...args) => run([...args, "--data", at.server.data], { folder: file() });
  const named = (client) => `table:${client.tableName}`;
  // As the server stores them, in order, without what it adds.
  async function stored(client, raw = at.raw) {
    const { json } = await raw("GET", `${client.tableName}()`);
    return json.value.map((one) => Object.fromEntries(Object.entries(one)
      .filter(([name]) => name !== "Timestamp" && name !== "odata.etag")));
  }

  it("B2: export and import give back every type digit by digit, in every format", async () => {
    const from = await at.table();
    for (const one of everyType) {
      const { status, text } = await at.raw("POST", from.tableName, { body: one });
      assert.equal(status, 201, text);
    }
    const before = await stored(from);
    assert.equal(before.find((one) => one.past53).past53, "9007199254740993");
    for (const name of ["a.ndjson", "a.json.gz", "a.csv"]) {
      const out = await orrery("export", named(from), name);
      assert.equal(out.code, 0, out.stderr);
      assert.deepEqual([out.result.result, out.result.written], ["complete", 2]);
      const to = await at.table();
      const back = await orrery("import", named(to), name);
      assert.equal(back.code, 0, back.stderr);
      assert.deepEqual([back.result.result, back.result.written, back.result.rejected], ["complete", 2, 0]);
      assert.deepEqual(await stored(to), before, name);
    }
    // Without a file between.
    const straight = await orrery("export", named(from), "table:straight", "--create", "--throughput", "1000");
    assert.equal(straight.code, 0, straight.stderr);
    assert.deepEqual(await stored(tableClient(at.server, "straight")), before);
  });

  it("many entities in transactions, a filter, and a table that is not there", async () => {
    const missing = await orrery("export", "table:nowhere", "x.ndjson");
    assert.equal(missing.code, 1);
    assert.match(missing.stderr, /has no table nowhere/);
    writeFileSync(file("many.ndjson"), ndjson(entities(2_500)));
    const uncreated = await orrery("import", "table:many", "many.ndjson");
    assert.equal(uncreated.code, 1);
    assert.match(uncreated.stderr, /has no table many: --create makes it/);
    const made = await orrery("import", "table:many", "many.ndjson", "--create");
    assert.equal(made.code, 0, made.stderr);
    assert.equal(made.result.written, 2_500);
    const out = await orrery("export", "table:many", "some.ndjson", "--query", "PartitionKey eq 'p3' and n ge 100");
    assert.equal(out.code, 0, out.stderr);
    const expected = entities(2_500).filter((one) => one.PartitionKey === "p3" && one.n >= 100);
    assert.deepEqual(lines(file("some.ndjson")), expected);
    const wrong = await orrery("import", "table:many", "many.ndjson", "--create", "--partition-key", "/city");
    assert.equal(wrong.code, 1);
    assert.match(wrong.stderr, /always divided by PartitionKey/);
    const mixed = await orrery("import", "db/container", "table:many");
    assert.equal(mixed.code, 1);
    assert.match(mixed.stderr, /no container|different kinds/);
  });

  it("what is rejected is in a file with the reason, and the others of its transaction are written", async () => {
    const to = await at.table();
    const good = entities(150);
    const bad = [
      "{\"RowKey\":\"r\"}", "not json", "{\"PartitionKey\":5,\"RowKey\":\"r\"}",
      "{\"PartitionKey\":\"p1\",\"RowKey\":\"a/b\"}", "{\"PartitionKey\":\"p1\",\"RowKey\":\"list\",\"list\":[1]}",
      "{\"PartitionKey\":\"p1\",\"RowKey\":\"day\",\"day\":\"monday\",\"day@odata.type\":\"Edm.DateTime\"}",
      `{"PartitionKey":"p1","RowKey":"large","text":"${"x".repeat(40_000)}"}`,
    ];
    writeFileSync(file("bad.ndjson"), ndjson([...good, ...bad]));
    const { code, stderr, result } = await orrery("import", named(to), "bad.ndjson", "--rejects", "bad.rejects");
    assert.equal(code, 2, stderr);
    assert.deepEqual([result.read, result.written, result.rejected], [157, 150, 7]);
    const rejects = lines(file("bad.rejects"));
    assert.deepEqual(rejects.map((one) => one.line), bad.map((_, i) => 151 + i));
    for (const [i, pattern] of [/no PartitionKey/, /not JSON/, /not a string/, /400/, /400/, /400/, /400.*64/].entries()) {
      assert.match(rejects[i].reason, pattern);
    }
    assert.equal((await stored(to)).length, 150);
  });

  it("modes: create rejects what is there and is another, skip leaves it, upsert replaces it", async () => {
    const to = await at.table();
    const text = everyType.map((one) => JSON.stringify(one)).join("\n");
    writeFileSync(file("modes.ndjson"), text);
    const into = (...args) => orrery("import", named(to), "modes.ndjson", ...args);
    assert.equal((await into("--mode", "create")).result.written, 2);
    // The same once more is no conflict: it may have been written by a run whose answer was lost.
    const again = await into("--mode", "create");
    assert.deepEqual([again.code, again.result.present], [0, 2], again.stderr);
    await at.raw("PUT", `${to.tableName}(PartitionKey='',RowKey='b')`, { body: { other: 1 } });
    const create = await into("--mode", "create", "--rejects", "modes.rejects");
    assert.deepEqual([create.code, create.result.present, create.result.rejected], [2, 1, 1], create.stderr);
    assert.match(lines(file("modes.rejects"))[0].reason, /is there already, and is another/);
    const skip = await into("--mode", "skip");
    assert.deepEqual([skip.code, skip.result.present], [0, 2], skip.stderr);
    assert.equal((await to.getEntity("", "b")).other, 1);
    assert.equal((await into()).result.written, 2);
    assert.equal((await to.getEntity("", "b")).other, undefined);
  });

  it("an entity that comes several times keeps its last state", async () => {
    const to = await at.table();
    const records = Array.from({ length: 900 }, (_, n) => ({ PartitionKey: "p", RowKey: `r${n % 3}`, n }));
    writeFileSync(file("again.ndjson"), ndjson(records));
    const { code, stderr } = await orrery("import", named(to), "again.ndjson");
    assert.equal(code, 0, stderr);
    assert.deepEqual((await stored(to)).map((one) => one.n), [897, 898, 899]);
  });
});

for (const flavour of ["storage", "cosmos"]) describe(`import and export of tables, flavour ${flavour}, throttled`, () => {
  const file = workFolder();
  const count = 4_000;
  const records = entities(count, { text: "y".repeat(300), long: "9007199254740993", "long@odata.type": "Edm.Int64" });
  let server;
  before(async () => {
    server = await startTables({ dev: false, args: ["--table-flavour", flavour] });
    writeFileSync(file("all.ndjson"), ndjson(records));
  });
  after(() => server?.close());
  const importing = (table, ...more) => ["import", `table:${table}`, "all.ndjson", "--create", "--throughput", "400", "--data",
    server.data, "--in-flight", "2", "--checkpoint", `${table}.checkpoint`, ...more];
  async function faster(table) {
    const container = server.client().database("table:tables").container(table);
    const { resource: offer } = await container.readOffer();
    offer.content.offerThroughput = 50_000;
    await server.client().offer(offer.id).replace(offer);
  }
  async function checkExport(table) {
    const exporting = ["export", `table:${table}`, `${table}.ndjson`, "--data", server.data, "--checkpoint", `${table}.export`];
    const first = begin(exporting, { folder: file() });
    await Promise.race([reached(file(`${table}.export`), 0), first.ended]);
    first.kill();
    // It may have been quicker.
    if ((await first.ended).code !== 0) {
      const second = await run(exporting, { folder: file() });
      assert.equal(second.code, 0, second.stderr);
    }
    const byKeys = (one, other) => (one.PartitionKey + one.RowKey < other.PartitionKey + other.RowKey ? -1 : 1);
    assert.deepEqual(lines(file(`${table}.ndjson`)).sort(byKeys), [...records].sort(byKeys));
  }

  it("B2: what is throttled is waited for, and every entity gets there", async () => {
    const command = begin(importing("slow"), { folder: file() });
    await reached(file("slow.checkpoint"), 100);
    await faster("slow");
    const { code, stderr, result } = await command.ended;
    assert.equal(code, 0, stderr);
    assert.equal(result.written, count);
    assert.ok(result.throttled > 0, JSON.stringify(result));
    await checkExport("slow");
  });

  it("B2: killed in the middle, it goes on from its checkpoint", async () => {
    const first = begin(importing("killed", "--mode", "create"), { folder: file() });
    await reached(file("killed.checkpoint"), 100);
    first.kill();
    assert.equal((await first.ended).signal, "SIGKILL");
    await faster("killed");
    const second = await run(importing("killed", "--mode", "create"), { folder: file() });
    assert.equal(second.code, 0, second.stderr);
    assert.match(second.stderr, /going on from .*: [\d,]+ records were done/);
    assert.deepEqual([second.result.read, second.result.written + second.result.present], [count, count]);
    assert.ok(!existsSync(file("killed.checkpoint")));
    await checkExport("killed");
  });
});
