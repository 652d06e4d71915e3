// Connections of MongoDB's drivers: handshakes, logins, TLS, compression, sessions. Four servers, some seconds.
import assert from "node:assert/strict";
import net from "node:net";
import { after, before, describe, it } from "node:test";

import { MongoClient as NewestClient } from "mongodb-newest";

import { BSON, errorOf, exchange, int32, message, MongoClient, mongoUri, runByHand, sharedMongo, startMongo } from "./mongo.mjs";

describe("connections of MongoDB's drivers", () => {
  const at = sharedMongo();

  it("B1: both drivers connect, find a mongos of 7.0, and read what the other wrote", async () => {
    const newest = new NewestClient(mongoUri(at.server));
    await newest.connect();
    await newest.db("test").collection("both").insertOne({ _id: 1, from: "newest" });
    assert.deepEqual(await at.db.collection("both").findOne({ _id: 1 }), { _id: 1, from: "newest" });
    await newest.close();
    const hello = await at.db.command({ hello: 1 });
    assert.equal(hello.msg, "isdbgrid");
    assert.equal(hello.maxWireVersion, 21);
    assert.match((await at.db.command({ buildInfo: 1 })).version, /^7\.0\./);
  });

  it("the old handshake by OP_QUERY is answered by OP_REPLY", async () => {
    const reply = await exchange(
      at.server.mongoPort,
      message(2004, int32(0), Buffer.from("admin.$cmd\0"), int32(0), int32(-1), BSON.serialize({ ismaster: 1, helloOk: true })),
    );
    assert.equal(reply.readInt32LE(12), 1);
    assert.equal(reply.readInt32LE(8), 7);
    const document = BSON.deserialize(reply.subarray(36));
    assert.equal(document.ismaster, true);
    assert.equal(document.ok, 1);
  });

  it("a message that cannot be read is answered with an error, and the connection goes on", async () => {
    const socket = net.connect(at.server.mongoPort, "127.0.0.1");
    let received = Buffer.alloc(0);
    socket.on("data", (chunk) => (received = Buffer.concat([received, chunk])));
    const answers = () => {
      const all = [];
      for (let from = 0; from + 4 <= received.length; ) {
        const size = received.readInt32LE(from);
        if (from + size > received.length) break;
        all.push(BSON.deserialize(received.subarray(from + 21, from + size)));
        from += size;
      }
      return all;
    };
    // An unknown flag that must be known; an unknown opcode; a broken document; then a ping.
    socket.write(message(2013, int32(4), Buffer.from([0]), BSON.serialize({ ping: 1 })));
    socket.write(message(2001, int32(0)));
    socket.write(message(2013, int32(0), Buffer.from([0]), Buffer.from([6, 0, 0, 0, 99, 0])));
    socket.write(message(2013, int32(0), Buffer.from([0]), BSON.serialize({ ping: 1, $db: "admin" })));
    while (answers().length < 4) await new Promise((resolve) => socket.once("data", resolve));
    assert.deepEqual(answers().map((one) => one.ok), [0, 0, 0, 1]);
    socket.destroy();
  });

  it("what is not known answers 59 with its name", async () => {
    const error = await errorOf(at.db.command({ atlasVersion: 1 }));
    assert.equal(error.code, 59);
    assert.match(error.message, /no such command: 'atlasVersion'/);
  });

  for (const compressor of ["zlib", "snappy"]) {
    it(`messages are compressed with ${compressor}, both ways`, async () => {
      const client = new MongoClient(mongoUri(at.server), { compressors: [compressor] });
      const collection = client.db("test").collection(`packed_${compressor}`);
      const document = { _id: 1, text: "x".repeat(100_000) };
      await collection.insertOne(document);
      assert.deepEqual(await collection.findOne({ _id: 1 }), document);
      await client.close();
    });
  }

  it("a handshake of any size is not taken for one of TLS", async () => {
    // Some have a length that ends in the byte that begins a TLS record.
    for (let size = 0; size < 256; ++size) {
      const bytes = BSON.serialize({ hello: 1, pad: "x".repeat(size), $db: "admin" });
      const reply = await exchange(at.server.mongoPort, message(2013, int32(0), Buffer.from([0]), bytes));
      assert.equal(BSON.deserialize(reply.subarray(21)).ok, 1);
    }
  });

  it("TLS and plain share the port", async () => {
    const client = new MongoClient(mongoUri(at.server), { tls: true, tlsAllowInvalidCertificates: true, tlsAllowInvalidHostnames: true });
    assert.equal((await client.db("admin").command({ ping: 1 })).ok, 1);
    await client.close();
  });

  it("sessions, cluster times and unacknowledged writes", async () => {
    const session = at.client.startSession();
    const collection = at.collection();
    await collection.insertOne({ _id: 1 }, { session });
    assert.ok(session.clusterTime && session.operationTime);
    await session.endSession();
    await collection.insertOne({ _id: 2 }, { writeConcern: { w: 0 } });
    // On the same connection or another one: it comes.
    while ((await collection.countDocuments()) < 2);
    assert.equal((await at.db.command({ connectionStatus: 1 })).authInfo.authenticatedUsers.length, 0);
  });

  it("a write that is sent again with its number is done once", async () => {
    // By hand: the driver gives its own numbers.
    const lsid = { id: new BSON.UUID() };
    const run = (command) => runByHand(at.server, { ...command, lsid, $db: "test" });
    const command = { update: "retried", updates: [{ q: { _id: 1 }, u: { $inc: { n: 1 } }, upsert: true }], txnNumber: BSON.Long.fromNumber(1) };
    for (let attempt = 0; attempt < 3; ++attempt) assert.equal((await run(command)).n, 1);
    assert.equal((await at.db.collection("retried").findOne({ _id: 1 })).n, 1);
    assert.equal((await run({ ...command, txnNumber: BSON.Long.fromNumber(0) })).code, 225);
    assert.equal((await run({ ...command, update: "others" })).code, 217);
    assert.equal((await run({ ...command, txnNumber: BSON.Long.fromNumber(2) })).nModified, 1);
  });
});

