// The Table face against Azurite, and against the Cosmos face of the same server.
import { mkdirSync } from "node:fs";

import { answerTo, connections, createRequests, nextTag, readRequests, run } from "./load.mjs";
import { lowToHigh, median, medians, ms, ratio, table, verdict, whole } from "./report.mjs";
import { freePort, output, startAzurite, startServer } from "./server.mjs";
import { batchRequests, batchSize, getRequests, insertRequests, load, loadedRows, scanRequests } from "./table_load.mjs";

const few = 8;  // connections where an answer takes long: a short run still gets some of every one

export const title = "The Table face";
export const about = `wrk, ${connections} connections (${few} for scans and batches), every request signed and checked, entities of 1 KB; inserts and ` +
  `batches are acknowledged after the disk's sync. A scan reads a partition of ${loadedRows} entities in one answer; a batch ` +
  `inserts ${batchSize}. Azurite (from npm) takes the same requests and keeps them in memory, written to disk every few ` +
  "seconds. The Cosmos face of the same server creates and reads items of 1 KB. All take turns.";

const azuriteTarget = 10;
const cosmosTarget = 0.8;

const kinds = [
  { name: "durable inserts", script: "create.lua", requests: insertRequests, each: 1, cosmos: "creates" },
  { name: "point gets", script: "replay.lua", requests: getRequests, each: 1, cosmos: "reads" },
  { name: "partition scan, entities", script: "replay.lua", requests: scanRequests, each: loadedRows, open: few },
  { name: `batches of ${batchSize}, entities`, script: "batch.lua", requests: batchRequests, each: batchSize, open: few },
];

export async function measure({ programs, folder, rounds, seconds }) {
  const items = 2_000;
  await output(programs.loader, "--data", `${folder}/data`, "--items", String(items), "--sample", programs.sample);
  const tablePort = await freePort();
  const server = await startServer(programs, `${folder}/data`, "--table-port", String(tablePort));
  mkdirSync(`${folder}/azurite`);
  const azurite = await startAzurite(`${folder}/azurite`);
  const face = { port: tablePort, cpu_us: () => server.cpu_us() };
  for (const daemon of [face, azurite]) await load((request) => answerTo(daemon, request));

  const once = (daemon, kind, duration) =>
    run(daemon, kind.script, kind.requests(), folder, { seconds: duration, tag: nextTag(), connections: kind.open });
  const cosmos = {
    creates: { script: "create.lua", requests: () => createRequests({}) },
    reads: { script: "replay.lua", requests: () => readRequests({ items }) },
  };
  const results = kinds.map(() => ({ ours: [], azurite: [], cosmos: [] }));
  for (let round = 0; round <= rounds; ++round) {
    for (const [i, kind] of kinds.entries()) {
      // The first round only warms up.
      const one = {
        ours: await once(face, kind, seconds),
        azurite: await once(azurite, kind, seconds),
        ...(kind.cosmos ? { cosmos: await once(server, cosmos[kind.cosmos], seconds) } : {}),
      };
      if (round > 0) for (const [side, result] of Object.entries(one)) results[i][side].push(result);
    }
  }
  await azurite.stop();
  await server.stop();

  const rows = kinds.map((kind, i) => {
    const { ours, azurite: theirs, cosmos: beside } = results[i];
    const parts = (other) => ours.map((result, at) => result.perSecond / other[at].perSecond);
    const shown = (other, target) => {
      const each = parts(other);
      return verdict(median(each) >= target, `**${ratio(median(each))}** (${lowToHigh(each, ratio)}), target ≥ ${target}`);
    };
    const perSecond = (one) => whole(medians(one).perSecond * kind.each);
    return [kind.name, perSecond(ours), ms(medians(ours).p50_us), medians(ours).cpu_us.toFixed(0), perSecond(theirs),
      ms(medians(theirs).p50_us), shown(theirs, azuriteTarget),
      ...(kind.cosmos ? [perSecond(beside), medians(beside).cpu_us.toFixed(0), shown(beside, cosmosTarget)] : ["", "", ""])];
  });
  return table([["", "Table face/s", "p50", "CPU µs", "Azurite/s", "p50", "ratio", "Cosmos face/s", "CPU µs", "ratio"], ...rows]);
}
