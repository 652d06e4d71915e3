// The MongoDB face of several nodes: any of them answers for all. Three nodes each, about a minute.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { MongoClient } from "../sdk/mongo.mjs";
import { freePort } from "../sdk/server.mjs";
import { startCluster, until } from "./cluster.mjs";

// Inside describe(): three nodes, and a driver connected to each.
function mongoNodes(options = {}) {
  const at = {};
  before(async () => {
    const ports = new Map();
    at.cluster = await startCluster(["n1", "n2", "n3"], {
      ...options,
      args: async (name) => {
        ports.set(name, await freePort());
        return ["--mongo-port", String(ports.get(name))];
      },
    });
    at.ports = ports;
    at.clients = new Map();
    for (const name of at.cluster.names) {
      const client = new MongoClient(`mongodb://127.0.0.1:${ports.get(name)}/`, { serverSelectionTimeoutMS: 60_000 });
      await client.connect();
      at.clients.set(name, client);
    }
    at.on = (collection) => [...at.clients.values()].map((client) => client.db("shop").collection(collection));
  });
  after(async () => {
    for (const client of at.clients?.values() ?? []) await client.close();
    await at.cluster?.close();
  });
  return at;
}

// A collection with a shard key, over partitions of several nodes.
async function makeSharded(at, collection) {
  await at.clients.get("n2").db("shop").command({ customAction: "CreateCollection", collection, offerThroughput: 40_000, shardKey: "customer" });
  await spread(at, collection, 4, 1);
  // Wherever balance has put them: the first is at the first node, and so on.
  for (const [i, { id }] of (await partitionsOf(at, collection)).entries()) {
    const node = at.cluster.nodes.get(at.cluster.names[0]);
    const reply = await node.rest()("POST", "/admin/cluster/move",
      { body: { face: "mongo", database: "shop", container: collection, range: Number(id), node: at.cluster.names[i % 3] } });
    assert.ok(reply.status < 300, reply.text);
  }
  return spread(at, collection, 4);
}

async function partitionsOf(at, collection) {
  const node = at.cluster.nodes.get(at.cluster.names[0]);
  const reply = await node.rest()("GET", `/admin/partitions?face=mongo&database=shop&container=${collection}`);
  assert.equal(reply.status, 200, reply.text);
  return reply.body.partitions;
}

async function spread(at, collection, least, nodesAtLeast = 2) {
  return until(`${least} partitions of ${nodesAtLeast} nodes`, async () => {
    const partitions = await partitionsOf(at, collection);
    const nodes = new Set(partitions.map((one) => one.node));
    return partitions.length >= least && nodes.size >= nodesAtLeast && [...nodes].every((name) => at.cluster.nodes.has(name)) && partitions;
  });
}

const numbers = (count) => Array.from({ length: count }, (_, i) => i);

