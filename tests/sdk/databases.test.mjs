// Databases: create, read, list, delete, and what is refused.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { answers, fails } from "./expect.mjs";
import { readFeed } from "./rest.mjs";
import { shared } from "./server.mjs";

describe("databases", () => {
  const at = shared();

  it("A32: a database is created, read and deleted", async () => {
    const created = await at.client.databases.create({ id: "first" });
    assert.equal(created.statusCode, 201);
    for (const property of ["_rid", "_self", "_etag", "_colls", "_users"]) {
      assert.equal(typeof created.resource[property], "string", property);
    }
    assert.equal(typeof created.resource._ts, "number");
    assert.equal(created.resource._self, `dbs/${created.resource._rid}/`);
    assert.equal(Buffer.from(created.resource._rid.replaceAll("-", "/"), "base64").length, 4);

    const read = await at.client.database("first").read();
    assert.equal(read.statusCode, 200);
    assert.deepEqual(read.resource, created.resource);
    assert.equal(read.headers.etag, created.resource._etag);

    assert.equal((await at.client.database("first").delete()).statusCode, 204);
    await fails(at.client.database("first").read(), 404);
    await fails(at.client.database("first").delete(), 404);
  });

  it("a second database of the same name is a conflict; names differ by case", async () => {
    await at.client.databases.create({ id: "twice" });
    await fails(at.client.databases.create({ id: "twice" }), 409, { message: /twice/ });
    assert.equal((await at.client.databases.create({ id: "Twice" })).statusCode, 201);
  });

  it("createIfNotExists creates once", async () => {
    assert.equal((await at.client.databases.createIfNotExists({ id: "once" })).statusCode, 201);
    assert.equal((await at.client.databases.createIfNotExists({ id: "once" })).statusCode, 200);
  });

  it("names: empty, too long, forbidden characters and wrong types are refused", async () => {
    const create = (body) => at.rest("POST", "/dbs", { body });
    for (const body of [{}, { id: "" }, { id: 5 }, { id: null }, { id: "a/b" }, { id: "a\\b" },
      { id: "a#b" }, { id: "a?b" }, { id: "ends with a space " }, { id: "x".repeat(256) }]) {
      answers(await create(body), 400);
    }
    for (const text of ["", "{", "[]", "null", '"text"', '{"id":"a"} x', '{"id":"a","id":"b"}']) {
      answers(await create(text), 400);
    }
    answers(await create({ id: "x".repeat(255) }), 201);
  });

  it("names in any script work, in the path and in the signature", async () => {
    for (const id of ["città", "数据库", "with space", "a+b", "100%", "q'uote", "😀"]) {
      await at.client.databases.create({ id });
      assert.equal((await at.client.database(id).read()).resource.id, id);
      await at.client.database(id).delete();
    }
  });

  it("the list has every database, in pages when asked", async () => {
    for (let i = 0; i < 7; ++i) await at.client.databases.create({ id: `listed${i}` });
    const { resources } = await at.client.databases.readAll().fetchAll();
    const expected = ["db", ...Array.from({ length: 7 }, (_, i) => `listed${i}`)];
    for (const id of expected) assert.equal(resources.filter((r) => r.id === id).length, 1, id);

    const paged = await at.client.databases.readAll({ maxItemCount: 2 }).fetchAll();
    assert.deepEqual(paged.resources.map((r) => r.id).sort(), resources.map((r) => r.id).sort());
    const { items, pages } = await readFeed(at.rest, "/dbs", "Databases",
      { headers: { "x-ms-max-item-count": "3" } });
    assert.equal(items.length, resources.length);
    assert.equal(pages, Math.ceil(resources.length / 3));
  });

  it("a database by its RID", async () => {
    const { resource } = await at.client.database("db").read();
    const answer = answers(await at.rest("GET", `/dbs/${resource._rid}`, { rid: true }), 200);
    assert.equal(answer.body.id, "db");
  });

  it("deleting a database deletes its containers, and the name starts afresh", async () => {
    const { database } = await at.client.databases.create({ id: "afresh" });
    const { container } = await database.containers.create({ id: "c", partitionKey: "/pk" });
    await container.items.create({ id: "1", pk: "a" });
    const before = (await database.read()).resource._rid;
    await database.delete();
    await at.client.databases.create({ id: "afresh" });
    assert.notEqual((await database.read()).resource._rid, before);
    assert.equal((await database.containers.readAll().fetchAll()).resources.length, 0);
    await fails(container.read(), 404);
  });
});

describe("databases with a quota", () => {
  const at = shared({ limits: { "account-databases": 2 } });

  it("A33: one database too many is refused, naming the limit", async () => {
    await at.client.databases.create({ id: "second" });
    await fails(at.client.databases.create({ id: "third" }), 403, { message: /\b2\b/ });
    await at.client.database("second").delete();
    assert.equal((await at.client.databases.create({ id: "third" })).statusCode, 201);
  });
});
