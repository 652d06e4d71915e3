// Users and roles of the MongoDB face, and renameCollection. One server without --dev, some seconds.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import { errorOf, MongoClient, mongoUri, startMongo } from "./mongo.mjs";

describe("users and roles of MongoDB", () => {
  let server;
  let root;
  const opened = [];
  const login = async (user, password, query = "authSource=app") => {
    const client = new MongoClient(mongoUri(server, { user, password, query }));
    opened.push(client);
    await client.connect();
    return client;
  };
  const codeOf = async (promise) => (await errorOf(promise)).code;
  before(async () => {
    server = await startMongo({ dev: false, args: ["--account", "shop"] });
    root = await login("shop", server.keys.primary, "");
  });
  after(async () => {
    for (const client of opened) await client.close();
    await server?.close();
  });

  it("a user logs in with either mechanism, and does what its roles allow", async () => {
    const app = root.db("app");
    await app.command({ createUser: "reader", pwd: "päßword", roles: ["read"], customData: { team: "x" } });
    await app.command({ createUser: "writer", pwd: "secret", roles: [{ role: "readWrite", db: "app" }] });
    await app.collection("docs").insertOne({ _id: 1 });
    await root.db("hidden").collection("docs").insertOne({ _id: 1 });
    for (const mechanism of ["SCRAM-SHA-1", "SCRAM-SHA-256"]) {
      const reader = await login("reader", "päßword", `authSource=app&authMechanism=${mechanism}`);
      assert.deepEqual(await reader.db("app").collection("docs").findOne(), { _id: 1 });
      assert.equal(await codeOf(reader.db("app").collection("docs").insertOne({})), 13);
      assert.equal(await codeOf(reader.db("other").collection("docs").findOne()), 13);
      assert.equal(await codeOf(reader.db("app").collection("docs").drop()), 13);
      assert.equal(await codeOf(reader.db("app").collection("docs").aggregate([{ $out: "copy" }]).toArray()), 13);
      assert.deepEqual((await reader.db("admin").admin().listDatabases()).databases.map((one) => one.name), ["app"]);
      assert.equal(await codeOf(reader.db("app").command({ createUser: "x", pwd: "y", roles: [] })), 13);
      const { authInfo } = await reader.db("admin").command({ connectionStatus: 1 });
      assert.deepEqual(authInfo.authenticatedUsers, [{ user: "reader", db: "app" }]);
      assert.deepEqual(authInfo.authenticatedUserRoles, [{ role: "read", db: "app" }]);
    }
    const writer = await login("writer", "secret");
    await writer.db("app").collection("docs").insertOne({ _id: 2 });
    await writer.db("app").collection("docs").createIndex({ a: 1 });
    assert.equal(await codeOf(writer.db("app").dropDatabase()), 13);
    assert.equal(await codeOf(writer.db("admin").command({ serverStatus: 1 })), 13);
  });

  it("a wrong password, and a user of another database, do not get in", async () => {
    const codes = [];
    for (const [user, password, query] of [["reader", "wrong", "authSource=app"], ["reader", "päßword", "authSource=admin"], ["nobody", "x", "authSource=app"]]) {
      const client = new MongoClient(mongoUri(server, { user, password, query }));
      codes.push(await codeOf(client.connect()));
      await client.close();
    }
    assert.deepEqual(codes, [18, 18, 18]);
  });

  it("a cursor is another user's to read or to kill no more than its documents are", async () => {
    const docs = root.db("app").collection("many");
    await docs.insertMany(Array.from({ length: 10 }, (_, _id) => ({ _id })));
    const { cursor } = await root.db("app").command({ find: "many", batchSize: 2 });
    const reader = (await login("reader", "päßword")).db("app");
    assert.equal(await codeOf(reader.command({ getMore: cursor.id, collection: "many" })), 13);
    const { cursorsKilled, cursorsNotFound } = await reader.command({ killCursors: "many", cursors: [cursor.id] });
    assert.deepEqual([cursorsKilled.length, cursorsNotFound.length], [0, 1]);
    assert.equal((await root.db("app").command({ getMore: cursor.id, collection: "many" })).cursor.nextBatch.length, 8);
  });

  it("usersInfo and rolesInfo tell what there is", async () => {
    const app = root.db("app");
    const { users } = await app.command({ usersInfo: 1 });
    assert.deepEqual(users.map((one) => one._id), ["app.reader", "app.writer"]);
    assert.deepEqual(users[0].customData, { team: "x" });
    assert.deepEqual(users[0].mechanisms, ["SCRAM-SHA-1", "SCRAM-SHA-256"]);
    assert.equal((await app.command({ usersInfo: "reader" })).users.length, 1);
    assert.equal((await app.command({ usersInfo: { forAllDBs: true } })).users.length, 3);
    const { roles } = await app.command({ rolesInfo: 1, showBuiltinRoles: true });
    assert.deepEqual(roles.map((one) => one.role), ["read", "readWrite", "dbAdmin", "userAdmin", "dbOwner"]);
    const all = await root.db("admin").command({ rolesInfo: ["root", "readWriteAnyDatabase", "none"] });
    assert.deepEqual(all.roles.map((one) => one.role), ["root", "readWriteAnyDatabase"]);
  });

  it("changes of roles and passwords hold at once", async () => {
    const app = root.db("app");
    const writer = await login("writer", "secret");
    await app.command({ revokeRolesFromUser: "writer", roles: ["readWrite"] });
    assert.equal(await codeOf(writer.db("app").collection("docs").insertOne({})), 13);
    await app.command({ grantRolesToUser: "writer", roles: [{ role: "readWriteAnyDatabase", db: "admin" }] });
    await writer.db("elsewhere").collection("docs").insertOne({});
    await app.command({ updateUser: "writer", pwd: "changed", roles: ["dbAdmin"] });
    assert.equal(await codeOf(writer.db("app").collection("docs").findOne()), 13);
    assert.equal(await codeOf(login("writer", "secret")), 18);
    await login("writer", "changed");
    await app.command({ dropUser: "writer" });
    assert.equal(await codeOf(writer.db("app").collection("docs").findOne()), 13);
    assert.equal(await codeOf(login("writer", "changed")), 18);
  });

  it("what is wrong with a user says so", async () => {
    const app = root.db("app");
    assert.equal(await codeOf(app.command({ createUser: "reader", pwd: "x", roles: [] })), 51003);
    assert.equal(await codeOf(app.command({ createUser: "new", pwd: "x", roles: ["none"] })), 31);
    assert.equal(await codeOf(app.command({ createUser: "new", pwd: "x", roles: ["root"] })), 31);
    assert.equal(await codeOf(app.command({ createUser: "new", roles: [] })), 2);
    assert.equal(await codeOf(app.command({ dropUser: "nobody" })), 11);
    assert.equal(await codeOf(root.db("admin").dropDatabase()), 20);
    // Who administers the users of one database gives nobody rights on another.
    await app.command({ createUser: "boss", pwd: "b", roles: ["userAdmin"] });
    const boss = await login("boss", "b");
    await boss.db("app").command({ createUser: "made", pwd: "m", roles: ["read"] });
    assert.equal(await codeOf(boss.db("app").command({ createUser: "more", pwd: "m", roles: [{ role: "read", db: "other" }] })), 13);
    assert.equal(await codeOf(boss.db("app").command({ grantRolesToUser: "boss", roles: [{ role: "root", db: "admin" }] })), 13);
  });

  it("users are there after a crash", async () => {
    await server.restart({ hard: true });
    const reader = await login("reader", "päßword");
    assert.deepEqual(await reader.db("app").collection("docs").findOne(), { _id: 1 });
  });

  it("a collection is renamed, with its documents and indexes", async () => {
    const client = await login("shop", server.keys.primary, "");
    const db = client.db("renames");
    await db.collection("old").insertMany([{ _id: 1, a: 1 }, { _id: 2, a: 2 }]);
    await db.collection("old").createIndex({ a: 1 });
    await db.collection("target").insertOne({ _id: 9 });
    const renamed = await db.collection("old").rename("new");
    assert.equal(await renamed.countDocuments(), 2);
    assert.deepEqual((await renamed.indexes()).map((one) => one.name), ["_id_", "a_1"]);
    assert.equal(await db.collection("old").countDocuments(), 0);
    assert.deepEqual((await db.listCollections().toArray()).map((one) => one.name).sort(), ["new", "target"]);
    assert.equal(await codeOf(renamed.rename("target")), 48);
    assert.equal(await codeOf(db.collection("none").rename("x")), 26);
    assert.equal(await codeOf(client.db("admin").command({ renameCollection: "renames.new", to: "other.new" })), 238);
    await renamed.rename("target", { dropTarget: true });
    assert.deepEqual((await db.collection("target").find().toArray()).map((one) => one._id), [1, 2]);
    // The old name is free.
    await db.collection("old").insertOne({ _id: "again" });
    assert.equal(await db.collection("old").countDocuments(), 1);
    await server.restart({ hard: true });
    const again = (await login("shop", server.keys.primary, "")).db("renames");
    assert.equal(await again.collection("target").countDocuments(), 2);
    assert.equal(await again.collection("old").countDocuments(), 1);
  });
});
