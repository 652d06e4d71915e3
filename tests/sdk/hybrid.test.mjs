// ORDER BY RANK over a container of four physical partitions: by the SDK's own pipeline (statistics
// of all partitions, then the rows by each score, then the ranks put together), and whole on the
// server. Both must give the order of a plain model of BM25 and reciprocal rank fusion.
import assert from "node:assert/strict";
import { before, describe, it } from "node:test";

import { answers, ranges, together } from "./expect.mjs";
import { keyHeader } from "./rest.mjs";
import { shared } from "./server.mjs";

// Words that are their own stems, the first ones the most frequent.
const words = ["wind", "rain", "sun", "fog", "snow", "storm", "frost"];
const things = Array.from({ length: 60 }, (_, i) => {
  const text = [];
  for (let j = 0; j <= i % 9; ++j) text.push(words[((i * 7 + j * j * 5) % 13) % (1 + (i + j) % 7)]);
  return {
    id: `${i}`,
    pk: `k${i % 20}`,
    n: i,
    ...(i % 11 === 0 ? {} : { text: text.join(" ") }),
    ...(i % 13 === 0 ? {} : { v: [Math.cos(i), Math.sin(i)] }),
  };
});

const wordsOf = (thing) => thing.text?.split(" ") ?? [];
const textScore = (corpus, terms) => (thing) => {
  const average = corpus.reduce((sum, one) => sum + wordsOf(one).length, 0) / corpus.length;
  const own = wordsOf(thing);
  return terms.reduce((score, term) => {
    const hits = corpus.filter((one) => wordsOf(one).includes(term)).length;
    const count = own.filter((word) => word === term).length;
    const rarity = Math.log(1 + (corpus.length - hits + 0.5) / (hits + 0.5));
    return score + (rarity * count * 2.2) / (count + 1.2 * (0.25 + (0.75 * own.length) / average));
  }, 0);
};
const cosine = (to) => (thing) =>
  (thing.v ? (thing.v[0] * to[0] + thing.v[1] * to[1]) / Math.hypot(...to) / Math.hypot(...thing.v) : -Infinity);
const nearness = (to) => (thing) =>
  (thing.v ? -Math.hypot(thing.v[0] - to[0], thing.v[1] - to[1]) : -Infinity);

// Larger is better; equal up to the last digits is equal.
const rounded = (score) => (Number.isFinite(score) ? Number(score.toFixed(9)) : score);
function fused(corpus, scores, weights = scores.map(() => 1)) {
  const ranksOf = scores.map((score) =>
    [...new Set(corpus.map((one) => rounded(score(one))))].sort((a, b) => b - a));
  return (thing) => scores.reduce((sum, score, i) =>
    sum + weights[i] / (60 + 1 + ranksOf[i].indexOf(rounded(score(thing)))), 0);
}

// Rows of equal score may come in any order: it is the scores that are compared.
function isInOrder(rows, corpus, score, from = 0, count = corpus.length) {
  const expected = corpus.map((one) => rounded(score(one))).sort((a, b) => b - a).slice(from, from + count);
  assert.deepEqual(rows.map((row) => rounded(score(things[Number(row.id)]))), expected);
  assert.equal(new Set(rows.map((row) => row.id)).size, rows.length);
}

