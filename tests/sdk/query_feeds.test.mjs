// Queries over databases, containers and offers: the whole language over a list of resources.
import assert from "node:assert/strict";
import { before, describe, it } from "node:test";

import { answers, fails } from "./expect.mjs";
import { keyHeader } from "./rest.mjs";
import { shared } from "./server.mjs";

describe("queries over feeds", () => {
  const at = shared();

  before(async () => {
    for (const id of ["north", "south", "east"]) await at.client.databases.create({ id });
    for (const id of ["cats", "dogs", "birds"]) {
      await at.db.containers.create({ id, partitionKey: { paths: [`/${id}`] }, throughput: id === "dogs" ? 500 : 400 });
    }
  });

  const asked = (query, more = {}) => at.rest("POST", "/dbs", { body: { query }, headers: { "x-ms-documentdb-isquery": "True", ...more } });

  it("databases, by the SDK", async () => {
    const { resources } = await at.client.databases.query("SELECT * FROM root r WHERE r.id > 'e' AND r.id < 'o'").fetchAll();
    assert.deepEqual(resources.map((one) => one.id), ["east", "north"]);
    assert.equal(typeof resources[0]._rid, "string");
    const named = { query: "SELECT VALUE r.id FROM r WHERE r.id = @id", parameters: [{ name: "@id", value: "south" }] };
    assert.deepEqual((await at.client.databases.query(named).fetchAll()).resources, ["south"]);
  });

  it("containers, by the SDK", async () => {
    const { resources } = await at.db.containers.query("SELECT c.id, c.partitionKey.paths[0] AS path FROM c ORDER BY c.id DESC").fetchAll();
    assert.deepEqual(resources, [{ id: "dogs", path: "/dogs" }, { id: "cats", path: "/cats" }, { id: "birds", path: "/birds" }]);
    assert.deepEqual((await at.db.containers.query("SELECT VALUE COUNT(1) FROM c").fetchAll()).resources, [3]);
    await fails(at.client.database("nowhere").containers.query("SELECT * FROM c").fetchAll(), 404);
  });

  it("offers, by the SDK", async () => {
    const dogs = (await at.db.container("dogs").read()).resource;
    const of = { query: "SELECT * FROM root WHERE root.resource = @link", parameters: [{ name: "@link", value: dogs._self }] };
    const { resources } = await at.client.offers.query(of).fetchAll();
    assert.deepEqual(resources.map((offer) => offer.content.offerThroughput), [500]);
    assert.deepEqual((await at.client.offers.query("SELECT VALUE COUNT(1) FROM c WHERE c.content.offerThroughput = 400").fetchAll()).resources, [2]);
  });

  it("by the header of the Go SDK: items, databases, containers and offers", async () => {
    const headers = { "x-ms-documentdb-query": "True", "content-type": "application/query+json" };
    const rows = async (path, member, query, more = {}) =>
      answers(await at.rest("POST", path, { body: { query, parameters: [] }, headers: { ...headers, ...more } }), 200).body[member];
    await at.db.container("cats").items.create({ id: "tom", cats: "a" });
    assert.deepEqual(await rows("/dbs/db/colls/cats/docs", "Documents", "SELECT c.id FROM c", keyHeader("a")), [{ id: "tom" }]);
    assert.deepEqual(await rows("/dbs/db/colls/cats/docs", "Documents", "SELECT VALUE c.id FROM c",
      { "x-ms-documentdb-query-enablecrosspartition": "True" }), ["tom"]);
    assert.deepEqual(await rows("/dbs", "Databases", "SELECT VALUE d.id FROM d WHERE d.id = 'east'"), ["east"]);
    assert.deepEqual(await rows("/dbs/db/colls", "DocumentCollections", "SELECT VALUE c.id FROM c WHERE c.id = 'dogs'"), ["dogs"]);
    assert.deepEqual(await rows("/offers", "Offers", "SELECT VALUE COUNT(1) FROM c"), [3]);
  });

  it("in pages, which belong to their query and their feed", async () => {
    const rows = [];
    let token;
    do {
      const answer = answers(await asked("SELECT VALUE d.id FROM d", { "x-ms-max-item-count": "1", ...(token ? { "x-ms-continuation": token } : {}) }), 200);
      assert.ok(answer.body.Databases.length <= 1);
      rows.push(...answer.body.Databases);
      token = answer.headers["x-ms-continuation"];
      if (!token) continue;
      answers(await asked("SELECT VALUE d._rid FROM d", { "x-ms-continuation": token }), 400);
      answers(await at.rest("POST", "/dbs/db/colls", { body: { query: "SELECT VALUE d.id FROM d" },
        headers: { "x-ms-documentdb-isquery": "True", "x-ms-continuation": token } }), 400);
    } while (token);
    assert.deepEqual(rows, ["db", "east", "north", "south"]);
  });

  it("errors say what is wrong", async () => {
    answers(await asked("SELECT * FROM"), 400, { message: /SC1001/ });
    answers(await at.rest("POST", "/dbs", { body: { id: "x" }, headers: { "x-ms-documentdb-isquery": "True" } }), 400, { message: /query/ });
    answers(await asked("SELECT * FROM d", { "x-ms-cosmos-is-query-plan-request": "True" }), 400, { message: /plan/ });
  });
});
