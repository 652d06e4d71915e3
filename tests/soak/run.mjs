// A random load of everything at once, against a model that knows the right answer.
//
//   node tests/soak/run.mjs [MINUTES] [SEED] [WORKERS]
//
// Workers (worker.mjs) write, read, query, run procedures and follow change feeds; each owns its partition
// keys, so every answer can be checked (model.mjs). Meanwhile partitions are split, index rules changed,
// containers made and dropped, the disk filled (disturb.mjs). The server has many lives: each ends with
// kill -9 at a random moment or at a named fault point, or with an orderly stop; some are lived with few
// file descriptors. After each, everything that was acknowledged must be there, and nothing else.
//
// All choices come from the seed. With one worker they are made in the same order each time; with several,
// the machine decides who is first. The first violation ends it with 1 and tells what was done last.
import { readFileSync } from "node:fs";

import { freePort, start } from "../sdk/server.mjs";
import { partitionMap, pause, randomOf, Violation } from "../crash/load.mjs";
import { acts, faultPoints, rangesMax, smallDisk } from "./disturb.mjs";
import { Container, kinds } from "./model.mjs";
import { procedures, triggers, Worker } from "./worker.mjs";

const minutes = Number(process.argv[2] ?? 5);
const seed = Number(process.argv[3] ?? Date.now() % 1_000_000_000);
const workerCount = Number(process.argv[4] ?? 6);
const residentBytesMax = 1536 * 2 ** 20;
const diskBytes = 400 * 2 ** 20;
const fewDescriptors = 256;
const refusalsMax = 0.02;  // of all requests, while the disk has space

class Soak {
  constructor() {
    this.random = randomOf(seed);
    this.containers = [];
    this.made = 0;
    this.counts = new Map();
    this.requests = 0;
    this.refusals = 0;
    this.residentMax = 0;
    this.dead = false;
    this.diskIsFull = false;
    this.workers = Array.from({ length: workerCount }, (_, i) => new Worker(i, randomOf(seed + 1 + i), this));
  }

  async prepare() {
    this.disk = smallDisk(diskBytes);
    if (!this.disk) console.log("the full disk is left out: mounting a tmpfs needs root");
    this.server = await start({
      // Index rules that change meanwhile do not decide which orders there are.
      args: ["--queries", "permissive"],
      limits: { "physical-partition-bytes": "600K", "script-time-ms": 1000 }, ...(this.disk ? { data: `${this.disk.folder}/data` } : {}),
    });
    // Reached only by what is stuck, on a busy machine too.
    this.raw = this.server.rest({ within: 300_000 });
    await this.must(201, "POST", "/dbs", { id: "db" });
    for (const kind of Object.keys(kinds)) await this.addContainer(kind);
  }

  // --- what workers and acts use ------------------------------------------------------------------
  rest = async (method, path, options = {}) => {
    ++this.requests;
    return this.raw(method, path, options);
  };

  sdk() {
    this.client ??= this.server.client();
    return this.client;
  }

  isDead() {
    return this.dead;
  }

