// User-defined functions in queries, through the vendor's SDK.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { fails } from "./expect.mjs";
import { shared } from "./server.mjs";

function tax(income) {
  if (income === undefined) throw new Error("no input");
  if (income < 1000) return income * 0.1;
  if (income < 10000) return income * 0.2;
  return income * 0.4;
}

describe("user-defined functions", () => {
  const at = shared();

  async function incomes(...functions) {
    const container = await at.container();
    for (const [i, income] of [100, 5000, 20000].entries()) {
      await container.items.create({ id: `${i}`, pk: i === 0 ? "a" : "b", income, tags: ["x", i] });
    }
    for (const body of functions) {
      await container.scripts.userDefinedFunctions.create({ id: body.name, body });
    }
    const query = async (text, options) =>
      (await container.items.query(text, options).fetchAll()).resources;
    return { container, query };
  }

  it("A27: a function is created, read, listed, replaced and deleted", async () => {
    const { scripts } = await at.container();
    const created = await scripts.userDefinedFunctions.create({ id: "f", body: "function f() {}" });
    assert.equal(created.statusCode, 201);
    await fails(scripts.userDefinedFunctions.create({ id: "f", body: "function f() {}" }), 409);
    assert.deepEqual((await scripts.userDefinedFunction("f").read()).resource, created.resource);
    const replaced = await scripts.userDefinedFunction("f").replace({ id: "f", body: "function g() {}" });
    assert.equal(replaced.resource.body, "function g() {}");
    assert.equal((await scripts.userDefinedFunctions.readAll().fetchAll()).resources.length, 1);
    await scripts.userDefinedFunction("f").delete();
    await fails(scripts.userDefinedFunction("f").read(), 404);
  });

  it("A27: in SELECT, WHERE and ORDER BY, over one key and over all", async () => {
    const { query } = await incomes(tax);
    assert.deepEqual(await query("SELECT c.id, udf.tax(c.income) AS tax FROM c WHERE c.id = '1'", { partitionKey: "b" }),
      [{ id: "1", tax: 1000 }]);
    assert.deepEqual(await query("SELECT VALUE c.id FROM c WHERE udf.tax(c.income) > 500 ORDER BY c.income DESC"),
      ["2", "1"]);
    assert.deepEqual(await query("SELECT VALUE SUM(udf.tax(c.income)) FROM c"), [10 + 1000 + 8000]);
    assert.deepEqual(await query("SELECT VALUE t FROM c JOIN t IN c.tags WHERE udf.tax(c.income) = 10"), ["x", 0]);
  });

  it("A27: undefined goes in and comes out, objects and arrays too", async () => {
    const { query } = await incomes(
      function kind(x) { return x === undefined ? "none" : Array.isArray(x) ? "array" : typeof x; },
      function nothing() {},
      function wrap(x) { return { x, all: [x, x] }; });
    const [row] = await query(
      "SELECT udf.kind(c.none) AS a, udf.kind(c.tags) AS b, udf.kind(c) AS c, udf.nothing() AS d, " +
      "udf.wrap(c.income) AS e FROM c WHERE c.id = '0'", { partitionKey: "a" });
    assert.deepEqual(row, { a: "none", b: "array", c: "object", e: { x: 100, all: [100, 100] } });
  });

  it("A27: one that is not there, throws or never ends is told of: 400", async () => {
    const { query } = await incomes(tax, function forever() { for (;;); });
    await fails(query("SELECT udf.none(c.x) FROM c"), 400, { message: /none/ });
    await fails(query("SELECT udf.tax(c.x) FROM c"), 400, { message: /no input/ });
    await fails(query("SELECT udf.forever() FROM c WHERE c.id = '0'", { partitionKey: "a" }), 400);
    assert.equal((await query("SELECT VALUE udf.tax(c.income) FROM c")).length, 3);
  });

  it("A27: thousands of calls in one query", async () => {
    const { container, query } = await incomes(tax);
    const ns = Array.from({ length: 10 }, (_, n) => n);
    for (let i = 0; i < 100; ++i) await container.items.create({ id: `i${i}`, pk: "m", income: i, ns });
    const [sum] = await query("SELECT VALUE SUM(udf.tax(c.income + a + b)) FROM c JOIN a IN c.ns JOIN b IN c.ns",
      { partitionKey: "m" });
    assert.ok(Math.abs(sum - 58500) < 0.001, `${sum}`);
  });
});
