// Signing in without keys: tokens of an issuer (type=aad), the roles of their holders, and tokens of the emulator's kind.
// Some five servers, ten seconds.
import assert from "node:assert/strict";
import { createHmac, createPublicKey, generateKeyPairSync, sign as signBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";

import { answers, bare, eventually, fails } from "./expect.mjs";
import { encodeBatch } from "./hybrid_rows.mjs";
import { keyHeader } from "./rest.mjs";
import { DirectConnection } from "./rntbd.mjs";
import { runProgram, start } from "./server.mjs";

const issuerName = "https://issuer.example/tenant";
const audience = "https://cosmos.azure.com";
const actions = (...names) => names.map((name) => `Microsoft.DocumentDB/databaseAccounts/${name}`);
const items = (...names) => actions(...names.map((name) => `sqlDatabases/containers/items/${name}`));
const base64url = (value) => Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");
const now = () => Math.floor(Date.now() / 1000);

// Two keys for all tests: making one takes a while.
const [ownKey, otherKey] = [1, 2].map(() => generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey);
const jwkOf = (privateKey, kid) => ({ ...createPublicKey(privateKey).export({ format: "jwk" }), kid, use: "sig" });
const keySet = (...keys) => JSON.stringify({ keys });

const claimsOf = (oid, more = {}) =>
  ({ iss: issuerName, aud: audience, oid, nbf: now() - 60, exp: now() + 3600, scp: "user_impersonation", ...more });

function tokenOf(claims, { privateKey = ownKey, header = {} } = {}) {
  const text = `${base64url({ typ: "JWT", alg: "RS256", kid: "k1", ...header })}.${base64url(claims)}`;
  return `${text}.${signBytes("sha256", Buffer.from(text), privateKey).toString("base64url")}`;
}

const policy = {
  issuer: issuerName,
  audiences: [audience, "https://db.example"],
  keys: "jwks.json",
  roles: [
    { name: "writer", actions: [...actions("readMetadata"), ...items("create", "upsert")] },
    { name: "runner", actions: actions("sqlDatabases/containers/executeStoredProcedure") },
  ],
  assignments: [
    { principal: "reader", role: "00000000-0000-0000-0000-000000000001", scope: "/" },
    { principal: "contributor", role: "00000000-0000-0000-0000-000000000002", scope: "/" },
    { principal: "of-db", role: "00000000-0000-0000-0000-000000000002", scope: "/dbs/db" },
    { principal: "of-one", role: "00000000-0000-0000-0000-000000000002", scope: "/dbs/db/colls/one" },
    { principal: "writer", role: "writer", scope: "/dbs/db/colls/one" },
    { principal: "runner", role: "runner", scope: "/" },
    { principal: "staff", role: "00000000-0000-0000-0000-000000000001", scope: "/dbs/db/colls/one" },
  ],
};

// The vendor's client with a credential of the test's own.
function clientOf(server, token) {
  const asked = [];
  const aadCredentials = {
    getToken: (scopes) => {
      asked.push([scopes].flat());
      return Promise.resolve({ token: typeof token === "function" ? token() : token, expiresOnTimestamp: Date.now() + 3_600_000 });
    },
  };
  const client = server.client({ over: "https", key: "", aadCredentials });
  client.asked = asked;
  return client;
}

const restAs = (rest, token) => (method, path, { headers = {}, ...options } = {}) =>
  rest(method, path, { key: null, headers: { authorization: `type=aad&ver=1.0&sig=${token}`, ...headers }, ...options });

describe("tokens of an issuer", () => {
  let folder;
  let server;
  let rest;
  const as = (oid, more) => restAs(rest, tokenOf(claimsOf(oid, more)));
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "orrery-entra-"));
    writeFileSync(join(folder, "jwks.json"), keySet(jwkOf(ownKey, "k1")));
    writeFileSync(join(folder, "entra.json"), JSON.stringify(policy));
    server = await start({ dev: false, args: ["--entra", join(folder, "entra.json"), "--direct-port", "0"] });
    rest = server.rest();
    const { database } = await server.client().databases.create({ id: "db" });
    for (const id of ["one", "two"]) await database.containers.create({ id, partitionKey: { paths: ["/pk"] } });
    await server.client().databases.create({ id: "other" });
    await database.container("one").items.create({ id: "1", pk: "a" });
    await database.container("two").items.create({ id: "1", pk: "a" });
    await database.container("one").scripts.storedProcedures.create({ id: "p", body: "function () { getContext().getResponse().setBody(7); }" });
  });
  after(async () => {
    await server?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it("a contributor does all that there is to do with items, by the vendor's SDK", async () => {
    const client = clientOf(server, () => tokenOf(claimsOf("contributor")));
    const container = client.database("db").container("one");
    assert.equal((await container.read()).resource.id, "one");
    const { resource } = await container.items.create({ id: "mine", pk: "b", n: 1 });
    await container.item("mine", "b").replace({ ...resource, n: 2 });
    await container.item("mine", "b").patch([{ op: "incr", path: "/n", value: 3 }]);
    await container.items.upsert({ id: "too", pk: "b" });
    assert.equal((await container.item("mine", "b").read()).resource.n, 5);
    const found = await container.items.query("select value c.id from c where c.pk = 'b' order by c.id").fetchAll();
    assert.deepEqual(found.resources, ["mine", "too"]);
    const batch = await container.items.batch([{ operationType: "Create", resourceBody: { id: "batched", pk: "b" } },
      { operationType: "Delete", id: "too" }], "b");
    assert.deepEqual(batch.result.map((one) => one.statusCode), [201, 204]);
    const bulk = await container.items.bulk([{ operationType: "Read", id: "mine", partitionKey: "b" }]);
    assert.equal(bulk[0].statusCode, 200);
    const changes = container.items.changeFeed("b", { startFromBeginning: true });
    assert.deepEqual(bare((await changes.fetchNext()).result.at(-1)).pk, "b");
    assert.equal((await container.scripts.storedProcedure("p").execute("b")).resource, 7);
    await container.item("mine", "b").delete();
    await container.item("batched", "b").delete();
    assert.match(client.asked[0][0], /\/\.default$/);
  });

  it("a reader reads and asks, and writes nothing", async () => {
    const container = clientOf(server, tokenOf(claimsOf("reader"))).database("db").container("one");
    assert.equal((await container.item("1", "a").read()).resource.id, "1");
    assert.deepEqual((await container.items.query("select value c.id from c").fetchAll()).resources, ["1"]);
    assert.equal((await container.items.readAll().fetchAll()).resources.length, 1);
    await fails(container.items.create({ id: "x", pk: "a" }), 403, { substatus: 5302, message: /items\/create/ });
    await fails(container.items.upsert({ id: "1", pk: "a" }), 403, { substatus: 5302, message: /items\/upsert/ });
    await fails(container.item("1", "a").replace({ id: "1", pk: "a" }), 403, { message: /items\/replace/ });
    await fails(container.item("1", "a").patch([{ op: "set", path: "/n", value: 1 }]), 403, { message: /items\/replace/ });
    await fails(container.item("1", "a").delete(), 403, { message: /items\/delete/ });
    await fails(container.scripts.storedProcedure("p").execute("a"), 403, { message: /executeStoredProcedure/ });
    await assert.rejects(container.items.batch([{ operationType: "Delete", id: "1" }], "a"), /items\/delete/);
    assert.equal((await container.items.batch([{ operationType: "Read", id: "1" }], "a")).result[0].statusCode, 200);
  });

  it("a role counts in its scope: the account, a database, a container", async () => {
    const read = (call, db, coll) => call("GET", `/dbs/${db}/colls/${coll}/docs/1`, { headers: keyHeader("a") });
    answers(await read(as("of-db"), "db", "two"), 200);
    answers(await read(as("of-one"), "db", "one"), 200);
    answers(await read(as("of-one"), "db", "two"), 403, { substatus: 5302 });
    answers(await as("of-one")("GET", "/dbs/db/colls/one"), 200);
    answers(await as("of-one")("GET", "/dbs/db/colls/one/pkranges"), 200);
    answers(await as("of-one")("GET", "/dbs/db/colls/two"), 403, { substatus: 5301 });
    answers(await as("of-one")("GET", "/dbs/db"), 403, { substatus: 5301 });
    answers(await as("of-db")("GET", "/dbs/db/colls"), 200);
    answers(await as("of-db")("GET", "/dbs/other"), 403);
    answers(await as("of-db")("GET", "/dbs"), 403);
    answers(await as("reader")("GET", "/dbs"), 200);
    for (const oid of ["of-one", "reader", "runner"]) answers(await as(oid)("GET", "/"), 200);
    // By resource ids it is the same container.
    const { _rid, _self } = (await rest("GET", "/dbs/db/colls/one")).body;
    assert.ok(_rid);
    answers(await as("of-one")("GET", `/${_self}`), 200);
    answers(await as("of-one")("GET", `/${(await rest("GET", "/dbs/db/colls/two")).body._self}`), 403);
  });

  it("a custom role has its actions and no others, also in batches, in both of their forms", async () => {
    const call = as("writer");
    const docs = "/dbs/db/colls/one/docs";
    const post = (body, headers = {}) => call("POST", docs, { body, headers: { ...keyHeader("w"), ...headers } });
    answers(await post({ id: "w1", pk: "w" }), 201);
    answers(await post({ id: "w1", pk: "w" }, { "x-ms-documentdb-is-upsert": "True" }), 200);
    answers(await call("GET", `${docs}/w1`, { headers: keyHeader("w") }), 403);
    answers(await call("GET", docs), 403);
    answers(await post({ query: "select * from c" }, { "x-ms-documentdb-isquery": "True" }), 403, { message: /executeQuery/ });
    answers(await post({ id: "w2", pk: "w" }, { "x-ms-documentdb-pre-trigger-include": "t" }), 403, { message: /executeStoredProcedure/ });
    for (const atomic of ["True", "False"]) {
      const batch = { "x-ms-cosmos-is-batch-request": "True", "x-ms-cosmos-batch-atomic": atomic };
      const create = { operationType: "Create", partitionKey: '["w"]', resourceBody: { id: `b${atomic}`, pk: "w" } };
      const remove = { operationType: "Delete", partitionKey: '["w"]', id: "w1" };
      answers(await post([create, remove], batch), 403, { substatus: 5302, message: /items\/delete/ });
      answers(await post(encodeBatch([create, remove]), batch), 403, { message: /items\/delete/ });
      answers(await rest("GET", `${docs}/b${atomic}`, { headers: keyHeader("w") }), 404);
      answers(await post([create], batch), 200);
    }
    const runner = as("runner");
    answers(await runner("POST", "/dbs/db/colls/one/sprocs/p", { body: [], headers: keyHeader("a") }), 200);
    answers(await runner("GET", "/dbs/db"), 403, { substatus: 5301 });
  });

  it("no role makes, changes or deletes databases, containers, scripts, offers and users", async () => {
    const call = as("contributor");
    for (const [method, path, body] of [
      ["POST", "/dbs", { id: "new" }], ["DELETE", "/dbs/db"], ["POST", "/dbs/db/colls", { id: "new", partitionKey: { paths: ["/pk"] } }],
      ["PUT", "/dbs/db/colls/one", { id: "one", partitionKey: { paths: ["/pk"] } }], ["DELETE", "/dbs/db/colls/one"],
      ["POST", "/dbs/db/colls/one/sprocs", { id: "s", body: "function () {}" }], ["GET", "/dbs/db/colls/one/sprocs"],
      ["DELETE", "/dbs/db/colls/one/sprocs/p"], ["POST", "/dbs/db/colls/one/udfs", { id: "s", body: "function () {}" }],
      ["POST", "/dbs/db/colls/one/triggers", {}], ["GET", "/offers"], ["POST", "/offers", {}], ["GET", "/dbs/db/users"],
      ["POST", "/dbs/db/users", { id: "u" }], ["GET", "/dbs/db/users/u/permissions"], ["PUT", "/dbs/db/colls/one/docs", {}],
    ]) {
      answers(await call(method, path, { body }), 403, { substatus: 5300, message: /account key/ });
    }
    answers(await call("GET", "/admin/partitions?database=db&container=one"), [401, 403]);
  });

  it("the same over direct mode: each request has its token, and the role of its holder", async (t) => {
    const { body: one } = answers(await as("reader")("GET", "/dbs/db/colls/one"), 200);
    const { body: addresses } = answers(await as("reader")("GET", `/addresses/?$resolveFor=${encodeURIComponent(
      `${one._self}docs`)}&$filter=protocol%20eq%20rntbd&$partitionKeyRangeIds=0`), 200);
    const address = new URL(addresses.Addresss[0].physcialUri.replace("rntbd:", "http:"));
    const connection = await DirectConnection.open(Number(address.port));
    t.after(() => connection.close());
    const ask = (operation, token, { item, body } = {}) => connection.send(["item", operation], {
      database: "db", container: "one", replicaPath: address.pathname.replace(/\/$/, ""), key: '["a"]', ...(item ? { item } : {}),
      authorization: encodeURIComponent(`type=aad&ver=1.0&sig=${token}`),
    }, { body });
    const tokenFor = (oid, more) => tokenOf(claimsOf(oid, more));
    const read = await ask("read", tokenFor("reader"), { item: "1" });
    assert.equal(read.status, 200, read.body?.message);
    assert.equal(read.body.id, "1");
    const refused = await ask("create", tokenFor("reader"), { body: { id: "x", pk: "a" } });
    assert.equal(refused.status, 403);
    assert.equal(refused.tokens.substatus, 5302);
    assert.match(refused.body.message, /items\/create/);
    const made = await ask("create", tokenFor("contributor"), { body: { id: "direct", pk: "a" } });
    assert.equal(made.status, 201, made.body?.message);
    assert.equal((await ask("delete", tokenFor("of-one"), { item: "direct" })).status, 204);
    const batch = encodeBatch([{ operationType: "Delete", id: "1" }]);
    assert.equal((await connection.send(["item", "batch"], { database: "db", container: "one", key: '["a"]', batchAtomic: 1,
      replicaPath: address.pathname.replace(/\/$/, ""), authorization: encodeURIComponent(`type=aad&ver=1.0&sig=${tokenFor("reader")}`),
    }, { body: batch })).status, 403);
    assert.equal((await ask("read", tokenFor("reader", { exp: now() - 600 }), { item: "1" })).status, 401);
    assert.equal((await ask("read", tokenFor("nobody"), { item: "1" })).status, 403);
  });

  it("a group's role is that of its members", async () => {
    answers(await as("somebody", { groups: ["x", "staff"] })("GET", "/dbs/db/colls/one"), 200);
    answers(await as("somebody", { groups: ["x"] })("GET", "/dbs/db/colls/one"), 403);
    answers(await as("somebody")("GET", "/"), 403, { substatus: 5301, message: /no role/ });
  });

  it("every token that is not good is refused with 401, and what is wrong is told", async () => {
    const good = claimsOf("contributor");
    const unsigned = (alg) => `${base64url({ alg, kid: "k1" })}.${base64url(good)}`;
    const hmac = (secret) => `${unsigned("HS256")}.${createHmac("sha256", secret).update(unsigned("HS256")).digest("base64url")}`;
    const pem = createPublicKey(ownKey).export({ type: "spki", format: "pem" });
    const changed = tokenOf(claimsOf("reader")).split(".");
    const nested = "[".repeat(3_000) + "]".repeat(3_000);
    for (const [name, token, substatus] of [
      ["nothing", "", 5003], ["nonsense", "x.y.z", 5003], ["two parts", unsigned("RS256"), 5003],
      ["unsigned", `${unsigned("none")}.`, 5004], ["an empty signature", `${unsigned("RS256")}.`, 5004],
      ["HMAC by the public key", hmac(pem), 5004], ["HMAC by the key set", hmac(readFileSync(join(folder, "jwks.json"))), 5004],
      ["another's key of that name", tokenOf(good, { privateKey: otherKey }), 5004],
      ["a key that it brings along", tokenOf(good, { privateKey: otherKey, header: { jwk: jwkOf(otherKey, "k1") } }), 5004],
      ["other claims", [changed[0], base64url(good), changed[2]].join("."), 5004],
      ["an unknown key", tokenOf(good, { privateKey: otherKey, header: { kid: "k2" } }), 5200],
      ["expired", tokenOf({ ...good, exp: now() - 400 }), 5006], ["not yet", tokenOf({ ...good, nbf: now() + 900 }), 5005],
      ["another issuer", tokenOf({ ...good, iss: "https://evil.example" }), 5007],
      ["another audience", tokenOf({ ...good, aud: "https://vault.azure.net" }), 5008],
      ["nobody's", tokenOf({ ...good, oid: undefined }), 5011],
      ["huge", tokenOf({ ...good, groups: ["g".repeat(20_000)] }), 5003],
      ["nested", tokenOf({ ...good, nested: "deep" }).replace(/\..*\./, `.${base64url(nested)}.`), 5004],
      ["nested header", `${base64url(nested)}.${base64url(good)}.AA`, 5003],
      ["of the emulator's kind", `${base64url({ alg: "RS256", kid: "CosmosEmulatorPrimaryMaster" })}.${base64url(good)}.${base64url(server.key)}`, 5200],
    ]) {
      const answer = await restAs(rest, token)("GET", "/dbs/db");
      assert.deepEqual([name, answer.status, answer.substatus], [name, 401, substatus], answer.text);
      assert.equal(answer.body.code, "Unauthorized");
    }
    for (const aud of [`${audience}/`, "https://db.example/", ["x", "https://db.example"]]) {
      answers(await as("contributor", { aud })("GET", "/dbs/db"), 200);
    }
    // Percent-encoded, as Java and .NET send it.
    const encoded = encodeURIComponent(`type=aad&ver=1.0&sig=${tokenOf(good)}`);
    answers(await rest("GET", "/dbs/db", { key: null, headers: { authorization: encoded } }), 200);
    assert.doesNotMatch(server.log, /eyJ/);  // no token is logged
  });

  it("a changed file counts without a restart, and a wrong one changes nothing", async () => {
    const file = join(folder, "entra.json");
    const call = as("late");
    answers(await call("GET", "/dbs/db"), 403);
    const more = { ...policy, assignments: [...policy.assignments, { principal: "late", role: policy.assignments[0].role, scope: "/" }] };
    writeFileSync(file, JSON.stringify(more));
    await eventually(async () => (await call("GET", "/dbs/db")).status === 200, { what: "the new role" });
    writeFileSync(file, "{");
    await server.logged(/stays as it was/);
    answers(await call("GET", "/dbs/db"), 200);
    writeFileSync(file, JSON.stringify(policy));
    await eventually(async () => (await call("GET", "/dbs/db")).status === 403, { what: "the end of the role" });
    // And the issuer's new key.
    const rolled = restAs(rest, tokenOf(claimsOf("reader"), { privateKey: otherKey, header: { kid: "k2" } }));
    answers(await rolled("GET", "/dbs/db"), 401, { substatus: 5200 });
    writeFileSync(join(folder, "jwks.json"), keySet(jwkOf(ownKey, "k1"), jwkOf(otherKey, "k2")));
    await eventually(async () => (await rolled("GET", "/dbs/db")).status === 200, { what: "the new key" });
  });

  it("without a file no token is taken, and a file that is wrong ends the start", async () => {
    const plain = await start({ dev: false });
    try {
      answers(await restAs(plain.rest(), tokenOf(claimsOf("contributor")))("GET", "/"), 401, { message: /--entra/ });
    } finally {
      await plain.close();
    }
    for (const [text, message] of [["{", /not JSON/], [JSON.stringify({ ...policy, keys: "absent.json" }), /absent\.json/],
      [JSON.stringify({ ...policy, keys: "http://db.example/keys" }), /https/],
      [JSON.stringify({ ...policy, assignments: [{ principal: "p", role: "owner", scope: "/" }] }), /role/]]) {
      const data = mkdtempSync(join(tmpdir(), "orrery-entra-"));
      writeFileSync(join(data, "entra.json"), text);
      const { code, out } = await runProgram(["serve", "--data", data, "--port", "0", "--entra", join(data, "entra.json")]);
      rmSync(data, { recursive: true, force: true });
      assert.equal(code, 1, out);
      assert.match(out, message);
    }
  });
});

