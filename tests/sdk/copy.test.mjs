// orrery copy: to another key, live, with a check at the end.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, describe, it } from "node:test";

import { shared, start } from "./server.mjs";
import { begin, byId, itemsOf, lines, reached, run, seen, workFolder } from "./transfer.mjs";

const items = (count, more = {}) =>
  Array.from({ length: count }, (_, i) => ({ id: `i${i}`, pk: `k${i % 20}`, city: `c${i % 7}`, n: i, ...more }));
const fill = (container, all) => Promise.all(all.map((one) => container.items.create(one)));

describe("copy", () => {
  const at = shared();
  const file = workFolder();
  const command = (source, target, ...args) => ["copy", `db/${source.id}`, target, "--data", at.server.data, ...args];
  const to = (name) => at.db.container(name);

  it("A34: a fixed container becomes a partitioned one in one command", async () => {
    const { container: source } = await at.db.containers.create({ id: "fixed" });
    await fill(source, items(500));
    const { code, stderr, result } = await run(
      command(source, "db/partitioned", "--create", "--partition-key", "/city", "--throughput", "18000"), { folder: file() });
    assert.equal(code, 0, stderr);
    assert.deepEqual([result.equal, result.sourceItems, result.targetItems, result.differences], [true, 500, 500, 0]);
    assert.deepEqual(await itemsOf(to("partitioned")), byId(items(500)));
    assert.deepEqual((await to("partitioned").read()).resource.partitionKey.paths, ["/city"]);
  });

  it("A34: live, to another key, while items are created, changed, moved and deleted, and the source splits", async () => {
    const source = await at.container({ throughput: 18_000 });
    await fill(source, items(300));
    const copy = begin(command(source, "db/live", "--create", "--partition-key", "/city", "--follow", "--checkpoint", "live.checkpoint"),
      { folder: file() });
    await copy.said(/caught up with/);
    // Its changes come while others are made.
    const write = async (round) => {
      await Promise.all(Array.from({ length: 40 }, async (_, i) => {
        const n = round * 40 + i;
        const old = `i${n % 300}`;
        await source.items.create({ id: `new${n}`, pk: `k${n % 20}`, city: "c1", n });
        if (n % 3 === 0) await source.item(old, `k${n % 300 % 20}`).replace({ id: old, pk: `k${n % 300 % 20}`, city: `moved${n % 5}`, n: -n });
        if (n % 3 === 1) await source.item(old, `k${n % 300 % 20}`).delete().catch(() => {});
      }));
    };
    await write(0);
    const split = await at.server.split(source);
    assert.equal(split.code, 0, split.out);
    await write(1);
    await write(2);
    // It follows: the newest gets there before the cut-over.
    await source.items.create({ id: "newest", pk: "k", city: "c9" });
    await seen(async () => (await to("live").item("newest", "c9").read().catch(() => ({}))).statusCode === 200, () => "the newest item");
    copy.kill("SIGUSR1");
    const { code, stderr, result } = await copy.ended;
    assert.equal(code, 0, stderr);
    assert.equal(result.equal, true);
    assert.ok(result.removed > 0, "what was deleted, or is under another key now, is removed");
    assert.deepEqual(await itemsOf(to("live")), await itemsOf(source));
    assert.ok(!existsSync(file("live.checkpoint")));
  });

  it("A34: killed while it follows, it goes on, and a line on standard input cuts over", async () => {
    const source = await at.container();
    await fill(source, items(100));
    const args = command(source, "db/again", "--create", "--partition-key", "/id", "--follow", "--checkpoint", "again.checkpoint");
    const first = begin(args, { folder: file() });
    await first.said(/caught up with/);
    await reached(file("again.checkpoint"), 100);
    first.kill("SIGKILL");
    await first.ended;
    await source.item("i0", "k0").delete();
    await source.items.create({ id: "later", pk: "k", city: "c" });
    const second = begin(args, { folder: file(), input: null });
    await second.said(/going on from[\s\S]*caught up with/);
    second.child.stdin.write("\n");
    const { code, stderr, result } = await second.ended;
    second.child.stdin.end();
    assert.equal(code, 0, stderr);
    assert.deepEqual([result.equal, result.removed], [true, 1]);
    assert.deepEqual(await itemsOf(to("again")), await itemsOf(source));
  });

  it("the check finds what differs, and the copy ends with 4", async () => {
    const source = await at.container();
    // Two items that another key makes one.
    await fill(source, [{ id: "same", pk: "a", all: 1 }, { id: "same", pk: "b", all: 1 }, { id: "one", pk: "a", all: 1 }]);
    const { code, stderr, result } = await run(command(source, "db/collided", "--create", "--partition-key", "/all"), { folder: file() });
    assert.equal(code, 4, stderr);
    assert.deepEqual([result.result, result.equal, result.sourceItems, result.targetItems], ["different", false, 3, 2]);
    assert.match(stderr, /the two sides are not equal[\s\S]*'same' of the key \[1\] stands for several items/);
  });

  it("items that cannot have the new key are rejected, and the sides are not called equal", async () => {
    const source = await at.container();
    await fill(source, [{ id: "list", pk: "a", tags: ["x"] }, { id: "fine", pk: "a", tags: "x" }]);
    const { code, stderr, result } = await run(
      command(source, "db/tagged", "--create", "--partition-key", "/tags", "--rejects", "tagged.rejects"), { folder: file() });
    assert.equal(code, 2, stderr);
    assert.deepEqual([result.equal, result.rejected, result.written], [false, 1, 1]);
    assert.equal(JSON.parse(lines(file("tagged.rejects"))[0].record).id, "list");
  });

  it("a target with items of its own is left alone, unless told, and then keeps them", async () => {
    const source = await at.container();
    const target = await at.container();
    await fill(source, items(10));
    await target.items.create({ id: "own", pk: "k" });
    const refused = await run(command(source, `db/${target.id}`), { folder: file() });
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /has items already/);
    const { code, stderr, result } = await run(command(source, `db/${target.id}`, "--into-filled"), { folder: file() });
    assert.equal(code, 0, stderr);
    assert.deepEqual([result.equal, result.targetItems], [true, 11]);
    assert.equal((await run(command(source, `db/${source.id}`), { folder: file() })).code, 1, "not into itself");
  });

  it("A34: between accounts, over https", async () => {
    const other = await start({ dev: false });
    after(() => other.close());
    const source = await at.container();
    await fill(source, items(50));
    const there = `https://127.0.0.1:${other.port}/x/y`;
    const out = await run(command(source, there, "--to-data", other.data, "--create", "--partition-key", "/pk", "--throughput", "10000"),
      { folder: file() });
    assert.equal(out.code, 0, out.stderr);
    const back = await run(["copy", there, "db/back", "--from-data", other.data, "--data", at.server.data, "--create"], { folder: file() });
    assert.equal(back.code, 0, back.stderr);
    assert.deepEqual(await itemsOf(to("back")), byId(items(50)));
  });
});
