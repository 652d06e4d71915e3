// Triggers through the vendor's SDK: they run when a write asks for them, inside its transaction.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { answers, bare, fails } from "./expect.mjs";
import { keyHeader } from "./rest.mjs";
import { shared } from "./server.mjs";

// Gives the item a timestamp if it has none, and refuses one without a name.
function validateToDoItemTimestamp() {
  const request = getContext().getRequest();
  const item = request.getBody();
  if (!item.name) throw new Error("the item has no name");
  if (!("timestamp" in item)) item.timestamp = 1234567;
  request.setBody(item);
}

// Keeps a count of the items, and the name of the last one, in a document beside them.
function updateMetadata() {
  const collection = getContext().getCollection();
  const created = getContext().getResponse().getBody();
  const accepted = collection.queryDocuments(collection.getSelfLink(),
    'SELECT * FROM root r WHERE r.id = "_metadata"', (error, found) => {
      if (error) throw new Error("Error " + error.message);
      if (found.length !== 1) throw new Error("Unable to find the metadata document");
      const metadata = found[0];
      metadata.createdItems += 1;
      metadata.createdNames += " " + created.id;
      collection.replaceDocument(metadata._self, metadata, (failed) => {
        if (failed) throw new Error("Unable to update the metadata, abort");
      });
    });
  if (!accepted) throw new Error("Unable to read the metadata, abort");
}

