// ./dev bench: runs the benchmarks on this machine and writes bench/RESULTS.md.
//
//   node bench/run.mjs [--quick] [--rounds N] [--seconds N] [--work DIR] [--largest N] [--loaded DIR]
//                      [--record] [NAME…]
//
// --loaded names a folder of data that `load_items` made before, as growth.mjs calls it (grown-ITEMS-CONTAINERS).
// --largest leaves out sizes of more than N items, which take long to load; an import has at most N.
// With names, only those run and the results are only printed, or, with --record, take the place of
// theirs in bench/RESULTS.md.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import * as changes from "./changes.mjs";
import * as cluster from "./cluster.mjs";
import * as manage from "./containers.mjs";
import * as creates from "./durable_creates.mjs";
import * as direct from "./direct.mjs";
import * as gremlin from "./gremlin.mjs";
import { containers, items } from "./growth.mjs";
import * as imports from "./import.mjs";
import * as reads from "./point_reads.mjs";
import * as mongo from "./mongo.mjs";
import * as queries from "./queries.mjs";
import { commit, machine } from "./report.mjs";
import * as scripts from "./scripts.mjs";
import * as splits from "./splits.mjs";
import * as start from "./start_up.mjs";
import * as tables from "./table.mjs";
import { samplePath } from "./load.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const benchmarks = { reads, creates, items, containers, start, splits, manage, queries, changes, scripts, import: imports, table: tables, gremlin, mongo, direct, cluster };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    rounds: { type: "string" },
    seconds: { type: "string" },
    work: { type: "string", default: tmpdir() },
    largest: { type: "string", default: "Infinity" },
    loaded: { type: "string" },
    record: { type: "boolean", default: false },
  },
});
const unknown = positionals.find((name) => !(name in benchmarks));
if (unknown) {
  process.stderr.write(`No benchmark '${unknown}'; there is: ${Object.keys(benchmarks).join(" ")}\n`);
  process.exit(2);
}
const chosen = positionals.length > 0 ? positionals : Object.keys(benchmarks);
const build = process.env.ORRERY_BUILD ?? join(root, "build");
const workFolder = mkdtempSync(join(values.work, "orrery-bench-"));
process.on("exit", () => rmSync(workFolder, { recursive: true, force: true }));
const settings = {
  programs: {
    orrery: `${build}/orrery`,
    responder: `${build}/bench/epoll_responder`,
    raw: `${build}/bench/raw_rocksdb`,
    walker: `${build}/bench/raw_walk`,
    loader: `${build}/bench/load_items`,
    directLoad: `${build}/bench/direct_load`,
    mongoLoad: `${build}/bench/mongo_load`,
    gremlinLoad: `${build}/bench/gremlin_load`,
    sample: samplePath,
    querySample: join(root, "bench/query_item.json"),
  },
  quick: values.quick,
  largest: Number(values.largest),
  loaded: values.loaded,
  rounds: Number(values.rounds ?? (values.quick ? 3 : 5)),
  seconds: Number(values.seconds ?? (values.quick ? 3 : 10)),
};

const measured = commit(root);  // a commit made while this runs is not what it measures
const line = machine(workFolder);
const sections = [];
for (const name of chosen) {
  const { title, about, measure } = benchmarks[name];
  process.stderr.write(`${title} …\n`);
  const folder = mkdtempSync(join(workFolder, `${name}-`));
  const text = await measure({ ...settings, folder });
  rmSync(folder, { recursive: true, force: true });
  const when = new Date().toISOString().slice(0, 16).replace("T", " ");
  const how = `${settings.rounds} rounds of ${settings.seconds} s, ${when} UTC, commit ${measured}`;
  sections.push(`## ${title}\n${about}\n\n    ./dev bench ${name}\n\n${text}\n\nMeasured: ${how}.\n`);
  process.stdout.write(`\n${sections.at(-1)}\n`);
}

const results = join(root, "bench/RESULTS.md");
if (positionals.length === 0) {
  writeFileSync(results, `# Results
Written by \`./dev bench\` on this machine: ${line}.
Everything runs on it at once, the clients too, so ratios say more than figures do. Medians; what is compared takes
turns. Each section says when it was measured.

${sections.join("\n")}`);
} else if (values.record) {
  const before = readFileSync(results, "utf8").split(/^(?=## )/m);
  for (const section of sections) {
    const head = section.slice(0, section.indexOf("\n") + 1);
    const at = before.findIndex((one) => one.startsWith(head));
    if (at < 0) before.push(section);
    else before[at] = section;
  }
  writeFileSync(results, before.map((one) => `${one.trimEnd()}\n`).join("\n"));
}
