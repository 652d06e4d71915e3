// Provisioned throughput: offers, autoscale, sharing by a database, and what happens beyond it.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { answers, eventually, fails, ranges, together } from "./expect.mjs";
import { keyHeader } from "./rest.mjs";
import { shared } from "./server.mjs";

describe("throughput", () => {
  const at = shared({ limits: { "partition-throughput": 1000, "shared-throughput-containers": 2 } });

  it("A24: throughput given at creation is in the container's offer", async () => {
    const container = await at.container({ throughput: 700 });
    const { resource: offer } = await container.readOffer();
    const { resource } = await container.read();
    assert.equal(offer.content.offerThroughput, 700);
    assert.equal(offer.offerVersion, "V2");
    assert.equal(offer.resource, resource._self);
    assert.equal(offer.offerResourceId, resource._rid);
    for (const name of ["id", "_rid", "_self", "_etag"]) assert.equal(typeof offer[name], "string", name);
    answers(await at.rest("POST", "/dbs/db/colls", {
      body: { id: "byheader", partitionKey: { paths: ["/pk"], kind: "Hash" } },
      headers: { "x-ms-offer-throughput": "800" },
    }), 201);
    assert.equal((await at.db.container("byheader").readOffer()).resource.content.offerThroughput, 800);
  });

  it("A17: without a word a container gets the minimum", async () => {
    const { resource: offer } = await (await at.container()).readOffer();
    assert.equal(offer.content.offerThroughput, 400);
  });

  it("A13: throughput is changed at any time by replacing the offer", async () => {
    const container = await at.container({ throughput: 400 });
    const { resource, offer } = await container.readOffer();
    const replaced = await offer.replace({ ...resource, content: { ...resource.content, offerThroughput: 900 } });
    assert.equal(replaced.statusCode, 200);
    assert.equal(replaced.resource.content.offerThroughput, 900);
    assert.equal((await container.readOffer()).resource.content.offerThroughput, 900);
    assert.equal((await at.client.offer(resource.id).read()).resource.content.offerThroughput, 900);
    const { resources } = await at.client.offers.readAll().fetchAll();
    assert.equal(resources.filter((one) => one.id === resource.id).length, 1);
  });

  it("A12: more than t·N splits partitions until it is supported, and loses nothing", async () => {
    const container = await at.container({ throughput: 400 });
    await together(8, Array.from({ length: 100 }, (_, i) => () => container.items.create({ id: `${i}`, pk: `${i}` })));
    const { resource, offer } = await container.readOffer();
    await offer.replace({ ...resource, content: { ...resource.content, offerThroughput: 4000 } });
    const list = await eventually(async () => {
      const now = await ranges(at.rest, container);
      return now.length >= 4 && now;
    }, { what: "splitting for throughput" });
    assert.equal(list.length, 4);
    for (let i = 0; i < 100; ++i) assert.equal((await container.item(`${i}`, `${i}`).read()).statusCode, 200);
    assert.equal((await container.readOffer()).resource.content.offerThroughput, 4000);
  });

  it("A17: too little, too much and odd steps are refused, saying what is allowed", async () => {
    const create = (throughput) => at.rest("POST", "/dbs/db/colls", {
      body: { id: "refused", partitionKey: { paths: ["/pk"], kind: "Hash" } },
      headers: { "x-ms-offer-throughput": String(throughput) },
    });
    answers(await create(300), 400, { message: /400/ });
    answers(await create(450), 400, { message: /100/ });
    answers(await create(250_100), [400, 403], { message: /250000|250,000/ });
    // An empty header is no header, as it is for the vendor's clients and services.
    for (const bad of ["x", "-400", "400.5", "0", "400 000"]) answers(await create(bad), 400);

    const container = await at.container({ throughput: 400 });
    const { resource, offer } = await container.readOffer();
    for (const offerThroughput of [300, 450, -1, "400"]) {
      await fails(offer.replace({ ...resource, content: { ...resource.content, offerThroughput } }), 400);
    }
    assert.equal((await container.readOffer()).resource.content.offerThroughput, 400);
  });

  it("autoscale: created, read, changed", async () => {
    const container = await at.container({ maxThroughput: 2000 });
    const { resource, offer } = await container.readOffer();
    assert.equal(resource.content.offerAutopilotSettings.maxThroughput, 2000);
    assert.equal(resource.content.offerThroughput, 200, "a tenth of the maximum when idle");
    const changed = await offer.replace(
      { ...resource, content: { ...resource.content, offerAutopilotSettings: { maxThroughput: 3000 } } });
    assert.equal(changed.resource.content.offerAutopilotSettings.maxThroughput, 3000);
    const increment = { maxThroughput: 4000, autoUpgradePolicy: { throughputPolicy: { incrementPercent: 20 } } };
    const growing = await offer.replace({ ...resource, content: { ...resource.content, offerAutopilotSettings: increment } });
    assert.deepEqual(growing.resource.content.offerAutopilotSettings, increment);
    assert.deepEqual((await container.readOffer()).resource.content.offerAutopilotSettings, increment);
    const made = await at.container({ maxThroughput: 2000, autoUpgradePolicy: increment.autoUpgradePolicy });
    assert.deepEqual((await made.readOffer()).resource.content.offerAutopilotSettings, { ...increment, maxThroughput: 2000 });
    for (const maxThroughput of [500, 1500]) {
      await fails(at.db.containers.create({ id: "refused", partitionKey: "/pk", maxThroughput }), 400,
        { message: /1000|1,000/ });
    }
    answers(await at.rest("POST", "/dbs/db/colls", {
      body: { id: "refused", partitionKey: { paths: ["/pk"], kind: "Hash" } },
      headers: { "x-ms-offer-throughput": "400", "x-ms-cosmos-offer-autopilot-settings": '{"maxThroughput":1000}' },
    }), 400);
  });

  it("A13: from manual to autoscale and back", async () => {
    const container = await at.container({ throughput: 400 });
    const { resource: offer } = await container.readOffer();
    const put = (headers) => at.rest("PUT", `/offers/${offer.id}`, { headers, body: offer });
    const scaled = answers(await put({ "x-ms-cosmos-migrate-offer-to-autopilot": "true" }), 200);
    assert.equal(scaled.body.content.offerAutopilotSettings.maxThroughput, 1000);
    const manual = answers(await put({ "x-ms-cosmos-migrate-offer-to-manual-throughput": "true" }), 200);
    assert.equal(manual.body.content.offerAutopilotSettings, undefined);
    assert.ok(manual.body.content.offerThroughput >= 400);
  });

  it("a database's throughput is shared by its containers without their own", async () => {
    const { database } = await at.client.databases.create({ id: "sharing", throughput: 1000 });
    assert.equal((await database.readOffer()).resource.content.offerThroughput, 1000);
    for (const id of ["a", "b"]) await database.containers.create({ id, partitionKey: "/pk" });
    assert.equal((await database.container("a").readOffer()).resource, undefined);
    await database.container("a").items.create({ id: "1", pk: "a" });
    await fails(database.containers.create({ id: "c", partitionKey: "/pk" }), 400, { message: /\b2\b/ });
    await database.containers.create({ id: "own", partitionKey: "/pk", throughput: 400 });
    assert.equal((await database.container("own").readOffer()).resource.content.offerThroughput, 400);
    const { resource, offer } = await database.readOffer();
    await offer.replace({ ...resource, content: { ...resource.content, offerThroughput: 2000 } });
    assert.equal((await database.readOffer()).resource.content.offerThroughput, 2000);
    const { resource: none } = await at.db.readOffer();
    assert.equal(none, undefined);
  });

  it("offers go with their containers", async () => {
    const container = await at.container({ throughput: 400 });
    const { resource } = await container.readOffer();
    await container.delete();
    answers(await at.rest("GET", `/offers/${resource.id}`), 404);
  });

  it("A14: serve --dev refuses nothing", async () => {
    const container = await at.container({ throughput: 400 });
    const all = await Promise.all(Array.from({ length: 300 }, (_, i) =>
      at.rest("POST", `/dbs/db/colls/${container.id}/docs`, { body: { id: `${i}`, pk: "a" } })));
    assert.deepEqual([...new Set(all.map((answer) => answer.status))], [201]);
  });
});

