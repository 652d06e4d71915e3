// 2dsphere indexes through MongoDB's driver: what they find is what a scan finds, $near and $geoNear give the nearest first, and
// explain tells that no more was read than is needed. Random places, the same each time. One server, some seconds.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { eventually } from "./expect.mjs";
import { errorOf, sharedMongo } from "./mongo.mjs";

const radius_m = 6378100;
const point = (...coordinates) => ({ type: "Point", coordinates });
const square = (x, y, half) => ({ type: "Polygon", coordinates: [[[x - half, y - half], [x + half, y - half], [x + half, y + half], [x - half, y + half], [x - half, y - half]]] });
const ids = (all) => all.map((one) => one._id);

function numbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

// Along a great circle of MongoDB's sphere.
function distance([x1, y1], [x2, y2]) {
  const degree = Math.PI / 180;
  const h = Math.sin((y2 - y1) * degree / 2) ** 2 + Math.cos(y1 * degree) * Math.cos(y2 * degree) * Math.sin((x2 - x1) * degree / 2) ** 2;
  return 2 * radius_m * Math.asin(Math.sqrt(h));
}

// Points as GeoJSON and as pairs, lines, polygons, some without a place; more of them around [10, 50].
function places(random, count) {
  return Array.from({ length: count }, (_, _id) => {
    const near = random() < 0.5;
    const at = near ? [10 + random() * 4 - 2, 50 + random() * 4 - 2] : [random() * 360 - 180, random() * 170 - 85];
    const kind = Math.floor(random() * 10);
    const made = { _id, kind, n: _id };
    if (_id % 17 === 0) return _id % 2 ? made : { ...made, loc: null };
    if (kind === 0) return { ...made, loc: at };
    if (kind === 1) return { ...made, loc: { lng: at[0], lat: at[1] } };
    if (kind === 2) return { ...made, loc: { type: "LineString", coordinates: [at, [at[0] * 0.99, at[1] * 0.99]] } };
    if (kind === 3) return { ...made, loc: square(at[0] * 0.97, at[1] * 0.97, 0.2 + random()) };
    return { ...made, loc: point(...at) };
  });
}

const planOf = async (cursor) => (await cursor.explain("queryPlanner")).queryPlanner.winningPlan;
const readsBy = (plan) => (plan.inputStage ? readsBy(plan.inputStage) : plan);
const isUsed = (collection) => eventually(async () => readsBy(await planOf(collection.find({ loc: { $geoWithin: { $centerSphere: [[10, 50], 1e-6] } } }))).stage === "IXSCAN");
async function read(cursor) {
  const { executionStats, queryPlanner } = await cursor.explain("executionStats");
  const { stage, indexName } = readsBy(queryPlanner.winningPlan);
  return { stage, indexName, returned: executionStats.nReturned, keys: executionStats.totalKeysExamined, documents: executionStats.totalDocsExamined };
}

