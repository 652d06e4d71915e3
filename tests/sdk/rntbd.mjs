// Direct mode by hand: a connection that speaks RNTBD over TLS, for what the SDKs of this language do not have.
// src/api/cosmos/direct/frame.h has the frames.
import { randomUUID } from "node:crypto";
import tls from "node:tls";

import { authorization } from "./rest.mjs";

export const resources = { database: 0x01, container: 0x02, item: 0x03, procedure: 0x07 };
export const operations = {
  create: 0x01, patch: 0x02, read: 0x03, readFeed: 0x04, delete: 0x05, replace: 0x06, execute: 0x08, query: 0x0f,
  head: 0x11, headFeed: 0x12, upsert: 0x13, batch: 0x25,
};
// Tokens by name: [id, type].
const requestTokens = {
  authorization: [0x01, 8], payloadPresent: [0x02, 0], date: [0x03, 7], pageSize: [0x04, 2], sessionToken: [0x05, 8],
  continuation: [0x06, 8], match: [0x08, 8], consistency: [0x10, 0], replicaPath: [0x13, 8], database: [0x15, 8],
  container: [0x16, 8], item: [0x17, 8], procedure: [0x1b, 8], key: [0x2b, 8], range: [0x2c, 8], aIm: [0x3f, 8],
  queryMetrics: [0x42, 0], targetLsn: [0x4b, 5], transportId: [0x4d, 2], batchAtomic: [0x73, 0],
  continueOnError: [0x74, 0], returnPreference: [0x82, 0],
};
const responseTokens = {
  0x00: "payloadPresent", 0x03: "continuation", 0x04: "etag", 0x0c: "retryAfterMs", 0x13: "lsn", 0x14: "itemCount",
  0x15: "charge", 0x17: "ownerFullName", 0x18: "ownerId", 0x1a: "quorumAckedLsn", 0x1c: "substatus",
  0x1f: "replicaSetSize", 0x21: "range", 0x28: "queryMetrics", 0x29: "globalCommittedLsn", 0x30: "readRegions",
  0x35: "transportId", 0x3e: "sessionToken",
};

function token([id, type], value) {
  const head = Buffer.from([id & 0xff, id >> 8, type]);
  const number = (size, write) => {
    const bytes = Buffer.alloc(size);
    bytes[write](value);
    return Buffer.concat([head, bytes]);
  };
  if (type === 0) return number(1, "writeUInt8");
  if (type === 2) return number(4, "writeUInt32LE");
  if (type === 5) {
    value = BigInt(value);
    return number(8, "writeBigInt64LE");
  }
  const text = Buffer.from(value);
  const length = type === 7 ? Buffer.from([text.length]) : Buffer.from([text.length & 0xff, text.length >> 8]);
  return Buffer.concat([head, length, text]);
}

export function frame(resource, operation, tokens, payload) {
  const head = Buffer.alloc(24);
  const all = Buffer.concat([head, ...tokens]);
  all.writeUInt32LE(all.length, 0);
  all.writeUInt16LE(resource, 4);
  all.writeUInt16LE(operation, 6);
  Buffer.from(randomUUID().replaceAll("-", ""), "hex").copy(all, 8);
  if (payload === undefined) return all;
  const length = Buffer.alloc(4);
  length.writeUInt32LE(payload.length);
  return Buffer.concat([all, length, payload]);
}

// The first frame of a connection.
export const contextFrame = () =>
  frame(0, 0, [token([0, 2], 1), token([1, 7], "2020-07-15"), token([2, 7], "orrery-test")]);

// {token name: value} of a request.
export const requestBytes = (tokens) =>
  Object.entries(tokens).map(([name, value]) => token(requestTokens[name], value));

// {token name: value} of an answer. What has no name here is skipped by its type.
function decode(bytes) {
  const tokens = {};
  const fixed = { 0: 1, 1: 2, 2: 4, 3: 4, 4: 8, 5: 8, 6: 16, 13: 4, 14: 8 };
  for (let at = 0; at < bytes.length;) {
    const id = bytes.readUInt16LE(at);
    const type = bytes[at + 2];
    at += 3;
    let size = fixed[type];
    if (size === undefined) {
      size = type === 7 || type === 10 ? bytes[at] : bytes.readUInt16LE(at);
      at += type === 7 || type === 10 ? 1 : 2;
    }
    const value = bytes.subarray(at, at + size);
    at += size;
    tokens[responseTokens[id] ?? id] = {
      0: () => value[0], 2: () => value.readUInt32LE(), 5: () => Number(value.readBigInt64LE()),
      14: () => value.readDoubleLE(),
    }[type]?.() ?? value.toString();
  }
  return tokens;
}

// A connection whose context was exchanged. Requests may be sent together.
export class DirectConnection {
  static async open(port, { context = true } = {}) {
    const connection = new DirectConnection();
    connection.socket = tls.connect({ host: "127.0.0.1", port, rejectUnauthorized: false });
    connection.received = Buffer.alloc(0);
    connection.waiting = new Map();
    connection.lastId = 0;
    connection.closed = new Promise((resolve) => connection.socket.once("close", resolve));
    connection.socket.on("error", () => {});
    connection.socket.on("data", (bytes) => connection.take(bytes));
    connection.closed.then(() => {
      for (const { reject } of connection.waiting.values()) reject(new Error("the connection was closed"));
    });
    await new Promise((resolve, reject) => {
      connection.socket.once("secureConnect", resolve);
      connection.socket.once("error", reject);
    });
    if (context) connection.context = await connection.exchangeContext();
    return connection;
  }

  exchangeContext() {
    this.socket.write(contextFrame());
    return this.answer("context");
  }

  answer(id) {
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }

  // `what`: [resource, operation]. `signed`: {verb, type, link}, as over HTTP; without it, the token `authorization`. `body` is
  // an object, or a text or bytes as they are.
  send([resource, operation], tokens, { key, signed, body } = {}) {
    const date = new Date().toUTCString();
    const id = ++this.lastId;
    const all = { payloadPresent: body === undefined ? 0 : 1, date, transportId: id, replicaPath: "/", ...tokens };
    if (signed) all.authorization = authorization(key, signed.verb, signed, date);
    const isRaw = typeof body === "string" || Buffer.isBuffer(body);
    const payload = body === undefined ? undefined : Buffer.from(isRaw ? body : JSON.stringify(body));
    this.socket.write(frame(resources[resource], operations[operation], requestBytes(all), payload));
    return this.answer(id);
  }

  take(bytes) {
    this.received = Buffer.concat([this.received, bytes]);
    for (;;) {
      if (this.received.length < 4) return;
      const head = this.received.readUInt32LE();
      if (this.received.length < head) return;
      const status = this.received.readUInt32LE(4);
      const inContext = this.waiting.has("context");
      const tokens = inContext ? {} : decode(this.received.subarray(24, head));
      let end = head;
      let body;
      let payload;
      if (inContext ? status >= 400 : tokens.payloadPresent === 1) {
        if (this.received.length < head + 4) return;
        end = head + 4 + this.received.readUInt32LE(head);
        if (this.received.length < end) return;
        payload = Buffer.from(this.received.subarray(head + 4, end));
        // What is in a binary form is left to whoever asked for it.
        if (payload[0] < 0x80) body = JSON.parse(payload.toString());
      }
      this.received = Buffer.from(this.received.subarray(end));
      const id = inContext ? "context" : tokens.transportId;
      this.waiting.get(id)?.resolve({ status, tokens, body, payload });
      this.waiting.delete(id);
    }
  }

  close() {
    this.socket.destroy();
    return this.closed;
  }
}
