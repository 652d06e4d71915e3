// The MongoDB face for tests: a server that has it, and drivers that are connected to it.
import net from "node:net";
import { after, before } from "node:test";

import { BSON, MongoClient } from "mongodb";

import { freePort, start } from "./server.mjs";

export * from "mongodb";

// A server with the MongoDB face at `mongoPort`; otherwise as start().
export async function startMongo({ args = [], ...rest } = {}) {
  for (let attempt = 1; ; ++attempt) {
    const mongoPort = await freePort();
    try {
      const server = await start({ ...rest, args: [...args, "--mongo-port", String(mongoPort)] });
      server.mongoPort = mongoPort;
      return server;
    } catch (error) {
      if (attempt === 5 || !/in use/i.test(error.message)) throw error;
    }
  }
}

export function mongoUri(server, { user, password, query = "" } = {}) {
  const who = user === undefined ? "" : `${encodeURIComponent(user)}:${encodeURIComponent(password)}@`;
  return `mongodb://${who}127.0.0.1:${server.mongoPort}/${query ? `?${query}` : ""}`;
}

// Inside describe(): one server for all of its tests, and a driver. at.collection() is one that nobody else uses.
export function sharedMongo(serverOptions = {}, clientOptions = {}) {
  const at = {
    made: 0,
    collection(options) {
      return at.db.collection(`c${++at.made}`, options);
    },
  };
  before(async () => {
    at.server = await startMongo(serverOptions);
    at.client = new MongoClient(mongoUri(at.server), clientOptions);
    await at.client.connect();
    at.db = at.client.db("test");
  });
  after(async () => {
    await at.client?.close();
    await at.server?.close();
  });
  return at;
}

// The error that a promise fails with.
export async function errorOf(promise) {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("it did not fail");
}

// Sends one message by hand, and gives what comes back.
export async function exchange(port, bytes) {
  const socket = net.connect(port, "127.0.0.1");
  const chunks = [];
  await new Promise((resolve, reject) => {
    socket.on("error", reject);
    socket.on("close", resolve);
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      const all = Buffer.concat(chunks);
      if (all.length >= 4 && all.length >= all.readInt32LE(0)) resolve();
    });
    socket.write(bytes);
  });
  socket.destroy();
  return Buffer.concat(chunks);
}

export function message(opcode, ...parts) {
  const rest = Buffer.concat(parts);
  const header = Buffer.alloc(16);
  header.writeInt32LE(16 + rest.length, 0);
  header.writeInt32LE(7, 4);
  header.writeInt32LE(opcode, 12);
  return Buffer.concat([header, rest]);
}

export const int32 = (value) => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
};

// Sends a command by hand, with a session and a number of the test's own, and gives the answer.
export async function runByHand(server, command) {
  const answer = await exchange(server.mongoPort, message(2013, int32(0), Buffer.from([0]), BSON.serialize(command)));
  return BSON.deserialize(answer.subarray(21));
}
