// ORDER BY over partitions with many equal values, when the client goes on from a token of its own: each row comes
// once, wherever among its equals the last page ended.
import assert from "node:assert/strict";
import { before, describe, it } from "node:test";

import { answers, ranges, together } from "./expect.mjs";
import { shared } from "./server.mjs";

const newest = process.env.ORRERY_SDK === "newest";

// Three values of v, and in each key several items with each of them.
const items = Array.from({ length: 174 }, (_, i) => ({
  id: `i${(i * 37) % 174}`, pk: `k${i % 29}`, v: Math.floor(i / 29) % 3, w: i % 2, tags: ["a", "b", "c"],
}));
const one = "SELECT VALUE c.id FROM c ORDER BY c.v";
const queries = [
  { text: one, rows: items.map((item) => item.id) },
  { text: `${one} DESC`, rows: items.map((item) => item.id) },
  { text: "SELECT VALUE c.id FROM c WHERE c.w = 1 ORDER BY c.v", rows: items.filter((item) => item.w).map((item) => item.id) },
];
const severalOrders = [
  { text: `${one}, c.w DESC`, rows: items.map((item) => item.id) },
  { text: `${one} DESC, c.w`, rows: items.map((item) => item.id) },
];
const joins = [
  { text: "SELECT VALUE CONCAT(c.id, t) FROM c JOIN t IN c.tags ORDER BY c.v",
    rows: items.flatMap((item) => item.tags.map((tag) => item.id + tag)) },
  { text: "SELECT VALUE CONCAT(c.id, t) FROM c JOIN t IN c.tags ORDER BY c.v DESC",
    rows: items.flatMap((item) => item.tags.map((tag) => item.id + tag)) },
];

const once = (got, { text, rows }, how) =>
  assert.deepEqual([...got].sort(), [...rows].sort(), `${text}, ${how}`);

