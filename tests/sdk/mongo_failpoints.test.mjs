// Failures on purpose (configureFailPoint, with --dev), and what drivers make of them; and answers that MongoDB's own driver suite
// asked for.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { errorOf, MongoClient, mongoUri, runByHand, sharedMongo } from "./mongo.mjs";

describe("MongoDB: fail points", () => {
  const at = sharedMongo();
  const configure = (command) => at.client.db("admin").command(command);
  const fail = (data, mode = { times: 1 }, name = "failCommand") => configure({ configureFailPoint: name, mode, data });
  const plainClient = async (options = {}) => MongoClient.connect(mongoUri(at.server), { retryReads: false, retryWrites: false, ...options });

  it("closeConnection closes the connection, and the driver retries", async () => {
    const collection = at.collection();
    const client = await plainClient();
    const same = client.db("test").collection(collection.collectionName);
    await fail({ failCommands: ["insert"], closeConnection: true });
    const error = await errorOf(same.insertOne({ _id: 1 }));
    assert.equal(error.name, "MongoNetworkError");
    assert.equal(await collection.countDocuments(), 0, "nothing was done");
    await fail({ failCommands: ["insert"], closeConnection: true });
    await collection.insertOne({ _id: 1 });
    assert.equal(await collection.countDocuments(), 1);
    await client.close();
  });

  it("blockConnection lets commands wait, and then runs or fails them", async () => {
    const collection = at.collection();
    await collection.insertOne({ _id: 1 });
    const client = await plainClient({ socketTimeoutMS: 300 });
    const same = client.db("test").collection(collection.collectionName);
    await fail({ failCommands: ["find"], blockConnection: true, blockTimeMS: 30_000 });
    assert.equal((await errorOf(same.findOne())).name, "MongoNetworkTimeoutError");
    await fail({ failCommands: ["find"], blockConnection: true, blockTimeMS: 50 });
    const started = Date.now();
    assert.deepEqual(await collection.findOne(), { _id: 1 });
    assert.ok(Date.now() - started >= 45);
    await fail({ failCommands: ["find"], blockConnection: true, blockTimeMS: 1, errorCode: 8000 });
    assert.equal((await errorOf(collection.findOne())).code, 8000);
    assert.equal((await errorOf(fail({ failCommands: ["find"], blockConnection: true, blockTimeMS: 1e9 }))).code, 2);
    await client.close();
  });

  it("onPrimaryTransactionalWrite closes the connection after a write, or before it: it is done once", async () => {
    const collection = at.collection();
    await fail({}, { times: 1 }, "onPrimaryTransactionalWrite");
    await collection.insertOne({ _id: 1, n: 0 });
    await fail({ failBeforeCommitExceptionCode: 1 }, { times: 1 }, "onPrimaryTransactionalWrite");
    await collection.updateOne({ _id: 1 }, { $inc: { n: 1 } });
    await fail({}, { times: 1 }, "onPrimaryTransactionalWrite");
    assert.deepEqual(await collection.findOneAndUpdate({ _id: 1 }, { $inc: { n: 1 } }, { returnDocument: "after" }), { _id: 1, n: 2 });
    await fail({ failBeforeCommitExceptionCode: 1 }, { times: 2 }, "onPrimaryTransactionalWrite");
    assert.match((await errorOf(collection.updateOne({ _id: 1 }, { $inc: { n: 1 } }))).name, /^MongoNetworkError/);
    assert.deepEqual(await collection.findOne(), { _id: 1, n: 2 });
    await fail(undefined, "off", "onPrimaryTransactionalWrite");
  });

  it("a write whose concern failed is told as done to who retries it", async () => {
    const collection = at.collection();
    await fail({ failCommands: ["insert"], writeConcernError: { code: 91, errmsg: "shutting down" } });
    await collection.insertOne({ _id: 1 });
    assert.equal(await collection.countDocuments(), 1);
    // What may not be retried is told.
    await fail({ failCommands: ["insert"], writeConcernError: { code: 64, errmsg: "no quorum" } });
    assert.equal((await errorOf(collection.insertOne({ _id: 2 }))).code, 64);
    assert.equal(await collection.countDocuments(), 2);
  });

  it("a change stream goes on after an error that lets it", async () => {
    const collection = at.collection();
    await collection.insertOne({ _id: 0 });
    const stream = collection.watch();
    await stream.tryNext();
    await collection.insertOne({ _id: 1 });
    assert.equal((await stream.next()).documentKey._id, 1);
    await fail({ errorCode: 6 }, { times: 1 }, "failGetMoreAfterCursorCheckout");
    const next = stream.next();
    await collection.insertOne({ _id: 2 });
    assert.equal((await next).documentKey._id, 2);
    await fail({ errorCode: 8000 }, { times: 1 }, "failGetMoreAfterCursorCheckout");
    assert.equal((await errorOf(stream.next())).code, 8000);
    await stream.close();
  });

  it("maxTimeAlwaysTimeOut takes the time of commands that have a limit", async () => {
    const collection = at.collection();
    await fail(undefined, "alwaysOn", "maxTimeAlwaysTimeOut");
    assert.equal((await errorOf(collection.find().maxTimeMS(1000).toArray())).code, 50);
    assert.deepEqual(await collection.find().toArray(), []);
    await fail(undefined, "off", "maxTimeAlwaysTimeOut");
    assert.deepEqual(await collection.find().maxTimeMS(10_000).toArray(), []);
  });

  it("commits that fail on purpose have the labels that drivers run them again by", async () => {
    const collection = at.collection();
    await collection.insertOne({ _id: 0 });
    const session = at.client.startSession();
    await fail({ failCommands: ["commitTransaction"], errorCode: 251 }, { times: 2 });
    let runs = 0;
    await session.withTransaction(async () => {
      ++runs;
      await collection.insertOne({ _id: 1 }, { session });
    });
    assert.equal(runs, 3);
    assert.equal(await collection.countDocuments(), 2);
    await session.endSession();
  });
});

