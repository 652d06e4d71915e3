// Backups of a running server into a folder, and what is restored from them. Takes half a minute.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";

import { shared, start } from "./server.mjs";
import { begin, run, seen, workFolder } from "./transfer.mjs";

const manifests = (folder) =>
  existsSync(join(folder, "backups")) ? readdirSync(join(folder, "backups")).filter((name) => name.endsWith(".json")) : [];
const filesOf = (folder) =>
  readdirSync(join(folder, "files"), { recursive: true }).map((name) => join(folder, "files", name)).filter((path) => /[0-9A-F]{64}$/.test(path));

const archived = (folder) => (existsSync(join(folder, "archive")) ? readdirSync(join(folder, "archive")).length : 0);

async function backUp(server, folder) {
  const made = await run(["backup", "--data", server.data, "--to", folder]);
  assert.equal(made.code, 0, made.stderr);
  return made.result;
}

async function verified(folder) {
  const checked = await run(["verify", "--from", folder]);
  assert.equal(checked.code, 0, checked.stdout + checked.stderr);
  assert.equal(checked.result.whole, true);
  return checked.result.backups;
}

// A server on what a backup has; without keys of its own, so with those of --dev.
async function restored(folder, data, options = [], server = {}) {
  const done = await run(["restore", "--from", folder, "--data", data, ...options]);
  assert.equal(done.code, 0, done.stderr);
  return start({ data, ...server });
}

const all = async (container, query = "SELECT * FROM c") =>
  (await container.items.query(query, { maxItemCount: 1000 }).fetchAll()).resources;

// Half of two items of one key each: every transaction keeps their sum.
const accounts = 8;
const sum = 1000;
async function openAccounts(container) {
  for (let i = 0; i < accounts; ++i) {
    for (const side of ["left", "right"]) await container.items.create({ id: side, pk: `k${i}`, amount: sum / 2 });
  }
}

// Moves amounts about, and adds items, until stopped; tells which items were acknowledged.
function load(container) {
  const done = { written: [], stopped: false };
  const worker = async (i) => {
    for (let n = 0; !done.stopped; ++n) {
      const pk = `k${(i * 3 + n) % accounts}`;
      const amount = 1 + (n % 7);
      const { result } = await container.items.batch([
        { operationType: "Patch", id: "left", resourceBody: { operations: [{ op: "incr", path: "/amount", value: -amount }] } },
        { operationType: "Patch", id: "right", resourceBody: { operations: [{ op: "incr", path: "/amount", value: amount }] } },
        { operationType: "Create", resourceBody: { id: `w${i}-${n}`, pk, pad: "x".repeat(200) } },
      ], pk);
      assert.ok(result.every(({ statusCode }) => statusCode < 300), JSON.stringify(result));
      done.written.push({ id: `w${i}-${n}`, pk });
    }
  };
  const workers = [0, 1, 2].map(worker);
  return { ...done, written: done.written, stop: () => { done.stopped = true; return Promise.all(workers); } };
}

async function checkSums(container, acknowledged) {
  const items = await all(container);
  const there = new Set(items.map(({ pk, id }) => `${pk}/${id}`));
  for (const { pk, id } of acknowledged) assert.ok(there.has(`${pk}/${id}`), `${pk}/${id} was acknowledged`);
  for (let i = 0; i < accounts; ++i) {
    const sides = items.filter(({ pk, id }) => pk === `k${i}` && (id === "left" || id === "right"));
    assert.equal(sides.reduce((total, { amount }) => total + amount, 0), sum, `a transaction over k${i} is in half`);
  }
  return items.length;
}