describe("collections of several nodes", () => {
  const at = mongoNodes({ steady: true });

  test("any node takes any command about a collection without a shard key", async () => {
    const on = at.on("plain");
    // The first insert makes it, wherever it is asked for.
    await on[1].insertOne({ _id: 0, n: 0 });
    for (const i of numbers(29)) await on[i % 3].insertOne({ _id: i + 1, n: i + 1 });
    await on[2].createIndex({ n: 1 });
    for (const [i, one] of on.entries()) {
      assert.equal(await one.countDocuments({}), 30);
      assert.deepEqual((await one.find({ n: { $gte: 27 } }).sort({ _id: -1 }).toArray()).map(({ _id }) => _id), [29, 28, 27]);
      assert.equal((await one.findOne({ _id: 7 })).n, 7);
      assert.deepEqual((await one.indexes()).map(({ name }) => name).sort(), ["_id_", "n_1"]);
      assert.equal((await one.updateMany({ n: { $lt: 10 } }, { $inc: { seen: 1 } })).modifiedCount, 10);
      assert.equal((await one.findOneAndUpdate({ _id: 3 }, { $push: { by: i } }, { returnDocument: "after" })).by.length, i + 1);
      assert.equal((await one.updateOne({ _id: `new ${i}` }, { $set: { n: -1 } }, { upsert: true })).upsertedCount, 1);
      assert.equal((await one.deleteOne({ _id: `new ${i}` })).deletedCount, 1);
      const [group] = await one.aggregate([{ $group: { _id: null, sum: { $sum: "$n" } } }]).toArray();
      assert.equal(group.sum, 29 * 15);
      assert.equal((await at.clients.get(`n${i + 1}`).db("shop").command({ collStats: "plain" })).count, 30);
      await assert.rejects(one.insertOne({ _id: 3 }), (error) => error.code === 11000);
    }
    assert.equal((await on[0].findOne({ _id: 3 })).seen, 3);
    await on[0].drop();
    for (const one of on) assert.equal(await one.countDocuments({}), 0);
  });

  test("any node takes commands about partitions of several nodes", async () => {
    await makeSharded(at, "orders");
    const on = at.on("orders");
    const made = (from) => numbers(60).map((i) => ({ _id: `${from}-${i}`, customer: `c${i % 20}`, n: i, from }));
    for (const [i, one] of on.entries()) assert.equal((await one.insertMany(made(i))).insertedCount, 60);
    for (const [i, one] of on.entries()) {
      assert.equal(await one.countDocuments({}), 180);
      assert.equal(await one.countDocuments({ customer: "c7" }), 9);
      // Sorted over all nodes, in batches: the cursor is where it was opened.
      const sorted = await one.find({ from: i }).sort({ n: -1 }).batchSize(7).toArray();
      assert.deepEqual(sorted.map(({ n }) => n), numbers(60).reverse());
      assert.equal((await one.find({}).batchSize(50).toArray()).length, 180);
      assert.equal((await one.find({ customer: "c3" }).batchSize(2).toArray()).length, 9);
      assert.equal((await one.updateMany({ n: 5 }, { $inc: { seen: 1 } })).modifiedCount, 3);
      assert.equal((await one.updateOne({ customer: "c5", _id: `${i}-5` }, { $set: { own: true } })).modifiedCount, 1);
      const taken = await one.findOneAndDelete({ from: i }, { sort: { n: -1 } });
      assert.equal(taken.n, 59);
      await one.insertOne({ ...taken });
      assert.equal((await one.distinct("customer")).length, 20);
      const rows = await one.aggregate([
        { $match: { from: i } }, { $group: { _id: "$customer", sum: { $sum: "$n" } } }, { $sort: { _id: 1 } },
        { $lookup: { from: "orders", localField: "_id", foreignField: "customer", as: "all" } },
      ]).toArray();
      assert.equal(rows.length, 20);
      assert.ok(rows.every(({ all }) => all.length === 9));
      const stats = await at.clients.get(`n${i + 1}`).db("shop").command({ collStats: "orders" });
      assert.equal(stats.count, 180);
      // A document that is there twice tells which it was, wherever it lies.
      const error = await one.insertMany([{ _id: `x${i}`, customer: "c1" }, { _id: `${i}-1`, customer: "c1" }, { _id: `y${i}`, customer: "c2" }],
        { ordered: false }).then(() => undefined, (thrown) => thrown);
      assert.equal(error.code, 11000);
      assert.deepEqual(error.writeErrors.map(({ index }) => index), [1]);
      assert.equal((await one.deleteMany({ _id: { $in: [`x${i}`, `y${i}`] } })).deletedCount, 2);
      await one.aggregate([{ $match: { from: i, n: { $lt: 5 } } }, { $out: `out${i}` }]).toArray();
    }
    for (const i of numbers(3)) for (const one of at.on(`out${i}`)) assert.equal(await one.countDocuments({}), 5);
    assert.equal(await on[1].countDocuments({ seen: 3 }), 3);
  });

  test("documents that contradict a new unique index are told of, whichever node has them", async () => {
    for (const [i, name] of at.cluster.names.entries()) {
      const collection = `twins_${name}`;
      const on = at.on(collection);
      await on[i].insertMany([{ _id: 1, mail: "a" }, { _id: 2, mail: "b" }, { _id: 3, mail: "b" }]);
      const [{ id }] = await partitionsOf(at, collection);
      const reply = await at.cluster.nodes.get(at.cluster.names[0]).rest()("POST", "/admin/cluster/move",
        { body: { face: "mongo", database: "shop", container: collection, range: Number(id), node: name } });
      assert.ok(reply.status < 300, reply.text);
      await until(`${collection} at ${name}`, async () => (await partitionsOf(at, collection))[0].node === name);
      const error = await on[(i + 1) % 3].createIndex({ mail: 1 }, { unique: true }).then(() => undefined, (thrown) => thrown);
      assert.equal(error?.code, 11000, `${error}`);
      assert.match(error.message, /index: mail_1 dup key: \{ mail: "b" \}$/);
      assert.deepEqual((await on[0].indexes()).map((index) => index.name), ["_id_"]);
      await on[i].deleteOne({ _id: 3 });
      assert.equal(await on[(i + 2) % 3].createIndex({ mail: 1 }, { unique: true }), "mail_1");
      await assert.rejects(on[i].insertOne({ mail: "a" }), (thrown) => thrown.code === 11000);
    }
  });

  test("a change stream at any node tells what is written at all of them", async () => {
    await makeSharded(at, "watched");
    const on = at.on("watched");
    const streams = on.map((one) => one.watch([], { maxAwaitTimeMS: 200 }));
    for (const stream of streams) await stream.tryNext();
    for (const i of numbers(30)) await on[i % 3].insertOne({ _id: i, customer: `c${i}` });
    for (const stream of streams) {
      const seen = new Set();
      while (seen.size < 30) seen.add((await stream.next()).documentKey._id);
      await stream.close();
    }
  });

  test("cursors at other nodes are closed by any client that has opened them", async () => {
    const on = at.on("long");
    await on[0].insertMany(numbers(500).map((_id) => ({ _id })));
    for (const one of on) {
      const cursor = one.find({}).batchSize(10);
      await cursor.next();
      const { id } = cursor;
      await cursor.close();
      await assert.rejects(one.db.command({ getMore: id, collection: "long" }), (error) => error.code === 43);
    }
  });

  test("a cursor at another node stays when another user wants it killed", async () => {
    const on = at.on("kept");
    await on[0].insertMany(numbers(10).map((_id) => ({ _id })));
    await at.clients.get("n1").db("shop").command({ createUser: "reader", pwd: "secret", roles: ["read"] });
    for (const [name, client] of at.clients) {
      const mine = client.db("shop");
      const { cursor } = await mine.command({ find: "kept", batchSize: 2 });
      const reader = new MongoClient(`mongodb://reader:secret@127.0.0.1:${at.ports.get(name)}/?authSource=shop`);
      try {
        await reader.connect();
        const { cursorsKilled, cursorsNotFound } = await reader.db("shop").command({ killCursors: "kept", cursors: [cursor.id] });
        assert.deepEqual([cursorsKilled, cursorsNotFound], [[], [cursor.id]], `${name}: it says so`);
        await assert.rejects(reader.db("shop").command({ getMore: cursor.id, collection: "kept" }), (error) => error.code === 13);
      } finally {
        await reader.close();
      }
      const rest = await mine.command({ getMore: cursor.id, collection: "kept", batchSize: 4 });
      assert.equal(rest.cursor.nextBatch.length, 4, name);
      const killed = await mine.command({ killCursors: "kept", cursors: [cursor.id] });
      assert.deepEqual([killed.cursorsKilled, killed.cursorsNotFound], [[cursor.id], []], `${name}: its owner may`);
    }
  });
});

