// Partition keys with the same hash: logical partitions of their own, whatever is done with them.
// Murmur3 can be run backwards, so a stranger can have a key with the hash of anybody's.
import assert from "node:assert/strict";
import { before, describe, it } from "node:test";

import { ChangeFeedStartFrom } from "./cosmos.mjs";
import { answers, fails } from "./expect.mjs";
import { hashTwin } from "./hash_twin.mjs";
import { keyHeader, readFeed } from "./rest.mjs";
import { shared } from "./server.mjs";

const alice = "alice";
const twin = hashTwin(alice);
const docs = (container) => `/dbs/db/colls/${container.id}/docs`;
const query = { "x-ms-documentdb-isquery": "True", "content-type": "application/query+json" };
const owners = (items) => [...new Set(items.map((item) => item.of))];

async function changes(container, start) {
  const items = [];
  const iterator = container.items.getChangeFeedIterator({ changeFeedStartFrom: start });
  while (iterator.hasMoreResults) {
    const { result, statusCode } = await iterator.readNext();
    if (statusCode === 304) break;
    items.push(...result);
  }
  return items;
}

// Items 0 to 9 under both keys, each saying whose it is.
async function fill(container, keyed = (pk) => ({ pk })) {
  for (const [pk, of] of [[alice, "alice"], [twin, "twin"]]) {
    for (let i = 0; i < 10; ++i) await container.items.create({ id: `${i}`, of, n: i, ...keyed(pk) });
  }
}

