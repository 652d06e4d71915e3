// What was acknowledged is there after kill -9.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { bare, ranges } from "./expect.mjs";
import { readFeed } from "./rest.mjs";
import { shared } from "./server.mjs";

describe("durability", () => {
  const at = shared();

  it("A3: every acknowledged write is there after kill -9 and a restart", async () => {
    const container = await at.container({ throughput: 12_000 });
    const docs = `/dbs/db/colls/${container.id}/docs`;
    const sure = new Map();     // id → what was acknowledged last
    const perhaps = new Map();  // id → what was sent and not answered
    for (let round = 0; round < 2; ++round) {
      let killed = false;
      const worker = async (w) => {
        for (let i = 0; !killed; ++i) {
          const id = `${round}-${w}-${i}`;
          const item = { id, pk: id, n: i };
          perhaps.set(id, item);
          try {
            const answer = await at.rest("POST", docs, { body: item });
            if (answer.status !== 201) assert.fail(answer.text);
            sure.set(id, item);
            perhaps.delete(id);
            if (i % 5 === 0) {
              perhaps.set(id, undefined);
              const deleted = await at.rest("DELETE", `${docs}/${id}`,
                { headers: { "x-ms-documentdb-partitionkey": JSON.stringify([id]) } });
              assert.equal(deleted.status, 204);
              sure.set(id, undefined);
              perhaps.delete(id);
            }
          } catch (error) {
            if (!killed) throw error;
          }
        }
      };
      const workers = Array.from({ length: 8 }, (_, w) => worker(w));
      while (sure.size < (round + 1) * 200) await new Promise((resolve) => setTimeout(resolve, 5));
      killed = true;
      await at.server.kill();
      await Promise.all(workers);
      await at.server.restart();

      const { items } = await readFeed(at.rest, docs, "Documents");
      const found = new Map(items.map((item) => [item.id, bare(item)]));
      assert.equal(found.size, items.length, "an item is there twice");
      for (const [id, item] of sure) {
        if (perhaps.has(id)) continue;
        assert.deepEqual(found.get(id), item, `acknowledged: ${id}`);
      }
      for (const [id, item] of found) {
        const known = [sure.get(id), perhaps.get(id)].filter(Boolean);
        assert.ok(known.some((one) => JSON.stringify(one) === JSON.stringify(item)), `nobody wrote ${JSON.stringify(item)}`);
      }
    }
  });

  it("databases, containers, policies, throughput and ranges are there after kill -9", async () => {
    const client = at.server.client();
    const { database } = await client.databases.create({ id: "kept", throughput: 500 });
    const { resource: before } = await database.containers.create({
      id: "c", partitionKey: { paths: ["/a", "/b"], kind: "MultiHash", version: 2 }, defaultTtl: 100, throughput: 18_000,
      uniqueKeyPolicy: { uniqueKeys: [{ paths: ["/email"] }] },
    });
    await database.containers.create({ id: "dropped", partitionKey: "/pk" });
    await database.container("dropped").delete();
    const list = await ranges(at.rest, database.container("c"));
    await at.server.restart({ hard: true });
    const again = at.server.client().database("kept");
    assert.deepEqual((await again.container("c").read()).resource, before);
    assert.equal((await again.readOffer()).resource.content.offerThroughput, 500);
    assert.equal((await again.container("c").readOffer()).resource.content.offerThroughput, 18_000);
    assert.deepEqual(await ranges(at.rest, again.container("c")), list);
    assert.deepEqual((await again.containers.readAll().fetchAll()).resources.map((one) => one.id), ["c"]);
  });

  it("RIDs, etags and session tokens go on after a restart", async () => {
    const container = await (async () => {
      const client = at.server.client();
      const { container: made } = await client.database("db").containers.create({ id: "tokens", partitionKey: "/pk" });
      return made;
    })();
    const first = await container.items.create({ id: "1", pk: "a" });
    await at.server.restart({ hard: true });
    const again = at.server.client().database("db").container("tokens");
    const read = await again.item("1", "a").read({ sessionToken: first.headers["x-ms-session-token"] });
    assert.deepEqual(read.resource, first.resource);
    const second = await again.items.create({ id: "2", pk: "a" });
    assert.notEqual(second.resource._rid, first.resource._rid);
    const lsn = (answer) => Number(answer.headers["x-ms-session-token"].split("#")[1]);
    assert.ok(lsn(second) > lsn(first));
  });
});
