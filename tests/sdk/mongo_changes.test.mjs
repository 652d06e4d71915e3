// Change streams over a collection, a database and all databases, through MongoDB's driver. Two servers, some seconds.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { eventually } from "./expect.mjs";
import { BSON, errorOf, MongoClient, mongoUri, sharedMongo } from "./mongo.mjs";

// The next events of a stream, in short.
async function take(stream, count) {
  const events = [];
  while (events.length < count) events.push(await stream.next());
  return events;
}
const short = (event) => [event.operationType, event.documentKey?._id ?? event.ns?.coll];

describe("change streams of MongoDB's driver", () => {
  const at = sharedMongo();

  it("tell inserts, updates, replacements and deletes of a collection", async () => {
    const collection = at.collection();
    await collection.insertOne({ _id: 0 });
    const stream = collection.watch();
    await stream.tryNext();
    await collection.insertOne({ _id: 1, a: 1, list: [1, 2, 3] });
    await collection.updateOne({ _id: 1 }, { $set: { "b.c": 2 }, $unset: { a: 1 }, $pop: { list: 1 } });
    await collection.replaceOne({ _id: 1 }, { z: 1 });
    await collection.deleteOne({ _id: 1 });
    const events = await take(stream, 4);
    assert.deepEqual(events.map((one) => one.operationType), ["insert", "update", "replace", "delete"]);
    for (const event of events) {
      assert.deepEqual(event.ns, { db: "test", coll: collection.collectionName });
      assert.deepEqual(event.documentKey, { _id: 1 });
      assert.ok(event.clusterTime instanceof BSON.Timestamp && event.wallTime instanceof Date);
    }
    assert.deepEqual(events[0].fullDocument, { _id: 1, a: 1, list: [1, 2, 3] });
    assert.deepEqual(events[1].updateDescription, { updatedFields: { b: { c: 2 } }, removedFields: ["a"], truncatedArrays: [{ field: "list", newSize: 2 }] });
    assert.equal(events[1].fullDocument, undefined);
    assert.deepEqual(events[2].fullDocument, { _id: 1, z: 1 });
    assert.equal(await stream.tryNext(), null);
    await stream.close();
  });

  it("give the document of an update as it is now, as it was then, and as it was before", async () => {
    const collection = at.collection();
    await collection.insertOne({ _id: 1, n: 0 });
    const streams = ["updateLookup", "whenAvailable", "required"].map((fullDocument) => collection.watch([], { fullDocument, fullDocumentBeforeChange: "whenAvailable" }));
    for (const stream of streams) await stream.tryNext();
    await collection.updateOne({ _id: 1 }, { $inc: { n: 1 } });
    await collection.updateOne({ _id: 1 }, { $inc: { n: 1 } });
    await collection.deleteOne({ _id: 1 });
    const seen = await Promise.all(streams.map((stream) => take(stream, 3)));
    assert.deepEqual(seen.map((events) => events.map((one) => one.fullDocument?.n ?? null)), [[null, null, null], [1, 2, null], [1, 2, null]]);
    assert.deepEqual(seen[0].map((one) => one.fullDocumentBeforeChange.n), [0, 1, 2]);
    for (const stream of streams) await stream.close();
    assert.equal((await errorOf(collection.watch([], { fullDocument: "sometimes" }).tryNext())).code, 2);
  });

  it("have pipelines, which may not change the token", async () => {
    const collection = at.collection();
    await collection.insertOne({ _id: 0 });
    const stream = collection.watch([{ $match: { operationType: "insert", "fullDocument.n": { $gt: 1 } } }, { $project: { "fullDocument.n": 1 } }]);
    await stream.tryNext();
    await collection.insertMany([{ _id: 1, n: 1 }, { _id: 2, n: 2 }, { _id: 3, n: 3 }]);
    assert.deepEqual((await take(stream, 2)).map(({ _id, ...rest }) => rest), [{ fullDocument: { n: 2 } }, { fullDocument: { n: 3 } }]);
    await stream.close();
    const broken = collection.watch([{ $project: { _id: 0 } }]);
    await broken.tryNext();
    await collection.insertOne({ _id: 4 });
    assert.match((await errorOf(broken.next())).message, /_id/);
    await broken.close();
    assert.equal((await errorOf(collection.watch([{ $group: { _id: 1 } }]).tryNext())).code, 20);
  });

  it("go on after any event, with several of one transaction too", async () => {
    const collection = at.collection();
    await collection.insertOne({ _id: 0 });
    const stream = collection.watch();
    await stream.tryNext();
    await collection.insertMany(Array.from({ length: 20 }, (_, i) => ({ _id: i + 1 })));
    const events = await take(stream, 20);
    await stream.close();
    for (const i of [0, 7, 18]) {
      const rest = collection.watch([], { resumeAfter: events[i]._id });
      assert.deepEqual((await take(rest, 19 - i)).map((one) => one.documentKey._id), Array.from({ length: 19 - i }, (_, j) => i + 2 + j));
      assert.equal(await rest.tryNext(), null);
      await rest.close();
    }
    const since = collection.watch([], { startAtOperationTime: events[0].clusterTime });
    assert.deepEqual((await take(since, 20)).map((one) => one.documentKey._id).slice(-20), events.map((one) => one.documentKey._id));
    await since.close();
    assert.equal((await errorOf(collection.watch([], { resumeAfter: { _data: "00" } }).tryNext())).code, 260);
    assert.equal((await errorOf(collection.watch([], { resumeAfter: events[0]._id, startAtOperationTime: events[0].clusterTime }).tryNext())).code, 40674);
  });

  it("tell of all collections of a database, new ones too, and of all databases", async () => {
    const db = at.client.db("watched");
    await db.collection("a").insertOne({ _id: 0 });
    const ofDatabase = db.watch();
    const ofAll = at.client.watch([{ $match: { "ns.db": { $in: ["watched", "later"] } } }]);
    await ofDatabase.tryNext();
    await ofAll.tryNext();
    await db.collection("a").insertOne({ _id: 1 });
    await db.collection("b").insertOne({ _id: 2 });
    await at.client.db("later").collection("c").insertOne({ _id: 3 });
    const seen = (events) => events.map((one) => `${one.ns.coll}${one.documentKey._id}`).sort();
    assert.deepEqual(seen(await take(ofDatabase, 2)), ["a1", "b2"]);
    assert.deepEqual(seen(await take(ofAll, 3)), ["a1", "b2", "c3"]);
    await db.dropDatabase();
    const ends = [];
    while (ends.at(-1)?.operationType !== "invalidate") ends.push(await ofDatabase.next());
    assert.deepEqual(ends.map((one) => one.operationType).sort(), ["drop", "drop", "dropDatabase", "invalidate"]);
    await ofDatabase.close();
    await ofAll.close();
  });

  it("end with their collection: drop, then invalidate; startAfter goes on", async () => {
    const collection = at.collection();
    await collection.insertOne({ _id: 0 });
    const stream = collection.watch();
    await stream.tryNext();
    await collection.insertOne({ _id: 1 });
    assert.deepEqual(short(await stream.next()), ["insert", 1]);
    await collection.drop();
    const events = await take(stream, 2);
    assert.deepEqual(events.map(short), [["drop", collection.collectionName], ["invalidate", undefined]]);
    await stream.close();
    const token = events[1]._id;
    assert.equal((await errorOf(collection.watch([], { resumeAfter: token }).tryNext())).code, 260);
    await collection.insertOne({ _id: 2 });
    const later = collection.watch([], { startAfter: token });
    assert.deepEqual(short(await later.next()), ["insert", 2]);
    await later.close();
  });

  it("may be opened before their collection is there", async () => {
    const collection = at.collection();
    const stream = collection.watch();
    assert.equal(await stream.tryNext(), null);
    await collection.insertOne({ _id: 1 });
    assert.deepEqual(short(await stream.next()), ["insert", 1]);
    await stream.close();
  });

  it("wait for news without a thread each", async () => {
    const collection = at.collection();
    await collection.insertOne({ _id: 0 });
    const streams = Array.from({ length: 60 }, () => collection.watch([], { maxAwaitTimeMS: 30_000 }));
    const client = new MongoClient(mongoUri(at.server));
    const waiting = streams.map((stream) => stream.next());
    await eventually(async () => (await client.db("admin").command({ serverStatus: 1 })).metrics.cursor.open.total >= 60);
    // Others are not kept waiting.
    assert.equal(await client.db("test").collection(collection.collectionName).countDocuments(), 1);
    await collection.insertOne({ _id: 1 });
    assert.deepEqual((await Promise.all(waiting)).map((one) => one.documentKey._id), streams.map(() => 1));
    await Promise.all(streams.map((stream) => stream.close()));
    await client.close();
  });
});

