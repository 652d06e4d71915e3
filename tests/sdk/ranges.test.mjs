// Partition key ranges: how many, how divided, and how clients learn of changes.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { answers, ranges } from "./expect.mjs";
import { shared } from "./server.mjs";

describe("ranges", () => {
  const at = shared();
  const path = (container) => `/dbs/db/colls/${container.id}/pkranges`;

  it("A2 A9: provisioning T makes T/t partitions that divide the hash space evenly", async () => {
    for (const [throughput, expected] of [[400, 1], [6_000, 1], [6_100, 2], [25_000, 5], [30_000, 5], [42_000, 7]]) {
      const list = await ranges(at.rest, await at.container({ throughput }));
      assert.equal(list.length, expected, `${throughput} RU/s`);
      // The same texts as the vendor's, not only about the same places.
      const width = (2n ** 126n - 1n) / BigInt(expected);
      list.forEach((range, i) => assert.equal(range.minInclusive,
        i === 0 ? "" : (BigInt(i) * width).toString(16).toUpperCase().padStart(32, "0")));
    }
  });

  it("A9: autoscale counts by its maximum", async () => {
    assert.equal((await ranges(at.rest, await at.container({ maxThroughput: 40_000 }))).length, 4);
  });

  it("A9: hierarchical and first-version keys are divided too", async () => {
    for (const partitionKey of [{ paths: ["/a", "/b"], kind: "MultiHash", version: 2 },
      { paths: ["/a"], kind: "Hash", version: 1 }]) {
      assert.equal((await ranges(at.rest, await at.container({ partitionKey, throughput: 24_000 }))).length, 4);
    }
  });

  it("a range has what the SDKs read", async () => {
    const container = await at.container({ throughput: 24_000 });
    const list = await ranges(at.rest, container);
    const { resource } = await container.read();
    for (const range of list) {
      assert.match(range.id, /^\d+$/);
      assert.equal(range.status, "online");
      assert.deepEqual(range.parents, []);
      assert.equal(typeof range.ridPrefix, "number");
      assert.equal(range._self, `${resource._self}pkranges/${range._rid}/`);
    }
    assert.equal(new Set(list.map((range) => range.id)).size, 4);
    assert.ok(Math.abs(list.reduce((sum, range) => sum + range.throughputFraction, 0) - 1) < 1e-6);
  });

  it("the SDK reads them", async () => {
    const container = await at.container({ throughput: 24_000 });
    const { resources } = await container.readPartitionKeyRanges().fetchAll();
    assert.equal(resources.length, 4);
    assert.equal((await container.getFeedRanges()).length, 4);
  });

  it("A10: incremental feed: 304 until a split, then the children with their parents", async () => {
    const container = await at.container({ throughput: 400 });
    for (let i = 0; i < 20; ++i) await container.items.create({ id: `${i}`, pk: `${i}` });
    const read = (etag) => at.rest("GET", path(container),
      { headers: { "a-im": "Incremental Feed", ...(etag ? { "if-none-match": etag } : {}) } });
    const first = answers(await read(), 200);
    assert.equal(first.body.PartitionKeyRanges.length, 1);
    const parent = first.body.PartitionKeyRanges[0].id;
    answers(await read(first.headers.etag), 304);

    const { code, out } = await at.server.split(container);
    assert.equal(code, 0, out);
    const second = answers(await read(first.headers.etag), 200);
    const children = second.body.PartitionKeyRanges;
    assert.equal(children.length, 2);
    for (const child of children) {
      assert.deepEqual(child.parents, [parent]);
      assert.notEqual(child.id, parent);
    }
    answers(await read(second.headers.etag), 304);

    assert.equal((await at.server.split(container, children[0].id)).code, 0);
    const third = await ranges(at.rest, container);
    assert.equal(third.length, 3);
    assert.equal(third.filter((range) => range.parents.length === 2 && range.parents[1] === children[0].id).length, 2);
    answers(await at.rest("GET", `/dbs/db/colls/${container.id}/docs`,
      { headers: { "x-ms-documentdb-partitionkeyrangeid": parent } }), 410, { substatus: 1002 });
  });
});
