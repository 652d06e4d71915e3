// Reads with the read concern snapshot outside transactions: of one moment, for as long as a session asks. One server, some seconds.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { BSON, errorOf, sharedMongo } from "./mongo.mjs";

const { Timestamp } = BSON;
const ids = (rows) => rows.map((row) => row._id);

describe("MongoDB: reads with the read concern snapshot", () => {
  const at = sharedMongo();
  const filled = async (documents) => {
    const collection = at.collection();
    await collection.insertMany(documents);
    return collection;
  };
  const inSession = async (read) => {
    const session = at.client.startSession({ snapshot: true });
    try {
      return await read(session);
    } finally {
      await session.endSession();
    }
  };

  it("of a session are of the moment of its first, whatever is written since", async () => {
    const collection = await filled([{ _id: 1, n: 1 }, { _id: 2, n: 1 }, { _id: 3, n: 1 }]);
    await inSession(async (session) => {
      assert.equal(await collection.countDocuments({}, { session }), 3);
      await collection.insertOne({ _id: 4, n: 1 });
      await collection.updateOne({ _id: 1 }, { $set: { n: 2 } });
      await collection.deleteOne({ _id: 2 });
      assert.deepEqual(await collection.find({}, { session }).sort({ _id: 1 }).toArray(), [{ _id: 1, n: 1 }, { _id: 2, n: 1 }, { _id: 3, n: 1 }]);
      assert.deepEqual(await collection.findOne({ _id: 2 }, { session }), { _id: 2, n: 1 });
      assert.equal(await collection.findOne({ _id: 4 }, { session }), null);
      assert.deepEqual(await collection.distinct("n", {}, { session }), [1]);
      assert.deepEqual(await collection.aggregate([{ $group: { _id: "$n", count: { $sum: 1 } } }], { session }).toArray(), [{ _id: 1, count: 3 }]);
      // Writes cannot have a read concern, which the driver sends in such a session; as in MongoDB.
      assert.equal((await errorOf(collection.insertOne({ _id: 5 }, { session }))).code, 72);
    });
    assert.equal(await collection.countDocuments(), 3);
    await inSession(async (session) => assert.deepEqual(ids(await collection.find({}, { session }).sort({ _id: 1 }).toArray()), [1, 3, 4]));
  });

  it("are of one moment over the collections of a database", async () => {
    const orders = await filled([{ _id: 1, customer: "a" }]);
    const customers = await filled([{ _id: "a", name: "Ada" }]);
    await inSession(async (session) => {
      assert.deepEqual(ids(await orders.find({}, { session }).toArray()), [1]);
      await customers.updateOne({ _id: "a" }, { $set: { name: "other" } });
      await customers.insertOne({ _id: "b" });
      await orders.insertOne({ _id: 2, customer: "b" });
      assert.deepEqual(await customers.find({}, { session }).toArray(), [{ _id: "a", name: "Ada" }]);
      const joined = await orders.aggregate([{ $lookup: { from: customers.collectionName, localField: "customer", foreignField: "_id", as: "of" } }], { session }).toArray();
      assert.deepEqual(joined, [{ _id: 1, customer: "a", of: [{ _id: "a", name: "Ada" }] }]);
    });
  });

  it("never show a write without the one that it follows", async () => {
    const first = await filled([{ _id: 1, n: 0 }]);
    const second = await filled([{ _id: 1, n: 0 }]);
    let stop = false;
    const writer = (async () => {
      for (let n = 1; !stop; ++n) {
        await first.updateOne({ _id: 1 }, { $set: { n } });
        await second.updateOne({ _id: 1 }, { $set: { n } });
      }
    })();
    let whole = 0;
    for (let i = 0; i < 200 || (whole === 0 && i < 5_000); ++i) {
      const [one, other] = i % 2 ? [first, second] : [second, first];
      await inSession(async (session) => {
        const seen = [(await one.findOne({}, { session })).n];
        try {
          seen.push((await other.findOne({}, { session })).n);
        } catch (error) {
          assert.equal(error.code, 246, error.message);
          return;
        }
        if (one === second) seen.reverse();
        assert.ok(seen[0] === seen[1] || seen[0] === seen[1] + 1, `${seen}`);
        ++whole;
      });
    }
    stop = true;
    await writer;
    assert.ok(whole > 0);
  });

  it("have cursors that go on", async () => {
    const collection = await filled(Array.from({ length: 500 }, (_, _id) => ({ _id })));
    await inSession(async (session) => {
      const cursor = collection.find({}, { session, batchSize: 50 }).sort({ _id: 1 });
      assert.equal((await cursor.next())._id, 0);
      await collection.deleteMany({ _id: { $gte: 100 } });
      await collection.insertOne({ _id: 1000 });
      assert.equal((await cursor.toArray()).length, 499);
    });
  });

  it("name their time, and can be read again by it", async () => {
    const collection = await filled([{ _id: 1 }]);
    const name = collection.collectionName;
    const level = "snapshot";
    const { cursor } = await at.db.command({ find: name, readConcern: { level } });
    assert.ok(cursor.atClusterTime instanceof Timestamp);
    await collection.insertOne({ _id: 2 });
    const atClusterTime = cursor.atClusterTime;
    assert.deepEqual((await at.db.command({ find: name, readConcern: { level, atClusterTime } })).cursor.firstBatch, [{ _id: 1 }]);
    const distinct = await at.db.command({ distinct: name, key: "_id", readConcern: { level, atClusterTime } });
    assert.deepEqual([distinct.values, distinct.atClusterTime], [[1], atClusterTime]);
    const now = await at.db.command({ aggregate: name, pipeline: [], cursor: {}, readConcern: { level } });
    assert.equal(now.cursor.firstBatch.length, 2);
    assert.ok(now.cursor.atClusterTime.greaterThan(atClusterTime));
    const before = new Timestamp({ t: 1_600_000_000, i: 1 });
    const later = new Timestamp({ t: 4_000_000_000, i: 1 });
    for (const time of [before, later]) {
      assert.equal((await errorOf(at.db.command({ find: name, readConcern: { level, atClusterTime: time } }))).code, 246);
    }
    assert.equal((await errorOf(at.db.command({ find: name, readConcern: { level, atClusterTime: 5 } }))).code, 14);
    const { snapshotReads } = await at.client.db("admin").command({ serverStatus: 1 });
    assert.ok(snapshotReads.totalTaken >= 2 && snapshotReads.currentOpen >= 2);
  });

  it("do not have what they cannot have: 246, and 238 for sharded collections", async () => {
    const collection = await filled([{ _id: 1 }]);
    const dropped = await filled([{ _id: 1 }]);
    const made = at.collection();
    await inSession(async (session) => {
      assert.equal(await collection.countDocuments({}, { session }), 1);
      assert.deepEqual(await made.find({}, { session }).toArray(), [], "it is not there");
      await dropped.drop();
      await made.insertOne({ _id: 1 });
      const reads = [
        () => dropped.find({}, { session }).toArray(),
        () => made.find({}, { session }).toArray(),
        () => made.distinct("_id", {}, { session }),
        () => collection.aggregate([{ $lookup: { from: dropped.collectionName, localField: "_id", foreignField: "_id", as: "x" } }], { session }).toArray(),
        () => at.client.db("elsewhere").collection("c").find({}, { session }).toArray(),
      ];
      for (const read of reads) assert.equal((await errorOf(read())).code, 246, String(read));
      assert.equal(await collection.countDocuments({}, { session }), 1);
    });
    await at.client.db("admin").command({ shardCollection: "test.shards", key: { k: "hashed" } });
    await inSession(async (session) => {
      assert.equal((await errorOf(at.db.collection("shards").find({}, { session }).toArray())).code, 238);
    });
  });

  it("are kept up to a number: the oldest goes", async () => {
    const collection = await filled([{ _id: 1 }]);
    const find = async (atClusterTime) => (await at.db.command({ find: collection.collectionName, readConcern: { level: "snapshot", ...(atClusterTime ? { atClusterTime } : {}) } })).cursor;
    const first = (await find()).atClusterTime;
    const times = [];
    for (let i = 0; i < 64; ++i) times.push((await find()).atClusterTime);
    assert.equal((await errorOf(find(first))).code, 246);
    assert.equal((await find(times.at(0))).firstBatch.length, 1);
    assert.equal((await at.client.db("admin").command({ serverStatus: 1 })).snapshotReads.currentOpen, 64);
  });
});
