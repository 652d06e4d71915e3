// The Gremlin face below the drivers: parts and their attributes, forms of GraphSON, codes of failures, time, memory and
// throughput, what is stored of a traversal that fails, and clients that read slowly or go. Some ten seconds.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";

import { eventually } from "./expect.mjs";
import { drivers, graphClient, RawGraph, refusal, rows, sharedGraphs, startGraphs, v2, v3 } from "./gremlin.mjs";

const attributesOf = (part) => part.status.attributes;

describe("gremlin on the wire", () => {
  const at = sharedGraphs({ clock: true });
  const raws = [];
  const raw = async (name, options) => {
    const opened = await RawGraph.open(at.server, name, options);
    raws.push(opened);
    return opened;
  };
  after(() => raws.forEach((one) => one.close()));

  it("operators run a text at /admin/run, as the console does", async () => {
    const client = await at.graph("asked");
    await client.submit("g.addV('a').property('id', '1').property('pk', 'p').property('n', 1)");
    const rest = at.server.rest();
    const run = (text, more = {}, options = {}) => rest("POST", "/admin/run", { body: { face: "gremlin", database: "db", container: "asked", text, ...more }, ...options });
    const found = await run("g.V().values('n')");
    assert.equal(found.status, 200, found.text);
    assert.deepEqual([found.body.results, found.body.more], [[1], false]);
    assert.ok(Number(found.headers["x-ms-request-charge"]) > 0);
    assert.match(found.headers["x-ms-activity-id"], /-/);
    for (const [text, status, message, more] of [
      ["g.V(", 400, /text|end|argument/i], ["", 400, /no gremlin argument/], ["g.V().sideways()", 400, /sideways/], ["g.addV('a').property('id', '1').property('pk', 'p')", 409, /Nothing was written/],
      ["g.V()", 404, /no graph other/, { container: "other" }], ["g.V()", 404, /no face 'sparql'/, { face: "sparql" }], ["g.V()", 400, /the body is to be/, { face: 1 }],
    ]) {
      const refused = await run(text, more);
      assert.equal(refused.status, status, `${text}: ${refused.text}`);
      assert.match(refused.body.message, message);
    }
    assert.equal((await run("g.V()", {}, { key: null })).status, 401);
    assert.equal((await rest("GET", "/admin/run")).status, 405);
    // With values for its names, typed or not.
    const bound = await run("g.V().has('n', n).values(p)", { bindings: { n: { "@type": "g:Int32", "@value": 1 }, p: "n" } });
    assert.deepEqual(bound.body?.results, [1], bound.text);
    assert.deepEqual((await run("g.inject(l).unfold()", { bindings: { l: [1, "a", true] } })).body.results, [1, "a", true]);
    assert.equal((await run("g.V()", { bindings: null })).status, 200);
    for (const [bindings, message] of [["n", /bindings is to be an object/], [[1], /bindings is to be an object/],
      [{ n: { "@type": "g:Int32", "@value": "x" } }, /./]]) {
      const refused = await run("g.V().has('n', n)", { bindings });
      assert.equal(refused.status, 400, refused.text);
      assert.match(refused.body.message, message);
    }
    assert.equal((await run("g.V()", { bindings: { n: "x".repeat(40_000) } })).status, 413);
    const many = await run("g.inject(1).repeat(union(identity(), identity())).times(20)");
    assert.deepEqual([many.body.results.length, many.body.more], [1000, true]);
    // One that writes is run to its end.
    const made = await run("g.inject(1).repeat(union(identity(), identity())).times(11).addV('many').property('pk', 'q')");
    assert.deepEqual([made.body.results.length, made.body.more], [1000, true]);
    assert.deepEqual(await rows(client, "g.V().hasLabel('many').count()"), [2048]);
  });

  it("each part of 64 has its attributes", async () => {
    const client = await at.graph("parts");
    await client.submit("g.addV('a').property('id', '1').property('pk', 'p')");
    const parts = await (await raw("parts")).ask("g.V().repeat(union(identity(), identity())).times(8).id()");
    assert.deepEqual(parts.map((part) => [part.status.code, part.result.data.length]), [[206, 64], [206, 64], [206, 64], [200, 64]]);
    for (const part of parts) {
      const attributes = attributesOf(part);
      assert.equal(attributes["x-ms-status-code"], 200);
      assert.ok(attributes["x-ms-total-request-charge"] >= attributes["x-ms-request-charge"]);
      assert.ok(attributes["x-ms-total-server-time-ms"] >= attributes["x-ms-server-time-ms"]);
      assert.equal(attributes["x-ms-activity-id"], attributesOf(parts[0])["x-ms-activity-id"]);
      assert.deepEqual(part.result.meta, {});
    }
    assert.ok(attributesOf(parts[0])["x-ms-request-charge"] > 0);
    assert.equal(attributesOf(parts[3])["x-ms-request-charge"], 0);
  });

  it("GraphSON 1 and untyped forms have no types; version 3 has", async () => {
    const client = await at.graph("forms");
    await client.submit("g.addV('a').property('id', '1').property('pk', 'p').property('n', 5)");
    for (const mimeType of ["application/vnd.gremlin-v1.0+json", "application/vnd.gremlin-v2.0+json;types=false", "application/vnd.gremlin-v3.0+json-untyped", v2]) {
      const [part] = await (await raw("forms", { mimeType })).ask("g.V()");
      assert.deepEqual([part.result.data[0].type, part.result.data[0].properties.n[0].value], ["vertex", 5], mimeType);
    }
    const [typed] = await (await raw("forms", { mimeType: v3 })).ask("g.V().values('n')");
    assert.deepEqual(typed.result.data, { "@type": "g:List", "@value": [{ "@type": "g:Int32", "@value": 5 }] });
  });

  it("GraphSON 2 is typed with --gremlin-answers typed", async () => {
    const server = await startGraphs({ args: ["--gremlin-answers", "typed"] });
    try {
      const cosmos = server.client();
      const { database } = await cosmos.databases.create({ id: "db" });
      await database.containers.create({ id: "typed", partitionKey: { paths: ["/pk"] } });
      const client = graphClient(server, "typed");
      const [vertex] = await rows(client, "g.addV('a').property('id', '1').property('pk', 'p')");
      assert.equal(vertex.constructor.name, "Vertex");
      await client.close();
      const direct = await RawGraph.open(server, "typed");
      const [part] = await direct.ask("g.V().count()");
      assert.deepEqual(part.result.data, [{ "@type": "g:Int64", "@value": 1 }]);
      direct.close();
    } finally {
      await server.close();
    }
  });

  it("GraphBinary is refused in GraphBinary, with what to use instead", async () => {
    await at.graph("binary");
    const direct = await raw("binary");
    const mime = "application/vnd.graphbinary-v1.0";
    const id = Buffer.from("00112233445566778899aabbccddeeff", "hex");
    const answer = new Promise((resolve) => direct.socket.removeAllListeners("message").once("message", resolve));
    direct.socket.send(Buffer.concat([Buffer.from([mime.length]), Buffer.from(mime), Buffer.from([0x81]), id, Buffer.alloc(8)]));
    const bytes = await answer;
    assert.equal(bytes[0], 0x81);
    assert.deepEqual(bytes.subarray(2, 18), id);
    assert.equal(bytes.readInt32BE(18), 498);
    assert.match(bytes.toString(), /gremlin-v3\.0\+json/);
  });

  it("wss", async () => {
    const client = await at.graph("secure");
    await client.submit("g.addV('a').property('id', '1').property('pk', 'p')");
    const [part] = await (await raw("secure", { url: at.server.secureGremlinUrl })).ask("g.V().id()");
    assert.deepEqual(part.result.data, ["1"]);
  });

  it("too long is 1009, too much memory 1003, and the connection stays", async () => {
    await at.graph("limits");
    const direct = await raw("limits");
    const paths = (times) => `g.inject(1).repeat(union(identity(), identity()).as('x')).times(${times}).count()`;
    const [late] = await direct.ask(paths(18), { args: { evaluationTimeout: 1 } });
    assert.deepEqual([late.status.code, attributesOf(late)["x-ms-status-code"]], [598, 1009]);
    const [large] = await direct.ask(paths(30));
    assert.deepEqual([large.status.code, attributesOf(large)["x-ms-status-code"], attributesOf(large)["x-ms-substatus-code"]], [500, 1003, 0]);
    const [fine] = await direct.ask("g.inject(1)");
    assert.deepEqual(fine.result.data, [1]);
  });

  it("an edge by its partition key and id; another partition property", async () => {
    await at.database.containers.create({ id: "countries", partitionKey: { paths: ["/country"] } });
    const client = at.client("countries");
    await client.submit("g.addV('city').property('id', 'Seattle').property('country', 'USA')");
    await client.submit("g.addV('city').property('id', 'Portland').property('country', 'USA')");
    await client.submit("g.addV('city').property('id', 'Seattle').property('country', 'Elsewhere')");
    await client.submit("g.V(['USA', 'Seattle']).addE('road').property('id', 'I5').to(g.V(['USA', 'Portland']))");
    assert.deepEqual(await rows(client, "g.E(['USA', 'I5']).inV().id()"), ["Portland"]);
    assert.deepEqual(await rows(client, "g.E(['Elsewhere', 'I5']).id()"), ["I5"]);
    assert.deepEqual(await rows(client, "g.V(['Elsewhere', 'Seattle']).out().count()"), [0]);
    assert.deepEqual(await rows(client, "g.V(['USA', 'Seattle'], ['Elsewhere', 'Seattle']).values('country').order()"), ["Elsewhere", "USA"]);
    assert.match((await refusal(client, "g.V(['USA', 'Seattle']).property('country', 'Canada')")).message, /partition key/);
  });

  it("ttl is the item's", async () => {
    await at.database.containers.create({ id: "mortal", partitionKey: { paths: ["/pk"] }, defaultTtl: -1 });
    const client = at.client("mortal");
    await client.submit("g.addV('a').property('id', '1').property('pk', 'p').property('ttl', 100)");
    await client.submit("g.addV('a').property('id', '2').property('pk', 'p')");
    assert.deepEqual(await rows(client, "g.V('1').values('ttl')"), [100]);
    at.server.clock.move(200);
    assert.deepEqual(await rows(client, "g.V().id()"), ["2"]);
    assert.deepEqual(await rows(client, "g.V().count()"), [1]);
  });

  it("members of an item that are no properties stay when it is written", async () => {
    const client = await at.graph("foreign");
    const foreign = { nested: { a: [1, 2] }, flat: 7, mixed: [1, { _value: 2 }] };
    await at.container.items.create({ id: "1", pk: "p", label: "a", ...foreign });
    await client.submit("g.V('1').property('n', 1)");
    const { resource } = await at.container.item("1", "p").read();
    assert.deepEqual([resource.nested, resource.flat, resource.mixed, resource.n[0]._value], [foreign.nested, 7, foreign.mixed, 1]);
  });

  it("within one partition key all or nothing is stored, and the answer says so", async () => {
    const client = await at.graph("atomic");
    await client.submit("g.addV('a').property('id', 'old').property('pk', 'p')");
    const refused = await refusal(client, "g.addV('a').property('id', 'new').property('pk', 'p').as('n').addV('a').property('id', 'old').property('pk', 'p').addE('x').to('n')");
    assert.equal(refused.serviceCode, 409);
    assert.match(refused.message, /Nothing was written: all of its 3 writes/);
    assert.equal(refused.of("x-orrery-writes-stored"), 0);
    assert.equal(refused.of("x-orrery-writes-given-up"), 3);
    assert.deepEqual(await rows(client, "g.V().id()"), ["old"]);
    // It also fails as a whole when it fails by itself, after it has written.
    const later = await refusal(client, "g.addV('a').property('id', 'new').property('pk', 'p').constant('text').out()");
    assert.match(later.message, /Nothing was written: all of its 1 writes/);
    assert.deepEqual(await rows(client, "g.V().id()"), ["old"]);
  });

  it("beyond one partition key the answer says what was stored", async () => {
    const client = await at.graph("pieces");
    await client.submit("g.addV('a').property('id', 'old').property('pk', 'q')");
    const refused = await refusal(client, "g.addV('a').property('id', '1').property('pk', 'p').addV('a').property('id', '2').property('pk', 'p').addV('a').property('id', 'old').property('pk', 'q')");
    assert.equal(refused.serviceCode, 409);
    assert.match(refused.message, /had stored 2 writes, which stay; 1 were given up/);
    assert.deepEqual([refused.of("x-orrery-writes-stored"), refused.of("x-orrery-writes-given-up")], [2, 1]);
    assert.deepEqual((await rows(client, "g.V().id()")).sort(), ["1", "2", "old"]);
  });

  it("a traversal sees what it has written", async () => {
    const client = await at.graph("own");
    assert.deepEqual(await rows(client, "g.addV('a').property('id', '1').property('pk', 'p').property('n', 1).V().has('n', 1).id()"), ["1"]);
    assert.deepEqual(await rows(client, "g.V('1').property('n', 2).V().has('n', 2).count()"), [1]);
    assert.deepEqual(await rows(client, "g.V('1').property('n', 3).V().has('n', 2).count()"), [0]);
    assert.deepEqual(await rows(client, "g.V('1').as('a').addE('self').to('a').V('1').both().id()"), ["1", "1"]);
    assert.deepEqual(await rows(client, "g.V('1').sideEffect(drop()).V().count()"), [0]);
    assert.deepEqual(await rows(client, "g.E().count()"), [0]);
  });

  it("system properties are shown where ProjectionStrategy asks for them, and cannot be written", async () => {
    const client = await at.graph("system");
    await client.submit("g.addV('a').property('id', '1').property('pk', 'p').as('a').addE('e').to('a').property('id', 'e1')");
    const { resource } = await at.container.item("1", "p").read();
    const shown = "g.withStrategies(ProjectionStrategy.build().IncludeSystemProperties('_ts', '_etag').create())";
    assert.deepEqual(await rows(client, `${shown}.V('1').project('ts', 'etag').by('_ts').by('_etag')`), [{ ts: resource._ts, etag: resource._etag }]);
    assert.deepEqual(await rows(client, `${shown}.V().has('_ts', gte(${resource._ts})).id()`), ["1"]);
    assert.deepEqual(await rows(client, `${shown}.E().values('_etag').count()`), [1]);
    assert.deepEqual(await rows(client, "g.V('1').values('_ts')"), []);
    await client.submit(`${shown}.V('1').property('n', 1)`);
    assert.equal((await at.container.item("1", "p").read()).resource.n[0]._value, 1);
    assert.match((await refusal(client, "g.withStrategies(ProjectionStrategy.build().IncludeSystemProperties('_secret').create()).V()")).message, /_secret/);
  });

  // Results of 50 MB, which no buffer on the way holds: the traversal waits until they are read. It has read the vertex '1' before,
  // and writes it after.
  const slow = "g.V('1').as('first').V().choose(hasId('z'), select('first').property('n', 'by the traversal').id(), values('blob'))";
  const makeSlow = async (name, more = {}) => {
    const client = await at.graph(name, more);
    const blob = "x".repeat(1_000_000);
    await client.submit("g.addV('a').property('id', '1').property('pk', 'p').property('n', 'before').property('blob', 'x')");
    for (let i = 0; i < 50; ++i) await client.submit("g.addV('a').property('id', i).property('pk', 'p').property('blob', b)", { i: `b${i}`, b: blob });
    await client.submit("g.addV('a').property('id', 'z').property('pk', 'p')");
    return client;
  };
  // Asks, and stops reading at the first part.
  const begin = async (name) => {
    const direct = await raw(name);
    await direct.ask("g.inject(1)");
    let parts;
    await new Promise((begun) => {
      let isFirst = true;
      parts = direct.ask(slow, { onPart: () => {
        if (isFirst) direct.socket._socket.pause(), begun();
        isFirst = false;
      } });
    });
    return { direct, parts };
  };

  it("an item that was changed since it was read is 412", async () => {
    await makeSlow("conflict");
    const { direct, parts } = await begin("conflict");
    const { resource } = await at.container.item("1", "p").read();
    await at.container.item("1", "p").replace({ ...resource, n: [{ id: "n", _value: "by another" }] });
    direct.socket._socket.resume();
    const last = (await parts).at(-1);
    assert.deepEqual([last.status.code, attributesOf(last)["x-ms-status-code"]], [500, 412]);
    assert.equal((await at.container.item("1", "p").read()).resource.n[0]._value, "by another");
  });

  it("what only adds at known vertices is done while slow traversals have every thread", async () => {
    const client = await at.graph("busy");
    for (const id of ["a", "b"]) {
      await client.submit("g.addV('v').property('id', i).property('pk', i)", { i: id });
      await client.submit("g.V(i)", { i: id });
    }
    const queue = async (what) => {
      const { text } = await at.server.rest()("GET", "/metrics", { key: null });
      return Number(new RegExp(`^orrery_queue_${what}\\{queue="queries"\\} (\\d+)`, "m").exec(text)[1]);
    };
    // Each would take hours.
    const slow = Array(6).fill().reduce((inner) => `repeat(${inner}).times(60)`, "identity()");
    const others = await Promise.all(Array.from({ length: 16 }, () => raw("busy")));
    let ended = 0;
    for (const other of others) other.ask(`g.inject(1).${slow}`).then(() => ++ended);
    await eventually(async () => await queue("waiting") > 0, { what: "a full house" });
    await client.submit("g.V('a').addE('e').to(__.V('b')).property('by', 'text')");
    const { Bytecode } = drivers["3.4"].process;
    const bytes = new Bytecode().addStep("V", ["b"]).addStep("addE", ["e"])
      .addStep("to", [new Bytecode().addStep("V", ["a"])]).addStep("property", ["by", "bytecode"]);
    await client.submit(bytes);
    assert.equal(ended, 0);
    for (const other of others) other.close();
    await eventually(async () => await queue("running") === 0, { what: "the end of the others" });
    assert.deepEqual((await rows(client, "g.E().values('by')")).sort(), ["bytecode", "text"]);
  });

  it("a traversal ends when its client goes, and stores nothing", async () => {
    await makeSlow("gone");
    const evaluations = async () => {
      const { text } = await at.server.rest()("GET", "/metrics", { key: null });
      return [...text.matchAll(/^orrery_requests_total\{[^}]*gremlin[^}]*eval[^}]*\} (\d+)/gm)].reduce((sum, [, count]) => sum + Number(count), 0);
    };
    const { direct } = await begin("gone");
    const before = await evaluations();
    direct.close();
    await eventually(async () => await evaluations() > before, { what: "the end of the traversal" });
    assert.equal((await at.container.item("1", "p").read()).resource.n[0]._value, "before");
  });

  it("a split during a traversal is not noticed", async () => {
    const client = await makeSlow("split", { offerThroughput: 400 });
    for (let i = 0; i < 20; ++i) await client.submit("g.addV('a').property('id', i).property('pk', i).property('blob', 'y')", { i: `k${i}` });
    const { direct, parts } = await begin("split");
    const { code, out } = await at.server.split(at.database.container("split"));
    assert.equal(code, 0, out);
    direct.socket._socket.resume();
    const results = (await parts).flatMap((part) => part.result.data ?? []);
    assert.equal((await parts).at(-1).status.code, 200);
    assert.equal(results.filter((one) => one.length === 1_000_000).length, 50);
    assert.equal(results.filter((one) => one === "y").length, 20);
    assert.equal(results.filter((one) => one === "1").length, 1);
    assert.equal((await at.database.container("split").item("1", "p").read()).resource.n[0]._value, "by the traversal");
  });

  it("newer drivers ask for the same", async () => {
    for (const driver of Object.values(drivers)) {
      const client = await at.graph("drivers", { driver, mimeType: v3 });
      assert.deepEqual(await rows(client, "g.inject(1, 2)"), [1, 2]);
    }
  });
});

