// The two flavours of tables, their throughput, and what the Cosmos DB face shows of them. Three servers, some seconds.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import { eventually } from "./expect.mjs";
import { all, devCredential, rawOf, sharedTables, startTables, TableClient, tableClient, TableServiceClient } from "./table.mjs";
import { runProgram } from "./server.mjs";

describe("table flavours", () => {
  const at = sharedTables();
  const offerOf = async (name) => {
    const container = (await at.server.rest()("GET", `/dbs/table:tables/colls/${name}`)).body;
    const offers = (await at.server.rest()("GET", "/offers")).body.Offers;
    return offers.find((one) => one.offerResourceId === container._rid);
  };

  it("B2: a table is created with a throughput, and the Cosmos DB face sees it and scales it", async () => {
    const made = await at.raw("POST", "Tables", { body: { TableName: "Scaled" }, headers: { "x-ms-offer-throughput": "800" } });
    assert.equal(made.status, 201);
    const offer = await offerOf("scaled");
    assert.equal(offer.content.offerThroughput, 800);
    const client = at.server.client();
    const read = await client.offer(offer.id).read();
    await client.offer(offer.id).replace({ ...read.resource, content: { ...read.resource.content, offerThroughput: 900 } });
    assert.equal((await offerOf("scaled")).content.offerThroughput, 900);
    assert.equal((await at.raw("POST", "Tables", { body: { TableName: "Bad" }, headers: { "x-ms-offer-throughput": "many" } })).status, 400);
  });

  it("the Cosmos DB face reads, lists and queries a table's entities as JSON", async () => {
    const table = tableClient(at.server, "Shown");
    await table.createTable();
    await table.createEntity({ partitionKey: "a", rowKey: "1", big: 9007199254740993n, date: new Date("2020-01-01T00:00:00Z"), text: "x" });
    await table.createEntity({ partitionKey: "b", rowKey: "2", text: "y" });
    const container = at.server.client().database("table:tables").container("shown");
    const { resource } = await container.item("1", "a").read();
    assert.deepEqual([resource.PartitionKey, resource.RowKey, resource.text, resource.date], ["a", "1", "x", "2020-01-01T00:00:00.000Z"]);
    const raw = await at.server.rest()("GET", "/dbs/table:tables/colls/shown/docs/1", { headers: { "x-ms-documentdb-partitionkey": '["a"]' } });
    assert.match(raw.text, /"big":9007199254740993[,}]/);
    const { resources } = await container.items.query("SELECT c.RowKey FROM c WHERE c.text = 'y'").fetchAll();
    assert.deepEqual(resources, [{ RowKey: "2" }]);
    assert.equal((await container.items.readAll().fetchAll()).resources.length, 2);
    await assert.rejects(container.items.create({ id: "3", PartitionKey: "c" }), (error) => error.code === 403);
  });

  it("operators see tables: partitions, metrics", async () => {
    const table = tableClient(at.server, "Watched");
    await table.createTable();
    await table.createEntity({ partitionKey: "a", rowKey: "1" });
    const told = await at.server.rest()("GET", "/metrics", { key: null });
    assert.match(told.text, /orrery_requests_total\{[^}]*face="table"[^}]*operation="insert_entity"[^}]*\} [1-9]/);
    assert.match(told.text, /orrery_[a-z_]+\{[^}]*watched/);
    const { code, out } = await at.server.command("partitions", "table:tables/watched", "--data", at.server.data, "--port", String(at.server.port));
    assert.equal(code, 0, out);
  });

  it("UseDevelopmentStorage=true finds ./run's server", async () => {
    // The port is fixed there, so only the address that the client makes of it is looked at.
    const client = TableServiceClient.fromConnectionString("UseDevelopmentStorage=true", { allowInsecureConnection: true });
    assert.equal(client.url, "http://127.0.0.1:10002/devstoreaccount1");
    const { out } = await runProgram(["serve", "--help"]);
    assert.match(out, /--table-port[^]*10002 with --all-faces/);
  });

  it("the account of the server has its tables by its own name and keys, too", async () => {
    const own = rawOf(at.server, { account: "orrery", key: at.server.key });
    const listed = await own("GET", "Tables");
    assert.equal(listed.status, 200);
    assert.ok(listed.json.value.some((one) => one.TableName === "Scaled"));
    assert.equal((await rawOf(at.server, { account: "nobody" })("GET", "Tables")).status, 403);
    assert.equal((await rawOf(at.server, { signed: false })("GET", "Tables")).status, 403);
  });
});

