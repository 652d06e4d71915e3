// Nodes that die, hang and lose their place in time under a load whose history is checked: load.mjs. Each test shows that
// its fault happened, waits until all that the node had is served by others, and prints how long that took (the goal is
// 5 s). About 15 s each.
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { until } from "./cluster.mjs";
import { chosen, underLoad } from "./under_load.mjs";

const three = ["n1", "n2", "n3"];

async function roles(cluster) {
  const coordinator = await cluster.coordinator();
  return { coordinator, other: cluster.names.find((name) => name !== coordinator) };
}

function killed(whom) {
  return () => underLoad(three, {}, async (cluster, load) => {
    const victim = await chosen(cluster, whom);
    const since = performance.now();
    await cluster.kill(victim);
    const took = await load.isServedBy(cluster.names, since);
    console.log(`# kill -9 of the ${whom}: all served elsewhere after ${took} ms`);
  });
}

function hung(whom) {
  return () => underLoad(three, {}, async (cluster, load) => {
    const victim = await chosen(cluster, whom);
    const others = cluster.names.filter((name) => name !== victim);
    const node = cluster.nodes.get(victim);
    await cluster.freeze(victim);
    const since = performance.now();
    const took = await load.isServedBy(others, since);
    console.log(`# SIGSTOP of the ${whom}: all served elsewhere after ${took} ms`);
    await until(`the lease of ${victim} is over`, async () =>
      !(await cluster.status(others[0])).members.some((one) => one.name === victim));
    const resumed = performance.now();
    node.process.kill("SIGCONT");
    // Others have what it had: it ends with a failure, for which a service manager starts it again.
    assert.deepEqual(await node.exited, { code: 1, signal: null });
    await node.logged(/another server has this volume now/);
    assert.doesNotMatch(node.log, /stopping takes too long/);
    console.log(`# it ended after ${Math.round(performance.now() - resumed)} ms`);
    await load.isServedBy(others);
  });
}

describe("under a load whose history is checked", () => {
  test("an owner is killed", killed("owner"));
  test("the coordinator is killed", killed("coordinator"));
  test("an owner hangs, and comes back", hung("owner"));
  test("the coordinator hangs, and comes back", hung("coordinator"));

  test("the clocks of an owner and of the coordinator jump", () =>
    underLoad(three, { nodes: Object.fromEntries(three.map((name) => [name, { clock: true }])) }, async (cluster, load) => {
      const { coordinator, other } = await roles(cluster);
      const day_s = 86_400;
      for (const [name, by_s] of [[other, day_s], [coordinator, -day_s], [other, -2 * day_s], [coordinator, 2 * day_s]]) {
        cluster.nodes.get(name).clock.move(by_s);
        await load.isServedBy(cluster.names);
      }
      // It happened: what these two write has times of yesterday and of tomorrow.
      const { resources } = await cluster.container(other).items.query("SELECT VALUE c._ts FROM c").fetchAll();
      const now_s = Date.now() / 1000;
      assert.ok(resources.some((ts) => ts > now_s + day_s / 2), "one was written tomorrow");
      assert.ok(resources.some((ts) => ts < now_s - day_s / 2), "one was written yesterday");
    }));
});
