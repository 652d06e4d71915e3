// How fast the change feed is read, against the feed of all items and against RocksDB alone.
import { readdirSync } from "node:fs";

import { lowToHigh, median, ratio, table, whole } from "./report.mjs";
import { output, startServer } from "./server.mjs";

export const title = "Reading the change feed";
export const about = "One reader, one connection, pages of 1,000 items of 1 KB, from the first to the last; the " +
  "feed of all items in the same way; and a walk over the same files by RocksDB alone, without a server, in the " +
  "order of the keys and in that of the changes. They take turns; medians, and the slowest and the fastest round.";

const docs = "/dbs/bench/colls/c0/docs";

// Every page until there is no other: items a second.
async function readAll(server, items, next) {
  const begun = performance.now();
  let count = 0;
  for (let headers = next(undefined); headers;) {
    const answer = await server.rest("GET", docs, { headers: { "x-ms-max-item-count": "1000", ...headers } });
    if (answer.status >= 400) throw new Error(`${answer.status} ${answer.text}`);
    count += Number(answer.headers["x-ms-item-count"] ?? 0);
    headers = next(answer);
  }
  if (count !== items) throw new Error(`${count} of ${items} items`);
  return (count / (performance.now() - begun)) * 1000;
}

const itemFeed = (answer) => {
  if (!answer) return {};
  const continuation = answer.headers["x-ms-continuation"];
  return continuation && { "x-ms-continuation": continuation };
};

const changeFeed = (answer) => {
  if (answer?.status === 304) return undefined;
  return { "A-IM": "Incremental Feed", ...(answer ? { "If-None-Match": answer.headers.etag } : {}) };
};

export async function measure({ programs, folder, rounds, quick }) {
  const items = quick ? 20_000 : 500_000;
  const data = `${folder}/data`;
  await output(programs.loader, "--data", data, "--items", String(items), "--sample", programs.sample);
  const partition = readdirSync(`${data}/partitions`).find((name) => name !== "catalog");
  const rates = { walk: [], changesWalk: [], feed: [], changes: [] };
  for (let round = 0; round < rounds; ++round) {
    const raw = JSON.parse(await output(programs.walker, "--data", data, "--partition", partition));
    if (raw.items !== items || raw.changes !== items) throw new Error(JSON.stringify(raw));
    rates.walk.push(raw.items_per_second);
    rates.changesWalk.push(raw.changes_per_second);
    const server = await startServer(programs, data);
    await server.rest("GET", docs, { headers: { "x-ms-max-item-count": "1" } });  // opens the partition
    rates.feed.push(await readAll(server, items, itemFeed));
    rates.changes.push(await readAll(server, items, changeFeed));
    await server.stop();
  }
  const row = (label, list, against) => [
    label, `${whole(median(list))} (${lowToHigh(list, whole)})`, against ? ratio(median(list) / median(against)) : "",
  ];
  return table([
    [`${whole(items)} items`, "items/s", "ratio"],
    row("RocksDB alone, by key", rates.walk),
    row("RocksDB alone, by change, with the item of each", rates.changesWalk, rates.walk),
    row("feed of all items, to RocksDB by key", rates.feed, rates.walk),
    row("change feed, to RocksDB by change", rates.changes, rates.changesWalk),
    row("change feed, to the feed of all items", rates.changes, rates.feed),
  ]);
}
