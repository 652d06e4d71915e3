// A PostgreSQL of our own: in a folder, on a socket in it, with nothing listening on the network.
// It ends with this process. PostgreSQL refuses to run as root, so then it runs as `postgres`.
import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";

import { output, sleep } from "./server.mjs";

const versions = "/usr/lib/postgresql";

function programs() {
  const newest = readdirSync(versions).sort((a, b) => Number(b) - Number(a))[0];
  return `${versions}/${newest}/bin`;
}

const asUser = process.getuid() === 0 ? ["--reuid", "postgres", "--regid", "postgres", "--init-groups"] : [];

// What a person who knows it would set on this machine, and nothing durable: only reads are measured.
const settings = {
  listen_addresses: "''", fsync: "off", shared_buffers: "4GB", effective_cache_size: "12GB", work_mem: "64MB",
  maintenance_work_mem: "1GB", random_page_cost: "1.1", max_parallel_workers_per_gather: "2", jit: "off",
  max_wal_size: "8GB", log_min_messages: "error",
};

export class Postgres {
  // `others`: settings that take the place of these.
  static async start(folder, others = {}) {
    const postgres = new Postgres(folder, others.port ?? "5432");
    mkdirSync(folder, { recursive: true });
    if (asUser.length > 0) await output("chown", "postgres:postgres", folder);
    // The folders above it belong to the one who runs the benchmarks.
    for (let up = folder; up !== "/tmp" && up !== "/"; up = up.slice(0, up.lastIndexOf("/")) || "/") {
      try { chmodSync(up, up === folder ? 0o700 : 0o755); } catch { break; }
    }
    await postgres.#run("initdb", "-D", `${folder}/data`, "-U", "postgres", "--auth=trust", "-E", "UTF8", "--locale=C");
    const flags = Object.entries({ ...settings, ...others }).flatMap(([name, value]) => ["-c", `${name}=${value.replaceAll("'", "")}`]);
    postgres.child = spawn("setpriv", ["--pdeathsig", "KILL", ...asUser, `${postgres.bin}/postgres`,
      "-D", `${folder}/data`, "-k", folder, ...flags], { stdio: "ignore" });
    for (let i = 0; i < 100; ++i) {
      await sleep(100);
      if (await postgres.sql("SELECT 1").catch(() => null)) return postgres;
    }
    throw new Error("PostgreSQL did not start");
  }

  constructor(folder, port) {
    this.folder = folder;
    this.port = port;
    this.bin = programs();
  }

  #run(program, ...args) {
    return output("setpriv", ...(asUser.length > 0 ? asUser : ["--no-new-privs"]), `${this.bin}/${program}`, ...args);
  }

  sql(text, database = "postgres") {
    return this.#run("psql", "-h", this.folder, "-p", this.port, "-U", "postgres", "-d", database, "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", text);
  }

  // Fills a table with one JSON document a line of what `command` prints.
  async load(table, command) {
    const copy = `COPY ${table}(doc) FROM PROGRAM '${command}' WITH (FORMAT csv, QUOTE e'\\x01', DELIMITER e'\\x02')`;
    await this.sql(copy);
  }

  // One statement again and again by `clients`, each with a value of its own: {perSecond, mean_us}.
  async run(statement, values, { clients, seconds }) {
    const script = `${this.folder}/script.sql`;
    writeFileSync(script, `\\set v random(0, ${values - 1})\n${statement};\n`, { mode: 0o644 });
    const printed = await this.#run("pgbench", "-h", this.folder, "-p", this.port, "-U", "postgres", "-n", "-M", "prepared",
      "-c", String(clients), "-j", "2", "-T", String(seconds), "-f", script, "postgres");
    return {
      perSecond: Number(/tps = ([\d.]+)/.exec(printed)[1]),
      mean_us: Number(/latency average = ([\d.]+) ms/.exec(printed)[1]) * 1000,
    };
  }

  stop() {
    return new Promise((resolve) => {
      this.child.once("exit", resolve);
      this.child.kill("SIGINT");
    });
  }
}
