// A node dies by its own hand at every named point of a take-over, a move, a split and a merge (ORRERY_FAULT, base/fault.h), under a
// load whose history is checked. That it was killed by SIGKILL, which no test sent, shows that it got there. Each point has a
// cluster of its own; about 8 s each, mostly spent waiting for leases to end, so two run at a time.
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { makeContainer, startCluster, until } from "./cluster.mjs";
import { Load } from "./load.mjs";

const three = ["n1", "n2", "n3"];

// The first node is the coordinator. `trigger` makes `armed` pass the point; it may fail, as the node dies on the way.
async function crashAt(point, armed, trigger) {
  const cluster = await startCluster(three, {
    args: ["--consistency", "Strong"], nodes: { [armed]: { env: { ORRERY_FAULT: `${point}=kill` } } },
  });
  let load;
  try {
    assert.equal(await cluster.coordinator(), "n1");
    await makeContainer(cluster, 36_000);
    load = new Load(cluster, { clients: 4, sessions: 2, items: 7 });
    await load.isServedBy(cluster.names);
    const node = cluster.nodes.get(armed);
    node.mayEnd = true;
    let died;
    node.exited.then((end) => {
      died = { ...end, at: performance.now() };
    });
    const triggered = trigger(cluster).catch(() => undefined);
    // A partition is claimed when a request needs it: one that concerns all.
    await until(`${armed} dies at ${point}`, async () => {
      const asked = cluster.names.find((name) => name !== armed);
      await cluster.nodes.get(asked).rest({ within: 2_000 })("GET", "/dbs/db/colls/c/docs").catch(() => undefined);
      return died;
    });
    const { signal, at } = died;
    assert.equal(signal, "SIGKILL", `${armed} dies at ${point}\n${node.log}`);
    await triggered;
    const took = await load.isServedBy(cluster.names, at);
    console.log(`# ${point} at ${armed}: all served elsewhere after ${took} ms`);
    await load.finish();
    await coversAllKeys(cluster);
  } finally {
    await load?.stop();
    await cluster.close();
  }
}

// The ranges of the container lie one after another, from the first key to the last, at all nodes.
async function coversAllKeys(cluster) {
  for (const name of cluster.names) {
    const { body } = await cluster.nodes.get(name).rest()("GET", "/dbs/db/colls/c/pkranges");
    const ranges = body.PartitionKeyRanges.sort((a, b) => (a.minInclusive < b.minInclusive ? -1 : 1));
    assert.equal(ranges[0].minInclusive, "");
    assert.equal(ranges.at(-1).maxExclusive, "FF");
    for (let i = 1; i < ranges.length; ++i) assert.equal(ranges[i].minInclusive, ranges[i - 1].maxExclusive);
  }
}

async function rangeAt(cluster, name) {
  const found = await until(`${name} serves something`, async () =>
    (await cluster.partitions("db", "c", "n1")).find((one) => one.node === name));
  return String(found.id);
}

const kill = (name) => (cluster) => cluster.kill(name);
const move = (from, to) => async (cluster) =>
  cluster.command("n3", "move", "db/c", await rangeAt(cluster, from), to);
async function fill(cluster) {
  const container = cluster.container(cluster.names.at(-1));
  await Promise.all(Array.from({ length: 60 }, (_, i) => container.items.create({ id: `f${i}`, pk: `f${i}` })));
  return container;
}
const split = (name) => async (cluster) => {
  const container = await fill(cluster);  // a split needs keys on either side
  await cluster.nodes.get("n1").split(container, await rangeAt(cluster, name));
};
// Two neighbours that one node has. Partitions may be moved for balance meanwhile, and then it is 409.
const merge = (name, armed) => async (cluster) => {
  const container = await fill(cluster);  // without files only the map would change
  while (cluster.nodes.has(armed)) {
    const all = await cluster.partitions("db", "c", "n3");
    const at = Math.max(0, all.findIndex((one) => one.node === name));
    const [left, right] = at + 1 < all.length ? [all[at], all[at + 1]] : [all[at - 1], all[at]];
    const far = [left, right].find((one) => one.node !== name);
    if (far) await cluster.command("n3", "move", "db/c", String(far.id), name);
    await cluster.nodes.get("n1").merge(container, left.id, right.id);
  }
};

// On Ceph only those at which the store has just done something, or is about to: what the others lie between are messages and
// the catalog, which are the same there.
const onCeph = new Set(["takeover.claimed", "takeover.sealed", "move.released", "move.claimed", "split.cloned_left", "split.opened",
  "merge.copied", "merge.published"]);
const points = {
  "a take-over, at the node that gets the partitions of a dead one":
    ["n3", kill("n2"), ["takeover.claimed", "takeover.sealed", "taken.opened", "taken.told"]],
  "a take-over, at the node that gets the catalog":
    ["n2", kill("n1"), ["takeover.claimed", "takeover.sealed", "catalog.claimed", "catalog.settled"]],
  "a move, at the coordinator": ["n1", move("n2", "n3"), ["move.asked", "move.placed"]],
  "a move, at the node that lets go": ["n2", move("n2", "n3"), ["move.parked", "move.answered", "move.released"]],
  "a move, at the node that takes": ["n3", move("n2", "n3"), ["move.claimed", "move.sealed", "taken.opened", "taken.told"]],
  "a split, at the partition's owner": ["n2", split("n2"), ["split.begin", "split.intended", "split.cloned_left",
    "split.cloned_right", "split.opened", "split.published", "split.trimmed", "removal.moved"]],
  "a split, at the coordinator": ["n1", split("n2"), ["split.committed"]],
  "a merge, at the partitions' owner": ["n2", merge("n2", "n2"), ["merge.begin", "merge.intended", "merge.copied", "merge.opened",
    "merge.published"]],
  "a merge, at the coordinator": ["n1", merge("n2", "n1"), ["merge.committed"]],
};

for (const [what, [armed, trigger, names]] of Object.entries(points)) {
  const chosen = process.env.ORRERY_TEST_CEPH ? names.filter((name) => onCeph.has(name)) : names;
  if (chosen.length === 0) continue;
  describe(`a crash in ${what}`, { concurrency: 2 }, () => {
    for (const name of chosen) test(name, () => crashAt(name, armed, trigger));
  });
}
