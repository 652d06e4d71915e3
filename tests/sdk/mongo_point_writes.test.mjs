// Changes of one document by its _id, by many at once: each is done on what the one before has left, whichever command
// it is, and whichever way it takes through the server. Three servers, some seconds.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { eventually } from "./expect.mjs";
import { BSON, errorOf, MongoClient, mongoUri, runByHand, sharedMongo } from "./mongo.mjs";

const { Long, UUID } = BSON;
const times = (count, make) => Promise.all(Array.from({ length: count }, (_, i) => make(i)));
const upTo = (count) => Array.from({ length: count }, (_, i) => i + 1);

describe("changes of one document by its _id", () => {
  const at = sharedMongo({}, { maxPoolSize: 50 });

  it("findAndModify with a positional projection is refused by its name", async () => {
    const collection = at.collection();
    await collection.insertOne({ _id: 1, a: [1, 2] });
    const error = await errorOf(collection.findOneAndUpdate({ _id: 1, a: 2 }, { $set: { b: 1 } }, { projection: { "a.$": 1 } }));
    assert.equal(error.code, 238);
    assert.match(error.message, /positional projection/);
    assert.deepEqual(await collection.findOne({ _id: 1 }), { _id: 1, a: [1, 2] });
  });

  it("findAndModify gives each caller a number of its own, updates and replacements in between", async () => {
    const collection = at.collection();
    await collection.insertOne({ _id: "counter", n: 0, others: 0 });
    const [given] = await Promise.all([
      times(200, async () => (await collection.findOneAndUpdate({ _id: "counter" }, { $inc: { n: 1 } }, { returnDocument: "after" })).n),
      times(100, () => collection.updateOne({ _id: "counter" }, { $inc: { others: 1 } })),
      // Neither of these can be done by the writer: they read and try again.
      times(20, () => collection.updateOne({ _id: "counter" }, [{ $set: { others: { $add: ["$others", 1] } } }])),
      times(20, () => collection.updateOne({ _id: "counter", $expr: { $gte: ["$n", 0] } }, { $inc: { others: 1 } })),
    ]);
    assert.deepEqual(given.sort((a, b) => a - b), upTo(200));
    assert.deepEqual(await collection.findOne({ _id: "counter" }), { _id: "counter", n: 200, others: 140 });
  });

  it("of those that ask for the same state one is done, and the others find nothing", async () => {
    const collection = at.collection();
    await collection.insertOne({ _id: 1, version: 0 });
    for (let version = 0; version < 5; ++version) {
      const results = await times(20, (by) => collection.updateOne({ _id: 1, version }, { $set: { version: version + 1, by } }));
      assert.equal(results.filter((one) => one.matchedCount === 1 && one.modifiedCount === 1).length, 1);
      assert.equal(results.filter((one) => one.matchedCount === 0 && one.modifiedCount === 0).length, 19);
    }
    const replaced = await times(20, (by) => collection.findOneAndReplace({ _id: 1, version: 5 }, { version: 6, by }));
    assert.equal(replaced.filter((one) => one?.version === 5).length, 1);
    assert.equal(replaced.filter((one) => one === null).length, 19);
    assert.equal((await collection.deleteOne({ _id: 1, version: 5 })).deletedCount, 0);
    const removed = await times(20, (i) => i % 2 === 0 ? collection.deleteOne({ _id: 1, version: 6 }).then((one) => one.deletedCount)
      : collection.findOneAndDelete({ _id: 1 }).then((one) => Number(one?.version === 6)));
    assert.equal(removed.reduce((sum, one) => sum + one), 1);
    assert.equal(await collection.countDocuments(), 0);
  });

  it("upserts that race make one document, and lose nothing", async () => {
    const collection = at.collection();
    const results = await times(50, () => collection.updateOne({ _id: "new" }, { $inc: { n: 1 }, $setOnInsert: { made: true } }, { upsert: true }));
    assert.equal(results.filter((one) => one.upsertedCount === 1).length, 1);
    assert.deepEqual(await collection.findOne({ _id: "new" }), { _id: "new", n: 50, made: true });
    // A document that is there and does not match is not made twice.
    assert.equal((await errorOf(collection.updateOne({ _id: "new", n: 1 }, { $set: { x: 1 } }, { upsert: true }))).code, 11000);
  });

  it("answer as changes by other filters do", async () => {
    const collection = at.collection();
    await collection.createIndex({ mail: 1 }, { unique: true });
    await collection.insertMany([{ _id: 1, mail: "a", list: [1, 2, 3] }, { _id: 2, mail: "b" }]);
    const counts = ({ matchedCount, modifiedCount }) => [matchedCount, modifiedCount];
    assert.deepEqual(counts(await collection.updateOne({ _id: 1 }, { $set: { mail: "a" } })), [1, 0]);
    assert.deepEqual(counts(await collection.updateOne({ _id: 1, list: 2 }, { $set: { "list.$": 5 } })), [1, 1]);
    assert.deepEqual(counts(await collection.updateOne({ _id: 1 }, { $inc: { "list.$[big]": 1 } }, { arrayFilters: [{ big: { $gt: 2 } }] })), [1, 1]);
    assert.deepEqual((await collection.findOne({ _id: 1 })).list, [1, 6, 4]);
    assert.deepEqual(counts(await collection.updateOne({ _id: { $eq: 1 }, "list.0": { $lt: 1 } }, { $set: { x: 1 } })), [0, 0]);
    assert.deepEqual(counts(await collection.replaceOne({ _id: 2 }, { mail: "c" })), [1, 1]);
    assert.deepEqual(await collection.findOne({ _id: 2 }), { _id: 2, mail: "c" });
    for (const [code, attempt] of [
      [11000, () => collection.updateOne({ _id: 2 }, { $set: { mail: "a" } })],
      [66, () => collection.updateOne({ _id: 2 }, { $set: { _id: 3 } })],
      [66, () => collection.replaceOne({ _id: 2 }, { _id: 3, mail: "d" })],
      [14, () => collection.updateOne({ _id: 2 }, { $inc: { mail: 1 } })],
      [11000, () => collection.findOneAndUpdate({ _id: 2 }, { $set: { mail: "a" } })],
      [9, () => collection.updateOne({ _id: 2 }, { $nothing: { a: 1 } })],
    ]) {
      assert.equal((await errorOf(attempt())).code, code);
    }
    const duplicate = await errorOf(collection.updateOne({ _id: 2 }, { $set: { mail: "a" } }));
    assert.match(duplicate.message, /index: mail_1 dup key: \{ mail: "a" \}/);
    assert.deepEqual(await collection.findOne({ _id: 2 }), { _id: 2, mail: "c" });
    assert.deepEqual(counts(await at.collection().updateOne({ _id: 1 }, { $set: { x: 1 } })), [0, 0]);
  });

  it("of documents that are too large for the writer lose nothing either", async () => {
    const collection = at.collection();
    await collection.insertOne({ _id: 1, n: 0, pad: "x".repeat(200_000) });
    await times(20, () => collection.updateOne({ _id: 1 }, { $inc: { n: 1 } }));
    const { n, pad } = await collection.findOneAndUpdate({ _id: 1 }, { $unset: { pad: "" } });
    assert.deepEqual([n, pad.length], [20, 200_000]);
    await times(20, () => collection.updateOne({ _id: 1 }, { $inc: { n: 1 } }));
    assert.deepEqual(await collection.findOneAndDelete({ _id: 1 }), { _id: 1, n: 40 });
  });

  it("are told by change streams, with what was there before", async () => {
    const collection = at.collection();
    await at.db.createCollection(collection.collectionName, { changeStreamPreAndPostImages: { enabled: true } });
    const stream = collection.watch([], { fullDocument: "required", fullDocumentBeforeChange: "required" });
    assert.equal(await stream.tryNext(), null);  // it is open
    await collection.insertOne({ _id: 1, n: 0 });
    assert.equal((await stream.next()).operationType, "insert");
    await times(10, () => collection.findOneAndUpdate({ _id: 1 }, { $inc: { n: 1 } }));
    await collection.replaceOne({ _id: 1 }, { m: 1 });
    await collection.deleteOne({ _id: 1 });
    for (const n of upTo(10)) {
      const { operationType, fullDocument, fullDocumentBeforeChange, updateDescription } = await stream.next();
      assert.deepEqual([operationType, fullDocument, fullDocumentBeforeChange], ["update", { _id: 1, n }, { _id: 1, n: n - 1 }]);
      assert.deepEqual(updateDescription.updatedFields, { n });
    }
    const replaced = await stream.next();
    assert.deepEqual([replaced.operationType, replaced.fullDocumentBeforeChange], ["replace", { _id: 1, n: 10 }]);
    const removed = await stream.next();
    assert.deepEqual([removed.operationType, removed.fullDocumentBeforeChange], ["delete", { _id: 1, m: 1 }]);
    await stream.close();
  });

  it("go on while the collection is split, with and without the shard key", async () => {
    await at.client.db("admin").command({ shardCollection: "test.divided", key: { k: "hashed" } });
    const collection = at.db.collection("divided");
    await collection.insertMany(upTo(40).map((_id) => ({ _id, k: _id, n: 0 })));
    let stopped = false;
    let done = 0;
    const counting = times(20, async (i) => {
      const _id = i % 10 + 1;  // two change the same document
      for (; !stopped; ++done) {
        await collection.updateOne(done % 3 === 0 ? { _id } : { _id, k: _id }, { $inc: { n: 1 } });
      }
    });
    await eventually(() => done > 50);
    await at.db.command({ customAction: "UpdateCollection", collection: "divided", offerThroughput: 25_000 });
    const container = at.server.client().database("mongo:test").container("divided");
    await eventually(async () => (await container.readPartitionKeyRanges().fetchAll()).resources.length > 1);
    const then = done;
    await eventually(() => done > then + 50);
    stopped = true;
    await counting;
    const [{ sum }] = await collection.aggregate([{ $group: { _id: null, sum: { $sum: "$n" } } }]).toArray();
    assert.equal(sum, done);
    assert.equal((await errorOf(collection.updateOne({ _id: 1, k: 1 }, { $set: { k: 2 } }))).code, 66);
    assert.equal((await collection.deleteOne({ _id: 1, k: 2 })).deletedCount, 0);
    assert.equal((await collection.deleteOne({ _id: 1, k: 1 })).deletedCount, 1);
  });
});

