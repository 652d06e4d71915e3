// One server after another on a volume in Ceph: what one acknowledged, the next has. They need
// ORRERY_TEST_CEPH, the ceph.conf of a cluster with a pool "orrery" (tools/ceph.sh makes one).
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";

import { freePort, runProgram, start } from "../sdk/server.mjs";

const conf = process.env.ORRERY_TEST_CEPH;
// Every test names its own volume.
delete process.env.ORRERY_TEST_CEPH_VOLUME;

function volumeOfItsOwn() {
  return ["--volume", `rados:orrery/${randomUUID()}`, "--ceph-conf", conf];
}

async function fill(server, count) {
  const { database } = await server.client().databases.createIfNotExists({ id: "db" });
  const { container } = await database.containers.createIfNotExists({ id: "c", partitionKey: "/pk" });
  for (let i = 0; i < count; ++i) await container.items.create({ id: `i${i}`, pk: `k${i}`, n: i });
}

async function numbers(server) {
  const container = server.client().database("db").container("c");
  const { resources } = await container.items.query("SELECT VALUE c.n FROM c").fetchAll();
  return resources.sort((a, b) => a - b);
}

describe("a volume in Ceph", { skip: conf ? false : "no Ceph cluster: set ORRERY_TEST_CEPH" }, () => {
  test("keeps everything over an orderly stop, a kill, and a split", async () => {
    const server = await start({ args: volumeOfItsOwn() });
    try {
      await fill(server, 20);
      await server.restart();
      assert.equal((await numbers(server)).length, 20);
      const container = server.client().database("db").container("c");
      assert.equal((await server.split(container)).code, 0);
      await container.items.create({ id: "after", pk: "after", n: 20 });
      await server.restart({ hard: true });
      assert.deepEqual(await numbers(server), Array.from({ length: 21 }, (_, i) => i));
    } finally {
      await server.close();
    }
  });

  test("has one server at a time, and goes over to the next when that one is dead", async () => {
    const args = volumeOfItsOwn();
    const first = await start({ args });
    let second;
    const folder = mkdtempSync(join(tmpdir(), "orrery-test-"));
    try {
      await fill(first, 10);
      const port = String(await freePort());
      const refused = await runProgram(["serve", "--dev", "--data", folder, "--port", port, ...args]);
      assert.equal(refused.code, 1, refused.out);
      assert.match(refused.out, /another server uses this volume/);
      const container = first.client().database("db").container("c");
      await container.items.create({ id: "still", pk: "still", n: 10 });

      await first.kill();
      second = await start({ args });
      assert.deepEqual(await numbers(second), Array.from({ length: 11 }, (_, i) => i));
    } finally {
      await second?.close();
      await first.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test("a server that hung, and comes back when another has its volume, changes nothing and ends", async () => {
    const args = volumeOfItsOwn();
    const first = await start({ args });
    let second;
    try {
      await fill(first, 5);
      first.process.kill("SIGSTOP");
      second = await start({ args });
      const item = { id: "new", pk: "new", n: 5 };
      await second.client().database("db").container("c").items.create(item);
      const late = first.rest()("POST", "/dbs/db/colls/c/docs", {
        body: { id: "late", pk: "late", n: 99 }, headers: { "x-ms-documentdb-partitionkey": '["late"]' },
      }).catch((error) => error);
      first.process.kill("SIGCONT");
      assert.notEqual((await late).status, 201);
      assert.equal((await first.exited).code, 1);
      assert.match(first.log, /another server has this volume now/);
      assert.deepEqual(await numbers(second), [0, 1, 2, 3, 4, 5]);
    } finally {
      first.process?.kill("SIGKILL");
      first.process = undefined;
      await second?.close();
      await first.close();
    }
  });

  test("that cannot be reached is said", async () => {
    const folder = mkdtempSync(join(tmpdir(), "orrery-test-"));
    try {
      for (const [volume, said] of [
        ["rados:none", /open the pool 'none' of Ceph/],
        ["rados:", /say which pool/],
        ["ceph", /'ceph' is not one of local, rados:POOL/],
      ]) {
        const { code, out } = await runProgram(
          ["serve", "--dev", "--data", folder, "--port", "0", "--volume", volume, "--ceph-conf", conf]);
        assert.notEqual(code, 0);
        assert.match(out, said);
      }
      const { code, out } = await runProgram(
        ["serve", "--dev", "--data", folder, "--port", "0", "--volume", "rados:orrery", "--ceph-conf", "/none"]);
      assert.notEqual(code, 0);
      assert.match(out, /read \/none of Ceph/);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
