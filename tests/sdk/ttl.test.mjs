// Time to live: by container and by item. Items live whole seconds, so these tests wait for one.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { answers, eventually } from "./expect.mjs";
import { keyHeader, readFeed } from "./rest.mjs";
import { shared } from "./server.mjs";

describe("time to live", { concurrency: true }, () => {
  const at = shared();
  const gone = (container, id) =>
    eventually(async () => (await container.item(id, "a").read()).statusCode === 404,
      { within_ms: 6000, what: `expiry of ${id}` });
  const there = async (container, id) => (await container.item(id, "a").read()).statusCode === 200;

  it("a container's default ends its items, and an item's own value goes first", async () => {
    const container = await at.container({ defaultTtl: 1 });
    await container.items.create({ id: "default", pk: "a" });
    await container.items.create({ id: "never", pk: "a", ttl: -1 });
    await container.items.create({ id: "long", pk: "a", ttl: 1000 });
    assert.ok(await there(container, "default"));
    await gone(container, "default");
    assert.ok(await there(container, "never"));
    assert.ok(await there(container, "long"));
  });

  it("with -1 only items that say so end", async () => {
    const container = await at.container({ defaultTtl: -1 });
    await container.items.create({ id: "stays", pk: "a" });
    await container.items.create({ id: "goes", pk: "a", ttl: 1 });
    await gone(container, "goes");
    assert.ok(await there(container, "stays"));
  });

  it("without a default nothing ends, and turning it on counts from the last write", async () => {
    const container = await at.container();
    await container.items.create({ id: "stays", pk: "a", ttl: 1 });
    const other = await at.container({ defaultTtl: -1 });
    await other.items.create({ id: "clock", pk: "a", ttl: 1 });
    await gone(other, "clock");
    assert.ok(await there(container, "stays"));
    const { resource } = await container.read();
    await container.replace({ ...resource, defaultTtl: -1 });
    await gone(container, "stays");
  });

  it("a write starts the time again", async () => {
    const container = await at.container({ defaultTtl: 3 });
    await container.items.create({ id: "first", pk: "a" });
    const { resource } = await container.items.create({ id: "kept", pk: "a", ttl: 2 });
    await container.item("kept", "a").replace({ ...resource, ttl: 1000 });
    await gone(container, "first");
    assert.ok(await there(container, "kept"));
  });

  it("what has ended is in no feed, cannot be replaced or deleted, and its id is free", async () => {
    const container = await at.container({ defaultTtl: 1 });
    await container.items.create({ id: "1", pk: "a", n: 1 });
    await gone(container, "1");
    const docs = `/dbs/db/colls/${container.id}/docs`;
    assert.deepEqual((await readFeed(at.rest, docs, "Documents")).items, []);
    answers(await at.rest("PUT", `${docs}/1`, { body: { id: "1", pk: "a" }, headers: keyHeader("a") }), 404);
    answers(await at.rest("DELETE", `${docs}/1`, { headers: keyHeader("a") }), 404);
    const again = await container.items.create({ id: "1", pk: "a", n: 2 });
    assert.equal(again.statusCode, 201);
    assert.equal((await container.items.upsert({ id: "1", pk: "a", n: 3 })).statusCode, 200);
  });

  it("a time that makes no sense is refused", async () => {
    const container = await at.container({ defaultTtl: -1 });
    for (const ttl of [0, -2, 1.5, "60", true, 2147483648]) {
      answers(await at.rest("POST", `/dbs/db/colls/${container.id}/docs`,
        { body: { id: "1", pk: "a", ttl }, headers: keyHeader("a") }), 400, { message: /ttl/i });
    }
  });
});
