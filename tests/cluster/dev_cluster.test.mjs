// ./dev cluster up and down: a cluster in one command, as people try it out. Over a directory, or, where tests run on Ceph,
// over a Ceph of its own. A quarter of a minute; with Ceph a minute.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";

import { CosmosClient } from "../sdk/cosmos.mjs";
import { until } from "./cluster.mjs";

const dev = fileURLToPath(new URL("../../tools/cluster.sh", import.meta.url));
const cluster = (...args) => execFileSync(dev, args, { stdio: ["ignore", "pipe", "pipe"], encoding: "utf8" });

const isRunning = (pid) => {
  try {
    process.kill(pid, 0);
    // What has ended and was not waited for yet is no process any more.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
};

function upAndDown(volume) {
  return async () => {
    const folder = mkdtempSync(join(tmpdir(), "orrery-dev-cluster-"));
    try {
      cluster("up", "3", folder, volume);
      const nodes = JSON.parse(readFileSync(join(folder, "nodes.json"), "utf8"));
      assert.deepEqual(nodes.map(({ name }) => name), ["n1", "n2", "n3"]);
      assert.ok(nodes.every(({ pid }) => isRunning(pid)));
      const at = nodes.map(({ endpoint, key }) => new CosmosClient({ endpoint, key }));
      const { database } = await at[0].databases.createIfNotExists({ id: "db" });
      await database.containers.createIfNotExists({ id: "c", partitionKey: "/pk" });
      await until("an item is written through the second node", () =>
        at[1].database("db").container("c").items.upsert({ id: "1", pk: "a" }).then(() => true, () => false));
      assert.equal((await at[2].database("db").container("c").item("1", "a").read()).resource?.pk, "a");
      // A second one in the same folder is refused, and the first goes on.
      assert.throws(() => cluster("up", "1", folder, volume), /a cluster runs in/);
      assert.ok(nodes.every(({ pid }) => isRunning(pid)));
      cluster("down", folder);
      assert.ok(nodes.every(({ pid }) => !isRunning(pid)));
      assert.ok(!existsSync(join(folder, "nodes.json")));
      cluster("down", folder);  // once more is nothing
    } finally {
      cluster("down", folder);
      rmSync(folder, { recursive: true, force: true });
    }
  };
}

describe("./dev cluster", () => {
  if (!process.env.ORRERY_TEST_CEPH) test("starts a cluster over a directory, and ends just that", upAndDown("directory"));
  else test("starts a cluster with a Ceph of its own, and ends both", upAndDown("ceph"));
});