describe("table development account", () => {
  let server;
  before(async () => {
    server = await startTables({ dev: false });
  });
  after(() => server?.close());

  it("the published key is good in development only", async () => {
    assert.equal((await rawOf(server)("GET", "Tables")).status, 403);
    assert.equal((await rawOf(server, { account: "orrery", key: server.key })("GET", "Tables")).status, 200);
    assert.equal((await rawOf(server, { account: "orrery", key: server.keys.primaryReadonly })("GET", "Tables")).status, 200);
    const made = await rawOf(server, { account: "orrery", key: server.keys.primaryReadonly })("POST", "Tables", { body: { TableName: "abc" } });
    assert.equal(made.status, 403);
  });
});

describe("table Cosmos flavour", () => {
  let server;
  before(async () => {
    server = await startTables({ args: ["--table-flavour", "cosmos", "--throttling", "on"] });
  });
  after(() => server?.close());

  it("B2: placed by hash, queries find everything, batches are whole", async () => {
    const table = tableClient(server, "Hashed");
    await table.createTable();
    for (const partitionKey of ["a", "b", "c", "d"]) {
      await table.submitTransaction([["create", { partitionKey, rowKey: "1", n: 1 }], ["create", { partitionKey, rowKey: "2", n: 2 }]]);
    }
    const definition = (await server.rest()("GET", "/dbs/table:tables/colls/hashed")).body;
    assert.equal(definition.partitionKey.kind, "Hash");
    const found = async (filter) => (await all(table.listEntities({ queryOptions: { filter } })))
      .map((one) => one.partitionKey + one.rowKey).sort();
    assert.deepEqual(await found(""), ["a1", "a2", "b1", "b2", "c1", "c2", "d1", "d2"]);
    assert.deepEqual(await found("PartitionKey gt 'b' and n eq 2"), ["c2", "d2"]);
    assert.deepEqual(await found("PartitionKey eq 'b' and RowKey ge '2'"), ["b2"]);
    const pages = [];
    for await (const page of table.listEntities().byPage({ maxPageSize: 3 })) pages.push(page.length);
    assert.equal(pages.reduce((a, b) => a + b), 8);
    // The client sends a merge as POST here, as to every host that it takes for Cosmos DB.
    const local = new TableClient(`http://localhost:${server.tablePort}/devstoreaccount1`, "Hashed", devCredential(), { allowInsecureConnection: true });
    await local.updateEntity({ partitionKey: "a", rowKey: "1", m: 1 }, "Merge");
    assert.equal((await table.getEntity("a", "1")).m, 1);
  });

  it("B2: over its throughput it answers 429 with the time to wait", async () => {
    const raw = rawOf(server);
    const made = await raw("POST", "Tables", { body: { TableName: "Small" }, headers: { "x-ms-offer-throughput": "400" } });
    assert.equal(made.status, 201);
    let throttled;
    await eventually(async () => {
      const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => raw("PUT", `Small(PartitionKey='a',RowKey='${i}')`, { body: { pad: "x".repeat(20_000) } })));
      throttled = answers.find((one) => one.status === 429);
      return throttled !== undefined;
    }, { what: "429" });
    assert.ok(Number(throttled.headers.get("x-ms-retry-after-ms")) > 0);
    assert.equal(throttled.headers.get("x-ms-error-code"), "TooManyRequests");
  });
});