describe("keys with the same hash", () => {
  const at = shared({ dev: false, args: ["--throttling", "report"] });
  let container;

  before(async () => {
    container = await at.container({
      uniqueKeyPolicy: { uniqueKeys: [{ paths: ["/n"] }] },
      changeFeedPolicy: { retentionDuration: 10 },
    });
    await fill(container);
  });
  const all = async (text, options) => (await container.items.query(text, options).fetchAll()).resources;

  // All that both keys show of themselves, with nothing of the other's.
  async function expectApart() {
    for (const [pk, of] of [[alice, "alice"], [twin, "twin"]]) {
      assert.equal((await container.item("3", pk).read()).resource.of, of);
      const partitionKey = pk;
      assert.deepEqual(owners(await all("SELECT * FROM c", { partitionKey })), [of]);
      assert.deepEqual(await all("SELECT VALUE COUNT(1) FROM c", { partitionKey }), [10]);
      assert.deepEqual(await all("SELECT VALUE COUNT(1) FROM c WHERE c.n > 3", { partitionKey }), [6]);
      assert.deepEqual(await all("SELECT VALUE c.n FROM c WHERE c.n IN (2, 5) ORDER BY c.n DESC", { partitionKey }), [5, 2]);
      assert.deepEqual(await all("SELECT DISTINCT VALUE c.of FROM c", { partitionKey }), [of]);
      const parameters = [{ name: "@pk", value: pk }];
      assert.deepEqual(owners(await all({ query: "SELECT * FROM c WHERE c.pk = @pk", parameters })), [of]);
      assert.deepEqual(await all({ query: "SELECT VALUE SUM(c.n) FROM c WHERE c.pk = @pk", parameters }), [45]);
      const feed = await readFeed(at.rest, docs(container), "Documents",
        { headers: { ...keyHeader(pk), "x-ms-max-item-count": "4" } });
      assert.deepEqual([owners(feed.items), feed.items.length], [[of], 10]);
      const changed = await changes(container, ChangeFeedStartFrom.Beginning(pk));
      assert.deepEqual([owners(changed), changed.length], [[of], 10]);
    }
    const parameters = [{ name: "@both", value: [alice, twin] }];
    assert.equal((await all({ query: "SELECT * FROM c WHERE ARRAY_CONTAINS(@both, c.pk)", parameters })).length, 20);
    assert.deepEqual(
      await all({ query: "SELECT VALUE c.of FROM c WHERE c.n = 7 AND ARRAY_CONTAINS(@both, c.pk) ORDER BY c.of", parameters }),
      ["alice", "twin"]);
  }

  it("items with the same id are different items", async () => {
    await expectApart();
    await fails(container.items.create({ id: "3", pk: alice, n: 100 }), 409);
  });

  it("a key in the body that is not the header's is refused, for all that their hashes agree", async () => {
    for (const [pk, header] of [[alice, twin], [twin, alice]]) {
      answers(await at.rest("POST", docs(container), { body: { id: "x", pk, n: 100 }, headers: keyHeader(header) }), 400,
        { substatus: 1001 });
      answers(await at.rest("PUT", `${docs(container)}/3`, { body: { id: "3", pk, n: 100 }, headers: keyHeader(header) }), 400,
        { substatus: 1001 });
    }
  });

  it("replace, patch, upsert and delete change one of them", async () => {
    const mine = container.item("own", twin);
    await container.items.create({ id: "own", pk: alice, of: "alice", n: 50 });
    assert.equal((await mine.read()).statusCode, 404);
    await fails(mine.delete(), 404);
    await fails(mine.replace({ id: "own", pk: twin, n: 51 }), 404);
    await fails(mine.patch([{ op: "set", path: "/of", value: "twin" }]), 404);
    assert.equal((await container.items.upsert({ id: "own", pk: twin, of: "twin", n: 50 })).statusCode, 201);
    await mine.patch([{ op: "incr", path: "/n", value: 1 }]);
    await mine.replace({ id: "own", pk: twin, of: "twin", n: 52 });
    assert.deepEqual((await container.item("own", alice).read()).resource.n, 50);
    await mine.delete();
    assert.equal((await container.item("own", alice).read()).resource.of, "alice");
    await container.item("own", alice).delete();
    await expectApart();
  });

  it("unique values are each key's own", async () => {
    await fails(container.items.create({ id: "u", pk: twin, n: 3 }), 409);
    await container.items.create({ id: "u", pk: twin, n: 60 });
    assert.equal((await container.items.create({ id: "u", pk: alice, n: 60 })).statusCode, 201);
    for (const pk of [alice, twin]) await container.item("u", pk).delete();
  });

  it("batches and bulk requests keep to their keys", async () => {
    const { result, code } = await container.items.batch([
      { operationType: "Create", resourceBody: { id: "b", pk: twin, of: "twin", n: 70 } },
      { operationType: "Read", id: "3" },
      { operationType: "Delete", id: "b" },
    ], twin);
    assert.equal(code, 200);
    assert.equal(result[1].resourceBody.of, "twin");
    const foreign = await container.items.batch([{ operationType: "Create", resourceBody: { id: "b", pk: alice, n: 70 } }], twin);
    assert.equal(foreign.result[0].statusCode, 400);
    const bulk = await container.items.executeBulkOperations([
      { operationType: "Read", id: "4", partitionKey: alice }, { operationType: "Read", id: "4", partitionKey: twin }]);
    assert.deepEqual(bulk.map((one) => one.response.resourceBody.of), ["alice", "twin"]);
  });

  it("procedures and triggers see and write their key alone", async () => {
    await container.scripts.storedProcedures.create({ id: "look", body: `function look() {
      const found = {};
      __.filter((item) => true, (error, items) => { found.all = items.map((item) => item.of); });
      __.queryDocuments(__.getSelfLink(), "SELECT VALUE COUNT(1) FROM c", {}, (error, counts) => { found.count = counts[0];
        __.createDocument(__.getSelfLink(), { id: "made", pk: "${alice}", of: "alice", n: 80 }, {}, (refused) => {
          found.created = !refused;
          getContext().getResponse().setBody(found);
        });
      });
    }` });
    const look = (key) => container.scripts.storedProcedure("look").execute(key, []);
    const { resource } = await look(alice);
    assert.deepEqual([new Set(resource.all), resource.count, resource.created], [new Set(["alice"]), 10, true]);
    await container.item("made", alice).delete();
    const other = (await look(twin)).resource;
    assert.deepEqual([new Set(other.all), other.count, other.created], [new Set(["twin"]), 10, false]);
    await expectApart();
  });

  it("a token for one key has nothing of the other's", async () => {
    const { user } = await at.db.users.create({ id: "mallory" });
    const { resource: permission } = await user.permissions.create({
      id: "p", permissionMode: "All", resource: `dbs/db/colls/${container.id}`, resourcePartitionKey: [twin] });
    const bare = at.server.rest({ key: null });
    const rest = (method, path, { headers, ...options } = {}) => bare(method, path,
      { headers: { authorization: encodeURIComponent(permission._token), ...headers }, ...options });
    assert.equal(answers(await rest("GET", `${docs(container)}/3`, { headers: keyHeader(twin) }), 200).body.of, "twin");
    answers(await rest("GET", `${docs(container)}/3`, { headers: keyHeader(alice) }), 403);
    answers(await rest("POST", docs(container), { body: { id: "t", pk: alice, n: 90 }, headers: keyHeader(twin) }), 400);
    const rows = answers(await rest("POST", docs(container),
      { body: { query: "SELECT * FROM c WHERE c.pk = 'alice' OR true" }, headers: { ...query, ...keyHeader(twin) } }), 200);
    assert.deepEqual(owners(rows.body.Documents), ["twin"]);
    const fixed = answers(await rest("POST", docs(container),
      { body: { query: "SELECT * FROM c WHERE c.pk = 'alice'" }, headers: { ...query, ...keyHeader(twin) } }), 200);
    assert.deepEqual(fixed.body.Documents, []);
    const feed = await readFeed(rest, docs(container), "Documents", { headers: keyHeader(twin) });
    assert.deepEqual(owners(feed.items), ["twin"]);
  });

  it("all versions and deletes of a key", async () => {
    const rest = (pk, headers) => at.rest("GET", docs(container),
      { headers: { "a-im": "Full-Fidelity Feed", ...keyHeader(pk), ...headers } });
    const start = answers(await rest(twin, { "if-none-match": "*" }), 304).headers.etag;
    await container.items.create({ id: "h", pk: alice, of: "alice", n: 95 });
    await container.item("h", alice).delete();
    answers(await rest(twin, { "if-none-match": start }), 304);
    assert.equal(answers(await rest(alice, { "if-none-match": start }), 200).body.Documents.length, 2);
  });

  it("their sizes are told apart", async () => {
    await container.items.create({ id: "heavy", pk: twin, of: "twin", n: 99, pad: "x".repeat(100_000) });
    const { code, out } = await at.server.command("partitions", `db/${container.id}`, "--data", at.server.data,
      "--port", String(at.server.port));
    assert.equal(code, 0, out);
    const line = (key) => out.split("\n").find((one) => one.includes(key)) ?? out;
    assert.match(line('alice'), /\b10\b/);
    assert.match(line(JSON.stringify(twin).slice(1, 12)), /\b11\b/);
    await container.item("heavy", twin).delete();
  });

  it("all of it holds after splits and restarts", async () => {
    const refused = await at.server.split(container);
    assert.notEqual(refused.code, 0, "nothing but keys of one hash");
    assert.match(refused.out, /one hash/);
    for (let i = 0; i < 40; ++i) await container.items.create({ id: "0", pk: `k${i}`, of: "others", n: 0 });
    for (let round = 0; round < 2; ++round) {
      const { code, out } = await at.server.split(container);
      assert.equal(code, 0, out);
      await expectApart();
    }
    const { body } = answers(await at.rest("GET", `/dbs/db/colls/${container.id}/pkranges`), 200);
    for (const { minInclusive, maxExclusive } of body.PartitionKeyRanges) {
      assert.match(minInclusive, /^([0-9A-F]{32})?$/);
      assert.match(maxExclusive, /^(FF|[0-9A-F]{32})$/);
    }
    await at.server.restart({ hard: true });
    at.client = at.server.client();
    at.db = at.client.database("db");
    container = at.db.container(container.id);
    await expectApart();
  });

  it("a plan names effective partition keys, each once", async () => {
    const plan = answers(await at.rest("POST", docs(container), {
      body: { query: "SELECT * FROM c WHERE c.pk IN (@a, @b)", parameters: [{ name: "@a", value: alice }, { name: "@b", value: twin }] },
      headers: { ...query, "x-ms-cosmos-is-query-plan-request": "True", "x-ms-cosmos-supported-query-features": "None" },
    }), 200).body;
    assert.deepEqual(plan.queryRanges, [{ min: "35EAEE8D6020FFCABDE75797DFE27C34", max: "35EAEE8D6020FFCABDE75797DFE27C34",
      isMinInclusive: true, isMaxInclusive: true }]);
  });
});

