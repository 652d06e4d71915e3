// The account document, which every SDK reads first.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { answers } from "./expect.mjs";
import { shared } from "./server.mjs";

describe("account", () => {
  const at = shared({ dev: false });

  it("A32: the account names its regions, with the address that the client used", async () => {
    const { resource: account } = await at.client.getDatabaseAccount();
    for (const locations of [account.writableLocations, account.readableLocations]) {
      assert.ok(locations.length >= 1);
      assert.equal(typeof locations[0].name, "string");
      assert.equal(new URL(locations[0].databaseAccountEndpoint).origin, at.server.url);
    }
    assert.ok(!account.enableMultipleWritableLocations);
  });

  it("A31: the default consistency is session", async () => {
    const { resource: account } = await at.client.getDatabaseAccount();
    assert.equal(account.consistencyPolicy, "Session");
  });

  it("A32: the document has what the other SDKs read", async () => {
    const { body } = answers(await at.rest("GET", "/"), 200);
    assert.equal(typeof body.id, "string");
    assert.equal(body._dbs, "//dbs/");
    assert.equal(typeof body._rid, "string");
    assert.equal(body.userConsistencyPolicy.defaultConsistencyLevel, "Session");
    assert.equal(typeof body.userReplicationPolicy.maxReplicasetSize, "number");
    assert.equal(typeof body.systemReplicationPolicy.maxReplicasetSize, "number");
    assert.equal(typeof body.readPolicy, "object");
    assert.equal(typeof JSON.parse(body.queryEngineConfiguration), "object");
  });

  it("the address follows the Host header, for clients that come through a name", async () => {
    const { body } = await at.rest("GET", "/", { headers: { host: "orrery.example:1234" } });
    assert.equal(new URL(body.writableLocations[0].databaseAccountEndpoint).host, "orrery.example:1234");
  });

  it("the client can tell its endpoints", async () => {
    assert.equal(new URL(await at.client.getWriteEndpoint()).origin, at.server.url);
    assert.equal(new URL(await at.client.getReadEndpoint()).origin, at.server.url);
  });

  it("a path that is nothing answers 404, and a method that is nothing 405 or 400", async () => {
    answers(await at.rest("GET", "/nothing"), [400, 404]);
    answers(await at.rest("TRACE", "/dbs"), [400, 405, 501]);
  });

  it("every answer has an activity id and a request charge", async () => {
    const { headers } = await at.client.databases.readAll().fetchAll();
    assert.ok(Number(headers["x-ms-request-charge"]) > 0);
    const answer = await at.rest("GET", "/dbs");
    assert.match(answer.headers["x-ms-activity-id"], /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    assert.match(answer.headers["content-type"], /^application\/json/);
    assert.equal(typeof answer.headers["x-ms-gatewayversion"], "string");
    assert.match(answer.headers["x-ms-request-duration-ms"], /^\d+\.\d{3}$/);
    assert.match(answer.headers.date, / GMT$/);
  });
});