describe("serve --dev --throttling report", () => {
  const at = shared({ args: ["--throttling", "report"], clock: true });

  it("A14: a query over its budget is served, says so, and is counted once, however long it is", async () => {
    const container = await at.container({ throughput: 400 });
    const docs = `/dbs/db/colls/${container.id}/docs`;
    await together(10, Array.from({ length: 300 }, (_, i) => () =>
      container.items.create({ id: `${i}`, pk: "a" })));
    const counted = async () => {
      const line = new RegExp(`^orrery_partition_throttled_total\\{[^}]*"${container.id}"[^}]*\\} (\\d+)`, "m");
      const found = (await at.rest("GET", "/metrics")).text.match(line);
      assert.ok(found, "the metric of the container's partition");
      return Number(found[1]);
    };
    at.server.clock.stop();  // no budget comes back
    const before = await counted();
    let told = 0;
    for (let i = 0; i < 20; ++i) {
      // More items than a query reads on the thread that received it.
      const answer = answers(await at.rest("POST", docs, {
        body: { query: "SELECT * FROM c", parameters: [] },
        headers: {
          "content-type": "application/query+json", "x-ms-documentdb-isquery": "True",
          "x-ms-max-item-count": "300", ...keyHeader("a"),
        },
      }), 200);
      assert.equal(answer.body._count, 300);
      if ("x-orrery-would-throttle-ms" in answer.headers) ++told;
    }
    assert.ok(told > 0, "none was over the budget");
    assert.equal(await counted() - before, told);
    at.server.clock.resume();
  });
});

