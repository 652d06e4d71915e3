// Queries that the vendor's service refuses are refused, in its words, unless the server is told to
// run what it can.
import assert from "node:assert/strict";
import { before, describe, it } from "node:test";

import { answers, fails, together } from "./expect.mjs";
import { keyHeader } from "./rest.mjs";
import { shared } from "./server.mjs";

const count = 24;
const items = Array.from({ length: count }, (_, i) => ({
  id: `i${i}`, pk: `k${i % 6}`, n: (i * 7) % count, city: ["Rome", "Oslo", "Lima"][i % 3], tags: [i % 4, i % 5], secret: i,
}));
const indexingPolicy = {
  includedPaths: [{ path: "/*" }], excludedPaths: [{ path: "/secret/?" }],
  compositeIndexes: [[{ path: "/city", order: "ascending" }, { path: "/n", order: "descending" }]],
};

// What each gives in all partitions, where it is run: how many rows.
const refused = [
  { text: "SELECT VALUE r FROM (SELECT TOP 5 VALUE c.n FROM c) AS r", rows: 5, message: /SC2203.*'TOP' is not supported in subqueries/ },
  { text: "SELECT VALUE r FROM (SELECT VALUE c.n FROM c ORDER BY c.n) AS r", rows: count, message: /SC2202.*'ORDER BY' is not supported in subqueries/ },
  { text: "SELECT VALUE r FROM (SELECT VALUE c.n FROM c OFFSET 2 LIMIT 7) AS r", rows: 7, message: /SC2204.*'OFFSET LIMIT' clause is not supported/ },
  { text: "SELECT VALUE ARRAY(SELECT TOP 1 VALUE t FROM t IN c.tags) FROM c", rows: count, message: /SC2203/ },
  { text: "SELECT VALUE c.n FROM c ORDER BY c.n % 5", rows: count, message: /2206.*could not be mapped to a document path/ },
  { text: "SELECT VALUE t FROM c JOIN t IN c.tags ORDER BY t", rows: 2 * count, message: /correlated collections/ },
  { text: "SELECT VALUE c.n FROM c ORDER BY c.n, c.city", rows: count, message: /corresponding composite index/, at: "run" },
  { text: "SELECT VALUE c.n FROM c ORDER BY c.secret", rows: count, message: /order-by item is excluded/, at: "run" },
  { text: "SELECT c.city, COUNT(1) AS n FROM c GROUP BY c.city ORDER BY c.city", rows: 3, message: /GROUP BY/ },
  { text: "SELECT VALUE c.tags[c.n % 2] FROM c", rows: count, message: /SC2990/ },
];

async function fill(at) {
  const container = await at.container({ throughput: 12_000, indexingPolicy });
  await together(8, items.map((item) => () => container.items.create(item)));
  return container;
}

const whole = { "x-ms-documentdb-isquery": "True", "x-ms-documentdb-query-enablecrosspartition": "True", "x-orrery-whole-query": "true" };
const plan = { ...whole, "x-ms-cosmos-is-query-plan-request": "True",
  "x-ms-cosmos-supported-query-features": "Aggregate, Distinct, GroupBy, MultipleAggregates, MultipleOrderBy, NonValueAggregate, OffsetAndLimit, OrderBy, Top" };

