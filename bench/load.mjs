// Load by wrk: the streams of requests it sends, with the headers of the JavaScript SDK 4.4 and
// genuine signatures, and its runs. A signature is good for 15 minutes, so streams are made anew
// for every run.
import { readFileSync, writeFileSync } from "node:fs";
import net from "node:net";
import { fileURLToPath } from "node:url";

import { authorization } from "../tests/sdk/rest.mjs";
import { key, output } from "./server.mjs";

export const connections = 64;
export const threads = 2;
export const samplePath = fileURLToPath(new URL("sample_item.json", import.meta.url));
const idCharacters = 20;
const textCharacters = 434;
const logicalPartitions = 1000;

export const itemId = (number) => `item-${String(number).padStart(10, "0")}`;
export const partitionKey = (number) => `key-${String(number % logicalPartitions).padStart(4, "0")}`;

function head(method, path, { type, link }, pk, date, contentLength) {
  const agent = "Node.js/20.20.2 (linux; x64) azure-cosmos-js/4.4.1";
  const lines = [
    `${method} ${path} HTTP/1.1`,
    "x-ms-documentdb-responsecontinuationtokenlimitinkb: 1",
    "x-ms-documentdb-query-enablecrosspartition: true",
    "Cache-Control: no-cache",
    "x-ms-version: 2020-07-15",
    `User-Agent: ${agent}`,
    `x-ms-useragent: ${agent}`,
    "x-ms-cosmos-sdk-supportedcapabilities: 1",
    "x-ms-cosmos-allow-tentative-writes: true",
    `x-ms-documentdb-partitionkey: ["${pk}"]`,
    `x-ms-date: ${date}`,
    ...(contentLength ? ["Content-Type: application/json"] : []),
    "Accept: application/json",
    `authorization: ${authorization(key, method, { type, link }, date)}`,
    ...(contentLength ? [`Content-Length: ${contentLength}`] : []),
    "Host: 127.0.0.1:8081",
    "Connection: keep-alive",
  ];
  return lines.join("\r\n") + "\r\n\r\n";
}

function readRequest(number, containers, date) {
  const link = `dbs/bench/colls/c${number % containers}/docs/${itemId(number)}`;
  return head("GET", `/${link}`, { type: "docs", link }, partitionKey(number), date);
}

// Point reads of `count` of the items that load_items made, chosen evenly at random.
export function readRequests({ items, containers = 1, count = 10_000 }) {
  const date = new Date().toUTCString();
  const random = generator(items + containers);
  const wanted = Math.min(count, items);
  return Array.from({ length: wanted }, (_, i) =>
    readRequest(wanted === items ? i : Math.floor(random() * items), containers, date));
}

// One read in each container.
export function firstReads({ containers = 1 }) {
  const date = new Date().toUTCString();
  return Array.from({ length: containers }, (_, i) => readRequest(i, containers, date));
}

// Creates in every logical partition, spread over the containers: [before the id, after it].
export function createRequests({ containers = 1 }) {
  const date = new Date().toUTCString();
  const template = readFileSync(samplePath, "utf8").trimEnd();
  const random = generator(1);
  return Array.from({ length: Math.max(logicalPartitions, containers) }, (_, i) => {
    const text = Array.from({ length: textCharacters },
      () => "abcdefghijklmnopqrstuvwxyz0123456789"[Math.floor(random() * 36)]).join("");
    const body = template.replace("@pk", partitionKey(i)).replace("@text", text);
    const link = `dbs/bench/colls/c${i % containers}`;
    const length = Buffer.byteLength(body) - "@id".length + idCharacters;
    const whole = head("POST", `/${link}/docs`, { type: "docs", link }, partitionKey(i), date, length) + body;
    return whole.split("@id");
  });
}

// One run: {perSecond, p50_us, p99_us, cpu_us: of the server, a request; client_us: of wrk}. Throws if
// any request failed.
export async function run(daemon, script, requests, workFolder, { seconds, tag = "", connections: open = connections }) {
  const file = `${workFolder}/requests`;
  writeFileSync(file, requests.flat().map((text) => `${text}\0`).join(""));
  const before = daemon.cpu_us();
  // `times` tells what wrk used: its last line.
  const printed = await output("bash", "-c", '"$@"; times', "bash", "wrk", `-t${threads}`, `-c${open}`, `-d${seconds}s`, "--timeout", "30s",
    "-s", fileURLToPath(new URL(script, import.meta.url)), `http://127.0.0.1:${daemon.port}`, "--", file, tag);
  const cpu_us = daemon.cpu_us() - before;
  const lines = printed.trim().split("\n");
  const client_us = lines.at(-1).split(" ").map(clock_us).reduce((a, b) => a + b);
  const result = JSON.parse(lines.at(-3));
  if (result.requests === 0 || result.refused > 0 || result.broken > 0) {
    throw new Error(`${script}: of ${result.requests} requests ${result.refused} were refused and ` +
      `${result.broken} broken off`);
  }
  return {
    perSecond: result.requests / (result.us / 1e6),
    p50_us: result.p50_us,
    p99_us: result.p99_us,
    cpu_us: cpu_us / result.requests,
    client_us: client_us / result.requests,
  };
}

// 1m2.345s
function clock_us(text) {
  const [, minutes, seconds] = /^(\d+)m([\d.]+)s$/.exec(text);
  return (Number(minutes) * 60 + Number(seconds)) * 1e6;
}

// The whole answer to a request, as text of one character a byte.
export function answerTo(daemon, request) {
  return new Promise((resolve, reject) => {
    const socket = net.connect(daemon.port, "127.0.0.1", () => socket.write(request));
    let text = "";
    socket.setEncoding("latin1");
    socket.on("error", reject);
    socket.on("data", (part) => {
      text += part;
      const headEnd = text.indexOf("\r\n\r\n");
      if (headEnd < 0) return;
      const length = Number(/\r\ncontent-length: *(\d+)/i.exec(text)?.[1] ?? 0);
      if (text.length < headEnd + 4 + length) return;
      socket.destroy();
      resolve({ status: Number(text.slice(9, 12)), text, bodyBytes: length });
    });
  });
}

// Park and Miller's generator: the same choice in every run.
function generator(seed) {
  let state = (seed % 2147483646) + 1;
  return () => (state = (state * 48271) % 2147483647) / 2147483647;
}

let tags = 0;
// Four characters that no run of this process used before.
export const nextTag = () => (++tags).toString(36).padStart(4, "0");
