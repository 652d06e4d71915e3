// Queries through the vendor's SDK over a container of four physical partitions, and by REST where
// the SDK does not let a test see or send something.
import assert from "node:assert/strict";
import { before, describe, it } from "node:test";

import { answers, fails, ranges, together } from "./expect.mjs";
import { keyHeader } from "./rest.mjs";
import { shared } from "./server.mjs";

const cities = ["Rome", "Oslo", "Lima", "Kyiv", "Bonn"];
const people = Array.from({ length: 200 }, (_, i) => ({
  id: `${i}`,
  pk: `k${i % 40}`,
  n: (i * 37) % 200,
  age: i % 7,
  city: cities[i % 5],
  ...(i % 4 === 0 ? { tags: ["a", `t${i % 3}`] } : {}),
  ...(i % 10 === 0 ? {} : { score: i / 2 }),
}));

const by = (...keys) => (a, b) => {
  for (const key of keys) {
    if (key(a) < key(b)) return -1;
    if (key(a) > key(b)) return 1;
  }
  return 0;
};

describe("queries over partitions", () => {
  const at = shared();
  let container;
  let docs;

  before(async () => {
    container = await at.container({
      throughput: 24_000,
      indexingPolicy: {
        includedPaths: [{ path: "/*" }],
        compositeIndexes: [[{ path: "/city", order: "ascending" }, { path: "/n", order: "descending" }]],
      },
    });
    docs = `/dbs/db/colls/${container.id}/docs`;
    await together(16, people.map((one) => () => container.items.create(one)));
    assert.equal((await ranges(at.rest, container)).length, 4);
  });

  const all = async (query, options = {}) => (await container.items.query(query, options).fetchAll()).resources;
  const raw = (query, headers = {}, parameters = []) => at.rest("POST", docs, {
    body: { query, parameters },
    headers: { "content-type": "application/query+json", "x-ms-documentdb-isquery": "True",
      "x-ms-documentdb-query-enablecrosspartition": "True", ...headers },
  });
  const pages = async (query, headers = {}) => {
    const rows = [];
    let token;
    let count = 0;
    do {
      const answer = answers(await raw(query, { ...headers, ...(token ? { "x-ms-continuation": token } : {}) }), 200);
      rows.push(...answer.body.Documents);
      token = answer.headers["x-ms-continuation"];
      assert.ok(++count < 1000);
    } while (token);
    return { rows, count };
  };

  it("A6: a filter is asked of every partition", async () => {
    const rows = await all("SELECT VALUE c.id FROM c WHERE c.n >= 100 AND c.city = 'Rome'");
    assert.deepEqual(rows.sort(), people.filter((p) => p.n >= 100 && p.city === "Rome").map((p) => p.id).sort());
  });

  it("ORDER BY merges partitions, upwards and downwards", async () => {
    const sorted = people.map((p) => p.n).sort((a, b) => a - b);
    assert.deepEqual(await all("SELECT VALUE c.n FROM c ORDER BY c.n"), sorted);
    assert.deepEqual(await all("SELECT VALUE c.n FROM c ORDER BY c.n DESC"), [...sorted].reverse());
    assert.deepEqual(await all("SELECT VALUE c.n FROM c ORDER BY c.n", { maxItemCount: 7, maxDegreeOfParallelism: 4 }), sorted);
  });

  it("ORDER BY strings and whole items", async () => {
    const rows = await all("SELECT * FROM c WHERE c.age = 3 ORDER BY c.id");
    assert.deepEqual(rows.map((row) => row.id), people.filter((p) => p.age === 3).map((p) => p.id).sort());
    assert.equal(typeof rows[0]._rid, "string");
  });

  it("ORDER BY two keys", async () => {
    const rows = await all("SELECT c.city, c.n FROM c ORDER BY c.city ASC, c.n DESC");
    const expected = [...people].sort(by((p) => p.city, (p) => -p.n)).map(({ city, n }) => ({ city, n }));
    assert.deepEqual(rows, expected);
  });

  it("ORDER BY puts items without the property first", async () => {
    // The SDK refuses to merge keys of several types, so it is asked by REST.
    await assert.rejects(all("SELECT VALUE c.id FROM c ORDER BY c.score"), /mixed types/);
    const { rows } = await pages("SELECT VALUE c.id FROM c ORDER BY c.score", { "x-orrery-whole-query": "true" });
    assert.equal(rows.length, 200);
    const without = new Set(people.filter((p) => p.score === undefined).map((p) => p.id));
    assert.ok(rows.slice(0, without.size).every((id) => without.has(id)));
  });

  it("aggregates", async () => {
    const sum = people.reduce((total, p) => total + p.n, 0);
    assert.deepEqual(await all("SELECT VALUE COUNT(1) FROM c"), [200]);
    assert.deepEqual(await all("SELECT VALUE SUM(c.n) FROM c"), [sum]);
    assert.deepEqual(await all("SELECT VALUE AVG(c.n) FROM c"), [sum / 200]);
    assert.deepEqual(await all("SELECT VALUE MIN(c.n) FROM c"), [0]);
    assert.deepEqual(await all("SELECT VALUE MAX(c.n) FROM c WHERE c.age = 1"),
      [Math.max(...people.filter((p) => p.age === 1).map((p) => p.n))]);
    assert.deepEqual(await all("SELECT VALUE COUNT(c.score) FROM c"), [180]);
    assert.deepEqual(await all("SELECT VALUE COUNT(1) FROM c WHERE c.n > 1000"), [0]);
  });

  it("GROUP BY", async () => {
    const rows = await all("SELECT c.city, COUNT(1) AS n, SUM(c.n) AS total, AVG(c.age) AS age, MAX(c.n) AS most FROM c GROUP BY c.city");
    const expected = cities.map((city) => {
      const of = people.filter((p) => p.city === city);
      const sum = (key) => of.reduce((total, p) => total + p[key], 0);
      return { city, n: of.length, total: sum("n"), age: sum("age") / of.length, most: Math.max(...of.map((p) => p.n)) };
    });
    assert.deepEqual(rows.sort(by((r) => r.city)), expected.sort(by((r) => r.city)));
    assert.deepEqual((await all("SELECT VALUE COUNT(1) FROM c GROUP BY c.age")).sort(), [28, 28, 28, 29, 29, 29, 29].sort());
  });

  it("DISTINCT", async () => {
    assert.deepEqual((await all("SELECT DISTINCT VALUE c.city FROM c")).sort(), [...cities].sort());
    assert.deepEqual(await all("SELECT DISTINCT VALUE c.city FROM c ORDER BY c.city"), [...cities].sort());
    assert.equal((await all("SELECT DISTINCT c.city, c.age FROM c")).length, 35);
    // The SDK itself drops values that JavaScript takes for false (here 0), so it is asked by REST.
    const { rows } = await pages("SELECT DISTINCT VALUE c.age FROM c", { "x-orrery-whole-query": "true" });
    assert.deepEqual(rows.sort(), [0, 1, 2, 3, 4, 5, 6]);
    assert.deepEqual((await all("SELECT DISTINCT VALUE c.age FROM c")).sort(), [1, 2, 3, 4, 5, 6]);
  });

  it("COUNT of DISTINCT", async () => {
    const { rows } = await pages("SELECT VALUE COUNT(1) FROM (SELECT DISTINCT VALUE c.age FROM c)", { "x-orrery-whole-query": "true" });
    assert.deepEqual(rows, [7]);
  });

  it("OFFSET LIMIT and TOP", async () => {
    const sorted = people.map((p) => p.n).sort((a, b) => a - b);
    assert.deepEqual(await all("SELECT VALUE c.n FROM c ORDER BY c.n OFFSET 50 LIMIT 20"), sorted.slice(50, 70));
    assert.deepEqual(await all("SELECT VALUE c.n FROM c ORDER BY c.n DESC OFFSET 195 LIMIT 20"), [...sorted].reverse().slice(195));
    assert.deepEqual(await all("SELECT TOP 5 VALUE c.n FROM c ORDER BY c.n DESC"), [199, 198, 197, 196, 195]);
    assert.equal((await all("SELECT TOP 17 * FROM c")).length, 17);
    assert.equal((await all("SELECT * FROM c OFFSET 190 LIMIT 20")).length, 10);
  });

  it("JOIN, subqueries and functions", async () => {
    const tags = people.flatMap((p) => p.tags ?? []);
    assert.deepEqual((await all("SELECT VALUE t FROM c JOIN t IN c.tags")).sort(), tags.sort());
    assert.equal((await all("SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS(c.tags, 't1')")).length, tags.filter((t) => t === "t1").length);
    assert.equal((await all("SELECT VALUE c.id FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t = 't2')")).length,
      tags.filter((t) => t === "t2").length);
    assert.deepEqual(await all("SELECT VALUE UPPER(c.city) FROM c WHERE c.id = '1'"), ["OSLO"]);
  });

  it("DOCUMENTID is the number of an item", async () => {
    const rows = await all("SELECT DOCUMENTID(c) AS number, DOCUMENTID(c.tags) AS none, c._rid AS rid FROM c");
    assert.equal(rows.length, people.length);
    for (const { number, none, rid } of rows) {
      const bytes = Buffer.from(rid.replaceAll("-", "/"), "base64");
      assert.equal(BigInt(number), (bytes.readBigUInt64BE(8) >> 8n) & ((1n << 36n) - 1n));
      assert.equal(none, undefined);
    }
    const [one] = await all(`SELECT VALUE c._rid FROM c WHERE DOCUMENTID(c) = ${rows[7].number} AND c._rid = "${rows[7].rid}"`);
    assert.equal(one, rows[7].rid);
  });

  it("parameters of every type", async () => {
    const ask = (query, value) => all({ query, parameters: [{ name: "@v", value }] });
    assert.equal((await ask("SELECT * FROM c WHERE c.city = @v", "Lima")).length, 40);
    assert.equal((await ask("SELECT * FROM c WHERE c.n < @v", 10)).length, 10);
    assert.equal((await ask("SELECT * FROM c WHERE ARRAY_CONTAINS(@v, c.id)", ["3", "77", "none"])).length, 2);
    assert.equal((await ask("SELECT * FROM c WHERE IS_DEFINED(c.tags) = @v", true)).length, 50);
    assert.equal((await ask("SELECT * FROM c WHERE (c.nothing ?? null) = @v", null)).length, 200);
    assert.equal((await ask("SELECT * FROM c WHERE c.city = @v.city AND c.age = @v.age", { city: "Rome", age: 0 })).length,
      people.filter((p) => p.city === "Rome" && p.age === 0).length);
    assert.equal((await ask("SELECT * FROM c WHERE c.city = @v", "' OR true --")).length, 0);
  });

  it("pages: at most maxItemCount rows, and a continuation resumes in another client", async () => {
    const seen = [];
    let token;
    let count = 0;
    do {
      const client = at.server.client();
      const iterator = client.database("db").container(container.id).items
        .query("SELECT VALUE c.id FROM c WHERE c.n >= 20", { maxItemCount: 25, continuationToken: token, partitionKey: undefined });
      const { resources = [], continuationToken } = await iterator.fetchNext();
      assert.ok(resources.length <= 25);
      seen.push(...resources);
      token = continuationToken;
      assert.ok(++count < 60);
    } while (token);
    assert.ok(count > 7);
    assert.deepEqual(seen.sort(), people.filter((p) => p.n >= 20).map((p) => p.id).sort());
  });

  it("one key: a continuation of a query with ORDER BY", async () => {
    const seen = [];
    let token;
    do {
      const { resources, continuationToken } = await container.items
        .query("SELECT VALUE c.n FROM c ORDER BY c.n DESC", { partitionKey: "k3", maxItemCount: 2, continuationToken: token }).fetchNext();
      seen.push(...resources);
      token = continuationToken;
    } while (token);
    assert.deepEqual(seen, people.filter((p) => p.pk === "k3").map((p) => p.n).sort((a, b) => b - a));
  });

  it("A25: a query that fixes the partition key asks one partition", async () => {
    const mine = people.filter((p) => p.pk === "k5").map((p) => p.id).sort();
    for (const headers of [keyHeader("k5"), {}]) {
      const text = headers["x-ms-documentdb-partitionkey"] ? "SELECT VALUE c.id FROM c" : "SELECT VALUE c.id FROM c WHERE c.pk = 'k5'";
      const answer = answers(await raw(text, { ...headers, "x-ms-documentdb-query-enablecrosspartition": "False",
        "x-ms-documentdb-populatequerymetrics": "True" }), 200);
      assert.deepEqual(answer.body.Documents.sort(), mine);
      const metrics = answer.headers["x-ms-documentdb-query-metrics"];
      assert.match(metrics, /(^|;)outputDocumentCount=5(;|$)/);
      assert.match(metrics, /(^|;)retrievedDocumentCount=5(;|$)/, "only the items of the key are read");
    }
    const plan = answers(await raw("SELECT * FROM c WHERE c.pk = 'k5' ORDER BY c.n", { "x-ms-cosmos-is-query-plan-request": "True",
      "x-ms-cosmos-supported-query-features": "OrderBy" }), 200).body;
    assert.equal(plan.queryRanges.length, 1);
    assert.equal(plan.queryRanges[0].min, plan.queryRanges[0].max);
  });

  it("a query over many keys has to be allowed", async () => {
    answers(await raw("SELECT * FROM c WHERE c.n = 1", { "x-ms-documentdb-query-enablecrosspartition": "False" }), 400, { message: /partition/i });
  });

  it("what cannot be concatenated is left to the client: 400/1004", async () => {
    for (const text of ["SELECT * FROM c ORDER BY c.n", "SELECT VALUE COUNT(1) FROM c", "SELECT c.city FROM c GROUP BY c.city",
      "SELECT DISTINCT VALUE c.city FROM c", "SELECT TOP 3 * FROM c"]) {
      answers(await raw(text), 400, { substatus: 1004 });
    }
  });

  it("strings are in the order of code points, and clients merge by their own", async () => {
    // Of U+FF5E and U+1F600, the first is the smaller code point and the larger UTF-16 code unit.
    const words = ["a", "\u00e9", "\ue000", "\uff5e", "\uffee", "\u{10000}", "\u{1f600}", "\u{10fffd}"];
    const byCodePoint = (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b));
    const mixed = await at.container({ throughput: 24_000 });
    await together(16, Array.from({ length: 64 }, (_, i) =>
      () => mixed.items.create({ id: `${i}`, pk: `${i % 16}`, s: `${words[i % 8]}${Math.floor(i / 8)}` })));
    await together(8, words.map((s, i) => () => mixed.items.create({ id: `one${i}`, pk: "one", s })));
    const text = "SELECT VALUE c.s FROM c ORDER BY c.s";
    const one = await mixed.items.query(text, { partitionKey: "one" }).fetchAll();
    assert.deepEqual(one.resources, words);
    const send = (headers) => at.rest("POST", `/dbs/db/colls/${mixed.id}/docs`, { body: { query: text, parameters: [] },
      headers: { "content-type": "application/query+json", "x-ms-documentdb-isquery": "True",
        "x-ms-documentdb-query-enablecrosspartition": "True", ...headers } });
    const whole = answers(await send({ "x-orrery-whole-query": "true" }), 200).body.Documents;
    assert.equal(whole.length, 72);
    assert.deepEqual(whole, [...whole].sort(byCodePoint));
    for (const range of await ranges(at.rest, mixed)) {
      const rows = answers(await send({ "x-ms-documentdb-partitionkeyrangeid": range.id }), 200).body.Documents;
      assert.ok(rows.length > 0);
      assert.deepEqual(rows, [...rows].sort(byCodePoint));
    }
    // The SDK merges by UTF-16 code units: every row comes once, not all of them in this order.
    const merged = (await mixed.items.query(text).fetchAll()).resources;
    assert.deepEqual([...merged].sort(byCodePoint), whole);
    assert.notDeepEqual(merged, whole);
    const plain = merged.filter((s) => s < "\ud800");
    assert.deepEqual(plain, merged.slice(0, plain.length).sort(byCodePoint), "other characters are in order");
  });

  it("x-orrery-whole-query gives the rows of the SDK's own pipeline", async () => {
    for (const [text, ordered] of [
      ["SELECT VALUE c.n FROM c ORDER BY c.n", true],
      ["SELECT c.city, c.n FROM c ORDER BY c.city, c.n DESC", true],
      ["SELECT VALUE c.n FROM c ORDER BY c.n OFFSET 10 LIMIT 33", true],
      ["SELECT VALUE SUM(c.n) FROM c", true],
      ["SELECT c.city, COUNT(1) AS n, MIN(c.n) AS least FROM c GROUP BY c.city", false],
      ["SELECT DISTINCT c.city, c.age FROM c", false],
      ["SELECT VALUE t FROM c JOIN t IN c.tags", false],
    ]) {
      const mine = (await pages(text, { "x-orrery-whole-query": "true", "x-ms-max-item-count": "9" })).rows;
      const theirs = await all(text);
      if (!ordered) for (const rows of [mine, theirs]) rows.sort(by((row) => JSON.stringify(row)));
      assert.deepEqual(mine, theirs, text);
    }
  });

  it("a continuation is for its query, and cannot be made up", async () => {
    const first = answers(await raw("SELECT * FROM c WHERE c.n > 3", { "x-ms-max-item-count": "3" }), 200);
    const token = first.headers["x-ms-continuation"];
    assert.ok(token);
    assert.ok(token.length <= 1024);
    answers(await raw("SELECT * FROM c WHERE c.n > 4", { "x-ms-continuation": token }), 400);
    const middle = Math.floor(token.length / 2);
    const forged = token.slice(0, middle) + (token[middle] === "A" ? "B" : "A") + token.slice(middle + 1);
    for (const bad of [forged, "x", token.slice(0, -2), "{}", "A".repeat(5000)]) {
      answers(await raw("SELECT * FROM c WHERE c.n > 3", { "x-ms-continuation": bad }), 400);
    }
    answers(await raw("SELECT * FROM c WHERE c.n > 3", { "x-ms-continuation": token }), 200);
  });

  it("errors of the query say where and what", async () => {
    const error = await fails(all("SELECT * FROM c WHERE c.n = = 1"), 400);
    assert.match(error.message, /SC1001/);
    const answer = answers(await raw("SELECT *\nFROM c WHERE nope.x = 1"), 400);
    assert.equal(answer.body.code, "BadRequest");
    const said = JSON.parse(answer.body.message.slice(answer.body.message.indexOf("{"), answer.body.message.lastIndexOf("}") + 1));
    assert.equal(said.errors[0].code, "SC2001");
    assert.equal(said.errors[0].severity, "Error");
    assert.deepEqual(said.errors[0].location, { start: 22, end: 26 });
    answers(await raw("SELECT VALUE NOSUCH(1) FROM c"), 400, { message: /SC2005/ });
    answers(await at.rest("POST", docs, { body: { query: 5 }, headers: { "x-ms-documentdb-isquery": "True" } }), 400, { message: /query/ });
  });

  it("metrics of a query, and its charge", async () => {
    const answer = answers(await raw("SELECT * FROM c WHERE c.n < 10", { "x-ms-documentdb-populatequerymetrics": "True" }), 200);
    assert.match(answer.headers["x-ms-documentdb-query-metrics"], /totalExecutionTimeInMs=[\d.]+;.*retrievedDocumentCount=\d+;/);
    assert.ok(Number(answer.headers["x-ms-request-charge"]) > 0);
    const again = answers(await raw("SELECT * FROM c WHERE c.n < 10"), 200);
    assert.equal(again.headers["x-ms-request-charge"], answer.headers["x-ms-request-charge"], "the same charge each time");
    assert.equal(answer.headers["x-ms-item-count"], "10");
  });
});