describe("backup and restore", () => {
  const at = shared();
  const work = workFolder();

  it("under load: all that was acknowledged before is in it, and every transaction wholly or not at all", async () => {
    const container = await at.container();
    await openAccounts(container);
    const loaded = load(container);
    await seen(() => loaded.written.length >= 50, () => "50 transactions");
    const before = [...loaded.written];
    const made = await backUp(at.server, work("load"));
    await loaded.stop();
    assert.ok(made.items >= before.length);
    await verified(work("load"));
    const server = await restored(work("load"), work("load-data"));
    try {
      const items = await checkSums(server.client().database("db").container(container.id), before);
      assert.ok(items <= loaded.written.length + 2 * accounts);
    } finally {
      await server.close();
    }
  });

  it("a split in the middle: each item is in it once", async () => {
    const container = await at.container();
    await openAccounts(container);
    const loaded = load(container);
    await seen(() => loaded.written.length >= 30, () => "30 transactions");
    const before = [...loaded.written];
    // The server answers every read of files late enough for splits to come between them.
    const backup = begin(["backup", "--data", at.server.data, "--to", work("split")]);
    for (let i = 0; i < 3; ++i) {
      const { code, out } = await at.server.split(container);
      assert.equal(code, 0, out);
    }
    const made = await backup.ended;
    assert.equal(made.code, 0, made.stderr);
    const after = await backUp(at.server, work("split"));
    assert.ok(after.partitions >= made.result.partitions);
    await loaded.stop();
    await verified(work("split"));
    for (const name of manifests(work("split"))) {
      const server = await restored(work("split"), work(`split-${name}`), ["--backup", name.replace(/\.json$/, "")]);
      try {
        await checkSums(server.client().database("db").container(container.id), before);
      } finally {
        await server.close();
      }
    }
  });

  it("restores items with their etags, scripts, offers, users and permissions, and serves on", async () => {
    const { container } = await at.db.containers.create(
      { id: "everything", partitionKey: { paths: ["/pk"], version: 2 }, defaultTtl: -1, uniqueKeyPolicy: { uniqueKeys: [{ paths: ["/mail"] }] } },
      { offerThroughput: 700 });
    for (let i = 0; i < 30; ++i) await container.items.create({ id: `i${i}`, pk: `k${i % 5}`, mail: `m${i}`, n: i });
    await container.item("i3", "k3").delete();
    await container.scripts.storedProcedures.create({ id: "hello", body: "function () { getContext().getResponse().setBody('hi'); }" });
    const { user } = await at.db.users.create({ id: "ann" });
    await user.permissions.create({ id: "reads", permissionMode: "Read", resource: container.url });
    await backUp(at.server, work("all"));
    await at.db.container("everything").items.create({ id: "later", pk: "k0", mail: "later" });
    const server = await restored(work("all"), work("all-data"));
    try {
      const db = server.client().database("db");
      const same = db.container("everything");
      const wanted = (await all(container)).filter(({ id }) => id !== "later");
      const byId = (a, b) => (a.id < b.id ? -1 : 1);
      assert.deepEqual((await all(same)).sort(byId), wanted.sort(byId));
      assert.deepEqual((await same.read()).resource, (await container.read()).resource);
      assert.equal((await same.readOffer()).resource.content.offerThroughput, 700);
      assert.equal((await same.scripts.storedProcedure("hello").execute("k0")).resource, "hi");
      const permissions = (await db.user("ann").permissions.readAll().fetchAll()).resources;
      assert.deepEqual(permissions.map(({ id, permissionMode }) => ({ id, permissionMode })), [{ id: "reads", permissionMode: "Read" }]);
      await assert.rejects(same.items.create({ id: "again", pk: "k0", mail: "m5" }), { code: 409 });
      const { resource } = await same.items.create({ id: "new", pk: "k0", mail: "new" });
      assert.equal((await same.item("new", "k0").read()).resource._etag, resource._etag);
    } finally {
      await server.close();
    }
  });

  it("a second backup copies only what is new, and shares the rest", async () => {
    const container = await at.container();
    for (let i = 0; i < 40; ++i) await container.items.create({ id: `i${i}`, pk: `k${i % 5}`, pad: "x".repeat(20_000) });
    const first = await backUp(at.server, work("twice"));
    await container.items.create({ id: "one more", pk: "k0" });
    const second = await backUp(at.server, work("twice"));
    assert.equal(second.items, first.items + 1);
    assert.ok(second.sharedBytes > 0 && second.copiedBytes < first.copiedBytes, JSON.stringify([first, second]));
    assert.deepEqual((await verified(work("twice"))).map(({ backup }) => backup), [first.backup, second.backup]);
    const server = await restored(work("twice"), work("twice-data"), ["--backup", first.backup]);
    try {
      assert.equal((await all(server.client().database("db").container(container.id))).length, 40);
    } finally {
      await server.close();
    }
  });
});

