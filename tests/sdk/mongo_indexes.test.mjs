// Indexes through MongoDB's driver: what they find is what a scan finds, in the order of the sort, and explain tells what was
// read. Random documents, the same each time. One server, some seconds.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { eventually } from "./expect.mjs";
import { BSON, Decimal128, errorOf, Long, sharedMongo } from "./mongo.mjs";

const stagesOf = (plan) => (plan ? [plan.stage, ...stagesOf(plan.inputStage)] : []);
const planOf = async (cursor) => (await cursor.explain("queryPlanner")).queryPlanner.winningPlan;
const readsBy = (plan) => (plan.inputStage ? readsBy(plan.inputStage) : plan);
const shown = (value) => BSON.EJSON.stringify(value, { relaxed: false });

// A number below another, the same for the same seed.
function numbers(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor(state / 2 ** 32 * below);
  };
}

const long = "l".repeat(1100);
const scalars = [null, 0, 1, 2, 2.5, -4, NaN, Long.fromString("9007199254740993"), Decimal128.fromString("2.5"), "", "a", "ab", "b", `${long}a`, `${long}b`, `${long}b`,
  true, false, new Date(0), new Date(1e12), { x: 1 }, { x: 2 }, {}];

function documents(random, count, pick) {
  return Array.from({ length: count }, (_, _id) => {
    const made = { _id, n: random(500), k: random(6) };
    for (const name of ["a", "b"]) if (random(8) > 0) made[name] = pick(random);
    if (random(4) > 0) made.in = { deep: random(9) };
    return made;
  });
}

function conditions(random) {
  const value = () => scalars[random(scalars.length)];
  return [() => value(), () => ({ $gt: value() }), () => ({ $lte: value() }), () => ({ $in: [value(), value(), value()] }), () => ({ $gte: random(3), $lt: 3 + random(3) }),
    () => ({ $ne: value() }), () => ({ $exists: random(2) === 0 }), () => null, () => /^a/][random(9)]();
}

function filters(random) {
  const filter = {};
  if (random(2)) filter.a = conditions(random);
  if (random(3) === 0) filter.b = conditions(random);
  if (random(3) === 0) filter.k = random(2) ? random(6) : { $in: [random(6), random(6)] };
  if (random(3) === 0) filter.n = { $gte: random(400), $lt: 100 + random(400) };
  if (random(6) === 0) filter["in.deep"] = { $gt: random(9) };
  if (random(8) === 0) filter.$or = [{ a: conditions(random) }, { k: random(6) }];
  return filter;
}

const keys = [{ a: 1 }, { b: -1 }, { k: 1, n: -1 }, { n: 1 }, { k: 1, a: 1, b: -1 }, { "in.deep": 1, n: 1 }];
const sorts = [undefined, { a: 1 }, { a: -1 }, { b: 1 }, { k: 1, n: -1 }, { k: -1, n: 1 }, { n: -1 }, { n: 1 }, { k: 1, a: 1, b: -1 }, { a: 1, b: -1 }, { "in.deep": 1, n: 1 },
  { "in.deep": -1, n: -1 }, { k: 1, n: 1 }];

