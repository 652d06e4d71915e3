// Pages of queries: by position, so that every row comes once, whatever the size of the page, and
// whatever happens between two pages.
import assert from "node:assert/strict";
import { before, describe, it } from "node:test";

import { answers, ranges, together } from "./expect.mjs";
import { keyHeader } from "./rest.mjs";
import { shared } from "./server.mjs";

const cities = ["Rome", "Oslo", "Lima", "Kyiv", "Bonn"];
const people = Array.from({ length: 120 }, (_, i) => ({
  id: `${i}`, pk: `k${i % 30}`, n: (i * 37) % 120, age: i % 7, city: cities[i % 5], tags: [`t${i % 3}`, "all"],
}));

const sum = (list) => list.reduce((a, b) => a + b, 0);
const ages = [0, 1, 2, 3, 4, 5, 6];

// What each query gives; `sort` where the order is open.
const queries = [
  { text: "SELECT VALUE c.id FROM c", rows: people.map((p) => p.id), sort: true },
  { text: "SELECT VALUE t FROM c JOIN t IN c.tags", rows: people.flatMap((p) => p.tags), sort: true },
  { text: "SELECT VALUE c.n FROM c ORDER BY c.n", rows: people.map((p) => p.n).sort((a, b) => a - b) },
  { text: "SELECT VALUE c.n FROM c ORDER BY c.n DESC", rows: people.map((p) => p.n).sort((a, b) => b - a) },
  { text: "SELECT VALUE c.age FROM c ORDER BY c.age", rows: people.map((p) => p.age).sort() },
  { text: "SELECT VALUE c.city FROM c ORDER BY c.city DESC", rows: people.map((p) => p.city).sort().reverse() },
  { text: "SELECT VALUE c.n FROM c ORDER BY c.n OFFSET 10 LIMIT 25", rows: people.map((p) => p.n).sort((a, b) => a - b).slice(10, 35) },
  { text: "SELECT TOP 13 VALUE c.n FROM c ORDER BY c.n DESC", rows: people.map((p) => p.n).sort((a, b) => b - a).slice(0, 13) },
  { text: "SELECT DISTINCT VALUE c.city FROM c", rows: cities, sort: true },
  { text: "SELECT DISTINCT VALUE c.city FROM c ORDER BY c.city", rows: [...cities].sort() },
  { text: "SELECT c.age, COUNT(1) AS count, SUM(c.n) AS total FROM c GROUP BY c.age", sort: true,
    rows: ages.map((age) => ({ age, count: people.filter((p) => p.age === age).length, total: sum(people.filter((p) => p.age === age).map((p) => p.n)) })) },
  { text: "SELECT VALUE COUNT(1) FROM c", rows: [120] },
  { text: "SELECT VALUE SUM(c.n) FROM c", rows: [sum(people.map((p) => p.n))] },
  { text: "SELECT VALUE MAX(c.n) FROM c", rows: [119] },
  { text: "SELECT VALUE AVG(c.n) FROM c", rows: [59.5] },
];

const shown = (rows, sort) => {
  const list = rows.map((row) => JSON.stringify(row));
  return sort ? list.sort() : list;
};

const expectRows = (got, { text, rows, sort }, how) =>
  assert.deepEqual(shown(got, sort), shown(rows, sort), `${text}, ${how}`);

async function fill(container) {
  await together(16, people.map((one) => () => container.items.create(one)));
}

