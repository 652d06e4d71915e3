// Splits under load: how long they take, how long writers wait, and whether any request fails.
import { readFileSync } from "node:fs";

import { keyHeader } from "../tests/sdk/rest.mjs";
import { nextTag, partitionKey, samplePath } from "./load.mjs";
import { median, table, verdict, whole } from "./report.mjs";
import { output, sleep, startServer } from "./server.mjs";

export const title = "Splits";
export const about = "8 clients create items one after the other while a partition is split, from 2 s before it to " +
  "5 s after it. The longest wait is that of any create from its first byte to its answer; the pause is what " +
  "the server says of itself.";

const writers = 8;

async function splitOnce({ programs }, data) {
  const server = await startServer(programs, data);
  const template = readFileSync(samplePath, "utf8").trimEnd().replace("@text", "x".repeat(434));
  const waits = { before: [], during: [] };
  let phase = "before";
  let failed = 0;
  let over = false;
  const tag = nextTag();
  const write = async (writer) => {
    for (let i = 0; !over; ++i) {
      const pk = partitionKey(i * writers + writer);
      const begun = performance.now();
      const begunIn = phase;
      const answer = await server.rest("POST", "/dbs/bench/colls/c0/docs", {
        headers: keyHeader(pk),
        body: template.replace("@id", `split-${tag}-${writer}-${i}`).replace("@pk", pk),
      }).catch((error) => ({ status: 0, text: error.message }));
      const wait_ms = performance.now() - begun;
      if (answer.status !== 201 && ++failed === 1) process.stderr.write(`  ${answer.status} ${answer.text}\n`);
      waits[begunIn === "before" && phase === "before" ? "before" : "during"].push(wait_ms);
    }
  };
  // The first write opens the partition: not what is asked here.
  await output(programs.orrery, "partitions", "bench/c0", "--data", data);
  const all = Array.from({ length: writers }, (_, i) => write(i));
  await sleep(2000);
  phase = "during";
  const begun = performance.now();
  const answer = await split(server);
  const time_ms = performance.now() - begun;
  if (answer.status !== 200) throw new Error(`the split gave ${answer.status}: ${answer.text}`);
  await sleep(5000);
  over = true;
  await Promise.all(all);
  await server.stop();
  return {
    time_ms, pause_ms: answer.body.pauseMs, failed, creates: waits.during.length,
    longest_ms: Math.max(...waits.during), usual_ms: median(waits.before), longestBefore_ms: Math.max(...waits.before),
  };
}

export function split(server) {
  return server.rest("POST", "/admin/split", { body: { database: "bench", container: "c0" } });
}

export async function measure(settings) {
  const { programs, folder, quick } = settings;
  const rows = [];
  for (const [label, items] of quick ? [["10 MB", 10_000], ["100 MB", 100_000]] : [["10 MB", 10_000], ["1 GB", 1_000_000]]) {
    const data = `${folder}/split-${items}`;
    await output(programs.loader, "--data", data, "--items", String(items), "--sample", programs.sample);
    const one = await splitOnce(settings, data);
    rows.push([
      label, `${one.time_ms.toFixed(0)} ms`, `${one.pause_ms.toFixed(1)} ms`, `${one.usual_ms.toFixed(1)} ms`,
      `${one.longestBefore_ms.toFixed(0)} ms`, `**${one.longest_ms.toFixed(0)} ms**`,
      verdict(one.longest_ms < 100, "< 100 ms"), verdict(one.failed === 0, `${one.failed} of ${whole(one.creates)}`),
    ]);
  }
  return table([["partition of", "split takes", "pause", "create before (median)", "(longest)", "longest create during it", "target", "failed"], ...rows]);
}
