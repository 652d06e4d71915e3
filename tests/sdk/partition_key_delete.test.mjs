// Deleting all items of a partition key: gone at once, removed in the background.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { ChangeFeedMode, ChangeFeedPolicy, ChangeFeedRetentionTimeSpan, ChangeFeedStartFrom } from "./cosmos.mjs";

import { answers, eventually, fails } from "./expect.mjs";
import { keyHeader } from "./rest.mjs";
import { shared } from "./server.mjs";

describe("deleting all items of a partition key", () => {
  const at = shared();
  const remaining = async (container) => {
    const { resources } = await container.items.query("SELECT VALUE c.id FROM c ORDER BY c.id")
      .fetchAll();
    return resources;
  };
  const pathOf = (container) =>
    `/dbs/${container.database.id}/colls/${container.id}/operations/partitionkeydelete`;
  const metric = async (name, container) => {
    const page = await at.rest("GET", "/metrics", { key: null });
    return page.text.split("\n")
      .filter((line) => line.startsWith(`${name}{`) && line.includes(`container="${container.id}"`))
      .reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
  };
  const collected = (container, items) => eventually(async () =>
    await metric("orrery_partition_purges", container) === 0 &&
    await metric("orrery_partition_items", container) === items);

  it("by the SDK: reads, feeds, queries and aggregates see none of them; others stay", async () => {
    const container = await at.container({ throughput: 12_000 });
    for (const pk of ["a", "b"]) {
      for (let i = 0; i < 20; i++) await container.items.create({ id: `${pk}${i}`, pk, n: i });
    }
    const { statusCode } = await container.deleteAllItemsForPartitionKey("a");
    assert.equal(statusCode, 200);
    assert.equal((await container.item("a0", "a").read()).statusCode, 404);
    assert.equal((await container.items.readAll().fetchAll()).resources.length, 20);
    const sums = await container.items
      .query("SELECT COUNT(1) AS items, SUM(c.n) AS n FROM c").fetchAll();
    assert.deepEqual(sums.resources, [{ items: 20, n: 190 }]);
    const counted = await container.items.query("SELECT VALUE COUNT(1) FROM c WHERE c.n >= 10")
      .fetchAll();
    assert.deepEqual(counted.resources, [10]);
    assert.ok((await remaining(container)).every((id) => id.startsWith("b")));
    await fails(container.item("a0", "a").replace({ id: "a0", pk: "a" }), 404);
  });

  it("what is written afterwards stays, under the same ids too", async () => {
    const container = await at.container();
    for (let i = 0; i < 50; i++) await container.items.create({ id: `${i}`, pk: "a" });
    await container.deleteAllItemsForPartitionKey("a");
    await container.items.create({ id: "7", pk: "a", again: true });
    await container.items.create({ id: "new", pk: "a" });
    assert.deepEqual(await remaining(container), ["7", "new"]);
    await collected(container, 2);
    assert.ok(await metric("orrery_partition_purge_request_units_total", container) > 0);
    assert.deepEqual(await remaining(container), ["7", "new"]);
  });

  it("the change feed has none of them, and all versions tell of each as a delete", async () => {
    const container = await at.container({
      changeFeedPolicy: new ChangeFeedPolicy(ChangeFeedRetentionTimeSpan.fromMinutes(60)),
    });
    const feed = container.items.getChangeFeedIterator({
      changeFeedMode: ChangeFeedMode.AllVersionsAndDeletes,
      changeFeedStartFrom: ChangeFeedStartFrom.Now(),
    });
    await feed.readNext();
    await container.items.create({ id: "1", pk: "a" });
    await container.items.create({ id: "2", pk: "a" });
    await container.deleteAllItemsForPartitionKey("a");
    const seen = [];
    await eventually(async () => {
      const page = await feed.readNext();
      seen.push(...(page.result ?? []).map(({ metadata, previous, current }) =>
        `${metadata.operationType} ${(previous ?? current).id}`));
      return seen.length >= 4;
    });
    assert.deepEqual(seen.sort(), ["create 1", "create 2", "delete 1", "delete 2"]);
    const latest = container.items.getChangeFeedIterator({
      changeFeedStartFrom: ChangeFeedStartFrom.Beginning(),
    });
    assert.deepEqual((await latest.readNext()).result ?? [], []);
  });

  it("a hierarchical key is given whole: a part of it is 400/1001", async () => {
    const container = await at.container({
      partitionKey: { paths: ["/country", "/city"], kind: "MultiHash", version: 2 },
    });
    for (const city of ["Bonn", "Kiel"]) {
      await container.items.create({ id: city, country: "DE", city });
    }
    await fails(container.deleteAllItemsForPartitionKey(["DE"]), 400, { substatus: 1001 });
    assert.equal((await container.deleteAllItemsForPartitionKey(["DE", "Kiel"])).statusCode, 200);
    assert.deepEqual(await remaining(container), ["Bonn"]);
    // As other SDKs sign it.
    answers(await at.rest("POST", pathOf(container), { headers: keyHeader("DE", "Bonn") }), 200);
    assert.deepEqual(await remaining(container), []);
  });

  it("without a key, with another method, of a container that is not there", async () => {
    const container = await at.container();
    answers(await at.rest("POST", pathOf(container)), 400);
    answers(await at.rest("GET", pathOf(container), { headers: keyHeader("a") }), 405);
    answers(await at.rest("POST", pathOf(container), { headers: keyHeader("a") }), 200);
    await fails(at.db.container("none").deleteAllItemsForPartitionKey("a"), 404);
  });

  it("a restart keeps it, and goes on with it", async () => {
    const container = await at.container();
    for (let i = 0; i < 300; i++) await container.items.create({ id: `${i}`, pk: "a" });
    await container.items.create({ id: "other", pk: "b" });
    await container.deleteAllItemsForPartitionKey("a");
    await at.server.restart();
    const again = at.server.client().database(container.database.id).container(container.id);
    assert.deepEqual(await remaining(again), ["other"]);
    await collected(again, 1);
  });
});