describe("an issuer's keys by its discovery document", () => {
  it("are read from its address, and tokens are refused only as long as that does not answer", async () => {
    const folder = mkdtempSync(join(tmpdir(), "orrery-entra-"));
    const site = http.createServer((request, response) => {
      const at = `http://127.0.0.1:${site.address().port}`;
      if (request.url === "/d") response.end(JSON.stringify({ issuer: issuerName, jwks_uri: `${at}/keys` }));
      else if (request.url === "/keys") response.end(keySet(jwkOf(ownKey, "k1")));
      else response.writeHead(302, { location: `${at}/d` }).end();
    });
    await new Promise((resolve) => site.listen(0, "127.0.0.1", resolve));
    const at = `http://127.0.0.1:${site.address().port}`;
    const file = join(folder, "entra.json");
    const write = (discovery) => writeFileSync(file, JSON.stringify({ ...policy, keys: undefined, discovery }));
    write(`${at}/moved`);
    const server = await start({ dev: false, args: ["--entra", file] });
    try {
      const call = restAs(server.rest(), tokenOf(claimsOf("reader")));
      answers(await call("GET", "/dbs"), 401);
      answers(await server.rest()("GET", "/dbs"), 200);
      assert.match(server.log, /keys cannot be read/);
      write(`${at}/d`);
      await eventually(async () => (await call("GET", "/dbs")).status === 200, { what: "the keys" });
    } finally {
      await server.close();
      site.closeAllConnections();
      site.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe("orrery token", () => {
  it("makes a key, its key set and tokens that a server takes", async () => {
    const folder = mkdtempSync(join(tmpdir(), "orrery-entra-"));
    const make = async (...more) => {
      const { code, out } = await runProgram(["token", "--folder", folder, "--issuer", issuerName, "--audience", audience, ...more]);
      assert.equal(code, 0, out);
      return out.trim();
    };
    const token = await make("--principal", "reader");
    writeFileSync(join(folder, "entra.json"), JSON.stringify(policy));
    const server = await start({ dev: false, args: ["--entra", join(folder, "entra.json")] });
    try {
      answers(await restAs(server.rest(), token)("GET", "/dbs"), 200);
      answers(await restAs(server.rest(), await make("--principal", "reader", "--lifetime", "-400"))("GET", "/dbs"), 401, { substatus: 5006 });
      answers(await restAs(server.rest(), await make("--principal", "nobody", "--group", "staff"))("GET", "/dbs/db/colls/one"), 404);
      const told = JSON.parse(await make("--principal", "reader", "--lifetime", "600", "--json"));
      answers(await restAs(server.rest(), told.token)("GET", "/dbs"), 200);
      assert.equal(JSON.parse(Buffer.from(told.token.split(".")[1], "base64url").toString()).exp, told.expiresAt);
    } finally {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    }
    const { code, out } = await runProgram(["token"]);
    assert.equal(code, 1, out);
    assert.match(out, /--emulator/);
  });
});

describe("tokens of the emulator's kind", () => {
  it("are taken with --dev, for all that a contributor may do and until they expire", async () => {
    const server = await start();
    try {
      await server.client().databases.create({ id: "db" });
      await server.client().database("db").containers.create({ id: "one", partitionKey: { paths: ["/pk"] } });
      const token = (await runProgram(["token", "--emulator"])).out.trim();
      const container = clientOf(server, token).database("db").container("one");
      await container.items.create({ id: "1", pk: "a" });
      assert.deepEqual((await container.items.query("select value c.id from c").fetchAll()).resources, ["1"]);
      const rest = server.rest();
      answers(await restAs(rest, token)("POST", "/dbs", { body: { id: "new" } }), 403, { substatus: 5300 });
      const [header, claims] = token.split(".");
      for (const bad of [`${header}.${claims}.${base64url("another key")}`, `${header}.${claims}.`,
        `${base64url({ alg: "none" })}.${claims}.`, tokenOf(claimsOf("contributor"))]) {
        answers(await restAs(rest, bad)("GET", "/dbs/db"), 401, { substatus: 5004 });
      }
      const old = (await runProgram(["token", "--emulator", "--lifetime", "-400"])).out.trim();
      answers(await restAs(rest, old)("GET", "/dbs/db"), 401, { substatus: 5006 });
    } finally {
      await server.close();
    }
  });

  it("with --dev and --entra both kinds are taken, each by its own rules", async () => {
    const folder = mkdtempSync(join(tmpdir(), "orrery-entra-"));
    writeFileSync(join(folder, "jwks.json"), keySet(jwkOf(ownKey, "k1")));
    writeFileSync(join(folder, "entra.json"), JSON.stringify(policy));
    const server = await start({ args: ["--entra", join(folder, "entra.json")] });
    try {
      await server.client().databases.create({ id: "db" });
      const rest = server.rest();
      const unsigned = (kid) => `${base64url({ alg: "RS256", kid })}.${base64url(claimsOf("anybody"))}.${base64url(server.key)}`;
      for (const kid of ["CosmosEmulatorPrimaryMaster", "x_9KSusKU5YcHf4"]) {
        answers(await restAs(rest, unsigned(kid))("GET", "/dbs/db"), 200);
      }
      answers(await restAs(rest, unsigned("k1"))("GET", "/dbs/db"), 401, { substatus: 5004 });
      answers(await restAs(rest, tokenOf(claimsOf("reader")))("GET", "/dbs/db"), 200);
      answers(await restAs(rest, tokenOf(claimsOf("anybody")))("GET", "/dbs/db"), 403);
    } finally {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
