// Physical partitions that fill up: they split, and nobody notices; those of one key cannot, and say so.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { answers, eventually, fails, ranges, together } from "./expect.mjs";
import { keyHeader, readFeed } from "./rest.mjs";
import { shared } from "./server.mjs";

const pad = "x".repeat(4000);

describe("splitting by storage", () => {
  const at = shared({ limits: { "physical-partition-bytes": 1_000_000 } });

  it("A10: a full partition splits; everything is there; old session tokens are valid", async () => {
    const container = await at.container();
    const ids = Array.from({ length: 700 }, (_, i) => `${i}`);
    const writes = await together(16, ids.map((id) => () => container.items.create({ id, pk: `k${id}`, pad })));
    const list = await eventually(async () => {
      const now = await ranges(at.rest, container);
      return now.length >= 2 && now;
    }, { what: "a split of 2.8 MB" });
    for (const range of list) assert.ok(list.length === 1 || range.parents.length >= 1);
    const { body } = await at.rest("GET", `/admin/partitions?database=db&container=${container.id}`);
    assert.deepEqual([...new Set(body.splits.map((one) => one.cause))], ["storage"]);

    await together(16, ids.map((id, i) => async () => {
      const answer = await at.rest("GET", `/dbs/db/colls/${container.id}/docs/${id}`, {
        headers: { ...keyHeader(`k${id}`), "x-ms-session-token": writes[i].headers["x-ms-session-token"] },
      });
      answers(answer, 200);
    }));
    const { items } = await readFeed(at.rest, `/dbs/db/colls/${container.id}/docs`, "Documents");
    assert.deepEqual(items.map((item) => item.id).sort(), [...ids].sort());
  });

  it("A10: about half of the keys each", async () => {
    const container = await at.container();
    await together(16, Array.from({ length: 400 }, (_, i) => () => container.items.create({ id: `${i}`, pk: `k${i}`, pad })));
    const list = await eventually(async () => {
      const now = await ranges(at.rest, container);
      return now.length >= 2 && now;
    }, { what: "a split of 1.6 MB" });
    const counts = [];
    for (const range of list) {
      const { items } = await readFeed(at.rest, `/dbs/db/colls/${container.id}/docs`, "Documents",
        { headers: { "x-ms-documentdb-partitionkeyrangeid": range.id } });
      counts.push(items.length);
    }
    assert.equal(counts.reduce((a, b) => a + b), 400);
    if (list.length === 2) for (const n of counts) assert.ok(n >= 120 && n <= 280, `${counts}`);
  });

  it("A10: the application does not notice: mixed load through several splits, no request fails", async () => {
    const container = await at.container();
    const stored = new Map();
    let done = 0;
    const worker = (w) => async () => {
      for (let i = 0; i < 80; ++i) {
        const id = `${w}-${i}`;
        const { resource } = await container.items.create({ id, pk: id, pad, n: 0 });
        stored.set(id, 0);
        assert.equal((await container.item(id, id).read()).resource.n, 0);
        if (i % 3 === 0) {
          await container.item(id, id).replace({ ...resource, n: 1 });
          stored.set(id, 1);
        }
        if (i % 7 === 0) {
          await container.item(id, id).delete();
          stored.delete(id);
        }
        ++done;
      }
    };
    const feeds = (async () => {
      while (done < 640) await readFeed(at.rest, `/dbs/db/colls/${container.id}/docs`, "Documents");
    })();
    const splits = (async () => {
      for (const threshold of [100, 300]) {
        await eventually(() => done >= threshold, { every_ms: 5 });
        const { code, out } = await at.server.split(container);
        assert.equal(code, 0, out);
      }
    })();
    await Promise.all([together(8, Array.from({ length: 8 }, (_, w) => worker(w))), feeds, splits]);
    assert.ok((await ranges(at.rest, container)).length >= 3);
    const { items } = await readFeed(at.rest, `/dbs/db/colls/${container.id}/docs`, "Documents");
    assert.deepEqual(new Map(items.map((item) => [item.id, item.n]).sort()), new Map([...stored].sort()));
  });

  it("A10: a split holds over a restart", async () => {
    const container = await at.container();
    await together(16, Array.from({ length: 60 }, (_, i) => () => container.items.create({ id: `${i}`, pk: `k${i}` })));
    assert.equal((await at.server.split(container)).code, 0);
    const before = await ranges(at.rest, container);
    await at.server.restart({ hard: true });
    at.client = at.server.client();
    at.db = at.client.database("db");
    // All but the LSN, which only an open partition tells.
    const lasting = (list) => list.map(({ lsn, ...range }) => range);
    assert.deepEqual(lasting(await ranges(at.rest, container)), lasting(before));
    for (let i = 0; i < 60; ++i) {
      assert.equal((await at.db.container(container.id).item(`${i}`, `k${i}`).read()).statusCode, 200);
    }
  });

  it("hierarchical keys and None split like any other", async () => {
    const container = await at.container({ partitionKey: { paths: ["/t", "/u"], kind: "MultiHash", version: 2 } });
    await together(16, Array.from({ length: 400 }, (_, i) => () =>
      container.items.create({ id: `${i}`, t: "one tenant", u: `${i}`, pad })));
    await eventually(async () => (await ranges(at.rest, container)).length >= 2, { what: "a split inside one tenant" });
    for (let i = 0; i < 400; i += 7) {
      assert.equal((await container.item(`${i}`, ["one tenant", `${i}`]).read()).statusCode, 200);
    }
  });
});

