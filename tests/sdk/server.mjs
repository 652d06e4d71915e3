// A server of its own for a test file: started on a free port in a fresh folder, stopped and removed
// afterwards, whatever happens to the test (setpriv makes the kernel end it if this process dies).
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import net from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { after, before } from "node:test";
import { fileURLToPath } from "node:url";

import { TestClock } from "./clock.mjs";
import { CosmosClient } from "./cosmos.mjs";
import { restOf } from "./rest.mjs";

export const program =
  process.env.ORRERY_PROGRAM ?? fileURLToPath(new URL("../../build/orrery", import.meta.url));

// The key that the vendor's emulator publishes; `serve --dev` uses it.
export const devKey =
  "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";

// Reached only by what is stuck, on a busy machine too.
const readyWithin_ms = 60_000;
const stoppedWithin_ms = 60_000;
const running = new Set();

process.on("exit", () => {
  for (const server of running) server.abandon();
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.once(signal, () => process.exit(1));
}

// { dev, limits: {name: value}, args: [...], env: {...}, data: FOLDER, descriptors: how many it may have,
//   clock: true for one that the test has in hand, as server.clock,
//   host: the address at which it is reached, through: a command that it and its commands are run by }
export async function start(options = {}) {
  const server = new Server(options);
  running.add(server);
  await server.launch();
  return server;
}

// Any test can run on a volume in Ceph: ORRERY_TEST_CEPH_VOLUME names a ceph.conf with a pool "orrery". Each data
// folder has a name space of its own there.
function volumeArguments(data) {
  const conf = process.env.ORRERY_TEST_CEPH_VOLUME;
  return conf ? ["--volume", `rados:orrery/${basename(data)}`, "--ceph-conf", conf] : [];
}

class Server {
  constructor({ dev = true, limits = {}, args = [], env = {}, data, descriptors, clock = false, host = "127.0.0.1", through = [] }) {
    this.dev = dev;
    this.limits = limits;
    this.args = args;
    this.env = env;
    this.data = data ?? mkdtempSync(join(tmpdir(), "orrery-test-"));
    this.descriptors = descriptors;
    this.host = host;
    this.through = through;
    if (clock) this.clock = new TestClock(`${this.data}.clock`);
    this.port = undefined;
    this.process = undefined;
    this.log = "";
    this.clients = [];
    this.agents = {
      http: new http.Agent({ keepAlive: true }),
      https: new https.Agent({ keepAlive: true, rejectUnauthorized: false }),
    };
  }

  get url() {
    return `http://${this.host}:${this.port}`;
  }

  get httpsUrl() {
    return `https://${this.host}:${this.port}`;
  }

  // {primary, secondary, primaryReadonly, secondaryReadonly}
  get keys() {
    if (this.dev) return { primary: devKey };
    return JSON.parse(readFileSync(join(this.data, "keys.json"), "utf8"));
  }

  get key() {
    return this.keys.primary;
  }

  // Another process may take a port between our looking and the server's binding: try again then.
  async launch() {
    for (let attempt = 1; ; ++attempt) {
      const fixed = this.port !== undefined;
      this.port ??= await freePort();
      const failure = await this.spawnOnce();
      if (failure === undefined) return;
      if (attempt === 5 || !/in use/i.test(failure)) throw new Error(failure);
      if (!fixed) this.port = undefined;
    }
  }

  commandLine() {
    const line = ["serve", "--data", this.data, "--port", String(this.port)];
    if (this.dev) line.push("--dev");
    for (const [name, value] of Object.entries(this.limits)) {
      line.push("--limit", `${name}=${value}`);
    }
    return [...line, ...volumeArguments(this.data), ...this.args];
  }

  // Undefined when the server is ready, otherwise what went wrong.
  spawnOnce() {
    this.log = "";
    const limited = this.descriptors ? ["prlimit", `--nofile=${this.descriptors}`] : [];
    const child = spawn("setpriv", ["--pdeathsig", "KILL", ...limited, ...this.through, program, ...this.commandLine()], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...this.env, ...this.clock?.environment },
    });
    this.process = child;
    this.exited = new Promise((resolve) => {
      child.once("error", (error) => resolve({ error }));
      // When all that it said has been read, too: tests look for its last words.
      child.once("close", (code, signal) => resolve({ code, signal }));
    });
    child.stderr.setEncoding("utf8");
    child.stderr.on("data", (text) => {
      this.log = (this.log + text).slice(-20_000);
    });
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        child.kill("SIGKILL");
        resolve(`the server was not ready within ${readyWithin_ms} ms\n${this.log}`);
      }, readyWithin_ms);
      const settle = (failure) => {
        clearTimeout(timer);
        resolve(failure);
      };
      createInterface({ input: child.stdout }).on("line", (line) => {
        if (/^orrery ready on http:\/\/\S+ and https:\/\/\S+$/.test(line)) settle(undefined);
      });
      this.exited.then(({ error, code, signal }) =>
        settle(`the server ended (${error?.message ?? code ?? signal}) at the start\n${this.log}`),
      );
    });
  }

  // The vendor's client. `over` is "http" or "https".
  client({ over = "http", key = this.key, connectionPolicy = {}, ...options } = {}) {
    const client = new CosmosClient({
      endpoint: over === "https" ? this.httpsUrl : this.url,
      key,
      // With an agent of one's own the client refuses plain http; its default one is fine there.
      ...(over === "https" ? { agent: this.agents.https } : {}),
      connectionPolicy: {
        enableBackgroundEndpointRefreshing: false, requestTimeout: 30_000, ...connectionPolicy,
      },
      ...options,
    });
    this.clients.push(client);
    return client;
  }

  // Requests by hand, signed: see rest.mjs.
  rest(options = {}) {
    return restOf(this, options);
  }

  // Merges two neighbours now.
  merge(container, ...ranges) {
    return this.command("merge", `${container.database.id}/${container.id}`, ...ranges.map(String), "--json", "--data",
      this.data, "--port", String(this.port));
  }

  // Splits now: `range` or, without one, every range of the container.
  split(container, ...range) {
    return this.command("split", `${container.database.id}/${container.id}`, ...range, "--data",
      this.data, "--port", String(this.port));
  }

  // Runs another orrery command to its end: {code, out}.
  command(...args) {
    return runProgram(args, { through: this.through });
  }

  // Waits for a line of the log: it comes by another pipe than the line that says ready, and later than
  // the answer that it is about.
  async logged(pattern) {
    for (const end = Date.now() + readyWithin_ms; !pattern.test(this.log) && Date.now() < end;) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    assert.match(this.log, pattern);
  }

  async stop() {
    this.dispose();
    if (!this.process) return;
    this.process.kill("SIGTERM");
    const timer = setTimeout(() => this.process.kill("SIGKILL"), stoppedWithin_ms);
    const { code, signal } = await this.exited;
    clearTimeout(timer);
    this.process = undefined;
    assert.deepEqual({ code, signal }, { code: 0, signal: null },
      `SIGTERM should end the server with 0\n${this.log}`);
  }

  // As a power cut would: no goodbye.
  async kill() {
    this.dispose();
    this.process.kill("SIGKILL");
    await this.exited;
    this.process = undefined;
  }

  // On the same data and port; { hard: true } kills it first instead of stopping it.
  async restart({ hard = false, ...changes } = {}) {
    if (this.process) await (hard ? this.kill() : this.stop());
    Object.assign(this, changes);
    await this.launch();
  }

  async close() {
    try {
      await this.stop();
    } finally {
      running.delete(this);
      this.clock?.remove();
      rmSync(this.data, { recursive: true, force: true });
    }
  }

  dispose() {
    for (const client of this.clients) client.dispose();
    this.clients = [];
    this.agents.http.destroy();
    this.agents.https.destroy();
  }

  // For the last moment of this process: synchronous.
  abandon() {
    this.process?.kill("SIGKILL");
    this.clock?.remove();
    rmSync(this.data, { recursive: true, force: true });
  }
}

