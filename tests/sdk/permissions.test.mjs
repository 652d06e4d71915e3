// Permissions, and what their tokens let a client do: operation by operation, through the vendor's
// SDK with `resourceTokens` and `permissionFeed`, and by hand.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { CosmosClient } from "./cosmos.mjs";
import { answers, fails } from "./expect.mjs";
import { keyHeader } from "./rest.mjs";
import { shared } from "./server.mjs";

const query = { "x-ms-documentdb-isquery": "True", "content-type": "application/query+json" };

describe("permissions", () => {
  const at = shared({ dev: false });
  let users = 0;

  // A container with items 1 and 2 under key a, and 1 under key b; and a user.
  async function prepare() {
    const container = await at.container();
    for (const [id, pk] of [["1", "a"], ["2", "a"], ["1", "b"]]) await container.items.create({ id, pk });
    const { user } = await at.db.users.create({ id: `user${++users}` });
    let made = 0;
    const grant = async (permissionMode, resource, key, options) => {
      const { resource: permission } = await user.permissions.create({
        id: `p${++made}`, permissionMode, resource,
        ...(key === undefined ? {} : { resourcePartitionKey: [key] }),
      }, options);
      return permission;
    };
    return { container, user, grant, link: `dbs/db/colls/${container.id}` };
  }

  // Requests by hand that carry the token instead of a signature.
  function withToken(token) {
    const rest = at.server.rest({ key: null });
    return (method, path, { headers = {}, ...options } = {}) =>
      rest(method, path, { headers: { authorization: encodeURIComponent(token), ...headers }, ...options });
  }

  function clientOf(options) {
    const client = new CosmosClient({
      endpoint: at.server.url, connectionPolicy: { enableBackgroundEndpointRefreshing: false }, ...options,
    });
    at.server.clients.push(client);
    return client;
  }

  it("A32: a permission is created, read, listed, replaced, upserted and deleted", async () => {
    const { user, link } = await prepare();
    const definition = { id: "p", permissionMode: "Read", resource: link };
    const created = await user.permissions.create(definition);
    assert.equal(created.statusCode, 201);
    assert.match(created.resource._token, /^type=resource&ver=1\.0&sig=.+/);
    assert.equal(created.resource.permissionMode, "Read");
    assert.equal(created.resource.resource, link);
    assert.equal(Buffer.from(created.resource._rid.replaceAll("-", "/"), "base64").length, 16);

    const read = (await user.permission("p").read()).resource;
    assert.equal(read._etag, created.resource._etag);
    assert.equal((await user.permissions.readAll().fetchAll()).resources[0].id, "p");
    const found = await user.permissions.query("SELECT * FROM p WHERE p.permissionMode = 'Read'").fetchAll();
    assert.deepEqual(found.resources.map((one) => [one.id, typeof one._token]), [["p", "string"]]);
    const replaced = await user.permission("p").replace({ ...definition, permissionMode: "All" });
    assert.equal(replaced.resource.permissionMode, "All");
    const upserted = await user.permissions.upsert({ ...definition, id: "p" });
    assert.equal(upserted.statusCode, 200);
    assert.equal((await user.permission("p").delete()).statusCode, 204);
    await fails(user.permission("p").read(), 404);
    assert.deepEqual((await user.permissions.readAll().fetchAll()).resources, []);
  });

  it("what cannot be granted is refused: other resources, what is not there, the same twice", async () => {
    const { user, link } = await prepare();
    const create = (changes) =>
      user.permissions.create({ id: "x", permissionMode: "Read", resource: link, ...changes });
    await fails(create({ resource: "dbs/db" }), 400);
    await fails(create({ resource: "dbs/db/users/u" }), 400);
    await fails(create({ permissionMode: "Write" }), 400);
    await fails(create({ resourcePartitionKey: [[1]] }), 400);
    await fails(create({ resource: "dbs/db/colls/nowhere" }), 404);
    await at.client.databases.create({ id: `other${users}` });
    const { container } = await at.client.database(`other${users}`).containers.create({ id: "c" });
    await fails(create({ resource: `dbs/other${users}/colls/${container.id}` }), 400);
    await create({});
    await fails(create({ id: "y" }), 409, { message: /same resource/ });
    await create({ id: "y", resourcePartitionKey: ["a"] });
  });

  it("tokens expire when asked to; the time must be 10 seconds to 24 hours", async () => {
    const { user, grant, link } = await prepare();
    const permission = await grant("Read", link, undefined, { resourceTokenExpirySeconds: 10 });
    const path = `/dbs/db/users/${user.id}/permissions/${permission.id}`;
    for (const seconds of ["9", "86401", "soon"]) {
      answers(await at.rest("GET", path, { headers: { "x-ms-documentdb-expiry-seconds": seconds } }), 400);
    }
    const expiry = (token) =>
      Buffer.from(token.split("sig=")[1], "base64").readBigUInt64BE(9) - BigInt(Math.floor(Date.now() / 1000));
    assert.ok(expiry(permission._token) <= 10n);
    const { body } = await at.rest("GET", path, { headers: { "x-ms-documentdb-expiry-seconds": "86400" } });
    assert.ok(expiry(body._token) > 86_000n);
    assert.ok(expiry((await at.rest("GET", path)).body._token) > 3_500n);
  });

  it("a token for a container does everything with its items, through the SDK", async () => {
    const { container, grant, link } = await prepare();
    const permission = await grant("All", link);
    for (const options of [{ resourceTokens: { [link]: permission._token } }, { permissionFeed: [permission] }]) {
      const view = clientOf(options).database("db").container(container.id);
      assert.equal((await view.items.create({ id: "n", pk: "z" })).statusCode, 201);
      assert.equal((await view.item("n", "z").read()).statusCode, 200);
      assert.equal((await view.item("n", "z").replace({ id: "n", pk: "z", v: 1 })).statusCode, 200);
      assert.equal((await view.items.upsert({ id: "n", pk: "z" })).statusCode, 200);
      assert.equal((await view.items.readAll().fetchAll()).resources.length, 4);
      const found = await view.items.query("SELECT VALUE c.id FROM c ORDER BY c.id").fetchAll();
      assert.deepEqual(found.resources, ["1", "1", "2", "n"]);
      assert.equal((await view.item("n", "z").delete()).statusCode, 204);
      assert.equal((await view.read()).resource.id, container.id);
      await fails(view.delete(), 403);
    }
  });

  it("a token to read reads, and writes nothing", async () => {
    const { container, grant, link } = await prepare();
    const { _token } = await grant("Read", link);
    const view = clientOf({ resourceTokens: { [link]: _token } }).database("db").container(container.id);
    assert.equal((await view.item("1", "a").read()).statusCode, 200);
    assert.equal((await view.items.readAll().fetchAll()).resources.length, 3);
    assert.equal((await view.items.query("SELECT * FROM c WHERE c.pk = 'a'").fetchAll()).resources.length, 2);
    await fails(view.items.create({ id: "n", pk: "a" }), 403, { message: /reading/ });
    await fails(view.items.upsert({ id: "1", pk: "a" }), 403);
    await fails(view.item("1", "a").replace({ id: "1", pk: "a" }), 403);
    await fails(view.item("1", "a").delete(), 403);
  });

  it("a token for a partition key keeps to that key: items, feeds, queries", async () => {
    const { container, grant, link } = await prepare();
    const { _token } = await grant("All", link, "a");
    const view = clientOf({ resourceTokens: { [link]: _token } }).database("db").container(container.id);
    assert.equal((await view.item("1", "a").read()).statusCode, 200);
    assert.equal((await view.items.create({ id: "3", pk: "a" })).statusCode, 201);
    const own = await view.items.query("SELECT * FROM c", { partitionKey: "a" }).fetchAll();
    assert.deepEqual(own.resources.map((item) => item.pk), ["a", "a", "a"]);
    await fails(view.item("1", "b").read(), 403, { message: /partition key/ });
    await fails(view.items.create({ id: "3", pk: "b" }), 403);
    await fails(view.item("1", "b").delete(), 403);
    await fails(view.items.query("SELECT * FROM c", { partitionKey: "b" }).fetchAll(), 403);
    await fails(view.items.query("SELECT * FROM c").fetchAll(), 403);

    // The header says the granted key, the item another: refused as for anybody.
    const rest = withToken(_token);
    const docs = `/${link}/docs`;
    answers(await rest("POST", docs, { headers: keyHeader("a"), body: { id: "9", pk: "b" } }), 400);
    const feed = answers(await rest("GET", docs, { headers: keyHeader("a") }), 200);
    assert.ok(feed.body.Documents.length === 3 && feed.body.Documents.every((item) => item.pk === "a"));
    answers(await rest("GET", docs), 403, { message: /x-ms-documentdb-partitionkey/ });
  });

  it("a token for an item is for that item alone", async () => {
    const { grant, link } = await prepare();
    const { _token } = await grant("All", `${link}/docs/1`, "a");
    const rest = withToken(_token);
    const docs = `/${link}/docs`;
    answers(await rest("GET", `${docs}/1`, { headers: keyHeader("a") }), 200);
    answers(await rest("PUT", `${docs}/1`, { headers: keyHeader("a"), body: { id: "1", pk: "a", v: 2 } }), 200);
    answers(await rest("GET", `${docs}/1`, { headers: keyHeader("b") }), 403);
    answers(await rest("GET", `${docs}/2`, { headers: keyHeader("a") }), 403);
    answers(await rest("PUT", `${docs}/1`, { headers: keyHeader("a"), body: { id: "2", pk: "a" } }), 403);
    answers(await rest("PUT", `${docs}/1`, { headers: keyHeader("a"), body: { id: "free", pk: "a" } }), 403);
    answers(await rest("GET", docs, { headers: keyHeader("a") }), 403);
    answers(await rest("POST", docs, { headers: keyHeader("a"), body: { id: "1", pk: "a" } }), 403);
    answers(await rest("POST", docs, { headers: { ...keyHeader("a"), ...query }, body: { query: "SELECT * FROM c" } }), 403);
    answers(await rest("DELETE", `${docs}/1`, { headers: keyHeader("a") }), 204);
  });

  it("A27 A32: a token runs procedures if it may write, and within its key", async () => {
    const { container, grant, link } = await prepare();
    await container.scripts.storedProcedures.create({ id: "p", body: function p() {
      getContext().getResponse().setBody("ran");
    } });
    await container.scripts.triggers.create(
      { id: "t", body: "function t() {}", triggerType: "Pre", triggerOperation: "All" });
    const run = (token, key) => withToken(token)("POST", `/${link}/sprocs/p`, { body: [], headers: keyHeader(key) });
    const tokens = {};
    tokens.read = (await grant("Read", link))._token;
    tokens.all = (await grant("All", link, "a"))._token;
    tokens.one = (await grant("All", `${link}/sprocs/p`))._token;
    tokens.item = (await grant("All", `${link}/docs/1`))._token;
    answers(await run(tokens.read, "a"), 403);
    answers(await run(tokens.item, "a"), 403);
    assert.equal(answers(await run(tokens.all, "a"), 200).body, "ran");
    answers(await run(tokens.all, "b"), 403);
    assert.equal(answers(await run(tokens.one, "b"), 200).body, "ran");
    const replace = (headers) => withToken(tokens.item)("PUT", `/${link}/docs/1`,
      { body: { id: "1", pk: "a" }, headers: { ...keyHeader("a"), ...headers } });
    answers(await replace({}), 200);
    answers(await replace({ "x-ms-documentdb-pre-trigger-include": "t" }), 403, { message: /trigger/ });
    const readonly = at.server.rest({ key: at.server.keys.primaryReadonly });
    answers(await readonly("POST", `/${link}/sprocs/p`, { body: [], headers: keyHeader("a") }), 403);
  });

  it("what is outside of the container is refused, whatever the token", async () => {
    const { user, grant, link } = await prepare();
    const other = await at.container();
    const rest = withToken((await grant("All", link))._token);
    for (const [method, path] of [
      ["GET", "/dbs"], ["POST", "/dbs"], ["GET", "/dbs/db"], ["DELETE", "/dbs/db"], ["GET", "/dbs/db/colls"],
      ["POST", "/dbs/db/colls"], ["GET", "/offers"], ["POST", "/offers"], ["GET", "/dbs/db/users"],
      ["POST", "/dbs/db/users"], ["GET", `/dbs/db/users/${user.id}/permissions`],
      ["GET", `/dbs/db/colls/${other.id}`], ["GET", `/dbs/db/colls/${other.id}/docs`],
      ["GET", "/dbs/db/colls/nowhere/docs"], ["PUT", `/${link}`], ["DELETE", `/${link}`],
    ]) {
      answers(await rest(method, path, { body: method === "GET" ? undefined : { id: "x" } }), 403);
    }
    // Administration is signed in a way of its own, which a token is not.
    answers(await rest("GET", "/admin/partitions"), 401);
    answers(await rest("POST", "/admin/keys/regenerate", { body: { key: "primary" } }), 401);
    answers(await rest("GET", "/"), 200);
    answers(await rest("GET", `/${link}`), 200);
    answers(await rest("GET", `/${link}/pkranges`), 200);
  });

  it("a token ends with its permission, and does not pass to another container of that name", async () => {
    const { container, user, grant, link } = await prepare();
    const path = `/${link}/docs/1`;
    const one = await grant("Read", link);
    answers(await withToken(one._token)("GET", path, { headers: keyHeader("a") }), 200);
    await user.permission(one.id).replace({ id: one.id, permissionMode: "All", resource: link });
    answers(await withToken(one._token)("GET", path, { headers: keyHeader("a") }), 403, { message: /changed/ });
    const { _token } = (await user.permission(one.id).read()).resource;
    answers(await withToken(_token)("GET", path, { headers: keyHeader("a") }), 200);
    await container.delete();
    await at.db.containers.create({ id: container.id, partitionKey: { paths: ["/pk"] } });
    await container.items.create({ id: "1", pk: "a" });
    answers(await withToken(_token)("GET", path, { headers: keyHeader("a") }), 403);
    const fresh = (await user.permission(one.id).read()).resource._token;
    answers(await withToken(fresh)("GET", path, { headers: keyHeader("a") }), 200);
    await user.delete();
    answers(await withToken(fresh)("GET", path, { headers: keyHeader("a") }), 403, { message: /deleted/ });
  });

  it("a forged token is refused, and so is nonsense", async () => {
    const { grant, link } = await prepare();
    const { _token } = await grant("Read", link);
    const bytes = Buffer.from(_token.split("sig=")[1], "base64");
    bytes[4] ^= 1;
    for (const token of [`type=resource&ver=1.0&sig=${bytes.toString("base64")}`, "type=resource&ver=1.0&sig=",
      "type=resource", `${_token}x`]) {
      answers(await withToken(token)("GET", `/${link}/docs/1`, { headers: keyHeader("a") }), 401);
    }
  });

  it("read-only keys read users, and not permissions: those come with tokens", async () => {
    const { user, grant, link } = await prepare();
    await grant("All", link);
    const client = at.server.client({ key: at.server.keys.primaryReadonly });
    assert.equal((await client.database("db").user(user.id).read()).statusCode, 200);
    await fails(client.database("db").user(user.id).permissions.readAll().fetchAll(), 403);
    await fails(client.database("db").user(user.id).permission("p1").read(), 403);
  });

  it("tokens are good after a restart", async () => {
    const { grant, link } = await prepare();
    const { _token } = await grant("Read", link);
    await at.server.restart();
    at.client = at.server.client();
    answers(await withToken(_token)("GET", `/${link}/docs/1`, { headers: keyHeader("a") }), 200);
  });
});