describe("triggers", () => {
  const at = shared();

  async function withTriggers(...definitions) {
    const container = await at.container();
    for (const definition of definitions) {
      await container.scripts.triggers.create({ id: definition.body.name, triggerOperation: "All", ...definition });
    }
    return container;
  }

  it("A27: a trigger is created, read, listed, replaced and deleted", async () => {
    const { scripts } = await at.container();
    const definition = { id: "t", body: "function t() {}", triggerType: "Pre", triggerOperation: "Create" };
    const created = await scripts.triggers.create(definition);
    assert.equal(created.statusCode, 201);
    for (const [name, value] of Object.entries(definition)) assert.equal(created.resource[name], value);
    await fails(scripts.triggers.create(definition), 409);
    assert.deepEqual((await scripts.trigger("t").read()).resource, created.resource);
    const changed = { ...definition, triggerType: "Post", triggerOperation: "All" };
    assert.equal((await scripts.trigger("t").replace(changed)).resource.triggerType, "Post");
    assert.equal((await scripts.triggers.readAll().fetchAll()).resources.length, 1);
    await scripts.trigger("t").delete();
    await fails(scripts.trigger("t").read(), 404);
    await fails(scripts.triggers.create({ ...definition, triggerType: "During" }), 400, { message: /triggerType/ });
    await fails(scripts.triggers.create({ ...definition, triggerOperation: "Read" }), 400,
      { message: /triggerOperation/ });
  });

  it("A27 A28: a pre-trigger changes the item, or refuses it", async () => {
    const container = await withTriggers({ body: validateToDoItemTimestamp, triggerType: "Pre", triggerOperation: "Create" });
    const options = { preTriggerInclude: ["validateToDoItemTimestamp"] };
    const { resource, statusCode } = await container.items.create({ id: "1", pk: "a", name: "x" }, options);
    assert.equal(statusCode, 201);
    assert.equal(resource.timestamp, 1234567);
    assert.deepEqual((await container.item("1", "a").read()).resource, resource);
    await fails(container.items.create({ id: "2", pk: "a" }, options), 400, { message: /the item has no name/ });
    assert.equal((await container.item("2", "a").read()).statusCode, 404);
    await fails(container.items.create({ id: "1", pk: "a", name: "x" }, options), 409);
    await container.items.create({ id: "3", pk: "a" });
  });

  it("A27 A28: a post-trigger keeps metadata, in the same transaction", async () => {
    const container = await withTriggers({ body: updateMetadata, triggerType: "Post", triggerOperation: "Create" });
    const options = { postTriggerInclude: "updateMetadata" };
    await fails(container.items.create({ id: "1", pk: "a" }, options), 400,
      { message: /Unable to find the metadata document/ });
    assert.equal((await container.item("1", "a").read()).statusCode, 404);
    await container.items.create({ id: "_metadata", pk: "a", createdItems: 0, createdNames: "" });
    const { resource, headers } = await container.items.create({ id: "1", pk: "a" }, options);
    assert.deepEqual((await container.item("1", "a").read()).resource, resource);
    await container.items.create({ id: "2", pk: "a" }, options);
    const metadata = (await container.item("_metadata", "a").read()).resource;
    assert.deepEqual(bare(metadata), { id: "_metadata", pk: "a", createdItems: 2, createdNames: " 1 2" });
    assert.ok(Number(headers["x-ms-request-charge"]) > 15, "both writes are charged");
  });

  it("A27: both kinds around replace, upsert and delete; several in order", async () => {
    const container = await withTriggers(
      { triggerType: "Pre", body: function first() {
        const request = getContext().getRequest();
        if (request.getOperationType() === "Delete") return;
        const item = request.getBody();
        item.by = (item.by || "") + "1" + request.getOperationType();
        request.setBody(item);
      } },
      { triggerType: "Pre", body: function second() {
        const request = getContext().getRequest();
        const item = request.getBody();
        item.by += "2";
        request.setBody(item);
      } },
      { triggerType: "Post", body: function journal() {
        const collection = getContext().getCollection();
        const what = getContext().getRequest().getOperationType();
        collection.upsertDocument(collection.getSelfLink(), { id: "log-" + what, pk: "a" });
      } });
    const both = { preTriggerInclude: ["first", "second"], postTriggerInclude: ["journal"] };
    const created = await container.items.upsert({ id: "1", pk: "a" }, both);
    assert.equal(created.statusCode, 201);
    assert.equal(created.resource.by, "1Upsert2");
    assert.equal((await container.items.upsert({ id: "1", pk: "a" }, both)).statusCode, 200);
    const { resource } = await container.item("1", "a").replace({ id: "1", pk: "a" }, both);
    assert.equal(resource.by, "1Replace2");
    const guarded = { ...both, accessCondition: { type: "IfMatch", condition: created.resource._etag } };
    await fails(container.item("1", "a").replace({ id: "1", pk: "a" }, guarded), 412);
    await container.item("1", "a").delete({ preTriggerInclude: ["first"], postTriggerInclude: ["journal"] });
    const { resources } = await container.items.query("SELECT VALUE c.id FROM c ORDER BY c.id").fetchAll();
    assert.deepEqual(resources, ["log-Delete", "log-Replace", "log-Upsert"]);
  });

  it("A27: a trigger that is not there, not of that kind or not for that operation: 400", async () => {
    const container = await withTriggers({ body: validateToDoItemTimestamp, triggerType: "Pre", triggerOperation: "Replace" });
    const item = { id: "1", pk: "a", name: "n" };
    await fails(container.items.create(item, { preTriggerInclude: ["none"] }), 400, { message: /'none'/ });
    const name = "validateToDoItemTimestamp";
    await fails(container.items.create(item, { postTriggerInclude: [name] }), 400, { message: /Post-trigger/ });
    await fails(container.items.create(item, { preTriggerInclude: [name] }), 400, { message: /Replace/ });
    const headers = { ...keyHeader("a"), "x-ms-documentdb-pre-trigger-include": name };
    answers(await at.rest("POST", `/dbs/db/colls/${container.id}/docs`, { body: "{", headers }), 400);
    await container.items.create(item);
    await container.item("1", "a").replace(item, { preTriggerInclude: [name] });
  });

  it("A23 A27: around a patch they see the item as it makes it, in one transaction", async () => {
    const container = await withTriggers(
      { triggerType: "Pre", triggerOperation: "Replace", body: function stamp() {
        const request = getContext().getRequest();
        const item = request.getBody();
        if (item.n > 10) throw new Error("n is too large");
        item.seen = `${request.getOperationType()} ${item.n}`;
        request.setBody(item);
      } },
      { triggerType: "Post", body: function journal() {
        const collection = getContext().getCollection();
        const { id, n } = getContext().getResponse().getBody();
        collection.upsertDocument(collection.getSelfLink(), { id: `log-${id}`, pk: "a", n });
      } },
      { triggerType: "Pre", triggerOperation: "Delete", body: function onDelete() {} });
    const both = { preTriggerInclude: ["stamp"], postTriggerInclude: ["journal"] };
    const { resource: before } = await container.items.create({ id: "1", pk: "a", n: 1 });
    const item = container.item("1", "a");
    const add = (value) => [{ op: "incr", path: "/n", value }];
    const { resource, statusCode } = await item.patch(add(4), both);
    assert.equal(statusCode, 200);
    assert.deepEqual(bare(resource), { id: "1", pk: "a", n: 5, seen: "Replace 5" });
    assert.deepEqual((await item.read()).resource, resource);
    assert.equal((await container.item("log-1", "a").read()).resource.n, 5);
    await fails(item.patch(add(40), both), 400, { message: /n is too large/ });
    await fails(item.patch({ condition: "from c where c.n = 1", operations: add(1) }, both), 412);
    await fails(item.patch(add(1), { ...both, accessCondition: { type: "IfMatch", condition: before._etag } }), 412);
    await fails(item.patch([{ op: "set", path: "/pk", value: "b" }], both), 400);
    await fails(container.item("none", "a").patch(add(1), both), 404);
    await fails(item.patch(add(1), { preTriggerInclude: ["onDelete"] }), 400, { message: /Delete/ });
    assert.equal((await item.read()).resource.n, 5);
    assert.equal((await container.item("log-1", "a").read()).resource.n, 5);
  });

  it("A27: a batch runs none: 400", async () => {
    const container = await withTriggers({ body: validateToDoItemTimestamp, triggerType: "Pre" });
    const headers = { ...keyHeader("a"), "x-ms-cosmos-is-batch-request": "True", "x-ms-cosmos-batch-atomic": "True",
      "x-ms-documentdb-pre-trigger-include": "validateToDoItemTimestamp" };
    answers(await at.rest("POST", `/dbs/db/colls/${container.id}/docs`, { headers,
      body: [{ operationType: "Create", resourceBody: { id: "1", pk: "a", name: "n" } }] }), 400,
    { message: /a batch runs no triggers/ });
    assert.equal((await container.item("1", "a").read()).statusCode, 404);
  });

  it("A28: a pre-trigger cannot move an item to another key", async () => {
    const container = await withTriggers({ triggerType: "Pre", body: function move() {
      const request = getContext().getRequest();
      request.setBody({ ...request.getBody(), pk: "b" });
    } });
    await fails(container.items.create({ id: "1", pk: "a" }, { preTriggerInclude: ["move"] }), 400,
      { message: /partition key/ });
  });
});