describe("queries and splits", () => {
  const at = shared();

  it("a continuation goes on after a split in between", async () => {
    const container = await at.container({ throughput: 12_000 });
    const ids = Array.from({ length: 120 }, (_, i) => `${i}`);
    await together(16, ids.map((id) => () => container.items.create({ id, pk: `k${id}`, n: Number(id) })));
    const docs = `/dbs/db/colls/${container.id}/docs`;
    const seen = [];
    let token;
    let count = 0;
    do {
      const answer = answers(await at.rest("POST", docs, {
        body: { query: "SELECT VALUE c.id FROM c WHERE c.n >= 0", parameters: [] },
        headers: { "content-type": "application/query+json", "x-ms-documentdb-isquery": "True", "x-ms-max-item-count": "13",
          "x-ms-documentdb-query-enablecrosspartition": "True", ...(token ? { "x-ms-continuation": token } : {}) },
      }), 200);
      seen.push(...answer.body.Documents);
      token = answer.headers["x-ms-continuation"];
      if (++count === 3) {
        const before = (await ranges(at.rest, container)).length;
        assert.equal((await at.server.split(container)).code, 0);
        assert.ok((await ranges(at.rest, container)).length > before);
      }
      assert.ok(count < 100);
    } while (token);
    assert.ok(count > 3);
    assert.deepEqual(seen.sort(), [...ids].sort());
  });

  it("a continuation holds over a restart", async () => {
    const container = await at.container();
    await together(16, Array.from({ length: 30 }, (_, i) => () => container.items.create({ id: `${i}`, pk: "one" })));
    const first = await container.items.query("SELECT VALUE c.id FROM c", { partitionKey: "one", maxItemCount: 10 }).fetchNext();
    await at.server.restart();
    at.client = at.server.client();
    at.db = at.client.database("db");
    const rest = await at.db.container(container.id).items
      .query("SELECT VALUE c.id FROM c", { partitionKey: "one", continuationToken: first.continuationToken }).fetchAll();
    assert.equal(new Set([...first.resources, ...rest.resources]).size, 30);
    assert.equal(rest.resources.length, 20);
  });
});

