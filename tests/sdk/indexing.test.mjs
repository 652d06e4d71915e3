// A container's index rules are changed while it is in use: items that were there are indexed again
// in the background, how far that is can be asked, and queries are right all the time.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { answers, eventually, together } from "./expect.mjs";
import { keyHeader } from "./rest.mjs";
import { shared } from "./server.mjs";

const progressHeader = "x-ms-documentdb-collection-index-transformation-progress";

describe("changing index rules", () => {
  const at = shared();

  const progress = async (container) => {
    const { headers } = await container.read({ populateQuotaInfo: true });
    const percent = Number(headers[progressHeader]);
    assert.ok(Number.isInteger(percent) && percent >= 0 && percent <= 100, headers[progressHeader]);
    return percent;
  };
  const replacePolicy = async (container, indexingPolicy) => {
    const { resource } = await container.read();
    await container.replace({ ...resource, indexingPolicy });
  };
  const rows = async (container, query) =>
    (await container.items.query(query, { maxItemCount: 100 }).fetchAll()).resources;

  it("A21: items that were there get the new rules; progress is told; queries stay right", async () => {
    const container = await at.container({ throughput: 12_000 });
    const count = 600;
    await together(16, Array.from({ length: count }, (_, i) => () =>
      container.items.create({ id: `${i}`, pk: `k${i % 50}`, n: i % 10, o: { p: `${i % 3}` } })));
    const check = async () => {
      assert.equal((await rows(container, "SELECT VALUE c.id FROM c WHERE c.n = 3")).length, 60);
      assert.equal((await rows(container, "SELECT VALUE c.id FROM c WHERE c.o.p = '1'")).length, 200);
      assert.equal((await rows(container, "SELECT VALUE c.id FROM c WHERE c.n > 7 AND c.pk = 'k8'")).length, 12);
    };
    await check();
    assert.equal(await progress(container), 100);
    const policies = [
      { includedPaths: [{ path: "/*" }], excludedPaths: [{ path: "/o/*" }] },
      { includedPaths: [{ path: "/o/p/?" }], excludedPaths: [{ path: "/*" }] },
      { indexingMode: "none", automatic: false },
      { includedPaths: [{ path: "/*" }], excludedPaths: [{ path: "/\"_etag\"/?" }] },
    ];
    for (const policy of policies) {
      await replacePolicy(container, policy);
      await check();
      await eventually(async () => (await progress(container)) === 100, { what: "re-indexing" });
      await check();
    }
    // Twice at once: the last one counts.
    await Promise.all([replacePolicy(container, policies[0]), replacePolicy(container, policies[1])]);
    await container.items.create({ id: "new", pk: "k8", n: 3, o: { p: "x" } });
    await eventually(async () => (await progress(container)) === 100, { what: "re-indexing" });
    assert.deepEqual(await rows(container, "SELECT VALUE c.id FROM c WHERE c.o.p = 'x'"), ["new"]);
    assert.equal((await rows(container, "SELECT VALUE c.id FROM c WHERE c.n = 3")).length, 61);
  });

  it("an indexing directive is taken, and queries find the item whatever it says", async () => {
    const container = await at.container();
    const directives = ["Include", "Exclude", "exclude", "Default"];
    for (const [i, indexingDirective] of directives.entries()) {
      await container.items.create({ id: `${i}`, pk: "a", foo: "bar" }, { indexingDirective });
    }
    const found = await rows(container, "SELECT VALUE c.id FROM c WHERE c.foo = 'bar'");
    assert.deepEqual(found.sort(), ["0", "1", "2", "3"]);
    answers(await at.rest("POST", `/dbs/db/colls/${container.id}/docs`, {
      body: { id: "x", pk: "a" }, headers: { ...keyHeader("a"), "x-ms-indexing-directive": "Maybe" },
    }), 400, { message: /Include, Exclude/ });
  });

  it("A21: a container without items has its new rules at once", async () => {
    const container = await at.container();
    await replacePolicy(container, { includedPaths: [{ path: "/n/?" }], excludedPaths: [{ path: "/*" }] });
    assert.equal(await progress(container), 100);
  });
});
