// Transactional batches: several operations on the items of one key, all or none.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { answers, bare, fails, together } from "./expect.mjs";
import { keyHeader } from "./rest.mjs";
import { shared } from "./server.mjs";

const codes = (answer) => answer.result.map((one) => one.statusCode);
const create = (id, more = {}) => ({ operationType: "Create", resourceBody: { id, pk: "a", ...more } });
const read = (id, more = {}) => ({ operationType: "Read", id, ...more });

describe("transactional batch", () => {
  const at = shared({ clock: true });

  async function filled(...items) {
    const container = await at.container();
    for (const item of items) await container.items.create({ pk: "a", ...item });
    return container;
  }

  it("A29: a batch is one commit: it moves the session token by one, and its items share an LSN and a page", async () => {
    const container = await filled({ id: "changed", n: 1 }, { id: "gone" });
    const lsn = (answer) => Number(/#?(\d+)$/.exec(answer.headers["x-ms-session-token"].split("#")[1].split("|")[0])[1]);
    const before = lsn(await container.item("changed", "a").read());
    const answer = await container.items.batch([
      create("1"), { operationType: "Upsert", resourceBody: { id: "changed", pk: "a", n: 2 } },
      { operationType: "Delete", id: "gone" }, create("2"),
    ], "a");
    assert.deepEqual(codes(answer), [201, 200, 204, 201]);
    assert.equal(lsn(await container.item("1", "a").read()), before + 1);
    const page = answers(await at.rest("GET", `/dbs/db/colls/${container.id}/docs`,
      { headers: { ...keyHeader("a"), "A-IM": "Incremental Feed", "x-ms-max-item-count": "1" } }), 200);
    assert.deepEqual(page.body.Documents.map((item) => [item.id, item._lsn]),
      [["1", before + 1], ["changed", before + 1], ["2", before + 1]]);
    const items = (await container.items.readAll({ partitionKey: "a" }).fetchAll()).resources;
    assert.equal(new Set(items.map((item) => item._etag)).size, 3);
    assert.equal(new Set(items.map((item) => item._rid)).size, 3);
  });

  it("A29: every kind of operation in one transaction, in order", async () => {
    const container = await filled({ id: "replaced" }, { id: "deleted" }, { id: "patched", n: 1 }, { id: "read" });
    const answer = await container.items.batch([
      create("created", { n: 1 }),
      { operationType: "Upsert", resourceBody: { id: "new", pk: "a" } },
      { operationType: "Upsert", resourceBody: { id: "replaced", pk: "a", n: 1 } },
      { operationType: "Replace", id: "replaced", resourceBody: { id: "replaced", pk: "a", n: 2 } },
      { operationType: "Delete", id: "deleted" },
      { operationType: "Patch", id: "patched", resourceBody: { operations: [{ op: "incr", path: "/n", value: 4 }] } },
      read("read"),
    ], "a");
    assert.equal(answer.code, 200);
    assert.deepEqual(codes(answer), [201, 201, 200, 200, 204, 200, 200]);
    const [created, , , replaced, deleted, patched] = answer.result;
    assert.deepEqual(bare(created.resourceBody), { id: "created", pk: "a", n: 1 });
    assert.equal(created.eTag, created.resourceBody._etag);
    assert.equal(replaced.resourceBody.n, 2);
    assert.equal(deleted.resourceBody, undefined);
    assert.equal(patched.resourceBody.n, 5);
    assert.deepEqual((await container.item("created", "a").read()).resource, created.resourceBody);
    await fails(container.item("deleted", "a").read(), 404);
  });

  it("A15: the charge is the sum of its operations' charges, as each would cost alone", async () => {
    const container = await filled();
    const answer = await container.items.batch([create("1", { n: 1 }), read("1"), create("2")], "a");
    assert.deepEqual(answer.result.map((one) => one.requestCharge), [5.15, 1, 4.95]);
    assert.equal(Number(answer.headers["x-ms-request-charge"]), 11.1);
    assert.match(answer.headers["x-ms-session-token"], /^\d+:-1#\d+$/);
  });

  it("A29: reads see the batch's own writes", async () => {
    const container = await filled({ id: "1", n: 1 });
    const answer = await container.items.batch([
      read("1"),
      { operationType: "Patch", id: "1", resourceBody: { operations: [{ op: "incr", path: "/n", value: 1 }] } },
      read("1"),
      create("2"), { operationType: "Delete", id: "2" }, create("2", { again: true }), read("2"),
    ], "a");
    assert.deepEqual(codes(answer), [200, 200, 200, 201, 204, 201, 200]);
    assert.equal(answer.result[0].resourceBody.n, 1);
    assert.equal(answer.result[2].resourceBody.n, 2);
    assert.equal(answer.result[6].resourceBody.again, true);
  });

  it("A28 A29: when one operation fails none is done: 207, its own code, 424 for the others", async () => {
    const container = await filled({ id: "there", n: 1 });
    const before = (await container.item("there", "a").read()).resource;
    for (const [operation, code, substatus] of [
      [create("there"), 409],
      [read("absent"), 404],
      [{ operationType: "Replace", id: "absent", resourceBody: { id: "absent", pk: "a" } }, 404],
      [{ operationType: "Delete", id: "absent" }, 404],
      [{ operationType: "Delete", id: "there", ifMatch: "\"not its etag\"" }, 412],
      [{ operationType: "Patch", id: "there", resourceBody: { operations: [{ op: "incr", path: "/x/y", value: 1 }] } }, 400],
      [{ operationType: "Patch", id: "there", resourceBody: { condition: "from c where c.n = 2", operations: [{ op: "set", path: "/n", value: 2 }] } }, 412],
      [{ operationType: "Create", resourceBody: { id: "other", pk: "b" } }, 400, 1001],
      [{ operationType: "Create", resourceBody: { id: "a/b", pk: "a" } }, 400],
      [{ operationType: "Replace", id: "there", resourceBody: { id: "1", pk: "a" } }, 409],
    ]) {
      const answer = await container.items.batch([
        create("1"), { operationType: "Upsert", resourceBody: { id: "there", pk: "a", n: 9 } }, read("there"),
        { operationType: "Upsert", resourceBody: { ...before, n: 1 } },
        operation, create("2"),
      ], "a");
      assert.equal(answer.code, 207, JSON.stringify(operation));
      const at = answer.result.findIndex((one) => one.statusCode !== 424);
      assert.equal(answer.result[at].statusCode, code, JSON.stringify(operation));
      assert.equal(answer.result[at].subStatusCode, substatus);
      assert.ok(answer.result[at].message);
      assert.ok(answer.result.every((one, i) => i === at || one.statusCode === 424));
    }
    assert.deepEqual((await container.items.readAll().fetchAll()).resources, [before]);
  });

  it("A31: If-Match and If-None-Match for each operation", async () => {
    const container = await filled({ id: "1" }, { id: "2" });
    const [one, two] = await Promise.all(["1", "2"].map(async (id) => (await container.item(id, "a").read()).resource._etag));
    const answer = await container.items.batch([
      { operationType: "Replace", id: "1", ifMatch: one, resourceBody: { id: "1", pk: "a", n: 1 } },
      read("2", { ifNoneMatch: two }),
      { operationType: "Upsert", ifNoneMatch: "*", resourceBody: { id: "3", pk: "a" } },
    ], "a");
    // A read that has nothing new is not a failure.
    assert.equal(answer.code, 207);
    assert.deepEqual(codes(answer), [200, 304, 201]);
    const stale = await container.items.batch([
      { operationType: "Replace", id: "1", ifMatch: one, resourceBody: { id: "1", pk: "a", n: 2 } }, read("2"),
    ], "a");
    assert.deepEqual(codes(stale), [412, 424]);
    assert.equal((await container.item("1", "a").read()).resource.n, 1);
  });

  it("A6 A22: up to 100 operations and 2 MB", async () => {
    const container = await filled();
    const many = Array.from({ length: 100 }, (_, i) => create(`${i}`, { i }));
    const answer = await container.items.batch(many, "a");
    assert.equal(answer.code, 200);
    assert.equal((await container.items.query("select value count(1) from c").fetchAll()).resources[0], 100);
    // The client counts too, and gives no status on: these by hand.
    const send = (body) => at.rest("POST", `/dbs/db/colls/${container.id}/docs`, {
      body,
      headers: { ...keyHeader("a"), "x-ms-cosmos-is-batch-request": "True", "x-ms-cosmos-batch-atomic": "True" },
    });
    answers(await send([...many, create("100")]), 400, { message: /100/ });
    const large = "x".repeat(1_000_000);
    answers(await send([create("l1", { large }), create("l2", { large }), create("l3", { large })]), 413);
    assert.equal((await container.items.batch([create("l1", { large }), create("l2", { large })], "a")).code, 200);
    // What reads bring back is bounded too.
    const much = await container.items.batch([create("no"), read("l1"), read("l2"), read("l1"), read("l2"), read("l1")], "a");
    assert.equal(much.result[5].statusCode, 413);
    await fails(container.item("no", "a").read(), 404);
  });

  it("what is no batch is refused whole", async () => {
    const container = await filled();
    const path = `/dbs/db/colls/${container.id}/docs`;
    const headers = { ...keyHeader("a"), "x-ms-cosmos-is-batch-request": "True", "x-ms-cosmos-batch-atomic": "True" };
    const send = (body, more = {}) => at.rest("POST", path, { body, headers: { ...headers, ...more } });
    for (const body of ["", "{", "{}", "[]", "5", "[5]", "[{}]", '[{"operationType":"Merge"}]', '[{"operationType":"Read"}]',
      '[{"operationType":"Create"}]', '[{"operationType":"Read","id":5}]', '[{"operationType":"Read","id":"1","ifMatch":5}]']) {
      answers(await send(body), 400, { message: /batch|operation/ });
    }
    answers(await send([create("1")], { "x-ms-documentdb-partitionkey": "" }), 400, { message: /partition key/ });
    answers(await send([create("1")], keyHeader("a", "b")), 400);
    // The binary form of the .NET client.
    answers(await send(Buffer.from([0x81, 0xff, 0xff, 0xff, 0x7f, 0x0a, 0x01])), 400, { message: /HybridRow/ });
    answers(await at.rest("POST", path, { body: [create("1")], headers: { ...headers, "x-ms-session-token": "nonsense" } }), 200);
    answers(await send([read("1")], { "x-ms-session-token": "nonsense" }), 400);
    answers(await send([read("1")], { "x-ms-session-token": "0:-1#999999" }), 404, { substatus: 1002 });
  });

  it("with Prefer: return=minimal, or when an operation asks for it, writes come back without items", async () => {
    const container = await filled();
    const answer = await container.items.batch([create("1"), read("1")], "a", { contentResponseOnWriteEnabled: false });
    assert.equal(answer.result[0].resourceBody, undefined);
    assert.ok(answer.result[0].eTag);
    assert.equal(answer.result[1].resourceBody.id, "1");
    const one = await container.items.batch([{ ...create("2"), minimalReturnPreference: true }, create("3")], "a");
    assert.equal(one.result[0].resourceBody, undefined);
    assert.equal(one.result[1].resourceBody.id, "3");
  });

  it("A16: in a container without a key, over all of it", async () => {
    answers(await at.rest("POST", "/dbs/db/colls", { body: { id: "fixed" } }), 201);
    const answer = answers(await at.rest("POST", "/dbs/db/colls/fixed/docs", {
      body: [{ operationType: "Create", resourceBody: { id: "1" } }, { operationType: "Create", resourceBody: { id: "2" } }],
      headers: { "x-ms-cosmos-is-batch-request": "True", "x-ms-cosmos-batch-atomic": "True" },
    }), 200);
    assert.deepEqual(answer.body.map((one) => one.statusCode), [201, 201]);
  });

  it("what has expired is not there for a batch", async () => {
    const container = await at.container({ defaultTtl: -1 });
    await container.items.create({ id: "1", pk: "a", ttl: 10_000 });
    at.server.clock.move(10_000);
    assert.deepEqual(codes(await container.items.batch([read("1")], "a")), [404]);
    assert.deepEqual(codes(await container.items.batch([create("1"), read("1")], "a")), [201, 200]);
  });

  it("A29: transfers that race keep the sum, and nobody sees a half of one", async () => {
    const accounts = 5;
    const container = await filled(...Array.from({ length: accounts }, (_, i) => ({ id: `${i}`, money: 100 })));
    const sum = (items) => items.reduce((total, one) => total + one.money, 0);
    let done = false;
    const watcher = (async () => {
      const all = Array.from({ length: accounts }, (_, i) => read(`${i}`));
      while (!done) {
        const seen = await container.items.batch(all, "a");
        assert.equal(sum(seen.result.map((one) => one.resourceBody)), accounts * 100);
      }
    })();
    let moved = 0;
    await together(8, Array.from({ length: 120 }, (_, i) => async () => {
      const [from, to] = [i % accounts, (i * 7 + 1 + (i % (accounts - 1))) % accounts].map(String);
      if (from === to) return;
      const amount = 1 + (i % 13);
      const answer = i % 2 === 0
        ? await container.items.batch([
          { operationType: "Patch", id: from, resourceBody: { condition: `from c where c.money >= ${amount}`, operations: [{ op: "incr", path: "/money", value: -amount }] } },
          { operationType: "Patch", id: to, resourceBody: { operations: [{ op: "incr", path: "/money", value: amount }] } },
        ], "a")
        : await (async () => {
          const [a, b] = (await container.items.batch([read(from), read(to)], "a")).result.map((one) => one.resourceBody);
          return container.items.batch([
            { operationType: "Replace", id: from, ifMatch: a._etag, resourceBody: { ...a, money: a.money - amount } },
            { operationType: "Replace", id: to, ifMatch: b._etag, resourceBody: { ...b, money: b.money + amount } },
          ], "a");
        })();
      if (answer.code === 200) ++moved;
      else assert.ok(codes(answer).includes(412), JSON.stringify(answer.result));
    }));
    done = true;
    await watcher;
    assert.ok(moved >= 40, `${moved} transfers`);
    const { resources } = await container.items.readAll().fetchAll();
    assert.equal(sum(resources), accounts * 100);
  });
});
