// Users and their permissions as resources: create, read, list, replace, upsert, delete. What a
// permission's token lets a client do is in permissions.test.mjs.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { answers, fails } from "./expect.mjs";
import { shared } from "./server.mjs";

describe("users", () => {
  const at = shared();

  it("A32: a user is created, read, listed, renamed and deleted", async () => {
    const { database } = await at.client.databases.create({ id: "people" });
    const created = await database.users.create({ id: "ann" });
    assert.equal(created.statusCode, 201);
    const { resource } = created;
    assert.equal(resource._self, `dbs/${(await database.read()).resource._rid}/users/${resource._rid}/`);
    assert.equal(resource._permissions, "permissions/");
    assert.equal(Buffer.from(resource._rid.replaceAll("-", "/"), "base64").length, 8);
    assert.deepEqual((await database.user("ann").read()).resource, resource);

    await database.users.create({ id: "cem" });
    await database.users.upsert({ id: "bob" });
    const all = (await database.users.readAll().fetchAll()).resources;
    assert.deepEqual(all.map((user) => user.id), ["ann", "bob", "cem"]);
    const pages = database.users.readAll({ maxItemCount: 2 });
    assert.equal((await pages.fetchNext()).resources.length, 2);
    assert.equal((await pages.fetchNext()).resources.length, 1);

    const found = await database.users.query("SELECT VALUE u.id FROM u WHERE u.id > 'ann' ORDER BY u.id DESC").fetchAll();
    assert.deepEqual(found.resources, ["cem", "bob"]);

    const renamed = await database.user("ann").replace({ id: "anna" });
    assert.equal(renamed.resource._rid, resource._rid);
    assert.notEqual(renamed.resource._etag, resource._etag);
    await fails(database.user("ann").read(), 404);
    await fails(database.user("anna").replace({ id: "bob" }), 409);

    assert.equal((await database.user("anna").delete()).statusCode, 204);
    await fails(database.user("anna").read(), 404);
  });

  it("refuses a second user of the same name, and bad definitions", async () => {
    const { database } = await at.client.databases.create({ id: "strict" });
    await database.users.create({ id: "ann" });
    await fails(database.users.create({ id: "ann" }), 409);
    assert.equal((await database.users.upsert({ id: "ann" })).statusCode, 200);
    for (const body of [{}, { id: 1 }, { id: "" }, { id: "a/b" }, "nonsense"]) {
      answers(await at.rest("POST", "/dbs/strict/users", { body }), 400);
    }
    answers(await at.rest("GET", "/dbs/nowhere/users"), 404);
    answers(await at.rest("PATCH", "/dbs/strict/users/ann", { body: {} }), 405);
    answers(await at.rest("DELETE", "/dbs/strict/users"), 405);
  });

  it("If-Match and If-None-Match are honoured", async () => {
    const { database } = await at.client.databases.create({ id: "careful" });
    const { resource } = await database.users.create({ id: "ann" });
    const path = "/dbs/careful/users/ann";
    answers(await at.rest("GET", path, { headers: { "if-none-match": resource._etag } }), 304);
    answers(await at.rest("PUT", path, { body: { id: "ann" }, headers: { "if-match": '"x"' } }), 412);
    answers(await at.rest("DELETE", path, { headers: { "if-match": '"x"' } }), 412);
    answers(await at.rest("DELETE", path, { headers: { "if-match": resource._etag } }), 204);
  });

  it("users go with their database, and are there after a restart", async () => {
    const { database } = await at.client.databases.create({ id: "lasting" });
    const { resource } = await database.users.create({ id: "ann" });
    await at.server.restart();
    assert.deepEqual((await database.user("ann").read()).resource, resource);
    await database.delete();
    await at.client.databases.create({ id: "lasting" });
    await fails(database.user("ann").read(), 404);
    assert.deepEqual((await database.users.readAll().fetchAll()).resources, []);
  });
});
