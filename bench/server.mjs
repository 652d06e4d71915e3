// The processes that are measured: started in a fresh folder under the work folder, on a free port,
// and watched through /proc. They end with this process, however it ends (setpriv).
import { execFile, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import http from "node:http";
import net from "node:net";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

import { restOf } from "../tests/sdk/rest.mjs";

// The key that the vendor's emulator publishes; `serve --dev` uses it.
export const key =
  "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";

const running = new Set();
process.on("exit", () => running.forEach((child) => child.kill("SIGKILL")));
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => process.exit(1));

export class Daemon {
  constructor(child, port) {
    this.child = child;
    this.port = port;
    this.agents = { http: new http.Agent({ keepAlive: true }) };
    this.key = key;
    this.rest = restOf(this);
  }

  // User and system time so far.
  cpu_us() {
    const fields = readFileSync(`/proc/${this.child.pid}/stat`, "utf8").split(") ")[1].split(" ");
    return (Number(fields[11]) + Number(fields[12])) * 10_000;
  }

  resident_mb() {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${this.child.pid}/status`, "utf8"))[1]) / 1024;
  }

  stop() {
    this.agents.http.destroy();
    return new Promise((resolve) => {
      this.child.once("exit", resolve);
      this.child.kill("SIGTERM");
    });
  }
}

// Starts a program and resolves when it prints a line that has `ready` in it.
export function launch(program, args, ready, port) {
  // The program takes setpriv's place, so its process id is the child's.
  const child = spawn("setpriv", ["--pdeathsig", "KILL", program, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  let log = "";
  child.stderr.on("data", (text) => (log = (log + text).slice(-10_000)));
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (line.includes(ready)) resolve(new Daemon(child, port));
    });
    child.once("exit", (code, signal) => {
      running.delete(child);
      const failure = `${program} ended (${code ?? signal})\n${log}`;
      // Until it is ready somebody waits for it; afterwards nobody does, so it is said here.
      reject(new Error(failure));
      if (code !== 0 && signal !== "SIGTERM") process.stderr.write(failure);
    });
  });
}

// Budgets so large that they never matter: what they cost to keep is measured all the same.
export const plentiful = [
  "--limit", "partition-throughput=1000000000", "--limit", "initial-partition-throughput=1000000000",
  "--limit", "container-throughput-max=1000000000",
];

export function serveArgs(data, port) {
  return ["serve", "--data", data, "--port", String(port), "--dev", "--log-level", "warn", "--queries", "permissive",
    "--limit", "database-containers=5000", ...plentiful];
}

export async function startServer(programs, data, ...flags) {
  const port = await freePort();
  return launch(programs.orrery, [...serveArgs(data, port), ...flags], "orrery ready", port);
}

// `reply` as the responder's arguments: ["--reply-bytes", N] or ["--reply-file", FILE].
export async function startResponder(programs, reply) {
  const port = await freePort();
  return launch(programs.responder, ["--port", String(port), "--threads", "2", ...reply], "ready", port);
}

// The vendor's emulator of Table storage, from npm, installed into `folder`.
export async function startAzurite(folder) {
  await output("npm", "install", "--prefix", folder, "--no-audit", "--no-fund", "--no-save", "--silent", "azurite@3.35.0");
  const port = await freePort();
  return launch("node", [`${folder}/node_modules/azurite/dist/src/table/main.js`, "--location", folder,
    "--tableHost", "127.0.0.1", "--tablePort", String(port), "--silent", "--disableTelemetry"], "successfully started", port);
}

export function freePort() {
  return new Promise((resolve, reject) => {
    const listener = net.createServer();
    listener.once("error", reject);
    listener.listen(0, "127.0.0.1", () => {
      const { port } = listener.address();
      listener.close(() => resolve(port));
    });
  });
}

// Runs a program to its end and gives what it printed.
export async function output(program, ...args) {
  const { stdout } = await promisify(execFile)(program, args, { maxBuffer: 1 << 20 });
  return stdout;
}

// Fails when the promise is not settled in time. `what()` says what was waited for.
export function within(promise, seconds, what) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${seconds} s for ${what()}`)), seconds * 1000);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
