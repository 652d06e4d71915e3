// Commands about databases, collections, indexes, shard keys and the server, through MongoDB's driver.
// Two servers, some seconds.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { eventually } from "./expect.mjs";
import { Decimal128, errorOf, Long, MaxKey, MinKey, MongoClient, mongoUri, ObjectId, sharedMongo } from "./mongo.mjs";

// The stages of a plan, the outermost first.
const stagesOf = (plan) => (plan ? [plan.stage, ...stagesOf(plan.inputStage)] : []);

describe("commands of MongoDB's driver", () => {
  const at = sharedMongo();

  it("databases and collections are listed, made and dropped", async () => {
    const db = at.client.db("made");
    await db.createCollection("a");
    assert.equal((await errorOf(db.createCollection("a"))).code, 48);
    await db.collection("b").insertOne({ _id: 1 });
    assert.deepEqual((await db.listCollections().toArray()).map((one) => [one.name, one.type]), [["a", "collection"], ["b", "collection"]]);
    assert.deepEqual((await db.listCollections({ name: "b" }, { nameOnly: true }).toArray()).map((one) => one.name), ["b"]);
    const listed = (await db.admin().listDatabases()).databases.find((one) => one.name === "made");
    assert.equal(listed.empty, false);
    assert.equal((await db.stats()).objects, 1);
    assert.equal((await db.command({ collStats: "b" })).count, 1);
    assert.equal(await db.collection("a").drop(), true);
    assert.deepEqual((await db.listCollections().toArray()).map((one) => one.name), ["b"]);
    await db.dropDatabase();
    assert.deepEqual(await db.listCollections().toArray(), []);
    assert.equal((await errorOf(at.client.db("a$b").collection("c").insertOne({}))).code, 73);
  });

  it("indexes are kept as they were asked for", async () => {
    const collection = at.collection();
    assert.equal(await collection.createIndex({ a: 1, b: -1 }), "a_1_b_-1");
    await collection.createIndex({ c: "hashed" }, { name: "mine" });
    assert.deepEqual((await collection.indexes()).map((one) => [one.name, one.key]), [
      ["_id_", { _id: 1 }],
      ["a_1_b_-1", { a: 1, b: -1 }],
      ["mine", { c: "hashed" }],
    ]);
    await collection.createIndex({ a: 1, b: -1 });
    assert.equal((await errorOf(collection.createIndex({ z: 1 }, { name: "mine" }))).code, 86);
    assert.equal((await errorOf(collection.createIndex({ c: "hashed" }, { name: "other" }))).code, 85);
    await collection.dropIndex("mine");
    assert.equal((await errorOf(collection.dropIndex("mine"))).code, 27);
    assert.equal((await errorOf(collection.dropIndex("_id_"))).code, 72);
    assert.equal((await errorOf(at.collection().indexes())).code, 26);
    assert.equal((await errorOf(collection.createIndex({ t: "text" }))).code, 238);
    // What a partial index cannot be of.
    for (const partialFilterExpression of [{ a: { $ne: 1 } }, { a: { $exists: false } }, { $nor: [{ a: 1 }] }, { a: /x/ }]) {
      assert.equal((await errorOf(collection.createIndex({ z: 1 }, { partialFilterExpression }))).code, 67, JSON.stringify(partialFilterExpression));
    }
    assert.equal((await errorOf(collection.createIndex({ z: 1 }, { sparse: true, partialFilterExpression: { a: 1 } }))).code, 67);
  });

  it("a unique index of a collection without documents is enforced", async () => {
    const collection = at.collection();
    await collection.createIndex({ mail: 1 }, { unique: true });
    await collection.insertOne({ _id: 1, mail: "a" });
    const error = await errorOf(collection.insertOne({ _id: 2, mail: "a" }));
    assert.equal(error.code, 11000);
    assert.match(error.message, /index: mail_1 dup key: \{ mail: "a" \}$/);
    assert.deepEqual(error.errorResponse.keyPattern, { mail: 1 });
    await collection.insertOne({ _id: 2, mail: "b" });
    assert.equal((await errorOf(collection.updateOne({ _id: 2 }, { $set: { mail: "a" } }))).code, 11000);
  });

  it("documents expire by the date of a TTL index, whichever field has it", async () => {
    const collection = at.collection();
    await collection.createIndex({ "meta.seen": 1 }, { expireAfterSeconds: 60 });
    const ago = (seconds) => new Date(Date.now() - seconds * 1000);
    await collection.insertMany([
      { _id: 1, meta: { seen: ago(3600) } },
      { _id: 2, meta: { seen: ago(-3600) } },
      { _id: 3 },
      { _id: 4, meta: { seen: "no date" } },
      { _id: 5, meta: { seen: [ago(-3600), ago(3600)] } },
    ]);
    const ids = async () => (await collection.find().sort({ _id: 1 }).toArray()).map((one) => one._id);
    assert.deepEqual(await ids(), [2, 3, 4]);
    assert.equal(await collection.findOne({ _id: 1 }), null);
    await collection.updateOne({ _id: 2 }, { $set: { "meta.seen": ago(3600) } });
    assert.deepEqual(await ids(), [3, 4]);
    await collection.insertOne({ _id: 1, meta: { seen: ago(0) } });
    assert.deepEqual(await ids(), [1, 3, 4]);
    assert.equal((await errorOf(collection.createIndex({ other: 1 }, { expireAfterSeconds: 60 }))).code, 238);
    assert.equal((await errorOf(at.collection().createIndex({ a: 1, b: 1 }, { expireAfterSeconds: 60 }))).code, 67);
  });

  it("B1: shardCollection answers as the vendor does; documents are placed by their shard key", async () => {
    const db = at.client.db("sharded");
    assert.equal((await at.client.db("admin").command({ enableSharding: "sharded" })).ok, 1);
    const answer = await at.client.db("admin").command({ shardCollection: "sharded.places", key: { region: "hashed" } });
    assert.equal(answer._t, "ShardCollectionResponse");
    assert.equal(answer.collectionsharded, "sharded.places");
    const places = db.collection("places");
    await places.insertMany([{ _id: 1, region: "eu" }, { _id: 2, region: "us" }, { _id: 1, region: "us" }]);
    assert.equal(await places.countDocuments(), 3);
    assert.deepEqual(await places.find({ region: "us" }).toArray(), [{ _id: 1, region: "us" }, { _id: 2, region: "us" }]);
    assert.deepEqual(await places.findOne({ region: "eu", _id: 1 }), { _id: 1, region: "eu" });
    assert.equal((await errorOf(places.insertOne({ _id: 5 }))).code, 61);
    assert.equal((await errorOf(places.updateOne({ _id: 2, region: "us" }, { $set: { region: "eu" } }))).code, 66);
    assert.equal((await places.updateMany({}, { $set: { seen: true } })).modifiedCount, 3);
    assert.equal((await places.deleteMany({ region: "us" })).deletedCount, 2);
  });

  it("B1: the vendor's extensions: customAction, the charge of the last command", async () => {
    const db = at.client.db("custom");
    await db.command({ customAction: "CreateDatabase" });
    await db.command({ customAction: "CreateCollection", collection: "c", shardKey: "k", offerThroughput: 800 });
    const made = await db.command({ customAction: "GetCollection", collection: "c" });
    assert.equal(made.provisionedThroughput, 800);
    assert.deepEqual(made.shardKeyDefinition, { k: "hashed" });
    await db.command({ customAction: "UpdateCollection", collection: "c", offerThroughput: 1000 });
    assert.equal((await db.command({ customAction: "GetCollection", collection: "c" })).provisionedThroughput, 1000);
    await db.collection("c").insertOne({ _id: 1, k: 1 });
    const last = await db.command({ getLastRequestStatistics: 1 });
    assert.equal(last.CommandName, "insert");
    assert.ok(last.RequestCharge > 0);
    assert.equal((await errorOf(db.command({ customAction: "Dance" }))).code, 238);
    const indexes = [{ key: { _id: 1 }, name: "_id_1" }, { key: { k: 1, mail: 1 }, name: "mail", unique: true }];
    await db.command({ customAction: "CreateCollection", collection: "d", shardKey: "k", indexes });
    const names = async () => (await db.collection("d").indexes()).map((one) => one.name);
    assert.deepEqual(await names(), ["_id_", "mail"]);
    await db.collection("d").insertOne({ _id: 1, k: 1, mail: "a" });
    assert.equal((await errorOf(db.collection("d").insertOne({ _id: 2, k: 1, mail: "a" }))).code, 11000);
    await db.command({ customAction: "CreateCollection", collection: "e", indexes: [{ key: { a: 1 }, name: "a" }] });
    await db.command({ customAction: "UpdateCollection", collection: "e", indexes: [{ key: { b: 1 }, name: "b" }] });
    assert.deepEqual((await db.collection("e").indexes()).map((one) => one.name), ["_id_", "b"]);
  });

  it("explain tells how documents are found", async () => {
    const collection = at.collection();
    await collection.insertMany([{ _id: 1 }, { _id: 2 }, { _id: 3 }]);
    const stages = async (cursor) => stagesOf((await cursor.explain()).queryPlanner.winningPlan);
    assert.deepEqual(await stages(collection.find({ _id: 1 })), ["IDHACK"]);
    assert.deepEqual(await stages(collection.find({ _id: { $gt: 1 } })), ["FETCH", "IXSCAN"]);
    assert.deepEqual(await stages(collection.find({ a: 1 })), ["COLLSCAN"]);
    assert.deepEqual(await stages(collection.find({ a: 1 }).sort({ b: 1 }).skip(1).limit(2)), ["SKIP", "SORT", "COLLSCAN"]);
    assert.deepEqual(await stages(collection.find({}).limit(2).project({ a: 1 })), ["PROJECTION_DEFAULT", "LIMIT", "COLLSCAN"]);
    const { executionStats } = await collection.find({ _id: { $gt: 1 } }).explain("executionStats");
    assert.deepEqual([executionStats.nReturned, executionStats.totalDocsExamined], [2, 3]);
    const limited = (await collection.find({}).limit(2).explain("executionStats")).executionStats;
    assert.deepEqual([limited.nReturned, limited.totalDocsExamined], [2, 2]);
    assert.deepEqual(await stages(at.collection().find({})), ["EOF"]);
  });

  it("the last documents are read from the end", async () => {
    const collection = at.collection();
    await collection.insertMany(Array.from({ length: 3000 }, (_, _id) => ({ _id, half: _id % 2 })));
    const ids = async (cursor) => (await cursor.toArray()).map((one) => one._id);
    const newest = () => collection.find().sort({ _id: -1 }).limit(3);
    assert.deepEqual(await ids(newest()), [2999, 2998, 2997]);
    const { queryPlanner, executionStats } = await newest().explain("executionStats");
    assert.deepEqual(stagesOf(queryPlanner.winningPlan), ["LIMIT", "COLLSCAN"]);
    assert.equal(executionStats.totalDocsExamined, 3);
    const all = Array.from({ length: 3000 }, (_, i) => 2999 - i);
    assert.deepEqual(await ids(collection.find().sort({ _id: -1 }).batchSize(700)), all);
    assert.deepEqual(await ids(collection.find().sort({ $natural: -1 })), all);
    assert.deepEqual(await ids(collection.find({ _id: { $gt: 10, $lte: 15 } }).sort({ _id: -1 })), [15, 14, 13, 12, 11]);
    assert.deepEqual(await ids(collection.find({ _id: { $in: [3, 9, 5] } }).sort({ _id: -1 })), [9, 5, 3]);
    assert.deepEqual(await ids(collection.find({ half: 1 }).sort({ _id: -1 }).skip(1).limit(2)), [2997, 2995]);
    await at.client.db("admin").command({ shardCollection: "test.ends", key: { k: "hashed" } });
    const ends = at.db.collection("ends");
    await ends.insertMany(Array.from({ length: 60 }, (_, _id) => ({ _id, k: _id % 3 })));
    assert.deepEqual(await ids(ends.find({ k: 1 }).sort({ _id: -1 }).limit(2)), [58, 55]);
    assert.deepEqual(await ids(ends.find().sort({ _id: -1 }).limit(2)), [59, 58]);
  });

  it("collStats and dbStats tell the size of indexes", async () => {
    const db = at.client.db("sizes");
    await db.collection("c").insertMany(Array.from({ length: 1000 }, (_, _id) => ({ _id, a: `value ${_id}` })));
    assert.equal((await db.command({ collStats: "c" })).totalIndexSize, 0);
    await db.collection("c").createIndex({ a: 1 });
    await eventually(async () => (await db.command({ collStats: "c" })).totalIndexSize > 10_000);
    const { indexSizes, totalIndexSize } = await db.command({ collStats: "c" });
    assert.deepEqual([indexSizes._id_, indexSizes.a_1], [0, totalIndexSize]);
    assert.ok((await db.stats()).indexSize > 10_000);
  });

  it("explain of an aggregate tells the index that its $match uses", async () => {
    const collection = at.collection();
    await collection.insertMany(Array.from({ length: 3000 }, (_, _id) => ({ _id, n: _id })));
    await collection.createIndex({ n: 1 });
    const pipeline = [{ $match: { n: { $gte: 100, $lt: 110 } } }, { $group: { _id: null, all: { $sum: "$n" } } }];
    const planOf = async (verbosity) => collection.aggregate(pipeline).explain(verbosity);
    await eventually(async () => stagesOf((await planOf("queryPlanner")).queryPlanner.winningPlan).at(-1) === "IXSCAN");
    const { queryPlanner, executionStats } = await planOf("executionStats");
    assert.equal(queryPlanner.winningPlan.inputStage.indexName, "n_1");
    assert.deepEqual([executionStats.nReturned, executionStats.totalDocsExamined, executionStats.totalKeysExamined], [1, 10, 10]);
  });

  it("hints name the index that is used; one that is not there is refused", async () => {
    const collection = at.collection();
    await collection.insertMany(Array.from({ length: 2000 }, (_, _id) => ({ _id, a: _id % 2, b: _id % 500, ...(_id < 3 ? { s: _id } : {}) })));
    await collection.createIndexes([{ key: { a: 1 } }, { key: { b: 1 }, name: "by_b" }, { key: { s: 1 }, sparse: true }]);
    const planOf = async (hint) => (await collection.find({ a: 1, b: 3 }).hint(hint).explain()).queryPlanner.winningPlan;
    await eventually(async () => (await planOf("by_b")).inputStage?.indexName === "by_b");
    assert.equal((await planOf({ a: 1 })).inputStage.indexName, "a_1");
    assert.equal((await planOf("_id_")).inputStage.indexName, "_id_");
    assert.equal((await planOf({ $natural: 1 })).stage, "COLLSCAN");
    for (const hint of ["by_b", { a: 1 }, "_id_", { $natural: 1 }]) assert.equal((await collection.find({ a: 1, b: 3 }, { hint }).toArray()).length, 4, JSON.stringify(hint));
    // A sparse index does not have the documents without its field.
    assert.equal(await collection.countDocuments({}, { hint: "s_1" }), 3);
    // Nor does a partial one have those that its filter does not match, whatever the query's filter and collation are.
    await collection.createIndex({ b: 1, a: 1 }, { name: "some", partialFilterExpression: { a: 1, b: { $gte: 490 } } });
    const some = (filter) => collection.find(filter, { hint: "some", projection: { _id: 0, b: 1 } }).sort({ b: 1 }).toArray();
    const ofOdd = [491, 493, 495, 497, 499].flatMap((b) => Array.from({ length: 4 }, () => ({ b })));
    assert.deepEqual(await some({}), ofOdd);
    assert.deepEqual(await some({ b: { $gte: 3 } }), ofOdd);
    assert.deepEqual(await some({ a: 0 }), []);
    assert.deepEqual(await some({ _id: { $in: [3, 499] } }), [{ b: 499 }]);
    assert.equal(await collection.countDocuments({}, { hint: { b: 1, a: 1 } }), 20);
    assert.deepEqual(await collection.aggregate([{ $match: { b: { $lt: 492 } } }, { $count: "n" }], { hint: "some" }).toArray(), [{ n: 4 }]);
    assert.equal((await collection.updateMany({ b: { $in: [3, 491] } }, { $set: { found: 1 } }, { hint: "some" })).modifiedCount, 4);
    const words = at.collection();
    await words.insertMany([{ _id: 1, w: "open" }, { _id: 2, w: "OPEN" }, { _id: 3 }]);
    await words.createIndex({ w: 1 }, { partialFilterExpression: { w: "open" } });
    const loosely = { hint: "w_1", collation: { locale: "en", strength: 1 } };
    assert.deepEqual(await words.find({ w: "OPEN" }, loosely).toArray(), [{ _id: 1, w: "open" }]);
    assert.equal((await words.deleteMany({}, { hint: "w_1" })).deletedCount, 1);
    const unknown = [
      () => collection.find({}).hint("none").toArray(),
      () => collection.find({ _id: 1 }).hint({ z: 1 }).toArray(),
      () => collection.aggregate([{ $match: { a: 1 } }], { hint: "none" }).toArray(),
      () => collection.updateOne({ _id: 1 }, { $set: { a: 9 } }, { hint: "none" }),
      () => collection.deleteMany({ a: 1 }, { hint: { z: 1 } }),
      () => collection.findOneAndUpdate({ _id: 1 }, { $set: { a: 9 } }, { hint: "none" }),
      () => at.db.command({ count: collection.collectionName, query: {}, hint: "none" }),
    ];
    for (const run of unknown) assert.equal((await errorOf(run())).code, 2, String(run));
    assert.equal(await collection.countDocuments({ a: 9 }), 0);
    assert.equal((await errorOf(at.db.command({ find: collection.collectionName, hint: 5 }))).code, 9);
  });

  it("a malformed statement fails its command before any statement is done", async () => {
    const collection = at.collection();
    await collection.insertMany([{ _id: 1 }, { _id: 2 }]);
    const name = collection.collectionName;
    assert.equal((await errorOf(at.db.command({ update: name, updates: [{ q: { _id: 1 }, u: { $set: { a: 1 } } }, { q: 5, u: {} }] }))).code, 14);
    assert.equal((await errorOf(at.db.command({ delete: name, deletes: [{ q: { _id: 1 }, limit: 1 }, { q: {}, limit: 7 }] }))).code, 9);
    assert.deepEqual(await collection.find().toArray(), [{ _id: 1 }, { _id: 2 }]);
  });

  it("indexes are used, and find what a scan finds", async () => {
    const plain = at.collection();
    const indexed = at.collection();
    const values = [
      null, undefined, 0, 1, 1.5, -3, NaN, Long.fromString("9007199254740993"), Decimal128.fromString("1.5"), "a", "abc", "b".repeat(1500), "b".repeat(1501),
      [1, 2], ["a", [1]], [], [{ x: 1 }, { x: 7 }], { x: 1 }, { x: [2, 3] }, {}, true, false, new Date(5), new ObjectId(), /re/, new MinKey(), new MaxKey(),
    ];
    const documents = Array.from({ length: 3000 }, (_, _id) => ({ _id, ...(values[_id % 100] === undefined ? {} : { a: values[_id % 100] }), n: _id }));
    for (const collection of [plain, indexed]) await collection.insertMany(documents);
    // Made over documents that are there: they are given its terms in the background.
    await indexed.createIndexes([{ key: { a: 1 } }, { key: { n: 1, a: 1 } }, { key: { "a.x": 1 } }]);
    const planOf = async (filter) => (await indexed.find(filter).explain()).queryPlanner.winningPlan;
    await eventually(async () => stagesOf(await planOf({ n: 17 })).at(-1) === "IXSCAN");
    assert.equal((await planOf({ n: 17 })).inputStage.indexName, "n_1_a_1");
    const stats = (await indexed.find({ n: { $gte: 100, $lt: 110 } }).explain("executionStats")).executionStats;
    assert.deepEqual([stats.nReturned, stats.totalDocsExamined, stats.totalKeysExamined], [10, 10, 10]);
    for (const filter of [
      ...values.filter((one) => one !== undefined).map((a) => ({ a })),
      ...[1, 1.5, "a", [1, 2], true, new Date(5)].flatMap((v) => ["$gt", "$gte", "$lt", "$lte", "$ne"].map((op) => ({ a: { [op]: v } }))),
      { a: { $in: [1, "abc", { x: 1 }] } }, { a: { $gt: 0, $lt: 2 } }, { a: { $elemMatch: { $gt: 1 } } }, { "a.x": 1 }, { "a.x": { $gt: 1, $lt: 3 } },
      { "a.x": { $gt: 2, $lt: 5 } }, { a: /^ab/ }, { a: { $exists: true } }, { a: { $type: "number" } }, { $or: [{ a: 1 }, { n: 5 }] }, { n: { $lt: 50 }, a: "a" },
      { a: { $not: { $gt: 1 } } }, { a: { $size: 2 } }, { a: { $all: [1, 2] } }, { n: { $mod: [500, 1] } },
    ]) {
      const ids = async (collection) => (await collection.find(filter).project({ _id: 1 }).sort({ _id: 1 }).toArray()).map((one) => one._id);
      assert.deepEqual(await ids(indexed), await ids(plain), JSON.stringify(filter));
    }
    assert.equal((await indexed.updateMany({ n: { $lt: 10 } }, { $set: { n: 100_000 } })).modifiedCount, 10);
    assert.equal(await indexed.countDocuments({ n: 100_000 }), 10);
    assert.equal((await indexed.deleteMany({ n: 100_000 })).deletedCount, 10);
    assert.equal(await indexed.countDocuments({ n: 100_000 }), 0);
  });

  it("what tools ask of the server", async () => {
    const admin = at.client.db("admin");
    for (const command of [
      { hostInfo: 1 }, { serverStatus: 1 }, { whatsmyuri: 1 }, { getLog: "startupWarnings" }, { currentOp: 1 }, { listCommands: 1 },
      { getParameter: 1, featureCompatibilityVersion: 1 }, { getCmdLineOpts: 1 }, { usersInfo: 1 }, { startSession: 1 },
      { refreshSessions: [] }, { killSessions: [] },
    ]) {
      assert.equal((await admin.command(command)).ok, 1, JSON.stringify(command));
    }
  });

  it("parameters are told as they are, and set where that means something", async () => {
    const admin = at.client.db("admin");
    const all = await admin.command({ getParameter: "*" });
    assert.equal(all.enableTestCommands, true);
    assert.deepEqual(all.authenticationMechanisms, ["SCRAM-SHA-1", "SCRAM-SHA-256"]);
    const set = await admin.command({ setParameter: 1, transactionLifetimeLimitSeconds: 30 });
    assert.equal(set.was, 60);
    assert.equal((await admin.command({ getParameter: 1, transactionLifetimeLimitSeconds: 1 })).transactionLifetimeLimitSeconds, 30);
    const details = await admin.command({ getParameter: { showDetails: true }, transactionLifetimeLimitSeconds: 1 });
    assert.deepEqual(details.transactionLifetimeLimitSeconds, { value: 30, settableAtRuntime: true, settableAtStartup: false });
    await admin.command({ setParameter: 1, transactionLifetimeLimitSeconds: 60 });
    for (const [command, code] of [
      [{ setParameter: 1, featureCompatibilityVersion: "8.0" }, 20],
      [{ setParameter: 1, whatever: 1 }, 72],
      [{ setParameter: 1 }, 72],
      [{ setParameter: 1, cursorTimeoutMillis: 0 }, 2],
      [{ setParameter: 1, cursorTimeoutMillis: "soon" }, 2],
      [{ getParameter: 1, whatever: 1 }, 72],
    ]) {
      assert.equal((await errorOf(admin.command(command))).code, code, JSON.stringify(command));
    }
  });

  it("a cursor that nobody asks for is closed after cursorTimeoutMillis", async () => {
    const collection = at.collection();
    await collection.insertMany(Array.from({ length: 10 }, (_, i) => ({ _id: i })));
    const admin = at.client.db("admin");
    const cursor = collection.find({}, { batchSize: 2 });
    assert.equal((await cursor.next())._id, 0);
    await admin.command({ setParameter: 1, cursorTimeoutMillis: 1 });
    try {
      // Idle cursors are looked for when another is opened, each second at most: that one is left.
      for (let tries = 0; ; ++tries) {
        await collection.find({}, { batchSize: 2 }).next();
        const { metrics } = await admin.command({ serverStatus: 1 });
        if (metrics.cursor.open.total === 1) break;
        assert.ok(tries < 600, "the cursor is still open");
        await new Promise((done) => setTimeout(done, 100));
      }
      assert.equal((await errorOf(cursor.toArray())).code, 43);
    } finally {
      await admin.command({ setParameter: 1, cursorTimeoutMillis: 600_000 });
    }
  });

  it("serverStatus counts connections and time; usersInfo answers what it was asked", async () => {
    const admin = at.client.db("admin");
    const before = (await admin.command({ serverStatus: 1 })).connections;
    const other = new MongoClient(mongoUri(at.server), { maxPoolSize: 1, minPoolSize: 0 });
    await other.db("admin").command({ ping: 1 });
    const during = (await admin.command({ serverStatus: 1 })).connections;
    assert.ok(during.totalCreated > before.totalCreated);
    assert.ok(during.current >= 2 && during.current <= during.totalCreated, JSON.stringify(during));
    await other.close();
    await eventually(async () => (await admin.command({ serverStatus: 1 })).connections.current < during.current);
    const status = await admin.command({ serverStatus: 1 });
    assert.ok(status.uptime >= 0 && status.uptime < 3600, `${status.uptime} s`);
    const [{ user }] = (await admin.command({ usersInfo: 1 })).users;
    const count = async (usersInfo, database = "admin") => (await at.client.db(database).command({ usersInfo })).users.length;
    assert.deepEqual([await count(user), await count({ user, db: "admin" }), await count(["nobody", user]), await count({ forAllDBs: true }, "test")], [1, 1, 1, 1]);
    assert.deepEqual([await count("nobody"), await count({ user, db: "test" }), await count([]), await count(1, "test")], [0, 0, 0, 0]);
  });

  it("what is not implemented says so, with its name", async () => {
    for (const [command, name] of [
      [{ renameCollection: "a.b", to: "c.b" }, /renameCollection/],
      [{ create: "view", viewOn: "x", pipeline: [] }, /viewOn/],
      [{ create: "capped", capped: true, size: 1000 }, /capped/],
    ]) {
      const error = await errorOf(at.db.command(command));
      assert.equal(error.code, 238, JSON.stringify(command));
      assert.match(error.message, name);
    }
  });
});

describe("throughput of a collection", () => {
  const at = sharedMongo({ args: ["--throttling", "on"] });

  it("over budget a command waits, and then answers 16500 with the time to retry after", async () => {
    const collection = at.collection();
    // Each costs the throughput of many seconds: one is done, and leaves nothing to the others.
    const pad = "x".repeat(4_000_000);
    const attempts = await Promise.allSettled(Array.from({ length: 5 }, (_, _id) => collection.insertOne({ _id, pad })));
    const refused = attempts.filter((one) => one.status === "rejected").map((one) => one.reason);
    assert.ok(refused.length > 0 && refused.length < 5, `${refused.length} of 5 were refused`);
    for (const error of refused) {
      assert.equal(error.code, 16500);
      assert.match(error.message, /RetryAfterMs=\d+/);
    }
  });
});