describe("an owner of collections is killed", () => {
  const at = mongoNodes();

  test("writes that may be retried are done once, and nothing acknowledged is lost", async () => {
    await makeSharded(at, "counts");
    const seed = at.on("counts")[0];
    await seed.insertMany(numbers(12).map((i) => ({ _id: i, customer: `c${i}`, n: 0 })));
    const coordinator = await at.cluster.coordinator();
    const victim = (await partitionsOf(at, "counts")).map(({ node }) => node).find((name) => name !== coordinator);
    const survivors = at.cluster.names.filter((name) => name !== victim);
    const done = numbers(12).map(() => 0);
    const unknown = numbers(12).map(() => 0);
    const inserted = [];
    let stops = false;
    const writers = survivors.flatMap((name, at_client) => numbers(4).map(async (writer) => {
      const one = at.clients.get(name).db("shop").collection("counts");
      for (let i = 0; !stops; ++i) {
        const which = (writer + i) % 12;
        try {
          assert.equal((await one.updateOne({ _id: which, customer: `c${which}` }, { $inc: { n: 1 } })).modifiedCount, 1);
          ++done[which];
          const _id = `${at_client} ${writer} ${i}`;
          // Were one that is done not known again, this would be refused as a duplicate.
          await one.insertOne({ _id, customer: `c${i % 12}` });
          inserted.push(_id);
        } catch (error) {
          assert.notEqual(error.code, 11000, error.message);
          ++unknown[which];
        }
      }
    }));
    const written = (least) => until(`${least} writes`, () => inserted.length >= least);
    await written(50);
    await at.cluster.kill(victim);
    const before = inserted.length;
    await spread(at, "counts", 4, 1);
    await written(before + 200);
    stops = true;
    await Promise.all(writers);
    for (const name of survivors) {
      const one = at.clients.get(name).db("shop").collection("counts");
      for (const which of numbers(12)) {
        const { n } = await one.findOne({ _id: which });
        assert.ok(n >= done[which] && n <= done[which] + unknown[which], `${which}: ${n}, ${done[which]} done, ${unknown[which]} unknown`);
      }
      const there = new Set((await one.find({ n: { $exists: false } }, { projection: { _id: 1 } }).toArray()).map(({ _id }) => _id));
      assert.deepEqual(inserted.filter((_id) => !there.has(_id)), []);
    }
    const failed = unknown.reduce((sum, one) => sum + one, 0);
    console.log(`# ${inserted.length} inserts, ${done.reduce((sum, one) => sum + one, 0)} updates, ${failed} failed`);
  });
});
