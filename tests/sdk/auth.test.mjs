// Who may do what: keys, signatures, clocks, and the safety of --dev.
import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { networkInterfaces } from "node:os";
import net from "node:net";
import { join } from "node:path";
import { describe, it } from "node:test";

import { answers, fails } from "./expect.mjs";
import { authorization, keyHeader, signedParts } from "./rest.mjs";
import { devKey, freePort, runProgram, shared } from "./server.mjs";

describe("authorization", () => {
  const at = shared({ dev: false });

  it("four keys are made on the first start, which only the owner can read", async () => {
    const file = join(at.server.data, "keys.json");
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const keys = Object.values(at.server.keys);
    assert.equal(keys.length, 4);
    assert.equal(new Set(keys).size, 4);
    for (const key of keys) assert.equal(Buffer.from(key, "base64").length, 64);
    assert.ok(!keys.includes(devKey));
  });

  it("both read-write keys read and write", async () => {
    for (const name of ["primary", "secondary"]) {
      const client = at.server.client({ key: at.server.keys[name] });
      assert.equal((await client.databases.create({ id: name })).statusCode, 201);
      assert.equal((await client.database(name).read()).statusCode, 200);
    }
  });

  it("read-only keys read everything and write nothing", async () => {
    const container = await at.container();
    await container.items.create({ id: "1", pk: "a" });
    for (const name of ["primaryReadonly", "secondaryReadonly"]) {
      const client = at.server.client({ key: at.server.keys[name] });
      const view = client.database("db").container(container.id);
      assert.equal((await view.item("1", "a").read()).statusCode, 200);
      assert.equal((await view.read()).statusCode, 200);
      assert.ok((await client.databases.readAll().fetchAll()).resources.length > 0);
      await fails(view.items.create({ id: "2", pk: "a" }), 403);
      await fails(view.items.upsert({ id: "1", pk: "a" }), 403);
      await fails(view.item("1", "a").replace({ id: "1", pk: "a" }), 403);
      await fails(view.item("1", "a").delete(), 403);
      await fails(view.delete(), 403);
      await fails(client.databases.create({ id: "x" }), 403);
      await fails(client.database("db").delete(), 403);
    }
    assert.equal((await container.item("1", "a").read()).statusCode, 200);
  });

  it("a read-only key writes nothing by calling it a query", async () => {
    const container = await at.container();
    await container.items.create({ id: "1", pk: "a" });
    const key = at.server.keys.primaryReadonly;
    const docs = `/dbs/db/colls/${container.id}/docs`;
    for (const header of ["x-ms-documentdb-isquery", "x-ms-documentdb-query", "x-ms-cosmos-is-query-plan-request"]) {
      const headers = { [header]: "True" };
      for (const [path, body] of [["/dbs", { id: "never" }], ["/dbs/db/colls", { id: "never", partitionKey: { paths: ["/pk"] } }],
        [docs, { id: "never", pk: "a" }]]) {
        answers(await at.rest("POST", path, { key, headers, body }), [400, 403, 501]);
      }
      answers(await at.rest("PUT", `${docs}/1`, { key, headers, body: { id: "1", pk: "a" } }), 403);
    }
    answers(await at.rest("GET", "/dbs/never"), 404);
    answers(await at.rest("GET", "/dbs/db/colls/never"), 404);
    const all = answers(await at.rest("POST", docs, { key, body: { query: "SELECT * FROM c" },
      headers: { "x-ms-documentdb-isquery": "True", "x-ms-documentdb-query-enablecrosspartition": "True" } }), 200);
    assert.deepEqual(all.body.Documents.map((item) => item.id), ["1"]);
  });

  it("a wrong key, the emulator's key, and no key at all: 401", async () => {
    const wrong = Buffer.alloc(64, 7).toString("base64");
    for (const key of [wrong, devKey, null]) {
      answers(await at.rest("GET", "/dbs", { key }), 401);
      answers(await at.rest("POST", "/dbs", { key, body: { id: "never" } }), 401);
    }
    await fails(at.server.client({ key: wrong }).databases.readAll().fetchAll(), 401);
    await fails(at.client.database("never").read(), 404);
  });

  it("a signature is for one verb, one resource and one date", async () => {
    const date = new Date();
    const stamp = date.toUTCString();
    const signed = (verb, path) => authorization(at.server.key, verb, signedParts(path), stamp);
    const send = (header) => at.rest("GET", "/dbs/db", { key: null, date, headers: { authorization: header } });
    answers(await send(signed("GET", "/dbs/db")), 200);
    for (const header of [signed("PUT", "/dbs/db"), signed("GET", "/dbs/other"), signed("GET", "/dbs"),
      signed("GET", "/dbs/db/colls/db"), authorization(at.server.key, "GET", signedParts("/dbs/db"), new Date(date - 60_000).toUTCString())]) {
      answers(await send(header), 401);
    }
  });

  it("an authorization that is not one is refused and named", async () => {
    for (const header of ["", "x", "Bearer abc", "type=master", "type%3dmaster%26ver%3d1.0%26sig%3d", "type=aad&ver=1.0&sig=x",
      "type=resource&ver=1.0&sig=x", "type=master&ver=9.9&sig=AAAA", "%zz", "type=master&ver=1.0&sig=" + "A".repeat(5000)]) {
      answers(await at.rest("GET", "/dbs", { key: null, headers: { authorization: header } }), [400, 401]);
    }
  });

  it("an unencoded signature works too, as some clients send it", async () => {
    const stamp = new Date().toUTCString();
    const header = decodeURIComponent(authorization(at.server.key, "GET", signedParts("/dbs"), stamp));
    answers(await at.rest("GET", "/dbs", { key: null, headers: { authorization: header, "x-ms-date": stamp } }), 200);
  });

  it("a clock may be wrong by less than fifteen minutes", async () => {
    const minutes = (n) => new Date(Date.now() + n * 60_000);
    for (const n of [-14, 14]) answers(await at.rest("GET", "/dbs", { date: minutes(n) }), 200);
    for (const n of [-16, 16, -60 * 24]) answers(await at.rest("GET", "/dbs", { date: minutes(n) }), [401, 403]);
    answers(await at.rest("GET", "/dbs", { headers: { "x-ms-date": "yesterday" } }), [400, 401, 403]);
  });

  it("names keep their case in the signature, RIDs are signed in lower case", async () => {
    const { database } = await at.client.databases.create({ id: "MixedCase" });
    await database.containers.create({ id: "AlsoMixed", partitionKey: "/pk" });
    await database.container("AlsoMixed").items.create({ id: "Item", pk: "a" });
    answers(await at.rest("GET", "/dbs/MixedCase/colls/AlsoMixed/docs/Item", { headers: keyHeader("a") }), 200);
    const { resource } = await database.read();
    answers(await at.rest("GET", `/dbs/${resource._rid}`, { rid: true }), 200);
  });

  it("the keys stay the same over a restart", async () => {
    const before = at.server.keys;
    await at.server.restart();
    assert.deepEqual(at.server.keys, before);
    answers(await at.rest("GET", "/dbs"), 200);
  });
});

