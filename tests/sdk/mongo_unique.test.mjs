// Unique indexes over documents that are there: built in the background, given up when documents contradict them.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { eventually } from "./expect.mjs";
import { errorOf, MongoClient, mongoUri, sharedMongo, startMongo } from "./mongo.mjs";

const names = async (collection) => (await collection.indexes()).map((one) => one.name);
const numbered = (count) => Array.from({ length: count }, (_, i) => ({ _id: i, mail: `m${i}`, shop: i % 10 }));

describe("MongoDB: unique indexes of collections that have documents", () => {
  const at = sharedMongo();

  it("hold for the documents that are there, and for those that come", async () => {
    const collection = at.collection();
    await collection.insertMany(numbered(2_000));
    assert.equal(await collection.createIndex({ mail: 1 }, { unique: true }), "mail_1");
    const error = await errorOf(collection.insertOne({ _id: -1, mail: "m1234" }));
    assert.equal(error.code, 11000);
    assert.match(error.message, /index: mail_1 dup key: \{ mail: "m1234" \}$/);
    assert.equal((await errorOf(collection.updateOne({ _id: 5 }, { $set: { mail: "m6" } }))).code, 11000);
    await collection.updateOne({ _id: 6 }, { $set: { mail: "other" } });
    await collection.updateOne({ _id: 5 }, { $set: { mail: "m6" } });
    await collection.deleteOne({ _id: 7 });
    await collection.insertOne({ _id: -7, mail: "m7" });
    // A second one, and one of several fields, beside it.
    await collection.createIndexes([{ key: { shop: 1, mail: 1 }, unique: true }, { key: { shop: 1 } }, { key: { _id: 1, shop: 1 }, unique: true }]);
    assert.deepEqual(await names(collection), ["_id_", "mail_1", "shop_1", "shop_1_mail_1", "_id_1_shop_1"]);
  });

  it("are not made with a collation, by which other texts are the same", async () => {
    const collection = at.collection();
    const error = await errorOf(collection.createIndex({ mail: 1 }, { unique: true, collation: { locale: "en", strength: 2 } }));
    assert.equal(error.code, 238);
    assert.equal(await collection.createIndex({ mail: 1 }, { unique: true, collation: { locale: "simple" } }), "mail_1");
  });

  it("answer 11000 when two documents are the same, and are not made", async () => {
    const collection = at.collection();
    await collection.insertMany([...numbered(500), { _id: "twin", mail: "m17", shop: 99 }]);
    await collection.createIndex({ shop: 1 });
    const error = await errorOf(collection.createIndex({ mail: 1 }, { unique: true }));
    assert.equal(error.code, 11000);
    assert.match(error.message, /^E11000 duplicate key error collection: .* index: mail_1 dup key: \{ mail: "m17" \}$/);
    assert.deepEqual(await names(collection), ["_id_", "shop_1"]);
    await collection.insertOne({ _id: "third", mail: "m17" });
    // Of several indexes none is made.
    const both = await errorOf(collection.createIndexes([{ key: { _id: 1, mail: 1 }, unique: true }, { key: { mail: 1 }, unique: true }, { key: { other: 1 } }]));
    assert.equal(both.code, 11000);
    assert.deepEqual(await names(collection), ["_id_", "shop_1"]);
    await collection.deleteMany({ _id: { $in: ["twin", "third"] } });
    await collection.createIndex({ mail: 1 }, { unique: true });
    assert.equal((await errorOf(collection.insertOne({ mail: "m17" }))).code, 11000);
    // Documents without the field have null.
    await collection.insertOne({ _id: "none" });
    assert.equal((await errorOf(collection.insertOne({ _id: "none too" }))).code, 11000);
  });

  it("that are sparse are of the documents that have a field", async () => {
    const collection = at.collection();
    await collection.insertMany([{ _id: 1, phone: "a" }, { _id: 2 }, { _id: 3 }]);
    await collection.createIndex({ phone: 1 }, { unique: true, sparse: true });
    await collection.insertMany([{ _id: 4 }, { _id: 5, phone: null }]);
    assert.equal((await errorOf(collection.insertOne({ _id: 6, phone: null }))).code, 11000, "null is there");
    const error = await errorOf(collection.insertOne({ _id: 6, phone: "a" }));
    assert.match(error.message, /index: phone_1 dup key: \{ phone: "a" \}$/);
    assert.deepEqual(error.errorResponse.keyPattern, { phone: 1 });
    assert.equal((await errorOf(collection.updateOne({ _id: 2 }, { $set: { phone: "a" } }))).code, 11000);
    await collection.updateOne({ _id: 1 }, { $unset: { phone: 1 } });
    await collection.updateOne({ _id: 2 }, { $set: { phone: "a" } });
    assert.equal((await errorOf(collection.updateOne({ _id: 1 }, { $set: { phone: "a" } }))).code, 11000);
    await collection.deleteOne({ _id: 2 });
    await collection.updateOne({ _id: 1 }, { $set: { phone: "a" } });
    // Of several fields: of documents that have one of them.
    await collection.createIndex({ x: 1, y: 1 }, { unique: true, sparse: true });
    await collection.insertMany([{ _id: 10, x: 1 }, { _id: 11, y: 1 }, { _id: 12 }]);
    assert.equal((await errorOf(collection.insertOne({ _id: 13, x: 1 }))).code, 11000);
    assert.deepEqual((await collection.find({ phone: "a" }).toArray()).map((one) => one._id), [1]);
    assert.equal(await collection.countDocuments(), 7);
  });

  it("that are partial are of the documents that their filter matches", async () => {
    const collection = at.collection();
    const isOpen = { partialFilterExpression: { state: "open", rank: { $gte: 5 } }, unique: true };
    await collection.insertMany([{ _id: 1, room: 1, state: "open", rank: 5 }, { _id: 2, room: 1, state: "open", rank: 4 }, { _id: 3, room: 1, state: "shut", rank: 9 }]);
    await collection.createIndex({ room: 1 }, isOpen);
    assert.deepEqual((await collection.indexes())[1].partialFilterExpression, isOpen.partialFilterExpression);
    assert.equal((await errorOf(collection.insertOne({ _id: 4, room: 1, state: "open", rank: 6 }))).code, 11000);
    await collection.insertOne({ _id: 4, room: 1, state: "open" });
    // Into the filter and out of it.
    assert.equal((await errorOf(collection.updateOne({ _id: 3 }, { $set: { state: "open" } }))).code, 11000);
    await collection.updateOne({ _id: 1 }, { $set: { state: "shut" } });
    await collection.updateOne({ _id: 3 }, { $set: { state: "open" } });
    assert.equal((await errorOf(collection.updateOne({ _id: 2 }, { $inc: { rank: 1 } }))).code, 11000);
    assert.equal((await errorOf(collection.findOneAndUpdate({ _id: 1 }, { $set: { state: "open" } }))).code, 11000);
    await collection.updateOne({ _id: 3 }, { $set: { room: 2 } });
    await collection.updateOne({ _id: 2 }, { $inc: { rank: 1 } });
    // Documents that are there and contradict it.
    const twins = at.collection();
    await twins.insertMany([{ _id: 1, room: 1 }, { _id: 2, room: 1 }, { _id: 3, room: 2, state: "open", rank: 8 }, { _id: 4, room: 2, state: "open", rank: 7 }]);
    const error = await errorOf(twins.createIndex({ room: 1 }, isOpen));
    assert.equal(error.code, 11000);
    assert.match(error.message, /index: room_1 dup key: \{ room: 2 \}$/);
    await twins.updateOne({ _id: 4 }, { $set: { rank: 1 } });
    await twins.createIndex({ room: 1 }, isOpen);
    // Dropped, and made again with another filter.
    await twins.dropIndex("room_1");
    await twins.createIndex({ room: 1 }, { unique: true, partialFilterExpression: { state: { $exists: true }, rank: { $gt: 100 } } });
    await twins.insertOne({ _id: 5, room: 2, state: "open", rank: 8 });
    assert.equal((await errorOf(twins.createIndex({ a: 1 }, { unique: true, sparse: true, partialFilterExpression: { a: 1 } }))).code, 67);
    for (const filter of [{ a: { $ne: 1 } }, { a: { $exists: false } }, { $nor: [{ a: 1 }] }, { a: /x/ }]) {
      assert.equal((await errorOf(twins.createIndex({ a: 1 }, { partialFilterExpression: filter }))).code, 67, JSON.stringify(filter));
    }
  });

  it("can be dropped, and made again", async () => {
    const collection = at.collection();
    await collection.createIndex({ mail: 1 }, { unique: true });
    await collection.insertMany(numbered(100));
    await collection.dropIndex("mail_1");
    assert.deepEqual(await names(collection), ["_id_"]);
    await collection.insertOne({ _id: -1, mail: "m1" });
    assert.equal((await errorOf(collection.createIndex({ mail: 1 }, { unique: true }))).code, 11000);
    await collection.deleteOne({ _id: 1 });
    await collection.createIndex({ mail: -1 }, { unique: true });
    assert.equal((await errorOf(collection.insertOne({ mail: "m1" }))).code, 11000);
    await collection.dropIndexes();
    await collection.insertOne({ mail: "m1" });
  });

  it("are of each shard key value by itself", async () => {
    const db = at.client.db("unique");
    await at.client.db("admin").command({ shardCollection: "unique.places", key: { region: "hashed" } });
    const places = db.collection("places");
    await places.insertMany([{ _id: 1, region: "eu", n: 1 }, { _id: 2, region: "us", n: 1 }, { _id: 3, region: "us", n: 2 }]);
    assert.equal((await errorOf(places.createIndex({ n: 1 }, { unique: true }))).code, 67);
    await places.createIndex({ region: 1, n: 1 }, { unique: true });
    assert.equal((await errorOf(places.insertOne({ _id: 4, region: "us", n: 2 }))).code, 11000);
    await places.insertOne({ _id: 4, region: "eu", n: 2 });
  });

  it("that are partial hold on when their partition is split", async () => {
    const server = await startMongo();
    const client = await MongoClient.connect(mongoUri(server));
    await client.db("admin").command({ shardCollection: "test.split", key: { k: "hashed" } });
    const split = client.db("test").collection("split");
    // Of each key one that the filter matches, and two that it does not.
    await split.insertMany(Array.from({ length: 300 }, (_, i) => ({ _id: i, k: i % 100, mail: 1, ...(i < 100 ? { open: true } : {}) })));
    await split.createIndex({ k: 1, mail: 1 }, { unique: true, partialFilterExpression: { open: true } });
    await client.db("test").command({ customAction: "UpdateCollection", collection: "split", offerThroughput: 25_000 });
    const container = server.client().database("mongo:test").container("split");
    await eventually(async () => (await container.readPartitionKeyRanges().fetchAll()).resources.length > 1);
    for (let i = 0; i < 100; ++i) {
      assert.equal((await errorOf(split.insertOne({ _id: `twin${i}`, k: i, mail: 1, open: true }))).code, 11000);
      await split.updateOne({ k: i, _id: i }, { $set: { open: false } });
      await split.updateOne({ k: i, _id: i + 100 }, { $set: { open: true } });
      assert.equal((await errorOf(split.updateOne({ k: i, _id: i + 200 }, { $set: { open: true } }))).code, 11000);
    }
    await client.close();
    await server.stop();
  });

  it("are built while others write: nothing is lost, and nothing is there twice", async () => {
    const collection = at.collection();
    await collection.insertMany(numbered(3_000));
    let refused = 0;
    let stop = false;
    const writers = Array.from({ length: 4 }, async (_, writer) => {
      for (let i = 0; !stop; ++i) {
        try {
          // Half of them are there already.
          await collection.insertOne({ _id: `${writer}-${i}`, mail: i % 2 === 0 ? `w${writer}-${i}` : `m${i % 3000}` });
          if (i % 2 === 1) await collection.deleteOne({ _id: `${writer}-${i}` });
        } catch (error) {
          assert.equal(error.code, 11000);
          ++refused;
        }
      }
    });
    // A twin may be there for a moment: then it is asked for again.
    for (let tries = 0; ; ++tries) {
      try {
        await collection.createIndex({ mail: 1 }, { unique: true });
        break;
      } catch (error) {
        assert.equal(error.code, 11000);
        assert.ok(tries < 200);
      }
    }
    const before = refused;
    while (refused === before) await new Promise((done) => setTimeout(done, 5));
    stop = true;
    await Promise.all(writers);
    const twice = await collection.aggregate([{ $group: { _id: "$mail", n: { $sum: 1 } } }, { $match: { n: { $gt: 1 } } }]).toArray();
    assert.deepEqual(twice, []);
  });

  it("tell in currentOp how far they are", async () => {
    const collection = at.collection();
    await collection.insertMany(numbered(20_000));
    const admin = at.client.db("admin");
    const seen = [];
    let isDone = false;
    const made = collection.createIndex({ mail: 1 }, { unique: true }).then(() => { isDone = true; });
    while (!isDone) {
      const { inprog } = await admin.command({ currentOp: 1 });
      seen.push(...inprog.filter((one) => one.ns === collection.namespace));
    }
    await made;
    // The command is answered when the build is done: until then it is told.
    assert.ok(seen.length > 0);
    for (const one of seen) {
      assert.equal(one.command.createIndexes, collection.collectionName);
      assert.match(one.msg, /^Index Build: scanning collection \d+%$/);
      assert.equal(one.progress.total, 20_000);
      assert.ok(one.progress.done <= one.progress.total);
    }
    assert.equal((await admin.command({ currentOp: 1 })).inprog.length, 0);
  });
});

