// Attachments of items, as the first clients knew them: links to media that are kept elsewhere. Today's
// SDK has none, so requests are signed by hand.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { answers } from "./expect.mjs";
import { keyHeader } from "./rest.mjs";
import { shared } from "./server.mjs";

describe("attachments", () => {
  const at = shared({ limits: { "item-attachments": 3 } });
  const headers = keyHeader("a");
  const photo = { id: "photo", contentType: "image/png", media: "https://example.org/photo.png" };
  async function item() {
    const container = await at.container();
    const { resource } = await container.items.create({ id: "1", pk: "a" });
    return { container, resource, path: `/dbs/db/colls/${container.id}/docs/1/attachments` };
  }

  it("created, read, listed, queried, replaced with their etag, upserted, deleted", async () => {
    const { path, resource } = await item();
    const created = answers(await at.rest("POST", path, { headers, body: { ...photo, taken: 2016 } }), 201);
    const { _rid, _self, _etag, _ts, ...kept } = created.body;
    assert.deepEqual(kept, { ...photo, taken: 2016 });
    assert.equal(_self, `${resource._self}attachments/${_rid}/`);
    assert.equal(Buffer.from(_rid.replaceAll("-", "/"), "base64").length, 20);
    answers(await at.rest("POST", path, { headers, body: photo }), 409);
    assert.deepEqual(answers(await at.rest("GET", `${path}/photo`, { headers }), 200).body, created.body);
    const list = answers(await at.rest("GET", path, { headers }), 200).body;
    assert.deepEqual(list, { _rid: resource._rid, Attachments: [created.body], _count: 1 });
    const query = { ...headers, "x-ms-documentdb-isquery": "True", "content-type": "application/query+json" };
    const found = await at.rest("POST", path, { headers: query,
      body: { query: "SELECT VALUE a.media FROM a WHERE a.taken > 2000" } });
    assert.deepEqual(answers(found, 200).body.Attachments, [photo.media]);
    const changed = { ...photo, media: "https://example.org/other.png" };
    answers(await at.rest("PUT", `${path}/photo`, { headers: { ...headers, "if-match": "old" }, body: changed }), 412);
    const replaced = answers(await at.rest("PUT", `${path}/photo`, { headers: { ...headers, "if-match": _etag }, body: changed }), 200);
    assert.equal(replaced.body.media, changed.media);
    answers(await at.rest("POST", path, { headers: { ...headers, "x-ms-documentdb-is-upsert": "True" }, body: photo }), 200);
    answers(await at.rest("DELETE", `${path}/photo`, { headers }), 204);
    answers(await at.rest("GET", `${path}/photo`, { headers }), 404);
    assert.deepEqual(answers(await at.rest("GET", path, { headers }), 200).body.Attachments, []);
  });

  it("by resource ids, as the first clients follow links", async () => {
    const { path, resource } = await item();
    const { body } = answers(await at.rest("POST", path, { headers, body: photo }), 201);
    const read = await at.rest("GET", `/${body._self.slice(0, -1)}`, { rid: true });
    assert.deepEqual(answers(read, 200).body, body);
    const feed = await at.rest("GET", `/${resource._self}${resource._attachments.slice(0, -1)}`, { rid: true });
    assert.equal(answers(feed, 200).body._count, 1);
  });

  it("belong to their item: not there without it, nor with another one of its id", async () => {
    const { path, container } = await item();
    answers(await at.rest("POST", path, { headers, body: photo }), 201);
    answers(await at.rest("GET", path.replace("/docs/1/", "/docs/2/"), { headers }), 404, { substatus: 1003 });
    answers(await at.rest("GET", path, { headers: keyHeader("b") }), 404, { substatus: 1003 });
    answers(await at.rest("GET", path), 400);
    await container.item("1", "a").replace({ id: "1", pk: "a", n: 2 });
    answers(await at.rest("GET", `${path}/photo`, { headers }), 200);
    await container.item("1", "a").delete();
    answers(await at.rest("GET", `${path}/photo`, { headers }), 404);
    await container.items.create({ id: "1", pk: "a" });
    assert.equal(answers(await at.rest("GET", path, { headers }), 200).body._count, 0);
  });

  it("what is no link to media, and one too many", async () => {
    const { path } = await item();
    for (const body of [{ ...photo, media: undefined }, { ...photo, contentType: 5 }, { ...photo, id: "a/b" },
      Buffer.from("raw media")]) {
      answers(await at.rest("POST", path, { headers, body }), 400);
    }
    for (const id of ["1", "2", "3"]) answers(await at.rest("POST", path, { headers, body: { ...photo, id } }), 201);
    answers(await at.rest("POST", path, { headers, body: photo }), 403);
    answers(await at.rest("GET", path.replace("attachments", "others"), { headers }), 501);
  });

  it("are there after a restart", async () => {
    const { path } = await item();
    const { body } = answers(await at.rest("POST", path, { headers, body: photo }), 201);
    await at.server.restart();
    assert.deepEqual(answers(await at.rest("GET", `${path}/photo`, { headers }), 200).body, body);
  });
});
