// The Gremlin face over a graph whose size is a setting, beside Gremlin Server (in memory) and JanusGraph with
// BerkeleyDB (durable), which Maven fetches (gremlin_peers.mjs). A peer that cannot be had is said so, and left out.
//
//   ORRERY_BENCH_VERTICES (100,000) and ORRERY_BENCH_EDGES (ten for each vertex)
//
// JanusGraph is compared in writes alone, and takes in some hundred edges a second: it is loaded with a tenth of the graph.
// npm's client loads the graph. It takes as much of the machine as a fast server does: gremlin_load.cc sends what is measured.
import { rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";

import { startGremlinServer, startJanusGraph } from "./gremlin_peers.mjs";
import { lowToHigh, median, medians, ms, ratio, table, verdict, whole } from "./report.mjs";
import { freePort, key, output, startServer, within } from "./server.mjs";

const gremlin = createRequire(fileURLToPath(new URL("../tests/sdk/x.js", import.meta.url)))("gremlin");

const vertices = Number(process.env.ORRERY_BENCH_VERTICES ?? 100_000);
const edges = Number(process.env.ORRERY_BENCH_EDGES ?? 10 * vertices);
const popular = Math.min(1000, Math.floor(edges / 20));  // edges that end at one vertex
const janusShare = 10;
const sockets = 8;
const callers = 32;
const messages = 20_000;  // that are made for each run of a kind; they are sent again and again
const partitionKeys = 1000;
const readsTarget = 1;
const writesTarget = 5;

export const title = "The Gremlin face";
export const about = `${whole(vertices)} vertices and ${whole(edges)} edges; bench/gremlin_load.cc, one thread, ${callers} requests under way ` +
  `(${sockets} for the last two) on ${sockets} sockets, as npm's gremlin 3.4 sends them but without compression: texts with ` +
  `bindings. A vertex has a name and an age, an edge a weight; ends are random, and ${whole(popular)} edges end at one vertex. Gremlin Server 3.4 keeps everything in memory and stores nothing; JanusGraph with ` +
  "BerkeleyDB is durable, as Orrery is, is compared in writes, and has a tenth of the graph. All take turns, after a round that warms them up.";

const built = fileURLToPath(new URL("../build/bench/gremlin_load", import.meta.url));
const patience_s = 120;
const warmUp_s = 10;

// A number that is the same for the same seed, whoever is measured.
function numbers(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor(state / 2 ** 32 * below);
  };
}

// How an id is given and found. JanusGraph over BerkeleyDB makes its ids itself: there it is a property with an index.
const dialects = {
  service: { id: "'id'", at: (name) => `V(${name})` },
  native: { id: "T.id", at: (name) => `V(${name})` },
  indexed: { id: "'code'", at: (name) => `V().has('code', ${name})` },
};

// Ids of one run are not those of another over the same graph. The load puts digits in the place of `fresh`, others each time.
const run = Date.now().toString(36);
const fresh = "~".repeat(16);
const requestId = "#".repeat(36);
let tags = 0;
const kinds = [
  { name: "addV", writes: true, text: ({ id }) => `g.addV('person').property(${id}, i).property('pk', p).property('name', n).property('age', a)`,
    bindings: (random) => ({ i: `new${run}-${fresh}`, p: `p${random(partitionKeys)}`, n: `new${fresh}`, a: random(90) }) },
  // Of a label of their own: the hops below walk the same graph everywhere, however many were added.
  { name: "addE", writes: true, text: ({ at }) => `g.${at("f")}.addE('met').to(__.${at("t")}).property('weight', w)`,
    bindings: (random, count) => ({ f: `v${random(count)}`, t: `v${random(count)}`, w: random(100) / 100 }) },
  { name: "has() lookup", text: () => "g.V().has('name', n).values('age')", bindings: (random) => ({ n: `name${random(vertices)}` }) },
  { name: "two hops", text: ({ at }) => `g.${at("i")}.out('knows').out('knows').count()`, bindings: (random) => ({ i: `v${random(vertices)}` }) },
  { name: "repeat to depth 4", text: ({ at }) => `g.${at("i")}.repeat(out('knows').dedup()).times(4).count()`, few: true, bindings: (random) => ({ i: `v${random(vertices)}` }) },
  { name: "in() of a popular vertex", text: ({ at }) => `g.${at("i")}.in('knows').count()`, few: true, bindings: () => ({ i: "v0" }) },
];

