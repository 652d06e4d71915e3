// VectorDistance and ORDER BY it: the nearest first, measured as the container's vector policy says,
// over four physical partitions by the SDK's own pipeline, and whole on the server.
import assert from "node:assert/strict";
import { before, describe, it } from "node:test";

import { ranges, together } from "./expect.mjs";
import { shared } from "./server.mjs";

const things = Array.from({ length: 60 }, (_, i) => ({
  id: `${i}`,
  pk: `k${i % 20}`,
  angle: [Math.cos(i) * (1 + i % 5), Math.sin(i) * (1 + i % 5)],
  place: [1 + (i * 7) % 11, (i * 5) % 13],
}));
const dot = (a, b) => a[0] * b[0] + a[1] * b[1];
const measures = {
  cosine: (a, b) => dot(a, b) / Math.hypot(...a) / Math.hypot(...b),
  dotproduct: dot,
  euclidean: (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]),
};

describe("vectors", () => {
  const at = shared();
  let container;

  before(async () => {
    container = await at.container({
      throughput: 24_000,
      vectorEmbeddingPolicy: {
        vectorEmbeddings: [
          { path: "/angle", dataType: "float32", dimensions: 2, distanceFunction: "dotproduct" },
          { path: "/place", dataType: "float32", dimensions: 2, distanceFunction: "euclidean" },
        ],
      },
    });
    await together(16, things.map((one) => () => container.items.create(one)));
    assert.equal((await ranges(at.rest, container)).length, 4);
  });

  const whole = async (query) => (await at.rest("POST", `/dbs/db/colls/${container.id}/docs`, {
    body: { query },
    headers: { "content-type": "application/query+json", "x-ms-documentdb-isquery": "True",
      "x-ms-documentdb-query-enablecrosspartition": "True", "x-orrery-whole-query": "True" },
  })).body.Documents;
  const bySdk = async (query) => (await container.items.query(query).fetchAll()).resources;

  for (const [path, options, measure] of [
    ["angle", "", "dotproduct"],
    ["place", "", "euclidean"],
    ["place", ", false", "euclidean"],
    ["place", ", false, {dataType: 'float32'}", "euclidean"],
    ["place", ", true, {distanceFunction: 'cosine'}", "cosine"],
    ["angle", ", true, {distanceFunction: 'euclidean'}", "euclidean"],
  ]) {
    it(`VectorDistance(c.${path}, …${options}) is ${measure}, and the nearest come first`, async () => {
      const to = [3, 4];
      const value = (thing) => Number(measures[measure](thing[path], to).toFixed(9));
      const nearest = things.map(value).sort((a, b) => (measure === "euclidean" ? a - b : b - a)).slice(0, 10);
      const call = `VectorDistance(c.${path}, [3, 4]${options})`;
      const query = `SELECT TOP 10 c.id, ${call} AS score FROM c ORDER BY ${call}`;
      for (const rows of [await whole(query), await bySdk(query)]) {
        assert.deepEqual(rows.map((row) => Number(row.score.toFixed(9))), nearest);
        assert.deepEqual(rows.map((row) => value(things[Number(row.id)])), nearest);
      }
    });
  }
});
