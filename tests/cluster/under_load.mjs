// What the tests of faults have in common: a cluster under a load that is checked, and a node of it that fails or is cut off.
import assert from "node:assert/strict";

import { makeContainer, startCluster, until } from "./cluster.mjs";
import { Load } from "./load.mjs";

// Runs `body` with a load on a cluster, and checks the history at the end. `options` are startCluster's.
export async function underLoad(names, options, body) {
  const cluster = await startCluster(names, { args: ["--consistency", "Strong"], ...options });
  let load;
  try {
    await makeContainer(cluster);
    load = new Load(cluster);
    await load.isServedBy(cluster.names);
    await body(cluster, load);
    const { operations, unknown } = await load.finish();
    console.log(`# ${operations} operations, ${unknown} of unknown outcome`);
  } catch (error) {
    console.log(cluster.logs);
    throw error;
  } finally {
    await load?.stop();
    await cluster.close();
  }
}

// The node that is to fail, the coordinator or an owner which is not. It serves something then.
export async function chosen(cluster, whom) {
  const coordinator = await cluster.coordinator();
  const victim = whom === "coordinator" ? coordinator : cluster.names.find((name) => name !== coordinator);
  const asked = cluster.names.find((name) => name !== victim);
  assert.equal((await cluster.command(victim, "rebalance")).code, 0);
  await until(`${victim} serves something`, async () =>
    (await cluster.partitions("db", "c", asked)).some((one) => one.node === victim));
  return victim;
}

// Cuts the owner or the coordinator off from all that is in the networks of these kinds, sees its partitions served by the
// others, and heals the networks: it finds its lease ended, and ends. A service manager would start it again, and so does this.
export async function cutOff(options, whom, kinds) {
  const { network } = options;
  await underLoad(network.names, options, async (cluster, load) => {
    const victim = await chosen(cluster, whom);
    const others = cluster.names.filter((name) => name !== victim);
    const node = cluster.nodes.get(victim);
    const far = (kind) => (kind === "peers" ? network.address(kind, others[0]) : network.hub(kind));
    for (const kind of kinds) assert.ok(network.reaches(victim, far(kind)), `${kind} can be reached before`);
    const since = performance.now();
    for (const kind of kinds) network.cut(kind, victim);
    for (const kind of kinds) assert.ok(!network.reaches(victim, far(kind)), `${kind} are cut off`);
    const took = await load.isServedBy(others, since);
    console.log(`# the ${whom} was cut off from ${kinds.join(" and ")}: all served elsewhere after ${took} ms`);
    for (const kind of kinds) network.heal(kind, victim);
    assert.deepEqual(await node.exited, { code: 1, signal: null });
    await node.logged(/another server has this volume now/);
    await cluster.add(victim);
    await answersAll(cluster, victim, load);
  });
}

// Until all items can be read through a node, from whoever owns them.
export async function answersAll(cluster, name, load) {
  await until(`${name} answers`, async () => {
    const { resources } = await cluster.container(name).items.query("SELECT VALUE c.id FROM c").fetchAll().catch(() => ({}));
    return resources && load.items.every((item) => resources.includes(item));
  });
}
