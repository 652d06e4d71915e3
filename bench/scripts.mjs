// Procedures, functions in queries, and batches, each against the same work by single requests.
import { readFileSync } from "node:fs";

import { authorization } from "../tests/sdk/rest.mjs";
import { partitionKey, run, samplePath } from "./load.mjs";
import { lowToHigh, medians, ms, ratio, table, whole } from "./report.mjs";
import { key, output, startServer } from "./server.mjs";

const clients = 8;
const items = 10_000;
const container = "dbs/bench/colls/c0";

export const title = "Scripts and batches";
export const about = `wrk, ${clients} connections, 1,000 logical partitions, every write durable. A procedure upserts 1 or ` +
  "10 items of 1 KB; single upserts and batches of 100 write the same items. The function runs once for each of " +
  `${whole(items)} items of a query that counts; beside it the same filter without a function. Documents/s is what ` +
  "counts; they take turns.";

const procedure = `function upsertMany(items) {
  const container = getContext().getCollection();
  for (const item of items) {
    if (!container.upsertDocument(container.getSelfLink(), item)) throw new Error("not accepted");
  }
}`;

const template = readFileSync(samplePath, "utf8").trimEnd().replace("@text", "x".repeat(434));
const item = (number, pk) => template.replace("@id", `script-${number}`).replace("@pk", pk);

function request(path, { type, link }, headers, body, date) {
  return [`POST /${path} HTTP/1.1`, "Host: 127.0.0.1:8081", "x-ms-version: 2020-07-15", `x-ms-date: ${date}`,
    `authorization: ${authorization(key, "POST", { type, link }, date)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${Buffer.byteLength(body)}`].join("\r\n") + "\r\n\r\n" + body;
}

// 500 requests, each for a logical partition of its own.
function requests(make) {
  const date = new Date().toUTCString();
  return Array.from({ length: 500 }, (_, i) => make(i, partitionKey(i), date));
}

const docs = { type: "docs", link: container };
const keyed = (pk) => ({ "Content-Type": "application/json", "x-ms-documentdb-partitionkey": `["${pk}"]` });

const single = () => requests((i, pk, date) => request(`${container}/docs`, docs,
  { ...keyed(pk), "x-ms-documentdb-is-upsert": "True" }, item(i, pk), date));

const calls = (count) => () => requests((i, pk, date) => {
  const list = Array.from({ length: count }, (_, j) => item(i * count + j, pk));
  const link = `${container}/sprocs/upsertMany`;
  return request(link, { type: "sprocs", link }, keyed(pk), `[[${list.join(",")}]]`, date);
});

const batches = () => requests((i, pk, date) => {
  const list = Array.from({ length: 100 }, (_, j) => `{"operationType":"Upsert","resourceBody":${item(i * 100 + j, pk)}}`);
  return request(`${container}/docs`, docs, {
    ...keyed(pk), "x-ms-cosmos-is-batch-request": "True", "x-ms-cosmos-batch-atomic": "True", Prefer: "return=minimal",
  }, `[${list.join(",")}]`, date);
});

const query = (text) => () => [request(`${container}/docs`, docs, {
  "Content-Type": "application/query+json", "x-ms-documentdb-isquery": "True",
  "x-ms-documentdb-query-enablecrosspartition": "true",
}, JSON.stringify({ query: text }), new Date().toUTCString())];

export async function measure({ programs, folder, rounds, seconds }) {
  const data = `${folder}/scripts`;
  await output(programs.loader, "--data", data, "--items", String(items), "--sample", programs.sample);
  const server = await startServer(programs, data);
  for (const [kind, body] of [["sprocs", { id: "upsertMany", body: procedure }],
    ["udfs", { id: "discounted", body: "function (total) { return total * 0.9; }" }]]) {
    const made = await server.rest("POST", `/${container}/${kind}`, { body });
    if (made.status !== 201) throw new Error(`${kind}: ${made.status} ${made.text}`);
  }
  const sides = [
    { name: "single upserts", documents: 1, make: single },
    { name: "procedure, 1 document", documents: 1, make: calls(1), against: 0 },
    { name: "procedure, 10 documents", documents: 10, make: calls(10), against: 0 },
    { name: "batch of 100", documents: 100, make: batches, against: 0 },
    { name: "filter without a function", documents: items, make: query("SELECT VALUE COUNT(1) FROM c WHERE c.total * 0.9 > 300 OR c.none = 1") },
    { name: "filter with a function", documents: items, make: query("SELECT VALUE COUNT(1) FROM c WHERE udf.discounted(c.total) > 300"), against: 4 },
  ];
  for (const side of sides) side.results = [];
  for (let round = 0; round <= rounds; ++round) {
    for (const side of sides) {
      const result = await run(server, "replay.lua", side.make(), folder, { seconds: round === 0 ? 2 : seconds, connections: clients });
      if (round > 0) side.results.push(result);  // the first only warms up
    }
  }
  await server.stop();
  const rate = (side) => medians(side.results).perSecond * side.documents;
  return table([["", "requests/s", "p50", "documents/s", "ratio", "rounds"], ...sides.map((side) => [
    side.name, whole(medians(side.results).perSecond), ms(medians(side.results).p50_us), whole(rate(side)),
    side.against === undefined ? "" : ratio(rate(side) / rate(sides[side.against])),
    lowToHigh(side.results.map((one) => one.perSecond * side.documents), whole),
  ])]);
}
