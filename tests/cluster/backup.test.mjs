// A backup of a cluster: any node gives it, whoever owns the partitions, and it is restored into a volume or a data
// folder. Takes about half a minute.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";

import { start } from "../sdk/server.mjs";
import { begin, run } from "../sdk/transfer.mjs";
import { startCluster, until } from "./cluster.mjs";

const items = 60;

async function withCluster(options, job) {
  const cluster = await startCluster(["n1", "n2", "n3"], options);
  const work = mkdtempSync(join(tmpdir(), "orrery-backup-"));
  try {
    const client = cluster.nodes.get("n1").client();
    const { database } = await client.databases.createIfNotExists({ id: "db" });
    const { container } = await database.containers.createIfNotExists({ id: "c", partitionKey: "/pk", throughput: 40_000 });
    for (let i = 0; i < items; ++i) await container.items.create({ id: `i${i}`, pk: `k${i}`, n: i });
    await cluster.settled();
    await job(cluster, (name) => join(work, name));
  } finally {
    await cluster.close();
    rmSync(work, { recursive: true, force: true });
  }
}

async function expectItems(server, least = items) {
  const { resources } = await server.client().database("db").container("c").items.query("SELECT * FROM c").fetchAll();
  const ids = new Set(resources.map(({ id }) => id));
  for (let i = 0; i < items; ++i) assert.ok(ids.has(`i${i}`), `i${i}`);
  assert.ok(resources.length >= least && ids.size === resources.length);
}

describe("backup of several nodes", () => {
  test("any node gives all partitions, and they are restored into a data folder and into a volume", async () => {
    await withCluster({ steady: true }, async (cluster, work) => {
      await until("partitions are at several nodes", async () =>
        new Set((await cluster.partitions()).map(({ node }) => node)).size > 1);
      for (const name of cluster.names) {
        const made = await run(["backup", "--data", cluster.nodes.get(name).data, "--to", work("F")]);
        assert.equal(made.code, 0, made.stderr);
        assert.equal(made.result.items, items);
      }
      const checked = await run(["verify", "--from", work("F")]);
      assert.equal(checked.code, 0, checked.stdout + checked.stderr);
      assert.equal(checked.result.backups.length, 3);
      const volume = ["--volume", `directory:${work("store")}`];
      for (const [data, args] of [[work("local"), []], [work("object"), volume]]) {
        const done = await run(["restore", "--from", work("F"), "--data", data, ...args]);
        assert.equal(done.code, 0, done.stderr);
        const server = await start({ data, args });
        try {
          await expectItems(server);
        } finally {
          await server.close();
        }
      }
      const again = await run(["restore", "--from", work("F"), "--data", work("other"), ...volume]);
      assert.equal(again.code, 1);
      assert.match(again.stderr, /there are data already/);
    });
  });

  test("an owner is killed and partitions are moved and split meanwhile", async () => {
    await withCluster({}, async (cluster, work) => {
      const coordinator = await cluster.coordinator();
      const asked = cluster.names.find((name) => name !== coordinator);
      const other = cluster.names.find((name) => name !== coordinator && name !== asked);
      let stopped = false;
      const container = cluster.container(asked);
      const writing = (async () => {
        for (let n = 0; !stopped; ++n) await container.items.upsert({ id: `w${n % 9}`, pk: `w${n % 9}`, n }).catch(() => {});
      })();
      const backups = [];
      const backup = begin(["backup", "--data", cluster.nodes.get(asked).data, "--to", work("F")]);
      const [range] = await cluster.partitions();
      await cluster.command(coordinator, "move", "db/c", String(range.id), asked);
      await cluster.nodes.get(coordinator).split(cluster.container(coordinator));
      backups.push(await backup.ended);
      const second = begin(["backup", "--data", cluster.nodes.get(asked).data, "--to", work("F")]);
      await cluster.kill(other);
      backups.push(await second.ended);
      stopped = true;
      await writing;
      for (const made of backups) {
        assert.equal(made.code, 0, made.stderr);
        assert.ok(made.result.items >= items);
      }
      const checked = await run(["verify", "--from", work("F")]);
      assert.equal(checked.code, 0, checked.stdout + checked.stderr);
      const done = await run(["restore", "--from", work("F"), "--data", work("data")]);
      assert.equal(done.code, 0, done.stderr);
      const server = await start({ data: work("data") });
      try {
        await expectItems(server);
      } finally {
        await server.close();
      }
      await until("the cluster serves", async () => (await cluster.partitions()).length > 0);
    });
  });
});