// For the load: after its length. Texts and numbers are in GraphSON what they are in JSON.
function message(mime, request) {
  const body = JSON.stringify({ requestId: { "@type": "g:UUID", "@value": requestId }, ...request });
  const bytes = Buffer.from(`0000${String.fromCharCode(mime.length)}${mime}${body}`);
  bytes.writeUInt32LE(bytes.length - 4);
  return bytes;
}

// `program` is the load's, `folder` is where its files are.
export class Clients {
  constructor(name, url, dialect, { user, share = 1, loaders = callers, program = built, folder = tmpdir() } = {}) {
    this.name = name;
    this.user = user;
    this.port = new URL(url).port;
    this.mime = user ? "application/vnd.gremlin-v2.0+json" : "application/vnd.gremlin-v3.0+json";
    this.program = program;
    this.folder = folder;
    this.dialect = dialects[dialect];
    this.vertices = vertices / share;
    this.edges = edges / share;
    this.loaders = loaders;
    this.all = Array.from({ length: sockets }, () => new gremlin.driver.Client(url, {
      traversalSource: "g", mimeType: this.mime,
      ...(user ? { authenticator: new gremlin.driver.auth.PlainTextSaslAuthenticator(user, key) } : {}),
    }));
  }

  submit(caller, text, bindings) {
    return within(this.all[caller % sockets].submit(text, bindings), patience_s, () => `${this.name} to answer ${text.slice(0, 100)}`);
  }

  close() {
    return within(Promise.all(this.all.map((client) => client.close())), patience_s, () => `${this.name} to close its sockets`);
  }

  // Some elements a request: the graph is loaded by the protocol, everywhere alike. `turn` runs before each request.
  async load(turn = async () => {}) {
    const random = numbers(1);
    const { vertices, edges } = this;
    const { id, at } = this.dialect;
    const together = 50;
    const batches = function* () {
      for (let from = 0; from < vertices; from += together) {
        const bindings = {};
        let text = "g";
        for (let i = from; i < Math.min(vertices, from + together); ++i) {
          Object.assign(bindings, { [`i${i - from}`]: `v${i}`, [`n${i - from}`]: `name${i}`, [`a${i - from}`]: random(90), [`p${i - from}`]: `p${i % partitionKeys}` });
          text += `.addV('person').property(${id}, i${i - from}).property('pk', p${i - from}).property('name', n${i - from}).property('age', a${i - from})`;
        }
        yield [text, bindings];
      }
    };
    await this.#work(batches(), turn);
    const links = function* () {
      for (let from = 0; from < edges; from += together) {
        const bindings = {};
        let text = "g.inject(0)";
        for (let i = from; i < Math.min(edges, from + together); ++i) {
          const n = i - from;
          Object.assign(bindings, { [`f${n}`]: `v${random(vertices)}`, [`t${n}`]: i < popular ? "v0" : `v${random(vertices)}`, [`w${n}`]: random(100) / 100 });
          text += `.sideEffect(__.${at(`f${n}`)}.addE('knows').to(__.${at(`t${n}`)}).property('weight', w${n}))`;
        }
        yield [text, bindings];
      }
    };
    await this.#work(links(), turn);
  }

  async #work(requests, turn) {
    await Promise.all(Array.from({ length: this.loaders }, async (_, caller) => {
      for (const [text, bindings] of requests) {
        await turn();
        await this.submit(caller, text, bindings);
      }
    }));
  }

  // For so many seconds: how many a second, and how long one took. Fails when Orrery refuses a request, or a peer one in a thousand.
  async measure(kind, seconds, seed) {
    const text = kind.text(this.dialect);
    const random = numbers(seed * 1000);
    const files = [this.#file("messages", Array.from({ length: messages }, () => this.#eval(text, kind.bindings(random, this.vertices)))),
      ...(this.user ? [this.#file("login", [this.#login()])] : [])];
    try {
      // Gremlin Server refuses some requests at times, for the same reason as it is loaded by one caller.
      const told = await output(this.program, this.port, String(seconds), String(sockets), String(kind.few ? 1 : callers / sockets),
        String(++tags), ...files).catch((error) => this.user || !error.stdout ? Promise.reject(error) : error.stdout);
      const { requests, refused, us, p50_us } = JSON.parse(told);
      if (refused > requests / 1000) throw new Error(`${this.name} refused ${refused} of ${requests}: ${text}`);
      return { perSecond: (requests - refused) / (us / 1e6), p50_us };
    } finally {
      for (const file of files) rmSync(file);
    }
  }

  #file(what, list) {
    const path = `${this.folder}/gremlin-${process.pid}-${this.name}-${what}`;
    writeFileSync(path, Buffer.concat(list));
    return path;
  }

  // These two are as npm's client sends them.
  #eval(gremlin, bindings) {
    return message(this.mime, { op: "eval", processor: "", args: { gremlin, aliases: { g: "g" }, bindings, language: "gremlin-groovy", accept: this.mime } });
  }

  #login() {
    const sasl = Buffer.from(`\0${this.user}\0${key}`).toString("base64");
    return message(this.mime, { op: "authentication", processor: "traversal", args: { saslMechanism: "PLAIN", sasl } });
  }
}

