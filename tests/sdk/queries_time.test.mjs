// Queries whose pages end because their time is up, here after each item: every row comes all the same,
// once and in order, also when partitions split in between.
import assert from "node:assert/strict";
import { before, describe, it } from "node:test";

import { answers, ranges, together } from "./expect.mjs";
import { shared } from "./server.mjs";

const cities = ["Rome", "Oslo", "Lima"];
const people = Array.from({ length: 24 }, (_, i) => ({
  id: `${i}`, pk: `k${i}`, n: (i * 7) % 24, age: i % 4, city: cities[i % 3],
}));
const by = (...keys) => (a, b) => {
  for (const key of keys) if (key(a) !== key(b)) return key(a) < key(b) ? -1 : 1;
  return 0;
};
const ages = [0, 1, 2, 3];
const sum = (list) => list.reduce((a, b) => a + b, 0);
const ofAge = (age) => people.filter((p) => p.age === age);

// What each query gives; `sort` where the order is open. None of the unordered ones looks at one property alone,
// which index entries would answer at once.
const queries = [
  { text: "SELECT VALUE c.n FROM c ORDER BY c.n", rows: people.map((p) => p.n).sort((a, b) => a - b) },
  // No composite index has these orders.
  { text: "SELECT c.age, c.n FROM c ORDER BY c.age DESC, c.n",
    rows: [...people].sort(by((p) => -p.age, (p) => p.n)).map(({ age, n }) => ({ age, n })) },
  { text: "SELECT TOP 5 VALUE c.n FROM c WHERE c.age > 0 ORDER BY c.city, c.n DESC",
    rows: people.filter((p) => p.age > 0).sort(by((p) => p.city, (p) => -p.n)).slice(0, 5).map((p) => p.n) },
  { text: "SELECT VALUE c.n FROM c ORDER BY c.city, c.n OFFSET 3 LIMIT 6",
    rows: [...people].sort(by((p) => p.city, (p) => p.n)).slice(3, 9).map((p) => p.n) },
  { text: "SELECT DISTINCT c.city, c.age FROM c ORDER BY c.city, c.age",
    rows: [...cities].sort().flatMap((city) => ages.map((age) => ({ city, age }))) },
  { text: "SELECT DISTINCT c.city, c.age FROM c", rows: cities.flatMap((city) => ages.map((age) => ({ city, age }))), sort: true },
  { text: "SELECT c.age, COUNT(1) AS count, SUM(c.n) AS total, AVG(c.n) AS average, MAX(c.city) AS last FROM c GROUP BY c.age",
    rows: ages.map((age) => ({ age, count: 6, total: sum(ofAge(age).map((p) => p.n)), average: sum(ofAge(age).map((p) => p.n)) / 6,
      last: ofAge(age).map((p) => p.city).sort().at(-1) })), sort: true },
  { text: "SELECT VALUE AVG(c.n + c.age) FROM c", rows: [13] },
];

const shown = (rows, sort) => {
  const list = rows.map((row) => JSON.stringify(row));
  return sort ? list.sort() : list;
};
const expectRows = (got, { text, rows, sort }) => assert.deepEqual(shown(got, sort), shown(rows, sort), text);
const fill = (container) => together(16, people.map((one) => () => container.items.create(one)));

