// The two flavours of tables, their throughput, and what the Cosmos DB face shows of them. Three servers, some seconds.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import { eventually } from "./expect.mjs";
import {
  all, devAccount, devCredential, devTableKey, rawOf, refused, sharedTables, startTables, TableClient, tableClient, TableServiceClient,
} from "./table.mjs";
import { runProgram, start } from "./server.mjs";

// Of the container that a table is, as the Cosmos DB face tells it.
async function offerOf(server, name) {
  const container = (await server.rest()("GET", `/dbs/table:tables/colls/${name}`)).body;
  const offers = (await server.rest()("GET", "/offers")).body.Offers;
  return offers.find((one) => one.offerResourceId === container._rid);
}

// Writes through the vendor's client until one of them is refused, and gives its error.
async function overBudget(table) {
  const long = "x".repeat(20_000);
  return eventually(async () => {
    const writes = await Promise.allSettled(Array.from({ length: 50 }, (_, i) =>
      table.upsertEntity({ partitionKey: "a", rowKey: String(i), long }, "Replace")));
    return writes.find((one) => one.status === "rejected")?.reason;
  }, { what: "a refusal" });
}

// With the client's own patience every write is done in the end.
async function patientWrites(server, name) {
  const patient = tableClient(server, name, devCredential(), { retryOptions: { maxRetries: 50, retryDelayInMs: 100, maxRetryDelayInMs: 1000 } });
  await Promise.all(Array.from({ length: 30 }, (_, i) =>
    patient.upsertEntity({ partitionKey: "patient", rowKey: String(i), long: "x".repeat(2_000) }, "Replace")));
  assert.equal((await all(patient.listEntities({ queryOptions: { filter: "PartitionKey eq 'patient'", select: ["RowKey"] } }))).length, 30);
}

