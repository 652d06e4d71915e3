// Stored procedures through the vendor's SDK: kept in the container, run as one transaction over one
// partition key. The procedures are of the kinds that the vendor's documents show.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { answers, bare, fails, together } from "./expect.mjs";
import { keyHeader } from "./rest.mjs";
import { shared } from "./server.mjs";

// Creates as many of the items as are accepted, and says how many.
function bulkImport(items) {
  const collection = getContext().getCollection();
  let count = 0;
  if (items.length === 0) return getContext().getResponse().setBody(0);
  tryCreate(items[count]);

  function tryCreate(item) {
    const accepted = collection.createDocument(collection.getSelfLink(), item, (error) => {
      if (error) throw error;
      count++;
      if (count < items.length) tryCreate(items[count]);
      else getContext().getResponse().setBody(count);
    });
    if (!accepted) getContext().getResponse().setBody(count);
  }
}

// Deletes what a query finds, page by page; says how many, and whether to call again.
function bulkDelete(query) {
  const collection = getContext().getCollection();
  const body = { deleted: 0, continuation: true };
  ask();

  function ask(continuation) {
    const accepted = collection.queryDocuments(collection.getSelfLink(), query,
      { continuation, pageSize: 10 }, (error, found, options) => {
        if (error) throw error;
        if (found.length > 0) remove(found);
        else if (options.continuation) ask(options.continuation);
        else finish(false);
      });
    if (!accepted) finish(true);
  }
  function remove(found) {
    if (found.length === 0) return ask();
    const accepted = collection.deleteDocument(found[0]._self, {}, (error) => {
      if (error) throw error;
      body.deleted++;
      found.shift();
      remove(found);
    });
    if (!accepted) finish(true);
  }
  function finish(more) {
    body.continuation = more;
    getContext().getResponse().setBody(body);
  }
}

// Two players swap what they hold; both or neither.
function swapItems(first, second) {
  const collection = getContext().getCollection();
  const link = (id) => `${collection.getAltLink()}/docs/${id}`;
  collection.readDocument(link(first), (error, one) => {
    if (error) throw new Error(`Unable to find ${first}`);
    collection.readDocument(link(second), (failed, two) => {
      if (failed) throw new Error(`Unable to find ${second}`);
      [one.item, two.item] = [two.item, one.item];
      collection.replaceDocument(one._self, one, { etag: one._etag }, (e) => {
        if (e) throw new Error("Unable to update the first, abort");
        collection.replaceDocument(two._self, two, { etag: two._etag }, (e2) => {
          if (e2) throw new Error("Unable to update the second, abort");
        });
      });
    });
  });
}

// Keeps the latest reading of a device in one document.
function SetLatestStateAcrossReadings(latestId) {
  const collection = getContext().getCollection();
  const accepted = collection.queryDocuments(collection.getSelfLink(), {
    query: "SELECT * FROM r WHERE r.id != @latest ORDER BY r.readingTime DESC",
    parameters: [{ name: "@latest", value: latestId }],
  }, { pageSize: 1 }, (error, readings) => {
    if (error) throw error;
    if (readings.length === 0) throw new Error("the device has no readings");
    const { deviceId, readingTime, metricType, metricValue } = readings[0];
    collection.upsertDocument(collection.getSelfLink(),
      { id: latestId, deviceId, readingTime, metricType, metricValue }, (failed, latest) => {
        if (failed) throw failed;
        getContext().getResponse().setBody(latest);
      });
  });
  if (!accepted) throw new Error("not accepted");
}

