// Transactions of MongoDB's sessions: all or nothing within a collection, over crashes too. Two servers, some seconds.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import { BSON, errorOf, MongoClient, mongoUri, runByHand, sharedMongo, startMongo } from "./mongo.mjs";

const { Long, UUID } = BSON;

// The statements of one transaction, sent by hand.
function byHand(server, number = 1) {
  const lsid = { id: new UUID() };
  let started = false;
  const send = (command) => {
    const whole = { ...command, $db: command.$db ?? "test", lsid, txnNumber: Long.fromNumber(number), autocommit: false };
    if (!started && !("commitTransaction" in command) && !("abortTransaction" in command)) whole.startTransaction = true;
    started = true;
    return runByHand(server, whole);
  };
  send.commit = (token) => runByHand(server, { commitTransaction: 1, $db: "admin", lsid, txnNumber: Long.fromNumber(number), autocommit: false, recoveryToken: token });
  send.abort = () => runByHand(server, { abortTransaction: 1, $db: "admin", lsid, txnNumber: Long.fromNumber(number), autocommit: false });
  send.lsid = lsid;
  return send;
}

describe("transactions of MongoDB's sessions", () => {
  const at = sharedMongo();
  const filled = async (documents) => {
    const collection = at.collection();
    await collection.insertMany(documents);
    return collection;
  };
  const accounts = () => filled([{ _id: "ada", balance: 100 }, { _id: "bob", balance: 0 }]);
  const all = (collection) => collection.find().sort({ _id: 1 }).toArray();

  it("B1: what is committed is there at once, and nothing before", async () => {
    const collection = await accounts();
    const session = at.client.startSession();
    session.startTransaction();
    await collection.updateOne({ _id: "ada" }, { $inc: { balance: -30 } }, { session });
    await collection.updateOne({ _id: "bob" }, { $inc: { balance: 30 } }, { session });
    await collection.insertOne({ _id: "entry", amount: 30 }, { session });
    assert.deepEqual(await all(collection), [{ _id: "ada", balance: 100 }, { _id: "bob", balance: 0 }]);
    await session.commitTransaction();
    assert.deepEqual(await all(collection), [{ _id: "ada", balance: 70 }, { _id: "bob", balance: 30 }, { _id: "entry", amount: 30 }]);
    await session.commitTransaction();  // again: it is done
    await session.endSession();
  });

  it("statements see what those before them wrote: finds, aggregates, distinct, updates, deletes, upserts, findAndModify", async () => {
    const collection = await filled([{ _id: 1, n: 1 }, { _id: 2, n: 2 }, { _id: 3, n: 3 }]);
    const session = at.client.startSession();
    await session.withTransaction(async () => {
      await collection.insertMany([{ _id: 10, n: 10 }, { _id: 0, n: 0 }], { session });
      assert.equal((await collection.updateMany({ n: { $gte: 2 } }, { $inc: { n: 100 } }, { session })).modifiedCount, 3);
      assert.deepEqual((await collection.find({}, { session }).sort({ _id: 1 }).toArray()).map((one) => one.n), [0, 1, 102, 103, 110]);
      assert.deepEqual((await collection.find({ _id: { $gt: 1, $lt: 10 } }, { session }).toArray()).map((one) => one._id), [2, 3]);
      assert.deepEqual((await collection.find({}, { session }).sort({ _id: -1 }).limit(2).toArray()).map((one) => one._id), [10, 3]);
      assert.equal((await collection.deleteOne({ _id: 1 }, { session })).deletedCount, 1);
      assert.equal(await collection.findOne({ _id: 1 }, { session }), null);
      const upsert = await collection.updateOne({ _id: 77 }, { $set: { n: 7 } }, { upsert: true, session });
      assert.equal(upsert.upsertedId, 77);
      assert.deepEqual(await collection.findOneAndUpdate({ _id: 77 }, { $inc: { n: 1 } }, { session, returnDocument: "after" }), { _id: 77, n: 8 });
      assert.deepEqual(await collection.findOneAndDelete({ _id: 0 }, { session }), { _id: 0, n: 0 });
      assert.deepEqual(await collection.aggregate([{ $group: { _id: null, sum: { $sum: "$n" } } }], { session }).toArray(), [{ _id: null, sum: 323 }]);
      assert.deepEqual((await collection.distinct("n", {}, { session })).sort(), [102, 103, 110, 8]);
      assert.equal(await collection.countDocuments({}, { session }), 4);
      assert.equal(await collection.countDocuments({}), 3, "others see nothing of it");
    });
    await session.endSession();
    assert.deepEqual((await all(collection)).map((one) => one._id), [2, 3, 10, 77]);
  });

  it("what is aborted leaves nothing", async () => {
    const collection = await accounts();
    const session = at.client.startSession();
    const error = await errorOf(session.withTransaction(async () => {
      await collection.updateOne({ _id: "ada" }, { $inc: { balance: -30 } }, { session });
      throw new Error("changed my mind");
    }));
    assert.equal(error.message, "changed my mind");
    assert.equal((await collection.findOne({ _id: "ada" })).balance, 100);
    // The session goes on with the next.
    await session.withTransaction(() => collection.updateOne({ _id: "ada" }, { $inc: { balance: -1 } }, { session }));
    assert.equal((await collection.findOne({ _id: "ada" })).balance, 99);
    await session.endSession();
  });

  it("reads are of the moment when the transaction began", async () => {
    const collection = await accounts();
    const session = at.client.startSession();
    session.startTransaction({ readConcern: { level: "snapshot" } });
    assert.equal((await collection.findOne({ _id: "ada" }, { session })).balance, 100);
    await collection.updateOne({ _id: "ada" }, { $set: { balance: 1 } });
    await collection.insertOne({ _id: "carl" });
    assert.equal((await collection.findOne({ _id: "ada" }, { session })).balance, 100);
    assert.equal(await collection.countDocuments({}, { session }), 2);
    await session.commitTransaction();
    await session.endSession();
  });

  it("the first to commit wins; the other fails with WriteConflict, and withTransaction runs it again", async () => {
    const collection = await accounts();
    const one = at.client.startSession();
    const two = at.client.startSession();
    one.startTransaction();
    two.startTransaction();
    await collection.updateOne({ _id: "ada" }, { $inc: { balance: -10 } }, { session: one });
    await collection.updateOne({ _id: "ada" }, { $inc: { balance: -20 } }, { session: two });
    await one.commitTransaction();
    const error = await errorOf(two.commitTransaction());
    assert.equal(error.code, 112);
    assert.ok(error.hasErrorLabel("TransientTransactionError"));
    assert.equal((await collection.findOne({ _id: "ada" })).balance, 90);

    // Many at once: no update is lost.
    const add = async () => {
      const session = at.client.startSession();
      await session.withTransaction(async () => {
        const { balance } = await collection.findOne({ _id: "ada" }, { session });
        await collection.updateOne({ _id: "ada" }, { $set: { balance: balance + 1 } }, { session });
      });
      await session.endSession();
    };
    await Promise.all(Array.from({ length: 8 }, () => add()));
    assert.equal((await collection.findOne({ _id: "ada" })).balance, 98);
    await Promise.all([one.endSession(), two.endSession()]);
  });

  it("a write outside wins over a transaction that wrote the same document", async () => {
    const collection = await accounts();
    const session = at.client.startSession();
    session.startTransaction();
    await collection.deleteOne({ _id: "bob" }, { session });
    await collection.updateOne({ _id: "bob" }, { $set: { balance: 5 } });
    const error = await errorOf(session.commitTransaction());
    assert.equal(error.code, 112);
    assert.equal((await collection.findOne({ _id: "bob" })).balance, 5);
    await session.endSession();
  });

  it("a statement that fails ends its transaction", async () => {
    const collection = await accounts();
    const session = at.client.startSession();
    session.startTransaction();
    await collection.insertOne({ _id: "new" }, { session });
    const duplicate = await errorOf(collection.insertOne({ _id: "ada" }, { session }));
    assert.equal(duplicate.code, 11000);
    const after = await errorOf(collection.findOne({}, { session }));
    assert.equal(after.code, 251);
    assert.ok(after.hasErrorLabel("TransientTransactionError"));
    assert.equal((await errorOf(session.commitTransaction())).code, 251);
    assert.equal(await collection.findOne({ _id: "new" }), null);
    await session.endSession();
  });

  it("a duplicate of a unique index is told by the commit", async () => {
    const collection = at.collection();
    await collection.createIndex({ email: 1 }, { unique: true });
    await collection.insertOne({ _id: 1, email: "a@b" });
    const session = at.client.startSession();
    session.startTransaction();
    await collection.insertOne({ _id: 2, email: "a@b" }, { session });
    const error = await errorOf(session.commitTransaction());
    assert.equal(error.code, 11000);
    assert.match(error.message, /E11000 duplicate key error collection: .* index: email_1 dup key: \{ email: "a@b" \}/);
    assert.equal(await collection.countDocuments(), 1);
    await session.endSession();
  });

  it("cursors of a transaction go on in it, and in it alone", async () => {
    const collection = await filled(Array.from({ length: 300 }, (_, i) => ({ _id: i })));
    const session = at.client.startSession();
    session.startTransaction();
    await collection.deleteMany({ _id: { $gte: 290 } }, { session });
    const cursor = collection.find({}, { session, batchSize: 50 });
    let seen = 0;
    for await (const one of cursor) {
      if (seen === 0) await collection.insertOne({ _id: 1000 });
      assert.ok(one._id < 290);
      ++seen;
    }
    assert.equal(seen, 290);
    const left = collection.find({}, { session, batchSize: 50 });
    await left.next();
    const id = left.id;
    const outside = await errorOf(at.db.command({ getMore: id, collection: collection.collectionName }));
    assert.equal(outside.code, 50740);
    await session.commitTransaction();
    await session.endSession();
    assert.equal(await collection.countDocuments(), 291);
  });

  it("a second collection can be read, and not written", async () => {
    const one = await accounts();
    const two = await accounts();
    const session = at.client.startSession();
    session.startTransaction();
    await one.updateOne({ _id: "ada" }, { $inc: { balance: 1 } }, { session });
    assert.equal((await two.findOne({ _id: "ada" }, { session })).balance, 100);
    assert.equal((await one.aggregate([{ $lookup: { from: two.collectionName, localField: "_id", foreignField: "_id", as: "other" } }], { session }).toArray())[0].other.length, 1);
    const error = await errorOf(two.updateOne({ _id: "ada" }, { $inc: { balance: 1 } }, { session }));
    assert.equal(error.code, 263);
    assert.match(error.message, /one collection/);
    await errorOf(session.commitTransaction());
    assert.equal((await one.findOne({ _id: "ada" })).balance, 100);
    await session.endSession();
  });

  it("of a sharded collection, one value of the shard key", async () => {
    const collection = at.collection();
    await at.client.db("admin").command({ shardCollection: `test.${collection.collectionName}`, key: { region: "hashed" } });
    await collection.insertMany([{ _id: 1, region: "eu", n: 0 }, { _id: 2, region: "eu", n: 0 }, { _id: 3, region: "us", n: 0 }]);
    const session = at.client.startSession();
    await session.withTransaction(async () => {
      await collection.updateMany({ region: "eu" }, { $inc: { n: 1 } }, { session });
      await collection.insertOne({ _id: 4, region: "eu", n: 1 }, { session });
    });
    assert.equal(await collection.countDocuments({ n: 1 }), 3);
    session.startTransaction();
    await collection.updateOne({ region: "eu", _id: 1 }, { $inc: { n: 1 } }, { session });
    const other = await errorOf(collection.updateOne({ region: "us", _id: 3 }, { $inc: { n: 1 } }, { session }));
    assert.equal(other.code, 263);
    await session.abortTransaction();
    session.startTransaction();
    const all = await errorOf(collection.find({}, { session }).toArray());
    assert.equal(all.code, 263);
    assert.match(all.message, /shard key/);
    await session.abortTransaction();
    await session.endSession();
  });

  it("what a transaction cannot have says so", async () => {
    const { server } = at;
    const collection = await accounts();
    for (const command of [{ count: collection.collectionName }, { create: "made" }, { ping: 1 }, { listCollections: 1 }]) {
      const answer = await byHand(server)(command);
      assert.deepEqual([answer.ok, answer.code], [0, 263], JSON.stringify(command));
    }
    const out = await byHand(server)({ aggregate: collection.collectionName, pipeline: [{ $out: "other" }], cursor: {} });
    assert.equal(out.code, 263);
    const concern = await byHand(server)({ insert: collection.collectionName, documents: [{}], writeConcern: { w: 1 } });
    assert.equal(concern.code, 72);
    const large = byHand(server);
    for (let i = 0; i < 2; ++i) {
      const answer = await large({ insert: collection.collectionName, documents: [{ text: "x".repeat(9 << 20) }] });
      assert.equal(answer.code, i === 0 ? undefined : 257);
    }
    assert.equal(await collection.countDocuments(), 2);
  });

  it("numbers that are not known, old, or used", async () => {
    const { server } = at;
    const collection = await accounts();
    const nobody = await byHand(server).commit();
    assert.equal(nobody.code, 251);
    assert.deepEqual(nobody.errorLabels, ["TransientTransactionError"]);
    const send = byHand(server, 5);
    assert.equal((await send({ find: collection.collectionName })).ok, 1);
    const again = await runByHand(server, { find: collection.collectionName, $db: "test", lsid: send.lsid, txnNumber: Long.fromNumber(5), autocommit: false, startTransaction: true });
    assert.equal(again.code, 117);
    const old = await runByHand(server, { find: collection.collectionName, $db: "test", lsid: send.lsid, txnNumber: Long.fromNumber(4), autocommit: false });
    assert.equal(old.code, 225);
    assert.equal((await send.abort()).ok, 1);
    assert.equal((await send.abort()).code, 251);
    const done = byHand(server);
    await done({ insert: collection.collectionName, documents: [{ _id: "x" }] });
    assert.equal((await done.commit()).ok, 1);
    assert.equal((await done.abort()).code, 256);
    assert.equal((await done({ find: collection.collectionName })).code, 256);
  });

  it("two statements of one transaction at the same time are done one after the other", async () => {
    const collection = at.collection();
    await collection.insertOne({ _id: "first" });
    const session = at.client.startSession();
    session.startTransaction();
    await collection.insertOne({ _id: "a" }, { session });
    await Promise.all(Array.from({ length: 5 }, (_, i) => collection.insertOne({ _id: i }, { session })));
    await session.commitTransaction();
    assert.equal(await collection.countDocuments(), 7);
    await session.endSession();
  });

  it("ends with its session, and with the next write of it", async () => {
    const collection = await accounts();
    for (const end of [
      (session) => at.client.db("admin").command({ killSessions: [session.id] }),
      (session) => at.client.db("admin").command({ endSessions: [session.id] }),
      () => at.client.db("admin").command({ killAllSessions: [] }),
    ]) {
      const session = at.client.startSession();
      session.startTransaction();
      await collection.insertOne({ _id: "x" }, { session });
      await end(session);
      assert.equal((await errorOf(session.commitTransaction())).code, 251);
      await session.endSession();
    }
    const send = byHand(at.server);
    await send({ insert: collection.collectionName, documents: [{ _id: "y" }] });
    const write = await runByHand(at.server, { insert: collection.collectionName, documents: [{ _id: "z" }], $db: "test", lsid: send.lsid, txnNumber: Long.fromNumber(2) });
    assert.equal(write.n, 1);
    assert.equal((await send.commit()).code, 251);
    assert.deepEqual((await all(collection)).map((one) => one._id), ["ada", "bob", "z"]);
  });

  it("tells how long a transaction may be open, and how many are", async () => {
    const admin = at.client.db("admin");
    const { transactionLifetimeLimitSeconds } = await admin.command({ getParameter: 1, transactionLifetimeLimitSeconds: 1 });
    assert.equal(transactionLifetimeLimitSeconds, 60);
    const collection = await accounts();
    const counts = async () => (await admin.command({ serverStatus: 1 })).transactions;
    const before = await counts();
    const send = byHand(at.server);
    await send({ insert: collection.collectionName, documents: [{ _id: "open" }] });
    assert.equal((await counts()).currentOpen, before.currentOpen + 1);
    await send.abort();
    const { currentOpen, totalStarted, totalAborted } = await counts();
    assert.deepEqual([currentOpen, totalStarted, totalAborted], [before.currentOpen, before.totalStarted + 1, before.totalAborted + 1]);
  });

  it("change streams tell what was committed", async () => {
    const collection = await accounts();
    const stream = collection.watch();
    await stream.tryNext();
    const session = at.client.startSession();
    await session.withTransaction(async () => {
      await collection.updateOne({ _id: "ada" }, { $inc: { balance: -30 } }, { session });
      await collection.insertOne({ _id: "entry" }, { session });
    });
    assert.deepEqual([(await stream.next()).operationType, (await stream.next()).operationType], ["update", "insert"]);
    await stream.close();
    await session.endSession();
  });
});

