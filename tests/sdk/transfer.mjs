// Running orrery import, export and copy from tests: to the end, or until something is seen.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";

import { program } from "./server.mjs";

const seenWithin_ms = 60_000;

// Inside describe(): a folder for files, removed afterwards.
export function workFolder() {
  const folder = mkdtempSync(join(tmpdir(), "orrery-transfer-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  return (name = "") => join(folder, name);
}

// Starts a command in `folder`. `ended` gives {code, signal, stdout, stderr, result}: result is what --json prints.
// `memory` is how many bytes of its own it may have. With `terminal` it has a terminal: all that it writes there is stdout.
export function begin(args, { input, env = {}, folder, memory, terminal = false } = {}) {
  const limited = memory ? ["prlimit", `--data=${memory}`] : [];
  const line = [...limited, program, ...args, "--json"];
  const quoted = () => line.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  const shown = terminal ? ["script", "--quiet", "--return", "--flush", "--command", quoted(), "/dev/null"] : line;
  const child = spawn("setpriv", ["--pdeathsig", "KILL", ...shown], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  const parts = { stdout: [], stderr: [] };
  for (const name of ["stdout", "stderr"]) child[name].on("data", (data) => parts[name].push(data));
  const text = (name) => Buffer.concat(parts[name]).toString("utf8");
  child.stdin?.on("error", () => {});
  if (input !== undefined && input !== null) child.stdin.end(input);
  const ended = new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve({
      code, signal, stdout: text("stdout"), stderr: text("stderr"), result: parse(text("stdout")) ?? parse(text("stderr")),
    }));
  });
  return {
    child,
    ended,
    kill: (signal = "SIGKILL") => child.kill(signal),
    // Waits until the command has written this to standard error, or to its terminal.
    said: (pattern) => seen(() => pattern.test(text(terminal ? "stdout" : "stderr")), () => `${pattern} in: ${text("stdout")}${text("stderr")}`),
  };
}

export const run = (args, options) => begin(args, options).ended;

// Waits until a checkpoint has at least this many records that are done.
export const reached = (file, records) => seen(() => {
  if (!existsSync(file)) return false;
  return JSON.parse(readFileSync(file, "utf8")).counts.read >= records;
}, () => `${records} records in ${file}`);

export async function seen(condition, what) {
  for (const end = Date.now() + seenWithin_ms; Date.now() < end;) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`not seen: ${what()}`);
}

function parse(text) {
  try {
    return JSON.parse(text.trim().split("\n").findLast((line) => line.startsWith("{")));
  } catch {
    return undefined;
  }
}

export const lines = (file) => readFileSync(file, "utf8").trim().split("\n").filter(Boolean).map((line) => JSON.parse(line));

const system = ["_rid", "_self", "_etag", "_ts", "_attachments", "_lsn"];
export const plain = (item) => Object.fromEntries(Object.entries(item).filter(([name]) => !system.includes(name)));

// All items of a container, without what the server adds, by id.
export async function itemsOf(container) {
  const { resources } = await container.items.readAll().fetchAll();
  return resources.map(plain).sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
}

export const byId = (items) => [...items].sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
