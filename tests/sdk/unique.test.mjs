// Unique keys: one value per logical partition, whatever the operation.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { fails } from "./expect.mjs";
import { shared } from "./server.mjs";

describe("unique keys", () => {
  const at = shared({ clock: true });
  const email = { uniqueKeyPolicy: { uniqueKeys: [{ paths: ["/email"] }] } };

  it("a value is taken once within a partition key, and free under another", async () => {
    const container = await at.container(email);
    await container.items.create({ id: "1", pk: "a", email: "x" });
    await fails(container.items.create({ id: "2", pk: "a", email: "x" }), 409, { message: /unique/i });
    assert.equal((await container.items.create({ id: "2", pk: "b", email: "x" })).statusCode, 201);
    assert.equal((await container.items.create({ id: "2", pk: "a", email: "y" })).statusCode, 201);
  });

  it("replace and upsert are held to it as well", async () => {
    const container = await at.container(email);
    await container.items.create({ id: "1", pk: "a", email: "x" });
    await container.items.create({ id: "2", pk: "a", email: "y" });
    await fails(container.item("2", "a").replace({ id: "2", pk: "a", email: "x" }), 409);
    await fails(container.items.upsert({ id: "2", pk: "a", email: "x" }), 409);
    await fails(container.items.upsert({ id: "3", pk: "a", email: "x" }), 409);
    assert.equal((await container.item("2", "a").read()).resource.email, "y");
    assert.equal((await container.item("2", "a").replace({ id: "2", pk: "a", email: "y", n: 1 })).statusCode, 200);
  });

  it("a value is free again after a change or a delete", async () => {
    const container = await at.container(email);
    await container.items.create({ id: "1", pk: "a", email: "x" });
    await container.item("1", "a").replace({ id: "1", pk: "a", email: "y" });
    await container.items.create({ id: "2", pk: "a", email: "x" });
    await container.item("1", "a").delete();
    assert.equal((await container.items.create({ id: "3", pk: "a", email: "y" })).statusCode, 201);
  });

  it("several paths together make one key; values of different types differ", async () => {
    const container = await at.container({ uniqueKeyPolicy: { uniqueKeys: [{ paths: ["/first", "/name/last"] }] } });
    const item = (id, first, last) => ({ id, pk: "a", first, name: { last } });
    await container.items.create(item("1", "Ada", "Byron"));
    await container.items.create(item("2", "Ada", "Lovelace"));
    await container.items.create(item("3", "Anne", "Byron"));
    await fails(container.items.create(item("4", "Ada", "Byron")), 409);
    await container.items.create(item("5", 1, "x"));
    await container.items.create(item("6", "1", "x"));
  });

  it("a missing value counts as null: one item has it", async () => {
    const container = await at.container(email);
    await container.items.create({ id: "1", pk: "a" });
    await fails(container.items.create({ id: "2", pk: "a" }), 409, { message: /unique/i });
    await fails(container.items.create({ id: "2", pk: "a", email: null }), 409, { message: /unique/i });
    await container.item("1", "a").replace({ id: "1", pk: "a", email: null });
    await fails(container.items.create({ id: "2", pk: "a" }), 409);
    await container.item("1", "a").replace({ id: "1", pk: "a", email: "x" });
    assert.equal((await container.items.create({ id: "2", pk: "a", email: null })).statusCode, 201);
    await fails(container.items.create({ id: "3", pk: "a" }), 409);
    assert.equal((await container.items.create({ id: "3", pk: "b" })).statusCode, 201);
  });

  it("of several paths, each missing value counts as null", async () => {
    const container = await at.container({ uniqueKeyPolicy: { uniqueKeys: [{ paths: ["/first", "/name/last"] }] } });
    await container.items.create({ id: "1", pk: "a", first: "Ada" });
    await fails(container.items.create({ id: "2", pk: "a", first: "Ada", name: { last: null } }), 409);
    await fails(container.items.create({ id: "2", pk: "a", first: "Ada", name: {} }), 409);
    await container.items.create({ id: "2", pk: "a", name: { last: "Ada" } });
    await fails(container.items.create({ id: "3", pk: "a", first: null, name: { last: "Ada" } }), 409);
    await container.items.create({ id: "3", pk: "a" });
  });

  it("of many writers of one value, one wins", async () => {
    const container = await at.container(email);
    const results = await Promise.allSettled(Array.from({ length: 20 }, (_, i) =>
      container.items.create({ id: `${i}`, pk: "a", email: "x" })));
    assert.equal(results.filter((one) => one.status === "fulfilled").length, 1);
    for (const one of results.filter((r) => r.status === "rejected")) assert.equal(one.reason.code, 409);
  });

  it("it holds across a split, and an expired item's value is free", async () => {
    const container = await at.container({ ...email, defaultTtl: -1 });
    for (let i = 0; i < 20; ++i) await container.items.create({ id: "1", pk: `${i}`, email: "x" });
    const { code, out } = await at.server.split(container);
    assert.equal(code, 0, out);
    for (let i = 0; i < 20; ++i) {
      await fails(container.items.create({ id: "2", pk: `${i}`, email: "x" }), 409);
    }
    await container.items.create({ id: "short", pk: "0", email: "y", ttl: 10_000 });
    await fails(container.items.create({ id: "3", pk: "0", email: "y" }), 409);
    at.server.clock.move(10_000);
    assert.equal((await container.items.create({ id: "3", pk: "0", email: "y" })).statusCode, 201);
  });
});
