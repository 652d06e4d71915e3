// Patch: changing a part of an item, alone and under a condition.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { answers, bare, fails, together } from "./expect.mjs";
import { keyHeader } from "./rest.mjs";
import { shared } from "./server.mjs";

describe("patch", () => {
  const at = shared({ clock: true });
  const bicycle = {
    id: "1", pk: "a", name: "Road Bicycle", price: 455.95, inventory: { quantity: 15 }, used: false, tags: ["r"],
  };

  // A container with one item, and that item.
  async function item(body = bicycle, options = {}) {
    const container = await at.container(options);
    await container.items.create(body);
    return container.item(body.id, body.pk);
  }

  it("A23: every operation, in order, in one patch", async () => {
    const one = await item();
    const patched = await one.patch([
      { op: "add", path: "/color", value: "silver" },
      { op: "remove", path: "/used" },
      { op: "set", path: "/price", value: 355.45 },
      { op: "incr", path: "/inventory/quantity", value: 10 },
      { op: "add", path: "/tags/-", value: "featured" },
      { op: "move", from: "/color", path: "/inventory/color" },
      { op: "replace", path: "/name", value: { short: "RB" } },
    ]);
    assert.equal(patched.statusCode, 200);
    assert.deepEqual(bare(patched.resource), {
      id: "1", pk: "a", name: { short: "RB" }, price: 355.45, inventory: { quantity: 25, color: "silver" },
      tags: ["r", "featured"],
    });
    const read = await one.read();
    assert.deepEqual(read.resource, patched.resource);
    assert.equal(patched.headers.etag, read.resource._etag);
  });

  it("arrays: add inserts, set and replace overwrite, remove closes the gap", async () => {
    const one = await item({ id: "1", pk: "a", t: [1, 2, 3] });
    const t = async (...operations) => (await one.patch(operations)).resource.t;
    assert.deepEqual(await t({ op: "add", path: "/t/0", value: 0 }), [0, 1, 2, 3]);
    assert.deepEqual(await t({ op: "add", path: "/t/4", value: 4 }), [0, 1, 2, 3, 4]);
    assert.deepEqual(await t({ op: "set", path: "/t/1", value: 9 }), [0, 9, 2, 3, 4]);
    assert.deepEqual(await t({ op: "replace", path: "/t/2", value: [8] }), [0, 9, [8], 3, 4]);
    assert.deepEqual(await t({ op: "add", path: "/t/2/-", value: 7 }), [0, 9, [8, 7], 3, 4]);
    assert.deepEqual(await t({ op: "remove", path: "/t/1" }), [0, [8, 7], 3, 4]);
    for (const operation of [
      { op: "add", path: "/t/5", value: 1 }, { op: "replace", path: "/t/4", value: 1 },
      { op: "remove", path: "/t/4" }, { op: "set", path: "/t/x", value: 1 },
    ]) await fails(one.patch([operation]), 400, { message: /\/t/ });
  });

  it("what cannot be done changes nothing, not even the operations before it", async () => {
    const one = await item();
    const before = (await one.read()).resource;
    for (const last of [
      { op: "replace", path: "/nothing", value: 1 },
      { op: "remove", path: "/nothing" },
      { op: "add", path: "/no/parent", value: 1 },
      { op: "incr", path: "/name", value: 1 },
      { op: "incr", path: "/price", value: "1" },
      { op: "move", from: "/nothing", path: "/x" },
      { op: "move", from: "/inventory", path: "/inventory/quantity" },
      { op: "set", path: "no-slash", value: 1 },
      { op: "set", path: "", value: {} },
      { op: "copy", from: "/name", path: "/x" },
      { op: "set", path: "/x" },
      { op: "move", path: "/x" },
    ]) await fails(one.patch([{ op: "set", path: "/first", value: 1 }, last]), 400);
    assert.deepEqual((await one.read()).resource, before);
    await fails(one.patch([]), 400, { message: /operations/ });
  });

  it("numbers: whole ones stay whole, incr makes what is not there", async () => {
    const one = await item({ id: "1", pk: "a", n: 1, x: 0.5 });
    const patched = await one.patch([
      { op: "incr", path: "/n", value: -3 }, { op: "incr", path: "/x", value: 0.25 },
      { op: "incr", path: "/new", value: 7 },
    ]);
    assert.deepEqual(bare(patched.resource), { id: "1", pk: "a", n: -2, x: 0.75, new: 7 });
  });

  it("names with / and ~ are escaped in paths", async () => {
    const one = await item({ id: "1", pk: "a", "a/b": { "c~d": 1 } });
    const patched = await one.patch([{ op: "incr", path: "/a~1b/c~0d", value: 1 }, { op: "add", path: "/~01", value: 2 }]);
    assert.deepEqual(bare(patched.resource), { id: "1", pk: "a", "a/b": { "c~d": 2 }, "~1": 2 });
  });

  it("the id, the partition key and the server's own properties cannot be patched", async () => {
    const one = await item({ id: "1", pk: "a", key: { city: "Roma", zip: 1 } }, { partitionKey: { paths: ["/key/city"] } });
    const nested = one.container.item("1", "Roma");
    for (const [path, word] of [
      ["/id", /id/], ["/key/city", /partition key/], ["/_ts", /server/], ["/_etag", /server/], ["/_rid", /server/],
      ["/_self/x", /server/],
    ]) {
      await fails(nested.patch([{ op: "set", path, value: "b" }]), 400, { message: word });
      await fails(nested.patch([{ op: "remove", path }]), 400, { message: word });
      await fails(nested.patch([{ op: "move", from: path, path: "/x" }]), 400, { message: word });
    }
    // What holds the key may change as long as the key does not.
    await fails(nested.patch([{ op: "set", path: "/key", value: { city: "Oslo" } }]), 400, { message: /partition key/ });
    await fails(nested.patch([{ op: "remove", path: "/key" }]), 400, { message: /partition key/ });
    const patched = await nested.patch([{ op: "set", path: "/key", value: { city: "Roma", zip: 2 } }]);
    assert.equal(patched.resource.key.zip, 2);
  });

  it("a condition decides on the stored item: 412 when it does not hold", async () => {
    const one = await item({ id: "1", pk: "a", n: 3, tags: ["x"], state: "open" });
    const patch = (condition, operations = [{ op: "incr", path: "/n", value: 1 }]) => one.patch({ condition, operations });
    assert.equal((await patch("from c where c.n = 3")).resource.n, 4);
    await fails(patch("from c where c.n = 3"), 412);
    assert.equal((await patch("FROM x WHERE x.state = 'open' AND ARRAY_CONTAINS(x.tags, 'x')")).resource.n, 5);
    await fails(patch("from c where IS_DEFINED(c.closed)"), 412);
    assert.equal((await patch("from c where exists(select value t from t in c.tags where t = 'x')")).resource.n, 6);
    for (const bad of ["where c.n = 3", "from c", "select * from c where true", "from c where c.n =",
      "from c where true order by c.n", "from c where udf.f(c)", 5]) {
      await fails(patch(bad), 400);
    }
    assert.equal((await one.read()).resource.n, 6);
  });

  it("a condition that would keep the writer busy is stopped", async () => {
    const long = Array.from({ length: 400 }, (_, i) => i);
    const one = await item({ id: "1", pk: "a", long });
    await fails(one.patch({
      condition: "from c where exists(select value 1 from x in c.long join y in c.long join z in c.long where x + y + z < 0)",
      operations: [{ op: "set", path: "/n", value: 1 }],
    }), 400, { message: /condition/ });
  });

  it("A29: If-Match guards a patch, and what is not there is 404", async () => {
    const one = await item();
    const etag = (await one.read()).resource._etag;
    const patch = (options) => one.patch([{ op: "incr", path: "/price", value: 1 }], options);
    const ok = await patch({ accessCondition: { type: "IfMatch", condition: etag } });
    assert.notEqual(ok.resource._etag, etag);
    await fails(patch({ accessCondition: { type: "IfMatch", condition: etag } }), 412);
    await fails(patch({ accessCondition: { type: "IfNoneMatch", condition: "*" } }), 412);
    await fails(one.container.item("2", "a").patch([{ op: "set", path: "/n", value: 1 }]), 404);
    await fails(one.container.item("1", "b").patch([{ op: "set", path: "/n", value: 1 }]), 404);
  });

  it("with Prefer: return=minimal the answer has no body", async () => {
    const one = await item();
    const minimal = answers(await at.rest("PATCH", `/dbs/db/colls/${one.container.id}/docs/1`, {
      headers: { ...keyHeader("a"), prefer: "return=minimal" }, body: [{ op: "set", path: "/n", value: 1 }],
    }), 200);
    assert.equal(minimal.text, "");
    assert.ok(minimal.headers.etag);
    assert.equal((await one.read()).resource.n, 1);
  });

  it("a patched ttl counts from the patch", async () => {
    const one = await item({ id: "1", pk: "a" }, { defaultTtl: -1 });
    const other = one.container.item("2", "a");
    await one.container.items.create({ id: "2", pk: "a", ttl: 10_000 });
    await other.patch([{ op: "remove", path: "/ttl" }]);
    at.server.clock.move(5_000);
    await one.patch([{ op: "add", path: "/ttl", value: 10_000 }]);
    at.server.clock.move(5_000);
    assert.equal((await one.read()).statusCode, 200);
    at.server.clock.move(5_000);
    assert.equal((await one.read()).statusCode, 404);
    assert.equal((await other.read()).statusCode, 200);
    await fails(other.patch([{ op: "set", path: "/ttl", value: 0 }]), 400, { message: /ttl/ });
    await fails(one.patch([{ op: "set", path: "/n", value: 1 }]), 404);
  });

  it("limits: ten operations, the item's size, the depth of JSON", async () => {
    const one = await item({ id: "1", pk: "a", n: 0, big: "x".repeat(1_500_000) });
    const ten = Array.from({ length: 10 }, () => ({ op: "incr", path: "/n", value: 1 }));
    assert.equal((await one.patch(ten)).resource.n, 10);
    await fails(one.patch([...ten, ten[0]]), 400, { message: /10/ });
    await fails(one.patch([{ op: "set", path: "/more", value: "x".repeat(800_000) }]), 413);
    let deep = 1;
    for (let i = 0; i < 100; ++i) deep = { d: deep };
    await fails(one.patch([{ op: "set", path: "/a", value: deep },
      { op: "set", path: `/a${"/d".repeat(60)}`, value: deep }]), 400, { message: /128|deep|nest/ });
    assert.equal((await one.read()).resource.n, 10);
  });

  it("A15: a patch costs what a replace with its result would", async () => {
    const one = await item({ id: "1", pk: "a", n: 1, m: 1 });
    const patched = await one.patch([{ op: "set", path: "/n", value: 2 }]);
    const replaced = await one.replace({ id: "1", pk: "a", n: 3, m: 1 });
    assert.equal(patched.requestCharge, replaced.requestCharge);
    assert.equal(patched.requestCharge, 10.3);
  });

  it("A29: patches that race lose nothing", async () => {
    const one = await item({ id: "1", pk: "a", n: 0 });
    const rounds = 200;
    await together(16, Array.from({ length: rounds }, () => () => one.patch([{ op: "incr", path: "/n", value: 1 }])));
    assert.equal((await one.read()).resource.n, rounds);
  });

  it("by REST, with the operations alone or with a condition, by name and by resource id", async () => {
    const one = await item();
    const path = `/dbs/db/colls/${one.container.id}/docs`;
    const headers = { ...keyHeader("a"), "content-type": "application/json_patch+json" };
    const operations = [{ op: "set", path: "/n", value: 1 }];
    answers(await at.rest("PATCH", `${path}/1`, { headers, body: { operations } }), 200);
    answers(await at.rest("PATCH", `${path}/1`, { headers, body: operations }), 200);
    answers(await at.rest("PATCH", `${path}/1`, { body: { operations } }), 400, { message: /partition key/ });
    for (const body of ["", "{", "5", "null", "{}", '{"operations":{}}', '{"operations":[5]}', '{"operations":[{}]}']) {
      answers(await at.rest("PATCH", `${path}/1`, { headers, body }), 400, { message: /patch/ });
    }
    const { _self } = (await one.read()).resource;
    const byRid = await at.rest("PATCH", `/${_self}`.replace(/\/$/, ""), { headers, rid: true, body: operations });
    answers(byRid, 200);
    assert.equal(byRid.body.n, 1);
  });
});
