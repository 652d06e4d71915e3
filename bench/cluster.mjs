// Clusters of one to three nodes over a Ceph on this machine, against what it stands on: librados itself, the same server on a local
// volume, and the same request without a hop; and how long it stands still when nodes die and partitions move.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import os from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { startCluster, until } from "../tests/cluster/cluster.mjs";
import { keyHeader } from "../tests/sdk/rest.mjs";
import { start } from "../tests/sdk/server.mjs";
import { connections, createRequests, itemId, nextTag, partitionKey, readRequests, run, samplePath } from "./load.mjs";
import { ms, ratio, table, whole } from "./report.mjs";
import { output, plentiful } from "./server.mjs";

export const title = "Several nodes over Ceph";
export const about = `A Ceph of one monitor and three OSDs, three nodes and wrk with ${connections} connections share this machine's ` +
  `cores, so every figure is one of a machine that has too much to do, and more nodes cannot be faster here; the ratios are of one ` +
  `run. librados: reads are \`rados bench\`'s, of objects of 1 KB, ${connections} at a time; writes are appends of 1 KB to ${connections} logs, one ` +
  `under way for each (bench/rados_appends.cc). A node puts many creates into one append. One partition, or one at each node, default indexing, items of 1 KB; the nodes answer point reads ` +
  `from memory. A stand-still is the longest wait of any of 8 writers.`;

const items = 1000;
const three = ["n1", "n2", "n3"];
const appends = fileURLToPath(new URL("../build/bench/rados_appends", import.meta.url));
const ceph = fileURLToPath(new URL("../tools/ceph.sh", import.meta.url));
const template = readFileSync(samplePath, "utf8").trimEnd().replace("@text", "x".repeat(434));