  count(what) {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  wait(ms) {
    return pause(ms);
  }

  // A request had no answer: fine if the server is dying as arranged, a violation otherwise.
  async death(error) {
    const died = await Promise.race([this.server.exited.then(() => true), pause(2000).then(() => false)]);
    if (!died) throw new Violation(`no answer from a server that lives: ${error.message}`);
    if (!this.dead && !this.point) throw new Violation("the server ended by itself");
    this.dead = true;
  }

  // 503 and its like: expected while the disk is full, and otherwise rare.
  refused(answer) {
    if (![503, 429, 408, 449].includes(answer.status)) return false;
    if (this.diskIsFull) {
      this.count("refused on a full disk");
    } else {
      this.count(`refused: ${answer.status} ${(answer.body?.message ?? "").slice(0, 60)}`);
      ++this.refusals;
    }
    return true;
  }

  async must(status, method, path, body) {
    const answer = await this.rest(method, path, { body });
    if (answer.status !== status) throw new Violation(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer;
  }

  // --- containers -----------------------------------------------------------------------------------
  async addContainer(kind) {
    const container = new Container(kind, ++this.made);
    await this.must(201, "POST", "/dbs/db/colls", container.definition());
    for (const [id, body] of Object.entries({ ...procedures, loop: "function () { for (;;); }" })) {
      await this.must(201, "POST", `${container.link}/sprocs`, { id, body });
    }
    for (const [id, body] of Object.entries(triggers)) {
      await this.must(201, "POST", `${container.link}/triggers`, { id, body, triggerType: "Post", triggerOperation: "Create" });
    }
    this.containers.push(container);
    for (const worker of this.workers) worker.adopt(container);
  }

  // Between lives: a container that was split often makes room for a new one.
  async renewContainers() {
    for (const container of [...this.containers]) {
      if ((await partitionMap(this.rest, container.id)).length <= rangesMax) continue;
      await this.must(204, "DELETE", container.link);
      this.containers = this.containers.filter((one) => one !== container);
      for (const worker of this.workers) worker.abandon(container);
      await this.addContainer(container.kind);
    }
  }

  async untilWritable(container) {
    const deadline = Date.now() + 60_000;
    for (;;) {
      if (this.dead) return;
      const key = container.paths.map(() => "probe");
      const body = Object.fromEntries([["id", "probe"], ["u", "probe"], ...container.paths.map((path) => [path, "probe"])]);
      let answer;
      try {
        answer = await this.rest("POST", `${container.link}/docs`, {
          headers: { "x-ms-documentdb-partitionkey": JSON.stringify(key), "x-ms-documentdb-is-upsert": "true" }, body,
        });
      } catch (error) {
        await this.death(error);
        return;
      }
      if (answer.status === 200 || answer.status === 201) return;
      if (Date.now() > deadline) throw new Violation(`${container.id} takes no writes a minute after the disk had space again: ${answer.text}`);
      await pause(100);
    }
  }

  // --- lives ------------------------------------------------------------------------------------------
  // A death on a full disk; the server starts and serves reads all the same.
  async killWhileFull() {
    this.fullAtStart = true;
    this.dead = true;
    await this.server.kill();
    this.count("killed on a full disk");
  }

  async life(until) {
    this.dead = false;
    this.client = undefined;
    const stop = { now: false };
    const working = Promise.all(this.workers.map((worker) => worker.run(() => stop.now || this.dead)));
    const disturbing = this.disturb(() => stop.now || this.dead);
    const watching = this.watch(() => stop.now || this.dead);
    const requests = this.random.between(300, 6000);
    const from = this.requests;
    const ended = async () => {
      while (!this.dead && this.requests < from + requests && Date.now() < until) await pause(20);
    };
    await Promise.race([ended(), Promise.all([working, disturbing, watching]).then(ended)]);
    if (this.dead) {
      this.count(this.point ? `killed at ${this.point}` : "killed while acting");
    } else if (this.random.below(4) === 0) {
      stop.now = true;
      await Promise.all([working, disturbing]);
      this.dead = true;
      await this.server.stop();
      this.count("stopped in order");
    } else {
      this.dead = true;
      await this.server.kill();
      this.count("killed");
    }
    await Promise.all([working, disturbing, watching]);
    this.server.dispose();
  }

  async disturb(stopped) {
    while (!stopped()) {
      await pause(this.random.between(20, 400));
      if (stopped()) return;
      const act = this.random.pick(["split", "split", "split", "reindex", "scratch", "hostile", "hostile", "looping", "rubbish", "fullDisk"]);
      let done;
      try {
        done = await acts[act](this);
      } catch (error) {
        if (error instanceof Violation || this.dead) {
          if (this.dead && !(error instanceof Violation)) return;
          throw error;
        }
        await this.death(error);
        return;
      }
      if (done) this.count(done);
    }
  }

  async watch(stopped) {
    while (!stopped()) {
      const bytes = residentBytes(this.server.process?.pid);
      this.residentMax = Math.max(this.residentMax, bytes);
      if (bytes > residentBytesMax) throw new Violation(`the server takes ${Math.round(bytes / 2 ** 20)} MB`);
      await pause(500);
    }
  }

  async startAgain() {
    this.point = undefined;
    this.server.env = {};
    this.server.descriptors = undefined;
    const kind = this.random.below(4);
    if (kind === 0) {
      this.point = this.random.pick(faultPoints);
      this.server.env = { ORRERY_FAULT: `${this.point}=kill@${this.random.between(1, 4)}` };
    } else if (kind === 1) {
      this.server.descriptors = fewDescriptors;
      this.count("lives with few descriptors");
    }
    this.server.process = undefined;
    try {
      await this.server.launch();
    } catch (error) {
      if (!/in use/.test(error.message)) throw new Violation(`no start: ${error.message}`);
      this.server.port = await freePort();
      await this.server.launch();
    }
  }

  async run() {
    await this.prepare();
    const until = Date.now() + minutes * 60_000;
    let told = Date.now();
    for (let lives = 1; Date.now() < until; ++lives) {
      await this.life(until);
      await this.startAgain();
      if (!this.point) await this.renewContainers();
      if (Date.now() - told > 60_000) {
        told = Date.now();
        console.log(`${Math.round((until - told) / 60_000)} minutes left: ${this.requests} requests, ${lives} lives, ${this.refusals} refused`);
      }
    }
    if (this.point) {
      await this.server.kill();
      this.point = undefined;
      this.server.env = {};
      await this.server.launch();
    }
    this.dead = false;
    for (const worker of this.workers) await worker.verify();
    if (this.refusals > this.requests * refusalsMax) throw new Violation(`${this.refusals} of ${this.requests} requests were refused`);
    await this.server.stop();
    const list = [...this.counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([what, count]) => `  ${what}: ${count}`).join("\n");
    return `${this.requests} requests, at most ${Math.round(this.residentMax / 2 ** 20)} MB resident; no violation\n${list}`;
  }
}

function residentBytes(pid) {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

const say = console.error;
console.error = () => {};  // the SDK tells at length of every connection that a kill ends
console.log(`seed ${seed}, ${minutes} minutes, ${workerCount} workers`);
const soak = new Soak();
let status = 0;
try {
  console.log(await soak.run());
} catch (error) {
  say(soak.server?.log);
  say(error instanceof Violation ? `VIOLATION: ${error.message}` : error);
  say(`Again with: ./dev soak ${minutes} ${seed} ${workerCount}`);
  status = 1;
}
soak.server?.abandon();
soak.disk?.remove();
process.exit(status);
