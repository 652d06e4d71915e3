// Documents through MongoDB's driver: inserts, finds, updates, deletes, cursors, and what the Cosmos DB face shows of them.
// One server, some seconds.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { BSON, errorOf, sharedMongo } from "./mongo.mjs";

const { Binary, BSONRegExp, Code, Decimal128, Double, Int32, Long, MaxKey, MinKey, ObjectId, Timestamp, UUID } = BSON;

describe("documents of MongoDB's driver", () => {
  const at = sharedMongo();

  it("B1: every type comes back byte for byte", async () => {
    const collection = at.collection({ promoteValues: false, bsonRegExp: true });
    const document = {
      _id: new ObjectId(), real: new Double(1), int: new Int32(1), long: Long.fromBits(-1, 0x7fffffff), decimal: Decimal128.fromString("1.10"),
      text: "a\u0000ä", nothing: null, yes: true, list: [new Int32(1), { x: [] }], empty: {}, bytes: new Binary(Buffer.from([0, 1]), 128),
      uuid: new UUID(), date: new Date(-1), time: new Timestamp({ t: 7, i: 3 }), regex: new BSONRegExp("^a", "im"), code: new Code("f()"),
      scoped: new Code("g()", { a: 1 }), min: new MinKey(), max: new MaxKey(),
    };
    await collection.insertOne(document);
    const [raw] = await at.db.collection(collection.collectionName).find({}, { raw: true }).toArray();
    assert.deepEqual(Buffer.from(raw), Buffer.from(BSON.serialize(document)));
  });

  it("B1: _id is the row key, of any type: 1, 1.0 and NumberLong(1) are one", async () => {
    const collection = at.collection();
    await collection.insertOne({ _id: new Int32(1) });
    for (const same of [new Double(1), Long.fromNumber(1), Decimal128.fromString("1.0")]) {
      const error = await errorOf(collection.insertOne({ _id: same }));
      assert.equal(error.code, 11000);
      assert.ok(await collection.findOne({ _id: same }));
    }
    const ids = ["a", { x: 1, y: 2 }, new ObjectId(), new Date(0), true, new Binary(Buffer.from("x"))];
    for (const _id of ids) {
      await collection.insertOne({ _id });
      assert.deepEqual((await collection.findOne({ _id }))._id, _id);
    }
    assert.equal((await errorOf(collection.insertOne({ _id: [1] }))).code, 53);
    // In MongoDB's order of types.
    const sorted = (await collection.find().sort({ _id: 1 }).toArray()).map((one) => one._id);
    assert.deepEqual(sorted, [1, "a", ids[1], ids[5], ids[2], true, ids[3]]);
  });

  it("a duplicate is told as object mappers expect it", async () => {
    const collection = at.collection();
    await collection.insertOne({ _id: "x" });
    const error = await errorOf(collection.insertOne({ _id: "x" }));
    assert.equal(error.message, `E11000 duplicate key error collection: test.${collection.collectionName} index: _id_ dup key: { _id: "x" }`);
    assert.deepEqual(error.errorResponse.keyPattern, { _id: 1 });
    assert.deepEqual(error.errorResponse.keyValue, { _id: "x" });
    await collection.createIndex({ mail: 1 }, { unique: true });
    await collection.insertOne({ _id: "y", mail: "m" });
    const found = await errorOf(collection.findOneAndUpdate({ _id: "x" }, { $set: { mail: "m" } }));
    assert.equal(found.code, 11000);
    assert.deepEqual([found.errorResponse.keyPattern, found.errorResponse.keyValue], [{ mail: 1 }, { mail: "m" }]);
  });

  it("ordered batches stop at an error, others go on; each error has its number", async () => {
    const collection = at.collection();
    await collection.insertMany([{ _id: 3 }, { _id: 6 }]);
    const documents = [1, 2, 3, 4, 5, 6, 7].map((_id) => ({ _id }));
    const ordered = await errorOf(collection.insertMany(documents));
    assert.equal(ordered.result.insertedCount, 2);
    assert.deepEqual(ordered.writeErrors.map((one) => one.index), [2]);
    await collection.deleteMany({ _id: { $in: [1, 2] } });
    const unordered = await errorOf(collection.insertMany(documents, { ordered: false }));
    assert.equal(unordered.result.insertedCount, 5);
    assert.deepEqual(unordered.writeErrors.map((one) => one.index), [2, 5]);
    assert.deepEqual((await collection.find().sort({ _id: 1 }).toArray()).map((one) => one._id), [1, 2, 3, 4, 5, 6, 7]);
  });

  it("updates: operators, replacements, pipelines, upserts, many", async () => {
    const collection = at.collection();
    await collection.insertMany([1, 2, 3].map((_id) => ({ _id, n: _id, tags: ["a", "b"] })));
    assert.equal((await collection.updateOne({ _id: 1 }, { $inc: { n: 5 }, $push: { tags: "c" } })).modifiedCount, 1);
    assert.deepEqual(await collection.findOne({ _id: 1 }), { _id: 1, n: 6, tags: ["a", "b", "c"] });
    const same = await collection.updateOne({ _id: 1 }, { $set: { n: 6 } });
    assert.deepEqual([same.matchedCount, same.modifiedCount], [1, 0]);
    assert.equal((await collection.updateMany({ n: { $lt: 6 } }, { $set: { small: true } })).modifiedCount, 2);
    await collection.replaceOne({ _id: 2 }, { replaced: 1 });
    assert.deepEqual(await collection.findOne({ _id: 2 }), { _id: 2, replaced: 1 });
    await collection.updateOne({ _id: 3 }, [{ $set: { n: { $multiply: ["$n", 10] } } }]);
    assert.equal((await collection.findOne({ _id: 3 })).n, 30);
    const upserted = await collection.updateOne({ _id: 9, kind: "new" }, { $set: { n: 1 } }, { upsert: true });
    assert.equal(upserted.upsertedId, 9);
    assert.deepEqual(await collection.findOne({ _id: 9 }), { _id: 9, kind: "new", n: 1 });
    assert.equal((await errorOf(collection.updateOne({ _id: 1 }, { $set: { _id: 2 } }))).code, 66);
    await collection.updateOne({ _id: 1 }, { $set: { "tags.$[x]": "z" } }, { arrayFilters: [{ x: "b" }] });
    assert.deepEqual((await collection.findOne({ _id: 1 })).tags, ["a", "z", "c"]);
  });

  it("a batch with duplicates leaves those out, or ends at the first", async () => {
    const documents = Array.from({ length: 1200 }, (_, _id) => ({ _id, n: _id }));
    const there = [0, 3, 4, 499, 500, 730, 1199];
    for (const ordered of [false, true]) {
      const collection = at.collection();
      await collection.insertMany(there.slice(ordered ? 5 : 0).map((_id) => ({ _id, n: "there" })));
      const error = await errorOf(collection.insertMany(documents, { ordered }));
      const refused = ordered ? [730] : there;
      assert.deepEqual(error.writeErrors.map((one) => [one.index, one.code]), refused.map((index) => [index, 11000]));
      assert.equal(error.result.insertedCount, ordered ? 730 : 1193);
      const stored = await collection.find().sort({ _id: 1 }).toArray();
      const kept = ordered ? [730, 1199] : there;
      const expected = documents.slice(0, ordered ? 731 : 1200).map((one) => (kept.includes(one._id) ? { ...one, n: "there" } : one));
      assert.deepEqual(stored, ordered ? [...expected, { _id: 1199, n: "there" }] : expected);
    }
  });

  it("updates of one document by many at once lose nothing", async () => {
    const collection = at.collection();
    await collection.insertOne({ _id: 1, n: 0 });
    await Promise.all(Array.from({ length: 50 }, () => collection.updateOne({ _id: 1 }, { $inc: { n: 1 } })));
    assert.equal((await collection.findOne({ _id: 1 })).n, 50);
    await Promise.all(Array.from({ length: 20 }, () => collection.updateOne({ _id: 2 }, { $inc: { n: 1 } }, { upsert: true })));
    assert.equal((await collection.findOne({ _id: 2 })).n, 20);
  });

  it("findOneAndUpdate, findOneAndReplace and findOneAndDelete", async () => {
    const collection = at.collection();
    await collection.insertMany([{ _id: 1, n: 3 }, { _id: 2, n: 1 }, { _id: 3, n: 2 }]);
    assert.deepEqual(await collection.findOneAndUpdate({}, { $inc: { n: 10 } }, { sort: { n: 1 }, returnDocument: "after" }), { _id: 2, n: 11 });
    assert.deepEqual(await collection.findOneAndReplace({ _id: 1 }, { m: 1 }, { projection: { _id: 0 } }), { n: 3 });
    assert.deepEqual(await collection.findOneAndDelete({}, { sort: { _id: -1 } }), { _id: 3, n: 2 });
    assert.equal(await collection.findOneAndDelete({ _id: 99 }), null);
    assert.deepEqual(await collection.findOneAndUpdate({ _id: 7 }, { $set: { a: 1 } }, { upsert: true, returnDocument: "after" }), { _id: 7, a: 1 });
  });

  it("deletes: one, many, all", async () => {
    const collection = at.collection();
    await collection.insertMany(Array.from({ length: 1200 }, (_, _id) => ({ _id, even: _id % 2 === 0 })));
    assert.equal((await collection.deleteOne({ _id: 0 })).deletedCount, 1);
    assert.equal((await collection.deleteOne({ even: true })).deletedCount, 1);
    assert.equal((await collection.deleteMany({ even: true })).deletedCount, 598);
    assert.equal((await collection.deleteMany({})).deletedCount, 600);
    assert.equal(await collection.countDocuments(), 0);
  });

  it("cursors: batches, limits, skips, sorts, projections, killed ones", async () => {
    const collection = at.collection();
    await collection.insertMany(Array.from({ length: 1000 }, (_, _id) => ({ _id, v: _id % 10, pad: "x".repeat(20) })));
    assert.equal((await collection.find().toArray()).length, 1000);
    assert.equal((await collection.find({}, { batchSize: 7 }).toArray()).length, 1000);
    assert.deepEqual((await collection.find({ v: 3 }).sort({ _id: -1 }).skip(1).limit(2).project({ v: 1 }).toArray()), [{ _id: 983, v: 3 }, { _id: 973, v: 3 }]);
    assert.deepEqual((await collection.find({ _id: { $gt: 500, $lte: 502 } }).map((one) => one._id).toArray()), [501, 502]);
    assert.equal(await collection.countDocuments({ v: 3 }), 100);
    assert.deepEqual(await collection.distinct("v", { _id: { $lt: 3 } }), [0, 1, 2]);
    const first = await at.db.command({ find: collection.collectionName, batchSize: 2 });
    assert.equal(first.cursor.firstBatch.length, 2);
    const id = first.cursor.id;
    const more = await at.db.command({ getMore: id, collection: collection.collectionName, batchSize: 3 });
    assert.equal(more.cursor.nextBatch.length, 3);
    const killed = await at.db.command({ killCursors: collection.collectionName, cursors: [id] });
    assert.equal(String(killed.cursorsKilled[0]), String(id));
    assert.equal((await errorOf(at.db.command({ getMore: id, collection: collection.collectionName }))).code, 43);
    const empty = await at.db.command({ find: collection.collectionName, batchSize: 0 });
    assert.equal(empty.cursor.firstBatch.length, 0);
    assert.notEqual(String(empty.cursor.id), "0");
  });

  it("large documents fill several batches, and one of more than 16 MB is refused", async () => {
    const collection = at.collection();
    const pad = "x".repeat(3 << 20);
    await collection.insertMany(Array.from({ length: 8 }, (_, _id) => ({ _id, pad })));
    assert.equal((await collection.find().toArray()).length, 8);
    const error = await errorOf(at.db.command({ update: collection.collectionName, updates: [{ q: { _id: 1 }, u: [{ $set: Object.fromEntries("abcdef".split("").map((name) => [name, "$pad"])) }] }] }).then((answer) => {
      if (answer.writeErrors) throw Object.assign(new Error(answer.writeErrors[0].errmsg), { code: answer.writeErrors[0].code });
    }));
    assert.equal(error.code, 10334);
  });

  it("aggregates: groups, lookups, $out and $merge", async () => {
    const orders = at.db.collection("orders");
    await orders.insertMany([{ _id: 1, who: "a", n: 5 }, { _id: 2, who: "b", n: 7 }, { _id: 3, who: "a", n: 1 }]);
    await at.db.collection("people").insertMany([{ _id: "a", name: "Ada" }, { _id: "b", name: "Ben" }]);
    assert.deepEqual(await orders.aggregate([{ $group: { _id: "$who", n: { $sum: "$n" } } }, { $sort: { _id: 1 } }]).toArray(), [{ _id: "a", n: 6 }, { _id: "b", n: 7 }]);
    const joined = await orders.aggregate([
      { $match: { _id: 2 } },
      { $lookup: { from: "people", localField: "who", foreignField: "_id", as: "person" } },
      { $project: { name: { $first: "$person.name" } } },
    ]).toArray();
    assert.deepEqual(joined, [{ _id: 2, name: "Ben" }]);
    await orders.aggregate([{ $group: { _id: "$who", n: { $sum: "$n" } } }, { $out: "totals" }]).toArray();
    assert.deepEqual(await at.db.collection("totals").find().toArray(), [{ _id: "a", n: 6 }, { _id: "b", n: 7 }]);
    await orders.aggregate([{ $match: { who: "a" } }, { $group: { _id: "$who", max: { $max: "$n" } } }, { $merge: "totals" }]).toArray();
    assert.deepEqual(await at.db.collection("totals").find().toArray(), [{ _id: "a", n: 6, max: 5 }, { _id: "b", n: 7 }]);
    assert.equal((await errorOf(orders.aggregate([{ $noSuchStage: 1 }]).toArray())).code, 40324);
  });

  it("the documents of a small collection come in the order in which they were made", async () => {
    const collection = at.collection();
    const made = [5, 1, 9, 3];
    for (const _id of made) await collection.insertOne({ _id, n: 0 });
    await collection.updateOne({ _id: 1 }, { $inc: { n: 1 } });
    const ids = async (cursor) => (await cursor.toArray()).map((one) => one._id);
    assert.deepEqual(await ids(collection.find()), made);
    assert.deepEqual(await ids(collection.find().sort({ $natural: -1 })), [3, 9, 1, 5]);
    assert.deepEqual(await ids(collection.find({ n: 0 }).sort({ n: 1 }).limit(2)), [5, 9]);
    assert.deepEqual(await ids(collection.find().sort({ _id: 1 })), [1, 3, 5, 9]);
    assert.deepEqual((await collection.aggregate([{ $group: { _id: null, all: { $push: "$_id" } } }]).toArray())[0].all, made);
    // One that does not fit into a batch comes in the order of _id.
    await collection.insertMany(Array.from({ length: 101 }, (_, i) => ({ _id: 1000 - i, n: 0 })));
    assert.deepEqual((await ids(collection.find())).slice(0, 4), [1, 3, 5, 9]);
  });

  it("a collation holds for every stage of an aggregate", async () => {
    const collection = at.collection();
    await collection.insertMany([{ _id: 1, a: "Cat" }, { _id: 2, a: "dog" }, { _id: 3, a: "cAT" }]);
    const collation = { locale: "en", strength: 1 };
    const found = async (pipeline) => (await collection.aggregate(pipeline, { collation }).toArray()).map((one) => one._id);
    assert.deepEqual(await found([{ $match: { a: "cat" } }]), [1, 3]);
    assert.deepEqual(await found([{ $sort: { _id: 1 } }, { $match: { a: "cat" } }]), [1, 3]);
    assert.deepEqual(await found([{ $addFields: { b: "CAT" } }, { $match: { b: "cat", a: { $lt: "D" } } }]), [1, 3]);
  });

  it("time limits end commands with 50", async () => {
    const collection = at.collection();
    await collection.insertMany(Array.from({ length: 2000 }, (_, _id) => ({ _id })));
    const slow = [{ $lookup: { from: collection.collectionName, pipeline: [{ $match: { $expr: { $gt: [{ $add: ["$_id", 1] }, -1] } } }], as: "all" } }, { $count: "n" }];
    assert.equal((await errorOf(collection.aggregate(slow, { maxTimeMS: 50 }).toArray())).code, 50);
  });

  it("the Cosmos DB face shows documents as JSON", async () => {
    await at.client.db("seen").collection("things").insertOne({ _id: "t1", n: 1, when: new Date(0) });
    const container = at.server.client().database("mongo:seen").container("things");
    const { resources } = await container.items.query("SELECT c.n FROM c").fetchAll();
    assert.deepEqual(resources, [{ n: 1 }]);
  });
});