describe("restore to a point in time", () => {
  const work = workFolder();

  it("each archived moment comes back, deletes included, and others are refused", async () => {
    const server = await start({ clock: true });
    try {
      const { database } = await server.client().databases.create({ id: "db" });
      const { container } = await database.containers.create({ id: "c", partitionKey: { paths: ["/pk"], version: 2 } });
      for (const id of ["kept", "deleted", "changed"]) await container.items.create({ id, pk: "k", n: 0 });
      const folder = work("F");
      const follower = begin(["backup", "--data", server.data, "--to", folder, "--follow", "--interval", "1"]);
      await seen(() => manifests(folder).length > 0, () => "the first backup");
      const moments = [];
      const moment = async (change) => {
        server.clock.move(100);
        await change();
        moments.push({ at: server.clock.now_s + 50, items: (await all(container, "SELECT * FROM c ORDER BY c.id")) });
      };
      await moment(() => container.items.create({ id: "first", pk: "k" }));
      await moment(() => container.item("changed", "k").replace({ id: "changed", pk: "k", n: 1 }));
      await moment(() => container.item("deleted", "k").delete());
      server.clock.move(100);
      // The second look that brings something began after the first one: it has all until now.
      for (let tick = 0; tick < 2; ++tick) {
        const looks = archived(folder);
        await container.items.upsert({ id: "tick", pk: "k", tick });
        await seen(() => archived(folder) > looks, () => "another look");
      }
      // A change of the catalog: a new backup, and what follows goes on from there.
      await database.containers.create({ id: "later", partitionKey: { paths: ["/pk"], version: 2 } });
      await seen(() => manifests(folder).length > 1, () => "the second backup");
      await moment(() => container.items.create({ id: "second", pk: "k" }));
      server.clock.move(100);
      follower.kill("SIGINT");
      const ended = await follower.ended;
      assert.equal(ended.code, 0, ended.stderr);
      await verified(folder);
      const utc = (seconds) => new Date(seconds * 1000).toISOString();
      for (const [i, { at, items }] of moments.entries()) {
        const back = await restored(folder, work(`data-${i}`), ["--at", utc(at)]);
        try {
          const db = back.client().database("db");
          assert.deepEqual(await all(db.container("c"), "SELECT * FROM c ORDER BY c.id"), items);
          const { resources } = await db.containers.readAll().fetchAll();
          assert.equal(resources.length, i < 3 ? 1 : 2);
        } finally {
          await back.close();
        }
      }
      for (const at of [utc(moments[0].at - 3600), utc(moments[3].at + 3600), "yesterday"]) {
        const refused = await run(["restore", "--from", folder, "--at", at, "--data", work("refused")]);
        assert.equal(refused.code, 1);
        assert.match(refused.stderr, /no backup that is as old|not archived|no time/);
      }
    } finally {
      await server.close();
    }
  });
});