describe("a full key and its twin", () => {
  const at = shared({ limits: { "logical-partition-bytes": 200_000 } });

  it("the limit of a logical partition is each key's own", async () => {
    const container = await at.container();
    const pad = "x".repeat(20_000);
    let full;
    for (let i = 0; i < 20 && !full; ++i) {
      full = await container.items.create({ id: `${i}`, pk: twin, pad }).then(() => undefined, (error) => error);
    }
    assert.equal(full?.substatus, 1014, full?.message);
    for (let i = 0; i < 5; ++i) assert.equal((await container.items.create({ id: `${i}`, pk: alice, pad })).statusCode, 201);
  });
});

describe("hierarchical keys with the same hash", () => {
  const at = shared({ dev: false, args: ["--throttling", "report"] });
  const users = ["x", "y", hashTwin("x", "c")];
  let container;

  before(async () => {
    container = await at.container({
      partitionKey: { paths: ["/tenant", "/user"], kind: "MultiHash", version: 2 },
      changeFeedPolicy: { retentionDuration: 10 },
    });
    for (const user of users) await fill(container, (tenant) => ({ tenant, user }));
  });

  const run = (key, text, headers = {}) => at.rest("POST", docs(container), {
    body: { query: text, parameters: [] },
    headers: { ...query, "x-ms-documentdb-query-enablecrosspartition": "True", ...keyHeader(...key), ...headers },
  });
  // A query of a prefix, whole, whichever partitions it is in.
  async function rows(key, text) {
    const found = [];
    for (let continuation; ;) {
      const answer = answers(await run(key, text,
        { "x-orrery-whole-query": "True", ...(continuation ? { "x-ms-continuation": continuation } : {}) }), 200);
      found.push(...answer.body.Documents);
      continuation = answer.headers["x-ms-continuation"];
      if (!continuation) return found;
    }
  }

  async function expectApart() {
    for (const [tenant, of] of [[alice, "alice"], [twin, "twin"]]) {
      assert.deepEqual(await rows([tenant], "SELECT VALUE COUNT(1) FROM c"), [30]);
      assert.deepEqual(await rows([tenant], "SELECT VALUE COUNT(1) FROM c WHERE c.n < 5"), [15]);
      assert.deepEqual(await rows([tenant], "SELECT DISTINCT VALUE c.of FROM c"), [of]);
      assert.deepEqual(await rows([tenant], "SELECT c.of, SUM(c.n) AS n FROM c GROUP BY c.of"), [{ of, n: 135 }]);
      assert.deepEqual(await rows([tenant], "SELECT TOP 3 VALUE c.of FROM c ORDER BY c.n DESC"), [of, of, of]);
      assert.deepEqual(await rows([tenant], "SELECT VALUE c.of FROM c WHERE c.n = 7 AND c.id = '7'"), [of, of, of]);
      assert.deepEqual(owners(await rows([tenant], "SELECT * FROM c WHERE c.of != 'nobody'")), [of]);
      assert.deepEqual(await rows([tenant], `SELECT * FROM c WHERE c.of = '${of === "twin" ? "alice" : "twin"}'`), []);
      for (const user of users) {
        assert.equal((await container.item("3", [tenant, user]).read()).resource.of, of);
        assert.deepEqual(await rows([tenant, user], "SELECT VALUE COUNT(1) FROM c"), [10]);
      }
      const feed = await readFeed(at.rest, docs(container), "Documents",
        { headers: { ...keyHeader(tenant), "x-ms-max-item-count": "4" } });
      assert.deepEqual([owners(feed.items), feed.items.length], [[of], 30]);
    }
  }

  it("a prefix has the items of its own keys", async () => {
    await expectApart();
    // (The SDK asks for the changes of a prefix by its range of effective partition keys, which has both.)
    for (const [tenant, of] of [[alice, "alice"], [twin, "twin"]]) {
      const { body } = answers(await at.rest("GET", docs(container),
        { headers: { ...keyHeader(tenant), "a-im": "Incremental Feed", "x-ms-max-item-count": "100" } }), 200);
      assert.deepEqual([owners(body.Documents), body.Documents.length], [[of], 30]);
    }
  });

  it("a token for a prefix has nothing of the other's", async () => {
    const { user } = await at.db.users.create({ id: "mallory" });
    const { resource: permission } = await user.permissions.create({
      id: "p", permissionMode: "All", resource: `dbs/db/colls/${container.id}`, resourcePartitionKey: [twin] });
    const bare = at.server.rest({ key: null });
    const rest = (method, path, { headers, ...options } = {}) => bare(method, path,
      { headers: { authorization: encodeURIComponent(permission._token), ...headers }, ...options });
    answers(await rest("GET", `${docs(container)}/3`, { headers: keyHeader(alice, "x") }), 403);
    assert.equal(answers(await rest("GET", `${docs(container)}/3`, { headers: keyHeader(twin, "x") }), 200).body.of, "twin");
    const ask = async (text) => answers(await rest("POST", docs(container), { body: { query: text },
      headers: { ...query, ...keyHeader(twin), "x-ms-documentdb-query-enablecrosspartition": "True" } }), 200).body.Documents;
    assert.deepEqual(owners(await ask("SELECT * FROM c")), ["twin"]);
    assert.deepEqual(await ask("SELECT * FROM c WHERE c.tenant = 'alice' AND c.user = 'x'"), []);
    assert.deepEqual(owners((await readFeed(rest, docs(container), "Documents", { headers: keyHeader(twin) })).items), ["twin"]);
    const history = (headers) => rest("GET", docs(container),
      { headers: { "a-im": "Full-Fidelity Feed", ...keyHeader(twin), ...headers } });
    const start = answers(await history({ "if-none-match": "*" }), 304).headers.etag;
    await container.items.create({ id: "h", tenant: alice, user: "x", of: "alice" });
    await container.item("h", [alice, "x"]).delete();
    answers(await history({ "if-none-match": start }), 304);
  });

  it("also where a partition ends inside of the prefix, and after a restart", async () => {
    const { code, out } = await at.server.split(container);
    assert.equal(code, 0, out);
    const { body } = answers(await at.rest("GET", `/dbs/db/colls/${container.id}/pkranges`), 200);
    assert.equal(body.PartitionKeyRanges.length, 2, "x and its twin are of one hash, y is of another");
    await expectApart();
    await at.server.restart({ hard: true });
    at.client = at.server.client();
    at.db = at.client.database("db");
    container = at.db.container(container.id);
    await expectApart();
  });
});

