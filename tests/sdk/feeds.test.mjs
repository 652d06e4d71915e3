// Reading everything: pages, continuations, over several partitions, and across a split.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { answers, ranges, together } from "./expect.mjs";
import { keyHeader, readFeed } from "./rest.mjs";
import { shared } from "./server.mjs";

const count = 200;
const ids = Array.from({ length: count }, (_, i) => `item${i}`).sort();

describe("feeds", () => {
  const at = shared({ limits: { "partition-throughput": 1000 } });
  const docs = (container) => `/dbs/db/colls/${container.id}/docs`;

  async function filled(throughput = 4000) {
    const container = await at.container({ throughput });
    await together(16, ids.map((id, i) => () => container.items.create({ id, pk: `k${i % 40}` })));
    return container;
  }

  it("A2 A6: one feed reads all partitions, each item once, in pages of the size asked for", async () => {
    const container = await filled();
    assert.equal((await ranges(at.rest, container)).length, 4);
    for (const size of [1, 7, 100, 1000]) {
      const { items, pages } = await readFeed(at.rest, docs(container), "Documents",
        { headers: { "x-ms-max-item-count": String(size) } });
      assert.deepEqual(items.map((item) => item.id).sort(), ids, `pages of ${size}`);
      assert.ok(pages >= count / size, `${pages} pages of ${size}`);
    }
    const { items } = await readFeed(at.rest, docs(container), "Documents", { headers: { "x-ms-max-item-count": "-1" } });
    assert.equal(items.length, count);
  });

  it("a page says how many it has, and its charge", async () => {
    const container = await filled(400);
    const answer = answers(await at.rest("GET", docs(container), { headers: { "x-ms-max-item-count": "10" } }), 200);
    assert.equal(answer.body.Documents.length, 10);
    assert.equal(answer.body._count, 10);
    assert.equal(answer.headers["x-ms-item-count"], "10");
    assert.ok(Number(answer.headers["x-ms-request-charge"]) > 0);
    assert.equal(answer.body._rid, (await container.read()).resource._rid);
    assert.ok(answer.headers["x-ms-continuation"].length <= 1024, "the SDK asks for at most 1 KB");
  });

  it("A8: a feed of one key, and of one range", async () => {
    const container = await filled();
    const key = await readFeed(at.rest, docs(container), "Documents", { headers: keyHeader("k3") });
    assert.deepEqual(key.items.map((item) => item.pk), new Array(count / 40).fill("k3"));
    const seen = [];
    for (const range of await ranges(at.rest, container)) {
      const { items } = await readFeed(at.rest, docs(container), "Documents",
        { headers: { "x-ms-documentdb-partitionkeyrangeid": range.id, "x-ms-max-item-count": "9" } });
      seen.push(...items.map((item) => item.id));
    }
    assert.deepEqual(seen.sort(), ids);
    answers(await at.rest("GET", docs(container), { headers: { "x-ms-documentdb-partitionkeyrangeid": "99" } }), 410,
      { substatus: 1002 });
  });

  it("a continuation that is not one answers 400", async () => {
    const container = await filled(400);
    const { headers } = await at.rest("GET", docs(container), { headers: { "x-ms-max-item-count": "10" } });
    const good = headers["x-ms-continuation"];
    for (const bad of ["nonsense", "{}", "[]", good.slice(0, -3), `${good}x`, good.split("").reverse().join("")]) {
      answers(await at.rest("GET", docs(container), { headers: { "x-ms-continuation": bad } }), 400);
    }
    for (const size of ["0", "-2", "x", "1.5"]) {
      answers(await at.rest("GET", docs(container), { headers: { "x-ms-max-item-count": size } }), 400);
    }
  });

  it("an empty container has an empty feed", async () => {
    const container = await at.container({ throughput: 4000 });
    const { items } = await readFeed(at.rest, docs(container), "Documents");
    assert.deepEqual(items, []);
  });

  it("a page has no continuation when nothing is left, in empty partitions neither", async () => {
    const container = await at.container({ throughput: 4000 });
    for (const id of ["a", "b", "c"]) {
      await container.items.create({ id, pk: "one" });
      const { items, pages } = await readFeed(at.rest, docs(container), "Documents");
      assert.equal(pages, 1);
      assert.equal((await readFeed(at.rest, docs(container), "Documents", { headers: { "x-ms-max-item-count": "1" } })).pages, items.length);
    }
  });

  it("what one page holds comes in the order in which it was made, in each partition", async () => {
    for (const throughput of [400, 4000]) {
      const container = await at.container({ throughput });
      const made = Array.from({ length: 20 }, (_, i) => ({ id: `${(i * 7) % 20}`, pk: `k${i}` }));
      for (const item of made) await container.items.create(item);
      await container.items.upsert({ ...made[0], changed: true });  // is as old as it was
      for (const range of await ranges(at.rest, container)) {
        const headers = { "x-ms-documentdb-partitionkeyrangeid": range.id };
        const feed = await readFeed(at.rest, docs(container), "Documents", { headers });
        const there = new Set(feed.items.map((item) => item.id));
        const expected = made.map((item) => item.id).filter((id) => there.has(id));
        assert.deepEqual(feed.items.map((item) => item.id), expected);
        const rows = async (query) => answers(await at.rest("POST", docs(container), { body: { query, parameters: [] },
          headers: { ...headers, "x-ms-documentdb-isquery": "True", "x-ms-documentdb-query-enablecrosspartition": "True" } }), 200).body.Documents;
        assert.deepEqual((await rows("SELECT * FROM c")).map((item) => item.id), expected);
        assert.deepEqual(await rows("SELECT VALUE c.id FROM c"), expected);
        assert.deepEqual(await rows("SELECT VALUE c.id FROM c WHERE c.id < '5'"), expected.filter((id) => id < "5"));
      }
      if (throughput === 400) {
        assert.deepEqual((await container.items.query("SELECT VALUE c.id FROM c").fetchAll()).resources, made.map((item) => item.id));
        assert.deepEqual((await container.items.readAll().fetchAll()).resources.map((item) => item.id), made.map((item) => item.id));
      }
    }
  });

  it("readAll of the SDK gives every item, in pages when asked", async () => {
    const container = await filled();
    const all = await container.items.readAll().fetchAll();
    assert.deepEqual(all.resources.map((item) => item.id).sort(), ids);
    const seen = [];
    const iterator = container.items.readAll({ maxItemCount: 17 });
    while (iterator.hasMoreResults()) {
      const { resources } = await iterator.fetchNext();
      assert.ok((resources ?? []).length <= 17);
      seen.push(...(resources ?? []).map((item) => item.id));
    }
    assert.deepEqual(seen.sort(), ids);
    const one = await container.items.readAll({ partitionKey: "k3" }).fetchAll();
    assert.equal(one.resources.length, count / 40);
  });

  it("readAll goes on from a continuation, with another client, after a split", async () => {
    const container = await filled(400);
    const first = await container.items.readAll({ maxItemCount: 30 }).fetchNext();
    assert.equal(first.resources.length, 30);
    assert.equal((await at.server.split(container)).code, 0);
    const items = at.server.client().database("db").container(container.id).items;
    const rest = await items.readAll({ continuationToken: first.continuationToken }).fetchAll();
    assert.deepEqual([...first.resources, ...rest.resources].map((item) => item.id).sort(), ids);
  });

  it("a feed of a prefix of a hierarchical key", async () => {
    const container = await at.container({ throughput: 4000,
      partitionKey: { paths: ["/tenant", "/user"], kind: "MultiHash", version: 2 } });
    for (let i = 0; i < 30; ++i) await container.items.create({ id: `${i}`, tenant: `t${i % 3}`, user: `u${i}` });
    const tenant = await readFeed(at.rest, docs(container), "Documents",
      { headers: { ...keyHeader("t1"), "x-ms-max-item-count": "4" } });
    assert.deepEqual(new Set(tenant.items.map((item) => item.tenant)), new Set(["t1"]));
    assert.equal(tenant.items.length, 10);
    const user = await readFeed(at.rest, docs(container), "Documents", { headers: keyHeader("t1", "u4") });
    assert.deepEqual(user.items.map((item) => item.id), ["4"]);
  });

  it("a feed of a part of a range, by effective partition keys", async () => {
    const container = await filled(400);
    const [low, high] = [{ "x-ms-end-epk": "20" }, { "x-ms-start-epk": "20" }].map((bounds) => ({
      headers: { ...bounds, "x-ms-read-key-type": "EffectivePartitionKeyRange" } }));
    const below = (await readFeed(at.rest, docs(container), "Documents", low)).items;
    const above = (await readFeed(at.rest, docs(container), "Documents", high)).items;
    assert.ok(below.length > 0 && above.length > 0);
    assert.deepEqual([...below, ...above].map((item) => item.id).sort(), ids);
    answers(await at.rest("GET", docs(container), { headers: { "x-ms-start-epk": "xyz" } }), 400);
  });

  it("A10: a continuation taken before a split goes on after it, each item once", async () => {
    const container = await filled(400);
    const seen = [];
    let continuation;
    for (let page = 0; page < 3; ++page) {
      const answer = await at.rest("GET", docs(container),
        { headers: { "x-ms-max-item-count": "20", ...(continuation ? { "x-ms-continuation": continuation } : {}) } });
      seen.push(...answer.body.Documents.map((item) => item.id));
      continuation = answer.headers["x-ms-continuation"];
    }
    const { code, out } = await at.server.split(container);
    assert.equal(code, 0, out);
    assert.ok((await ranges(at.rest, container)).length > 1);
    while (continuation) {
      const answer = answers(await at.rest("GET", docs(container),
        { headers: { "x-ms-max-item-count": "20", "x-ms-continuation": continuation } }), 200);
      seen.push(...answer.body.Documents.map((item) => item.id));
      continuation = answer.headers["x-ms-continuation"];
    }
    assert.deepEqual(seen.sort(), ids);
  });

  it("a page stays under 4 MB however many items are asked for", async () => {
    const container = await at.container({ indexingPolicy: { indexingMode: "none", automatic: false } });
    const pad = "x".repeat(1024 * 1024);
    for (let i = 0; i < 6; ++i) await container.items.create({ id: `${i}`, pk: "a", pad });
    const first = await at.rest("GET", docs(container), { headers: { "x-ms-max-item-count": "1000" } });
    assert.ok(Buffer.byteLength(first.text) <= 4.5 * 1024 * 1024);
    assert.ok(first.headers["x-ms-continuation"]);
    const { items } = await readFeed(at.rest, docs(container), "Documents");
    assert.equal(items.length, 6);
  });
});
