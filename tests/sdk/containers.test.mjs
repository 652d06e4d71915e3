// Containers: their definitions of every kind, what is refused, what may change and what may not.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { answers, fails } from "./expect.mjs";
import { readFeed } from "./rest.mjs";
import { shared } from "./server.mjs";

const key = { paths: ["/pk"], kind: "Hash", version: 2 };

describe("containers", () => {
  const at = shared();
  const path = "/dbs/db/colls";
  const create = (body, headers) => at.rest("POST", path, { body, headers });

  it("A2 A24: a container is created with its key and read back", async () => {
    const created = await at.db.containers.create({ id: "plain", partitionKey: { ...key } });
    assert.equal(created.statusCode, 201);
    const definition = created.resource;
    assert.deepEqual(definition.partitionKey, key);
    assert.deepEqual(definition.indexingPolicy, {
      indexingMode: "consistent", automatic: true,
      includedPaths: [{ path: "/*" }], excludedPaths: [{ path: '/"_etag"/?' }],
    });
    assert.equal(definition.conflictResolutionPolicy.mode, "LastWriterWins");
    assert.equal(definition.conflictResolutionPolicy.conflictResolutionPath, "/_ts");
    assert.deepEqual(
      ["_docs", "_sprocs", "_triggers", "_udfs", "_conflicts"].map((name) => definition[name]),
      ["docs/", "sprocs/", "triggers/", "udfs/", "conflicts/"]);
    const db = (await at.db.read()).resource;
    assert.equal(definition._self, `dbs/${db._rid}/colls/${definition._rid}/`);
    const rid = Buffer.from(definition._rid.replaceAll("-", "/"), "base64");
    assert.equal(rid.length, 8);
    assert.deepEqual(rid.subarray(0, 4), Buffer.from(db._rid.replaceAll("-", "/"), "base64"));
    assert.ok(rid[4] & 0x80, "a container's RID has its high bit set");

    const read = await at.db.container("plain").read();
    assert.equal(read.statusCode, 200);
    assert.deepEqual(read.resource, definition);
    assert.equal(read.headers.etag, definition._etag);
    await fails(at.db.containers.create({ id: "plain", partitionKey: "/x" }), 409, { message: /plain/ });
  });

  it("A19: nested, quoted and id key paths are kept", async () => {
    const paths = ["/department", "/properties/name", "/id", '/"department name"', "/a/\"b c\"/d", "/città"];
    for (const [i, one] of paths.entries()) {
      const { resource } = await at.db.containers.create(
        { id: `path${i}`, partitionKey: { paths: [one], kind: "Hash", version: 2 } });
      assert.deepEqual(resource.partitionKey.paths, [one]);
    }
  });

  it("A19: a key path is a property: wildcards and anything else are refused", async () => {
    for (const bad of ["department", "", "/", "/a/", "/a//b", "/a b", "/*", "/a/*", "/a/?", "/a/[]", '/"open', 5, null]) {
      const answer = await create({ id: "bad", partitionKey: { paths: [bad], kind: "Hash" } });
      answers(answer, 400);
      assert.ok(answer.body.message.includes(String(bad)), `${bad}: ${answer.body.message}`);
    }
    for (const partitionKey of [{}, { paths: [] }, { paths: "/pk" }, { paths: ["/a", "/b"], kind: "Hash" },
      { paths: ["/a"], kind: "Sideways" }, { paths: ["/a"], kind: "Hash", version: 3 }, "/pk", 5]) {
      answers(await create({ id: "bad", partitionKey }), 400);
    }
  });

  it("both versions of the key hash are kept", async () => {
    for (const version of [1, 2]) {
      const { resource } = await at.db.containers.create(
        { id: `version${version}`, partitionKey: { paths: ["/pk"], kind: "Hash", version } });
      assert.equal(resource.partitionKey.version, version);
    }
  });

  it("the version of the key hash may be its name, as the Java SDK sends it", async () => {
    for (const version of [1, 2]) {
      const created = answers(await create({ id: `named${version}`, partitionKey: { paths: ["/pk"], kind: "Hash", version: `V${version}` } }), 201);
      assert.equal(created.body.partitionKey.version, version);
    }
    answers(await create({ id: "bad", partitionKey: { paths: ["/pk"], kind: "Hash", version: "V3" } }), 400, { message: /V1, V2/ });
  });

  it("hierarchical keys have up to three levels", async () => {
    const paths = ["/tenant", "/user", "/session", "/more"];
    for (const levels of [1, 2, 3]) {
      const partitionKey = { paths: paths.slice(0, levels), kind: "MultiHash", version: 2 };
      const { resource } = await at.db.containers.create({ id: `levels${levels}`, partitionKey });
      assert.deepEqual(resource.partitionKey, partitionKey);
    }
    answers(await create({ id: "bad", partitionKey: { paths, kind: "MultiHash", version: 2 } }), 400,
      { message: /3/ });
    answers(await create({ id: "bad", partitionKey: { paths: ["/a", "/a"], kind: "MultiHash", version: 2 } }), 400);
  });

  it("A16: a container without a key is a fixed one", async () => {
    answers(await create({ id: "fixed" }, { "x-ms-offer-throughput": "400" }), 201);
    answers(await create({ id: "fixed2" }, { "x-ms-offer-throughput": "10000" }), 201);
    answers(await create({ id: "fixed3" }, { "x-ms-offer-throughput": "10100" }), 400, { message: /10000|10,000/ });
  });

  it("A21: index rules are kept", async () => {
    const indexingPolicy = {
      indexingMode: "consistent", automatic: true,
      includedPaths: [{ path: "/department/?" }, { path: "/tags/[]/?" }, { path: '/"last name"/*' }],
      excludedPaths: [{ path: "/*" }],
      compositeIndexes: [[{ path: "/a", order: "ascending" }, { path: "/b", order: "descending" }]],
      spatialIndexes: [{ path: "/location/*", types: ["Point", "Polygon"] }],
    };
    const { resource } = await at.db.containers.create({ id: "rules", partitionKey: { ...key }, indexingPolicy });
    const kept = resource.indexingPolicy;
    assert.deepEqual(kept.includedPaths, indexingPolicy.includedPaths);
    assert.ok(kept.excludedPaths.some((p) => p.path === "/*"));
    assert.deepEqual(kept.compositeIndexes, indexingPolicy.compositeIndexes);
    assert.equal(kept.spatialIndexes[0].path, "/location/*");
  });

  it("A21: an included path / is everything, as older clients say it", async () => {
    const { container, resource } = await at.db.containers.create({ id: "slash", partitionKey: { ...key },
      indexingPolicy: { includedPaths: [{ path: "/" }], excludedPaths: [{ path: "/secret/?" }] } });
    assert.deepEqual(resource.indexingPolicy.includedPaths, [{ path: "/" }]);
    await container.items.create({ id: "1", pk: "a", n: 5 });
    const { resources, indexMetrics } = await container.items.query("SELECT VALUE c.id FROM c WHERE c.n = 5",
      { partitionKey: "a", populateIndexMetrics: true }).fetchAll();
    assert.deepEqual(resources, ["1"]);
    assert.match(String(indexMetrics), /\/n\/\?/);
  });

  it("kinds of indexes on a path, which mean nothing any more, are told to old clients only", async () => {
    const indexingPolicy = { includedPaths: [{ path: "/*", indexes: [{ kind: "Range", dataType: "String", precision: -1 }] }] };
    for (const [version, kept] of [["2018-08-31", indexingPolicy.includedPaths[0]], ["2020-07-15", { path: "/*" }]]) {
      const made = answers(await at.rest("POST", path, { version, body: { id: `kinds${version}`, partitionKey: key, indexingPolicy } }), 201);
      assert.deepEqual(made.body.indexingPolicy.includedPaths, [kept]);
    }
    const container = at.db.container("kinds2018-08-31");
    const { resource } = await container.read();
    assert.deepEqual((await container.replace(resource)).resource.indexingPolicy.includedPaths, [{ path: "/*" }]);
  });

  it("A21: bad index rules are refused", async () => {
    const policies = [
      { indexingMode: "sometimes" },
      { includedPaths: [{ path: "department/?" }], excludedPaths: [{ path: "/*" }] },
      { includedPaths: [{ path: "/department" }], excludedPaths: [{ path: "/*" }] },
      { includedPaths: [{ path: "/a/?" }] },                                       // where is /*?
      { includedPaths: [{ path: "/*" }], excludedPaths: [{ path: "/*" }] },        // which one?
      { includedPaths: [{}] },
      { includedPaths: [{ path: "/*" }], compositeIndexes: [[{ path: "/a", order: "up" }, { path: "/b" }]] },
      "everything",
    ];
    for (const indexingPolicy of policies) {
      answers(await create({ id: "bad", partitionKey: key, indexingPolicy }), 400);
    }
  });

  it("time to live: on, off, and bad values", async () => {
    for (const defaultTtl of [-1, 1, 3600, 2147483647]) {
      const { resource } = await at.db.containers.create({ id: `ttl${defaultTtl}`, partitionKey: { ...key }, defaultTtl });
      assert.equal(resource.defaultTtl, defaultTtl);
    }
    for (const defaultTtl of [null, 0, -2, 1.5, "60", 2147483648]) {
      answers(await create({ id: "bad", partitionKey: key, defaultTtl }), 400, { message: /ttl/i });
    }
  });

  it("unique keys are kept, and bad ones refused", async () => {
    const uniqueKeyPolicy = { uniqueKeys: [{ paths: ["/email"] }, { paths: ["/first", "/name/last"] }] };
    const { resource } = await at.db.containers.create({ id: "unique", partitionKey: { ...key }, uniqueKeyPolicy });
    assert.deepEqual(resource.uniqueKeyPolicy, uniqueKeyPolicy);
    for (const bad of [{ uniqueKeys: [{ paths: [] }] }, { uniqueKeys: [{ paths: ["email"] }] },
      { uniqueKeys: [{ paths: ["/tags/[]"] }] }, { uniqueKeys: [{}] }, { uniqueKeys: "email" }]) {
      answers(await create({ id: "bad", partitionKey: key, uniqueKeyPolicy: bad }), 400);
    }
  });

  it("conflict, computed, vector and full-text policies are validated, kept and returned", async () => {
    const policies = {
      conflictResolutionPolicy: { mode: "LastWriterWins", conflictResolutionPath: "/rank", conflictResolutionProcedure: "" },
      computedProperties: [{ name: "lowerName", query: "SELECT VALUE LOWER(c.name) FROM c" }],
      vectorEmbeddingPolicy: {
        vectorEmbeddings: [{ path: "/vector", dataType: "float32", dimensions: 8, distanceFunction: "cosine" }],
      },
      fullTextPolicy: { defaultLanguage: "en-US", fullTextPaths: [{ path: "/text", language: "1033" }] },
    };
    const indexingPolicy = {
      indexingMode: "consistent", automatic: true,
      includedPaths: [{ path: "/*" }], excludedPaths: [{ path: '/"_etag"/?' }, { path: "/vector/*" }],
      vectorIndexes: [{ path: "/vector", type: "flat" }],
      fullTextIndexes: [{ path: "/text" }],
    };
    const answer = answers(await create({ id: "policies", partitionKey: key, indexingPolicy, ...policies }), 201);
    const { body } = answers(await at.rest("GET", `${path}/policies`), 200);
    assert.deepEqual(body, answer.body);
    for (const [name, policy] of Object.entries(policies)) assert.deepEqual(body[name], policy, name);
    assert.equal(body.indexingPolicy.vectorIndexes[0].path, "/vector");
    assert.deepEqual(body.indexingPolicy.fullTextIndexes, indexingPolicy.fullTextIndexes);

    const vector = policies.vectorEmbeddingPolicy.vectorEmbeddings[0];
    for (const bad of [
      { conflictResolutionPolicy: { mode: "LoudestWins" } },
      { computedProperties: [{ name: "x" }] },
      { computedProperties: [{ query: "SELECT VALUE 1 FROM c" }] },
      { vectorEmbeddingPolicy: { vectorEmbeddings: [{ ...vector, distanceFunction: "taxi" }] } },
      { vectorEmbeddingPolicy: { vectorEmbeddings: [{ ...vector, dimensions: 0 }] } },
      { vectorEmbeddingPolicy: { vectorEmbeddings: [{ ...vector, dataType: "text" }] } },
      { vectorEmbeddingPolicy: { vectorEmbeddings: [{ ...vector, path: "vector" }] } },
      { fullTextPolicy: { defaultLanguage: "en-US", fullTextPaths: [{ path: "text" }] } },
    ]) {
      answers(await create({ id: "bad", partitionKey: key, ...bad }), 400);
    }
  });

  it("names: empty, too long, forbidden characters and wrong types are refused", async () => {
    for (const id of [undefined, "", 5, null, "a/b", "a\\b", "a#b", "a?b", "ends with a space ", "x".repeat(256)]) {
      answers(await create({ id, partitionKey: key }), 400);
    }
    answers(await at.rest("POST", "/dbs/nowhere/colls", { body: { id: "c", partitionKey: key } }), 404);
  });

  it("A20: the partition key cannot be changed; no replace adds or drops it", async () => {
    const container = await at.container();
    const { resource } = await container.read();
    for (const partitionKey of [{ ...key, paths: ["/other"] }, { ...key, version: 1 },
      { paths: ["/pk", "/other"], kind: "MultiHash", version: 2 }]) {
      await fails(container.replace({ ...resource, partitionKey }), 400, { message: /partition key/i });
    }
    const { partitionKey, ...without } = resource;
    answers(await at.rest("PUT", `${path}/${container.id}`, { body: without }), 400);
    assert.deepEqual((await container.read()).resource.partitionKey, key);
  });

  it("replacing changes index rules and time to live, and nothing that may not", async () => {
    const container = await at.container({ uniqueKeyPolicy: { uniqueKeys: [{ paths: ["/email"] }] } });
    await container.items.create({ id: "1", pk: "a", email: "x" });
    const { resource } = await container.read();
    const indexingPolicy = { ...resource.indexingPolicy, excludedPaths: [{ path: "/secret/*" }] };
    const replaced = await container.replace({ ...resource, defaultTtl: 60, indexingPolicy });
    assert.equal(replaced.statusCode, 200);
    assert.equal(replaced.resource.defaultTtl, 60);
    assert.ok(replaced.resource.indexingPolicy.excludedPaths.some((p) => p.path === "/secret/*"));
    assert.equal(replaced.resource._rid, resource._rid);
    assert.notEqual(replaced.resource._etag, resource._etag);
    assert.equal((await container.item("1", "a").read()).statusCode, 200);

    const { defaultTtl, ...off } = replaced.resource;
    assert.equal((await container.replace(off)).resource.defaultTtl, undefined);
    await fails(container.replace({ ...off, uniqueKeyPolicy: { uniqueKeys: [{ paths: ["/name"] }] } }), 400);
    await fails(container.replace({ ...off, defaultTtl: 0 }), 400);
    answers(await at.rest("PUT", `${path}/${container.id}`, { body: { ...off, id: "renamed" } }), 400);
    await fails(at.db.container("nothing").replace({ ...off, id: "nothing" }), 404);
  });

  it("replacing with If-Match needs the etag", async () => {
    const container = await at.container();
    const { resource } = await container.read();
    const put = (etag) => at.rest("PUT", `${path}/${container.id}`,
      { body: { ...resource, defaultTtl: 60 }, headers: { "if-match": etag } });
    answers(await put('"nothing"'), 412);
    answers(await put(resource._etag), 200);
    answers(await put(resource._etag), 412);
  });

  it("the list has every container, in pages when asked", async () => {
    const { database } = await at.client.databases.create({ id: "listing" });
    const names = Array.from({ length: 7 }, (_, i) => `c${i}`);
    for (const id of names) await database.containers.create({ id, partitionKey: "/pk" });
    const { resources } = await database.containers.readAll().fetchAll();
    assert.deepEqual(resources.map((r) => r.id).sort(), names);
    const { items, pages } = await readFeed(at.rest, "/dbs/listing/colls", "DocumentCollections",
      { headers: { "x-ms-max-item-count": "3" } });
    assert.deepEqual(items.map((r) => r.id).sort(), names);
    assert.equal(pages, 3);
  });

  it("by RID: the container, its items, its ranges", async () => {
    const container = await at.container();
    const { resource } = await container.read();
    const self = `/${resource._self.replace(/\/$/, "")}`;
    assert.equal(answers(await at.rest("GET", self, { rid: true }), 200).body.id, container.id);
    answers(await at.rest("GET", `${self}/pkranges`, { rid: true }), 200);
    answers(await at.rest("GET", `${self}/docs`, { rid: true }), 200);
  });

  it("A38: what each range holds, and its largest keys, when asked for", async () => {
    const container = await at.container({ throughput: 20_000 });
    for (let i = 0; i < 4; ++i) await container.items.create({ id: `${i}`, pk: `key ${i}`, pad: "x".repeat(10_000 * (i + 1)) });
    const read = async (headers) => answers(await at.rest("GET", `${path}/${container.id}`, { headers }), 200).body.statistics;
    assert.equal(await read({}), undefined);
    const statistics = await read({ "x-ms-documentdb-populatepartitionstatistics": "True" });
    const { resources: ranges } = await container.readPartitionKeyRanges().fetchAll();
    assert.deepEqual(statistics.map((one) => one.id), ranges.map((one) => one.id));
    assert.equal(statistics.reduce((sum, one) => sum + one.documentCount, 0), 4);
    const keys = statistics.flatMap((one) => one.partitionKeys);
    assert.deepEqual(keys.map((one) => one.partitionKey).sort(), [0, 1, 2, 3].map((i) => [`key ${i}`]));
    assert.ok(keys.every((one) => one.sizeInKB >= 9), JSON.stringify(keys));
  });

  it("A38: how much a container holds, when asked for, growing and shrinking", async () => {
    const container = await at.container();
    const quota = async () => {
      const { headers } = await container.read({ populateQuotaInfo: true });
      const part = (text, name) => Number(new RegExp(`${name}=(-?\\d+)`).exec(text)[1]);
      assert.equal(part(headers["x-ms-resource-quota"], "collectionSize"), 250 * 1024 * 1024);
      assert.equal(headers["x-ms-documentdb-collection-index-transformation-progress"], "100");
      const usage = headers["x-ms-resource-usage"];
      return { kb: part(usage, "collectionSize"), items: part(usage, "documentsCount") };
    };
    assert.deepEqual(await quota(), { kb: 0, items: 0 });
    for (let i = 0; i < 5; ++i) await container.items.create({ id: `${i}`, pk: "a", pad: "x".repeat(10_000) });
    const full = await quota();
    assert.equal(full.items, 5);
    assert.ok(full.kb >= 48 && full.kb <= 55, `${full.kb}`);
    for (let i = 0; i < 5; ++i) await container.item(`${i}`, "a").delete();
    assert.deepEqual(await quota(), { kb: 0, items: 0 });
    assert.equal((await container.read()).headers["x-ms-resource-usage"], undefined);
  });

  it("a deleted container is gone with its items; its name starts afresh", async () => {
    const container = await at.container();
    await container.items.create({ id: "1", pk: "a" });
    const { resource } = await container.read();
    assert.equal((await container.delete()).statusCode, 204);
    await fails(container.read(), 404);
    await fails(container.delete(), 404);
    await fails(container.items.create({ id: "2", pk: "a" }), 404);
    await at.db.containers.create({ id: container.id, partitionKey: { ...key } });
    assert.notEqual((await container.read()).resource._rid, resource._rid);
    assert.equal((await container.item("1", "a").read()).statusCode, 404);
    answers(await at.rest("GET", `/${resource._self.replace(/\/$/, "")}`, { rid: true }), 404);
  });

  it("createIfNotExists creates once", async () => {
    const definition = () => ({ id: "once", partitionKey: { ...key } });
    assert.equal((await at.db.containers.createIfNotExists(definition())).statusCode, 201);
    assert.equal((await at.db.containers.createIfNotExists(definition())).statusCode, 200);
  });
});