describe("damaged, interrupted and refused backups", () => {
  const at = shared();
  const work = workFolder();

  it("every damage is found by verify and refused by restore", async () => {
    const container = await at.container();
    for (let i = 0; i < 20; ++i) await container.items.create({ id: `i${i}`, pk: `k${i}` });
    const folder = work("damaged");
    await backUp(at.server, folder);
    const manifest = join(folder, "backups", manifests(folder)[0]);
    const damages = [];
    for (const file of [...filesOf(folder), manifest]) {
      const bytes = readFileSync(file);
      const flipped = Buffer.from(bytes);
      flipped[bytes.length >> 1] ^= 0x20;
      damages.push({ file, bytes, spoil: () => writeFileSync(file, flipped) });
    }
    const file = filesOf(folder)[0];
    const bytes = readFileSync(file);
    damages.push({ file, bytes, spoil: () => truncateSync(file, bytes.length - 1) });
    damages.push({ file, bytes, spoil: () => rmSync(file) });
    let n = 0;
    for (const damage of damages) {
      damage.spoil();
      const checked = await run(["verify", "--from", folder]);
      assert.equal(checked.code, 3, `${damage.file}: ${checked.stdout}${checked.stderr}`);
      assert.equal(checked.result.whole, false);
      assert.match(checked.result.backups[0].wrong[0], /damaged|missing|checksum|bytes/);
      const data = work(`damaged-${++n}`);
      const refused = await run(["restore", "--from", folder, "--data", data]);
      assert.equal(refused.code, 1, `${damage.file}: ${refused.stderr}`);
      writeFileSync(damage.file, damage.bytes);
      // What it has left is not served. A manifest that is wrong is found before anything is made.
      if (damage.file !== manifest) await assert.rejects(start({ data }), /was broken off: remove the data|catalog's files are missing/);
    }
    await verified(folder);
  });

  it("a folder with data is not restored into, nor one without backups from", async () => {
    const folder = work("refused");
    await backUp(at.server, folder);
    const data = work("refused-data");
    assert.equal((await run(["restore", "--from", folder, "--data", data])).code, 0);
    const again = await run(["restore", "--from", folder, "--data", data]);
    assert.equal(again.code, 1);
    assert.match(again.stderr, /there are data already/);
    const running = await run(["restore", "--from", folder, "--data", at.server.data]);
    assert.equal(running.code, 1);
    mkdirSync(work("nothing"));
    const none = await run(["restore", "--from", work("nothing"), "--data", work("none")]);
    assert.equal(none.code, 1);
    assert.match(none.stderr, /not a folder of backups/);
    const unknown = await run(["restore", "--from", folder, "--backup", "other", "--data", work("none")]);
    assert.equal(unknown.code, 1);
    assert.match(unknown.stderr, /no backup 'other'/);
  });

  it("killed at any moment, the command leaves nothing that looks whole and is not", async () => {
    const container = await at.container();
    for (let i = 0; i < 20; ++i) await container.items.create({ id: `i${i}`, pk: `k${i}`, pad: "x".repeat(50_000) });
    const folder = work("killed");
    for (const sign of ["LOCK", "partial", "files/"]) {
      const backup = begin(["backup", "--data", at.server.data, "--to", folder]);
      await seen(() => existsSync(join(folder, sign)) || backup.child.exitCode !== null, () => sign);
      backup.kill();
      await backup.ended;
      const whole = manifests(folder);
      if (whole.length > 0) await verified(folder);
    }
    await backUp(at.server, folder);
    await verified(folder);
  });

  it("stops at a signal, with its own exit code and no manifest", async () => {
    const folder = work("stopped");
    at.server.process.kill("SIGSTOP");
    try {
      const backup = begin(["backup", "--data", at.server.data, "--to", folder]);
      await seen(() => existsSync(join(folder, "LOCK")), () => "the lock");
      backup.kill("SIGINT");
      const ended = await backup.ended;
      assert.equal(ended.code, 3, ended.stderr);
      assert.match(ended.stderr, /stopped/);
    } finally {
      at.server.process.kill("SIGCONT");
    }
    assert.deepEqual(manifests(folder), []);
    await backUp(at.server, folder);
  });

  it("one backup at a time in a folder", async () => {
    const folder = work("locked");
    at.server.process.kill("SIGSTOP");
    let first;
    try {
      first = begin(["backup", "--data", at.server.data, "--to", folder]);
      await seen(() => existsSync(join(folder, "LOCK")), () => "the lock");
      const second = await run(["backup", "--data", at.server.data, "--to", folder]);
      assert.equal(second.code, 1);
      assert.match(second.stderr, /another backup is being written/);
    } finally {
      at.server.process.kill("SIGCONT");
    }
    assert.equal((await first.ended).code, 0);
    await verified(folder);
  });

  it("goes on when the server was killed in the middle and is back", async () => {
    const server = await start({ env: { ORRERY_FAULT: "export.read=kill@2" } });
    try {
      const { database } = await server.client().databases.create({ id: "db" });
      const { container } = await database.containers.create({ id: "c", partitionKey: { paths: ["/pk"], version: 2 } });
      for (let i = 0; i < 20; ++i) await container.items.create({ id: `i${i}`, pk: `k${i}` });
      const folder = work("server-killed");
      const backup = begin(["backup", "--data", server.data, "--to", folder]);
      const { signal } = await server.exited;
      assert.equal(signal, "SIGKILL");
      assert.deepEqual(manifests(folder), []);
      server.process = undefined;
      await server.restart({ env: {} });
      const ended = await backup.ended;
      assert.equal(ended.code, 0, ended.stderr);
      assert.equal(ended.result.items, 20);
      await verified(folder);
    } finally {
      await server.close();
    }
  });
});