function librados(conf, seconds) {
  const bench = (...args) => {
    const printed = execFileSync("rados", ["--conf", conf, "-p", "orrery", "bench", String(seconds), ...args],
      { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    const figure = (name) => Number(new RegExp(`^${name}:\\s+([\\d.]+)`, "m").exec(printed)[1]);
    return { perSecond: figure("Average IOPS"), mean_us: figure("Average Latency\\(s\\)") * 1e6 };
  };
  bench("write", "-b", "1024", "-t", String(connections), "--no-cleanup");  // what is read
  const reads = bench("rand", "-t", String(connections));
  const writes = JSON.parse(execFileSync(appends, [conf, String(seconds), String(connections)], { encoding: "utf8" }));
  return { writes, reads };
}

async function create(rest, number, id = itemId(number), container = "c0") {
  const pk = partitionKey(number);
  return rest("POST", `/dbs/bench/colls/${container}/docs`, { headers: keyHeader(pk), body: template.replace("@id", id).replace("@pk", pk) });
}

// Items by turns in so many containers, of one partition each.
async function fill(server, containers = 1) {
  const rest = server.rest();
  await rest("POST", "/dbs", { body: { id: "bench" } });
  for (let i = 0; i < containers; ++i) {
    await rest("POST", "/dbs/bench/colls", {
      body: { id: `c${i}`, partitionKey: { paths: ["/pk"], kind: "Hash", version: 2 } }, headers: { "x-ms-offer-throughput": "1000000000" },
    });
  }
  // The first wait until the partition is open, on a busy machine for long.
  for (let first = 0; first < items; first += 50) {
    await Promise.all(Array.from({ length: 50 }, (_, i) => until("an item is there", async () =>
      [201, 409].includes((await create(rest, first + i, itemId(first + i), `c${(first + i) % containers}`)).status))));
  }
}

// Of requests that this node takes.
async function load(node, folder, seconds) {
  const daemon = { port: node.port, cpu_us: () => 0 };
  await run(daemon, "replay.lua", readRequests({ items }), folder, { seconds: 1 });
  const reads = await run(daemon, "replay.lua", readRequests({ items }), folder, { seconds });
  const creates = await run(daemon, "create.lua", createRequests({}), folder, { seconds, tag: nextTag() });
  return { reads, creates };
}

// All nodes at once, each asked for what it has: a container at each of them.
async function scaleOut(cluster, folder, seconds) {
  const names = cluster.names;
  await fill(cluster.nodes.get(names[0]), names.length);
  for (const [i, name] of names.entries()) {
    const at = async () => (await cluster.partitions("bench", `c${i}`))[0];
    await cluster.command(names[0], "move", `bench/c${i}`, String((await at()).id), name);
    await until(`${name} has its container`, async () => (await at()).node === name);
  }
  const sum = async (script, requests) => {
    const all = await Promise.all(names.map((name, i) => {
      const own = join(folder, name);
      mkdirSync(own, { recursive: true });
      const mine = requests.filter((one) => [one].flat()[0].includes(`/colls/c${i}/`));
      return run({ port: cluster.nodes.get(name).port, cpu_us: () => 0 }, script, mine, own,
        { seconds, tag: nextTag(), connections: Math.ceil(connections / names.length) });
    }));
    return { perSecond: all.reduce((total, one) => total + one.perSecond, 0), p50_us: Math.max(...all.map((one) => one.p50_us)) };
  };
  const containers = names.length;
  await sum("replay.lua", readRequests({ items, containers }));
  return { reads: await sum("replay.lua", readRequests({ items, containers })), creates: await sum("create.lua", createRequests({ containers })) };
}

// The longest wait of writers through these nodes while something is done, and what that gave.
async function standstill(cluster, names, what) {
  let over = false;
  let longest_ms = 0;
  let failed = 0;
  const tag = nextTag();
  const writers = Array.from({ length: 8 }, async (_, w) => {
    for (let i = 0; !over; ++i) {
      const begun = performance.now();
      const rest = cluster.nodes.get(names[w % names.length]).rest();
      // One write is one create, however often it is asked for until it is answered.
      for (let answer; ![201, 409].includes(answer?.status);) {
        answer = await create(rest, i * 8 + w, `still-${tag}-${w}-${i}`).catch(() => undefined);
        if (![201, 409].includes(answer?.status)) ++failed;
      }
      longest_ms = Math.max(longest_ms, performance.now() - begun);
    }
  });
  await new Promise((resolve) => setTimeout(resolve, 1000));
  longest_ms = 0;
  const given = await what();
  await new Promise((resolve) => setTimeout(resolve, 1000));
  over = true;
  await Promise.all(writers);
  return { longest_ms, failed, given };
}

async function owner(cluster) {
  return until("an owner", async () => {
    const [one] = await cluster.partitions("bench", "c0");
    return cluster.nodes.has(one.node) && one;
  });
}

async function faults(cluster) {
  const rows = [];
  const { node: first, id } = await owner(cluster);
  const second = three.find((name) => name !== first);
  const moved = await standstill(cluster, three, async () => {
    await cluster.command(first, "move", "bench/c0", String(id), second);
    await until("it is moved", async () => (await owner(cluster)).node === second);
  });
  rows.push(["a partition is moved", ms(moved.longest_ms * 1000), String(moved.failed)]);
  const coordinator = await cluster.coordinator();
  const split = await standstill(cluster, three, () => output(fileURLToPath(new URL("../build/orrery", import.meta.url)), "split", "bench/c0",
    String(id), "--data", cluster.nodes.get(coordinator).data, "--port", String(cluster.nodes.get(coordinator).port)));
  rows.push(["a partition is split", ms(split.longest_ms * 1000), String(split.failed)]);
  const victim = (await owner(cluster)).node;
  const left = three.filter((name) => name !== victim);
  const killed = await standstill(cluster, left, async () => {
    await cluster.kill(victim);
    await until("all is served elsewhere", async () =>
      (await cluster.partitions("bench", "c0", left[0])).every((one) => left.includes(one.node)));
  });
  rows.push([`an owner is killed (kill -9)${victim === coordinator ? ", the coordinator" : ""}`, ms(killed.longest_ms * 1000), String(killed.failed)]);
  return rows;
}

export async function measure({ folder, seconds: asked }) {
  const seconds = Math.min(asked, 5);
  const busy = os.loadavg()[0].toFixed(1);  // before any of this runs
  try {
    execFileSync("ceph-mon", ["--version"], { stdio: "ignore" });
  } catch {
    return "Not measured: Ceph is not installed here (apt-get install ceph-mon ceph-mgr ceph-osd ceph-common).";
  }
  const lab = join(folder, "ceph");
  execFileSync(ceph, ["up", lab], { stdio: "ignore" });
  process.on("exit", () => {
    if (existsSync(lab)) execFileSync(ceph, ["down", lab], { stdio: "ignore" });
  });
  try {
    const conf = join(lab, "ceph.conf");
    const raw = librados(conf, seconds);
    const options = { args: plentiful, ceph: conf };
    const alone = await start({ args: plentiful });
    await fill(alone);
    const local = await load(alone, folder, seconds);
    await alone.close();
    const one = await startCluster(["n1"], options);
    await fill(one.nodes.get("n1"));
    const single = await load(one.nodes.get("n1"), folder, seconds);
    await one.close();
    const two = await startCluster(["n1", "n2"], options);
    const spreadOverTwo = await scaleOut(two, folder, seconds);
    await two.close();
    const cluster = await startCluster(three, options);
    const spreadOverThree = await scaleOut(cluster, folder, seconds);
    await fill(cluster.nodes.get("n1"));  // all of them in the first
    const at = (await owner(cluster)).node;
    const direct = await load(cluster.nodes.get(at), folder, seconds);
    const forwarded = await load(cluster.nodes.get(three.find((name) => name !== at)), folder, seconds);
    const rows = await faults(cluster);
    await cluster.close();
    const row = (name, reads, creates) => [name, whole(reads.perSecond), ms(reads.p50_us ?? reads.mean_us), ratio(reads.perSecond / raw.reads.perSecond),
      ratio(reads.perSecond / local.reads.perSecond), whole(creates.perSecond), ms(creates.p50_us ?? creates.mean_us),
      ratio(creates.perSecond / raw.writes.perSecond), ratio(creates.perSecond / local.creates.perSecond)];
    return table([
      ["", "reads/s", "p50", "to librados", "to local", "creates/s", "p50", "to librados", "to local"],
      row("librados alone: reads, appends (mean, not p50)", raw.reads, raw.writes),
      row("one server, local volume", local.reads, local.creates),
      row("1 node over Ceph", single.reads, single.creates),
      row("2 nodes, each asked for what it has", spreadOverTwo.reads, spreadOverTwo.creates),
      row("3 nodes, each asked for what it has", spreadOverThree.reads, spreadOverThree.creates),
      row("3 nodes, asked at the owner", direct.reads, direct.creates),
      row("3 nodes, asked at another", forwarded.reads, forwarded.creates),
    ]) + `\n\nForwarded to direct: reads ${ratio(forwarded.reads.perSecond / direct.reads.perSecond)}, creates ` +
      `${ratio(forwarded.creates.perSecond / direct.creates.perSecond)}.\n\n` + table([["", "stand-still", "answers that were to be repeated"], ...rows]) +
      `\n\nOne run, whatever the rounds below. Load average before it: ${busy}.`;
  } finally {
    execFileSync(ceph, ["down", lab], { stdio: "ignore" });
  }
}
