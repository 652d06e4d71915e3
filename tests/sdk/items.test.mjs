// Items: create, read, replace, upsert, delete; conditions; what an item may be.
// What a partition key may be is in keys.test.mjs.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { ChangeFeedStartFrom } from "./cosmos.mjs";

import { answers, bare, fails } from "./expect.mjs";
import { keyHeader } from "./rest.mjs";
import { shared } from "./server.mjs";

describe("items", () => {
  const at = shared();
  const docs = (container) => `/dbs/db/colls/${container.id}/docs`;

  it("A23: create, read, replace, delete with the SDK", async () => {
    const container = await at.container();
    const created = await container.items.create({ id: "1", pk: "a", city: "Redmond" });
    assert.equal(created.statusCode, 201);
    const read = await container.item("1", "a").read();
    assert.equal(read.statusCode, 200);
    assert.deepEqual(read.resource, created.resource);

    const replaced = await container.item("1", "a").replace({ id: "1", pk: "a", city: "Roma" });
    assert.equal(replaced.statusCode, 200);
    assert.deepEqual(bare(replaced.resource), { id: "1", pk: "a", city: "Roma" });
    assert.deepEqual((await container.item("1", "a").read()).resource, replaced.resource);

    const deleted = await container.item("1", "a").delete();
    assert.equal(deleted.statusCode, 204);
    await fails(container.item("1", "a").read(), 404);
    await fails(container.item("1", "a").delete(), 404);
    await fails(container.item("1", "a").replace({ id: "1", pk: "a" }), 404);
  });

  it("A23: by REST, reads and deletes name the key, creates and replaces take it from the document", async () => {
    const container = await at.container();
    const path = docs(container);
    answers(await at.rest("POST", path, { body: { id: "1", pk: "a" } }), 201);
    answers(await at.rest("PUT", `${path}/1`, { body: { id: "1", pk: "a", n: 2 } }), 200);
    const read = answers(await at.rest("GET", `${path}/1`, { headers: keyHeader("a") }), 200);
    assert.equal(read.body.n, 2);
    answers(await at.rest("GET", `${path}/1`), 400, { message: /partition ?key/i });
    answers(await at.rest("DELETE", `${path}/1`), 400, { message: /partition ?key/i });
    answers(await at.rest("DELETE", `${path}/1`, { headers: keyHeader("a") }), 204);
  });

  it("A7 A22: two items may share an id under different keys", async () => {
    const container = await at.container();
    for (const pk of ["a", "b", 1, null]) await container.items.create({ id: "same", pk, mine: pk });
    for (const pk of ["a", "b", 1, null]) {
      assert.equal((await container.item("same", pk).read()).resource.mine, pk);
    }
    await fails(container.items.create({ id: "same", pk: "a" }), 409);
    await container.item("same", "a").delete();
    assert.equal((await container.item("same", "b").read()).statusCode, 200);
  });

  it("A22: an id may have a question mark", async () => {
    const container = await at.container();
    const id = "what? 100%?";
    await container.items.create({ id, pk: "a" });
    // This client sends it as it is.
    assert.equal((await container.item(id, "a").read()).resource.id, id);
    assert.equal((await container.item(id, "a").replace({ id, pk: "a", n: 1 })).resource.n, 1);
    const path = `${docs(container)}/${encodeURIComponent(id)}`;
    assert.equal(answers(await at.rest("GET", path, { headers: keyHeader("a") }), 200).body.id, id);
    assert.equal(answers(await at.rest("PUT", path, { body: { id, pk: "a", n: 2 }, headers: keyHeader("a") }), 200).body.n, 2);
    answers(await at.rest("DELETE", path, { headers: keyHeader("a") }), 204);
  });

  it("A23: a replace may change the id: one item, with its resource id, under another name", async () => {
    const container = await at.container({ uniqueKeyPolicy: { uniqueKeys: [{ paths: ["/mail"] }] } });
    const old = (await container.items.create({ id: "old", pk: "a", mail: "x" })).resource;
    await container.items.create({ id: "other", pk: "a", mail: "y" });
    const { resource, statusCode } = await container.item("old", "a").replace({ ...old, id: "new", n: 1 });
    assert.equal(statusCode, 200);
    assert.deepEqual([resource.id, resource._rid, resource.n], ["new", old._rid, 1]);
    assert.notEqual(resource._etag, old._etag);
    assert.equal((await container.item("old", "a").read()).statusCode, 404);
    assert.equal((await container.item("new", "a").read()).resource._etag, resource._etag);
    await fails(container.item("new", "a").replace({ ...resource, id: "other" }), 409);
    await fails(container.item("new", "a").replace({ ...resource, id: "newer" },
      { accessCondition: { type: "IfMatch", condition: old._etag } }), 412);
    await fails(container.item("old", "a").replace({ ...old, id: "newer" }), 404);
    answers(await at.rest("PUT", `${docs(container)}/new`, { body: { ...resource, id: "a/b" }, headers: keyHeader("a") }), 400);
    await fails(container.items.create({ id: "third", pk: "a", mail: "x" }), 409);
    const { resources } = await container.items.query("SELECT VALUE c.id FROM c ORDER BY c.id").fetchAll();
    assert.deepEqual(resources, ["new", "other"]);
    // In a batch too.
    const batch = await container.items.batch([
      { operationType: "Replace", id: "new", resourceBody: { id: "newest", pk: "a", mail: "x" } },
      { operationType: "Create", resourceBody: { id: "new", pk: "a", mail: "z" } },
    ], "a");
    assert.deepEqual(batch.result.map((one) => one.statusCode), [200, 201]);
    const changed = await container.items.getChangeFeedIterator({ changeFeedStartFrom: ChangeFeedStartFrom.Beginning("a") }).readNext();
    assert.deepEqual(changed.result.map((item) => item.id).sort(), ["new", "newest", "other"]);
  });

  it("every answer about a resource says where it is", async () => {
    const container = await at.container();
    await container.items.create({ id: "a b", pk: "a" });
    const path = `/dbs/db/colls/${container.id}/docs/a%20b`;
    const { headers } = await at.rest("GET", path, { headers: keyHeader("a") });
    assert.equal(headers["content-location"], `${at.server.url}${path}`);
  });

  it("A22: an id is at most 255 characters, is text, and is there", async () => {
    const container = await at.container();
    for (const id of ["x".repeat(255), "é".repeat(255), "字".repeat(255)]) {
      await container.items.create({ id, pk: "a" });
      assert.equal((await container.item(id, "a").read()).resource.id, id);
    }
    const create = (body) => at.rest("POST", docs(container), { body, headers: keyHeader("a") });
    answers(await create({ id: "x".repeat(256), pk: "a" }), 400, { message: /255/ });
    answers(await create({ pk: "a" }), 400, { message: /id/ });
    for (const id of ["", 5, null, true, {}, [], "a/b", "a\\b", "a#b"]) {
      answers(await create({ id, pk: "a" }), 400, { message: /id/ });
    }
  });

  it("A22: ids in any script, with anything a path can carry", async () => {
    const container = await at.container();
    for (const id of ["naïve", "日本語", "عربى", "emoji 😀", "a b", "a+b", "a%20b", "100%", "a&b=c",
      "it's", 'say "so"', "a;b,c", "a:b@c", "~tilde", "(x)", "[x]", "{x}", "<x>", "back`tick", ".x"]) {
      await container.items.create({ id, pk: id, at: id });
      assert.equal((await container.item(id, id).read()).resource?.at, id, id);
      await container.item(id, id).replace({ id, pk: id, at: "there" });
      assert.equal((await container.item(id, id).delete()).statusCode, 204, id);
    }
  });

  it("A1: any JSON comes back as it was", async () => {
    const container = await at.container();
    const item = {
      id: "any", pk: "a", null: null, true: true, false: false, zero: 0, negative: -1.5,
      big: 1.7976931348623157e308, tiny: 5e-324, integer: 9007199254740991, third: 1 / 3,
      text: "quote \" slash / back \\ tab \t line \n nul \u0000 é 字 😀 \u2028", empty: "",
      array: [], object: {}, nested: { a: [{ b: [[1, [2]], "x"] }] }, "": "empty name",
      "a b": 1, "ü": 2, $v: 3, __proto: 4, _mine: "kept",
    };
    const { resource } = await container.items.create(item);
    assert.deepEqual(bare(resource), item);
    assert.deepEqual(bare((await container.item("any", "a").read()).resource), item);
  });

  it("numbers keep every digit that was sent", async () => {
    const container = await at.container();
    const text = '{"id":"n","pk":"a","n":12345678901234567890.123456789}';
    answers(await at.rest("POST", docs(container), { body: text, headers: keyHeader("a") }), 201);
    const read = await at.rest("GET", `${docs(container)}/n`, { headers: keyHeader("a") });
    assert.ok(read.text.includes("12345678901234567890.123456789"), read.text);
  });

  it("what is not a JSON object is refused", async () => {
    const container = await at.container();
    const deep = "[".repeat(200) + "]".repeat(200);
    for (const body of ["", "{", "[]", "null", "5", '"x"', '{"id":"1","pk":"a"}}', '{"id":"1","id":"2","pk":"a"}',
      '{"id":"1","pk":"a","x":NaN}', '{"id":"1","pk":"a","x":01}', "{'id':'1'}", `{"id":"1","pk":"a","x":${deep}}`,
      Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])]) {
      answers(await at.rest("POST", docs(container), { body, headers: keyHeader("a") }), 400);
    }
  });

  it("an item may have 2 MB and no more", async () => {
    const container = await at.container({ indexingPolicy: { indexingMode: "none", automatic: false } });
    const fits = { id: "fits", pk: "a", pad: "x".repeat(2 * 1024 * 1024 - 2048) };
    assert.equal((await container.items.create(fits)).statusCode, 201);
    assert.equal((await container.item("fits", "a").read()).resource.pad.length, fits.pad.length);
    const large = { id: "large", pk: "a", pad: "x".repeat(2 * 1024 * 1024) };
    await fails(container.items.create(large), 413, { message: /2097152|2 ?MB/ });
    await fails(container.items.upsert({ ...large, id: "fits" }), 413);
    answers(await at.rest("POST", docs(container),
      { body: { ...large, pad: "x".repeat(5 * 1024 * 1024) }, headers: keyHeader("a") }), 413);
    assert.equal((await container.item("fits", "a").read()).resource.pad.length, fits.pad.length);
  });

  it("the system's properties are its own", async () => {
    const container = await at.container();
    const before = Math.floor(Date.now() / 1000);
    const { resource, headers, etag } = await container.items.create(
      { id: "1", pk: "a", _etag: "mine", _ts: 1, _rid: "mine", _self: "mine", _attachments: "mine" });
    assert.ok(resource._ts >= before - 1 && resource._ts <= Date.now() / 1000 + 1);
    assert.equal(resource._etag, etag);
    assert.equal(headers.etag, resource._etag);
    assert.match(resource._etag, /^".+"$/);
    assert.equal(resource._attachments, "attachments/");
    const definition = (await container.read()).resource;
    assert.equal(resource._self, `${definition._self}docs/${resource._rid}/`);
    const rid = Buffer.from(resource._rid.replaceAll("-", "/"), "base64");
    assert.equal(rid.length, 16);
    assert.deepEqual(rid.subarray(0, 8), Buffer.from(definition._rid.replaceAll("-", "/"), "base64"));
    for (const name of ["_rid", "_self", "_etag", "_ts", "_attachments"]) {
      assert.notEqual(resource[name], name === "_ts" ? 1 : "mine");
    }
    const replaced = (await container.item("1", "a").replace({ id: "1", pk: "a" })).resource;
    assert.equal(replaced._rid, resource._rid);
    assert.notEqual(replaced._etag, resource._etag);
  });

  it("upsert creates with 201 and replaces with 200", async () => {
    const container = await at.container();
    const first = await container.items.upsert({ id: "1", pk: "a", n: 1 });
    assert.equal(first.statusCode, 201);
    const second = await container.items.upsert({ id: "1", pk: "a", n: 2 });
    assert.equal(second.statusCode, 200);
    assert.equal(second.resource._rid, first.resource._rid);
    assert.equal((await container.item("1", "a").read()).resource.n, 2);
  });

  it("If-Match: the write happens only if nobody was faster", async () => {
    const container = await at.container();
    const { resource: first } = await container.items.create({ id: "1", pk: "a", n: 1 });
    const item = container.item("1", "a");
    const when = (etag) => ({ accessCondition: { type: "IfMatch", condition: etag } });
    const { resource: second } = await item.replace({ id: "1", pk: "a", n: 2 }, when(first._etag));
    await fails(item.replace({ id: "1", pk: "a", n: 3 }, when(first._etag)), 412);
    await fails(item.delete(when(first._etag)), 412);
    await fails(container.items.upsert({ id: "1", pk: "a", n: 3 }, when(first._etag)), 412);
    assert.equal((await item.read()).resource.n, 2);
    await item.replace({ id: "1", pk: "a", n: 4 }, when("*"));
    await fails(item.delete(when(second._etag)), 412);
    const { resource: last } = await item.read();
    assert.equal((await item.delete(when(last._etag))).statusCode, 204);
    await fails(item.replace({ id: "1", pk: "a" }, when(last._etag)), 404);
  });

  it("If-Match: of many writers with one etag, one wins", async () => {
    const container = await at.container();
    const { resource } = await container.items.create({ id: "1", pk: "a", n: 0 });
    const results = await Promise.allSettled(Array.from({ length: 20 }, (_, i) =>
      container.item("1", "a").replace({ id: "1", pk: "a", n: i + 1 },
        { accessCondition: { type: "IfMatch", condition: resource._etag } })));
    assert.equal(results.filter((r) => r.status === "fulfilled").length, 1);
    for (const r of results.filter((one) => one.status === "rejected")) assert.equal(r.reason.code, 412);
  });

  it("If-None-Match: a read of what the client has answers 304", async () => {
    const container = await at.container();
    const { resource } = await container.items.create({ id: "1", pk: "a" });
    const unless = (etag) => ({ accessCondition: { type: "IfNoneMatch", condition: etag } });
    const same = await container.item("1", "a").read(unless(resource._etag));
    assert.equal(same.statusCode, 304);
    assert.equal((await container.item("1", "a").read(unless('"other"'))).statusCode, 200);
    const answer = answers(await at.rest("GET", `${docs(container)}/1`,
      { headers: { ...keyHeader("a"), "if-none-match": resource._etag } }), 304);
    assert.equal(answer.text, "");
  });

  it("an upsert with If-Match of an item that is not there creates it, as the vendor's does", async () => {
    const container = await at.container();
    const when = { accessCondition: { type: "IfMatch", condition: '"never"' } };
    assert.equal((await container.items.upsert({ id: "1", pk: "a" }, when)).statusCode, 201);
    await fails(container.items.upsert({ id: "1", pk: "a" }, when), 412);
    await fails(container.items.upsert({ id: "1", pk: "a" },
      { accessCondition: { type: "IfNoneMatch", condition: "*" } }), 412);
  });

  it("HEAD answers as GET does, without the body", async () => {
    const container = await at.container();
    const { resource } = await container.items.create({ id: "1", pk: "a" });
    const head = await at.rest("HEAD", `${docs(container)}/1`, { headers: keyHeader("a") });
    assert.equal(head.status, 200);
    assert.equal(head.text, "");
    assert.equal(head.headers.etag, resource._etag);
    const get = await at.rest("GET", `${docs(container)}/1`, { headers: keyHeader("a") });
    assert.equal(head.headers["content-length"], String(Buffer.byteLength(get.text)));
    assert.equal((await at.rest("HEAD", `${docs(container)}/2`, { headers: keyHeader("a") })).status, 404);
    assert.equal((await at.rest("HEAD", `/dbs/db/colls/${container.id}`)).status, 200);
  });

  it("every answer about an item tells its charge, range, position and owner", async () => {
    const container = await at.container();
    const owner = (await container.read()).resource;
    const post = await at.rest("POST", docs(container), { body: { id: "1", pk: "a" } });
    const get = await at.rest("GET", `${docs(container)}/1`, { headers: keyHeader("a") });
    const missing = await at.rest("GET", `${docs(container)}/2`, { headers: keyHeader("a") });
    const feed = await at.rest("GET", docs(container));
    for (const { status, headers } of [post, get, missing, feed]) {
      assert.ok(Number(headers["x-ms-request-charge"]) >= 1, `${status}`);
      assert.equal(headers["x-ms-session-token"], `${headers["x-ms-documentdb-partitionkeyrangeid"]}:-1#${headers.lsn}`);
      assert.equal(headers["x-ms-content-path"], owner._rid);
      assert.equal(headers["x-ms-alt-content-path"], `dbs/db/colls/${container.id}`);
      assert.ok(headers["x-ms-activity-id"] && headers["x-ms-schemaversion"] && headers["x-ms-serviceversion"]);
    }
    assert.equal(get.headers["x-ms-item-count"], "1");
    assert.equal(feed.headers["x-ms-item-count"], "1");
  });

  it("Prefer: return=minimal answers without the item", async () => {
    const container = await at.container();
    const headers = { ...keyHeader("a"), prefer: "return=minimal" };
    const created = answers(await at.rest("POST", docs(container), { body: { id: "1", pk: "a" }, headers }), 201);
    assert.equal(created.text, "");
    assert.match(created.headers.etag, /^".+"$/);
    const replaced = answers(await at.rest("PUT", `${docs(container)}/1`, { body: { id: "1", pk: "a", n: 1 }, headers }), [200, 204]);
    assert.equal(replaced.text, "");
    assert.equal((await container.item("1", "a").read()).resource.n, 1);
  });

  it("a key header that is not the document's key answers 400/1001", async () => {
    const container = await at.container();
    const post = (header) => at.rest("POST", docs(container), { body: { id: "1", pk: "a" }, headers: header });
    for (const header of [keyHeader("b"), keyHeader(1), keyHeader(null), keyHeader({}), keyHeader(true)]) {
      answers(await post(header), 400, { substatus: 1001 });
    }
    await container.items.create({ id: "1", pk: "a" });
    await fails(container.item("1", "a").replace({ id: "1", pk: "b" }), 400, { substatus: 1001 });
    assert.equal((await container.item("1", "b").read()).statusCode, 404);
  });

  it("a key header that makes no sense answers 400", async () => {
    const container = await at.container();
    await container.items.create({ id: "1", pk: "a" });
    for (const text of ["a", '"a"', "[", "[]x", '["a","b"]', '[["a"]]', '[{"x":1}]', "[NaN]", "{}", "null", ""]) {
      answers(await at.rest("GET", `${docs(container)}/1`, { headers: { "x-ms-documentdb-partitionkey": text } }), 400);
    }
  });

  it("by RID: an item is found without an index, after a split, and not under another container", async () => {
    const container = await at.container({ indexingPolicy: { indexingMode: "none", automatic: false } });
    const made = [];
    for (let i = 0; i < 20; ++i) made.push((await container.items.create({ id: `${i}`, pk: `${i}` })).resource);
    const { code, out } = await at.server.split(container);
    assert.equal(code, 0, out);
    for (const [i, { _self }] of made.entries()) {
      const read = await at.rest("GET", `/${_self.replace(/\/$/, "")}`, { rid: true, headers: keyHeader(`${i}`) });
      assert.equal(answers(read, 200).body.id, `${i}`);
    }
    const other = (await (await at.container()).read()).resource;
    answers(await at.rest("GET", `/${other._self}docs/${made[0]._rid}`, { rid: true, headers: keyHeader("0") }), 404);
  });

  it("by RID: read, replace and delete an item by its _self link", async () => {
    const container = await at.container();
    const { resource } = await container.items.create({ id: "1", pk: "a" });
    const self = `/${resource._self.replace(/\/$/, "")}`;
    const by = { rid: true, headers: keyHeader("a") };
    assert.equal(answers(await at.rest("GET", self, by), 200).body.id, "1");
    answers(await at.rest("PUT", self, { ...by, body: { id: "1", pk: "a", n: 2 } }), 200);
    assert.equal((await container.item("1", "a").read()).resource.n, 2);
    answers(await at.rest("DELETE", self, by), 204);
    answers(await at.rest("GET", self, by), 404);
    const owner = self.split("/").slice(0, -1).join("/");
    answers(await at.rest("POST", owner, { ...by, body: { id: "2", pk: "a" } }), 201);
    assert.equal((await container.item("2", "a").read()).statusCode, 200);
  });

  it("items of a container or database that is not there: 404", async () => {
    await fails(at.db.container("nothing").item("1", "a").read(), 404);
    answers(await at.rest("POST", "/dbs/db/colls/nothing/docs", { body: { id: "1" }, headers: keyHeader("a") }), 404);
    answers(await at.rest("GET", "/dbs/nothing/colls/nothing/docs/1", { headers: keyHeader("a") }), 404);
  });

  it("A31: session tokens: given with every write, honoured by reads, 404/1002 when ahead", async () => {
    const container = await at.container();
    const { headers } = await container.items.create({ id: "1", pk: "a" });
    const token = headers["x-ms-session-token"];
    assert.match(token, /^\d+:-1#\d+/);
    const read = (session) => at.rest("GET", `${docs(container)}/1`,
      { headers: { ...keyHeader("a"), "x-ms-session-token": session } });
    answers(await read(token), 200);
    const [range, lsn] = [token.split(":")[0], Number(token.split("#")[1])];
    answers(await read(`${range}:-1#${lsn + 1_000_000}`), 404, { substatus: 1002 });
    answers(await read("nonsense"), 400);
  });

  it("A31: each consistency level that is not stronger than the account's is taken", async () => {
    const container = await at.container();
    await container.items.create({ id: "1", pk: "a" });
    for (const level of ["Session", "ConsistentPrefix", "Eventual"]) {
      assert.equal((await container.item("1", "a").read({ consistencyLevel: level })).statusCode, 200);
    }
    answers(await at.rest("GET", `${docs(container)}/1`,
      { headers: { ...keyHeader("a"), "x-ms-consistency-level": "Sometimes" } }), 400);
  });

  it("A29: readers see the whole of one write or of another", async () => {
    const container = await at.container();
    await container.items.create({ id: "1", pk: "a", values: new Array(200).fill(0) });
    let writing = true;
    const writer = (async () => {
      for (let i = 1; i <= 100; ++i) {
        await container.item("1", "a").replace({ id: "1", pk: "a", values: new Array(200).fill(i) });
      }
      writing = false;
    })();
    while (writing) {
      const { resource } = await container.item("1", "a").read();
      assert.equal(new Set(resource.values).size, 1);
    }
    await writer;
  });

  it("a thousand items written at once are all there", async () => {
    const container = await at.container();
    await Promise.all(Array.from({ length: 1000 }, (_, i) => container.items.create({ id: `${i}`, pk: `${i % 37}` })));
    for (let i = 0; i < 1000; i += 13) {
      assert.equal((await container.item(`${i}`, `${i % 37}`).read()).statusCode, 200);
    }
  });
});