describe("one key too large", () => {
  // A key cannot be split, so the smaller of the two limits is what counts for it.
  const at = shared({ limits: { "physical-partition-bytes": 200_000, "logical-partition-bytes": 400_000 } });

  it("A4 A5 A11: a partition of one key is not split; when the key is full, 403/1014 says so", async () => {
    const container = await at.container();
    let written = 0;
    let error;
    while (!error && written < 100) {
      try {
        await container.items.create({ id: `${written}`, pk: "whale", pad });
        ++written;
      } catch (refused) {
        error = refused;
      }
    }
    assert.equal(error?.code, 403, error?.message);
    assert.equal(error.substatus, 1014);
    assert.match(error.message, /whale/);
    assert.match(error.message, /200000|200,000/);
    assert.ok(written >= 35 && written <= 55, `${written} items of 4 KB in 200,000 bytes`);
    assert.equal((await ranges(at.rest, container)).length, 1);

    for (let i = 0; i < written; ++i) assert.equal((await container.item(`${i}`, "whale").read()).statusCode, 200);
    assert.equal((await container.items.create({ id: "1", pk: "minnow", pad })).statusCode, 201);
    await fails(container.items.upsert({ id: "new", pk: "whale", pad }), 403, { substatus: 1014 });
    await container.item("0", "whale").delete();
    await container.item("1", "whale").delete();
    assert.equal((await container.items.create({ id: "again", pk: "whale", pad })).statusCode, 201);
  });

  it("A11: asking for a split of a one-key partition says why not", async () => {
    const container = await at.container();
    await container.items.create({ id: "1", pk: "only" });
    await container.items.create({ id: "2", pk: "only" });
    const { code, out } = await at.server.split(container);
    assert.notEqual(code, 0);
    assert.match(out, /one|single/i);
    assert.equal((await ranges(at.rest, container)).length, 1);
  });
});

describe("who may split", () => {
  const at = shared({ limits: { "physical-partition-bytes": 200_000, "split-throughput-min": 1000 } });

  it("A18: only a container with a key and enough throughput splits by itself", async () => {
    const low = await at.container({ throughput: 400 });
    const high = await at.container({ throughput: 1000 });
    answers(await at.rest("POST", "/dbs/db/colls", { body: { id: "fixed" }, headers: { "x-ms-offer-throughput": "1000" } }), 201);
    const fixed = at.db.container("fixed");
    for (const container of [low, high]) {
      await together(8, Array.from({ length: 60 }, (_, i) => () => container.items.create({ id: `${i}`, pk: `${i}`, pad })));
    }
    // Without a key all of it is one logical partition, which fills up.
    let refused;
    for (let i = 0; i < 60 && !refused; ++i) {
      refused = await fixed.items.create({ id: `${i}`, pk: `${i}`, pad }).then(() => undefined, (error) => error);
    }
    assert.equal(refused?.code, 403, refused?.message);
    assert.equal(refused.substatus, 1014);
    await eventually(async () => (await ranges(at.rest, high)).length >= 2, { what: "the split of the one that may" });
    assert.equal((await ranges(at.rest, low)).length, 1);
    assert.equal((await ranges(at.rest, fixed)).length, 1);
  });

  it("orrery split names what it cannot find", async () => {
    const { code, out } = await at.server.split({ id: "nothing", database: { id: "db" } });
    assert.notEqual(code, 0);
    assert.match(out, /nothing/);
  });
});