describe("the rules of 2016, as settings", () => {
  const at = shared({ limits: {
    "partitioned-throughput-min": 1000, "split-throughput-min": 1000, "physical-partition-bytes": 200_000,
  } });
  const create = (id, throughput, partitionKey) => at.rest("POST", "/dbs/db/colls", {
    body: { id, ...(partitionKey ? { partitionKey } : {}) },
    headers: throughput === undefined ? {} : { "x-ms-offer-throughput": String(throughput) },
  });
  const key = { paths: ["/pk"], kind: "Hash", version: 2 };
  const offered = async (id) => (await at.db.container(id).readOffer()).resource.content.offerThroughput;

  it("A16: a fixed container has 400 to 10,000 RU/s", async () => {
    answers(await create("fixed", 300), 400, { message: /400/ });
    answers(await create("fixed", 10_100), 400, { message: /10000|10,000/ });
    answers(await create("fixed", 400), 201);
    answers(await create("fixed-most", 10_000), 201);
    answers(await create("fixed-default"), 201);
    assert.equal(await offered("fixed-default"), 400);
  });

  it("A17: a container with a key has at least 1,000 RU/s, in steps of 100, and at most 250,000", async () => {
    answers(await create("open", 900, key), 400, { message: /1000|1,000/ });
    answers(await create("open", 1050, key), 400, { message: /100/ });
    answers(await create("open", 250_100, key), [400, 403], { message: /250000|250,000/ });
    answers(await create("open", 1000, key), 201);
    answers(await create("open-default", undefined, key), 201);
    assert.equal(await offered("open-default"), 1000);
    const { resource, offer } = await at.db.container("open").readOffer();
    await fails(offer.replace({ ...resource, content: { ...resource.content, offerThroughput: 900 } }), 400);
    const { headers } = await offer.read();
    assert.equal(headers["x-ms-cosmos-min-throughput"], "1000");
  });

  it("A18: with a key and 1,000 RU/s a full partition splits by itself", async () => {
    answers(await create("grows", 1000, key), 201);
    const container = at.db.container("grows");
    const pad = "x".repeat(4000);
    await together(8, Array.from({ length: 80 }, (_, i) => () => container.items.create({ id: `${i}`, pk: `${i}`, pad })));
    await eventually(async () => (await ranges(at.rest, container)).length >= 2, { what: "a split" });
  });
});

describe("steps are settings", () => {
  const at = shared({ limits: { "throughput-step": 50, "autoscale-throughput-min": 500 } });

  it("A17: throughput in steps of 50, autoscale from 500", async () => {
    const manual = await at.container({ throughput: 450 });
    assert.equal((await manual.readOffer()).resource.content.offerThroughput, 450);
    const autoscale = await at.container({ maxThroughput: 1500 });
    assert.equal((await autoscale.readOffer()).resource.content.offerAutopilotSettings.maxThroughput, 1500);
    await fails(at.db.containers.create({ id: "odd", partitionKey: "/pk", throughput: 475 }), 400, { message: /50/ });
  });
});

