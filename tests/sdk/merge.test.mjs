// Partitions that are merged: by command, and by themselves after throughput was lowered. Applications go on.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { ChangeFeedMode, ChangeFeedPolicy, ChangeFeedRetentionTimeSpan, ChangeFeedStartFrom } from "./cosmos.mjs";
import { answers, eventually, ranges, together } from "./expect.mjs";
import { keyHeader, readFeed } from "./rest.mjs";
import { shared } from "./server.mjs";

const count = 120;
const numbers = (from, to) => Array.from({ length: to - from }, (_, i) => `${from + i}`);

describe("merging", () => {
  const at = shared();
  const fill = (container, ids, more = {}) =>
    together(8, ids.map((id) => () => container.items.upsert({ id, pk: `k${id}`, n: Number(id), ...more })));
  const merged = async (container) => {
    const [left, right] = await ranges(at.rest, container);
    const { code, out } = await at.server.merge(container, left.id, right.id);
    assert.equal(code, 0, out);
    return JSON.parse(out);
  };
  // A container with items in two partitions.
  const halves = async (definition = {}) => {
    const container = await at.container(definition);
    await fill(container, numbers(0, count));
    const { code, out } = await at.server.split(container);
    assert.equal(code, 0, out);
    return container;
  };

  it("A38: two neighbours become one range whose parents are both; items, etags and session tokens stay", async () => {
    const container = await halves();
    const before = await ranges(at.rest, container);
    const writes = await together(8, numbers(0, count).map((id) => () => container.item(id, `k${id}`).read()));
    const told = await merged(container);
    const after = await ranges(at.rest, container);
    assert.equal(after.length, 1);
    assert.equal(after[0].id, `${told.child}`);
    assert.deepEqual(told.parents.map(String), before.map((range) => range.id));
    for (const range of before) assert.ok(after[0].parents.includes(range.id), JSON.stringify(after[0]));
    await together(8, numbers(0, count).map((id, i) => async () => {
      const answer = await at.rest("GET", `/dbs/db/colls/${container.id}/docs/${id}`, {
        headers: { ...keyHeader(`k${id}`), "x-ms-session-token": writes[i].headers["x-ms-session-token"] },
      });
      answers(answer, 200);
      assert.equal(answer.body._etag, writes[i].resource._etag);
    }));
    const { body } = await at.rest("GET", `/admin/partitions?database=db&container=${container.id}`);
    assert.deepEqual(body.merges.map((one) => [one.cause, one.child]), [["asked", told.child]]);
    // Optimistic writes by etags from before.
    const { resource } = writes[3];
    const replaced = await container.item("3", "k3").replace({ ...resource, n: -3 },
      { accessCondition: { type: "IfMatch", condition: resource._etag } });
    assert.equal(replaced.statusCode, 200);
  });

  it("A38: a client that names a range that is gone gets 410/1002, and its keys from then on", async () => {
    const container = await halves();
    const [left] = await ranges(at.rest, container);
    await merged(container);
    const answer = await at.rest("GET", `/dbs/db/colls/${container.id}/docs`,
      { headers: { "A-IM": "Incremental Feed", "x-ms-documentdb-partitionkeyrangeid": left.id } });
    answers(answer, 410, { substatus: 1002 });
    const [child] = await ranges(at.rest, container);
    const part = await at.rest("GET", `/dbs/db/colls/${container.id}/docs`, {
      headers: {
        "A-IM": "Incremental Feed", "x-ms-documentdb-partitionkeyrangeid": child.id,
        "x-ms-start-epk": left.minInclusive, "x-ms-end-epk": left.maxExclusive, "x-ms-max-item-count": "1000",
      },
    });
    answers(part, 200);
    assert.ok(part.body.Documents.length > 0 && part.body.Documents.length < count);
  });

  it("A38: queries and feeds that were begun before go on after it, every row once", async () => {
    const container = await halves();
    const pages = async (iterator, first) => {
      const rows = [];
      for (let page = 0; iterator.hasMoreResults(); ++page) {
        if (page === first) await merged(container);
        const { resources } = await iterator.fetchNext();
        rows.push(...(resources ?? []));
      }
      return rows;
    };
    const plain = await pages(container.items.query("SELECT VALUE c.id FROM c", { maxItemCount: 10 }), 2);
    assert.deepEqual(plain.sort(), numbers(0, count).sort());
    assert.equal((await at.server.split(container)).code, 0);
    const ordered = await pages(container.items.query("SELECT VALUE c.n FROM c ORDER BY c.n", { maxItemCount: 10 }), 3);
    assert.deepEqual(ordered, numbers(0, count).map(Number));
    assert.equal((await at.server.split(container)).code, 0);
    const feed = await pages(container.items.readAll({ maxItemCount: 10 }), 2);
    assert.deepEqual(feed.map((item) => item.id).sort(), numbers(0, count).sort());
  });

  const drain = async (iterator) => {
    const items = [];
    for (;;) {
      const page = await iterator.readNext();
      if (page.statusCode === 304) return { items, continuation: page.continuationToken };
      assert.equal(page.statusCode, 200);
      items.push(...page.result);
    }
  };

  it("A38: a change feed goes on over a merge: each change once, in an iterator and from a continuation", async () => {
    const container = await halves();
    const iterator = container.items.getChangeFeedIterator({ changeFeedStartFrom: ChangeFeedStartFrom.Beginning() });
    const first = await drain(iterator);
    assert.equal(first.items.length, count);
    await fill(container, numbers(count, count + 20));
    await merged(container);
    await fill(container, numbers(count + 20, count + 30));
    const expected = numbers(count, count + 30).sort();
    const resumed = await drain(container.items.getChangeFeedIterator(
      { changeFeedStartFrom: ChangeFeedStartFrom.Continuation(first.continuation) }));
    assert.deepEqual(resumed.items.map((item) => item.id).sort(), expected);
    const next = await drain(iterator);
    assert.deepEqual(next.items.map((item) => item.id).sort(), expected);
  });

  it("A38: so does one of all versions and deletes", async () => {
    const container = await halves({
      changeFeedPolicy: new ChangeFeedPolicy(ChangeFeedRetentionTimeSpan.fromMinutes(10)),
    });
    const iterator = container.items.getChangeFeedIterator({
      changeFeedStartFrom: ChangeFeedStartFrom.Now(), changeFeedMode: ChangeFeedMode.AllVersionsAndDeletes,
    });
    await drain(iterator);
    await fill(container, ["1", "2", "1"], { again: true });
    await container.item("3", "k3").delete();
    await merged(container);
    await container.item("4", "k4").delete();
    await fill(container, ["2"], { thrice: true });
    const { items } = await drain(iterator);
    const told = items.map((one) => `${one.metadata.operationType} ${one.current?.id ?? one.metadata.id ?? one.previous?.id}`);
    assert.deepEqual(told.map((one) => one.split(" ")[0]).sort(),
      ["delete", "delete", "replace", "replace", "replace", "replace"]);
  });

  it("A38: what cannot be merged says why", async () => {
    const container = await at.container();
    await fill(container, numbers(0, count));
    assert.equal((await at.server.split(container)).code, 0);
    assert.equal((await at.server.split(container)).code, 0);
    const list = await ranges(at.rest, container);
    const apart = await at.server.merge(container, list[0].id, list.at(-1).id);
    assert.notEqual(apart.code, 0);
    assert.match(apart.out, /not neighbours/);
    const unknown = await at.server.merge(container, list[0].id, 999);
    assert.match(unknown.out, /no range 999/);
    answers(await at.rest("POST", "/admin/merge", { body: { database: "db", container: container.id, ranges: [1] } }), 400);
    answers(await at.rest("POST", "/admin/merge", { body: { database: "db", container: "none", ranges: [1, 2] } }), 404);
  });
});

