// Partition keys: values of every type, every kind of path, several levels, none at all.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { PartitionKeyBuilder } from "./cosmos.mjs";
import { answers, fails } from "./expect.mjs";
import { keyHeader } from "./rest.mjs";
import { shared } from "./server.mjs";

describe("keys", () => {
  const at = shared();

  for (const version of [1, 2]) {
    it(`A8: values of every type are keys of their own, hash version ${version}`, async () => {
      const container = await at.container({ partitionKey: { paths: ["/pk"], kind: "Hash", version } });
      const values = ["", "a", "5", "null", "x".repeat(100), "città", "字", "😀", 0, 5, -5, 0.1, 1e300, -1e-300,
        9007199254740991, true, false, null];
      for (const [i, pk] of values.entries()) await container.items.create({ id: "same", pk, i });
      await container.items.create({ id: "same", i: "none" });
      for (const [i, pk] of values.entries()) {
        assert.equal((await container.item("same", pk).read()).resource?.i, i, JSON.stringify(pk));
      }
      assert.equal((await container.item("same", undefined).read()).resource.i, "none");
      for (const pk of values) assert.equal((await container.item("same", pk).delete()).statusCode, 204);
      assert.equal((await container.item("same", undefined).read()).resource.i, "none");
    });
  }

  it("A8: however a number is written, it is one key", async () => {
    const container = await at.container();
    const docs = `/dbs/db/colls/${container.id}/docs`;
    answers(await at.rest("POST", docs, { body: '{"id":"1","pk":5.0}', headers: keyHeader(5) }), 201);
    answers(await at.rest("POST", docs, { body: '{"id":"1","pk":5e0}', headers: keyHeader(5) }), 409);
    answers(await at.rest("GET", `${docs}/1`, { headers: { "x-ms-documentdb-partitionkey": "[5.00]" } }), 200);
    // -0 and 0 are equal in queries, so they are one key.
    const minusZero = { "x-ms-documentdb-partitionkey": "[-0]" };
    answers(await at.rest("POST", docs, { body: '{"id":"1","pk":-0}', headers: keyHeader(0) }), 201);
    answers(await at.rest("POST", docs, { body: '{"id":"1","pk":-0.0}', headers: minusZero }), 409);
    answers(await at.rest("GET", `${docs}/1`, { headers: minusZero }), 200);
    answers(await at.rest("GET", `${docs}/1`, { headers: keyHeader(0) }), 200);
    assert.deepEqual((await container.items.query("SELECT VALUE c.id FROM c WHERE c.pk = 0").fetchAll()).resources, ["1"]);
  });

  it("an array is no key", async () => {
    const container = await at.container();
    for (const pk of [[], ["a"]]) {
      answers(await at.rest("POST", `/dbs/db/colls/${container.id}/docs`, { body: { id: "1", pk } }), 400,
        { message: /partition key/i });
    }
  });

  it("an object at the key's path counts as missing, as clients take it", async () => {
    const container = await at.container();
    const none = keyHeader({});
    for (const i of [1, 2]) {
      answers(await at.rest("POST", `/dbs/db/colls/${container.id}/docs`, { body: { id: `${i}`, pk: { a: i } }, headers: none }), 201);
    }
    assert.deepEqual(answers(await at.rest("GET", `/dbs/db/colls/${container.id}/docs/1`, { headers: none }), 200).body.pk, { a: 1 });
    for (const [filter, ids] of [["c.pk = {a: 2}", ["2"]], ["c.pk.a = 1", ["1"]], ["IS_DEFINED(c.pk)", ["1", "2"]],
      ["NOT IS_DEFINED(c.pk)", []], ["c.pk IN ({a: 1}, 'x')", ["1"]]]) {
      const { resources } = await container.items.query(`SELECT VALUE c.id FROM c WHERE ${filter}`).fetchAll();
      assert.deepEqual(resources.sort(), ids, filter);
    }
  });

  it("a key may have 2,048 bytes and no more", async () => {
    const container = await at.container();
    const fits = "x".repeat(2000);
    await container.items.create({ id: "1", pk: fits });
    assert.equal((await container.item("1", fits).read()).statusCode, 200);
    await fails(container.items.create({ id: "1", pk: "x".repeat(2100) }), 400, { message: /2048|2,048/ });
  });

  it("A19: nested, quoted and id paths find the value", async () => {
    const cases = [
      ["/properties/name", { properties: { name: "deep" } }, "deep"],
      ['/"department name"', { "department name": "quoted" }, "quoted"],
      ['/a/"b c"/d', { a: { "b c": { d: "both" } } }, "both"],
      ["/id", {}, "1"],
      ["/città", { città: "accented" }, "accented"],
    ];
    for (const [path, body, value] of cases) {
      const container = await at.container({ partitionKey: { paths: [path], kind: "Hash", version: 2 } });
      await container.items.create({ id: "1", ...body });
      assert.deepEqual((await container.item("1", value).read()).resource?.id, "1", path);
      assert.equal((await container.item("1", "other").read()).statusCode, 404, path);
    }
  });

  it("A19: a path that ends in nothing, or goes through something else, is None", async () => {
    const container = await at.container({ partitionKey: { paths: ["/a/b"], kind: "Hash", version: 2 } });
    for (const [i, body] of [{}, { a: 5 }, { a: null }, { a: {} }, { a: "b" }, { a: [{ b: 1 }] }].entries()) {
      await container.items.create({ id: `${i}`, ...body });
      assert.equal((await container.item(`${i}`, undefined).read()).statusCode, 200, JSON.stringify(body));
    }
  });

  it("hierarchical keys: all levels together are the key", async () => {
    const container = await at.container(
      { partitionKey: { paths: ["/tenant", "/user", "/session"], kind: "MultiHash", version: 2 } });
    const keys = [["t", "u", "s"], ["t", "u", "r"], ["t", "v", "s"], ["o", "u", "s"], ["t", "u", 5], ["t", "u", null],
      ["t", true, "s"], [1, 2, 3]];
    for (const [i, [tenant, user, session]] of keys.entries()) {
      await container.items.create({ id: "same", tenant, user, session, i });
    }
    for (const [i, key] of keys.entries()) {
      assert.equal((await container.item("same", key).read()).resource?.i, i, JSON.stringify(key));
    }
    await fails(container.items.create({ id: "same", tenant: "t", user: "u", session: "s" }), 409);
    answers(await at.rest("GET", `/dbs/db/colls/${container.id}/docs/same`, { headers: keyHeader("t", "u") }), 400);
    answers(await at.rest("GET", `/dbs/db/colls/${container.id}/docs/same`, { headers: keyHeader("t", "u", "s", "x") }), 400);
    answers(await at.rest("POST", `/dbs/db/colls/${container.id}/docs`,
      { body: { id: "x", tenant: "t", user: "u", session: "s" }, headers: keyHeader("t", "u", "r") }), 400, { substatus: 1001 });
  });

  it("hierarchical keys: a level may be missing", async () => {
    const container = await at.container(
      { partitionKey: { paths: ["/tenant", "/user"], kind: "MultiHash", version: 2 } });
    await container.items.create({ id: "1", tenant: "t" });
    const key = new PartitionKeyBuilder().addValue("t").addNoneValue().build();
    assert.equal((await container.item("1", key).read()).statusCode, 200);
    assert.equal((await container.item("1", ["t", null]).read()).statusCode, 404);
  });
});

