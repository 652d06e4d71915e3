// Durable creates against RocksDB alone, given the same keys and values.
import { rmSync } from "node:fs";

import { connections, createRequests, nextTag, run } from "./load.mjs";
import { lowToHigh, median, medians, ms, ratio, table, verdict, whole } from "./report.mjs";
import { output, startServer } from "./server.mjs";

export const title = "Durable creates of 1 KB";
export const about = `wrk, ${connections} connections, default indexing, acknowledged after the disk's sync, a ` +
  `fresh folder every round; 1,000 logical partitions. RocksDB alone (bench/raw_rocksdb.cc) writes the ` +
  `same keys and values, made beforehand, from ${connections} threads with sync on, and groups them itself.`;

export async function measure({ programs, folder, rounds, seconds, quick }) {
  const results = { server: [], raw: [] };
  let bytes = 0;
  for (let round = 0; round < rounds; ++round) {
    const data = `${folder}/creates`;
    await output(programs.loader, "--data", data, "--items", "0", "--sample", programs.sample);
    const server = await startServer(programs, data);
    await run(server, "create.lua", createRequests({}), folder, { seconds: 1, tag: nextTag() });
    results.server.push(await run(server, "create.lua", createRequests({}), folder, { seconds, tag: nextTag() }));
    await server.stop();
    rmSync(data, { recursive: true });

    const raw = JSON.parse(await output(programs.raw, "--dir", `${folder}/raw`, "--threads", String(connections),
      "--count", quick ? "60000" : "250000", "--seconds", String(seconds), "--sample", programs.sample));
    bytes = raw.bytes_per_write;
    results.raw.push({ perSecond: raw.per_second, p50_us: raw.p50_us, p99_us: raw.p99_us });
    rmSync(`${folder}/raw`, { recursive: true });
  }
  const [ours, raw] = [medians(results.server), medians(results.raw)];
  const each = results.server.map((one, i) => one.perSecond / results.raw[i].perSecond);
  const achieved = median(each);
  const row = (name, one) => [name, whole(one.perSecond), ms(one.p50_us), ms(one.p99_us)];
  return table([
    ["", "creates/s", "p50", "p99"],
    row("Orrery", ours),
    row("RocksDB alone", raw),
    [`ratio (rounds: ${lowToHigh(each, ratio)})`,
      verdict(achieved >= 0.5, `**${ratio(achieved)}**, target ≥ 0.5`), "", ""],
  ]) + `\n\nAn item and its index terms are ${bytes} bytes of keys and values; a create costs the server ` +
    `${Math.round(ours.cpu_us)} µs of CPU.`;
}