describe("MongoDB: unique indexes across a crash", () => {
  it("are there afterwards, or are built by themselves", async () => {
    const server = await startMongo();
    let client = await MongoClient.connect(mongoUri(server));
    const rows = numbered(5_000);
    await client.db("d").collection("whole").insertMany(rows);
    await client.db("d").collection("half").insertMany(rows);
    await client.db("d").collection("twins").insertMany([...rows, { _id: "twin", mail: "m4000" }]);
    await client.db("d").collection("whole").createIndex({ mail: 1 }, { unique: true });
    await client.db("d").collection("some").insertMany([...rows, { _id: "twin", mail: "m1", is: "out" }, { _id: "no" }]);
    await client.db("d").collection("some").createIndex({ mail: 1 }, { unique: true, partialFilterExpression: { shop: { $gte: 0 } } });
    const cut = Promise.allSettled([
      client.db("d").collection("half").createIndex({ mail: 1 }, { unique: true }),
      client.db("d").collection("twins").createIndex({ mail: 1 }, { unique: true }),
    ]);
    // As soon as both are asked for.
    for (;;) {
      const all = await Promise.all(["half", "twins"].map((name) => client.db("d").collection(name).indexes()));
      if (all[0].length === 2) break;
    }
    await server.restart({ hard: true });
    await cut;
    await client.close();
    client = await MongoClient.connect(mongoUri(server));
    const db = client.db("d");
    assert.equal((await errorOf(db.collection("whole").insertOne({ mail: "m1" }))).code, 11000);
    assert.equal((await errorOf(db.collection("some").insertOne({ mail: "m1", shop: 3 }))).code, 11000);
    await db.collection("some").insertOne({ mail: "m1" });
    assert.equal(await db.collection("half").createIndex({ mail: 1 }, { unique: true }), "mail_1");
    assert.equal((await errorOf(db.collection("half").insertOne({ mail: "m4999" }))).code, 11000);
    assert.equal((await errorOf(db.collection("twins").createIndex({ mail: 1 }, { unique: true }))).code, 11000);
    assert.deepEqual(await names(db.collection("twins")), ["_id_"]);
    await client.close();
    await server.close();
  });
});
