// orrery doctor: a folder that is well, one that was damaged in each way that a test can bring about, and a server.
import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, after } from "node:test";

import { runProgram, start } from "./server.mjs";

// What a server on a fresh folder leaves after `use`.
async function folderOf(use, options = {}) {
  const data = mkdtempSync(join(tmpdir(), "orrery-doctor-"));
  after(() => rmSync(data, { recursive: true, force: true }));
  const server = await start({ ...options, data });
  const { database } = await server.client().databases.create({ id: "db" });
  const { container } = await database.containers.create({
    id: "c", partitionKey: { paths: ["/pk"], kind: "Hash", version: 2 }, throughput: 12_000,
    uniqueKeyPolicy: { uniqueKeys: [{ paths: ["/n"] }] },
  });
  await use(container, server);
  await server.stop();
  return data;
}
const fill = async (container) => {
  for (let i = 0; i < 40; ++i) await container.items.create({ id: `${i}`, pk: `k${i % 6}`, n: i, tags: ["a", { b: i }] });
  for (let i = 0; i < 10; ++i) await container.item(`${i}`, `k${i % 6}`).replace({ id: `${i}`, pk: `k${i % 6}`, n: 100 + i });
  for (let i = 10; i < 15; ++i) await container.item(`${i}`, `k${i % 6}`).delete();
};
const doctor = async (data, ...args) => {
  const { code, out } = await runProgram(["doctor", "--json", "--data", data, ...args]);
  return { code, ...(out.startsWith("{") ? JSON.parse(out) : { out }) };
};

