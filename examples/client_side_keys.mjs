// Keys that the client makes: a join, a suffix for a value that is too hot, and a container chosen by a
// hash. The server sees a property like any other; what matters is that every reader computes the
// same, so the rule is in one function.
//   npm install @azure/cosmos && node client_side_keys.mjs https://localhost:8081 KEY
import { createHash } from "node:crypto";

import { runAsScript } from "./run.mjs";

export const bucketOf = (text, buckets) => createHash("sha256").update(text).digest().readUInt32BE(0) % buckets;

// ada-2026-11: one user's month is one logical partition.
export const monthKey = (userId, at) => `${userId}-${at.slice(0, 7)}`;

// A stream that takes more writes than a partition serves, in ten parts. Whoever has the id knows
// the part.
export const suffixes = 10;
export const suffixKey = (streamId, id) => `${streamId}-${bucketOf(id, suffixes)}`;

export async function openStreams(db) {
  const { container } = await db.containers.createIfNotExists({ id: "streams", partitionKey: { paths: ["/key"], version: 2 } });
  return {
    write: (item) => container.items.create({ ...item, key: suffixKey(item.streamId, item.id) }),
    // One partition, one RU.
    read: async (streamId, id) => (await container.item(id, suffixKey(streamId, id)).read()).resource,
    // As many requests as there are suffixes, at once.
    readAll: async (streamId) => (await Promise.all(Array.from({ length: suffixes }, async (_, i) =>
      (await container.items.query("SELECT * FROM c", { partitionKey: `${streamId}-${i}` }).fetchAll()).resources))).flat(),
    keys: async () => (await container.items.query("SELECT DISTINCT VALUE c.key FROM c").fetchAll()).resources,
  };
}

// Client-side partitioning: the client maps a value to one of several containers, each with
// throughput of its own. Ranges of the hash can be moved by changing the table alone.
export async function openShards(db, count) {
  const shards = [];
  for (let i = 0; i < count; ++i) {
    shards.push((await db.containers.createIfNotExists({ id: `shard-${i}`, partitionKey: { paths: ["/userId"], version: 2 } })).container);
  }
  const shardOf = (userId) => shards[bucketOf(userId, shards.length)];
  return {
    shardOf: (userId) => bucketOf(userId, shards.length),
    write: (item) => shardOf(item.userId).items.upsert(item),
    ofUser: async (userId) => (await shardOf(userId).items.query("SELECT * FROM c ORDER BY c.id", { partitionKey: userId }).fetchAll()).resources,
    count: async () => (await Promise.all(shards.map(async (one) => (await one.items.query("SELECT VALUE COUNT(1) FROM c").fetchAll()).resources[0]))),
  };
}

await runAsScript(import.meta.url, async (client) => {
  const { database } = await client.databases.createIfNotExists({ id: "examples" });
  const streams = await openStreams(database);
  for (let i = 0; i < 40; ++i) await streams.write({ id: `e${i}`, streamId: "s1", n: i });
  console.log("one:", (await streams.read("s1", "e7")).n, "all:", (await streams.readAll("s1")).length, "keys:", (await streams.keys()).length);
  const shards = await openShards(database, 3);
  for (let i = 0; i < 30; ++i) await shards.write({ id: `o${i}`, userId: `u${i % 6}` });
  console.log("by shard:", await shards.count(), "of u2:", (await shards.ofUser("u2")).length);
  await database.delete();
});
