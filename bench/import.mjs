// How fast `orrery import` is, against raw creates over HTTP and against a bulk loop of the vendor's SDK.
import { closeSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";

import { CosmosClient } from "../tests/sdk/cosmos.mjs";
import { connections, createRequests, itemId, nextTag, partitionKey, run, samplePath } from "./load.mjs";
import { lowToHigh, median, ratio, table, whole } from "./report.mjs";
import { key, output, startServer } from "./server.mjs";

export const title = "Import of items of 1 KB";
export const about = "`orrery import` of a file of NDJSON over https, acknowledged after the disk's sync; single creates by wrk over " +
  `http, ${connections} connections; and executeBulkOperations of the vendor's JavaScript SDK over http, 5,000 items at a time. ` +
  "The latter two run for some seconds, and for as many items as the table says: rates, against the rate of the whole import. " +
  "Default indexing, 1,000 logical partitions, one physical partition, a fresh folder for each; client and server share the machine.";

const mostItems = 1_000_000;
const textCharacters = 434;
const bulkItems = 5_000;

// The item with this number; texts are others every time.
function itemText(template, number) {
  let text = "";
  for (let seed = number + 1; text.length < textCharacters;) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    text += seed.toString(36);
  }
  return template.replace("@id", itemId(number)).replace("@pk", partitionKey(number)).replace("@text", text.slice(0, textCharacters));
}

function writeItems(path, count) {
  const template = readFileSync(samplePath, "utf8").trimEnd();
  const file = openSync(path, "w");
  for (let at = 0; at < count;) {
    const lines = [];
    for (; at < count && lines.length < 10_000; ++at) lines.push(itemText(template, at));
    writeSync(file, `${lines.join("\n")}\n`);
  }
  closeSync(file);
}

async function withServer(programs, folder, measured) {
  const data = `${folder}/import`;
  await output(programs.loader, "--data", data, "--items", "0", "--sample", programs.sample);
  const server = await startServer(programs, data);
  try {
    return await measured(server, data);
  } finally {
    await server.stop();
    rmSync(data, { recursive: true });
  }
}

async function bySdk(server, items) {
  const client = new CosmosClient({ endpoint: `http://127.0.0.1:${server.port}`, key,
    connectionPolicy: { enableBackgroundEndpointRefreshing: false } });
  const container = client.database("bench").container("c0");
  const template = readFileSync(samplePath, "utf8").trimEnd();
  const begun = performance.now();
  for (let at = 0; at < items; at += bulkItems) {
    const operations = Array.from({ length: Math.min(bulkItems, items - at) }, (_, i) => ({
      operationType: "Create", partitionKey: partitionKey(at + i), resourceBody: JSON.parse(itemText(template, at + i)),
    }));
    const results = await container.items.executeBulkOperations(operations);
    const failed = results.find((one) => one.response?.statusCode !== 201);
    if (failed) throw new Error(`the SDK's bulk: ${JSON.stringify(failed.error ?? failed.response).slice(0, 300)}`);
  }
  const perSecond = (items / (performance.now() - begun)) * 1000;
  client.dispose();
  return perSecond;
}

export async function measure({ programs, folder, rounds, seconds, quick, largest }) {
  const items = Math.min(quick ? 50_000 : mostItems, largest);
  const sdkItems = Math.min(items, quick ? 10_000 : 50_000);
  const file = `${folder}/items.ndjson`;
  writeItems(file, items);
  const results = { ours: [], raw: [], sdk: [] };
  for (let round = 0; round < rounds; ++round) {
    results.ours.push(await withServer(programs, folder, async (server, data) => {
      const told = JSON.parse(await output(programs.orrery, "import", "bench/c0", file, "--data", data, "--json", "--quiet"));
      if (told.written !== items) throw new Error(`${told.written} of ${items} items`);
      return items / told.seconds;
    }));
    results.raw.push(await withServer(programs, folder, async (server) =>
      (await run(server, "create.lua", createRequests({}), folder, { seconds, tag: nextTag() })).perSecond));
    results.sdk.push(await withServer(programs, folder, (server) => bySdk(server, sdkItems)));
  }
  rmSync(file);
  const against = (others) => results.ours.map((one, i) => one / others[i]);
  const row = (name, values, ratios) =>
    [name, whole(median(values)), lowToHigh(values, whole), ratios ? ratio(median(ratios)) : ""];
  return table([
    ["", "items/s", "rounds", "import is faster by"],
    row(`\`orrery import\`, ${whole(items)} items`, results.ours),
    row("single creates over HTTP (wrk)", results.raw, against(results.raw)),
    row(`the SDK's bulk loop, ${whole(sdkItems)} items`, results.sdk, against(results.sdk)),
  ]);
}