describe("changes of one document by its _id that are sent again", () => {
  const at = sharedMongo();

  it("are done once and answered as before, after a crash as well", async () => {
    const session = { id: new UUID() };
    let number = 0;
    const command = (given) => {
      const whole = { ...given, lsid: session, txnNumber: Long.fromNumber(++number), $db: "test" };
      return () => runByHand(at.server, whole);
    };
    await at.db.collection("again").insertOne({ _id: 1, n: 0 });
    const crash = async () => {
      await at.client.close();
      await at.server.restart({ hard: true });
      at.client = await new MongoClient(mongoUri(at.server)).connect();
      at.db = at.client.db("test");
    };
    const told = ({ n, nModified, value, lastErrorObject }) => ({ n, nModified, value, lastErrorObject });
    for (const given of [
      { update: "again", updates: [{ q: { _id: 1 }, u: { $inc: { n: 1 } } }] },
      { findAndModify: "again", query: { _id: 1 }, update: { $inc: { n: 1 } }, new: true },
      { findAndModify: "again", query: { _id: 1 }, remove: true },
    ]) {
      const write = command(given);
      const first = told(await write());
      assert.deepEqual(told(await write()), first);
      await crash();
      assert.deepEqual(told(await write()), first, JSON.stringify(given));
    }
    assert.equal(await at.db.collection("again").countDocuments(), 0);
    await at.db.collection("again").insertOne({ _id: 1 });
    const remove = command({ delete: "again", deletes: [{ q: { _id: 1 }, limit: 1 }] });
    assert.equal((await remove()).n, 1);
    await at.db.collection("again").insertOne({ _id: 1 });
    await crash();
    assert.equal((await remove()).n, 1);
    assert.equal(await at.db.collection("again").countDocuments(), 1);
  });
});

describe("changes of one document by its _id over budget", () => {
  const at = sharedMongo({ args: ["--throttling", "on"] });

  it("wait, and answer 16500 with the time to retry after, when nothing was done", async () => {
    const collection = at.collection();
    await collection.insertOne({ _id: 1, n: 0 });
    // Costs the throughput of many seconds.
    await collection.insertOne({ _id: 2, pad: "x".repeat(4_000_000) });
    const attempts = await Promise.allSettled(upTo(5).map(() => collection.updateOne({ _id: 1 }, { $inc: { n: 1 } })));
    const refused = attempts.filter((one) => one.status === "rejected").map((one) => one.reason);
    assert.ok(refused.length > 0);
    for (const error of refused) {
      assert.equal(error.code, 16500);
      assert.match(error.message, /RetryAfterMs=\d+/);
    }
    await eventually(async () => (await collection.findOne({ _id: 1 }).catch(() => null))?.n === 5 - refused.length, 60_000);
  });
});
