// Nodes that are cut off from others, in networks that the test makes (network.mjs), under a load whose history is checked
// (load.mjs). Each test shows that the cut is there, and heals it. Making networks needs root; where that is not to be had,
// the tests are skipped and say why. They are over a directory, which no cut concerns: ceph_faults.test.mjs has the cuts
// from the store. About 15 s each.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { answersAll, cutOff, underLoad } from "./under_load.mjs";
import { missingForNetworks, Network } from "./network.mjs";

const three = ["n1", "n2", "n3"];

describe("nodes that are cut off", { skip: missingForNetworks() }, () => {
  const options = { ceph: null };
  before(() => {
    options.network = new Network(three);
  });
  after(() => options.network?.remove());

  test("an owner from all others: its partitions are served by them", () => cutOff(options, "owner", ["peers"]));
  test("the coordinator from all others: another takes its place", () => cutOff(options, "coordinator", ["peers"]));

  test("two from each other, and the coordinator from neither: nobody loses anything", () =>
    underLoad(three, options, async (cluster, load) => {
      const { network } = options;
      const coordinator = await cluster.coordinator();
      const [one, other] = cluster.names.filter((name) => name !== coordinator);
      const before = await incarnations(cluster);
      network.part(one, other);
      assert.ok(!network.reaches(one, network.address("peers", other)), "they are cut off from each other");
      assert.ok(network.reaches(one, network.address("peers", coordinator)), "and not from the coordinator");
      await load.isServedBy([coordinator]);
      network.join(one, other);
      for (const name of three) await answersAll(cluster, name, load);
      assert.deepEqual(await incarnations(cluster), before);
    }));

  test("an owner from its clients: nothing moves, and its clients are answered by others", () =>
    underLoad(three, options, async (cluster, load) => {
      const { network } = options;
      const [, victim] = cluster.names;
      const others = cluster.names.filter((name) => name !== victim);
      const before = await incarnations(cluster);
      const home = (all) => all.map((one) => `${one.id} ${one.node}`).sort();
      const placed = home(await cluster.settled());
      network.cut("clients", victim);
      assert.ok(!network.reaches(victim, network.hub("clients")), "its clients are cut off");
      await load.isServedBy(others);
      assert.deepEqual(home(await cluster.settled()), placed);
      network.heal("clients", victim);
      await answersAll(cluster, victim, load);
      assert.deepEqual(await incarnations(cluster), before);
    }));
});

// Of all members, by name: who has ended and come back has another.
async function incarnations(cluster) {
  const { members } = await cluster.status();
  return Object.fromEntries(members.map((one) => [one.name, one.incarnation]).sort());
}