describe("logins of MongoDB's drivers", () => {
  let server;
  before(async () => (server = await startMongo({ dev: false, args: ["--account", "shop"] })));
  after(() => server?.close());

  const connect = (password, authMechanism, user = "shop") =>
    new MongoClient(mongoUri(server, { user, password }), { authMechanism, serverSelectionTimeoutMS: 10_000 });

  for (const mechanism of ["SCRAM-SHA-256", "SCRAM-SHA-1", undefined]) {
    it(`the account's keys are passwords, by ${mechanism ?? "what the driver chooses"}`, async () => {
      for (const key of [server.keys.primary, server.keys.secondary]) {
        const client = connect(key, mechanism);
        await client.db("d").collection("c").updateOne({ _id: 1 }, { $inc: { n: 1 } }, { upsert: true });
        const status = await client.db("admin").command({ connectionStatus: 1 });
        assert.equal(status.authInfo.authenticatedUsers[0].user, "shop");
        await client.close();
      }
    });
  }

  it("a read-only key reads, and writes nothing", async () => {
    const client = connect(server.keys.primaryReadonly, undefined);
    const collection = client.db("d").collection("c");
    await collection.find().toArray();
    for (const write of [
      () => collection.insertOne({}),
      () => collection.updateOne({}, { $set: { a: 1 } }),
      () => collection.deleteMany({}),
      () => collection.drop(),
      () => collection.createIndex({ a: 1 }),
      () => collection.aggregate([{ $out: "other" }]).toArray(),
    ]) {
      assert.equal((await errorOf(write())).code, 13);
    }
    await client.close();
  });

  it("wrong passwords and unknown users are told 18, and nobody reads without a login", async () => {
    for (const [user, password] of [["shop", "wrong"], ["other", server.keys.primary]]) {
      for (const mechanism of ["SCRAM-SHA-256", "SCRAM-SHA-1"]) {
        const client = connect(password, mechanism, user);
        assert.equal((await errorOf(client.connect())).code, 18);
        await client.close();
      }
    }
    const client = new MongoClient(mongoUri(server));
    assert.equal((await client.db("admin").command({ ping: 1 })).ok, 1);
    for (const command of [{ find: "c" }, { insert: "c", documents: [{}] }, { listDatabases: 1 }, { noSuchCommand: 1 }]) {
      assert.equal((await errorOf(client.db("d").command(command))).code, 13);
    }
    await client.close();
  });
});

describe("a replica set's name", () => {
  it("with --mongo-replica-set, connection strings that name it work", async () => {
    const server = await startMongo({ args: ["--mongo-replica-set", "globaldb"] });
    try {
      const client = new MongoClient(mongoUri(server, { query: "replicaSet=globaldb" }), { serverSelectionTimeoutMS: 30_000 });
      await client.db("d").collection("c").insertOne({ _id: 1 });
      const hello = await client.db("admin").command({ hello: 1 });
      assert.equal(hello.setName, "globaldb");
      assert.deepEqual(hello.hosts, [`127.0.0.1:${server.mongoPort}`]);
      await client.close();
    } finally {
      await server.close();
    }
  });
});