describe("clients that go on among equal ORDER BY values", () => {
  const at = shared();
  let container;

  const filled = async (definition = { throughput: 24_000 }) => {
    const made = await at.container({
      indexingPolicy: { compositeIndexes: [
        [{ path: "/v", order: "ascending" }, { path: "/w", order: "descending" }]] },
      ...definition,
    });
    await together(16, items.map((item) => () => made.items.create(item)));
    return made;
  };

  before(async () => {
    container = await filled();
    assert.equal((await ranges(at.rest, container)).length, 4);
  });

  // Before a split the equal values of a descending order come from the last key on; after it clients take the lower
  // half first, and then ask for all of the upper half again. So there some may come again, and none is left out.
  const withSplits = async (query, how, run) => {
    for (const first of [1, 4]) {
      const source = await filled({});
      const rows = await run(source, async (page) => {
        if (page === first || page === first + 3) assert.equal((await at.server.split(source)).code, 0);
      });
      assert.ok((await ranges(at.rest, source)).length > 2);
      once(query.text.includes("DESC") ? new Set(rows) : rows, query, `${how}, after page ${first}`);
    }
  };

  // By the newest JavaScript SDK: an iterator, and a client, of its own for each page.
  const bySdk = async (source, text, size, afterPage = () => {}) => {
    const rows = [];
    let continuationToken;
    for (let page = 0; page === 0 || continuationToken; ++page) {
      assert.ok(page < 1000, `${text} does not end`);
      const again = at.server.client().database("db").container(source.id);
      const answer = await again.items.query(text, { maxItemCount: size, enableQueryControl: true, continuationToken }).fetchNext();
      rows.push(...answer.resources);
      continuationToken = answer.continuationToken;
      await afterPage(page, continuationToken);
    }
    return rows;
  };

  it("the newest JavaScript SDK", { skip: !newest && "only the newest makes such tokens" }, async () => {
    for (const query of [...queries, ...joins]) {
      for (const size of query.rows.length > items.length ? [7] : [1, 3, 7]) {
        once(await bySdk(container, query.text, size), query, `pages of ${size}`);
      }
    }
  });

  // Of another range than the one that the token names: of that one's halves the client goes on in the last alone.
  it("the newest JavaScript SDK, with a split on the way", { skip: !newest && "only the newest makes such tokens" }, async () => {
    for (const query of queries) {
      const source = await filled();
      let splits = 0;
      const rows = await bySdk(source, query.text, 7, async (page, token) => {
        if (page % 2 !== 1 || splits === 3 || !token) return;
        const [named] = JSON.parse(token).rangeMappings;
        const other = (await ranges(at.rest, source)).find((range) => !JSON.stringify(named).includes(`"${range.maxExclusive}"`));
        const { code, out } = await at.server.split(source, other.id);
        assert.equal(code, 0, out);
        ++splits;
      });
      assert.equal(splits, 3);
      once(rows, query, "with splits");
    }
  });

  // What clients do, in a few lines. A token is of the last row given, or with `ofNext` of the row to come.
  const plan = async (source, text) => answers(await at.rest("POST", `/dbs/db/colls/${source.id}/docs`, {
    body: { query: text },
    headers: { "content-type": "application/query+json", "x-ms-cosmos-is-query-plan-request": "True",
      "x-ms-cosmos-supported-query-features": "OrderBy, MultipleOrderBy, NonValueAggregate, Distinct, Top, OffsetAndLimit" },
  }), 200).body.queryInfo;
  const ask = async (source, range, query, size, continuation) => answers(await at.rest("POST", `/dbs/db/colls/${source.id}/docs`, {
    body: query,
    headers: { "content-type": "application/query+json", "x-ms-documentdb-isquery": "True", "x-ms-max-item-count": `${size}`,
      "x-ms-documentdb-query-enablecrosspartition": "True", "x-ms-documentdb-partitionkeyrangeid": range.id,
      ...(continuation ? { "x-ms-continuation": continuation } : {}) },
  }), 200);
  const numberOf = (rid, littleEndian) => {
    const bytes = Buffer.from(rid.replaceAll("-", "/"), "base64");
    assert.equal(bytes.length, 16);
    return littleEndian ? bytes.readBigUInt64LE(8) : bytes.readBigInt64BE(8);
  };
  // Negative: a comes before b.
  const compareValues = (a, b, orders) => {
    for (let i = 0; i < orders.length; ++i) {
      if (a[i].item !== b[i].item) return (a[i].item < b[i].item ? -1 : 1) * (orders[i] === "Descending" ? -1 : 1);
    }
    return 0;
  };

  // The rows of a range that come after the token, or from it on: .NET names the order values and sends the continuation
  // of its page along, Java filters and starts again.
  const rowsOfRange = async function* (source, range, info, token, how, size) {
    const isTarget = token && token.range.min < range.maxExclusive && range.minInclusive < token.range.max;
    const isLeft = token && range.maxExclusive <= token.range.min;
    let filter = "true";
    let resumeFilter;
    let continuation;
    if (token && how.resumes) {
      resumeFilter = { value: token.values.map((value) => value.item), exclude: isLeft };
      continuation = isTarget ? token.continuation : undefined;
    } else if (token) {
      filter = info.orderBy.map((order, i) => {
        const before = info.orderByExpressions.slice(0, i).map((path, j) => `${path} = ${token.values[j].item} AND `).join("");
        const isLast = i === info.orderBy.length - 1;
        const sign = order === "Descending" ? "<" : ">";
        return `(${before}${info.orderByExpressions[i]} ${sign}${isLast && !isLeft ? "=" : ""} ${token.values[i].item})`;
      }).join(" OR ");
    }
    const query = { query: info.rewrittenQuery.replace("{documentdb-formattableorderbyquery-filter}", filter), resumeFilter };
    let skip = token?.skip ?? 0;
    do {
      const start = continuation;
      const page = await ask(source, range, query, size, continuation);
      continuation = page.headers["x-ms-continuation"];
      const execution = JSON.parse(page.headers["x-ms-cosmos-query-execution-info"]);
      assert.equal(execution.reverseRidEnabled, false);
      for (const row of page.body.Documents) {
        if (isTarget && compareValues(token.values, row.orderByItems, info.orderBy) === 0) {
          const before = numberOf(token.rid, how.littleEndian) - numberOf(row._rid, how.littleEndian);
          const order = execution.reverseIndexScan ? -before : before;
          if (order > 0n) continue;
          if (order === 0n && !how.ofNext && skip-- > 0) continue;
        }
        yield { row, range, start };
      }
    } while (continuation);
  };

  const byClient = async (source, text, size, how, afterPage = () => {}) => {
    const info = await plan(source, text);
    const given = [];
    let token;
    for (let page = 0; page === 0 || token; ++page) {
      assert.ok(page < 1000, `${text} does not end`);
      const streams = await Promise.all((await ranges(at.rest, source)).map(async (range) => {
        const stream = rowsOfRange(source, range, info, token, how, size);
        return { stream, next: (await stream.next()).value };
      }));
      const rows = [];
      while (rows.length < size + 1) {
        const first = streams.filter(({ next }) => next).reduce((best, other) =>
          best && compareValues(best.next.row.orderByItems, other.next.row.orderByItems, info.orderBy) <= 0 ? best : other, undefined);
        if (!first) break;
        rows.push(first.next);
        first.next = (await first.stream.next()).value;
      }
      const shown = rows.slice(0, size);
      given.push(...shown.map(({ row }) => row.payload));
      const named = rows[how.ofNext ? size : size - 1];
      token = rows.length > size ? {
        range: { min: named.range.minInclusive, max: named.range.maxExclusive }, values: named.row.orderByItems, rid: named.row._rid,
        continuation: named.start, skip: shown.filter(({ row }) => row._rid === named.row._rid).length,
      } : undefined;
      await afterPage(page);
    }
    return given;
  };

  const dotNet = { name: "as .NET does", littleEndian: true, resumes: true };
  const java = { name: "as Java does", littleEndian: false, ofNext: true };
  const pagesBy = async (how) => {
    for (const query of [...queries, ...severalOrders, ...joins]) {
      for (const size of [1, 3, 7]) {
        if (size === 1 && query.rows.length > items.length) continue;  // nothing new, and long
        once(await byClient(container, query.text, size, how), query, `pages of ${size}, ${how.name}`);
      }
    }
  };
  const splitsBy = async (how) => {
    for (const query of [queries[0], queries[1], ...joins]) {
      await withSplits(query, how.name, (source, afterPage) => byClient(source, query.text, 7, how, afterPage));
    }
  };

  it("as .NET does: by order values and a continuation", () => pagesBy(dotNet));
  it("as .NET does, with a split on the way", () => splitsBy(dotNet));
  it("as Java does: by a filter alone", () => pagesBy(java));
  it("as Java does, with a split on the way", () => splitsBy(java));

  it("an item keeps its own _rid in the payload", async () => {
    const info = await plan(container, "SELECT * FROM c ORDER BY c.v");
    const query = { query: info.rewrittenQuery.replace("{documentdb-formattableorderbyquery-filter}", "true") };
    const [range] = await ranges(at.rest, container);
    for (const { _rid, payload } of (await ask(container, range, query, 100)).body.Documents) {
      assert.notEqual(_rid, payload._rid);
      const { resource } = await container.item(payload.id, payload.pk).read();
      assert.equal(payload._rid, resource._rid);
    }
  });
});