describe("containers with quotas", () => {
  const at = shared({
    limits: { "database-containers": 2, "container-bytes": 100_000, "partitioned-throughput-min": 1000 },
  });

  it("A33: one container too many is refused, naming the limit", async () => {
    const { database } = await at.client.databases.create({ id: "few" });
    for (const id of ["a", "b"]) await database.containers.create({ id, partitionKey: "/pk", throughput: 1000 });
    await fails(database.containers.create({ id: "c", partitionKey: "/pk", throughput: 1000 }), 403, { message: /\b2\b/ });
  });

  it("A17: the least throughput of a container with a key is a setting", async () => {
    await fails(at.db.containers.create({ id: "low", partitionKey: "/pk", throughput: 900 }), 400,
      { message: /1000|1,000/ });
    assert.equal((await at.db.containers.create({ id: "low", partitionKey: "/pk", throughput: 1000 })).statusCode, 201);
  });

  it("A17 A33: a full container refuses writes, naming the limit, and loses nothing", async () => {
    const { container } = await at.db.containers.createIfNotExists(
      { id: "full", partitionKey: { ...key }, throughput: 1000 });
    const pad = "x".repeat(5000);
    let written = 0;
    for (; written < 60; ++written) {
      try {
        await container.items.create({ id: String(written), pk: String(written), pad });
      } catch (error) {
        assert.equal(error.code, 403, error.message);
        assert.match(error.message, /100000|100,000/);
        break;
      }
    }
    assert.ok(written >= 10 && written < 60, `${written} items of 5 KB fit in 100 KB`);
    for (let i = 0; i < written; ++i) {
      assert.equal((await container.item(String(i), String(i)).read()).statusCode, 200);
    }
  });
});