describe("hierarchical keys", () => {
  const at = shared();

  it("a prefix of the key touches its range", async () => {
    const container = await at.container({ throughput: 24_000, partitionKey: { paths: ["/tenant", "/user"], kind: "MultiHash", version: 2 } });
    await together(16, Array.from({ length: 90 }, (_, i) => () =>
      container.items.create({ id: `${i}`, tenant: `t${i % 3}`, user: `u${i % 9}`, n: i })));
    const rest = (query, headers = {}) => at.rest("POST", `/dbs/db/colls/${container.id}/docs`, {
      body: { query, parameters: [] },
      headers: { "content-type": "application/query+json", "x-ms-documentdb-isquery": "True",
        "x-ms-documentdb-query-enablecrosspartition": "True", "x-ms-documentdb-populatequerymetrics": "True", ...headers },
    });
    const filtered = answers(await rest("SELECT VALUE c.n FROM c WHERE c.tenant = 't1'"), 200);
    assert.equal(filtered.body.Documents.length, 30);
    assert.match(filtered.headers["x-ms-documentdb-query-metrics"], /retrievedDocumentCount=30;/, "only the tenant is read");
    const prefix = answers(await rest("SELECT VALUE c.n FROM c", keyHeader("t1")), 200);
    assert.equal(prefix.body.Documents.length, 30);
    const whole = answers(await rest("SELECT VALUE c.n FROM c WHERE c.tenant = 't1' AND c.user = 'u4'"), 200);
    assert.deepEqual(whole.body.Documents.sort((a, b) => a - b), [4, 13, 22, 31, 40, 49, 58, 67, 76, 85]);
    assert.match(whole.headers["x-ms-documentdb-query-metrics"], /retrievedDocumentCount=10;/);
    const { resources } = await container.items.query("SELECT VALUE c.n FROM c ORDER BY c.n", { partitionKey: ["t2", "u2"] }).fetchAll();
    assert.deepEqual(resources, [2, 11, 20, 29, 38, 47, 56, 65, 74, 83]);
  });
});