describe("doctor", () => {
  it("A13: finds nothing wrong with a folder that is well, before and after splits and kills", async () => {
    const data = await folderOf(async (container, server) => {
      await fill(container);
      await server.split(container);
      for (let i = 200; i < 220; ++i) await container.items.create({ id: `${i}`, pk: `k${i}`, n: i });
      await server.restart({ hard: true });
      await server.client().database("db").container("c").items.create({ id: "last", pk: "last", n: -1 });
    });
    const found = await doctor(data);
    assert.deepEqual([found.code, found.findings], [0, []]);
    assert.deepEqual([found.containers, found.partitions, found.items], [1, 3, 56]);
    assert.ok(found.terms > found.items * 3);
    const { code, out } = await runProgram(["doctor", "--data", data]);
    assert.equal(code, 0);
    assert.match(out, /1 container, 3 partitions, 56 items/);
    assert.match(out, /nothing is wrong\n$/);
    // It leaves the folder as good as it was.
    const server = await start({ data });
    assert.equal((await server.client().database("db").container("c").items.query("SELECT VALUE COUNT(1) FROM c").fetchAll()).resources[0], 56);
    await server.stop();
  });

  it("A13: a term that the index lacks is found and named", async () => {
    const data = await folderOf(fill, { env: { ORRERY_FAULT: "partition.term=error@20" } });
    const { code, findings, wrong } = await doctor(data);
    assert.deepEqual([code, wrong], [3, 1]);
    assert.match(findings[0].where, /^db\/c range \d$/);
    assert.match(findings[0].what, /^item '\d+' is not found by .*: the index has no entry$/);
    assert.match(findings[0].advice, /restore the folder from a copy/);
  });

  it("A13: a size that is wrong is found and named", async () => {
    const data = await folderOf(fill, { env: { ORRERY_FAULT: "partition.size=error@30" } });
    const { code, findings } = await doctor(data);
    assert.equal(code, 3);
    assert.match(findings[0].what, /^partition key \["k\d"\] has \d+ items of \d+ bytes, and recorded are \d+ of \d+$/);
    const { out } = await runProgram(["doctor", "--data", data]);
    assert.match(out, /^WRONG: db\/c range \d\n {2}partition key .*\n {2}what to do: /m);
    assert.match(out, /^1 wrong$/m);
  });

  it("A13: files that are missing, damaged, or nobody's are found", async () => {
    const data = await folderOf(fill);
    const folders = readdirSync(join(data, "partitions")).filter((name) => name !== "catalog").sort();
    const at = (name) => join(data, "partitions", name);
    const aside = mkdtempSync(join(tmpdir(), "orrery-aside-"));
    after(() => rmSync(aside, { recursive: true, force: true }));

    renameSync(at(folders[0]), join(aside, "gone"));
    const missing = await doctor(data);
    assert.equal(missing.code, 3);
    assert.match(missing.findings[0].what, /its files are missing/);
    renameSync(join(aside, "gone"), at(folders[0]));

    cpSync(at(folders[0]), at("c99-p0"), { recursive: true });
    const unknown = await doctor(data);
    assert.equal(unknown.code, 3);
    assert.match(unknown.findings[0].what, /the catalog does not know these files/);
    rmSync(at("c99-p0"), { recursive: true });

    cpSync(at(folders[1]), join(aside, "whole"), { recursive: true });
    for (const name of readdirSync(join(at(folders[1]), "db"))) {
      if (name.startsWith("MANIFEST-")) rmSync(join(at(folders[1]), "db", name));
    }
    const broken = await doctor(data);
    assert.equal(broken.code, 3);
    assert.match(broken.findings[0].where, /^db\/c range \d$/);
    rmSync(at(folders[1]), { recursive: true });
    cpSync(join(aside, "whole"), at(folders[1]), { recursive: true });
    assert.deepEqual((await doctor(data)).findings, []);

    renameSync(at("catalog"), join(aside, "catalog"));
    const lost = await doctor(data);
    assert.equal(lost.code, 3);
    assert.equal(lost.findings[0].where, "catalog");
  });

  it("A13: what cannot be checked is said, and an empty folder is not made", async () => {
    const nowhere = join(tmpdir(), `orrery-none-${process.pid}`);
    const { code, out } = await doctor(nowhere);
    assert.equal(code, 1);
    assert.match(out, /there is no data folder/);
    const empty = mkdtempSync(join(tmpdir(), "orrery-empty-"));
    after(() => rmSync(empty, { recursive: true, force: true }));
    mkdirSync(join(empty, "partitions"));
    const { code: well, findings } = await doctor(empty);
    assert.deepEqual([well, findings.length, findings[0].warning], [0, 1, true]);
    assert.match(findings[0].what, /there is nothing in it/);
  });

  it("A13: a running server is asked, and says which keys are nearly full", async () => {
    const server = await start({ dev: false, limits: { "logical-partition-bytes": 20_000 } });
    after(() => server.close());
    const { database } = await server.client().databases.create({ id: "db" });
    const { container } = await database.containers.create({ id: "c", partitionKey: "/pk", throughput: 12_000 });
    await container.items.create({ id: "1", pk: "full", text: "x".repeat(18_500) });
    await container.items.create({ id: "1", pk: "other" });
    const { code, subject, findings, partitions, items } = await doctor(server.data);
    assert.deepEqual([code, partitions, items], [0, 2, 2]);
    assert.match(subject, /^server of /);
    assert.equal(findings.length, 1);
    assert.ok(findings[0].warning);
    assert.match(findings[0].what, /partition key \["full"\] has 18\.\d KB of the 19\.5 KB/);
    const remote = await doctor("/nonexistent", "--host", "localhost", "--port", String(server.port), "--key", server.key, "--ca", join(server.data, "cert.pem"));
    assert.equal(remote.code, 0);
  });

  it("A13: data in a volume elsewhere are read there", async () => {
    const objects = mkdtempSync(join(tmpdir(), "orrery-objects-"));
    after(() => rmSync(objects, { recursive: true, force: true }));
    const volume = ["--volume", `directory:${objects}`];
    const data = await folderOf(fill, { args: volume });
    const { code, items, findings } = await doctor(data, ...volume);
    assert.deepEqual([code, items, findings], [0, 35, []]);
  });

  it("A13: the folder of a server that was killed is read itself", async () => {
    const data = mkdtempSync(join(tmpdir(), "orrery-doctor-"));
    after(() => rmSync(data, { recursive: true, force: true }));
    const server = await start({ data });
    await server.client().databases.create({ id: "db" });
    await server.kill();
    const { code, subject } = await doctor(data);
    assert.equal(code, 0);
    assert.match(subject, /^data folder /);
  });
});
