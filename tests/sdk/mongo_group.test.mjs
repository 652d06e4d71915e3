// $group, $sortByCount and $count over a collection with several partitions, which are grouped by several threads: what comes out
// is what one thread makes of the same documents in one partition, in the same order.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { eventually } from "./expect.mjs";
import { BSON, Decimal128, errorOf, Long, sharedMongo } from "./mongo.mjs";

const shown = (value) => BSON.EJSON.stringify(value, { relaxed: false });

// Numbers that are the same in every run.
function numbers(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor(state / 2 ** 32 * below);
  };
}

// Some are equal, and some under a collation.
const keys = [1, 1.5, new BSON.Double(1), Long.fromNumber(1), Decimal128.fromString("1.0"), NaN, 0, new BSON.Double(-0), null, "a", "A", "b", true, [1, "a"], { x: 1 },
  { x: Long.fromNumber(1) }, new Date(5)];
// Sums of these are exact in every order.
const values = [1, -7, Long.fromString("4000000000"), 0.125, -3.5, Decimal128.fromString("2.50"), "text", "TEXT", null, [1, 2], { p: 1 }, false];
const accumulators = [{ $sum: "$v" }, { $sum: 1 }, { $avg: "$v" }, { $min: "$v" }, { $max: "$v" }, { $first: "$v" }, { $last: "$n" }, { $push: "$n" }, { $addToSet: "$v" },
  { $count: {} }, { $firstN: { input: "$n", n: 3 } }, { $lastN: { input: "$v", n: 3 } }, { $minN: { input: "$v", n: 3 } }, { $maxN: { input: "$n", n: 3 } },
  { $top: { sortBy: { v: 1 }, output: "$n" } }, { $bottomN: { sortBy: { v: 1 }, output: "$n", n: 3 } }, { $median: { input: "$v", method: "approximate" } },
  { $stdDevPop: "$v" }];

describe("MongoDB: groups over several partitions", () => {
  const at = sharedMongo();

  // The same documents in one partition and in four.
  async function made(documents) {
    const admin = at.client.db("admin");
    const names = [1, 4].map((partitions) => `group${partitions}_${documents.length}`);
    for (const name of names) {
      await admin.command({ shardCollection: `test.${name}`, key: { shard: "hashed" } });
      await at.db.collection(name).insertMany(documents);
    }
    await at.db.command({ customAction: "UpdateCollection", collection: names[1], offerThroughput: 45_000 });
    const ranges = async (name) => (await at.server.client().database("mongo:test").container(name).readPartitionKeyRanges().fetchAll()).resources.length;
    await eventually(async () => await ranges(names[1]) >= 4);
    assert.equal(await ranges(names[0]), 1);
    return names.map((name) => at.db.collection(name));
  }

  it("partitions give what one gives, and in its order", async () => {
    const random = numbers(16);
    const pick = (list) => list[random(list.length)];
    const [one, four] = await made(Array.from({ length: 2000 }, (_, n) => ({ _id: n, n, shard: random(300), ...(random(10) ? { k: pick(keys) } : {}),
      ...(random(10) ? { v: pick(values) } : {}) })));
    for (let round = 0; round < 80; ++round) {
      const fields = Object.fromEntries(Array.from({ length: random(5) }, (_, i) => [`f${i}`, pick(accumulators)]));
      const group = { $group: { _id: pick(["$k", "$k", null, { k: "$k", v: "$v" }]), ...fields } };
      const pipeline = [...(random(3) ? [] : [{ $match: { n: { $gte: random(2000) } } }]), pick([group, group, group, { $count: "all" }, { $sortByCount: "$k" }])];
      const options = { promoteValues: false, ...(random(3) ? {} : { collation: { locale: "en", strength: 2 } }) };
      assert.equal(shown(await four.aggregate(pipeline, options).toArray()), shown(await one.aggregate(pipeline, options).toArray()), shown([round, pipeline, options]));
    }
  });

  it("is told, charged and refused as if one thread had read", async () => {
    const [one, four] = await made(Array.from({ length: 1500 }, (_, n) => ({ _id: n, shard: n % 97, text: `${n}`.padStart(4, "0").repeat(4000 / 4) })));
    const pipeline = [{ $group: { _id: "$shard", n: { $sum: 1 } } }];
    const charge = async (collection) => {
      await collection.aggregate(pipeline).toArray();
      return (await at.db.command({ getLastRequestStatistics: 1 })).RequestCharge;
    };
    assert.ok(Math.abs(await charge(four) - await charge(one)) < 0.01);
    for (const collection of [one, four]) {
      const { executionStats } = await collection.aggregate(pipeline).explain("executionStats");
      assert.equal(executionStats.totalDocsExamined, 1500);
    }
    // Parts may keep less than the whole may: this is more than theirs, and is done by one thread.
    const pushed = await four.aggregate([{ $group: { _id: null, all: { $push: "$text" } } }, { $project: { n: { $size: "$all" } } }]).toArray();
    assert.deepEqual(pushed, [{ _id: null, n: 1500 }]);
    // An error is that of the first document in order.
    for (const collection of [one, four]) {
      assert.equal((await errorOf(collection.aggregate([{ $group: { _id: { $divide: [1, { $subtract: ["$_id", 700] }] } } }]).toArray())).code, 2);
    }
    const many = await Promise.all(Array.from({ length: 12 }, () => four.aggregate(pipeline).toArray()));
    for (const rows of many) assert.equal(shown(rows), shown(many[0]));
  });
});