describe("serve --dev", () => {
  const at = shared();

  it("takes the emulator's key", async () => {
    answers(await at.rest("GET", "/dbs", { key: devKey }), 200);
    answers(await at.rest("GET", "/dbs", { key: null }), 401);
  });

  it("listens on loopback only", async () => {
    const others = Object.values(networkInterfaces()).flat()
      .filter((one) => !one.internal && one.family === "IPv4").map((one) => one.address);
    for (const host of others) {
      const reached = await new Promise((resolve) => {
        const socket = net.connect({ host, port: at.server.port, timeout: 2000 });
        socket.once("connect", () => { socket.destroy(); resolve(true); });
        socket.once("error", () => resolve(false));
        socket.once("timeout", () => { socket.destroy(); resolve(false); });
      });
      assert.equal(reached, false, `${host}:${at.server.port} can be reached`);
    }
  });

  it("refuses a web page whose own name leads to this machine", async () => {
    const as = (host, path = "/dbs") => at.rest("GET", path, { headers: { host } });
    for (const host of ["page.example", `page.example:${at.server.port}`, `127.0.0.1.page.example:${at.server.port}`,
      "localhost.page.example", "10.0.0.1", "0.0.0.0"]) {
      for (const path of ["/dbs", "/", "/healthz", "/metrics", "/admin/partitions"]) {
        answers(await as(host, path), 403, { message: /--dev/ });
      }
    }
    for (const host of ["localhost", `LOCALHOST:${at.server.port}`, `127.0.0.1:${at.server.port}`, "[::1]:1", "app.localhost"]) {
      answers(await as(host), 200);
    }
  });

  it("gives web pages of other origins no leave: no answer to a preflight, nothing without a signature", async () => {
    const headers = { origin: "https://page.example" };
    const preflight = await at.rest("OPTIONS", "/dbs", { key: null, headers: { ...headers,
      "access-control-request-method": "POST", "access-control-request-headers": "authorization,x-ms-date" } });
    assert.ok(preflight.status >= 400, `${preflight.status}`);
    for (const answer of [preflight, await at.rest("GET", "/dbs", { headers })]) {
      assert.deepEqual(Object.keys(answer.headers).filter((name) => name.startsWith("access-control-")), []);
    }
    // What a form can send without a preflight.
    for (const type of ["text/plain", "application/x-www-form-urlencoded"]) {
      answers(await at.rest("POST", "/dbs", { key: null, headers: { ...headers, "content-type": type }, body: '{"id":"never"}' }), 401);
    }
    answers(await at.rest("GET", "/dbs/never"), 404);
  });

  it("refuses to listen anywhere else", async () => {
    const port = await freePort();
    const { code, out } = await runProgram(
      ["serve", "--data", join(at.server.data, "other"), "--port", String(port), "--dev", "--address", "0.0.0.0"],
      { timeout_ms: 5000 });
    assert.ok(typeof code === "number" && code !== 0, `it ended with ${code}`);
    assert.match(out, /loopback|127\.0\.0\.1/);
    assert.match(out, /0\.0\.0\.0/);
  });
});