describe("merging what is too large", () => {
  const at = shared({ limits: { "physical-partition-bytes": 600_000 } });

  it("A38: two that would fill half of a partition stay apart", async () => {
    const container = await at.container();
    const pad = "x".repeat(4000);
    await together(8, numbers(0, 100).map((id) => () => container.items.create({ id, pk: id, pad })));
    assert.equal((await at.server.split(container)).code, 0);
    const [left, right] = await ranges(at.rest, container);
    const { code, out } = await at.server.merge(container, left.id, right.id);
    assert.notEqual(code, 0);
    assert.match(out, /bytes together/);
  });
});

describe("scaling down", () => {
  const at = shared({ limits: { "partition-throughput": 1000, "initial-partition-throughput": 1000, "split-throughput-min": 0 } });

  it("A38: partitions merge by themselves after throughput was lowered, and split again when it is raised", async () => {
    const container = await at.container({ throughput: 4000 });
    await together(8, numbers(0, count).map((id) => () => container.items.create({ id, pk: `k${id}` })));
    assert.equal((await ranges(at.rest, container)).length, 4);
    const scale = async (throughput) => {
      const { resource } = await container.readOffer();
      await at.client.offer(resource.id).replace({ ...resource, content: { ...resource.content, offerThroughput: throughput } });
    };
    await scale(1000);
    const one = await eventually(async () => {
      const list = await ranges(at.rest, container);
      return list.length === 1 && list;
    }, { what: "three merges" });
    assert.equal(one[0].parents.length, 6, "four, and the two that were made of them");
    const { items } = await readFeed(at.rest, `/dbs/db/colls/${container.id}/docs`, "Documents");
    assert.deepEqual(items.map((item) => item.id).sort(), numbers(0, count).sort());
    await scale(2000);
    await eventually(async () => (await ranges(at.rest, container)).length === 2, { what: "a split" });
  });
});