describe("commits of MongoDB's transactions", () => {
  let server;
  let client;
  before(async () => {
    server = await startMongo();
    client = new MongoClient(mongoUri(server));
    await client.connect();
  });
  after(async () => {
    await client?.close();
    await server?.close();
  });
  const crash = async () => {
    await client.close();
    await server.restart({ hard: true });
    client = new MongoClient(mongoUri(server));
    await client.connect();
  };

  it("are there after a crash, and are told to who asks again; what was open is gone", async () => {
    const collection = () => client.db("test").collection("durable");
    await collection().insertOne({ _id: 0, n: 0 });
    const done = byHand(server);
    await done({ insert: "durable", documents: [{ _id: 1 }, { _id: 2 }] });
    const { recoveryToken } = await done({ update: "durable", updates: [{ q: { _id: 0 }, u: { $inc: { n: 1 } } }] });
    assert.deepEqual(recoveryToken, { namespace: "test.durable" });
    assert.equal((await done.commit(recoveryToken)).ok, 1);
    const open = byHand(server);
    await open({ insert: "durable", documents: [{ _id: 3 }] });
    for (let i = 0; i < 2; ++i) {
      await crash();
      assert.equal((await done.commit(recoveryToken)).ok, 1, "with the token");
      assert.equal((await done.commit()).ok, 1, "without");
      assert.equal((await open.commit(recoveryToken)).code, 251);
      assert.deepEqual(await collection().find().sort({ _id: 1 }).toArray(), [{ _id: 0, n: 1 }, { _id: 1 }, { _id: 2 }]);
    }
  });
});