describe("long keys", () => {
  const at = shared();
  const long = "k".repeat(100);

  for (const version of [1, 2]) {
    it(`version ${version} of the hash: keys that begin with the same 100 bytes are different keys`, async () => {
      const container = await at.container({ partitionKey: { paths: ["/pk"], kind: "Hash", version } });
      const keys = [long, `${long}a`, `${long}b`, long + long, "é".repeat(1024), `${"é".repeat(1023)}ab`];
      for (const [i, pk] of keys.entries()) await container.items.create({ id: "same", pk, i });
      const expectEach = async () => {
        for (const [i, pk] of keys.entries()) {
          assert.equal((await container.item("same", pk).read()).resource?.i, i);
          const of = async (text, options) => (await container.items.query(text, options).fetchAll()).resources;
          assert.deepEqual(await of("SELECT VALUE c.i FROM c", { partitionKey: pk }), [i]);
          assert.deepEqual(await of({ query: "SELECT VALUE c.i FROM c WHERE c.pk = @pk",
            parameters: [{ name: "@pk", value: pk }] }), [i]);
          await container.item("same", pk).patch([{ op: "set", path: "/i", value: i }]);
        }
      };
      await expectEach();
      const absent = container.item("same", `${long}absent`);
      assert.equal((await absent.read()).statusCode, 404);
      await fails(absent.delete(), 404);
      assert.equal((await at.server.split(container)).code, 0);
      await expectEach();
    });

    it(`version ${version} of the hash: a key of more than 2,048 bytes is refused by everything`, async () => {
      const container = await at.container({ partitionKey: { paths: ["/pk"], kind: "Hash", version } });
      const pk = "k".repeat(2049);
      const headers = keyHeader(pk);
      const refused = { message: /2049 bytes.*2048/ };
      answers(await at.rest("POST", docs(container), { body: { id: "1", pk }, headers }), 400, refused);
      answers(await at.rest("PUT", `${docs(container)}/1`, { body: { id: "1", pk }, headers }), 400, refused);
      answers(await at.rest("GET", `${docs(container)}/1`, { headers }), 400, refused);
      answers(await at.rest("DELETE", `${docs(container)}/1`, { headers }), 400, refused);
      answers(await at.rest("PATCH", `${docs(container)}/1`, { headers, body: [{ op: "set", path: "/a", value: 1 }] }), 400, refused);
      answers(await at.rest("GET", docs(container), { headers }), 400, refused);
      answers(await at.rest("GET", docs(container), { headers: { ...headers, "a-im": "Incremental Feed" } }), 400, refused);
      answers(await at.rest("POST", docs(container), { body: { query: "SELECT * FROM c" }, headers: { ...headers, ...query } }), 400, refused);
    });
  }
});
