// Time to live: by container and by item, with the server's clock in hand.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { answers, eventually } from "./expect.mjs";
import { keyHeader, readFeed } from "./rest.mjs";
import { shared } from "./server.mjs";

// Far longer than a test takes, so that nothing ends before the clock is moved.
const life_s = 10_000;

describe("time to live", () => {
  const at = shared({ clock: true });
  const pass = (seconds) => at.server.clock.move(seconds);
  const there = async (container, id) => (await container.item(id, "a").read()).statusCode === 200;

  it("a container's default ends its items, and an item's own value goes first", async () => {
    const container = await at.container({ defaultTtl: life_s });
    await container.items.create({ id: "default", pk: "a" });
    await container.items.create({ id: "never", pk: "a", ttl: -1 });
    await container.items.create({ id: "long", pk: "a", ttl: 3 * life_s });
    await container.items.create({ id: "short", pk: "a", ttl: life_s / 2 });
    pass(life_s / 2);
    assert.ok(!await there(container, "short"));
    assert.ok(await there(container, "default"));
    pass(life_s / 2);
    assert.ok(!await there(container, "default"));
    assert.ok(await there(container, "never"));
    assert.ok(await there(container, "long"));
  });

  it("with -1 only items that say so end", async () => {
    const container = await at.container({ defaultTtl: -1 });
    await container.items.create({ id: "stays", pk: "a" });
    await container.items.create({ id: "goes", pk: "a", ttl: life_s });
    assert.ok(await there(container, "goes"));
    pass(life_s);
    assert.ok(!await there(container, "goes"));
    assert.ok(await there(container, "stays"));
  });

  it("without a default nothing ends, and turning it on counts from the last write", async () => {
    const container = await at.container();
    await container.items.create({ id: "old", pk: "a", ttl: life_s });
    pass(life_s);
    await container.items.create({ id: "new", pk: "a", ttl: life_s });
    assert.ok(await there(container, "old"));
    const { resource } = await container.read();
    await container.replace({ ...resource, defaultTtl: -1 });
    assert.ok(!await there(container, "old"));
    assert.ok(await there(container, "new"));
  });

  it("a write starts the time again", async () => {
    const container = await at.container({ defaultTtl: life_s });
    await container.items.create({ id: "left", pk: "a" });
    const { resource } = await container.items.create({ id: "kept", pk: "a" });
    pass(life_s / 2);
    await container.item("kept", "a").replace(resource);
    pass(life_s / 2);
    assert.ok(!await there(container, "left"));
    assert.ok(await there(container, "kept"));
    pass(life_s / 2);
    assert.ok(!await there(container, "kept"));
  });

  it("what has ended is in no feed, cannot be replaced or deleted, and its id is free", async () => {
    const container = await at.container({ defaultTtl: life_s });
    await container.items.create({ id: "1", pk: "a", n: 1 });
    pass(life_s);
    const docs = `/dbs/db/colls/${container.id}/docs`;
    assert.deepEqual((await readFeed(at.rest, docs, "Documents")).items, []);
    answers(await at.rest("PUT", `${docs}/1`, { body: { id: "1", pk: "a" }, headers: keyHeader("a") }), 404);
    answers(await at.rest("DELETE", `${docs}/1`, { headers: keyHeader("a") }), 404);
    const again = await container.items.create({ id: "1", pk: "a", n: 2 });
    assert.equal(again.statusCode, 201);
    assert.equal((await container.items.upsert({ id: "1", pk: "a", n: 3 })).statusCode, 200);
  });

  it("what has ended is collected", async () => {
    const container = await at.container({ defaultTtl: life_s });
    for (let i = 0; i < 20; ++i) await container.items.create({ id: `${i}`, pk: "a", large: "x".repeat(10_000) });
    const used = async () => {
      const { headers } = await container.read({ populateQuotaInfo: true });
      return Number(headers["x-ms-resource-usage"].match(/documentsCount=(\d+)/)[1]);
    };
    assert.equal(await used(), 20);
    pass(life_s);
    await eventually(async () => await used() === 0, { what: "collecting 20 items" });
  });

  it("after a clock was ahead, new items have its time again, and end by it", async () => {
    const container = await at.container({ defaultTtl: life_s });
    const year_s = 365 * 24 * 3600;
    const first = (await container.items.create({ id: "first", pk: "a", ttl: 2 * year_s })).resource;
    pass(year_s);
    const ahead = (await container.items.create({ id: "ahead", pk: "a" })).resource;
    assert.ok(ahead._ts >= first._ts + year_s);
    pass(-year_s);
    const back = (await container.items.create({ id: "back", pk: "a" })).resource;
    assert.ok(back._ts <= at.server.clock.now_s + 60, `${back._ts} at ${at.server.clock.now_s}`);
    pass(life_s);
    assert.ok(!await there(container, "back"));
    assert.ok(await there(container, "ahead"), "it was written in a year that has not come");
    assert.ok(await there(container, "first"));
  });

  it("the log says that a test has the clock in hand", () => {
    assert.match(at.server.log, /ORRERY_TEST_CLOCK is set/);
  });

  it("a time that makes no sense is refused", async () => {
    const container = await at.container({ defaultTtl: -1 });
    for (const ttl of [null, 0, -2, 1.5, "60", true, 2147483648]) {
      answers(await at.rest("POST", `/dbs/db/colls/${container.id}/docs`,
        { body: { id: "1", pk: "a", ttl }, headers: keyHeader("a") }), 400, { message: /ttl/i });
    }
  });
});

describe("the clock of a server that no test has in hand", () => {
  const at = shared();

  it("is the machine's, and nothing in the log says otherwise", async () => {
    const container = await at.container();
    const { resource } = await container.items.create({ id: "1", pk: "a" });
    assert.ok(Math.abs(resource._ts - Date.now() / 1000) < 600);
    assert.doesNotMatch(at.server.log, /ORRERY_TEST_CLOCK/);
  });
});
