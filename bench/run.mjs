// ./dev bench: runs the benchmarks on this machine and writes bench/RESULTS.md.
//
//   node bench/run.mjs [--quick] [--rounds N] [--seconds N] [--work DIR] [NAME…]
//
// With names, only those run and the results are only printed.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import * as changes from "./changes.mjs";
import * as manage from "./containers.mjs";
import * as creates from "./durable_creates.mjs";
import { containers, items } from "./growth.mjs";
import * as reads from "./point_reads.mjs";
import * as queries from "./queries.mjs";
import { commit, machine } from "./report.mjs";
import * as scripts from "./scripts.mjs";
import * as splits from "./splits.mjs";
import * as start from "./start_up.mjs";
import { samplePath } from "./load.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const benchmarks = { reads, creates, items, containers, start, splits, manage, queries, changes, scripts };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    rounds: { type: "string" },
    seconds: { type: "string" },
    work: { type: "string", default: tmpdir() },
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
    sample: samplePath,
    querySample: join(root, "bench/query_item.json"),
  },
  quick: values.quick,
  rounds: Number(values.rounds ?? (values.quick ? 3 : 5)),
  seconds: Number(values.seconds ?? (values.quick ? 3 : 10)),
};

const begun = new Date();
const measured = commit(root);  // a commit made while this runs is not what it measures
const line = machine(workFolder);
const sections = [];
for (const name of chosen) {
  const { title, about, measure } = benchmarks[name];
  process.stderr.write(`${title} …\n`);
  const folder = mkdtempSync(join(workFolder, `${name}-`));
  const text = await measure({ ...settings, folder });
  rmSync(folder, { recursive: true, force: true });
  sections.push(`## ${title}\n${about}\n\n    ./dev bench ${name}\n\n${text}\n`);
  process.stdout.write(`\n${sections.at(-1)}\n`);
}

if (positionals.length === 0) {
  const command = ["./dev bench", ...process.argv.slice(2)].join(" ");
  writeFileSync(join(root, "bench/RESULTS.md"), `# Results
Written by \`${command}\` on ${begun.toISOString().slice(0, 16).replace("T", " ")} UTC at commit ${measured}.

Machine: ${line}. Everything runs on it at once, the clients too, so ratios say more than figures do.
Medians of ${settings.rounds} rounds of ${settings.seconds} s; what is compared takes turns.

${sections.join("\n")}`);
  process.stderr.write("Written to bench/RESULTS.md.\n");
}