describe("fixed containers", () => {
  const at = shared();

  it("A16: without a key, the id alone is the primary key", async () => {
    answers(await at.rest("POST", "/dbs/db/colls", { body: { id: "fixed" }, headers: { "x-ms-offer-throughput": "400" } }), 201);
    const docs = "/dbs/db/colls/fixed/docs";
    answers(await at.rest("POST", docs, { body: { id: "1", any: "a" } }), 201);
    answers(await at.rest("POST", docs, { body: { id: "1", any: "b" } }), 409);
    answers(await at.rest("POST", docs, { body: { id: "2", any: "b" } }), 201);
    assert.equal(answers(await at.rest("GET", `${docs}/1`), 200).body.any, "a");
    answers(await at.rest("PUT", `${docs}/1`, { body: { id: "1", any: "c" } }), 200);
    assert.equal(answers(await at.rest("GET", docs), 200).body._count, 2);
    answers(await at.rest("DELETE", `${docs}/1`), 204);
    answers(await at.rest("GET", `${docs}/1`), 404);
    const { body } = answers(await at.rest("GET", "/dbs/db/colls/fixed/pkranges"), 200);
    assert.equal(body.PartitionKeyRanges.length, 1);
  });

  it("A16: the SDK works with them too", async () => {
    answers(await at.rest("POST", "/dbs/db/colls", { body: { id: "fixed2" } }), 201);
    const container = at.db.container("fixed2");
    await container.items.create({ id: "1", n: 1 });
    assert.equal((await container.item("1").read()).resource.n, 1);
    await container.items.upsert({ id: "1", n: 2 });
    await container.item("1").replace({ id: "1", n: 3 });
    assert.equal((await container.item("1").read()).resource.n, 3);
    assert.equal((await container.item("1").delete()).statusCode, 204);
  });
});