describe("serve --dev --throttling on", () => {
  const at = shared({ args: ["--throttling", "on"], clock: true });

  it("A14: enforces budgets in development too", async () => {
    const container = await at.container({ throughput: 400 });
    at.server.clock.stop();  // no budget comes back
    const statuses = new Set();
    for (let round = 0; round < 20 && !statuses.has(429); ++round) {
      const all = await Promise.all(Array.from({ length: 50 }, (_, i) =>
        at.rest("POST", `/dbs/db/colls/${container.id}/docs`, { body: { id: `${round}-${i}`, pk: "a" } })));
      for (const { status } of all) statuses.add(status);
    }
    assert.deepEqual([...statuses].sort(), [201, 429]);
  });
});

describe("throttling", () => {
  const at = shared({ dev: false, limits: { "partition-throughput": 400 }, clock: true });

  // Sends creates for one key until some are refused; the answers. Time stands still from there on: the budget
  // does not come back by itself, however slow the machine is.
  async function overload(container, pk) {
    at.server.clock.stop();
    const all = [];
    for (let round = 0; round < 20; ++round) {
      all.push(...await Promise.all(Array.from({ length: 50 }, (_, i) =>
        at.rest("POST", `/dbs/db/colls/${container.id}/docs`,
          { body: { id: `${pk}-${round}-${i}`, pk }, headers: keyHeader(pk) }))));
      if (all.some((answer) => answer.status === 429)) return all;
    }
    return assert.fail("1,000 creates at once were not too many for 400 RU/s");
  }

  it("A14: beyond the budget: 429/3200 with the time to wait, and waiting that long helps", async () => {
    const container = await at.container({ throughput: 400 });
    const all = await overload(container, "a");
    const refused = all.filter((answer) => answer.status === 429);
    for (const answer of all) assert.ok([201, 429].includes(answer.status), answer.text);
    for (const answer of refused) {
      answers(answer, 429, { substatus: 3200 });
      const wait_ms = Number(answer.headers["x-ms-retry-after-ms"]);
      assert.ok(wait_ms >= 1 && wait_ms <= 10_000, `${wait_ms}`);
    }
    const later = () => at.rest("POST", `/dbs/db/colls/${container.id}/docs`,
      { body: { id: "later", pk: "a" }, headers: keyHeader("a") });
    const still = await later();  // with no other under way: what it is told to wait is the whole debt
    answers(still, 429);
    at.server.clock.advance_ms(Number(still.headers["x-ms-retry-after-ms"]));
    answers(await later(), 201);
    at.server.clock.resume();
    const written = all.filter((answer) => answer.status === 201).length;
    assert.ok(written >= 40, `${written} of about 70 that the first second allows`);
  });

  it("A14: one key has its partition's share and takes nothing from another's", async () => {
    const container = await at.container({ throughput: 800 });
    const list = await ranges(at.rest, container);
    assert.equal(list.length, 2);
    // Find a key for each range by asking where its session token is from.
    const keyOf = new Map();
    for (let i = 0; keyOf.size < 2 && i < 64; ++i) {
      const answer = answers(await at.rest("POST", `/dbs/db/colls/${container.id}/docs`,
        { body: { id: "probe", pk: `p${i}` }, headers: keyHeader(`p${i}`) }), 201);
      keyOf.set(answer.headers["x-ms-session-token"].split(":")[0], `p${i}`);
    }
    const [hot, cold] = [...keyOf.values()];
    await overload(container, hot);
    answers(await at.rest("POST", `/dbs/db/colls/${container.id}/docs`,
      { body: { id: "cold", pk: cold }, headers: keyHeader(cold) }), 201);
    at.server.clock.resume();
  });

  it("A14: the SDK waits and tries again, so the application only gets slower", async () => {
    const container = await at.container({ throughput: 400 });
    await overload(container, "a");
    at.server.clock.resume();
    const patient = at.server.client({ connectionPolicy: { retryOptions: { maxRetryAttemptCount: 100 } } });
    const items = patient.database("db").container(container.id).items;
    await together(10, Array.from({ length: 30 }, (_, i) => () => items.create({ id: `sdk${i}`, pk: "a" })));
  });

  it("A13: more throughput helps at once", async () => {
    const container = await at.container({ throughput: 400 });
    await overload(container, "a");
    at.server.clock.resume();
    const { resource, offer } = await container.readOffer();
    await offer.replace({ ...resource, content: { ...resource.content, offerThroughput: 4000 } });
    await eventually(async () => (await ranges(at.rest, container)).length >= 10, { what: "ten partitions" });
  });
});