describe("queries that the service refuses", () => {
  const at = shared();
  let container;
  let ask;

  before(async () => {
    container = await fill(at);
    ask = (query, headers) => at.rest("POST", `/dbs/db/colls/${container.id}/docs`, { body: { query, parameters: [] }, headers });
  });

  it("are refused in its words: run whole, in one key, in a plan, by the SDK, in a script", async () => {
    const script = "function (q) { __.queryDocuments(__.getSelfLink(), q, {}, (e, rows) => { if (e) throw e; __.response.setBody(rows.length); }); }";
    await container.scripts.storedProcedures.create({ id: "ask", body: script });
    for (const { text, message, at: where } of refused) {
      answers(await ask(text, whole), 400, { message });
      answers(await ask(text, { "x-ms-documentdb-isquery": "True", ...keyHeader("k1") }), 400, { message });
      if (where !== "run") answers(await ask(text, plan), 400, { message });
      await fails(container.items.query(text).fetchAll(), 400, { message });
      await fails(container.items.query(text, { partitionKey: "k1" }).fetchAll(), 400, { message });
      await fails(container.scripts.storedProcedure("ask").execute("k1", [text]), 400, { message });
    }
  });

  it("those that it runs are run", async () => {
    const sorted = [...items].sort((a, b) => a.city.localeCompare(b.city) || b.n - a.n).map((one) => one.id);
    assert.deepEqual((await container.items.query("SELECT VALUE c.id FROM c ORDER BY c.city, c.n DESC").fetchAll()).resources, sorted);
    assert.deepEqual((await container.items.query("SELECT VALUE c.id FROM c ORDER BY c.city DESC, c.n").fetchAll()).resources, sorted.reverse());
    const average = (count - 1) / 2;
    assert.deepEqual((await container.items.query("SELECT VALUE AVG(c.n) FROM c ORDER BY c.n").fetchAll()).resources, [average]);
    assert.deepEqual(answers(await ask("SELECT VALUE AVG(c.n) FROM c ORDER BY c.n", whole), 200).body.Documents, [average]);
    const ranked = "SELECT TOP 3 VALUE c.city FROM c ORDER BY RANK FullTextScore({\"f\": c.city, \"g\": 1}[\"f\"], \"oslo\")";
    assert.deepEqual(answers(await ask(ranked, whole), 200).body.Documents, ["Oslo", "Oslo", "Oslo"]);
    answers(await ask("SELECT * FROM c WHERE FullTextScore(c.city, 'x') > 1", plan), 400, { message: /SC2240.*only allowed in the ORDER BY RANK/ });
  });

  it("ORDER BY over keys is left to clients, in one partition too", async () => {
    const one = await at.container();
    await together(8, items.map((item) => () => one.items.create(item)));
    const { "x-orrery-whole-query": _, ...headers } = whole;
    const query = (text, more = {}) => at.rest("POST", `/dbs/db/colls/${one.id}/docs`, { body: { query: text, parameters: [] }, headers: { ...headers, ...more } });
    const { body } = answers(await query("SELECT * FROM c ORDER BY c.n"), 400, { substatus: 1004 });
    assert.deepEqual(JSON.parse(body.additionalErrorInfo).queryInfo.orderBy, ["Ascending"]);
    answers(await query("SELECT * FROM c ORDER BY c.n", keyHeader("k1")), 200);
    answers(await query("SELECT * FROM c WHERE c.pk = 'k1' ORDER BY c.n"), 200);
    answers(await query("SELECT * FROM c ORDER BY c.n", { "x-ms-documentdb-partitionkeyrangeid": "0" }), 200);
    answers(await query("SELECT * FROM c ORDER BY c.n", { "x-orrery-whole-query": "true" }), 200);
    answers(await query("SELECT * FROM c WHERE c.n > 1"), 200);
    assert.deepEqual((await one.items.query("SELECT VALUE c.n FROM c ORDER BY c.n").fetchAll()).resources, items.map((_, i) => i));
  });
});

describe("queries that the service refuses, with --queries permissive", () => {
  const at = shared({ args: ["--queries", "permissive"] });

  it("are run", async () => {
    const container = await fill(at);
    for (const { text, rows } of refused) {
      const answer = answers(await at.rest("POST", `/dbs/db/colls/${container.id}/docs`, { body: { query: text, parameters: [] }, headers: whole }), 200);
      assert.equal(answer.body.Documents.length, rows, text);
    }
    const one = await at.container();
    await together(8, items.map((item) => () => one.items.create(item)));
    const { "x-orrery-whole-query": _, ...headers } = whole;
    const answer = answers(await at.rest("POST", `/dbs/db/colls/${one.id}/docs`, { body: { query: "SELECT VALUE c.n FROM c ORDER BY c.n, c.city", parameters: [] }, headers }), 200);
    assert.deepEqual(answer.body.Documents, items.map((_, i) => i));
  });
});