describe("change streams of collections that are split, on a server that dies", () => {
  const at = sharedMongo();

  it("go on with their token, and miss nothing", async () => {
    await at.client.db("admin").command({ shardCollection: "test.split", key: { k: "hashed" } });
    const collection = at.db.collection("split");
    const stream = collection.watch();
    await stream.tryNext();
    const insert = (from) => collection.insertMany(Array.from({ length: 50 }, (_, i) => ({ _id: from + i, k: from + i })));
    await insert(0);
    const first = await take(stream, 30);
    await stream.close();
    await at.db.command({ customAction: "UpdateCollection", collection: "split", offerThroughput: 25_000 });
    const container = at.server.client().database("mongo:test").container("split");
    await eventually(async () => (await container.readPartitionKeyRanges().fetchAll()).resources.length > 1);
    await insert(100);
    await at.client.close();
    await at.server.restart({ hard: true });
    at.client = new MongoClient(mongoUri(at.server));
    const later = at.client.db("test").collection("split").watch([], { resumeAfter: first.at(-1)._id });
    const rest = await take(later, 70);
    assert.equal(await later.tryNext(), null);
    const ids = [...first, ...rest].map((one) => one.documentKey._id).sort((a, b) => a - b);
    assert.deepEqual(ids, Array.from({ length: 100 }, (_, i) => (i < 50 ? i : 50 + i)));
    assert.deepEqual(rest[0].documentKey, { k: rest[0].fullDocument.k, _id: rest[0].fullDocument._id });
    await later.close();
  });
});