describe("gremlin over its budget", () => {
  const at = sharedGraphs({ args: ["--throttling", "on"], clock: true });

  it("429 says how long to wait, and nothing is stored", async () => {
    const client = await at.graph("small", { offerThroughput: 400 });
    at.server.clock.stop();
    let refused;
    let stored = 0;
    for (; refused === undefined; ++stored) {
      assert.ok(stored < 10_000);
      try {
        await client.submit("g.addV('a').property('pk', 'p')");
      } catch {
        refused = await refusal(client, "g.addV('a').property('pk', 'p')");
        --stored;
      }
    }
    assert.deepEqual([refused.code, refused.serviceCode, refused.of("x-ms-substatus-code")], [500, 429, 3200]);
    assert.match(refused.of("x-ms-retry-after-ms"), /^\d\d:\d\d:\d\d\.\d{7}$/);
    at.server.clock.resume();
    await eventually(async () => {
      try {
        return (await rows(client, "g.V().count()"))[0] === stored;
      } catch {
        return false;
      }
    }, { what: "the budget" });
  });
});

describe("gremlin with resource tokens", () => {
  const at = sharedGraphs();

  it("a token reads, or writes, its container; with a partition key that alone; until its permission goes", async () => {
    const client = await at.graph("shared");
    await at.graph("other");
    await client.submit("g.addV('a').property('id', '1').property('pk', 'p').as('x').addV('a').property('id', '2').property('pk', 'q').addE('e').to('x')");
    const { user } = await at.database.users.create({ id: "ann" });
    const permit = async (id, permissionMode, more = {}) => (await user.permissions.create({ id, permissionMode, resource: "dbs/db/colls/shared", ...more })).resource._token;
    const reading = at.client("shared", { key: await permit("reads", "Read") });
    assert.deepEqual(await rows(reading, "g.V().count()"), [2]);
    assert.equal((await refusal(reading, "g.V('1').property('n', 1)")).code, 403);
    const keyed = at.client("shared", { key: await permit("keyed", "All", { resourcePartitionKey: ["p"] }) });
    assert.deepEqual(await rows(keyed, "g.V().id()"), ["1"]);
    assert.deepEqual(await rows(keyed, "g.V('1').in().id()"), []);
    assert.deepEqual(await rows(keyed, "g.V(['q', '2']).id()"), []);
    await keyed.submit("g.V('1').property('n', 2)");
    assert.equal((await refusal(keyed, "g.addV('a').property('pk', 'q')")).code, 403);
    assert.equal((await refusal(at.client("other", { key: await permit("elsewhere", "All", { resourcePartitionKey: ["z"] }) }), "g.V()")).code, 403);
    await user.permission("reads").delete();
    assert.equal((await refusal(reading, "g.V().count()")).code, 403);
    assert.equal((await refusal(at.client("shared", { key: "type=resource&ver=1.0&sig=bm9uZQ==" }), "g.V()")).code, 401);
  });
});
