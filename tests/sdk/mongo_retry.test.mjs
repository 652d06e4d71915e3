// Retryable writes: what was done is done once, whatever happens to the server between a write and its retry. Two
// servers, some seconds.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import { eventually } from "./expect.mjs";
import { BSON, MongoClient, mongoUri, runByHand, startMongo } from "./mongo.mjs";

const { Long, UUID } = BSON;

describe("retryable writes of MongoDB's drivers", () => {
  let server;
  let client;
  const connect = () => {
    client = new MongoClient(mongoUri(server));
    return client.connect();
  };
  before(async () => {
    server = await startMongo();
    await connect();
  });
  after(async () => {
    await client?.close();
    await server?.close();
  });
  const crash = async () => {
    await client.close();
    await server.restart({ hard: true });
    await connect();
  };
  const all = (name) => client.db("test").collection(name).find().sort({ _id: 1 }).toArray();
  // A session that sends the command, and sends it again when asked to.
  const write = (command, number = 1) => {
    const whole = { ...command, lsid: { id: new UUID() }, txnNumber: Long.fromNumber(number), $db: "test" };
    return () => runByHand(server, whole);
  };

  it("statement ids that are none are refused, and nothing is done", async () => {
    const documents = [{ _id: 1 }, { _id: 2 }];
    for (const ids of [{ stmtIds: [0.5, 1] }, { stmtIds: [NaN, NaN] }, { stmtIds: 1 }, { stmtIds: [-1, 0] }, { stmtId: "1" }]) {
      const { ok, code } = await write({ insert: "none", documents, ...ids })();
      assert.deepEqual([ok, code], [0, 14], JSON.stringify(ids));
    }
    assert.deepEqual(await all("none"), []);
    assert.equal((await runByHand(server, { killCursors: "none", cursors: [NaN], $db: "test" })).code, 14);
  });

  it("a fail point makes commands fail as often as it says, and takes no code that is none", async () => {
    const run = (command) => runByHand(server, command);
    const set = (mode, data) => run({ configureFailPoint: "failCommand", mode, data, $db: "admin" });
    const find = async () => (await run({ find: "any", $db: "test" })).code;
    assert.equal((await set({ times: 1 }, { failCommands: ["find"], errorCode: 8000 })).ok, 1);
    assert.deepEqual([await find(), await find()], [8000, undefined]);
    assert.equal((await set("alwaysOn", { failCommands: ["find"], errorCode: 91 })).ok, 1);
    assert.deepEqual([await find(), await find()], [91, 91]);
    assert.equal((await set("off")).ok, 1);
    for (const errorCode of [NaN, 1e300, 0.5, "91"]) {
      assert.equal((await set("alwaysOn", { failCommands: ["find"], errorCode })).code, 14, String(errorCode));
    }
    assert.equal(await find(), undefined);
  });

  it("a write is done once, across a crash: inserts, updates, upserts, deletes, findAndModify", async () => {
    await client.db("test").collection("docs").insertMany([{ _id: 1, n: 0 }, { _id: 2, n: 0 }, { _id: 3, n: 0 }, { _id: 4, n: 0 }]);
    const insert = write({ insert: "inserted", documents: [{ _id: 1 }, { _id: 2 }, { _id: 3 }] });
    const unordered = write({ insert: "inserted", documents: [{ _id: 1 }, { _id: 7 }, { _id: 8 }], ordered: false });
    const update = write({ update: "docs", updates: [
      { q: { _id: 1 }, u: { $inc: { n: 1 } } },
      { q: { _id: 9 }, u: { $inc: { n: 1 } }, upsert: true },
      { q: { n: 0 }, u: { $inc: { n: 1 } } },
    ] });
    const remove = write({ delete: "docs", deletes: [{ q: { _id: { $gte: 3 } }, limit: 1 }] });
    const found = write({ findAndModify: "docs", query: { _id: 4 }, update: { $inc: { n: 10 } }, fields: { n: 1 } });
    const foundNew = write({ findAndModify: "docs", query: { _id: 20 }, update: { $inc: { n: 10 } }, new: true, upsert: true });
    const taken = write({ findAndModify: "inserted", query: { _id: 8 }, remove: true });
    const sent = [insert, unordered, update, remove, found, foundNew, taken];
    const core = ({ ok, n, nModified, upserted, writeErrors, value, lastErrorObject }) => ({ ok, n, nModified, upserted, errors: writeErrors?.map((one) => [one.index, one.code]), value, lastErrorObject });
    const first = [];
    for (const run of sent) first.push(core(await run()));
    assert.deepEqual(first.map((one) => one.n), [3, 2, 3, 1, undefined, undefined, undefined]);
    assert.deepEqual(first[1].errors, [[0, 11000]]);
    assert.deepEqual(first[4].value, { _id: 4, n: 0 });
    assert.deepEqual(first[6].value, { _id: 8 });
    const before = [await all("docs"), await all("inserted")];
    // In memory, then from what was kept with the writes, twice.
    for (let attempt = 0; attempt < 3; ++attempt) {
      for (const [i, run] of sent.entries()) assert.deepEqual(core(await run()), first[i], `write ${i}, attempt ${attempt}`);
      assert.deepEqual([await all("docs"), await all("inserted")], before);
      await crash();
    }
  });

  it("what was done of a batch is not done again, and the rest is", async () => {
    const lsid = { id: new UUID() };
    const send = (documents) => runByHand(server, { insert: "parts", documents, lsid, txnNumber: Long.fromNumber(5), $db: "test" });
    assert.equal((await send([{ _id: 1 }, { _id: 2 }])).n, 2);
    await crash();
    const again = await send([{ _id: 1 }, { _id: 2 }, { _id: 3 }]);
    assert.deepEqual([again.n, again.writeErrors], [3, undefined]);
    assert.deepEqual(await all("parts"), [{ _id: 1 }, { _id: 2 }, { _id: 3 }]);
    await crash();
    assert.equal((await runByHand(server, { delete: "parts", deletes: [{ q: { _id: 1 }, limit: 1 }], lsid, txnNumber: Long.fromNumber(5), $db: "test" })).code, 217);
    assert.equal((await runByHand(server, { delete: "parts", deletes: [{ q: {}, limit: 0 }], lsid, txnNumber: Long.fromNumber(6), $db: "test" })).code, 72);
  });

  it("nobody sees what is kept for retries", async () => {
    const run = write({ insert: "seen", documents: Array.from({ length: 10 }, (_, _id) => ({ _id })) });
    assert.equal((await run()).n, 10);
    assert.equal((await all("seen")).length, 10);
    assert.equal((await client.db("test").command({ collStats: "seen" })).count, 10);
    const container = server.client().database("mongo:test").container("seen");
    assert.equal((await container.items.query("SELECT * FROM c").fetchAll()).resources.length, 10);
    assert.equal((await container.items.readAll().fetchAll()).resources.length, 10);
  });

  it("a partition that is split in between knows what it has done", async () => {
    const admin = client.db("admin");
    await admin.command({ shardCollection: "test.split", key: { k: "hashed" } });
    const documents = Array.from({ length: 40 }, (_, _id) => ({ _id, k: _id, n: 0 }));
    const insert = write({ insert: "split", documents });
    // Without the shard key: any partition may have done it.
    const update = write({ update: "split", updates: documents.map(({ _id }) => ({ q: { _id, n: 0 }, u: { $inc: { n: 1 } } })) });
    assert.equal((await insert()).n, 40);
    assert.equal((await update()).nModified, 40);
    await client.db("test").command({ customAction: "UpdateCollection", collection: "split", offerThroughput: 25_000 });
    const container = server.client().database("mongo:test").container("split");
    await eventually(async () => (await container.readPartitionKeyRanges().fetchAll()).resources.length > 1);
    await crash();
    assert.deepEqual([(await insert()).n, (await update()).nModified], [40, 40]);
    assert.deepEqual((await all("split")).map((one) => one.n), documents.map(() => 1));
  });

  it("the driver's own retries are done once, whenever the server dies", async () => {
    const counters = client.db("test").collection("counters");
    await counters.insertOne({ _id: "c", n: 0 });
    let done = 0;
    let stopped = false;
    const counting = (async () => {
      while (!stopped) {
        try {
          await counters.updateOne({ _id: "c" }, { $inc: { n: 1 } });
          ++done;
        } catch {
          // The server was away for longer than one retry: this one may be done or not.
          return;
        }
      }
    })();
    await eventually(() => done >= 20);
    await server.restart({ hard: true });
    stopped = true;
    await counting;
    const { n } = await counters.findOne({ _id: "c" });
    assert.ok(n === done || n === done + 1, `${n} of ${done} done`);
  });
});
