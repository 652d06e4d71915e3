// Queries that the index answers: the same rows as without it, reading few items or none, and
// telling what they used.
import assert from "node:assert/strict";
import { before, describe, it } from "node:test";

import { answers, together } from "./expect.mjs";
import { shared } from "./server.mjs";

const count = 400;
const parts = Array.from({ length: count }, (_, i) => ({
  id: `${i}`,
  pk: `k${i % 20}`,
  n: (i * 37) % count,
  group: `g${i % 8}`,
  name: `part ${i}`,
  ...(i % 5 === 0 ? { tags: [`t${i % 7}`, "all"] } : {}),
  ...(i % 10 === 0 ? {} : { price: i / 4 }),
  secret: i,
}));

describe("queries and the index", () => {
  const at = shared({ args: ["--queries", "permissive"] });
  let container;
  let docs;

  before(async () => {
    container = await at.container({
      indexingPolicy: { includedPaths: [{ path: "/*" }], excludedPaths: [{ path: "/secret/*" }] },
    });
    docs = `/dbs/db/colls/${container.id}/docs`;
    await together(16, parts.map((one) => () => container.items.create(one)));
  });

  const ask = async (query, place = docs) => answers(await at.rest("POST", place, {
    body: { query, parameters: [] },
    headers: { "content-type": "application/query+json", "x-ms-documentdb-isquery": "True",
      "x-ms-documentdb-query-enablecrosspartition": "True", "x-ms-max-item-count": "1000",
      "x-ms-documentdb-populatequerymetrics": "true", "x-ms-cosmos-populateindexmetrics": "true" },
  }), 200);
  const read = (answer) => Number(/retrievedDocumentCount=(\d+)/.exec(answer.headers["x-ms-documentdb-query-metrics"])[1]);
  const used = (answer) => JSON.parse(Buffer.from(answer.headers["x-ms-cosmos-index-utilization"], "base64").toString());
  const ids = (list) => list.map((one) => one.id).sort();

  it("A21: equality, ranges and text read only the items they give", async () => {
    for (const [where, passes] of [
      ["c.n = 7", (one) => one.n === 7],
      ["c.n IN (1, 5, 9)", (one) => [1, 5, 9].includes(one.n)],
      ["c.n BETWEEN 10 AND 14", (one) => one.n >= 10 && one.n <= 14],
      ["c.n < 3 AND c['group'] != 'g0'", (one) => one.n < 3 && one.group !== "g0"],
      ["STARTSWITH(c.name, 'part 39')", (one) => one.name.startsWith("part 39")],
      ["ENDSWITH(c.name, '99')", (one) => one.name.endsWith("99")],
      ["ARRAY_CONTAINS(c.tags, 't3') AND c.n < 100", (one) => one.tags?.includes("t3") && one.n < 100],
    ]) {
      const answer = await ask(`SELECT c.id FROM c WHERE ${where}`);
      assert.deepEqual(ids(answer.body.Documents), ids(parts.filter(passes)), where);
      assert.ok(read(answer) <= 20, `${where} read ${read(answer)}`);
    }
  });

  it("A21: sorting on an indexed property reads what it gives", async () => {
    const sorted = [...parts].sort((a, b) => b.n - a.n).slice(0, 10);
    const answer = await ask("SELECT TOP 10 c.id FROM c ORDER BY c.n DESC");
    assert.deepEqual(answer.body.Documents.map((one) => one.id), sorted.map((one) => one.id));
    assert.ok(read(answer) <= 20, `read ${read(answer)}`);
    const missing = await ask("SELECT TOP 5 c.id FROM c ORDER BY c.price");
    assert.ok(missing.body.Documents.every((one) => Number(one.id) % 10 === 0), "those without a price come first");
  });

  it("counts, groups and extremes read no item", async () => {
    for (const [query, rows] of [
      ["SELECT VALUE COUNT(1) FROM c", [count]],
      ["SELECT VALUE COUNT(1) FROM c WHERE c['group'] = 'g3'", [count / 8]],
      ["SELECT VALUE COUNT(1) FROM c WHERE c['group'] = 'g3' AND c.n < 100", [parts.filter((one) => one.group === "g3" && one.n < 100).length]],
      ["SELECT MIN(c.price) AS l, MAX(c.price) AS h FROM c", [{ l: 0.25, h: 99.75 }]],
      ["SELECT VALUE SUM(c.n) FROM c", [count * (count - 1) / 2]],
    ]) {
      const answer = await ask(query);
      assert.deepEqual(answer.body.Documents, rows, query);
      assert.equal(read(answer), 0, query);
    }
    const grouped = await ask("SELECT c['group'], COUNT(1) AS n FROM c GROUP BY c['group']");
    assert.equal(read(grouped), 0);
    assert.deepEqual(grouped.body.Documents.sort((a, b) => (a.group < b.group ? -1 : 1)),
      Array.from({ length: 8 }, (_, i) => ({ group: `g${i}`, n: count / 8 })));
  });

  it("A21: composite indexes give several order values, and the order among equal ones", async () => {
    const ordered = await at.container({
      indexingPolicy: {
        includedPaths: [{ path: "/*" }],
        compositeIndexes: [[{ path: "/group", order: "descending" }, { path: "/price", order: "ascending" }]],
      },
    });
    await together(16, parts.map((one) => () => ordered.items.create(one)));
    const place = `/dbs/db/colls/${ordered.id}/docs`;
    const price = (one) => one.price ?? -1;
    const byBoth = (a, b) => b.group.localeCompare(a.group) || price(a) - price(b);
    const shown = (one) => [one.group, one.price];
    const ofOne = (one) => one.group === "g4";
    for (const [rest, expected] of [
      ["ORDER BY c['group'] DESC, c.price", [...parts].sort(byBoth)],
      ["ORDER BY c['group'], c.price DESC", [...parts].sort((a, b) => byBoth(b, a))],
      ["WHERE c['group'] = 'g4' ORDER BY c.price", parts.filter(ofOne).sort(byBoth)],
      ["WHERE c['group'] = 'g4' ORDER BY c.price DESC", parts.filter(ofOne).sort((a, b) => byBoth(b, a))],
    ]) {
      const first = await ask(`SELECT TOP 10 * FROM c ${rest}`, place);
      assert.deepEqual(first.body.Documents.map(shown), expected.slice(0, 10).map(shown), rest);
      assert.ok(read(first) <= 20, `${rest} read ${read(first)}`);
      assert.deepEqual(used(first).UtilizedCompositeIndexes[0].IndexSpecs, ["/group DESC", "/price ASC"]);
      const { resources } = await ordered.items.query(`SELECT * FROM c ${rest}`, { maxItemCount: 7 }).fetchAll();
      assert.deepEqual(resources.map(shown), expected.map(shown), rest);
      assert.equal(new Set(ids(resources)).size, expected.length, rest);
    }
  });

  it("index metrics name what was used and what would help", async () => {
    const metrics = used(await ask("SELECT * FROM c WHERE c.n = 7 AND c.secret = 7"));
    assert.deepEqual(metrics.UtilizedSingleIndexes.map((one) => one.IndexSpec), ["/n/?"]);
    assert.equal(metrics.UtilizedSingleIndexes[0].IndexImpactScore, "High");
    assert.deepEqual(metrics.PotentialSingleIndexes.map((one) => one.IndexSpec), ["/secret/?"]);
    const order = used(await ask("SELECT * FROM c WHERE c['group'] = 'g1' ORDER BY c.n, c.name DESC"));
    assert.deepEqual(order.PotentialCompositeIndexes[0].IndexSpecs, ["/group ASC", "/n ASC", "/name DESC"]);
  });

  it("index metrics reach the SDK", async () => {
    const { indexMetrics } = await container.items.query("SELECT * FROM c WHERE c.n = 7",
      { populateIndexMetrics: true }).fetchAll();
    assert.match(JSON.stringify(indexMetrics ?? ""), /\/n\/\?/);
  });
});