describe("ORDER BY RANK", () => {
  const at = shared();
  let container;
  let docs;

  before(async () => {
    container = await at.container({ throughput: 24_000 });
    docs = `/dbs/db/colls/${container.id}/docs`;
    await together(16, things.map((one) => () => container.items.create(one)));
    assert.equal((await ranges(at.rest, container)).length, 4);
  });

  const all = async (query, options = {}) => (await container.items.query(query, options).fetchAll()).resources;
  const raw = (query, headers = {}) => at.rest("POST", docs, {
    body: { query, parameters: [] },
    headers: { "content-type": "application/query+json", "x-ms-documentdb-isquery": "True",
      "x-ms-documentdb-query-enablecrosspartition": "True", ...headers },
  });
  const whole = async (query, headers = {}) => {
    const rows = [];
    let token;
    do {
      const answer = answers(await raw(query, { "x-orrery-whole-query": "true", ...headers,
        ...(token ? { "x-ms-continuation": token } : {}) }), 200);
      rows.push(...answer.body.Documents);
      token = answer.headers["x-ms-continuation"];
      assert.ok(rows.length <= things.length);
    } while (token);
    return rows;
  };
  const both = async (query, check) => {
    check(await all(query));
    check(await whole(query));
  };

  it("by the score of a text", async () => {
    const score = textScore(things, ["storm", "fog"]);
    await both("SELECT TOP 10 * FROM c ORDER BY RANK FullTextScore(c.text, 'storm', 'fog')",
      (rows) => isInOrder(rows, things, score, 0, 10));
    await both("SELECT TOP 10 c.id FROM c ORDER BY RANK FullTextScore(c.text, ['storm', 'fog'])",
      (rows) => isInOrder(rows, things, score, 0, 10));
  });

  it("by RRF of a text and a vector", async () => {
    const score = fused(things, [textScore(things, ["rain", "frost"]), cosine([3, 4])]);
    await both("SELECT TOP 10 c.id FROM c ORDER BY RANK RRF(FullTextScore(c.text, 'rain', 'frost'), VectorDistance(c.v, [3, 4]))",
      (rows) => isInOrder(rows, things, score, 0, 10));
  });

  it("by RRF with weights, and by a distance", async () => {
    const scores = [textScore(things, ["sun"]), nearness([1, 0])];
    await both("SELECT TOP 12 c.id FROM c ORDER BY RANK RRF(FullTextScore(c.text, 'sun'), VectorDistance(c.v, [1, 0], true, {distanceFunction: 'euclidean'}), [3, 0.5])",
      (rows) => isInOrder(rows, things, fused(things, scores, [3, 0.5]), 0, 12));
    await both("SELECT TOP 12 c.id FROM c ORDER BY RANK RRF(FullTextScore(c.text, 'sun'), VectorDistance(c.v, [1, 0], true, {distanceFunction: 'euclidean'}), [1, -2])",
      (rows) => isInOrder(rows, things, fused(things, scores, [1, -2]), 0, 12));
  });

  it("OFFSET LIMIT takes a stretch of the ranks", async () => {
    const score = fused(things, [textScore(things, ["snow"]), textScore(things, ["wind", "storm"])]);
    await both("SELECT c.id FROM c ORDER BY RANK RRF(FullTextScore(c.text, 'snow'), FullTextScore(c.text, 'wind', 'storm')) OFFSET 5 LIMIT 7",
      (rows) => isInOrder(rows, things, score, 5, 7));
  });

  it("WHERE chooses the rows; the statistics are of all items", async () => {
    const found = things.filter((one) => wordsOf(one).includes("storm") && one.n > 10);
    const scores = [textScore(things, ["storm", "rain"]), cosine([0, 1])];
    await both("SELECT TOP 50 c.id FROM c WHERE FullTextContains(c.text, 'storm') AND c.n > 10 ORDER BY RANK FullTextScore(c.text, 'storm', 'rain')",
      (rows) => isInOrder(rows, found, scores[0]));
    await both("SELECT TOP 50 c.id FROM c WHERE FullTextContains(c.text, 'storm') AND c.n > 10 ORDER BY RANK RRF(FullTextScore(c.text, 'storm', 'rain'), VectorDistance(c.v, [0, 1]))",
      (rows) => isInOrder(rows, found, fused(found, scores)));
  });

  it("parameters: terms, vectors, weights and filters", async () => {
    const found = things.filter((one) => one.n < 40);
    const scores = [textScore(things, ["fog", "sun"]), cosine([1, 1])];
    isInOrder(await all({
      query: "SELECT TOP @top c.id FROM c WHERE c.n < @n ORDER BY RANK RRF(FullTextScore(c.text, @a, 'sun'), VectorDistance(c.v, @v), @weights)",
      parameters: [{ name: "@top", value: 9 }, { name: "@n", value: 40 }, { name: "@a", value: "fog" },
        { name: "@v", value: [1, 1] }, { name: "@weights", value: [2, 1] }],
    }), found, fused(found, scores, [2, 1]), 0, 9);
  });

  it("without TOP every row has its rank", async () => {
    const scores = [textScore(things, ["rain"]), cosine([1, 0])];
    const query = "SELECT c.id FROM c ORDER BY RANK RRF(FullTextScore(c.text, 'rain'), VectorDistance(c.v, [1, 0]))";
    isInOrder(await whole(query), things, fused(things, scores));
    isInOrder(await whole(query, { "x-ms-max-item-count": "7" }), things, fused(things, scores));
    isInOrder(await all(query, { allowUnboundedNonStreamingQueries: true }), things, fused(things, scores));
  });

  it("a continuation counts rows, and is for its range only", async () => {
    const query = "SELECT c.id FROM c ORDER BY RANK FullTextScore(c.text, 'wind')";
    const first = answers(await raw(query, { ...keyHeader("k4"), "x-ms-max-item-count": "1" }), 200);
    const token = { "x-ms-continuation": first.headers["x-ms-continuation"] };
    assert.equal(answers(await raw(query, { ...keyHeader("k4"), ...token }), 200).body.Documents.length, 2);
    answers(await raw(query, { ...keyHeader("k5"), ...token }), 400, { message: /another range/ });
  });

  it("within one partition key its items are all there are", async () => {
    const own = things.filter((one) => one.pk === "k3");
    const rows = await all("SELECT c.id FROM c ORDER BY RANK FullTextScore(c.text, 'wind', 'sun')", { partitionKey: "k3" });
    isInOrder(rows, own, textScore(own, ["wind", "sun"]));
  });

  it("over several partitions the client is told to use its plan", async () => {
    const query = "SELECT TOP 3 * FROM c ORDER BY RANK FullTextScore(c.text, 'wind')";
    answers(await raw(query), 400, { substatus: 1004 });
    answers(await raw("SELECT TOP 3 * FROM c ORDER BY RANK UPPER(c.text)", keyHeader("k1")), 400, { message: /FullTextScore/ });
  });
});
