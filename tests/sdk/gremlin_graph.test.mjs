// The Gremlin face with npm's gremlin, in its version 3.4 (what the vendor's documentation uses) and a newer one. One server, some
// seconds.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { drivers, graphClient, makeModern, refusal, rows, sharedGraphs, startGraphs, v2, v3 } from "./gremlin.mjs";
import { devKey } from "./server.mjs";

describe("gremlin", () => {
  const at = sharedGraphs();

  it("B3: each client connects, logs in, adds, finds, counts", async () => {
    for (const [version, driver] of Object.entries(drivers)) {
      const client = await at.graph(`quick-${version.replace(".", "")}`, { driver });
      const added = await rows(client, "g.addV('person').property('id', 'thomas').property('firstName', 'Thomas').property('age', 44).property('pk', 'pk')");
      assert.equal(added[0].id, "thomas");
      assert.equal(added[0].type, "vertex");
      assert.equal(added[0].properties.firstName[0].value, "Thomas");
      assert.deepEqual(added[0].properties.pk, [{ id: "thomas|pk", value: "pk" }]);
      await client.submit("g.addV('person').property('id', 'mary').property('firstName', 'Mary').property('age', 39).property('pk', 'pk')");
      const edge = (await rows(client, "g.V('thomas').addE('knows').to(g.V('mary'))"))[0];
      assert.deepEqual([edge.type, edge.label, edge.inV, edge.outV, edge.inVLabel], ["edge", "knows", "mary", "thomas", "person"]);
      assert.deepEqual(await rows(client, "g.V().hasLabel('person').has('age', gt(40)).values('firstName')"), ["Thomas"]);
      assert.deepEqual(await rows(client, "g.V('thomas').out('knows').hasLabel('person').values('firstName')"), ["Mary"]);
      assert.deepEqual(await rows(client, "g.V().count()"), [2]);
      assert.deepEqual(await rows(client, "g.V('thomas').property('age', 45).values('age')"), [45]);
      assert.deepEqual(await rows(client, "g.V(['pk', 'mary']).values('age')"), [39]);
      await client.submit("g.V('thomas').drop()");
      assert.deepEqual(await rows(client, "g.E().count()"), [0]);
    }
  });

  it("GraphSON 3 is typed", async () => {
    await at.graph("typed");
    const client = at.client("typed", { mimeType: v3 });
    await client.submit("g.addV('person').property('id', '1').property('pk', 'p').property('age', 29)");
    const [vertex] = await rows(client, "g.V()");
    assert.equal(vertex.constructor.name, "Vertex");
    assert.ok((await rows(client, "g.V().valueMap('age')"))[0] instanceof Map);
  });

  it("bytecode runs as text does", async () => {
    await at.graph("bytecode").then(makeModern);
    for (const driver of Object.values(drivers)) {
      const { traversal } = driver.process.AnonymousTraversalSource;
      const remote = new driver.driver.DriverRemoteConnection(at.server.gremlinUrl, {
        mimeType: v3, authenticator: new driver.driver.auth.PlainTextSaslAuthenticator("/dbs/db/colls/bytecode", devKey),
      });
      const g = traversal().withRemote(remote);
      const { P, statics: __ } = driver.process;
      assert.deepEqual((await g.V().has("age", P.gt(30)).values("name").toList()).sort(), ["josh", "peter"]);
      assert.deepEqual((await g.V("1").repeat(__.out()).times(2).values("name").toList()).sort(), ["lop", "ripple"]);
      assert.equal((await g.V().hasLabel("person").count().next()).value, 4);
      await remote.close();
    }
  });

  it("charges and times are in the attributes of the status", async () => {
    const client = await at.graph("charges");
    const result = await client.submit("g.addV('a').property('pk', 'p')");
    const attributes = result.attributes;
    const of = (name) => attributes instanceof Map ? attributes.get(name) : attributes[name];
    assert.equal(of("x-ms-status-code"), 200);
    assert.ok(of("x-ms-total-request-charge") > 0);
    assert.ok(of("x-ms-total-server-time-ms") >= 0);
  });

  it("results come in parts of 64", async () => {
    const client = await at.graph("parts");
    assert.equal((await rows(client, "g.inject(1).repeat(union(identity(), identity())).times(8)")).length, 256);
  });

  it("B3: the Cosmos DB face sees the same items", async () => {
    const client = await at.graph("shared");
    await makeModern(client);
    const { resource: vertex } = await at.container.item("1", "p").read();
    assert.equal(vertex.label, "person");
    assert.equal(vertex.name[0]._value, "marko");
    const { resource: edge } = await at.container.item("7", "p").read();
    assert.deepEqual([edge._isEdge, edge._vertexId, edge._sink, edge._sinkLabel, edge._sinkPartition, edge.weight], [true, "1", "2", "person", "p", 0.5]);
    await at.container.items.create({ id: "9x", pk: "q", label: "person", name: [{ id: "a", _value: "new" }] });
    assert.deepEqual(await rows(client, "g.V().has('name', 'new').id()"), ["9x"]);
  });

  it("errors name what is wrong and leave the connection open", async () => {
    const client = await at.graph("errors");
    const unknown = await refusal(client, "g.V().frobnicate()");
    assert.deepEqual([unknown.code, unknown.serviceCode], [597, 1004]);
    assert.match(unknown.message, /frobnicate/);
    assert.match((await refusal(client, "g.V(")).message, /argument is expected/);
    assert.match((await refusal(client, "g.V().map{it.get()}")).message, /\(/);
    await client.submit("g.addV('a').property('id', '1').property('pk', 'p')");
    assert.equal((await refusal(client, "g.addV('a').property('id', '1').property('pk', 'p')")).serviceCode, 409);
    assert.equal((await refusal(client, "g.V().repeat(identity()).times(100)")).serviceCode, 1003);
    assert.equal((await refusal(client, `g.inject('${"x".repeat(70_000)}')`)).code, 597);
    assert.equal((await refusal(at.client("missing"), "g.V()")).serviceCode, 404);
    assert.deepEqual(await rows(client, "g.V().count()"), [1]);
  });

  it("a wrong key is refused", async () => {
    await at.graph("secret");
    const refused = await refusal(at.client("secret", { key: Buffer.from("wrong").toString("base64") }), "g.V()");
    assert.equal(refused.code, 401);
  });

  it("a read-only key reads, and writes nothing; without a login there is nothing", async () => {
    const server = await startGraphs({ dev: false });
    const clients = [];
    try {
      const { database } = await server.client().databases.create({ id: "db" });
      await database.containers.create({ id: "g", partitionKey: { paths: ["/pk"] } });
      const by = (key) => clients[clients.push(graphClient(server, "g", { key })) - 1];
      await by(server.key).submit("g.addV('a').property('id', '1').property('pk', 'p')");
      const reader = by(server.keys.primaryReadonly);
      assert.deepEqual(await rows(reader, "g.V().count()"), [1]);
      for (const text of ["g.addV('a').property('pk', 'p')", "g.V('1').property('n', 1)", "g.V('1').drop()",
        "g.V('1').addE('to').to(g.V('1'))", "g.inject(1).coalesce(addV('a').property('pk', 'p'), identity())"]) {
        assert.equal((await refusal(reader, text)).serviceCode, 403, text);
      }
      assert.deepEqual(await rows(reader, "g.V().valueMap()"), await rows(by(server.key), "g.V().valueMap()"));
      const nobody = new drivers["3.4"].driver.Client(server.gremlinUrl, { traversalSource: "g", mimeType: v2 });
      clients.push(nobody);
      assert.ok([401, 407].includes((await refusal(nobody, "g.V()")).code));
    } finally {
      await Promise.all(clients.map((client) => client.close().catch(() => {})));
      await server.close();
    }
  });

  it("upserts: coalesce and fold, mergeV and mergeE", async () => {
    const client = await at.graph("upserts");
    for (let i = 0; i < 2; ++i) {
      await client.submit("g.V().has('person', 'name', 'ann').fold().coalesce(unfold(), addV('person').property('pk', 'p').property('name', 'ann'))");
      await client.submit("g.mergeV([(T.label): 'person', (T.id): 'bob', pk: 'p']).option(onCreate, [seen: 1]).option(onMatch, [seen: 2])");
      await client.submit("g.mergeE([(T.label): 'knows', (from): 'bob', (to): 'bob'])");
    }
    assert.deepEqual(await rows(client, "g.V().count()"), [2]);
    assert.deepEqual(await rows(client, "g.V('bob').values('seen')"), [2]);
    assert.deepEqual(await rows(client, "g.E().count()"), [1]);
  });

  it("cardinalities and properties of properties", async () => {
    const client = await at.graph("cardinalities");
    await client.submit("g.addV('a').property('id', '1').property('pk', 'p').property(list, 'n', 1).property(list, 'n', 1).property(set, 's', 1, 'since', 2020)");
    await client.submit("g.V('1').property(set, 's', 1).property(list, 'n', 2)");
    assert.deepEqual(await rows(client, "g.V('1').values('n')"), [1, 1, 2]);
    assert.deepEqual(await rows(client, "g.V('1').properties('s').valueMap()"), [{ since: 2020 }]);
    await client.submit("g.V('1').property('n', 5)");
    assert.deepEqual(await rows(client, "g.V('1').values('n')"), [5]);
  });

  it("executionProfile and explain tell of each step", async () => {
    const client = await at.graph("shared");
    const [profile] = await rows(client, "g.V().out().executionProfile()");
    assert.equal(profile.metrics.length, 2);
    assert.equal(profile.metrics[1].counts.resultCount, 6);
    // What the store did: the vertices by a query, their edges by the index; their other ends are known by then.
    assert.deepEqual(profile.metrics.map((one) => one.storeOps[0].requests), [1, 1]);
    assert.equal(profile.metrics[1].storeOps[0].items, 6);
    assert.ok(profile.metrics.every((one) => one.storeOps[0].charge > 0));
    assert.equal(profile.storeOps.requests, 2);
    const [explained] = await rows(client, "g.V().out('knows').explain()");
    assert.deepEqual(explained.final, ["V()", "out(knows)"]);
  });
});