describe("2dsphere indexes of MongoDB's driver", () => {
  const at = sharedMongo();

  it("are kept as they were asked for, with their version", async () => {
    const collection = at.collection();
    assert.equal(await collection.createIndex({ loc: "2dsphere" }), "loc_2dsphere");
    assert.equal(await collection.createIndex({ "stops.at": "2dsphere", kind: 1 }), "stops.at_2dsphere_kind_1");
    assert.deepEqual((await collection.indexes()).slice(1), [
      { v: 2, key: { loc: "2dsphere" }, name: "loc_2dsphere", "2dsphereIndexVersion": 3 },
      { v: 2, key: { "stops.at": "2dsphere", kind: 1 }, name: "stops.at_2dsphere_kind_1", "2dsphereIndexVersion": 3 },
    ]);
    assert.equal((await errorOf(collection.createIndex({ other: "2dsphere" }, { "2dsphereIndexVersion": 4 }))).code, 67);
  });

  it("find what a scan finds, over whatever region", async () => {
    const random = numbers(7);
    const made = places(random, 3000);
    const [plain, indexed] = [at.collection(), at.collection()];
    for (const collection of [plain, indexed]) await collection.insertMany(made);
    await indexed.createIndex({ loc: "2dsphere", kind: 1 });
    await isUsed(indexed);
    const regions = [];
    for (let i = 0; i < 40; ++i) {
      const [x, y] = i % 2 ? [10 + random() * 3, 50 + random() * 3] : [random() * 320 - 160, random() * 160 - 80];
      const size = [0.05, 0.5, 4][i % 3];
      regions.push({ $geoIntersects: { $geometry: square(x, y, size) } }, { $geoWithin: { $geometry: square(x, y, size) } },
        { $geoWithin: { $geometry: { type: "MultiPolygon", coordinates: [square(x, y, size).coordinates, square(x + 9, y, size).coordinates] } } },
        { $geoWithin: { $centerSphere: [[x, y], size / 57] } }, { $geoWithin: { $box: [[x - size, y - size], [x + size, y + size]] } },
        { $geoWithin: { $center: [[x, y], size] } }, { $geoWithin: { $polygon: [[x - size, y], [x + size, y], [x, y + size]] } },
        { $geoIntersects: { $geometry: { type: "LineString", coordinates: [[x, y], [x + size, y + size]] } } });
    }
    // Across the date line, around a pole, and half of the Earth.
    regions.push({ $geoWithin: { $centerSphere: [[180, 0], 0.3] } }, { $geoWithin: { $centerSphere: [[0, 90], 0.3] } }, { $geoWithin: { $centerSphere: [[0, 0], 1.6] } });
    let found = 0;
    let read_by_index = 0;
    for (const [i, loc] of regions.entries()) {
      const filter = i % 4 === 0 ? { loc, kind: { $gte: 3 } } : i % 4 === 1 ? { $and: [{ loc }, { n: { $lt: 2500 } }] } : { loc };
      const [expected, given] = await Promise.all([plain, indexed].map(async (collection) => ids(await collection.find(filter).toArray()).sort((a, b) => a - b)));
      assert.deepEqual(given, expected, JSON.stringify(filter));
      found += expected.length;
      if (readsBy(await planOf(indexed.find(filter))).stage === "IXSCAN") ++read_by_index;
    }
    // The others leave too many documents for an index to help.
    assert.ok(found > 1000, `${found}`);
    assert.ok(read_by_index > regions.length * 0.75, `${read_by_index} of ${regions.length}`);
    // A small region reads a small part, and the other field of the index as well.
    const small = await read(indexed.find({ loc: { $geoWithin: { $centerSphere: [[10, 50], 20_000 / radius_m] } } }));
    assert.deepEqual([small.stage, small.indexName], ["IXSCAN", "loc_2dsphere_kind_1"]);
    assert.ok(small.returned > 0 && small.documents < 200 && small.keys < 600, JSON.stringify(small));
    const both = await read(indexed.find({ loc: { $geoWithin: { $centerSphere: [[10, 50], 100_000 / radius_m] } }, kind: 5 }));
    const one = await read(indexed.find({ loc: { $geoWithin: { $centerSphere: [[10, 50], 100_000 / radius_m] } } }));
    assert.ok(both.returned > 0 && both.documents < one.documents / 3, JSON.stringify([both, one]));
    assert.equal((await read(plain.find({ loc: { $geoWithin: { $centerSphere: [[10, 50], 0.01] } } }))).stage, "COLLSCAN");
    // Updates and deletes by places, and what moves.
    const { matchedCount } = await indexed.updateMany({ loc: { $geoWithin: { $geometry: square(10, 50, 1) } } }, { $set: { loc: point(-70, -30) } });
    assert.ok(matchedCount > 50);
    assert.equal(await indexed.countDocuments({ loc: { $geoWithin: { $geometry: square(10, 50, 1) } } }), 0);
    assert.equal((await indexed.deleteMany({ loc: { $geoWithin: { $centerSphere: [[-70, -30], 1e-6] } } })).deletedCount, matchedCount);
  });

  it("$near and $nearSphere give the nearest first, and read no more than that takes", async () => {
    const random = numbers(8);
    const collection = at.collection();
    await collection.createIndex({ loc: "2dsphere" });
    const made = Array.from({ length: 4000 }, (_, _id) => ({ _id, even: _id % 2 === 0, loc: point(random() * 20, 40 + random() * 20) }));
    await collection.insertMany(made);
    const from = [10, 50];
    const expected = made.map((one) => ({ ...one, far: distance(one.loc.coordinates, from) })).sort((a, b) => a.far - b.far);
    const near = (more = {}) => ({ loc: { $near: { $geometry: point(...from), ...more } } });
    assert.deepEqual(ids(await collection.find(near()).limit(50).toArray()), ids(expected.slice(0, 50)));
    assert.deepEqual(ids(await collection.find(near()).skip(10).limit(5).toArray()), ids(expected.slice(10, 15)));
    assert.deepEqual(ids(await collection.find(near()).batchSize(100).toArray()), ids(expected), "all of them, in batches");
    const between = expected.filter((one) => one.far >= 50_000 && one.far <= 90_000);
    assert.ok(between.length > 10);
    assert.deepEqual(ids(await collection.find(near({ $minDistance: 50_000, $maxDistance: 90_000 })).toArray()), ids(between));
    assert.deepEqual(ids(await collection.find({ loc: { $nearSphere: from, $maxDistance: 90_000 / radius_m } }).toArray()), ids(expected.filter((one) => one.far <= 90_000)));
    assert.deepEqual(ids(await collection.find({ ...near(), even: true }).limit(20).toArray()), ids(expected.filter((one) => one.even).slice(0, 20)));
    assert.deepEqual(ids(await collection.find(near({ $maxDistance: 90_000 })).sort({ _id: -1 }).limit(3).toArray()), ids(expected.filter((one) => one.far <= 90_000)).sort((a, b) => b - a).slice(0, 3));
    assert.deepEqual(ids(await collection.find({ ...near(), _id: { $in: [1, 2, 3] } }).toArray()), ids(expected.filter((one) => [1, 2, 3].includes(one._id))));
    const plan = await read(collection.find(near()).limit(10));
    assert.deepEqual([plan.stage, plan.indexName, plan.returned], ["GEO_NEAR_2DSPHERE", "loc_2dsphere", 10]);
    assert.ok(plan.documents < 800 && plan.keys < 1600, JSON.stringify(plan));
    // One document is changed, the nearest.
    assert.equal((await collection.findOneAndUpdate(near(), { $set: { taken: true } }))._id, expected[0]._id);
    assert.equal((await collection.updateMany(near({ $maxDistance: 50_000 }), { $set: { close: true } })).matchedCount, expected.filter((one) => one.far <= 50_000).length);
    // In a transaction, with what it has written itself.
    const session = at.client.startSession();
    await session.withTransaction(async () => {
      await collection.insertOne({ _id: "here", loc: point(...from) }, { session });
      assert.deepEqual(ids(await collection.find(near(), { session }).limit(3).toArray()), ["here", ...ids(expected.slice(0, 2))]);
    });
    await session.endSession();
    assert.equal((await collection.findOne(near()))._id, "here");
  });

  it("$geoNear tells how far documents are", async () => {
    const collection = at.collection();
    await collection.createIndex({ "home.at": "2dsphere" });
    await collection.insertMany([{ _id: 1, home: { at: point(0, 1) }, k: 1 }, { _id: 2, home: { at: point(0, 2) }, k: 2 }, { _id: 3, home: [{ at: point(0, 9) }, { at: point(0, 3) }], k: 1 }, { _id: 4 }]);
    const run = (stage, ...more) => collection.aggregate([{ $geoNear: stage }, ...more]).toArray();
    const whole = await run({ near: point(0, 0), distanceField: "far.m", includeLocs: "where", query: { k: { $gt: 0 } } });
    const degree_m = radius_m * Math.PI / 180;
    assert.deepEqual(ids(whole), [1, 2, 3]);
    for (const [i, one] of whole.entries()) assert.ok(Math.abs(one.far.m - (i + 1) * degree_m) < 0.001, `${one.far.m}`);
    assert.deepEqual(whole[2].where, point(0, 3));
    const [first] = await run({ near: [0, 0], spherical: true, distanceField: "d", distanceMultiplier: 10 }, { $limit: 1 });
    assert.ok(Math.abs(first.d - 10 * Math.PI / 180) < 1e-9);
    assert.deepEqual(ids(await run({ near: point(0, 0), distanceField: "d", maxDistance: 2.5 * degree_m, minDistance: 1.5 * degree_m }, { $match: { d: { $gt: 0 } } })), [2]);
    assert.deepEqual(await run({ near: point(0, 0), distanceField: "d", query: { k: 1 } }, { $group: { _id: null, n: { $sum: 1 } } }), [{ _id: null, n: 2 }]);
    // A document with two places is there once; another collection's pipeline may begin with it.
    const joined = await at.collection().aggregate([]).toArray();
    assert.deepEqual(joined, []);
    const union = await at.db.collection(collection.collectionName).aggregate([{ $limit: 1 }, { $project: { _id: 0, k: 1 } },
      { $lookup: { from: collection.collectionName, as: "all", pipeline: [{ $geoNear: { near: point(0, 3), distanceField: "d" } }, { $project: { _id: 1 } }] } }]).toArray();
    assert.deepEqual(ids(union[0].all), [3, 2, 1]);
    const plan = await collection.aggregate([{ $geoNear: { near: point(0, 0), distanceField: "d" } }]).explain("executionStats");
    assert.equal(readsBy(plan.queryPlanner.winningPlan).stage, "GEO_NEAR_2DSPHERE");
    assert.equal(plan.executionStats.totalDocsExamined, 3);
    const failed = async (stages) => (await errorOf(collection.aggregate(stages).toArray())).code;
    assert.equal(await failed([{ $match: {} }, { $geoNear: { near: point(0, 0), distanceField: "d" } }]), 40603);
    assert.equal(await failed([{ $geoNear: { near: point(0, 0) } }]), 16606);
    assert.equal(await failed([{ $geoNear: { near: point(0, 0), distanceField: "d", limit: 5 } }]), 50858);
    assert.equal(await failed([{ $match: { "home.at": { $near: { $geometry: point(0, 0) } } } }]), 5626500);
    assert.equal(await failed([{ $geoNear: { near: point(0, 0), distanceField: "d", key: "other" } }]), 27);
    await collection.createIndex({ work: "2dsphere" });
    assert.equal(await failed([{ $geoNear: { near: point(0, 0), distanceField: "d" } }]), 27);
    assert.deepEqual(ids(await run({ near: point(0, 0), distanceField: "d", key: "home.at" })), [1, 2, 3]);
  });

  it("are needed by $near and $geoNear", async () => {
    const collection = at.collection();
    await collection.insertOne({ _id: 1, loc: point(1, 1) });
    assert.equal((await errorOf(collection.findOne({ loc: { $near: { $geometry: point(0, 0) } } }))).code, 291);
    assert.equal((await errorOf(collection.aggregate([{ $geoNear: { near: point(0, 0), distanceField: "d" } }]).toArray())).code, 27);
    await collection.createIndex({ loc: "2dsphere" });
    assert.equal((await collection.findOne({ loc: { $near: { $geometry: point(0, 0) } } }))._id, 1);
    await collection.dropIndex("loc_2dsphere");
    assert.equal((await errorOf(collection.findOne({ loc: { $near: { $geometry: point(0, 0) } } }))).code, 291);
  });

  it("refuse documents without places, those that are there as well", async () => {
    const collection = at.collection();
    await collection.createIndex({ loc: "2dsphere" });
    const bad = ["here", 5, { a: "b" }, [1], [200, 0], { lng: 0, lat: 95 }, point(181, 0), point("a", 1), { type: "Point" }, { type: "Circle", coordinates: [0, 0] }, [point(1, 1), point(2, 2)],
      { type: "LineString", coordinates: [[0, 0]] }, { type: "Polygon", coordinates: [[[0, 0], [1, 0], [1, 1]]] }, { type: "Polygon", coordinates: [[[0, 0], [1, 0], [1, 1], [0, 1]]] },
      { type: "Polygon", coordinates: [[[0, 0], [1, 1], [1, 0], [0, 1], [0, 0]]] }];
    for (const loc of bad) {
      const error = await errorOf(collection.insertOne({ loc }));
      assert.equal(error.code, 16755, JSON.stringify(loc));
      assert.match(error.message, /^Can't extract geo keys: /);
    }
    await collection.insertMany([{ _id: 1 }, { _id: 2, loc: null }, { _id: 3, loc: [] }, { _id: 4, loc: {} }, { _id: 5, loc: [5, 5] }, { _id: 6, loc: { x: 6, y: 6 } }, { _id: 7, loc: point(7, 7, 100) }]);
    assert.equal((await errorOf(collection.updateOne({ _id: 7 }, { $set: { loc: "there" } }))).code, 16755);
    assert.equal((await errorOf(collection.findOneAndReplace({ _id: 7 }, { loc: 7 }))).code, 16755);
    assert.equal((await errorOf(collection.insertOne({ loc: { type: "GeometryCollection", geometries: [] } }))).code, 238);
    assert.deepEqual(ids(await collection.find({ loc: { $near: { $geometry: point(7, 7) } } }).toArray()), [7, 6, 5]);
    const old = at.collection();
    await old.insertMany([{ loc: point(1, 1) }, { loc: "there" }]);
    assert.equal((await errorOf(old.createIndex({ loc: "2dsphere" }))).code, 16755);
    assert.equal((await old.indexes()).length, 1);
    await old.deleteOne({ loc: "there" });
    await old.createIndex({ loc: "2dsphere" });
  });

  it("are read over all partitions, after a crash too", async () => {
    const random = numbers(9);
    const name = "spread";
    await at.db.command({ customAction: "CreateCollection", collection: name, shardKey: "kind", offerThroughput: 30_000 });
    const collection = at.db.collection(name);
    await collection.createIndex({ loc: "2dsphere" });
    const made = places(random, 600);
    await collection.insertMany(made);
    const from = [10, 50];
    const expected = ids(await collection.find({ loc: { $near: { $geometry: point(...from) } } }).toArray());
    assert.equal(expected.length, made.filter((one) => one.loc).length);
    const points = new Map(made.filter((one) => one.loc?.type === "Point").map((one) => [one._id, distance(one.loc.coordinates, from)]));
    const far = expected.filter((id) => points.has(id)).map((id) => points.get(id));
    assert.deepEqual(far, [...far].sort((a, b) => a - b));
    await at.server.restart({ hard: true });
    await eventually(async () => (await at.db.command({ ping: 1 })).ok === 1);
    assert.deepEqual(ids(await collection.find({ loc: { $near: { $geometry: point(...from) } } }).toArray()), expected);
    assert.deepEqual(ids(await collection.find({ kind: 5, loc: { $near: { $geometry: point(...from) } } }).toArray()), expected.filter((id) => made[id].kind === 5));
  });
});
