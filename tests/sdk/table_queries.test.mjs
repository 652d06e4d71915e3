// The Table face: queries. What they read is told by their charge, so the tests need no clock. One server, some seconds.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { all, odata, refused, sharedTables } from "./table.mjs";

describe("table queries", () => {
  const at = sharedTables();

  // Partitions p00 to p19 with rows r00 to r29 each, in batches.
  async function filled() {
    const table = await at.table();
    for (let p = 0; p < 20; ++p) {
      await table.submitTransaction(Array.from({ length: 30 }, (_, r) => ["create", {
        partitionKey: `p${String(p).padStart(2, "0")}`, rowKey: `r${String(r).padStart(2, "0")}`, n: p * 100 + r,
        even: r % 2 === 0, text: "x".repeat(200),
      }]));
    }
    return table;
  }
  const names = (found) => found.map((one) => `${one.partitionKey}/${one.rowKey}`);
  const asked = async (table, filter, more = "") => {
    const answer = await at.raw("GET", `${table.tableName}()?$filter=${encodeURIComponent(filter)}${more}`);
    assert.equal(answer.status, 200, answer.text);
    return {
      names: answer.json.value.map((one) => `${one.PartitionKey}/${one.RowKey}`),
      charge: Number(answer.headers.get("x-ms-request-charge")),
      next: answer.headers.get("x-ms-continuation-nextpartitionkey"),
    };
  };

  it("D3: point, row range, partition and table queries read only their stretch", async () => {
    const table = await filled();
    const whole = await asked(table, "n lt 0");  // reads everything, finds nothing
    assert.deepEqual(whole.names, []);
    const point = await asked(table, "PartitionKey eq 'p07' and RowKey eq 'r11'");
    assert.deepEqual(point.names, ["p07/r11"]);
    const rows = await asked(table, "PartitionKey eq 'p07' and RowKey ge 'r10' and RowKey lt 'r13'");
    assert.deepEqual(rows.names, ["p07/r10", "p07/r11", "p07/r12"]);
    const partition = await asked(table, "PartitionKey eq 'p07' and n lt 0");
    const neighbours = await asked(table, "PartitionKey ge 'p07' and PartitionKey le 'p08' and n lt 0");
    const outside = await asked(table, "PartitionKey eq 'p07' and RowKey gt 'r99'");
    assert.deepEqual([outside.names, neighbours.names], [[], []]);
    // 600 entities, 60, 30, 3, 1 and none.
    const charges = [whole, neighbours, partition, rows, point, outside].map((one) => one.charge);
    for (let i = 1; i < charges.length; ++i) assert.ok(charges[i - 1] >= charges[i], charges.join(" "));
    assert.ok(whole.charge > 5 * neighbours.charge, charges.join(" "));
    // Two far partitions are two stretches, not all between them.
    const two = await asked(table, "(PartitionKey eq 'p01' or PartitionKey eq 'p18') and n lt 0");
    assert.equal(two.charge, neighbours.charge);
    assert.deepEqual((await asked(table, "PartitionKey eq 'p07' and PartitionKey eq 'p08'")).charge, outside.charge);
  });

  it("D1 D3: entities come in the order of PartitionKey, then RowKey, page by page", async () => {
    const table = await filled();
    const found = await all(table.listEntities());
    assert.equal(found.length, 600);
    assert.deepEqual(names(found), names(found).toSorted?.() ?? [...names(found)].sort());
    const pages = [];
    for await (const page of table.listEntities().byPage({ maxPageSize: 70 })) pages.push(page.length);
    assert.deepEqual(pages, [70, 70, 70, 70, 70, 70, 70, 70, 40]);
    assert.equal((await asked(table, "PartitionKey eq 'p03'", "&$top=30")).next, null);
    assert.notEqual((await asked(table, "PartitionKey eq 'p03'", "&$top=29")).next, null);
    const none = await asked(table, "", "&$top=0");
    assert.deepEqual([none.names, none.next], [[], null]);
    assert.equal((await at.raw("GET", `${table.tableName}()?$top=1001`)).status, 400);
    assert.equal((await at.raw("GET", `${table.tableName}()?NextPartitionKey=mine`)).status, 400);
  });

  it("D3: a filter over every type; what is missing or of another type is never equal, and never unequal", async () => {
    const table = await at.table();
    const big = 9007199254740993n;
    await table.createEntity({ partitionKey: "a", rowKey: "1", big, date: new Date("2020-01-01T00:00:00.000Z"), bytes: new Uint8Array([1, 2]),
      guid: { type: "Guid", value: "11111111-1111-1111-1111-111111111111" }, real: { type: "Double", value: "5.0" }, yes: true, text: "O'Neil" });
    await table.createEntity({ partitionKey: "a", rowKey: "2", text: 5 });
    const rows = async (filter) => (await all(table.listEntities({ queryOptions: { filter } }))).map((one) => one.rowKey);
    for (const [filter, expected] of [
      [odata`big eq ${big}`, ["1"]], ["big eq 9007199254740992L", []], ["big gt 9007199254740992L and big lt 9007199254740994L", ["1"]],
      [odata`date eq ${new Date("2020-01-01T00:00:00.000Z")}`, ["1"]], ["date lt datetime'2020-01-01T00:00:00.0000001Z'", ["1"]],
      ["bytes eq X'0102'", ["1"]], ["bytes gt binary'01'", ["1"]], ["guid eq guid'11111111-1111-1111-1111-111111111111'", ["1"]],
      ["real eq 5", ["1"]], ["real eq 5L", ["1"]], ["5.0 le real", ["1"]], ["yes eq true", ["1"]], ["yes", null],
      ["text eq 'O''Neil'", ["1"]], ["text eq 5", ["2"]], ["text ne 'x'", ["1"]], ["missing ne 1", []], ["not (missing eq 1)", ["1", "2"]],
      ["text eq '5' or text ne 5", []], ["RowKey eq '1' and (true or false)", ["1"]], ["text eq real", null], ["", ["1", "2"]],
    ]) {
      if (expected === null) await assert.rejects(rows(filter), (error) => [400, 501].includes(error.statusCode), filter);
      else assert.deepEqual(await rows(filter), expected, filter);
    }
    await refused(rows("text eq 'open"), 400, "InvalidInput");
    await refused(rows(`${"(".repeat(200)}true${")".repeat(200)}`), 400, "InvalidInput");
    assert.deepEqual(await rows(Array.from({ length: 500 }, (_, i) => `RowKey eq '${i}'`).join(" or ")), ["1", "2"]);
  });
});
