// The samples of examples/, run with the vendor's SDK.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import * as keys from "../../examples/client_side_keys.mjs";
import { Tenants } from "../../examples/tenants.mjs";
import * as series from "../../examples/time_series.mjs";
import { shared } from "./server.mjs";

describe("examples", () => {
  const at = shared();
  const database = async (id) => (await at.client.databases.create({ id })).database;

  it("time series in three ways", async () => {
    const db = await database("series");
    const readings = series.someReadings(4, 3, 5);
    const first = new Date("2026-08-01T00:00:00Z");
    const dated = await series.byDate(db, readings);
    assert.equal((await dated.ofDay(first)).length, 4);
    const sourced = await series.bySource(db, readings);
    const ofHost = await sourced.ofSource("host-1", first, new Date("2026-10-01T00:00:00Z"));
    assert.equal(ofHost.length, 10);
    assert.ok(ofHost.every((one) => one.source === "host-1"));
    const monthly = await series.byMonth(db, readings);
    assert.deepEqual(monthly.months(), ["2026-08", "2026-09", "2026-10"]);
    assert.deepEqual((await monthly.ofSource("host-1", first, new Date("2026-10-01T00:00:00Z"))).map((one) => one.id), ofHost.map((one) => one.id));
    const offerOf = async (id) => (await db.container(id).readOffer()).resource.content.offerThroughput;
    assert.equal(await offerOf("log-2026-10"), 1000);
    assert.equal(await offerOf("log-2026-09"), 400);
    assert.deepEqual(await monthly.dropOld(), ["2026-08"]);
    await assert.rejects(db.container("log-2026-08").read(), { code: 404 });
  });

  it("tenants in tiers", async () => {
    const db = await database("tenants");
    const tenants = await Tenants.open(db);
    for (let i = 0; i < 40; ++i) await tenants.write({ id: `n${i}`, tenantId: `t${i % 4}`, userId: `u${i % 5}`, n: i });
    assert.equal((await tenants.ofTenant("t1")).length, 10);
    const before = (await tenants.ofUser("t1", "u1")).map((one) => one.id).sort();
    assert.equal(await tenants.moveToOwnContainer("t1"), 10);
    assert.ok(tenants.isAlone("t1"));
    assert.equal((await tenants.ofTenant("t1")).length, 10);
    assert.deepEqual((await tenants.ofUser("t1", "u1")).map((one) => one.id).sort(), before);
    assert.equal((await tenants.ofTenant("t2")).length, 10);
    await tenants.write({ id: "later", tenantId: "t1", userId: "u1" });
    // Another client finds the same tiers.
    const again = await Tenants.open(db);
    assert.ok(again.isAlone("t1") && !again.isAlone("t2"));
    assert.equal((await again.ofTenant("t1")).length, 11);
    await again.removeAlone("t1");
    assert.equal((await again.ofTenant("t1")).length, 0);
  });

  it("A37: keys that the client makes", async () => {
    const db = await database("keys");
    assert.equal(keys.monthKey("ada", "2026-11-16T09:00:00Z"), "ada-2026-11");
    const streams = await keys.openStreams(db);
    for (let i = 0; i < 60; ++i) await streams.write({ id: `e${i}`, streamId: "s1", n: i });
    assert.equal((await streams.read("s1", "e7")).n, 7);
    assert.equal((await streams.readAll("s1")).length, 60);
    assert.ok((await streams.keys()).length > 5);
    const shards = await keys.openShards(db, 3);
    for (let i = 0; i < 60; ++i) await shards.write({ id: `o${i}`, userId: `u${i % 12}` });
    const counts = await shards.count();
    assert.equal(counts.reduce((sum, one) => sum + one, 0), 60);
    assert.ok(counts.every((one) => one > 0));
    assert.equal((await shards.ofUser("u3")).length, 5);
  });
});