// The same documents with and without indexes give the same, for many filters, sorts and limits.
// `ties`: whether sorts may leave some. Then the values that are sorted by are compared.
async function compare(plain, indexed, random, rounds, ties = true) {
  const used = new Set();
  for (let round = 0; round < rounds; ++round) {
    const filter = filters(random);
    const base = sorts[random(sorts.length)];
    const isWhole = !ties || random(2) === 0;
    const sort = base && isWhole ? { ...base, _id: Object.values(base).at(-1) } : base;
    const limit = isWhole && sort ? random(30) : 0;
    const size = 2 + random(200);
    const skip = random(3) ? 0 : 5;
    const find = (collection) => {
      const cursor = collection.find(filter).batchSize(size);
      if (sort) cursor.sort(sort);
      return limit > 0 ? cursor.limit(limit).skip(skip) : cursor;
    };
    const rows = [await find(plain).toArray(), await find(indexed).toArray()];
    const message = `${shown(filter)} ${shown(sort ?? {})} limit ${limit}`;
    const key = (one) => shown(Object.keys(sort ?? {}).map((name) => name.split(".").reduce((at, step) => at?.[step], one) ?? null));
    if (sort && !isWhole) {
      const equal = (one) => key(one).replaceAll(/"\$number\w+"/g, "n").replaceAll(/"(-?\d+)\.0"/g, '"$1"');
      assert.deepEqual(rows[1].map(equal), rows[0].map(equal), message);
    }
    const ids = (all) => all.map((one) => one._id);
    const order = (all) => (sort && isWhole ? all : all.sort((one, other) => one - other));
    assert.deepEqual(order(ids(rows[1])), order(ids(rows[0])), message);
    const plan = await planOf(find(indexed));
    used.add(`${stagesOf(plan).includes("SORT") ? "SORT " : ""}${readsBy(plan).stage} ${readsBy(plan).direction ?? ""}`.trim());
  }
  return used;
}

async function twice(at, made, indexes = keys) {
  const [plain, indexed] = [at.collection(), at.collection()];
  for (const collection of [plain, indexed]) await collection.insertMany(made);
  await indexed.createIndexes(indexes.map((key) => ({ key })));
  await eventually(async () => stagesOf(await planOf(indexed.find({ n: 1 }))).at(-1) === "IXSCAN");
  return [plain, indexed];
}