export async function startOrrery(programs, folder) {
  const port = await freePort();
  const server = await startServer(programs, `${folder}/data`, "--gremlin-port", String(port));
  await server.rest("POST", "/dbs", { body: { id: "db" } });
  const made = await server.rest("POST", "/dbs/db/colls", { headers: { "x-ms-offer-throughput": "1000000" },
    body: { id: "graph", partitionKey: { paths: ["/pk"], kind: "Hash", version: 2 } } });
  if (made.status !== 201 && made.status !== 409) throw new Error(made.text);
  return { clients: new Clients("Orrery", `ws://127.0.0.1:${port}/gremlin`, "service", { user: "/dbs/db/colls/graph", program: programs.gremlinLoad, folder }), stop: () => server.stop(), server };
}

export async function startPeers(folder, programs = {}) {
  const sides = {};
  const missing = [];
  // Gremlin Server's graph in memory is not made for many threads: the edges of one vertex, added by several at once, cannot be read afterwards.
  for (const [name, start, dialect, share, loaders] of [["gremlinServer", startGremlinServer, "native", 1, 1],
    ["janusGraph", startJanusGraph, "indexed", janusShare, callers]]) {
    try {
      const peer = await start(`${folder}/${name}`);
      sides[name] = { clients: new Clients(name, peer.url, dialect, { share, loaders, program: programs.gremlinLoad, folder }), stop: () => peer.stop() };
    } catch (error) {
      missing.push(`${name}: ${error.message.split("\n")[0]}`);
    }
  }
  return { sides, missing };
}

export async function load({ clients }, turn) {
  const start = performance.now();
  await clients.load(turn);
  return (clients.vertices + clients.edges) * 1000 / (performance.now() - start);
}

// JanusGraph is asked to write only.
export async function compare(sides, rounds, seconds, only) {
  const results = kinds.map(() => Object.fromEntries(Object.keys(sides).map((name) => [name, []])));
  for (let round = 0; round <= rounds; ++round) {
    for (const [i, kind] of kinds.entries()) {
      for (const [name, side] of Object.entries(sides)) {
        if ((name === "janusGraph" && !kind.writes) || (only && !only.includes(kind.name))) continue;
        // The first round only warms up: compilers and caches.
        const one = await side.clients.measure(kind, round > 0 ? seconds : Math.max(seconds, warmUp_s), round * 10 + i);
        if (round > 0) results[i][name].push(one);
      }
    }
  }
  return results;
}

export async function measure({ programs, folder, rounds, seconds }) {
  const ours = await startOrrery(programs, folder);
  const { sides: peers, missing } = await startPeers(folder, programs);
  const sides = { ours, ...peers };
  const loaded = {};
  for (const [name, side] of Object.entries(sides)) loaded[name] = await load(side);
  const results = await compare(sides, rounds, seconds);
  for (const side of Object.values(sides)) {
    await side.clients.close();
    await within(side.stop(), patience_s, () => `${side.clients.name} to stop`);
  }
  return report(results, loaded, missing);
}

export function report(results, loaded, missing) {
  const shown = (i, name, target) => {
    if (!results[i][name]?.length) return ["", ""];
    const parts = results[i].ours.map((one, at) => one.perSecond / results[i][name][at].perSecond);
    const text = `**${ratio(median(parts))}** (${lowToHigh(parts, ratio)})`;
    return [whole(medians(results[i][name]).perSecond), target ? verdict(median(parts) >= target, `${text}, target ≥ ${target}`) : text];
  };
  const rows = kinds.map((kind, i) => [kind.name, whole(medians(results[i].ours).perSecond), ms(medians(results[i].ours).p50_us),
    ...shown(i, "gremlinServer", kind.writes ? undefined : readsTarget), ...shown(i, "janusGraph", kind.writes ? writesTarget : undefined)]);
  const loads = Object.entries(loaded).map(([name, perSecond]) => `${name} ${whole(perSecond)}`).join(", ");
  return [table([["", "Orrery/s", "p50", "Gremlin Server/s", "ratio", "JanusGraph/s", "ratio"], ...rows]),
    `Elements a second while loading: ${loads}.`, ...missing.map((one) => `Not run: ${one}.`)].join("\n\n");
}