describe("pages of queries over partitions", () => {
  const at = shared();
  let container;
  let docs;

  before(async () => {
    container = await at.container({ throughput: 24_000 });
    docs = `/dbs/db/colls/${container.id}/docs`;
    await fill(container);
    assert.equal((await ranges(at.rest, container)).length, 4);
  });

  const raw = (query, headers = {}) => at.rest("POST", docs, {
    body: { query, parameters: [] },
    headers: { "content-type": "application/query+json", "x-ms-documentdb-isquery": "True",
      "x-ms-documentdb-query-enablecrosspartition": "True", "x-orrery-whole-query": "true", ...headers },
  });

  const pages = async (query, headers = {}) => {
    const rows = [];
    let token;
    do {
      const answer = answers(await raw(query, { ...headers, ...(token ? { "x-ms-continuation": token } : {}) }), 200);
      rows.push(...answer.body.Documents);
      token = answer.headers["x-ms-continuation"];
      assert.ok(rows.length <= 1000);
    } while (token);
    return rows;
  };

  it("A6: page size 1, and others, by the SDK: fetchNext gives what fetchAll gives", async () => {
    for (const query of queries) {
      for (const options of [{ maxItemCount: 1 }, { maxItemCount: 7, maxDegreeOfParallelism: 4, bufferItems: true }, { maxDegreeOfParallelism: -1 }]) {
        expectRows((await container.items.query(query.text, options).fetchAll()).resources, query, `fetchAll ${JSON.stringify(options)}`);
      }
      const iterator = container.items.query(query.text, { maxItemCount: 5, maxDegreeOfParallelism: 2 });
      const rows = [];
      while (iterator.hasMoreResults()) rows.push(...((await iterator.fetchNext()).resources ?? []));
      expectRows(rows, query, "fetchNext");
    }
  });

  it("page size 1 over all partitions, put together here", async () => {
    for (const query of queries) expectRows(await pages(query.text, { "x-ms-max-item-count": "1" }), query, "whole");
  });

  it("the last page has no continuation: in a range, over all of them, with ORDER BY and without, in feeds", async () => {
    // The sizes of all pages, the last of which says that it is.
    const sizes = async (ask) => {
      const list = [];
      let token;
      do {
        const answer = answers(await ask(token ? { "x-ms-continuation": token } : {}), 200);
        list.push(answer.body.Documents.length);
        token = answer.headers["x-ms-continuation"];
        assert.ok(list.length <= people.length);
      } while (token);
      return list;
    };
    const even = (count, size) => Array.from({ length: Math.ceil(count / size) }, (_, i) => Math.min(size, count - i * size));
    const places = [{ headers: {}, count: people.length }, { headers: keyHeader("k3"), count: 4 }];
    for (const { id } of await ranges(at.rest, container)) {
      const headers = { "x-ms-documentdb-partitionkeyrangeid": id };
      places.push({ headers, count: (await pages("SELECT VALUE 1 FROM c", headers)).length });
    }
    for (const { headers, count } of places) {
      for (const size of new Set([1, 2, count / 2, count].filter((n) => n >= 1 && Number.isInteger(n)))) {
        const asked = { ...headers, "x-ms-max-item-count": `${size}` };
        for (const text of ["SELECT * FROM c", "SELECT VALUE c.id FROM c WHERE c.n < 1000", "SELECT * FROM c ORDER BY c.n", "SELECT c.age FROM c ORDER BY c.age DESC"]) {
          assert.deepEqual(await sizes((on) => raw(text, { ...asked, ...on })), even(count, size), `${text} by ${size} in ${JSON.stringify(headers)}`);
        }
        // A feed ends a page with each partition; only the very last one has no continuation.
        const feed = await sizes((on) => at.rest("GET", docs, { headers: { ...asked, ...on } }));
        assert.ok(feed.every((n) => n > 0) && sum(feed) === count, `a feed by ${size} in ${JSON.stringify(headers)}: ${feed}`);
      }
    }
    // What is left does not match.
    const few = people.filter((p) => p.age === 6 && p.n < 40).length;
    assert.deepEqual(await sizes((on) => raw("SELECT * FROM c WHERE c.age = 6 AND c.n < 40", { "x-ms-max-item-count": `${few}`, ...on })), [few]);
  });

  it("page size 1 within one key", async () => {
    const mine = people.filter((p) => p.pk === "k3");
    const inKey = (text) => pages(text, { ...keyHeader("k3"), "x-ms-max-item-count": "1" });
    assert.deepEqual(await inKey("SELECT VALUE c.n FROM c ORDER BY c.n DESC"), mine.map((p) => p.n).sort((a, b) => b - a));
    assert.deepEqual((await inKey("SELECT DISTINCT VALUE c.age FROM c")).sort(), [...new Set(mine.map((p) => p.age))].sort());
    assert.deepEqual(await inKey("SELECT VALUE COUNT(1) FROM c"), [mine.length]);
    assert.equal((await inKey("SELECT c.age, COUNT(1) AS n FROM c GROUP BY c.age")).length, new Set(mine.map((p) => p.age)).size);
  });

  it("long order values: a token stays within 1 KB and goes on", async () => {
    const long = await at.container();
    const texts = Array.from({ length: 12 }, (_, i) => "x".repeat(5000) + String.fromCharCode(97 + ((i * 5) % 12)));
    await together(8, texts.map((text, i) => () => long.items.create({ id: `${i}`, pk: "a", text })));
    const path = `/dbs/db/colls/${long.id}/docs`;
    const rows = [];
    let token;
    do {
      const answer = answers(await at.rest("POST", path, { body: { query: "SELECT VALUE c.text FROM c ORDER BY c.text" },
        headers: { ...keyHeader("a"), "x-ms-documentdb-isquery": "True", "x-ms-max-item-count": "1",
          "x-ms-documentdb-responsecontinuationtokenlimitinkb": "1", ...(token ? { "x-ms-continuation": token } : {}) } }), 200);
      rows.push(...answer.body.Documents);
      token = answer.headers["x-ms-continuation"];
      assert.ok(!token || token.length <= 1024);
    } while (token);
    assert.deepEqual(rows, [...texts].sort());
    answers(await raw("SELECT * FROM c", { "x-ms-documentdb-responsecontinuationtokenlimitinkb": "none" }), 400, { message: /tokenlimit/ });
  });

  it("a token is for its query and its container, in any range", async () => {
    const text = "SELECT VALUE c.n FROM c ORDER BY c.n";
    const first = answers(await raw(text, { "x-ms-max-item-count": "5" }), 200);
    const token = first.headers["x-ms-continuation"];
    answers(await raw("SELECT VALUE c.n FROM c ORDER BY c.n DESC", { "x-ms-continuation": token }), 400, { message: /another query/ });
    const other = await at.container();
    answers(await at.rest("POST", `/dbs/db/colls/${other.id}/docs`, { body: { query: text, parameters: [] },
      headers: { "x-ms-documentdb-isquery": "True", "x-ms-documentdb-query-enablecrosspartition": "True", "x-ms-continuation": token } }), 400, { message: /another container/ });
    for (const bad of [`${token}A`, token.slice(1), token.replace(/.$/, (c) => (c === "A" ? "B" : "A")), "A".repeat(9000)]) {
      answers(await raw(text, { "x-ms-continuation": bad }), 400);
    }
    const rest = [];
    for (const range of await ranges(at.rest, container)) {
      rest.push(...answers(await raw(text, { "x-ms-continuation": token, "x-ms-documentdb-partitionkeyrangeid": range.id }), 200).body.Documents);
    }
    assert.deepEqual([...first.body.Documents, ...rest].sort((a, b) => a - b), people.map((p) => p.n).sort((a, b) => a - b));
  });

  it("ORDER BY goes on with a rewritten filter, as clients send it", async () => {
    for (const order of ["ASC", "DESC"]) {
      const text = (filter) => `SELECT c._rid, [{"item": c.n}] AS orderByItems, c AS payload FROM c WHERE (${filter}) ORDER BY c.n ${order}`;
      for (const { id } of await ranges(at.rest, container)) {
        const headers = { "x-ms-documentdb-partitionkeyrangeid": id, "x-ms-max-item-count": "3" };
        const values = async (filter, token) => {
          const answer = answers(await raw(text(filter), { ...headers, ...(token ? { "x-ms-continuation": token } : {}) }), 200);
          return [answer.body.Documents.map((one) => one.payload.n), answer.headers["x-ms-continuation"]];
        };
        const [first, token] = await values("true");
        const [second] = await values("true", token);
        // The row where the page ended does not pass the new filter; nor does the first of the next page.
        const [rest] = await values(`c.n ${order === "ASC" ? ">" : "<"} ${second[0]}`, token);
        assert.deepEqual(rest.slice(0, 2), second.slice(1));
        assert.deepEqual((await values(`c.n ${order === "ASC" ? ">=" : "<="} ${first[2]}`, token))[0], second);
      }
    }
  });

  it("ORDER BY starts at the values of a resumeFilter, as .NET clients send it", async () => {
    const resumed = async (query, resumeFilter) => {
      const rows = [];
      let token;
      do {
        const answer = answers(await at.rest("POST", docs, { body: { query, parameters: [], resumeFilter },
          headers: { "x-ms-documentdb-isquery": "True", "x-ms-documentdb-query-enablecrosspartition": "True", "x-ms-max-item-count": "7",
            "x-orrery-whole-query": "true", ...(token ? { "x-ms-continuation": token } : {}) } }), 200);
        rows.push(...answer.body.Documents);
        token = answer.headers["x-ms-continuation"];
        assert.ok(rows.length <= people.length);
      } while (token);
      return rows;
    };
    const values = people.map((p) => p.age).sort();
    for (const exclude of [false, true]) {
      assert.deepEqual(await resumed("SELECT VALUE c.age FROM c ORDER BY c.age", { value: [3], exclude }),
        values.filter((age) => (exclude ? age > 3 : age >= 3)));
      assert.deepEqual(await resumed("SELECT VALUE c.age FROM c ORDER BY c.age DESC", { value: [3], exclude }),
        values.filter((age) => (exclude ? age < 3 : age <= 3)).reverse());
    }
    assert.equal((await resumed("SELECT VALUE c.age FROM c ORDER BY c.age", { value: [[]] })).length, people.length, "undefined comes first");
    assert.deepEqual(await resumed("SELECT VALUE c.age FROM c ORDER BY c.age", { value: [true], exclude: true }), values, "types have an order");
    assert.deepEqual(await resumed("SELECT VALUE c.age FROM c ORDER BY c.age", { value: ["a"] }), []);
    for (const bad of [{}, { value: [1, 2] }, { value: [{ type: "array", low: 1, high: 2 }] }]) {
      answers(await at.rest("POST", docs, { body: { query: "SELECT VALUE c.age FROM c ORDER BY c.age", resumeFilter: bad },
        headers: { "x-ms-documentdb-isquery": "True", "x-ms-documentdb-query-enablecrosspartition": "True", "x-orrery-whole-query": "true" } }), 400);
    }
  });

  it("the metrics tell what was read, and the charge follows from it", async () => {
    const ask = (text) => raw(text, { "x-ms-documentdb-populatequerymetrics": "True" });
    const answer = answers(await ask("SELECT * FROM c WHERE c.city = 'Rome'"), 200);
    const metrics = Object.fromEntries(answer.headers["x-ms-documentdb-query-metrics"].split(";").map((one) => one.split("=")));
    assert.equal(metrics.outputDocumentCount, "24");
    assert.equal(metrics.indexHitDocumentCount, "24");
    const read = Number(metrics.retrievedDocumentCount);
    assert.ok(read >= 24 && read <= 120, `${read}`);
    assert.equal(Number(metrics.indexUtilizationRatio), Number((24 / read).toFixed(2)));
    const again = answers(await ask("SELECT * FROM c WHERE c.city = 'Rome'"), 200);
    assert.equal(again.headers["x-ms-request-charge"], answer.headers["x-ms-request-charge"]);
  });
});

