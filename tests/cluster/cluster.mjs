// A cluster of its own for a test: nodes over one volume, which is a directory that they share, or, with
// ORRERY_TEST_CEPH, a name space of that Ceph.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { freePort, start } from "../sdk/server.mjs";

// Every cluster names its own volume.
delete process.env.ORRERY_TEST_CEPH_VOLUME;
const certificates = fileURLToPath(new URL("../../tools/cluster_certificates.sh", import.meta.url));
const deposed = /another server has this volume now/;
// Reached only by what is stuck, on a busy machine too.
const within_ms = 120_000;

// `env` and `args` are for every node; `args` may be a function that gives those of one by its name. `nodes` has more
// options of server.mjs's start() for some: {n2: {env: …}}. With `network` (network.mjs) each node is in a name space of its
// own. `ceph` is the ceph.conf of another Ceph than the one that all tests share. `steady` is for tests in which no node
// fails: no lease ends because the machine was busy for some seconds. The first is started before the others and, being
// alone, is the coordinator.
export async function startCluster(names, options = {}) {
  const cluster = new Cluster(names, options);
  try {
    await cluster.add(names[0]);
    // All of them have come to an end, good or bad, before one that failed is told of.
    const added = await Promise.allSettled(names.slice(1).map((name) => cluster.add(name)));
    for (const { reason } of added) if (reason) throw reason;
    // From here on the coordinator gives all of them partitions.
    await until("the coordinator knows every node", async () => {
      const live = (await cluster.status()).members.filter((one) => one.state === "live").map((one) => one.name);
      return cluster.names.every((name) => live.includes(name));
    });
    return cluster;
  } catch (error) {
    // Nobody else has it: nodes that are left would run on, and the test's process with them.
    await cluster.abandon();
    throw error;
  }
}

// A container with partitions at every node.
export async function makeContainer(cluster, throughput = 40_000) {
  const client = cluster.nodes.get(cluster.names[0]).client();
  const { database } = await client.databases.createIfNotExists({ id: "db" });
  await database.containers.createIfNotExists({ id: "c", partitionKey: "/pk", throughput });
}