describe("table flavours", () => {
  const at = sharedTables();
  it("B2: a table is created with a throughput, and the Cosmos DB face sees it and scales it", async () => {
    const made = await at.raw("POST", "Tables", { body: { TableName: "Scaled" }, headers: { "x-ms-offer-throughput": "800" } });
    assert.equal(made.status, 201);
    const offer = await offerOf(at.server, "scaled");
    assert.equal(offer.content.offerThroughput, 800);
    const client = at.server.client();
    const read = await client.offer(offer.id).read();
    await client.offer(offer.id).replace({ ...read.resource, content: { ...read.resource.content, offerThroughput: 900 } });
    assert.equal((await offerOf(at.server, "scaled")).content.offerThroughput, 900);
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
    await table.submitTransaction(["1", "2", "3"].map((rowKey) => ["create", { partitionKey: "of three", rowKey }]));
    const told = await at.server.rest()("GET", "/metrics", { key: null });
    assert.match(told.text, /orrery_requests_total\{[^}]*face="table"[^}]*operation="insert_entity"[^}]*\} [1-9]/);
    assert.match(told.text, /orrery_[a-z_]+\{[^}]*watched/);
    const { code, out } = await at.server.command("partitions", "table:tables/watched", "--data", at.server.data, "--port", String(at.server.port));
    assert.equal(code, 0, out);
    const lines = out.split("\n");
    assert.match(lines[0], /^ *range +items +stored +RU so far$/);
    assert.match(lines[1], /^ *\d+ +4 +\d+ B +#+ +[1-9]\d*$/);  // its only partition has all four, and was paid for
    assert.deepEqual(lines.slice(3, 6).map((line) => line.trim().replace(/^\d+ B +/, "")),
      ["largest partition keys", '3 items  ["of three"]', '1 items  ["a"]']);
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

describe("table development storage", () => {
  it("UseDevelopmentStorage=true finds the server of ./run", async (t) => {
    const { out } = await runProgram(["serve", "--help"]);
    assert.match(out, /--table-port[^]*10002 with --all-faces/);  // which ./run asks for
    let server, connection = "UseDevelopmentStorage=true";
    try {
      server = await start({ args: ["--table-port", "10002"] });
    } catch (error) {
      if (!/in use/i.test(error.message)) throw error;
      t.diagnostic("port 10002 is taken: the same account at another port");
      server = await startTables();
      connection = `DefaultEndpointsProtocol=http;AccountName=${devAccount};AccountKey=${devTableKey};` +
        `TableEndpoint=http://127.0.0.1:${server.tablePort}/${devAccount};`;
    }
    try {
      const options = { allowInsecureConnection: true };
      const service = TableServiceClient.fromConnectionString(connection, options);
      await service.createTable("Local");
      const table = TableClient.fromConnectionString(connection, "Local", options);
      await table.createEntity({ partitionKey: "a", rowKey: "1", n: 1 });
      await table.submitTransaction([["create", { partitionKey: "a", rowKey: "2", n: 2 }], ["update", { partitionKey: "a", rowKey: "1", n: 3 }]]);
      assert.deepEqual((await all(table.listEntities())).map((one) => one.n), [3, 2]);
      assert.deepEqual((await all(service.listTables())).map((one) => one.name), ["Local"]);
      await service.deleteTable("Local");
    } finally {
      await server.close();
    }
    assert.equal(TableServiceClient.fromConnectionString("UseDevelopmentStorage=true", { allowInsecureConnection: true }).url,
      `http://127.0.0.1:10002/${devAccount}`);
  });
});

describe("table storage flavour", () => {
  const at = sharedTables({ args: ["--throttling", "on"] });

  it("B2: over its throughput it answers 503 ServerBusy, which the vendor's client waits for", async () => {
    const customHeaders = { "x-ms-offer-throughput": "400" };
    const table = tableClient(at.server, "Busy");
    await table.createTable({ requestOptions: { customHeaders } });
    const error = await overBudget(table);
    await refused(Promise.reject(error), 503, "ServerBusy");
    assert.ok(Number(error.response.headers.get("x-ms-retry-after-ms")) > 0);
    assert.ok(Number(error.response.headers.get("retry-after")) > 0);
    await patientWrites(at.server, "Busy");
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
    await refused(Promise.reject(await overBudget(tableClient(server, "Small"))), 429, "TooManyRequests");
    await patientWrites(server, "Small");
  });

  it("B2: the vendor's client makes tables with a throughput, and with autoscale", async () => {
    const make = (name, customHeaders) => tableClient(server, name).createTable({ requestOptions: { customHeaders } });
    await make("Plain", {});
    await make("Manual", { "x-ms-offer-throughput": "1200" });
    await make("Autoscaled", { "x-ms-cosmos-offer-autopilot-settings": JSON.stringify({ maxThroughput: 4000 }) });
    assert.equal((await offerOf(server, "plain")).content.offerThroughput, 400);
    assert.equal((await offerOf(server, "manual")).content.offerThroughput, 1200);
    assert.equal((await offerOf(server, "autoscaled")).content.offerAutopilotSettings.maxThroughput, 4000);
    for (const wrong of ["{}", "4000", '{"maxThroughput":"4000"}', '{"maxThroughput":4000.5}', '{"maxThroughput":10}']) {
      const error = await refused(make("Wrong", { "x-ms-cosmos-offer-autopilot-settings": wrong }), 400);
      assert.match(error.message, /hroughput/, wrong);
    }
  });

  it("D4: a batch has at most 2 MB", async () => {
    const table = tableClient(server, "Large");
    await table.createTable({ requestOptions: { customHeaders: { "x-ms-offer-throughput": "40000" } } });
    const batch = (name, count) => Array.from({ length: count }, (_, i) =>
      ["create", { partitionKey: name, rowKey: String(i), long: "x".repeat(30_000) }]);
    await refused(table.submitTransaction(batch("more", 72)), 413, "RequestBodyTooLarge");
    assert.equal((await table.submitTransaction(batch("less", 66))).status, 202);
    assert.deepEqual((await all(table.listEntities({ queryOptions: { select: ["PartitionKey"] } }))).map((one) => one.partitionKey),
      Array.from({ length: 66 }, () => "less"));
  });
});