// Device readings keyed by device, as the guides to partitioning use them.
describe("the queries of the guides", () => {
  const at = shared();
  const readings = Array.from({ length: 160 }, (_, i) => ({
    id: `${i}`, deviceId: `XMS-${String(i % 20).padStart(4, "0")}`, metricType: i % 2 ? "Temperature" : "Pressure",
    metricValue: 90 + (i % 23), metricTime: new Date(Date.UTC(2024, 0, 1, 0, i)).toISOString(),
  }));
  let container;

  before(async () => {
    container = await at.container({ throughput: 24_000, partitionKey: { paths: ["/deviceId"], kind: "Hash", version: 2 } });
    await together(16, readings.map((one) => () => container.items.create(one)));
  });
  const all = async (query, options) => (await container.items.query(query, options).fetchAll()).resources;

  it("A25: one device and one metric", async () => {
    const rows = await all({ query: "SELECT * FROM r WHERE r.metricType = @type AND r.deviceId = @device",
      parameters: [{ name: "@type", value: "Temperature" }, { name: "@device", value: "XMS-0001" }] });
    assert.equal(rows.length, 8);
    assert.ok(rows.every((row) => row.deviceId === "XMS-0001"));
  });

  it("A26: over all devices, in parallel and in order", async () => {
    const rows = await all("SELECT * FROM r WHERE r.metricType = 'Temperature' AND r.metricValue > 100 ORDER BY r.metricValue",
      { maxDegreeOfParallelism: 10, bufferItems: true, maxItemCount: 10 });
    const expected = readings.filter((one) => one.metricType === "Temperature" && one.metricValue > 100);
    assert.deepEqual(rows.map((row) => row.id).sort(), expected.map((one) => one.id).sort());
    for (let i = 1; i < rows.length; ++i) assert.ok(rows[i - 1].metricValue <= rows[i].metricValue);
  });

  it("a stretch of time of one device", async () => {
    const rows = await all("SELECT VALUE r.metricTime FROM r WHERE r.metricTime BETWEEN '2024-01-01T00:00' AND '2024-01-01T01:00' ORDER BY r.metricTime DESC",
      { partitionKey: "XMS-0003" });
    assert.deepEqual(rows, ["2024-01-01T00:43:00.000Z", "2024-01-01T00:23:00.000Z", "2024-01-01T00:03:00.000Z"]);
  });

  it("the latest and the mean of each device", async () => {
    const rows = await all("SELECT r.deviceId, MAX(r.metricTime) AS latest, AVG(r.metricValue) AS mean FROM r GROUP BY r.deviceId");
    assert.equal(rows.length, 20);
    assert.equal(rows.find((row) => row.deviceId === "XMS-0019").latest, "2024-01-01T02:39:00.000Z");
  });
});