describe("stored procedures", () => {
  const at = shared();

  async function procedure(container, body, id = body.name) {
    await container.scripts.storedProcedures.create({ id, body });
    return (key, ...args) => container.scripts.storedProcedure(id).execute(key, args);
  }
  async function ids(container, key) {
    const { resources } = await container.items
      .query("SELECT VALUE c.id FROM c ORDER BY c.id", { partitionKey: key }).fetchAll();
    return resources;
  }

  it("A27: a procedure is created, read, listed, queried, replaced, upserted and deleted", async () => {
    const { scripts } = await at.container();
    const created = await scripts.storedProcedures.create({ id: "p", body: "function p() {}" });
    assert.equal(created.statusCode, 201);
    assert.equal(created.resource.body, "function p() {}");
    assert.equal(Buffer.from(created.resource._rid.replaceAll("-", "/"), "base64").length, 16);
    await fails(scripts.storedProcedures.create({ id: "p", body: "function p() {}" }), 409);
    assert.equal((await scripts.storedProcedure("p").read()).resource._etag, created.resource._etag);
    await scripts.storedProcedures.create({ id: "q", body: "function q() {}" });
    const all = (await scripts.storedProcedures.readAll().fetchAll()).resources;
    assert.deepEqual(all.map(({ id }) => id).sort(), ["p", "q"]);
    const found = await scripts.storedProcedures
      .query({ query: "SELECT * FROM s WHERE s.id = @id", parameters: [{ name: "@id", value: "q" }] })
      .fetchAll();
    assert.deepEqual(found.resources.map(({ id }) => id), ["q"]);
    const replaced = await scripts.storedProcedure("p").replace({ id: "p", body: "function r() {}" });
    assert.equal(replaced.resource.body, "function r() {}");
    await scripts.storedProcedure("p").delete();
    await fails(scripts.storedProcedure("p").read(), 404);
    await fails(scripts.storedProcedure("p").execute("a", []), 404);
    await fails(scripts.storedProcedures.create({ id: "x" }), 400, { message: /body/ });
  });

  it("A27: arguments, the answer, and the log", async () => {
    const container = await at.container();
    await container.scripts.storedProcedures.create({ id: "echo", body: function echo(a, b) {
      console.log("größer\n100%");
      getContext().getResponse().setBody({ a, b, link: getContext().getCollection().getAltLink() });
    } });
    const { resource, headers, statusCode } = await container.scripts.storedProcedure("echo")
      .execute("k", [{ x: [1] }, "ü"], { enableScriptLogging: true });
    assert.equal(statusCode, 200);
    assert.deepEqual(resource, { a: { x: [1] }, b: "ü", link: `dbs/db/colls/${container.id}` });
    assert.equal(decodeURIComponent(headers["x-ms-documentdb-script-log-results"]), "größer\n100%");
    assert.ok(Number(headers["x-ms-request-charge"]) >= 1);
    assert.match(headers["x-ms-session-token"], /^\d+:/);
    const quiet = await container.scripts.storedProcedure("echo").execute("k", [1]);
    assert.equal(quiet.headers["x-ms-documentdb-script-log-results"], undefined);
    assert.deepEqual(quiet.resource.a, 1);
  });

  it("A27 A28: a bulk import creates all items, and none when one cannot be", async () => {
    const container = await at.container();
    const run = await procedure(container, bulkImport);
    const items = Array.from({ length: 100 }, (_, i) => ({ id: `${i}`, pk: "a", n: i }));
    const { resource, headers } = await run("a", items);
    assert.equal(resource, 100);
    assert.equal((await ids(container, "a")).length, 100);
    assert.ok(Number(headers["x-ms-request-charge"]) > 500, headers["x-ms-request-charge"]);
    const more = [{ id: "100", pk: "a" }, { id: "101", pk: "a" }, { id: "5", pk: "a" }];
    const error = await fails(run("a", more), 400,
      { message: /Encountered exception while executing Javascript. Exception = Error: .*'5'/ });
    assert.equal(error.substatus, 409);
    assert.equal((await ids(container, "a")).length, 100);
  });

  it("A28: what was created carries the names that it has in the end", async () => {
    const container = await at.container();
    const run = await procedure(container, function make() {
      const collection = getContext().getCollection();
      collection.createDocument(collection.getSelfLink(), { id: "one", pk: "a" }, (error, one) => {
        if (error) throw error;
        collection.createDocument(collection.getSelfLink(),
          { id: "two", pk: "a", other: one._self, etag: one._etag }, (failed, two) => {
            if (failed) throw failed;
            two.seen = true;
            collection.replaceDocument(two._self, two, { etag: two._etag }, (e, again) => {
              if (e) throw e;
              getContext().getResponse().setBody([one, again]);
            });
          });
      });
    });
    const { resource: [one, two] } = await run("a");
    assert.deepEqual((await container.item("one", "a").read()).resource, one);
    assert.deepEqual((await container.item("two", "a").read()).resource, two);
    assert.equal(two.other, one._self);
    assert.equal(two.etag, one._etag);
    assert.equal(two.seen, true);
    await container.item("two", "a").replace(two,
      { accessCondition: { type: "IfMatch", condition: two._etag } });
  });

  it("A27: a bulk delete goes on until nothing is left", async () => {
    const container = await at.container();
    const create = await procedure(container, bulkImport);
    await create("a", Array.from({ length: 45 }, (_, i) => ({ id: `${i}`, pk: "a", odd: i % 2 === 1 })));
    const run = await procedure(container, bulkDelete);
    const { resource } = await run("a", "SELECT * FROM c WHERE c.odd");
    assert.deepEqual(resource, { deleted: 22, continuation: false });
    assert.equal((await ids(container, "a")).length, 23);
  });

  it("A27: queries see what was written before them, in order and page by page", async () => {
    const container = await at.container();
    for (const n of [3, 1, 2]) await container.items.create({ id: `${n}`, pk: "a", n });
    const run = await procedure(container, function sorted() {
      const collection = getContext().getCollection();
      const all = [];
      collection.createDocument(collection.getSelfLink(), { id: "0", pk: "a", n: 0 });
      collection.deleteDocument(`${collection.getAltLink()}/docs/2`);
      next();
      function next(continuation) {
        collection.queryDocuments(collection.getSelfLink(), "SELECT * FROM c ORDER BY c.n DESC",
          { pageSize: 1, continuation }, (error, found, options) => {
            if (error) throw error;
            all.push(...found.map((c) => c.n));
            if (options.continuation) next(options.continuation);
            else feed();
          });
      }
      function feed() {
        collection.readDocuments(collection.getSelfLink(), {}, (error, found) => {
          if (error) throw error;
          getContext().getResponse().setBody({ all, feed: found.map((c) => c.id) });
        });
      }
    });
    assert.deepEqual((await run("a")).resource, { all: [3, 1, 0], feed: ["0", "1", "3"] });
    assert.deepEqual(await ids(container, "a"), ["0", "1", "3"]);
  });

  it("A28: swapping two items is done whole or not at all", async () => {
    const container = await at.container();
    await container.items.create({ id: "ann", pk: "game", item: "sword" });
    await container.items.create({ id: "bob", pk: "game", item: "shield" });
    const run = await procedure(container, swapItems);
    await run("game", "ann", "bob");
    assert.equal((await container.item("ann", "game").read()).resource.item, "shield");
    assert.equal((await container.item("bob", "game").read()).resource.item, "sword");
    await fails(run("game", "ann", "nobody"), 400, { message: /Unable to find nobody/ });
    await fails(run("other", "ann", "bob"), 400, { message: /Unable to find ann/ });
  });

  it("A28: the latest state of a device across its readings", async () => {
    const container = await at.container({ partitionKey: { paths: ["/deviceId"] } });
    for (let i = 0; i < 5; ++i) {
      await container.items.create({
        id: `XMS-001-${i}`, deviceId: "XMS-001", metricType: "Temperature", metricValue: 100 + i,
        readingTime: `2016-10-0${1 + (i * 3) % 5}T00:00:00Z`,
      });
    }
    await container.items.create({ id: "x", deviceId: "XMS-002", readingTime: "2017-01-01T00:00:00Z" });
    const run = await procedure(container, SetLatestStateAcrossReadings);
    const { resource } = await run("XMS-001", "XMS-001-FE24C");
    assert.equal(resource.id, "XMS-001-FE24C");
    assert.equal(resource.readingTime, "2016-10-05T00:00:00Z");
    assert.deepEqual((await container.item("XMS-001-FE24C", "XMS-001").read()).resource, resource);
    await run("XMS-001", "XMS-001-FE24C");
    await fails(run("XMS-003", "latest"), 400, { message: /the device has no readings/ });
  });

  it("A28: an exception rolls everything back, and tells message, line and stack", async () => {
    const container = await at.container();
    const run = await procedure(container, `function spoil() {
      var collection = getContext().getCollection();
      collection.createDocument(collection.getSelfLink(), { id: "1", pk: "a" }, function (error) {
        if (error) throw error;
        throw new Error("no good");
      });
    }`, "spoil");
    const error = await fails(run("a"), 400, { message: /Exception = Error: no good/ });
    assert.match(error.message, /line 5/);
    assert.match(error.message, /spoil\.js:5:/);
    assert.deepEqual(await ids(container, "a"), []);
    const abort = await procedure(container, function abort() {
      const collection = getContext().getCollection();
      collection.createDocument(collection.getSelfLink(), { id: "1", pk: "a" });
      getContext().abort("enough");
    });
    await fails(abort("a"), 400, { message: /enough/ });
    assert.deepEqual(await ids(container, "a"), []);
    const broken = await procedure(container, "function (", "broken");
    await fails(broken("a"), 400);
  });

  it("A28: only items of the execution's key can be written", async () => {
    const container = await at.container();
    const run = await procedure(container, function stray(pk) {
      const collection = getContext().getCollection();
      collection.createDocument(collection.getSelfLink(), { id: "1", pk });
    });
    await fails(run("a", "b"), 400, { message: /partition key/ });
    await run("a", "a");
    const path = `/dbs/db/colls/${container.id}/sprocs/stray`;
    answers(await at.rest("POST", path, { body: ["a"] }), 400, { message: /partition key is missing/ });
    answers(await at.rest("POST", path, { body: { a: 1 }, headers: keyHeader("a") }), 400,
      { message: /JSON array/ });
    answers(await at.rest("POST", path, { body: "[", headers: keyHeader("a") }), 400);
  });

  it("A28: in a fixed container a procedure works on all of it", async () => {
    const made = await at.rest("POST", "/dbs/db/colls", { body: { id: "fixed" }, version: "2018-06-18" });
    answers(made, 201);
    const path = "/dbs/db/colls/fixed";
    answers(await at.rest("POST", `${path}/sprocs`, { body: { id: "two", body: String(function two() {
      const collection = getContext().getCollection();
      collection.createDocument(collection.getSelfLink(), { id: "1", pk: "a" });
      collection.createDocument(collection.getSelfLink(), { id: "2", pk: "b" });
    }) } }), 201);
    answers(await at.rest("POST", `${path}/sprocs/two`, { body: [] }), 200);
    assert.equal((await at.rest("GET", `${path}/docs`)).body._count, 2);
  });

  it("A28 A29: procedures that race on one item lose no update", async () => {
    const container = await at.container();
    await container.items.create({ id: "n", pk: "a", n: 0 });
    const run = await procedure(container, function add() {
      const collection = getContext().getCollection();
      collection.readDocument(`${collection.getAltLink()}/docs/n`, (error, item) => {
        if (error) throw error;
        item.n++;
        collection.replaceDocument(item._self, item);
      });
    });
    // On a busy machine one can lose every race that it may run: that one has done nothing, and is asked for again.
    const untilDone = async () => {
      for (;;) {
        try {
          return await run("a");
        } catch (error) {
          if (error.code !== 449) throw error;
        }
      }
    };
    await together(8, Array.from({ length: 40 }, () => untilDone));
    assert.equal((await container.item("n", "a").read()).resource.n, 40);
  });

  it("A27: etags are compared with what the script sees", async () => {
    const container = await at.container();
    const { resource: before } = await container.items.create({ id: "1", pk: "a" });
    const run = await procedure(container, function guarded(etag) {
      const collection = getContext().getCollection();
      const link = `${collection.getAltLink()}/docs/1`;
      const codes = [];
      const note = (error) => codes.push(error ? error.number : 200);
      collection.replaceDocument(link, { id: "1", pk: "a", n: 1 }, { etag: "wrong" }, note);
      collection.replaceDocument(link, { id: "1", pk: "a", n: 2 }, { etag }, (error, item) => {
        note(error);
        collection.replaceDocument(link, { id: "1", pk: "a", n: 3 }, { etag }, note);
        collection.replaceDocument(link, { id: "1", pk: "a", n: 4 }, { etag: item._etag }, (e) => {
          note(e);
          getContext().getResponse().setBody(codes);
        });
      });
    });
    assert.deepEqual((await run("a", before._etag)).resource, [412, 200, 412, 200]);
    assert.deepEqual(bare((await container.item("1", "a").read()).resource), { id: "1", pk: "a", n: 4 });
  });

  it("session tokens and read-only charges", async () => {
    const container = await at.container();
    const { headers } = await container.items.create({ id: "1", pk: "a" });
    const run = await procedure(container, function look() {
      const collection = getContext().getCollection();
      collection.readDocument(`${collection.getAltLink()}/docs/1`, (error, item) => {
        if (error) throw error;
        getContext().getResponse().setBody(item.id);
      });
    });
    const first = await run("a");
    const second = await run("a");
    assert.equal(first.resource, "1");
    assert.equal(first.headers["x-ms-request-charge"], second.headers["x-ms-request-charge"]);
    const path = `/dbs/db/colls/${container.id}/sprocs/look`;
    answers(await at.rest("POST", path, { body: [], headers: {
      ...keyHeader("a"), "x-ms-session-token": headers["x-ms-session-token"] } }), 200);
    answers(await at.rest("POST", path, { body: [], headers: {
      ...keyHeader("a"), "x-ms-session-token": "0:-1#999999" } }), 404, { substatus: 1002 });
  });
});
