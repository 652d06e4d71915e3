// A disk that is full, with the real server on a small file system in memory: it lives, reads and
// deletes go on, what needs space is refused with the reason, also after kill -9 and with the rest of
// the disk taken by others to the last byte, and everything goes on by itself once there is space.
//
//   node tests/crash/full_disk.mjs [ROUNDS] [SEED]
//
// Mounting needs root, or a kernel that lets users mount in a name space of their own.
import { spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, rmdirSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { keyHeader } from "../sdk/rest.mjs";
import { start } from "../sdk/server.mjs";
import { createContainer, pause, randomOf, Violation } from "./load.mjs";

const rounds = Number(process.argv[2] ?? 3);
const seed = Number(process.argv[3] ?? Date.now() % 1_000_000_000);
const size_mb = 40;
const clients = 8;
const within_ms = 120_000;
const random = randomOf(seed);

const run = (command, ...args) => spawnSync(command, args, { encoding: "utf8" });

function mounted(use) {
  const place = mkdtempSync(join(tmpdir(), "orrery-full-disk-"));
  const mount = run("mount", "-t", "tmpfs", "-o", `size=${size_mb}m`, "tmpfs", place);
  if (mount.status !== 0) {
    rmdirSync(place);
    // Again, as root of a name space where that is allowed.
    if (process.getuid() !== 0) {
      const again = spawnSync("unshare", ["--map-root-user", "--mount", process.execPath, ...process.argv.slice(1)],
        { stdio: "inherit" });
      if (again.status !== null && !again.error) process.exit(again.status);
    }
    throw new Error(`cannot mount a small disk, so nothing was tested: ${mount.stderr}`);
  }
  process.on("exit", () => {
    run("umount", "--lazy", place);
    rmSync(place, { recursive: true, force: true });
  });
  process.env.TMPDIR = place;
  return place;
}

// Bytes that do not compress.
function noise(length) {
  let text = "";
  while (text.length < length) text += random.below(2 ** 31).toString(36);
  return text.slice(0, length);
}

class Disk {
  constructor(place) {
    this.foreign = join(place, "somebody-elses");
  }
  // Takes what is left, to the last byte.
  fill() {
    const file = openSync(this.foreign, "a");
    for (let bytes = 1 << 20; bytes >= 1; bytes >>= 1) {
      try {
        for (;;) writeSync(file, Buffer.alloc(bytes, 0x5a));
      } catch (error) {
        if (error.code !== "ENOSPC") throw error;
      }
    }
    closeSync(file);
  }
  free() {
    rmSync(this.foreign, { force: true });
  }
}

class Items {
  constructor(rest, container) {
    this.rest = rest;
    this.path = `/dbs/db/colls/${container}/docs`;
    this.there = new Map();  // acknowledged, by id
    this.next = 0;
  }
  async create(bytes = 1_000 + random.below(20_000)) {
    const id = `${++this.next}`;
    const pad = noise(bytes);
    const answer = await this.rest("POST", this.path, { headers: keyHeader(id), body: { id, pk: id, pad } });
    if (answer.status === 201) this.there.set(id, pad);
    else refused(answer, "a create");
    return answer;
  }
  async check(id) {
    const answer = await this.rest("GET", `${this.path}/${id}`, { headers: keyHeader(id) });
    if (answer.status !== 200 || answer.body.pad !== this.there.get(id)) {
      throw new Violation(`item ${id} was acknowledged; reading it: ${answer.status} ${answer.text.slice(0, 300)}`);
    }
  }
  async checkAll(when) {
    for (const id of this.there.keys()) await this.check(id);
    const counted = await this.rest("POST", this.path, {
      headers: { "x-ms-documentdb-isquery": "true", "content-type": "application/query+json",
        "x-ms-documentdb-query-enablecrosspartition": "true" },
      body: { query: "SELECT VALUE COUNT(1) FROM c", parameters: [] },
    });
    if (counted.status !== 200 || counted.body.Documents[0] !== this.there.size) {
      throw new Violation(`${when}: ${this.there.size} items are there, a query says ${counted.status} ${counted.text.slice(0, 300)}`);
    }
  }
  // Waits for a partition that opens its files again: at most a second, and some for a busy machine.
  async remove(id) {
    for (const until = Date.now() + within_ms; ;) {
      const answer = await this.rest("DELETE", `${this.path}/${id}`, { headers: keyHeader(id) });
      if (answer.status === 204) {
        this.there.delete(id);
        return;
      }
      if (answer.status !== 503 || Date.now() > until) {
        throw new Violation(`a delete on the full disk: ${answer.status} ${answer.text}`);
      }
      await pause(100);
    }
  }
}

function refused(answer, what) {
  if (answer.status !== 503 || !/disk/.test(answer.body?.message ?? "")) {
    throw new Violation(`${what} on the full disk: ${answer.status} ${answer.text.slice(0, 500)}`);
  }
}

// For some time: a compaction may need much of the disk for a while, and a flush may free some.
async function untilRefused(items) {
  let refusedLast = 0;
  await Promise.all(Array.from({ length: clients }, async () => {
    while (refusedLast < 5 * clients) {
      const answer = await items.create();
      refusedLast = answer.status === 503 ? refusedLast + 1 : 0;
      if (answer.status === 503) await pause(100);
    }
  }));
}

async function untilTaken(items, what) {
  for (const until = Date.now() + within_ms; ;) {
    const answer = await items.create(1_000);
    if (answer.status === 201) return;
    if (Date.now() > until) throw new Violation(`${what}: still refused: ${answer.text}`);
    await pause(200);
  }
}

// The server gives space back by itself (compactions, logs that it has replayed), and then takes what fits:
// `fill` takes that away again, until this is refused.
async function untilOneIsRefused(ask, fill, what) {
  for (const until = Date.now() + within_ms; ;) {
    const answer = await ask();
    if (answer.status !== 201) return refused(answer, what);
    if (Date.now() > until) throw new Violation(`${what} is never refused`);
    await fill();
  }
}

// What holds while the disk is full.
async function whileFull(server, rest, items, fill, when) {
  await untilOneIsRefused(() => items.create(), fill, `${when}: a create`);
  const another = () => rest("POST", "/dbs/db/colls", {
    body: { id: `another${++items.next}`, partitionKey: { paths: ["/pk"], kind: "Hash" } },
  });
  await untilOneIsRefused(another, fill, `${when}: a container`);
  await items.checkAll(when);
  for (const id of [...items.there.keys()].slice(0, 20)) await items.remove(id);
  await items.checkAll(`${when}, after deletes`);
  if (server.process.exitCode !== null) throw new Violation(`${when}: the server ended`);
}

async function round(server, rest, disk, number, said) {
  const container = `c${number}`;
  await createContainer(rest, container);
  const items = new Items(rest, container);
  const other = new Items(rest, `other${number}`);
  await createContainer(rest, `other${number}`);
  await other.create();
  await untilRefused(items);
  said.items += items.there.size;
  await whileFull(server, rest, items, () => untilRefused(items), "filled by itself");
  disk.fill();
  await whileFull(server, rest, items, () => disk.fill(), "filled by others");
  await server.kill();
  disk.fill();
  await server.launch();
  ++said.kills;
  await whileFull(server, rest, items, () => disk.fill(), "after a kill");
  await other.checkAll("after a kill");
  const dropped = await rest("DELETE", `/dbs/db/colls/other${number}`);
  if (dropped.status !== 204) throw new Violation(`dropping a container on the full disk: ${dropped.text}`);
  disk.free();
  await untilTaken(items, "there is space again");
  await items.checkAll("with space again");
  await untilRefused(items);
  // Deleting everything gives its space back.
  for (const id of [...items.there.keys()]) await items.remove(id);
  await untilTaken(items, "everything was deleted");
  await items.checkAll("after deleting everything");
  await server.restart({ hard: true });
  await items.checkAll("after a restart");
  // Dropping the container gives its space back.
  const gone = await rest("DELETE", `/dbs/db/colls/${container}`);
  if (gone.status !== 204) throw new Violation(`dropping a container: ${gone.status} ${gone.text}`);
  const next = () => rest("POST", "/dbs/db/colls", { body: { id: `after${number}`, partitionKey: { paths: ["/pk"], kind: "Hash" } } });
  for (const until = Date.now() + within_ms; (await next()).status !== 201; await pause(100)) {
    if (Date.now() > until) throw new Violation("a container was dropped, and there is still no room for another");
  }
}

console.log(`seed ${seed}`);
let server;
try {
  const disk = new Disk(mounted());
  server = await start({ limits: { "removed-files-age-s": 0 } });
  const rest = server.rest();
  const said = { items: 0, kills: 0 };
  for (let number = 1; number <= rounds; ++number) await round(server, rest, disk, number, said);
  await server.close();
  console.log(`a disk of ${size_mb} MB filled ${2 * rounds} times, ${said.kills} kills on the full disk, ` +
    `${said.items} items acknowledged, none lost`);
  process.exit(0);
} catch (error) {
  if (server) {
    console.error(server.log);
    console.error(run("du", "--all", "--block-size=1K", server.data).stdout);  // what takes the space
  }
  console.error(error instanceof Violation ? `VIOLATION: ${error.message}` : error);
  console.error(`Again with: node ${fileURLToPath(import.meta.url)} ${rounds} ${seed}`);
  process.exit(1);
}