describe("pages, splits and restarts", () => {
  const at = shared();

  it("A10: a split in the middle of the SDK's own pipeline: every row once, in order", async () => {
    for (const query of queries) {
      const container = await at.container({ throughput: 12_000 });
      await fill(container);
      const had = (await ranges(at.rest, container)).length;
      const iterator = container.items.query(query.text, { maxItemCount: 3, maxDegreeOfParallelism: 1 });
      const rows = [];
      let fetched = 0;
      while (iterator.hasMoreResults()) {
        rows.push(...((await iterator.fetchNext()).resources ?? []));
        if (++fetched !== 2) continue;
        assert.equal((await at.server.split(container)).code, 0);
        assert.ok((await ranges(at.rest, container)).length > had);
      }
      expectRows(rows, query, "with a split");
      await container.delete();
    }
  });

  it("a continuation of a range goes on in its halves", async () => {
    const container = await at.container();
    await fill(container);
    const [whole] = await ranges(at.rest, container);
    const page = async (text, range, token) => {
      const answer = answers(await at.rest("POST", `/dbs/db/colls/${container.id}/docs`, { body: { query: text, parameters: [] },
        headers: { "x-ms-documentdb-isquery": "True", "x-ms-documentdb-query-enablecrosspartition": "True", "x-ms-max-item-count": "3",
          "x-ms-documentdb-partitionkeyrangeid": range, ...(token ? { "x-ms-continuation": token } : {}) } }), 200);
      return { rows: answer.body.Documents, token: answer.headers["x-ms-continuation"] };
    };
    const texts = queries.filter((query) => !/TOP|OFFSET|DISTINCT|GROUP|COUNT|SUM|MAX|AVG/.test(query.text));
    const begun = [];
    for (const query of texts) begun.push(await page(query.text, whole.id));
    const grouped = await page("SELECT c.n, COUNT(1) AS count FROM c GROUP BY c.n", whole.id);
    assert.equal((await at.server.split(container)).code, 0);
    const halves = await ranges(at.rest, container);
    assert.equal(halves.length, 2);
    const finish = async (text, { rows, token }) => {
      const all = [...rows];
      for (const half of halves) {
        for (let on = token; on;) {
          const next = await page(text, half.id, on);
          all.push(...next.rows);
          on = next.token;
        }
      }
      return all;
    };
    for (const [i, query] of texts.entries()) {
      expectRows(await finish(query.text, begun[i]), { ...query, sort: true }, "in halves");
    }
    const groups = await finish("SELECT c.n, COUNT(1) AS count FROM c GROUP BY c.n", grouped);
    assert.deepEqual(groups.map((row) => row.n).sort((a, b) => a - b), people.map((p) => p.n).sort((a, b) => a - b));
  });

  it("continuations of all kinds hold over a restart", async () => {
    const container = await at.container();
    await fill(container);
    const ask = (text, token) => at.rest("POST", `/dbs/db/colls/${container.id}/docs`, { body: { query: text, parameters: [] },
      headers: { "x-ms-documentdb-isquery": "True", "x-ms-documentdb-query-enablecrosspartition": "True", "x-ms-max-item-count": "4",
        "x-orrery-whole-query": "true", ...(token ? { "x-ms-continuation": token } : {}) } });
    const begun = [];
    for (const { text } of queries) begun.push(answers(await ask(text), 200));
    await at.server.restart({ hard: true });
    for (const [i, query] of queries.entries()) {
      const rows = [...begun[i].body.Documents];
      for (let token = begun[i].headers["x-ms-continuation"]; token;) {
        const answer = answers(await ask(query.text, token), 200);
        rows.push(...answer.body.Documents);
        token = answer.headers["x-ms-continuation"];
      }
      expectRows(rows, query, "over a restart");
    }
  });
});
