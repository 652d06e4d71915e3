// The Gremlin face for tests: a server that has it, graphs made through the Cosmos DB face, and clients in two versions.
import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import { after, before } from "node:test";

import { devKey, freePort, start } from "./server.mjs";

const require = createRequire(import.meta.url);
export const drivers = { "3.4": require("gremlin"), newest: require("gremlin-newest") };
export const v2 = "application/vnd.gremlin-v2.0+json";
export const v3 = "application/vnd.gremlin-v3.0+json";

export async function startGraphs({ args = [], ...rest } = {}) {
  for (let attempt = 1; ; ++attempt) {
    const port = await freePort();
    try {
      const server = await start({ ...rest, args: [...args, "--gremlin-port", String(port)] });
      server.gremlinUrl = `ws://127.0.0.1:${port}/gremlin`;
      server.secureGremlinUrl = `wss://127.0.0.1:${port}/gremlin`;
      return server;
    } catch (error) {
      if (attempt === 5 || !/in use/i.test(error.message)) throw error;
    }
  }
}

// A client of the graph /dbs/db/colls/NAME.
export function graphClient(server, name, { driver = drivers["3.4"], mimeType = v2, key = devKey } = {}) {
  return new driver.driver.Client(server.gremlinUrl, {
    traversalSource: "g", mimeType,
    authenticator: new driver.driver.auth.PlainTextSaslAuthenticator(`/dbs/db/colls/${name}`, key),
  });
}

// One server for the tests of a file, with graph(name, throughput) to make graphs partitioned by /pk.
export function sharedGraphs(options = {}) {
  const at = { clients: [] };
  before(async () => {
    at.server = await startGraphs(options);
    at.cosmos = at.server.client();
    at.database = (await at.cosmos.databases.create({ id: "db" })).database;
  });
  after(async () => {
    await Promise.all(at.clients.map((client) => client.close().catch(() => {})));
    await at.server?.stop();
  });
  at.graph = async (name, { offerThroughput = 100_000, ...more } = {}) => {
    await at.database.containers.createIfNotExists({ id: name, partitionKey: { paths: ["/pk"] } }, { offerThroughput });
    at.container = at.database.container(name);
    return at.client(name, more);
  };
  at.client = (name, more) => {
    const client = graphClient(at.server, name, more);
    at.clients.push(client);
    return client;
  };
  return at;
}

export const rows = async (client, text, bindings) => (await client.submit(text, bindings)).toArray();
// The error of a traversal, with the service's own code.
export async function refusal(client, text, bindings) {
  try {
    await client.submit(text, bindings);
  } catch (error) {
    const attributes = error.statusAttributes;
    const of = (name) => attributes instanceof Map ? attributes.get(name) : attributes?.[name];
    return { code: error.statusCode, serviceCode: of("x-ms-status-code"), message: error.message, of };
  }
  throw new Error(`not refused: ${text}`);
}

// The graph of six that the vendor's and everyone's documentation uses.
export async function makeModern(client) {
  const people = [["1", "marko", 29], ["2", "vadas", 27], ["4", "josh", 32], ["6", "peter", 35]];
  for (const [id, name, age] of people) await client.submit("g.addV('person').property('id', id0).property('pk', 'p').property('name', n).property('age', a)", { id0: id, n: name, a: age });
  for (const [id, name] of [["3", "lop"], ["5", "ripple"]]) await client.submit("g.addV('software').property('id', id0).property('pk', 'p').property('name', n).property('lang', 'java')", { id0: id, n: name });
  const edges = [["7", "1", "knows", "2", 0.5], ["8", "1", "knows", "4", 1], ["9", "1", "created", "3", 0.4], ["10", "4", "created", "5", 1], ["11", "4", "created", "3", 0.4], ["12", "6", "created", "3", 0.2]];
  for (const [id, from, label, to, weight] of edges) await client.submit("g.V(f).addE(l).to(g.V(t)).property('id', i).property('weight', w)", { f: from, l: label, t: to, i: id, w: weight });
}

// The protocol by hand, for what the drivers hide: each part as it came. Frames wait in the socket while it is paused.
const WebSocket = createRequire(require.resolve("gremlin"))("ws");
export class RawGraph {
  static async open(server, name, { mimeType = v2, key = devKey, url = server.gremlinUrl } = {}) {
    const raw = new RawGraph();
    Object.assign(raw, { mimeType, sasl: Buffer.from(`\0/dbs/db/colls/${name}\0${key}`).toString("base64"), waiting: new Map() });
    raw.socket = new WebSocket(url, { rejectUnauthorized: false });
    await new Promise((resolve, reject) => raw.socket.once("open", resolve).once("error", reject));
    raw.socket.on("message", (bytes) => raw.#take(JSON.parse(bytes)));
    return raw;
  }

  send(requestId, op, args, processor = "") {
    const body = JSON.stringify({ requestId, op, processor, args });
    this.socket.send(Buffer.concat([Buffer.from([this.mimeType.length]), Buffer.from(this.mimeType), Buffer.from(body)]));
  }

  // All parts of the answer. `onPart` is called with each as it comes.
  ask(gremlin, { args = {}, onPart = () => {} } = {}) {
    const requestId = randomUUID();
    return new Promise((resolve) => {
      this.waiting.set(requestId, { parts: [], resolve, onPart });
      this.send(requestId, "eval", { gremlin, language: "gremlin-groovy", ...args });
    });
  }

  #take(part) {
    const { requestId, status: { code } } = part;
    if (code === 407) return this.send(requestId, "authentication", { sasl: this.sasl }, "traversal");
    const asked = this.waiting.get(requestId);
    asked.parts.push(part);
    asked.onPart(part);
    if (code !== 206) this.waiting.delete(requestId), asked.resolve(asked.parts);
  }

  close() {
    this.socket.terminate();
  }
}
