// From the start of the process to its first answer, and what it uses when idle.
import { spawn } from "node:child_process";
import { rmSync } from "node:fs";

import { median, table, verdict } from "./report.mjs";
import { Daemon, freePort, output, serveArgs, sleep } from "./server.mjs";

export const title = "Start and idle";
export const about = "From spawning the process to the first 200 of a signed GET of the account, asked for again " +
  "and again. Idle: after 10 s without a request, CPU over those 10 s. With 500 containers each has an item.";

const idle_ms = 10_000;

// Starts and asks until answered: [ms, server].
async function startAndAsk(programs, data) {
  const port = await freePort();
  const begun = performance.now();
  const child = spawn("setpriv", ["--pdeathsig", "KILL", programs.orrery, ...serveArgs(data, port)],
    { stdio: ["ignore", "ignore", "inherit"] });
  const server = new Daemon(child, port);
  while ((await server.rest("GET", "/").catch(() => undefined))?.status !== 200) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`);
    await sleep(1);
  }
  return [performance.now() - begun, server];
}

export async function measure({ programs, folder, rounds }) {
  const cases = [
    { label: "empty folder", target_ms: 100, times: [] },
    { label: "500 containers", target_ms: 500, times: [], data: `${folder}/start-500` },
  ];
  await output(programs.loader, "--data", cases[1].data, "--items", "500", "--containers", "500",
    "--sample", programs.sample);
  for (let round = 0; round < rounds; ++round) {
    for (const one of cases) {
      const data = one.data ?? `${folder}/start-empty`;
      const [time_ms, server] = await startAndAsk(programs, data);
      one.times.push(time_ms);
      if (round === rounds - 1) {
        one.started_mb = server.resident_mb();
        const before = server.cpu_us();
        await sleep(idle_ms);
        one.idlePart = (server.cpu_us() - before) / (idle_ms * 1000);
        one.idle_mb = server.resident_mb();
      }
      await server.stop();
      if (!one.data) rmSync(data, { recursive: true });
    }
  }
  return table([
    ["", "first answer", "target", "memory at start", "idle memory", "target", "idle CPU"],
    ...cases.map((one) => [
      one.label, `**${median(one.times).toFixed(0)} ms**`,
      verdict(median(one.times) < one.target_ms, `< ${one.target_ms} ms`), `${one.started_mb.toFixed(0)} MB`,
      `**${one.idle_mb.toFixed(0)} MB**`, verdict(one.idle_mb < 64, "< 64 MB"),
      `${(one.idlePart * 100).toFixed(2)} %`,
    ]),
  ]);
}
