// The MongoDB face for tests: a server that has it, and drivers that are connected to it.
import { after, before } from "node:test";

import { MongoClient } from "mongodb";

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
