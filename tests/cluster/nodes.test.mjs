// Several nodes over one volume: any of them answers for all, and the end of one loses nothing.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { isDeepStrictEqual } from "node:util";

import { startCluster, until } from "./cluster.mjs";
import { chosen } from "./under_load.mjs";

async function make(cluster, { throughput = 40_000, items = 0, name = cluster.names[0] } = {}) {
  const client = cluster.nodes.get(name).client();
  const { database } = await client.databases.createIfNotExists({ id: "db" });
  const { container } = await database.containers.createIfNotExists({ id: "c", partitionKey: "/pk", throughput });
  for (let i = 0; i < items; ++i) await container.items.create({ id: `i${i}`, pk: `k${i}`, n: i });
}

const upTo = (count) => Array.from({ length: count }, (_, i) => i);

// Writers that go on until they are stopped, each with keys of its own. `acknowledged` has what each key had last.
function writers(containers, count) {
  const acknowledged = new Map();
  const errors = [];
  let stopped = false;
  const all = upTo(count).map(async (writer) => {
    for (let n = 0; !stopped; ++n) {
      const id = `w${writer}`;
      try {
        await containers[n % containers.length].items.upsert({ id, pk: id, n });
        acknowledged.set(id, n);
      } catch (error) {
        errors.push(error);
        // Nobody knows whether it was written; the next one says.
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  });
  return {
    acknowledged, errors,
    async stop() {
      stopped = true;
      await Promise.all(all);
    },
    // Until each has written so much more.
    async more(writes) {
      const from = new Map(acknowledged);
      await until("the writers go on", () => upTo(count).every((one) => (acknowledged.get(`w${one}`) ?? -1) >= (from.get(`w${one}`) ?? -1) + writes));
    },
  };
}

async function expectAll(container, acknowledged) {
  for (const [id, n] of acknowledged) {
    const { resource } = await container.item(id, id).read();
    assert.ok(resource && resource.n >= n, `${id}: ${n} was acknowledged and ${resource?.n} is there`);
  }
}

// Kills a node under load, and looks for what was acknowledged.
async function killUnderLoad(whom) {
  const cluster = await startCluster(["n1", "n2", "n3"]);
  try {
    await make(cluster);
    const victim = await chosen(cluster, whom);
    const others = cluster.names.filter((name) => name !== victim);
    const load = writers(others.map((name) => cluster.container(name)), 12);
    await load.more(3);
    await cluster.kill(victim);
    await load.more(3);
    await load.stop();
    const after = await cluster.settled();
    assert.ok(after.every((one) => one.node !== victim));
    for (const name of cluster.names) await expectAll(cluster.container(name), load.acknowledged);
    // Changes of the catalog, too.
    await cluster.nodes.get(cluster.names.at(-1)).client().databases.create({ id: "later" });
    assert.equal((await cluster.nodes.get(cluster.names[0]).client().database("later").read()).statusCode, 200);
  } finally {
    await cluster.close();
  }
}

// Processes that this one has started, and that serve.
function serving() {
  return readdirSync("/proc").filter((pid) => {
    try {
      const parent = /^\S+ \(.*\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1];
      return Number(parent) === process.pid && readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes("serve");
    } catch {
      return false;  // no process, or one that has ended
    }
  });
}

test("a cluster of which one node cannot start leaves none behind", async () => {
  const args = (name) => (name === "n2" ? ["--no-such-option"] : []);
  await assert.rejects(startCluster(["n1", "n2", "n3"], { args }), /no-such-option/);
  assert.deepEqual(serving(), []);
});

describe("a cluster of three", () => {
  test("any node takes any request", async () => {
    const cluster = await startCluster(["n1", "n2", "n3"], { steady: true });
    try {
      await make(cluster, { name: "n2" });
      const at = cluster.names.map((name) => cluster.container(name));
      for (const i of upTo(30)) await at[i % 3].items.create({ id: `i${i}`, pk: `k${i}`, n: i });
      assert.equal((await cluster.command("n1", "rebalance")).code, 0);
      await until("all of them serve", async () =>
        new Set((await cluster.settled()).map((one) => one.node)).size === 3);
      for (const i of upTo(30)) {
        const { resource } = await at[(i + 1) % 3].item(`i${i}`, `k${i}`).read();
        assert.equal(resource.n, i);
      }
      for (const container of at) {
        const numbers = async (text) => (await container.items.query(text).fetchAll()).resources;
        assert.deepEqual((await numbers("SELECT VALUE c.n FROM c WHERE IS_DEFINED(c.n)")).sort((a, b) => a - b), upTo(30));
        assert.deepEqual(await numbers("SELECT VALUE c.n FROM c WHERE c.n > 20 ORDER BY c.n"), upTo(30).slice(21));
        assert.deepEqual(await numbers("SELECT VALUE COUNT(c.n) FROM c"), [30]);
        assert.equal((await container.items.readAll().fetchAll()).resources.filter((one) => one.n >= 0).length, 30);
        const batch = await container.items.batch([
          { operationType: "Upsert", resourceBody: { id: "b1", pk: "batch" } },
          { operationType: "Upsert", resourceBody: { id: "b2", pk: "batch" } },
        ], "batch");
        assert.deepEqual(batch.result.map((one) => one.statusCode < 300), [true, true]);
        assert.equal((await container.item("none", "none").read()).statusCode, 404);
      }
      await at[0].scripts.storedProcedures.create({
        id: "sum", body: "function (a, b) { getContext().getResponse().setBody(a + b); }",
      });
      for (const container of at) {
        assert.equal((await container.scripts.storedProcedure("sum").execute("k1", [1, 2])).resource, 3);
      }
    } finally {
      await cluster.close();
    }
  });

  test("what is made or dropped at one node is so at all of them at once", async () => {
    const cluster = await startCluster(["n1", "n2", "n3"], { steady: true });
    try {
      for (const i of upTo(6)) {
        const here = cluster.nodes.get(cluster.names[i % 3]).client();
        const there = cluster.nodes.get(cluster.names[(i + 1) % 3]).client();
        const { database } = await here.databases.create({ id: `d${i}` });
        await database.containers.create({ id: "c", partitionKey: "/pk" });
        const container = there.database(`d${i}`).container("c");
        await container.items.create({ id: "x", pk: "x" });
        assert.equal((await container.item("x", "x").read()).statusCode, 200);
        await there.database(`d${i}`).delete();
        const gone = await here.database(`d${i}`).read().catch((error) => error);
        assert.equal(gone.code, 404);
      }
    } finally {
      await cluster.close();
    }
  });

  test("an owner is killed: nothing acknowledged is lost, and the others go on", () => killUnderLoad("owner"));

  test("the coordinator is killed: nothing acknowledged is lost, and the others go on", () => killUnderLoad("coordinator"));

  test("a node that hung and comes back answers nothing that is out of date", async () => {
    const cluster = await startCluster(["n1", "n2", "n3"]);
    try {
      await make(cluster, { items: 12 });
      const coordinator = await cluster.coordinator();
      const victim = cluster.names.find((name) => name !== coordinator);
      const others = cluster.names.filter((name) => name !== victim);
      const hung = cluster.container(victim);
      for (const i of upTo(12)) await hung.item(`i${i}`, `k${i}`).read();
      const frozen = cluster.nodes.get(victim);
      await cluster.freeze(victim);
      await until("the others serve what it had", async () =>
        (await cluster.partitions("db", "c", others[0])).every((one) => one.node !== victim));
      const container = cluster.container(others[0]);
      for (const i of upTo(12)) await container.item(`i${i}`, `k${i}`).replace({ id: `i${i}`, pk: `k${i}`, n: 100 + i });
      const reads = upTo(12).map((i) => hung.item(`i${i}`, `k${i}`).read().catch(() => undefined));
      frozen.process.kill("SIGCONT");
      for (const [i, read] of reads.entries()) {
        const answer = await read;
        if (answer?.statusCode === 200) assert.equal(answer.resource.n, 100 + i);
      }
      await frozen.exited;
      await frozen.logged(/another server has this volume now|lease/);
    } finally {
      await cluster.close();
    }
  });

  test("a node is drained and stopped, and one joins, while no request fails", async () => {
    const cluster = await startCluster(["n1", "n2", "n3"], { steady: true });
    try {
      await make(cluster);
      const coordinator = await cluster.coordinator();
      const leaving = cluster.names.find((name) => name !== coordinator);
      const others = cluster.names.filter((name) => name !== leaving);
      const load = writers(others.map((name) => cluster.container(name)), 8);
      await load.more(3);
      const { code, out } = await cluster.command(others[0], "drain", leaving);
      assert.equal(code, 0, out);
      assert.ok((await cluster.partitions("db", "c", others[0])).every((one) => one.node !== leaving));
      await load.more(3);
      await cluster.remove(leaving);
      await cluster.add("spare");
      assert.equal((await cluster.command(others[0], "rebalance")).code, 0);
      await until("the new node serves something", async () =>
        (await cluster.partitions("db", "c", others[0])).some((one) => one.node === "spare"));
      await load.more(3);
      await load.stop();
      assert.deepEqual(load.errors.map((error) => `${error.code} ${error.message}`), []);
      await expectAll(cluster.container("spare"), load.acknowledged);
    } finally {
      await cluster.close();
    }
  });

  test("nodes are upgraded one by one, and a new version is written when all can read it", async () => {
    const cluster = await startCluster(["n1", "n2"], { steady: true });
    const written = (name) => until("the version is known", async () => (await cluster.status(name)).writtenVersion);
    const upgrade = (name) => cluster.restart(name, { env: { ...cluster.env, ORRERY_TEST_NEWEST_VERSION: "2" } });
    try {
      await make(cluster, { throughput: 400, items: 20 });
      assert.equal(await written("n1"), 1);
      await upgrade("n1");
      await until("both nodes know of the newer program", async () => {
        const members = (await cluster.status("n2")).members.filter((one) => one.state === "live");
        return members.length === 2 && members.some((one) => one.versions[1] === 2);
      });
      assert.equal(await written("n1"), 1, "n2 cannot read more");
      await upgrade("n2");
      for (const name of cluster.names) await until("version 2 is written", async () => (await written(name)) === 2);
      for (const name of cluster.names) {
        const { resources } = await cluster.container(name).items.query("SELECT VALUE c.n FROM c").fetchAll();
        assert.deepEqual(resources.sort((a, b) => a - b), upTo(20));
      }
      // An old program does not come back.
      await assert.rejects(cluster.add("spare"), /version 2 since all nodes could read it/);
    } finally {
      await cluster.close();
    }
  });

  test("a partition is moved and split by command, its children are placed at both nodes, and its items stay", async () => {
    const cluster = await startCluster(["n1", "n2"], { steady: true });
    try {
      await make(cluster, { throughput: 400, items: 20 });
      const [range] = await cluster.settled();
      const to = cluster.names.find((name) => name !== range.node);
      const moved = await cluster.command(range.node, "move", "db/c", String(range.id), to);
      assert.equal(moved.code, 0, moved.out);
      await until("it has moved", async () => (await cluster.partitions())[0].node === to);
      for (const name of cluster.names) {
        const { resources } = await cluster.container(name).items.query("SELECT VALUE c.n FROM c").fetchAll();
        assert.deepEqual(resources.sort((a, b) => a - b), upTo(20));
      }
      const coordinator = await cluster.coordinator();
      const node = cluster.nodes.get(coordinator);
      const split = await node.split(cluster.container(coordinator));
      assert.equal(split.code, 0, split.out);
      assert.equal((await cluster.partitions("db", "c", coordinator)).length, 2);
      await until("its children are at both nodes", async () =>
        new Set((await cluster.partitions("db", "c", coordinator)).map(({ node }) => node)).size === 2);
      for (const name of cluster.names) {
        for (const i of upTo(20)) assert.equal((await cluster.container(name).item(`i${i}`, `k${i}`).read()).resource.n, i);
      }
    } finally {
      await cluster.close();
    }
  });

  test("any node tells the figures of all partitions, and which are not known while their node hangs", async () => {
    const cluster = await startCluster(["n1", "n2"], { steady: true });
    const total = (ranges, name) => ranges.reduce((sum, one) => sum + one[name], 0);
    const figures = (ranges) => ranges.map(({ id, node, items, bytes, lsn }) => ({ id, node, items, bytes, lsn }));
    const ask = async (name, path) => (await cluster.nodes.get(name).rest()("GET", path)).body;
    const sumsAt = async (name) => (await ask(name, "/admin/containers")).containers.find((one) => one.container === "c");
    try {
      await make(cluster, { items: 32 });
      assert.equal((await cluster.command("n1", "rebalance")).code, 0);
      // While a range moves, nobody has it for a moment: what both say at rest is compared.
      const views = await until("both serve, and tell the same", async () => {
        const all = await Promise.all(cluster.names.map((name) => ask(name, "/admin/partitions?database=db&container=c&keys=20")));
        const [ranges, others] = all.map((view) => view.partitions);
        return new Set(ranges.map((one) => one.node)).size === 2 && [...ranges, ...others].every((one) => one.known) &&
          isDeepStrictEqual(figures(ranges), figures(others)) && all;
      });
      for (const { partitions, keys, largestKeys } of views) {
        assert.equal(total(partitions, "items"), 32);
        assert.equal(total(keys, "items"), 32, "few keys: all of them are named");
        assert.equal(largestKeys.length, 10);
      }
      const { partitions } = views[0];
      for (const name of cluster.names) {
        const node = cluster.nodes.get(name);
        // A range that moved meanwhile is opened by whoever asks for it, and sums ask for none.
        await until("the sums of all nodes", async () => {
          const now = await ask(name, "/admin/partitions?database=db&container=c");
          const { items, bytes } = await sumsAt(name);
          return items === 32 && bytes === total(now.partitions, "bytes");
        });
        await until("a line for each partition, with its node", async () => {
          const { code, out } = await node.command("partitions", "db/c", "--data", node.data, "--port", String(node.port));
          assert.equal(code, 0, out);
          return partitions.every(({ id, items }) => new RegExp(`^ +${id} +n[12] +${items} `, "m").test(out));
        });
      }
      const hung = partitions[0].node;
      const asked = cluster.names.find((name) => name !== hung);
      await cluster.freeze(hung);
      await until("what it serves is not known, and the rest is", async () => {
        const seen = await cluster.partitions("db", "c", asked);
        return seen.some((one) => one.node === hung) && seen.every((one) => one.known === (one.node === asked));
      });
      assert.equal((await sumsAt(asked)).items, null, "not all are counted");
      cluster.nodes.get(hung).process.kill("SIGCONT");
      await until("all is known again", async () => (await cluster.partitions("db", "c", asked)).every((one) => one.known));
    } finally {
      await cluster.close();
    }
  });

  test("every command of a cluster answers with JSON for scripts", async () => {
    const cluster = await startCluster(["n1", "n2"], { steady: true });
    const said = async (...args) => {
      const { code, out } = await cluster.command("n1", ...args, "--json");
      assert.equal(code, 0, out);
      return JSON.parse(out);  // one value, and nothing beside it
    };
    try {
      await make(cluster, { throughput: 400, items: 1 });
      const [range] = await cluster.settled();
      const [to] = cluster.names.filter((name) => name !== range.node);
      assert.deepEqual(await said("move", "db/c", String(range.id), to), { database: "db", container: "c", range: range.id, node: to });
      await until("it has moved", async () => (await cluster.partitions())[0].node === to);
      assert.deepEqual(await said("drain", to, "--no-wait"), { node: to, draining: true, drained: false });
      assert.deepEqual(await said("drain", to), { node: to, draining: true, drained: true });
      assert.equal((await said("status")).members.find((one) => one.name === to).ranges, 0);
      assert.deepEqual(await said("undrain", to), { node: to, draining: false });
      assert.deepEqual(await said("rebalance"), { rebalancing: true });
      assert.deepEqual(await said("replicas", "1"), { count: 1 });
      const refused = await cluster.command("n1", "drain", "nobody", "--json");
      assert.equal(refused.code, 1, refused.out);
    } finally {
      await cluster.close();
    }
  });

  test("the metrics of every node tell of its lease and of the coordinator", async () => {
    const cluster = await startCluster(["n1", "n2"], { steady: true });
    try {
      const figures = async (name) => {
        const { text } = await cluster.nodes.get(name).rest()("GET", "/metrics");
        return Object.fromEntries(text.split("\n").filter((line) => line.startsWith("orrery_")).map((line) => line.split(" ")));
      };
      const { term, plan } = await cluster.status("n1");
      for (const name of cluster.names) {
        const before = Number((await figures(name)).orrery_lease_renewals_total);
        const now = await until(`${name} has renewed its lease, and follows`, async () => {
          const all = await figures(name);
          return Number(all.orrery_lease_renewals_total) > before && Number(all.orrery_plan_version) >= plan && all;
        });
        assert.equal(now.orrery_lease_good, "1");
        assert.ok(Number(now.orrery_lease_age_seconds) >= 0);
        assert.equal(now.orrery_coordinator, name === "n1" ? "1" : "0");
        assert.equal(now['orrery_coordinator_known{coordinator="n1"}'], "1");
        assert.equal(Number(now.orrery_plan_term), term);
        assert.equal(now.orrery_cluster_members, "2");
        assert.ok(Number(now.orrery_catalog_age_seconds) >= 0);
      }
    } finally {
      await cluster.close();
    }
  });
});
