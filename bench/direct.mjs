// Point reads over RNTBD, the protocol of direct mode, against the same reads over https, taking turns.
import { writeFileSync } from "node:fs";

import { authorization } from "../tests/sdk/rest.mjs";
import { frame, requestBytes, resources, operations, contextFrame } from "../tests/sdk/rntbd.mjs";
import { itemId, partitionKey, readRequests } from "./load.mjs";
import { lowToHigh, medians, ratio, table, verdict, whole } from "./report.mjs";
import { freePort, key, output, startServer } from "./server.mjs";

const underWay = 32;

export const title = "Point reads in direct mode";
export const about = "bench/direct_load.cc, one thread, over TLS, every request signed and checked; 10,000 items of 1 KB in " +
  `one container; ${underWay} requests under way. Over https each has a connection of its own; over RNTBD the same, and ` +
  "two connections with 16 requests each, as clients do. CPU is what a request costs the server, and the load.";

const target = 1;

export async function measure({ programs, folder, rounds, seconds }) {
  const items = 10_000;
  await output(programs.loader, "--data", `${folder}/reads`, "--items", String(items), "--sample", programs.sample);
  const directPort = await freePort();
  const server = await startServer(programs, `${folder}/reads`, "--direct-port", String(directPort));
  const path = await replicaPath(server);
  const sides = [
    { name: "https, 32 connections", protocol: "http", port: server.port, connections: underWay, depth: 1 },
    { name: "RNTBD, 32 connections", protocol: "rntbd", port: directPort, connections: underWay, depth: 1 },
    { name: "RNTBD, 2 connections", protocol: "rntbd", port: directPort, connections: 2, depth: underWay / 2 },
  ];
  for (const side of sides) side.results = [];
  for (let round = 0; round <= rounds; ++round) {
    for (const side of sides) {
      // The first round only warms up.
      const result = await load(programs, server, folder, side, { items, path, seconds: round === 0 ? 1 : seconds });
      if (round > 0) side.results.push(result);
    }
  }
  await server.stop();
  for (const side of sides) side.median = medians(side.results);
  const http = sides[0];
  return table([
    ["", "requests/s", "CPU µs", "of the load", "RNTBD / https", "by the server's CPU", "rounds"],
    ...sides.map((side) => {
      const one = side.median;
      const each = side.results.map((result, i) => result.perSecond / http.results[i].perSecond);
      const part = one.perSecond / http.median.perSecond;
      return [side.name, whole(one.perSecond), one.cpu_us.toFixed(1), one.client_us.toFixed(1),
        ...(side === http ? ["", "", ""] : [verdict(part >= target, `**${ratio(part)}**, target ≥ ${target}`),
          ratio(http.median.cpu_us / one.cpu_us), lowToHigh(each, ratio)])];
    }),
  ]);
}

async function load(programs, server, folder, side, { items, path, seconds }) {
  const requests = side.protocol === "http"
    ? readRequests({ items }).map((text) => Buffer.from(text))
    : [contextFrame(), ...readFrames(items, path)];
  const file = `${folder}/requests`;
  writeFileSync(file, Buffer.concat(requests.flatMap((bytes) => {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(bytes.length);
    return [length, bytes];
  })));
  const before = server.cpu_us();
  const printed = await output("bash", "-c", '"$@"; times', "bash", programs.directLoad, side.protocol, String(side.port),
    String(seconds), String(side.connections), String(side.depth), file);
  const cpu_us = server.cpu_us() - before;
  const lines = printed.trim().split("\n");
  const result = JSON.parse(lines[0]);
  if (result.requests === 0 || result.refused > 0) throw new Error(`${result.refused} of ${result.requests} were refused`);
  const client_us = lines.at(-1).split(" ").map((text) => {
    const [, minutes, spent] = /^(\d+)m([\d.]+)s$/.exec(text);
    return (Number(minutes) * 60 + Number(spent)) * 1e6;
  }).reduce((a, b) => a + b);
  return { perSecond: result.requests / (result.us / 1e6), cpu_us: cpu_us / result.requests,
    client_us: client_us / result.requests };
}

// Of the container's first range, as the gateway tells it.
async function replicaPath(server) {
  const { body: { _self, _rid } } = await server.rest("GET", "/dbs/bench/colls/c0");
  const date = new Date().toUTCString();
  const { body } = await server.rest("GET", `/addresses/?$resolveFor=${encodeURIComponent(`${_self}docs`)}`, { headers: {
    "x-ms-date": date, authorization: authorization(key, "GET", { type: "docs", link: _rid.toLowerCase() }, date) } });
  return body.Addresss[1].physcialUri.replace(/^rntbd:\/\/[^/]+/, "").replace(/\/$/, "");
}

// As Java's client sends them.
function readFrames(items, path) {
  const date = new Date().toUTCString();
  return Array.from({ length: items }, (_, number) => {
    const link = `dbs/bench/colls/c0/docs/${itemId(number)}`;
    return frame(resources.item, operations.read, requestBytes({
      authorization: authorization(key, "GET", { type: "docs", link }, date), payloadPresent: 0, date, sessionToken: "0:-1#1",
      replicaPath: path, database: "bench", container: "c0", item: itemId(number), key: `["${partitionKey(number)}"]`,
      transportId: number,
    }));
  });
}
