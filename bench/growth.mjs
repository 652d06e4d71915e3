// Whether reads and creates keep their speed as items and containers grow in number.
import { existsSync } from "node:fs";

import { answerTo, createRequests, firstReads, nextTag, readRequests, run } from "./load.mjs";
import { lowToHigh, medians, ratio, table, whole } from "./report.mjs";
import { output, startServer } from "./server.mjs";

async function grow({ programs, folder, loaded, rounds, seconds }, sizes) {
  for (const size of sizes) {
    size.data = `${loaded}/${size.name}`;
    if (loaded && existsSync(size.data)) continue;
    size.data = `${folder}/${size.name}`;
    await output(programs.loader, "--data", size.data, "--items", String(size.items),
      "--containers", String(size.containers), "--sample", programs.sample);
  }
  for (let round = 0; round < rounds; ++round) {
    for (const size of sizes) {
      const server = await startServer(programs, size.data);
      // Partitions open on first use, and caches fill: not what is asked here.
      for (const request of firstReads(size)) await answerTo(server, request);
      const count = 50_000;
      await run(server, "replay.lua", readRequests({ ...size, count }), folder, { seconds: Math.max(3, seconds) });
      size.reads.push(await run(server, "replay.lua", readRequests({ ...size, count }), folder, { seconds }));
      await run(server, "create.lua", createRequests(size), folder, { seconds: 1, tag: nextTag() });
      size.creates.push(await run(server, "create.lua", createRequests(size), folder, { seconds, tag: nextTag() }));
      await server.stop();
    }
  }
  const first = sizes[0];
  const part = (size, kind) => medians(size[kind]).perSecond / medians(first[kind]).perSecond;
  return table([
    ["", "reads/s", "of the first", "CPU µs", "creates/s", "of the first", "CPU µs"],
    ...sizes.map((size) => [
      size.label,
      `${whole(medians(size.reads).perSecond)} (${lowToHigh(size.reads.map((one) => one.perSecond), whole)})`,
      ratio(part(size, "reads")), medians(size.reads).cpu_us.toFixed(1),
      `${whole(medians(size.creates).perSecond)} (${lowToHigh(size.creates.map((one) => one.perSecond), whole)})`,
      ratio(part(size, "creates")), medians(size.creates).cpu_us.toFixed(1),
    ]),
  ]);
}

const size = (label, items, containers) => ({
  label, items, containers, name: `grown-${items}-${containers}`, reads: [], creates: [],
});

export const items = {
  title: "Growth with the number of items",
  about: "One container in one partition, loaded in-process; 50,000 reads chosen at random over all items, " +
    "in turn, after as many to warm up. Medians, and the slowest and the fastest round.",
  measure: (settings) => grow(settings, (settings.quick ? [10_000, 100_000] : [10_000, 100_000, 1_000_000, 5_000_000])
    .filter((count) => count <= settings.largest).map((count) => size(`${whole(count)} items`, count, 1))),
};

export const containers = {
  title: "Growth with the number of containers",
  about: "10,000 items spread over all containers, and the load as well. Each container is a partition with a " +
    "log of its own: creates that go to different ones cannot share a sync of the disk.",
  measure: (settings) => grow(settings, (settings.quick ? [1, 10, 100] : [1, 10, 100, 1_000])
    .map((count) => size(`${whole(count)} containers`, 10_000, count))),
};