describe("MongoDB: what is asked for and not known is refused", () => {
  const at = sharedMongo();

  it("members of statements that MongoDB 7.0 does not know are 40415, and nothing is done", async () => {
    const collection = at.collection();
    await collection.insertMany([{ _id: 1, n: 1 }, { _id: 2, n: 1 }]);
    const run = (command) => at.db.command(command);
    const name = collection.collectionName;
    assert.equal((await errorOf(run({ update: name, updates: [{ q: { n: 1 }, u: { $set: { m: 1 } }, sort: { _id: -1 } }] }))).code, 40415);
    assert.equal((await errorOf(run({ delete: name, deletes: [{ q: { n: 1 }, limit: 1, sort: { _id: -1 } }] }))).code, 40415);
    assert.equal(await collection.countDocuments({ m: 1 }), 0);
    assert.equal(await collection.countDocuments(), 2);
    assert.equal((await errorOf(collection.aggregate([{ $changeStream: { whatever: true } }]).toArray())).code, 40415);
    assert.equal((await errorOf(collection.watch([{ $whatever: 1 }]).next())).code, 40324);
  });

  it("explain, aggregate and read concerns with what they cannot have", async () => {
    const collection = at.collection();
    await collection.insertOne({ _id: 1 });
    const run = (command) => at.db.command(command);
    const name = collection.collectionName;
    assert.equal((await errorOf(run({ explain: { find: name }, verbosity: "loud" }))).code, 2);
    assert.equal((await errorOf(run({ aggregate: name, pipeline: [], explain: true, writeConcern: { j: true } }))).code, 9);
    assert.equal((await errorOf(run({ explain: { aggregate: name, pipeline: [], cursor: {}, writeConcern: { j: true } } }))).code, 9);
    assert.equal((await errorOf(run({ explain: { aggregate: name, pipeline: [], cursor: {} }, writeConcern: { w: 1 } }))).code, 72);
    assert.equal((await errorOf(run({ aggregate: name, pipeline: [{ $out: "o" }], cursor: {}, readConcern: { level: "linearizable" } }))).code, 72);
    assert.equal((await errorOf(run({ aggregate: name, pipeline: [{ $out: "o" }], cursor: {}, readConcern: { level: "snapshot" } }))).code, 72);
    assert.equal((await errorOf(run({ count: name, readConcern: { level: "snapshot" } }))).code, 72);
    for (const $clusterTime of [{ clusterTime: {} }, {}, 5]) {
      assert.equal((await runByHand(at.server, { find: name, $db: at.db.databaseName, $clusterTime })).code, 14);
    }
    assert.equal((await errorOf(run({ insert: name, documents: [{}], readConcern: { level: "snapshot" } }))).code, 72);
    assert.equal(await collection.countDocuments(), 1);
  });

  it("pipelines that tell of the server and of a collection: $currentOp, $collStats, $listLocalSessions; explain tells stages", async () => {
    const collection = at.collection();
    await collection.insertMany([{ _id: 1, a: 1 }, { _id: 2, a: 1 }]);
    assert.deepEqual(await at.client.db("admin").aggregate([{ $currentOp: {} }]).toArray(), []);
    assert.equal((await errorOf(at.db.aggregate([{ $currentOp: {} }]).toArray())).code, 73);
    const [stats] = await collection.aggregate([{ $collStats: { storageStats: {}, count: {} } }, { $project: { localTime: 0 } }]).toArray();
    assert.equal(stats.ns, collection.namespace);
    assert.equal(stats.count, 2);
    assert.equal(stats.storageStats.count, 2);
    assert.equal(stats.storageStats.nindexes, 1);
    assert.equal((await errorOf(at.db.collection("none").aggregate([{ $collStats: {} }]).toArray())).code, 26);
    assert.equal((await errorOf(collection.aggregate([{ $collStats: { latencyStats: {} } }]).toArray())).code, 238);
    const sessions = await at.db.aggregate([{ $listLocalSessions: {} }, { $limit: 1 }, { $addFields: { n: 1 } }]).toArray();
    assert.equal(sessions.length, 1);
    assert.equal(sessions[0].n, 1);
    const told = await collection.aggregate([{ $match: { a: 1 } }, { $group: { _id: "$a" } }]).explain("queryPlanner");
    assert.equal(told.stages[0].$cursor.queryPlanner.winningPlan.stage, "COLLSCAN");
    assert.deepEqual(told.stages.slice(1).map((stage) => Object.keys(stage)[0]), ["$match", "$group"]);
  });

  it("a collection that is renamed is told by change streams, and ends those over it", async () => {
    const collection = at.collection();
    await collection.insertOne({ _id: 1 });
    const of = [collection.watch(), at.db.watch()];
    for (const stream of of) await stream.tryNext();
    await collection.insertOne({ _id: 2 });
    const name = collection.collectionName;
    await collection.rename(`${name}-new`);
    for (const stream of of) {
      assert.equal((await stream.next()).documentKey._id, 2);
      const renamed = await stream.next();
      assert.equal(renamed.operationType, "rename");
      assert.deepEqual(renamed.ns, { db: "test", coll: name });
      assert.deepEqual(renamed.to, { db: "test", coll: `${name}-new` });
    }
    assert.equal((await of[0].next()).operationType, "invalidate");
    for (const stream of of) await stream.close();
  });
});