// Looks again and again until `look` gives something that is true, and returns that.
export async function until(what, look) {
  for (const end = Date.now() + within_ms; ;) {
    const found = await look();
    if (found) return found;
    assert.ok(Date.now() < end, `not within ${within_ms} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

class Cluster {
  constructor(names, { args = [], env = {}, nodes = {}, network, steady = false, ceph = process.env.ORRERY_TEST_CEPH } = {}) {
    this.args = args;
    this.network = network;
    this.env = steady ? { ...env, ORRERY_TEST_PATIENCE: "20" } : env;
    this.options = nodes;
    this.folder = mkdtempSync(join(tmpdir(), "orrery-cluster-"));
    this.volume = ceph
      ? ["--volume", `rados:orrery/${randomUUID()}`, "--ceph-conf", ceph]
      : ["--volume", `directory:${join(this.folder, "store")}`];
    this.nodes = new Map();
    this.ended = [];
    this.broken = [];
    for (const name of [...names, "spare"]) execFileSync(certificates, [this.folder, this.#host(name), name]);
  }

  // Where the other nodes reach it.
  #host(name) {
    return this.network?.names.includes(name) ? this.network.address("peers", name) : "127.0.0.1";
  }

  async add(name, more = {}) {
    const file = (suffix) => join(this.folder, `${name}.${suffix}`);
    const options = {
      env: this.env,
      args: [
        ...this.volume, "--node", name, "--node-address", `${this.#host(name)}:${await freePort()}`,
        ...(this.network ? ["--address", "0.0.0.0"] : []),
        "--cluster-ca", join(this.folder, "ca.pem"), "--cluster-cert", file("pem"), "--cluster-key", file("key"),
        ...(typeof this.args === "function" ? await this.args(name) : this.args),
      ],
      ...this.network?.options(name),
      ...this.options[name],
      ...more,
    };
    // A machine that is too busy to renew leases loses nodes; a service manager starts them again.
    for (let attempt = 1; ; ++attempt) {
      try {
        const node = await start(options);
        this.nodes.set(name, node);
        node.exited.then((end) => this.#ended(name, node, end));
        return node;
      } catch (error) {
        if (attempt === 5 || !deposed.test(error.message)) throw error;
      }
    }
  }

  // One that ends by itself is a node less; that others ended its lease is no defect, anything else is.
  #ended(name, node, { code, signal }) {
    if (node.process === undefined || this.nodes.get(name) !== node) return;
    node.process = undefined;
    this.nodes.delete(name);
    this.ended.push(node);
    if (!node.mayEnd && !deposed.test(node.log)) this.broken.push(`${name} ended (${code ?? signal})\n${node.log}`);
  }

  // What all nodes said, for a test that failed.
  get logs() {
    return [...this.nodes, ...this.ended.map((node) => ["ended", node])].map(([name, { log }]) => `--- ${name}\n${log}`).join("\n");
  }

  get names() {
    return [...this.nodes.keys()];
  }

  container(name, database = "db", container = "c") {
    return this.nodes.get(name).client().database(database).container(container);
  }

  // What a node knows of the cluster.
  async status(name = this.names[0]) {
    const node = this.nodes.get(name);
    const { code, out } = await node.command("cluster", "status", "--json", "--data", node.data, "--port", String(node.port));
    assert.equal(code, 0, out);
    return JSON.parse(out);
  }

  command(name, ...args) {
    const node = this.nodes.get(name);
    return node.command("cluster", ...args, "--data", node.data, "--port", String(node.port));
  }

  async coordinator() {
    return (await until("a coordinator", async () => {
      const status = await this.status();
      return status.coordinator && status;
    })).coordinator;
  }

  // [{id, node, …}] of a container's ranges.
  async partitions(database = "db", container = "c", name = this.names[0]) {
    const node = this.nodes.get(name);
    const reply = await node.rest()("GET", `/admin/partitions?database=${database}&container=${container}`);
    assert.equal(reply.status, 200, reply.text);
    return reply.body.partitions;
  }

  // Until every range is served by a node that is there.
  async settled(database = "db", container = "c") {
    return until("all partitions have a node", async () => {
      const all = await this.partitions(database, container);
      return all.every((one) => this.nodes.has(one.node)) && all;
    });
  }

  // Stops it in order.
  async remove(name) {
    const node = this.nodes.get(name);
    this.nodes.delete(name);
    await node.close();
  }

  // Stops it and starts it again on its data, with other options of server.mjs's start().
  async restart(name, changes) {
    const node = this.nodes.get(name);
    this.nodes.delete(name);  // its end is no surprise
    await node.restart(changes);
    this.nodes.set(name, node);
    node.exited.then((end) => this.#ended(name, node, end));
  }

  async kill(name) {
    const node = this.nodes.get(name);
    this.nodes.delete(name);
    this.ended.push(node);
    await node.kill();
  }

  // Stops a node as a hung machine would, with SIGSTOP. Not in the middle of a change of a directory that the nodes share:
  // it would keep that object's lock, and all others would wait for it. Ceph has no such locks.
  async freeze(name) {
    const { process } = this.nodes.get(name);
    await until(`${name} is stopped outside of a change`, () => {
      process.kill("SIGSTOP");
      // Sent, and soon done.
      while (!/^State:\s+T/m.test(readFileSync(`/proc/${process.pid}/status`, "utf8"))) ;
      if (!openFiles(process.pid).some((path) => path.includes("/store/.locks/"))) return true;
      process.kill("SIGCONT");
      return false;
    });
  }

  // Ends whatever is there, at once.
  async abandon() {
    const left = [...this.nodes.values(), ...this.ended];
    this.nodes.clear();
    await Promise.allSettled(left.map((node) => node.process && node.kill()));
    rmSync(this.folder, { recursive: true, force: true });
  }

  async close() {
    try {
      const left = [...this.nodes.values()];
      this.nodes.clear();  // their end is no surprise from here on
      const ends = await Promise.allSettled([...left, ...this.ended].map(async (node) => {
        node.process?.kill("SIGCONT");
        // One whose lease was ended just now ends by itself, with a failure.
        await node.close().catch((error) => {
          if (!deposed.test(node.log)) throw error;
        });
      }));
      for (const { reason } of ends) if (reason) throw reason;
      assert.deepEqual(this.broken, []);
    } finally {
      rmSync(this.folder, { recursive: true, force: true });
    }
  }
}

function openFiles(pid) {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).map((one) => {
    try {
      return readlinkSync(join(folder, one));
    } catch {
      return "";  // closed since
    }
  });
}