describe("indexes of MongoDB's driver", () => {
  const at = sharedMongo();

  it("sorts and bounds from indexes give what a scan and a sort give", async () => {
    const random = numbers(3);
    const [plain, indexed] = await twice(at, documents(random, 2500, (next) => scalars[next(scalars.length)]));
    const used = await compare(plain, indexed, random, 250);
    for (const way of ["IXSCAN forward", "IXSCAN backward", "SORT IXSCAN forward"]) assert.ok(used.has(way), [...used].join(", "));
  });

  it("fields with arrays are not taken for others", async () => {
    const random = numbers(4);
    const pick = (next) => (next(4) ? scalars[next(scalars.length)] : Array.from({ length: next(4) }, () => scalars[next(scalars.length)]));
    const [plain, indexed] = await twice(at, documents(random, 2000, pick));
    await compare(plain, indexed, random, 150, false);
    // They come later as well.
    await indexed.updateOne({ _id: 7 }, { $set: { n: [1, 499], in: [{ deep: 1 }, { deep: 8 }] } });
    await plain.updateOne({ _id: 7 }, { $set: { n: [1, 499], in: [{ deep: 1 }, { deep: 8 }] } });
    await compare(plain, indexed, random, 60, false);
  });

  it("a compound index reads the documents between its bounds, and no others", async () => {
    const collection = at.collection();
    await collection.createIndex({ group: 1, at: -1 });
    await collection.insertMany(Array.from({ length: 5000 }, (_, i) => ({ _id: i, group: i % 50, at: i })));
    const stats = async (cursor) => {
      const { executionStats, queryPlanner } = await cursor.explain("executionStats");
      return [executionStats.nReturned, executionStats.totalKeysExamined, executionStats.totalDocsExamined, stagesOf(queryPlanner.winningPlan).join(" ")];
    };
    assert.deepEqual(await stats(collection.find({ group: 7, at: { $gte: 1000, $lt: 2000 } })), [20, 20, 20, "FETCH IXSCAN"]);
    assert.deepEqual(await stats(collection.find({ group: { $in: [7, 8] }, at: { $lt: 100 } })), [4, 4, 4, "FETCH IXSCAN"]);
    assert.deepEqual(await stats(collection.find({ group: 7 }).sort({ at: 1 }).limit(3)), [3, 3, 3, "LIMIT FETCH IXSCAN"]);
    assert.deepEqual(await stats(collection.find().sort({ group: -1, at: 1 }).limit(5)), [5, 5, 5, "LIMIT FETCH IXSCAN"]);
    assert.equal((await stats(collection.find({ group: 7 }).sort({ other: 1 })))[3], "SORT FETCH IXSCAN");
    const newest = await collection.find({ group: 7 }).sort({ at: -1 }).limit(2).toArray();
    assert.deepEqual(newest.map((one) => one.at), [4957, 4907]);
    assert.deepEqual((await collection.findOneAndUpdate({ group: 7 }, { $set: { taken: true } }, { sort: { at: 1 } }))._id, 7);
    assert.deepEqual((await collection.findOneAndDelete({ group: 7 }, { sort: { at: -1 } }))._id, 4957);
  });

  it("a cursor goes on while others write, and gives each document once", async () => {
    const collection = at.collection();
    await collection.createIndex({ n: 1 });
    await collection.insertMany(Array.from({ length: 3000 }, (_, _id) => ({ _id, n: _id % 1000 })));
    const cursor = collection.find().sort({ n: 1 }).batchSize(150);
    const seen = [];
    for await (const { _id } of cursor) {
      seen.push(_id);
      if (seen.length % 150 === 0) await collection.insertOne({ _id: 10_000 + seen.length, n: -1 });
    }
    assert.equal(new Set(seen).size, 3000);
    assert.deepEqual(seen.map((id) => id % 1000), seen.map((id) => id % 1000).sort((a, b) => a - b));
  });

  it("changes of many documents find each once, though they move in the index", async () => {
    const collection = at.collection();
    await collection.createIndex({ n: 1 });
    await collection.insertMany(Array.from({ length: 2000 }, (_, _id) => ({ _id, n: _id })));
    assert.equal((await collection.updateMany({ n: { $gte: 1500 } }, { $inc: { n: 100 } })).modifiedCount, 500);
    assert.equal(await collection.countDocuments({ n: { $gte: 2000, $lt: 2100 } }), 100);
    assert.equal((await collection.deleteMany({ n: { $gte: 1600 } })).deletedCount, 500);
    assert.equal(await collection.countDocuments(), 1500);
  });

  it("several partitions are read in one order", async () => {
    const admin = at.client.db("admin");
    for (const name of ["ranged", "unranged"]) await admin.command({ shardCollection: `test.${name}`, key: { k: "hashed" } });
    const made = documents(numbers(8), 1500, (next) => scalars[next(scalars.length)]).map((one) => ({ ...one, k: one._id % 40 }));
    const [plain, indexed] = ["unranged", "ranged"].map((name) => at.db.collection(name));
    await indexed.createIndexes([{ key: { n: 1, _id: 1 } }, { key: { a: 1 } }]);
    for (const collection of [plain, indexed]) await collection.insertMany(made);
    await at.db.command({ customAction: "UpdateCollection", collection: "ranged", offerThroughput: 45_000 });
    const container = at.server.client().database("mongo:test").container("ranged");
    await eventually(async () => (await container.readPartitionKeyRanges().fetchAll()).resources.length >= 4);
    for (const [filter, sort] of [[{}, { n: 1, _id: 1 }], [{}, { n: -1, _id: -1 }], [{ n: { $gt: 100, $lt: 200 } }, { n: 1, _id: 1 }], [{ a: "ab" }, { _id: 1 }], [{ k: 7 }, { n: 1, _id: 1 }]]) {
      const find = (collection) => collection.find(filter).sort(sort).batchSize(90);
      if (sort.n) assert.deepEqual(stagesOf(await planOf(find(indexed))), ["FETCH", "IXSCAN"], shown(sort));
      assert.deepEqual(await find(indexed).toArray(), await find(plain).toArray(), shown([filter, sort]));
    }
  });

  it("a wildcard index serves every path", async () => {
    const random = numbers(12);
    const pick = (next) => (next(4) ? scalars[next(scalars.length)] : Array.from({ length: next(3) }, () => scalars[next(scalars.length)]));
    const [plain, indexed] = await twice(at, documents(random, 1500, pick), [{ "$**": 1 }]);
    assert.equal(readsBy(await planOf(indexed.find({ "in.deep": 3, k: 2 }))).indexName, "$**_1");
    await compare(plain, indexed, random, 80, false);
    const below = at.collection();
    await below.createIndex({ "in.$**": 1 });
    await below.insertMany(Array.from({ length: 50 }, (_, n) => ({ _id: n, n, in: { deep: n } })));
    assert.deepEqual(stagesOf(await planOf(below.find({ "in.deep": 3 }))), ["FETCH", "IXSCAN"]);
    assert.deepEqual(stagesOf(await planOf(below.find({ n: 3 }))), ["COLLSCAN"]);
  });

  it("a TTL index of a collection that has documents expires those that it should, and no others", async () => {
    const collection = at.collection();
    const ago = (seconds) => new Date(Date.now() - seconds * 1000);
    await collection.insertMany([{ _id: 1, seen: ago(3600) }, { _id: 2, seen: ago(-3600) }, { _id: 3 }, { _id: 4, seen: "no date" },
      ...Array.from({ length: 700 }, (_, i) => ({ _id: 100 + i, seen: ago(i % 2 ? 3600 : -3600) }))]);
    await collection.createIndex({ seen: 1 }, { expireAfterSeconds: 60 });
    assert.deepEqual((await collection.find({ _id: { $lt: 100 } }).sort({ _id: 1 }).toArray()).map((one) => one._id), [2, 3, 4]);
    assert.equal((await collection.find().toArray()).length, 353);
    assert.equal((await collection.find({ seen: { $lt: new Date() } }).toArray()).length, 0);
    await collection.insertOne({ _id: 5, seen: ago(3600) });
    assert.equal(await collection.findOne({ _id: 5 }), null);
    const made = (await collection.indexes()).find((one) => one.name === "seen_1");
    assert.deepEqual(made, { v: 2, key: { seen: 1 }, name: "seen_1", expireAfterSeconds: 60 });
    await collection.dropIndex("seen_1");
    await collection.insertOne({ _id: 6, seen: ago(3600) });
    assert.equal((await collection.findOne({ _id: 6 }))._id, 6);
  });

  it("a hint is obeyed; an index that is dropped is not used", async () => {
    const collection = at.collection();
    await collection.createIndexes([{ key: { a: 1, b: 1 } }, { key: { b: 1 } }]);
    await collection.insertMany(Array.from({ length: 300 }, (_, _id) => ({ _id, a: _id % 3, b: _id % 7 })));
    assert.equal(readsBy(await planOf(collection.find({ b: 3 }).hint("a_1_b_1"))).indexName, "a_1_b_1");
    assert.equal((await collection.find({ b: 3 }).hint("a_1_b_1").toArray()).length, 43);
    assert.equal((await collection.find().hint({ b: 1 }).toArray()).length, 300);
    const cursor = collection.find().sort({ a: 1, b: 1 }).batchSize(100);
    await cursor.next();
    await collection.dropIndex("a_1_b_1");
    assert.equal((await errorOf(cursor.toArray())).code, 175);
    assert.equal((await collection.find().sort({ a: 1, b: 1 }).toArray()).length, 300);
  });

  it("aggregates read their first $match and $sort from an index", async () => {
    const collection = at.collection();
    await collection.createIndex({ kind: 1, n: 1 });
    await collection.insertMany(Array.from({ length: 2000 }, (_, _id) => ({ _id, kind: _id % 4, n: (_id * 7) % 2000 })));
    const pipeline = [{ $match: { kind: 2 } }, { $sort: { n: -1 } }, { $limit: 3 }, { $project: { n: 1 } }];
    assert.deepEqual((await collection.aggregate(pipeline).toArray()).map((one) => one.n), [1998, 1994, 1990]);
    const { executionStats, queryPlanner } = await collection.aggregate(pipeline).explain("executionStats");
    assert.deepEqual([executionStats.totalDocsExamined, readsBy(queryPlanner.winningPlan).indexName], [3, "kind_1_n_1"]);
    const groups = await collection.aggregate([{ $match: { kind: 1, n: { $lt: 100 } } }, { $group: { _id: "$kind", count: { $sum: 1 } } }]).toArray();
    assert.deepEqual(groups, [{ _id: 1, count: 25 }]);
  });
});
