// The Table face: the service itself (properties, stats, CORS), stored policies, and shared access signatures with the
// vendor's client. One server, some seconds.
import assert from "node:assert/strict";
import http from "node:http";
import { describe, it } from "node:test";

import {
  all, AzureNamedKeyCredential, AzureSASCredential, devAccount, devCredential, endpointOf, generateAccountSas, generateTableSas, refused, sharedTables,
  TableClient, tableClient, TableServiceClient,
} from "./table.mjs";

describe("table service", () => {
  const at = sharedTables();
  const soon = () => new Date(Date.now() + 600_000);
  const options = { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } };
  const signed = (name, sas) => new TableClient(endpointOf(at.server), name, new AzureSASCredential(sas), options);

  it("service properties are set and read back", async () => {
    const logging = { version: "1.0", read: true, write: true, delete: false, retentionPolicy: { enabled: true, days: 5 } };
    const rule = { allowedOrigins: "http://a.example,http://b.example", allowedMethods: "GET,PUT", allowedHeaders: "x-ms-*", exposedHeaders: "x-ms-*", maxAgeInSeconds: 30 };
    await at.service.setProperties({ logging, cors: [rule] });
    const read = await at.service.getProperties();
    assert.deepEqual({ ...read.logging }, logging);
    assert.deepEqual({ ...read.cors[0] }, rule);
  });

  // fetch() sends no Origin of one's own.
  const send = (method, path, headers) => new Promise((resolve, reject) => {
    http.request(`${endpointOf(at.server)}/${path}`, { method, headers }, (response) => {
      response.resume().on("end", () => resolve(response));
    }).on("error", reject).end();
  });

  it("CORS: a preflight is answered by the rules, unsigned", async () => {
    const rule = { allowedOrigins: "http://a.example", allowedMethods: "GET", allowedHeaders: "x-ms-*", exposedHeaders: "x-ms-*", maxAgeInSeconds: 30 };
    await at.service.setProperties({ cors: [rule] });
    const ask = (origin, method) => send("OPTIONS", "Tables", { origin, "access-control-request-method": method });
    const allowed = await ask("http://a.example", "GET");
    assert.equal(allowed.statusCode, 200);
    assert.equal(allowed.headers["access-control-allow-origin"], "http://a.example");
    assert.equal((await ask("http://b.example", "GET")).statusCode, 403);
    assert.equal((await ask("http://a.example", "PUT")).statusCode, 403);
    const other = await send("GET", "Tables", { origin: "http://a.example" });  // refused, and the page may see that
    assert.equal(other.statusCode, 403);
    assert.equal(other.headers["access-control-allow-origin"], "http://a.example");
  });

  it("stats are told by the secondary, which takes no writes", async () => {
    await assert.rejects(at.service.getStatistics());
    const secondary = new TableServiceClient(`${endpointOf(at.server)}-secondary`, devCredential(), options);
    const stats = await secondary.getStatistics();
    assert.equal(stats.geoReplication.status, "live");
    const table = await at.table();
    await table.createEntity({ partitionKey: "a", rowKey: "1" });
    const reader = new TableClient(`${endpointOf(at.server)}-secondary`, table.tableName, devCredential(), options);
    assert.equal((await reader.getEntity("a", "1")).rowKey, "1");
    await assert.rejects(reader.createEntity({ partitionKey: "a", rowKey: "2" }), (error) => error.statusCode === 403);
  });

  it("stored access policies are set and read back, and a signature may name one", async () => {
    const table = await at.table();
    await table.createEntity({ partitionKey: "a", rowKey: "1" });
    await table.setAccessPolicy([{ id: "reader", accessPolicy: { permission: "r", expiry: soon() } }]);
    const policies = await table.getAccessPolicy();
    assert.equal(policies[0].id, "reader");
    assert.equal(policies[0].accessPolicy.permission, "r");
    const client = signed(table.tableName, generateTableSas(table.tableName, devCredential(), { identifier: "reader" }));
    assert.equal((await client.getEntity("a", "1")).rowKey, "1");
    await refused(client.createEntity({ partitionKey: "a", rowKey: "2" }), 403);
    await table.setAccessPolicy([]);
    await refused(client.getEntity("a", "1"), 403);
  });

  it("a table signature is bounded by its table, its permissions and its keys: points, queries and batches", async () => {
    const table = await at.table();
    for (const partitionKey of ["a", "b", "c"]) {
      for (const rowKey of ["1", "2", "3"]) await table.createEntity({ partitionKey, rowKey });
    }
    const sas = generateTableSas(table.tableName, devCredential(), {
      permissions: { query: true, add: true }, expiresOn: soon(),
      startPartitionKey: "a", startRowKey: "2", endPartitionKey: "b", endRowKey: "1",
    });
    const client = signed(table.tableName, sas);
    const keys = (found) => found.map((one) => one.partitionKey + one.rowKey);
    assert.deepEqual(keys(await all(client.listEntities())), ["a2", "a3", "b1"]);
    assert.deepEqual(keys(await all(client.listEntities({ queryOptions: { filter: "RowKey eq '1'" } }))), ["b1"]);
    assert.equal((await client.getEntity("a", "2")).rowKey, "2");
    await refused(client.getEntity("a", "1"), 403);
    await client.createEntity({ partitionKey: "a", rowKey: "4" });
    await refused(client.createEntity({ partitionKey: "c", rowKey: "4" }), 403);
    await refused(client.deleteEntity("a", "2"), 403);
    await refused(client.submitTransaction([["create", { partitionKey: "b", rowKey: "0" }], ["create", { partitionKey: "b", rowKey: "9" }]]), 403);
    assert.deepEqual(keys(await all(client.listEntities())), ["a2", "a3", "a4", "b1"]);
    const other = await at.table();
    await refused(signed(other.tableName, sas).getEntity("a", "2"), 403);
  });

  it("an account signature gives what it says", async () => {
    const sas = generateAccountSas(devCredential(), { permissions: { read: true, list: true }, expiresOn: soon(), services: { table: true } });
    const client = new TableServiceClient(endpointOf(at.server), new AzureSASCredential(sas), options);
    assert.ok((await all(client.listTables())).length > 0);
    await refused(client.createTable("notAllowed"), 403);
    const late = generateAccountSas(devCredential(), { permissions: { list: true }, startsOn: new Date(0), expiresOn: new Date(1_000_000_000), services: { table: true } });
    await assert.rejects(all(new TableServiceClient(endpointOf(at.server), new AzureSASCredential(late), options).listTables()), (error) => error.statusCode === 403);
  });

  it("a wrong key is refused", async () => {
    await refused(tableClient(at.server, "any", new AzureNamedKeyCredential(devAccount, Buffer.from("no").toString("base64"))).getEntity("a", "1"), 403, "AuthenticationFailed");
  });
});