export function runProgram(args, { timeout_ms = 60_000, env = {}, through = [] } = {}) {
  return new Promise((resolve) => {
    const [file, ...all] = [...through, program, ...args];
    // SIGKILL, since a server that should not have started ends with 0 when asked politely.
    execFile(file, all, { timeout: timeout_ms, killSignal: "SIGKILL", env: { ...process.env, ...env } }, (error, stdout, stderr) =>
      resolve({ code: error ? (error.code ?? error.signal) : 0, out: stdout + stderr }),
    );
  });
}

// None of those that the system gives to outgoing connections (from 32,768 on): one could take it before the server does.
export async function freePort() {
  for (let attempt = 0; attempt < 1_000; ++attempt) {
    const port = 12_000 + Math.floor(Math.random() * 12_000);
    if (await isFree(port)) return port;
  }
  throw new Error("no port is free");
}

function isFree(port) {
  return new Promise((resolve) => {
    const listener = net.createServer();
    listener.once("error", () => resolve(false));
    listener.listen(port, "127.0.0.1", () => listener.close(() => resolve(true)));
  });
}

// Inside describe(): one server, client and database for all of its tests.
export function shared(options = {}) {
  const at = {
    made: 0,
    // A container with a name of its own in the shared database.
    async container(definition = {}) {
      const { container } = await at.db.containers.create({
        id: `c${++at.made}`,
        partitionKey: { paths: ["/pk"], kind: "Hash", version: 2 },
        ...definition,
      });
      return container;
    },
  };
  before(async () => {
    at.server = await start(options);
    at.client = at.server.client(options.client);
    at.rest = at.server.rest();
    at.db = (await at.client.databases.create({ id: "db" })).database;
  });
  after(() => at.server?.close());
  return at;
}
