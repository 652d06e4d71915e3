// The change feed, of latest versions and of all versions and deletes: the SDK's pull model and its
// older iterator, and what they do not show by REST.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { ChangeFeedMode, ChangeFeedRetentionTimeSpan, ChangeFeedPolicy, ChangeFeedStartFrom } from "./cosmos.mjs";
import { answers, bare, eventually, fails, ranges, together } from "./expect.mjs";
import { keyHeader } from "./rest.mjs";
import { shared } from "./server.mjs";

const incremental = { "A-IM": "Incremental Feed" };

// Reads pages until there is nothing new: {items, continuation}.
async function drain(iterator) {
  const items = [];
  for (;;) {
    const page = await iterator.readNext();
    if (page.statusCode === 304) return { items, continuation: page.continuationToken };
    assert.equal(page.statusCode, 200);
    items.push(...page.result);
  }
}

const ids = (items) => items.map((item) => item.id);
const numbers = (from, to) => Array.from({ length: to - from }, (_, i) => `${from + i}`);

describe("change feed", { concurrency: true }, () => {
  const at = shared({ clock: true });
  const fill = async (container, names, more = {}) => {
    for (const id of names) await container.items.upsert({ id, pk: `k${id % 3}`, ...more });
  };
  const docsOf = (container) => `/dbs/db/colls/${container.id}/docs`;

  it("A34: from the beginning every item comes once, as it is now, in the order of the writes of each key", async () => {
    const container = await at.container();
    await fill(container, numbers(0, 12), { n: 1 });
    await fill(container, ["4", "7"], { n: 2 });
    await container.item("5", "k2").delete();
    const { items } = await drain(container.items.getChangeFeedIterator(
      { changeFeedStartFrom: ChangeFeedStartFrom.Beginning(), maxItemCount: 3 }));
    assert.deepEqual(ids(items), ["0", "1", "2", "3", "6", "8", "9", "10", "11", "4", "7"]);
    assert.equal(items.at(-1).n, 2);
    const { resource } = await container.item("7", "k1").read();
    const { _lsn, ...asRead } = items.at(-1);
    assert.deepEqual(asRead, resource);
    assert.ok(Number.isInteger(_lsn) && _lsn > items[0]._lsn);
  });

  it("A34: a consumer that stops goes on from its continuation, in another iterator", async () => {
    const container = await at.container();
    await fill(container, numbers(0, 5));
    const from = ChangeFeedStartFrom.Beginning();
    const first = await drain(container.items.getChangeFeedIterator({ changeFeedStartFrom: from }));
    assert.equal(first.items.length, 5);
    await fill(container, ["2", "9"], { n: 2 });
    const next = await drain(container.items.getChangeFeedIterator(
      { changeFeedStartFrom: ChangeFeedStartFrom.Continuation(first.continuation) }));
    assert.deepEqual(ids(next.items), ["2", "9"]);
    const none = await drain(container.items.getChangeFeedIterator(
      { changeFeedStartFrom: ChangeFeedStartFrom.Continuation(next.continuation) }));
    assert.deepEqual(none.items, []);
  });

  it("A34: from now only what comes after the first call", async () => {
    const container = await at.container();
    await fill(container, numbers(0, 3));
    for (const iterator of [
      container.items.getChangeFeedIterator({ changeFeedStartFrom: ChangeFeedStartFrom.Now() }),
      container.items.getChangeFeedIterator({ changeFeedStartFrom: ChangeFeedStartFrom.Now("k0") }),
    ]) {
      assert.equal((await iterator.readNext()).statusCode, 304);
      await fill(container, ["3"], { now: true });
      assert.deepEqual(ids((await drain(iterator)).items), ["3"]);
    }
  });

  it("A34: from a time: what was written in that second or later", async () => {
    const container = await at.container();
    await fill(container, numbers(0, 4));
    at.server.clock.move(10);
    const { resource } = await container.items.create({ id: "later", pk: "k0" });
    await fill(container, ["1"]);
    const time = new Date(resource._ts * 1000);
    const read = (start) => drain(container.items.getChangeFeedIterator({ changeFeedStartFrom: start }));
    assert.deepEqual(ids((await read(ChangeFeedStartFrom.Time(time))).items), ["later", "1"]);
    assert.deepEqual(ids((await read(ChangeFeedStartFrom.Time(time, "k1"))).items), ["1"]);
    const early = new Date("2001-01-01T00:00:00Z");
    assert.deepEqual(ids((await read(ChangeFeedStartFrom.Time(early))).items), ["0", "2", "3", "later", "1"]);
    const ahead = new Date((resource._ts + 365 * 24 * 3600) * 1000);
    assert.deepEqual((await read(ChangeFeedStartFrom.Time(ahead))).items, []);
  });

  it("A34: of one partition key", async () => {
    const container = await at.container();
    await fill(container, numbers(0, 9));
    const { items, continuation } = await drain(container.items.getChangeFeedIterator(
      { changeFeedStartFrom: ChangeFeedStartFrom.Beginning("k1"), maxItemCount: 2 }));
    assert.deepEqual(ids(items), ["1", "4", "7"]);
    await fill(container, ["2", "4"]);
    const next = await drain(container.items.getChangeFeedIterator(
      { changeFeedStartFrom: ChangeFeedStartFrom.Continuation(continuation) }));
    assert.deepEqual(ids(next.items), ["4"]);
  });

  it("A34: of a prefix of a hierarchical key, and of the whole key", async () => {
    const container = await at.container(
      { partitionKey: { paths: ["/tenant", "/user"], kind: "MultiHash", version: 2 } });
    for (const [id, tenant, user] of [["1", "a", "x"], ["2", "b", "x"], ["3", "a", "y"], ["4", "a", "x"]]) {
      await container.items.create({ id, tenant, user });
    }
    const read = async (key) => ids((await drain(container.items.getChangeFeedIterator(
      { changeFeedStartFrom: ChangeFeedStartFrom.Beginning(key) }))).items);
    assert.deepEqual(await read(["a"]), ["1", "3", "4"]);
    assert.deepEqual(await read(["a", "x"]), ["1", "4"]);
    assert.deepEqual(await read(["c"]), []);
  });

  it("A34: of each feed range of a container with several, in parallel", async () => {
    const container = await at.container();
    await together(8, numbers(0, 60).map((id) => () => container.items.create({ id, pk: id })));
    assert.equal((await at.server.split(container)).code, 0);
    const feedRanges = await container.getFeedRanges();
    assert.ok(feedRanges.length >= 2);
    const parts = await Promise.all(feedRanges.map((range) => drain(
      container.items.getChangeFeedIterator({ changeFeedStartFrom: ChangeFeedStartFrom.Beginning(range) }))));
    for (const part of parts) assert.ok(part.items.length > 0);
    assert.deepEqual(parts.flatMap((part) => ids(part.items)).sort(), numbers(0, 60).sort());
    const whole = await drain(container.items.getChangeFeedIterator(
      { changeFeedStartFrom: ChangeFeedStartFrom.Beginning(), maxItemCount: 7 }));
    assert.deepEqual(ids(whole.items).sort(), numbers(0, 60).sort());
  });

  it("A34: positions of a range that was split are good in its children", async () => {
    const container = await at.container();
    await together(8, numbers(0, 40).map((id) => () => container.items.create({ id, pk: id })));
    const iterator = container.items.getChangeFeedIterator(
      { changeFeedStartFrom: ChangeFeedStartFrom.Beginning(), maxItemCount: 30 });
    const first = await iterator.readNext();
    assert.equal(first.count, 30);
    const [parent] = await ranges(at.rest, container);
    assert.equal((await at.server.split(container)).code, 0);
    const again = first.result[0].id;  // items were created side by side: any may be among the first
    await container.items.upsert({ id: again, pk: again, n: 2 });
    const gone = await at.rest("GET", docsOf(container), { headers: {
      ...incremental, "x-ms-documentdb-partitionkeyrangeid": parent.id, "If-None-Match": first.headers.etag } });
    answers(gone, 410, { substatus: 1002 });
    const rest = await drain(iterator);
    const seen = [...first.result, ...rest.items];
    assert.deepEqual([...new Set(ids(seen))].sort(), numbers(0, 40).sort());
    assert.equal(seen.length, 41, "each once, and one again");
    assert.equal(rest.items.findLast((item) => item.id === again).n, 2);
    const other = await drain(container.items.getChangeFeedIterator(
      { changeFeedStartFrom: ChangeFeedStartFrom.Continuation(first.continuationToken) }));
    assert.deepEqual(ids(other.items).sort(), ids(rest.items).sort());
  });

  it("A34: a part of a range by effective partition keys", async () => {
    const container = await at.container();
    await together(8, numbers(0, 30).map((id) => () => container.items.create({ id, pk: id })));
    const [range] = await ranges(at.rest, container);
    const part = async (min, max) => {
      const answer = await at.rest("GET", docsOf(container), { headers: {
        ...incremental, "x-ms-documentdb-partitionkeyrangeid": range.id, "x-ms-read-key-type":
        "EffectivePartitionKeyRange", "x-ms-start-epk": min, "x-ms-end-epk": max } });
      return answer.status === 304 ? [] : ids(answers(answer, 200).body.Documents);
    };
    const left = await part("", "1FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF");
    const right = await part("1FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF", "FF");
    assert.ok(left.length > 0 && right.length > 0);
    assert.deepEqual([...left, ...right].sort(), numbers(0, 30).sort());
  });

  it("A34: the older iterator reads a partition key to its end", async () => {
    const container = await at.container();
    await fill(container, numbers(0, 7));
    const read = async (options) => {
      const found = [];
      const iterator = container.items.changeFeed("k0", options);
      while (iterator.hasMoreResults) {
        const page = await iterator.fetchNext();
        found.push(...(page.result ?? []));
        if (page.statusCode === 304) return { found: ids(found), etag: page.etag ?? page.headers.etag };
      }
      return assert.fail("it ends with 304");
    };
    const all = await read({ startFromBeginning: true, maxItemCount: 2 });
    assert.deepEqual(all.found, ["0", "3", "6"]);
    await fill(container, ["3"]);
    assert.deepEqual((await read({ continuation: all.etag })).found, ["3"]);
    assert.deepEqual((await read({})).found, []);
  });

  it("A34: expired items are not shown", async () => {
    const container = await at.container({ defaultTtl: -1 });
    await container.items.create({ id: "1", pk: "a" });
    await container.items.create({ id: "2", pk: "a", ttl: 10_000 });
    at.server.clock.move(10_000);
    const { items } = await drain(container.items.getChangeFeedIterator(
      { changeFeedStartFrom: ChangeFeedStartFrom.Beginning("a") }));
    assert.deepEqual(ids(items), ["1"]);
  });

  it("A34: charges, session token, positions and the empty answer by REST", async () => {
    const container = await at.container();
    await fill(container, numbers(0, 3));
    const page = answers(await at.rest("GET", docsOf(container), { headers: { "A-IM": "Incremental feed" } }), 200);
    assert.equal(page.body._count, 3);
    assert.equal(page.headers["x-ms-item-count"], "3");
    assert.equal(page.headers.etag, '"3"');
    assert.match(page.headers["x-ms-session-token"], /^0:-1#3$/);
    assert.equal(page.headers.lsn, "3");
    assert.ok(Number(page.headers["x-ms-request-charge"]) >= 1);
    assert.deepEqual(page.body.Documents.map((item) => item._lsn), [1, 2, 3]);
    const none = await at.rest("GET", docsOf(container), { headers: { ...incremental, "If-None-Match": page.headers.etag } });
    answers(none, 304);
    assert.equal(none.text, "");
    assert.equal(none.headers.etag, '"3"');
    assert.ok(Number(none.headers["x-ms-request-charge"]) >= 1);
    // Somebody else's changes move the position of a key on, so that they are passed over once.
    await fill(container, ["1"]);
    const moved = await at.rest("GET", docsOf(container), { headers: { ...incremental, ...keyHeader("k0"), "If-None-Match": "3" } });
    answers(moved, 304);
    assert.equal(moved.headers.etag, '"4"');
    const ahead = await at.rest("GET", docsOf(container), { headers: { ...incremental, "x-ms-session-token": "0:-1#99" } });
    answers(ahead, 404, { substatus: 1002 });
    assert.equal(bare(page.body.Documents[0]).id, "0");
  });

  it("A34: from a time that says UTC, as the Python SDK writes it, or GMT", async () => {
    const container = await at.container();
    await fill(container, numbers(0, 3));
    for (const zone of ["GMT", "UTC"]) {
      const since = new Date(0).toUTCString().replace("GMT", zone);
      const page = await at.rest("GET", docsOf(container), { headers: { ...incremental, "If-Modified-Since": since } });
      assert.equal(answers(page, 200).body.Documents.length, 3, zone);
    }
  });

  it("A34: items apart from their metadata, for who asks for that format", async () => {
    const container = await at.container();
    await fill(container, numbers(0, 3));
    const { resource } = await container.item("1", "k1").read();
    const get = (format) => at.rest("GET", docsOf(container), {
      headers: { ...incremental, "x-ms-cosmos-changefeed-wire-format-version": format } });
    const page = answers(await get("2021-09-15"), 200);
    assert.equal(page.headers.etag, '"3"');
    assert.deepEqual(page.body.Documents.map(({ current, metadata }) => [current.id, metadata.lsn]),
      [["0", 1], ["1", 2], ["2", 3]]);
    assert.deepEqual(page.body.Documents[1], { current: resource, metadata: { lsn: 2, crts: resource._ts } });
    // A format that nobody knows is not asked for.
    assert.deepEqual(answers(await get("1999-01-01"), 200).body.Documents.map((item) => item._lsn), [1, 2, 3]);
  });

  it("A34: what makes no sense is refused", async () => {
    const container = await at.container();
    await fill(container, numbers(0, 3));
    const get = (headers) => at.rest("GET", docsOf(container), { headers });
    answers(await get({ "A-IM": "Decremental Feed" }), 400, { message: /A-IM/ });
    for (const etag of ["x", "-1", '"1', "1e3", "99999999999999999999999", '"3 "', `"${"9".repeat(300)}"`]) {
      answers(await get({ ...incremental, "If-None-Match": etag }), 400, { message: /If-None-Match/ });
    }
    answers(await get({ ...incremental, "If-None-Match": '"4"' }), 400, { message: /beyond/ });
    answers(await get({ ...incremental, "If-Modified-Since": "yesterday" }), 400, { message: /If-Modified-Since/ });
    answers(await get({ ...incremental, "x-ms-max-item-count": "0" }), 400);
    answers(await get({ ...incremental, "x-ms-documentdb-partitionkeyrangeid": "77" }), 410, { substatus: 1002 });
    assert.equal((await at.server.split(container)).code, 0);
    answers(await get(incremental), 400, { message: /x-ms-documentdb-partitionkeyrangeid/ });
    const other = await at.container();
    const { continuation } = await drain(container.items.getChangeFeedIterator({ changeFeedStartFrom: ChangeFeedStartFrom.Beginning() }));
    await fails(other.items.getChangeFeedIterator(
      { changeFeedStartFrom: ChangeFeedStartFrom.Continuation(continuation) }).readNext(), undefined);
  });
});

describe("change feed of all versions and deletes", { concurrency: true }, () => {
  const at = shared({ clock: true });
  const keeping = { changeFeedPolicy: new ChangeFeedPolicy(ChangeFeedRetentionTimeSpan.fromMinutes(60)) };
  const everything = { changeFeedMode: ChangeFeedMode.AllVersionsAndDeletes };
  const fromNow = async (container, range) => {
    const iterator = container.items.getChangeFeedIterator({ ...everything, changeFeedStartFrom: ChangeFeedStartFrom.Now(range) });
    assert.equal((await iterator.readNext()).statusCode, 304);
    return iterator;
  };
  const told = (items) => items.map(({ metadata, current }) => `${metadata.operationType} ${current.id ?? metadata.id}`);

  it("A34: every write comes, with the state before it and what it was", async () => {
    const container = await at.container(keeping);
    const iterator = await fromNow(container);
    await container.items.create({ id: "1", pk: "a", n: 1 });
    await container.items.upsert({ id: "1", pk: "a", n: 2 });
    const { resource } = await container.item("1", "a").replace({ id: "1", pk: "a", n: 3 });
    await container.item("1", "a").delete();
    const { items } = await drain(iterator);
    assert.deepEqual(told(items), ["create 1", "replace 1", "replace 1", "delete 1"]);
    assert.deepEqual(items.slice(0, 3).map((item) => item.current.n), [1, 2, 3]);
    assert.deepEqual(items[2].current, resource);
    assert.equal(items[0].previous, undefined);
    assert.deepEqual(items[2].previous, items[1].current);
    const { current, previous, metadata } = items[3];
    assert.deepEqual(current, {});
    assert.deepEqual(previous, resource);
    assert.deepEqual(metadata, { operationType: "delete", lsn: 4, crts: metadata.crts, previousImageLSN: 3,
      id: "1", partitionKey: { pk: "a" } });
    assert.ok(metadata.crts >= resource._ts);
    assert.deepEqual(items.map((item) => item.metadata.lsn), [1, 2, 3, 4]);
  });

  it("A34: of one key and of a feed range, a page at a time, on from a continuation and across a split", async () => {
    const container = await at.container(keeping);
    const [whole] = await container.getFeedRanges();
    const iterators = [await fromNow(container), await fromNow(container, whole)];
    const ofKey = await fromNow(container, "3");
    for (const id of numbers(0, 20)) await container.items.create({ id, pk: id });
    const first = await iterators[0].readNext();
    assert.equal((await at.server.split(container)).code, 0);
    await container.item("3", "3").delete();
    assert.deepEqual(told((await drain(ofKey)).items), ["create 3", "delete 3"]);
    const wanted = [...numbers(0, 20).map((id) => `create ${id}`), "delete 3"].sort();
    assert.deepEqual(told([...first.result, ...(await drain(iterators[0])).items]).sort(), wanted);
    assert.deepEqual(told((await drain(iterators[1])).items).sort(), wanted);
    const again = container.items.getChangeFeedIterator({ ...everything, maxItemCount: 3,
      changeFeedStartFrom: ChangeFeedStartFrom.Continuation(first.continuationToken) });
    assert.deepEqual(told((await drain(again)).items), ["delete 3"]);
  });

  it("A34: what time to live ended is marked", async () => {
    const container = await at.container({ ...keeping, defaultTtl: -1 });
    const iterator = await fromNow(container, "a");
    await container.items.create({ id: "goes", pk: "a", ttl: 300 });
    await container.items.create({ id: "stays", pk: "a" });
    await container.item("stays", "a").delete();
    at.server.clock.move(300);
    const seen = [];
    await eventually(async () => {
      seen.push(...(await drain(iterator)).items);
      return seen.length === 4;
    }, { what: "the end of an item" });
    assert.deepEqual(told(seen), ["create goes", "create stays", "delete stays", "delete goes"]);
    assert.deepEqual(seen.map((item) => item.metadata.timeToLiveExpired), [undefined, undefined, undefined, true]);
  });

  it("A34: it starts from now or goes on; it needs the policy; it does not go back before it", async () => {
    const container = await at.container();
    const docs = `/dbs/db/colls/${container.id}/docs`;
    const get = (headers) => at.rest("GET", docs, { headers: { "A-IM": "Full-Fidelity Feed", ...headers } });
    await container.items.create({ id: "1", pk: "a" });
    answers(await get({ "If-None-Match": "*" }), 400, { message: /changeFeedPolicy/ });
    const { resource } = await container.read();
    await container.replace({ ...resource, ...keeping });
    answers(await get({}), 400, { message: /starts from now/ });
    answers(await get({ "If-Modified-Since": new Date().toUTCString() }), 400, { message: /starts from now/ });
    const now = answers(await get({ "If-None-Match": "*" }), 304);
    answers(await get({ "If-None-Match": now.headers.etag }), 304);
    await container.items.create({ id: "2", pk: "a" });
    assert.deepEqual(told(answers(await get({ "If-None-Match": now.headers.etag }), 200).body.Documents), ["create 2"]);
    answers(await get({ "If-None-Match": '"0"' }), 400, { message: /does not go back/ });
    await fails(container.items.getChangeFeedIterator(
      { ...everything, changeFeedStartFrom: ChangeFeedStartFrom.Beginning() }).readNext(), 400);
    await container.replace(resource);
    answers(await get({ "If-None-Match": now.headers.etag }), 400, { message: /changeFeedPolicy/ });
    // Latest versions are there all the same.
    const { items } = await drain(container.items.getChangeFeedIterator({ changeFeedStartFrom: ChangeFeedStartFrom.Beginning() }));
    assert.deepEqual(ids(items), ["1", "2"]);
  });
});
