// The server's part of client-side encryption: keys that only clients can unwrap, the policy of a
// container, and clients that learn that their container is another one now.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, it } from "node:test";

import { EncryptionAlgorithm, EncryptionType, KeyEncryptionAlgorithm } from "./cosmos.mjs";

import { answers, fails } from "./expect.mjs";
import { keyHeader } from "./rest.mjs";
import { shared } from "./server.mjs";

// Wraps a key by adding one to each byte: what a vault does is nothing to the server.
const vault = {
  encryptionKeyResolverName: "test-vault",
  async wrapKey(id, algorithm, key) {
    return Buffer.from(key.map((byte) => byte + 1));
  },
  async unwrapKey(id, algorithm, key) {
    return Buffer.from(key.map((byte) => byte - 1));
  },
};
const metadata = (name) => ({ type: "test-vault", name, value: `path-of-${name}`,
  algorithm: KeyEncryptionAlgorithm.RSA_OAEP });
const algorithm = EncryptionAlgorithm.AEAD_AES_256_CBC_HMAC_SHA256;
const included = (path, type = EncryptionType.DETERMINISTIC, key = "k1") =>
  ({ path, clientEncryptionKeyId: key, encryptionType: type, encryptionAlgorithm: algorithm });

describe("client-side encryption", () => {
  const at = shared({ limits: { "database-encryption-keys": 3 } });
  let made = 0;
  // A database of its own with keys, by a client that encrypts.
  async function encrypting(...keys) {
    const client = at.server.client({
      clientEncryptionOptions: { keyEncryptionKeyResolver: vault, encryptionKeyTimeToLiveInSeconds: 0 },
    });
    const { database } = await client.databases.create({ id: `encrypted${++made}` });
    for (const key of keys) await database.createClientEncryptionKey(key, algorithm, metadata("one"));
    return database;
  }
  const definition = (...includedPaths) => ({ id: "c", partitionKey: { paths: ["/pk"] },
    clientEncryptionPolicy: { includedPaths, policyFormatVersion: 2 } });

  it("keys: created, read, rewrapped with their etag, listed, queried", async () => {
    const database = await encrypting("k1", "k2");
    const read = await database.readClientEncryptionKey("k1");
    assert.equal(read.clientEncryptionKeyProperties.encryptionAlgorithm, algorithm);
    assert.deepEqual(read.clientEncryptionKeyProperties.encryptionKeyWrapMetadata, metadata("one"));
    await fails(database.createClientEncryptionKey("k1", algorithm, metadata("one")), 409);
    const rewrapped = await database.rewrapClientEncryptionKey("k1", metadata("two"));
    assert.equal(rewrapped.statusCode, 200);
    assert.deepEqual(rewrapped.clientEncryptionKeyProperties.encryptionKeyWrapMetadata, metadata("two"));
    assert.notEqual(rewrapped.clientEncryptionKeyProperties.etag, read.clientEncryptionKeyProperties.etag);

    const path = `/dbs/${database.id}/clientencryptionkeys`;
    const list = answers(await at.rest("GET", path), 200);
    assert.deepEqual(list.body.ClientEncryptionKeys.map(({ id }) => id), ["k1", "k2"]);
    assert.equal(list.body._count, 2);
    const [k1] = list.body.ClientEncryptionKeys;
    assert.equal(Buffer.from(k1._rid.replaceAll("-", "/"), "base64").length, 16);
    assert.equal(k1._self, `dbs/${list.body._rid}/clientencryptionkeys/${k1._rid}/`);
    const found = answers(await at.rest("POST", path, { body: { query: "SELECT * FROM c WHERE c.id = 'k2'" },
      headers: { "x-ms-documentdb-isquery": "True", "content-type": "application/query+json" } }), 200);
    assert.deepEqual(found.body.ClientEncryptionKeys.map(({ id }) => id), ["k2"]);
    const stale = { "if-match": read.clientEncryptionKeyProperties.etag };
    answers(await at.rest("PUT", `${path}/k1`, { headers: stale, body: k1 }), 412);
    answers(await at.rest("GET", `${path}/none`), 404);
    answers(await at.rest("DELETE", `${path}/k1`), 405);
  });

  it("keys that are not whole, and one too many", async () => {
    const database = await encrypting("k1");
    const path = `/dbs/${database.id}/clientencryptionkeys`;
    const whole = { id: "k2", encryptionAlgorithm: algorithm, keyWrapMetadata: metadata("one"),
      wrappedDataEncryptionKey: randomBytes(32).toString("base64") };
    for (const [member, value] of [["encryptionAlgorithm", "ROT13"], ["wrappedDataEncryptionKey", "!"],
      ["wrappedDataEncryptionKey", undefined], ["keyWrapMetadata", { name: "x" }], ["id", ""]]) {
      answers(await at.rest("POST", path, { body: { ...whole, [member]: value } }), 400);
    }
    answers(await at.rest("POST", path, { body: whole }), 201);
    answers(await at.rest("POST", path, { body: { ...whole, id: "k3" } }), 201);
    answers(await at.rest("POST", path, { body: { ...whole, id: "k4" } }), 403);
  });

  it("the SDK writes, reads and finds what is encrypted; the server has only ciphers", async () => {
    const database = await encrypting("k1");
    const { container } = await database.containers.create(
      definition(included("/id"), included("/pk"), included("/secret")));
    const item = { id: "1", pk: "a", secret: "nobody knows", open: 5 };
    await container.items.create(item);
    const { resource } = await container.item("1", "a").read();
    for (const [name, value] of Object.entries(item)) assert.equal(resource[name], value);
    const plain = at.client.database(database.id).container("c");
    const [stored] = (await plain.items.readAll().fetchAll()).resources;
    assert.equal(stored.open, 5);
    for (const name of ["id", "pk", "secret"]) assert.notEqual(stored[name], item[name]);
  });

  it("a policy: its keys must be there, its rules hold, and it never changes", async () => {
    const database = await encrypting("k1");
    const create = (policy) => at.rest("POST", `/dbs/${database.id}/colls`,
      { body: { ...definition(), id: `c${++made}`, clientEncryptionPolicy: policy } });
    const refused = async (policy, message) => answers(await create(policy), 400, { message });
    await refused({ includedPaths: [included("/a", "Deterministic", "other")], policyFormatVersion: 1 },
      /ClientEncryptionKey with id '\[other\]' does not exist/);
    await refused({ includedPaths: [included("/id")], policyFormatVersion: 1 }, /policyFormatVersion/);
    await refused({ includedPaths: [included("/pk", "Randomized")], policyFormatVersion: 2 }, /Deterministic/);
    await refused({ includedPaths: [included("/a"), included("/a")], policyFormatVersion: 1 }, /twice/);
    await refused({ includedPaths: [included("/a/b")], policyFormatVersion: 1 }, /path/);
    const made1 = answers(await create({ includedPaths: [included("/a", "Randomized")], policyFormatVersion: 1 }), 201).body;
    assert.deepEqual(made1.clientEncryptionPolicy,
      { includedPaths: [included("/a", "Randomized")], policyFormatVersion: 1 });
    const path = `/dbs/${database.id}/colls/${made1.id}`;
    answers(await at.rest("PUT", path, { body: { ...made1, defaultTtl: 100 } }), 200);
    answers(await at.rest("PUT", path, { body: { ...made1, clientEncryptionPolicy: undefined } }), 400,
      { message: /'clientEncryptionPolicy' cannot be changed as part of collection replace operation/ });
  });

  it("a request that is meant for another container: 400/1024", async () => {
    const container = await at.container();
    const { resource } = await container.read();
    const docs = `/dbs/db/colls/${container.id}/docs`;
    const meant = (rid) => ({ ...keyHeader("a"), "x-ms-cosmos-is-client-encrypted": "True",
      "x-ms-cosmos-intended-collection-rid": rid });
    const body = { id: "1", pk: "a" };
    answers(await at.rest("POST", docs, { headers: meant(resource._rid), body }), 201);
    const other = (await (await at.container()).read()).resource._rid;
    const refused = { substatus: 1024 };
    answers(await at.rest("GET", `${docs}/1`, { headers: meant(other) }), 400, refused);
    answers(await at.rest("PUT", `${docs}/1`, { headers: meant(other), body }), 400, refused);
    answers(await at.rest("GET", docs, { headers: meant(other) }), 400, refused);
    answers(await at.rest("POST", docs, { body: { query: "SELECT * FROM c" },
      headers: { ...meant(other), "x-ms-documentdb-isquery": "True" } }), 400, refused);
    answers(await at.rest("GET", `${docs}/1`, { headers: meant(resource._rid) }), 200);
  });
});