describe("pages whose time is up", () => {
  const at = shared({ limits: { "query-time-ms": 0 }, args: ["--queries", "permissive"] });
  let container;

  const ask = (where, text, headers) => at.rest("POST", `/dbs/db/colls/${where.id}/docs`, {
    body: { query: text, parameters: [] },
    headers: { "content-type": "application/query+json", "x-ms-documentdb-isquery": "True",
      "x-ms-documentdb-query-enablecrosspartition": "True", "x-ms-documentdb-responsecontinuationtokenlimitinkb": "1", ...headers },
  });
  // {rows, pages, token} of some pages.
  const pages = async (where, text, headers, { token, pages_max = Infinity } = {}) => {
    const rows = [];
    let count = 0;
    do {
      const answer = answers(await ask(where, text, { ...headers, ...(token ? { "x-ms-continuation": token } : {}) }), 200);
      rows.push(...answer.body.Documents);
      token = answer.headers["x-ms-continuation"];
      if (token) assert.ok(token.length <= 1024);
      assert.ok(++count < 5000, `${text} does not end`);
    } while (token && count < pages_max);
    return { rows, pages: count, token };
  };

  before(async () => {
    container = await at.container({ throughput: 12_000 });
    await fill(container);
    assert.equal((await ranges(at.rest, container)).length, 2);
  });

  it("A6: the SDK's pipelines get all rows", async () => {
    for (const query of queries) {
      expectRows((await container.items.query(query.text, { maxItemCount: 10 }).fetchAll()).resources, query);
    }
  });

  it("put together on the server: empty pages until all items were read", async () => {
    for (const query of queries) {
      const { rows, pages: count } = await pages(container, query.text, { "x-orrery-whole-query": "true" });
      expectRows(rows, query);
      assert.ok(count > people.length / 2, `${query.text} took ${count} pages`);
    }
  });

  it("A10: a split in the middle of the SDK's pipelines", async () => {
    for (const query of queries) {
      const whole = await at.container();
      await fill(whole);
      // Requests after the first ten wait until the partition is split.
      let asked = 0;
      let split;
      const client = at.server.client({ plugins: [{ on: "request", plugin: async (request, _, next) => {
        if (request.resourceType === "docs" && ++asked === 10) split = at.server.split(whole);
        await split;
        return next(request);
      } }] });
      const { resources } = await client.database("db").container(whole.id).items.query(query.text, { maxItemCount: 10 }).fetchAll();
      assert.equal((await split)?.code, 0, query.text);
      assert.equal((await ranges(at.rest, whole)).length, 2);
      expectRows(resources, query);
      await whole.delete();
    }
  });

  it("A10: a continuation with what was gathered goes on in the halves of its range", async () => {
    const whole = await at.container();
    await fill(whole);
    const [range] = await ranges(at.rest, whole);
    // The halves are added up here.
    const texts = {
      sorted: "SELECT c.age, c.n FROM c ORDER BY c.age DESC, c.n",
      groups: "SELECT c.city, c.age, COUNT(1) AS count FROM c GROUP BY c.city, c.age",
      distinct: "SELECT DISTINCT c.n, c.city FROM c",
      count: "SELECT VALUE COUNT(1) FROM c WHERE c.n + c.age >= 0",
    };
    const begun = {};
    for (const [name, text] of Object.entries(texts)) {
      begun[name] = [];
      for (const pages_max of [1, 6, 12, 18, 23, 30]) {
        const some = await pages(whole, text, { "x-ms-documentdb-partitionkeyrangeid": range.id }, { pages_max });
        if (some.token) begun[name].push(some);
      }
      assert.ok(begun[name].length >= 5, name);
    }
    assert.equal((await at.server.split(whole)).code, 0);
    const halves = await ranges(at.rest, whole);
    assert.equal(halves.length, 2);
    const finish = async (text, { rows, token }) => {
      const all = [...rows];
      for (const half of halves) {
        all.push(...(await pages(whole, text, { "x-ms-documentdb-partitionkeyrangeid": half.id }, { token })).rows);
      }
      return all;
    };
    for (const one of begun.sorted) {
      expectRows(await finish(texts.sorted, one), { ...queries[1], sort: true });
    }
    for (const one of begun.groups) {
      const counts = new Map();
      for (const { city, age, count } of await finish(texts.groups, one)) {
        counts.set(`${city} ${age}`, (counts.get(`${city} ${age}`) ?? 0) + count);
      }
      assert.deepEqual([...counts].sort(), cities.flatMap((city) => ages.map((age) => [`${city} ${age}`, 2])).sort());
    }
    for (const one of begun.distinct) {
      expectRows(await finish(texts.distinct, one),
        { text: texts.distinct, rows: people.map(({ n, city }) => ({ n, city })), sort: true });
    }
    for (const one of begun.count) assert.equal(sum(await finish(texts.count, one)), people.length);
  });

  it("what no page can go on from is refused with 400", async () => {
    const answer = await ask(container, "SELECT c.age FROM c GROUP BY c.age ORDER BY c.age", { "x-orrery-whole-query": "true" });
    answers(answer, 400);
    assert.match(answer.body.message, /longer than a page may/);
  });
});
