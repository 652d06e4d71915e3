// Administration (/admin/…): who may ask, and that a signed request is good for itself alone, once.
import assert from "node:assert/strict";
import { networkInterfaces } from "node:os";
import { describe, it } from "node:test";

import { answers } from "./expect.mjs";
import { adminHeaders, authorization } from "./rest.mjs";
import { shared } from "./server.mjs";

describe("administration", () => {
  const at = shared({ dev: false });
  const splitBody = (container) => JSON.stringify({ database: "db", container: container.id });
  const send = (method, path, headers, body) => at.rest(method, path, { key: null, headers, body });

  it("a captured request is not good for another path, query, body or method", async () => {
    const container = await at.container();
    const body = splitBody(container);
    const regenerate = JSON.stringify({ key: "primary" });
    const keys = at.server.keys;
    const captured = () => adminHeaders(at.server.key, "POST", "/admin/split", body);
    for (const [method, path, sent] of [
      ["POST", "/admin/keys/regenerate", regenerate], ["POST", "/admin/keys/regenerate", body],
      ["POST", "/admin/split", splitBody({ id: "other" })], ["POST", "/admin/split", ""], ["POST", "/admin/split?x=1", body],
      ["POST", "/admin//split", body], ["GET", "/admin/split", body], ["PUT", "/admin/split", body],
      ["GET", `/admin/partitions?database=db&container=${container.id}`, body],
    ]) {
      answers(await send(method, path, captured(), sent), 401);
    }
    const hash = adminHeaders(at.server.key, "POST", "/admin/keys/regenerate", regenerate)["x-orrery-content-sha256"];
    answers(await send("POST", "/admin/split", { ...captured(), "x-orrery-content-sha256": hash }, regenerate), 401);
    answers(await send("POST", "/admin/split", { ...captured(), "x-orrery-nonce": "0".repeat(32) }, body), 401);
    assert.deepEqual(at.server.keys, keys);
    answers(await send("POST", "/admin/split", captured(), body), 200);
  });

  it("a captured request is not taken a second time, later, or by the next server", async () => {
    const container = await at.container();
    const path = `/admin/partitions?database=db&container=${container.id}`;
    const captured = adminHeaders(at.server.key, "GET", path);
    answers(await send("GET", path, captured), 200);
    answers(await send("GET", path, captured), 401, { message: /made before/ });
    const dated = (minutes) => adminHeaders(at.server.key, "GET", path, "", new Date(Date.now() + minutes * 60_000).toUTCString());
    for (const minutes of [-6, 6, -24 * 60]) answers(await send("GET", path, dated(minutes)), 401, { message: /clock/ });
    answers(await send("GET", path, dated(4)), 200);
    // The next server does not remember what this one took.
    const before = dated(-2 / 60);
    await at.server.restart();
    answers(await send("GET", path, before), 401);
  });

  it("a signature of the vendor's kind does not administrate, and an administrator's does nothing else", async () => {
    const container = await at.container();
    const date = new Date().toUTCString();
    for (const parts of [{ type: "admin", link: "" }, { type: "split", link: "admin" }, { type: "admin", link: "admin/split" }]) {
      const headers = { authorization: authorization(at.server.key, "POST", parts, date), "x-ms-date": date };
      answers(await send("POST", "/admin/split", headers, splitBody(container)), 401, { message: /orrery-admin/ });
    }
    answers(await send("POST", "/admin/split", {}, splitBody(container)), 401);
    const headers = adminHeaders(at.server.key, "DELETE", "/dbs/db");
    answers(await send("DELETE", "/dbs/db", { ...headers, "x-ms-date": headers["x-orrery-date"] }), 401);
    answers(await send("DELETE", "/dbs/db", { ...headers, authorization: headers.authorization.replace("orrery-admin", "master") }), 401);
    answers(await at.rest("GET", "/dbs/db"), 200);
  });

  it("read-only keys look, and change nothing", async () => {
    const container = await at.container();
    const { primaryReadonly: key } = at.server.keys;
    for (const [method, path, body] of [["POST", "/admin/split", splitBody(container)], ["POST", "/admin/keys/regenerate", { key: "primary" }],
      ["POST", `/admin/partitions?database=db&container=${container.id}`], ["DELETE", "/admin/containers"]]) {
      answers(await at.rest(method, path, { key, body }), 403, { message: /may only read/ });
    }
    // Whoever may read all items may know how they are spread.
    answers(await at.rest("GET", `/admin/partitions?database=db&container=${container.id}`, { key }), 200);
    answers(await at.rest("GET", "/admin/containers", { key }), 200);
    answers(await at.rest("GET", "/admin/history", { key }), 200);
  });

  it("containers, partitions and history tell what is stored, charged and split", async () => {
    const container = await at.container();
    for (let i = 0; i < 20; ++i) await container.items.create({ id: `${i}`, pk: `k${i % 5}` });
    const partitions = async (keys) => (await at.rest("GET", `/admin/partitions?database=db&container=${container.id}${keys}`)).body;
    const before = await partitions("&keys=2");
    assert.equal(before.partitions.length, 1);
    assert.deepEqual(before.partitions[0].parents, []);
    assert.equal(before.partitions[0].share, before.throughput.units);
    assert.equal(before.keys.length, 2);
    assert.equal(before.keys[0].range, before.partitions[0].id);
    assert.equal((await partitions("&keys=0")).keys.length, 0);
    assert.equal((await partitions("&keys=nonsense")).keys.length, 5);
    await at.server.split(container);
    const after = await partitions("");
    assert.deepEqual(after.splits.map(({ cause, parent, children }) => ({ cause, parent, children })),
      [{ cause: "asked", parent: before.partitions[0].id, children: after.partitions.map((one) => one.id) }]);
    assert.ok(Math.abs(after.splits[0].at - Date.now() / 1000) < 3600);
    assert.deepEqual(after.partitions.map((one) => one.parents), [[before.partitions[0].id], [before.partitions[0].id]]);
    const { body } = await at.rest("GET", "/admin/containers");
    const own = body.containers.find((one) => one.container === container.id);
    assert.deepEqual([own.face, own.database, own.partitions, own.items], ["cosmos", "db", 2, 20]);
    assert.ok(own.bytes > 0);
    const { body: history } = await at.rest("GET", "/admin/history?step=5");
    assert.deepEqual(history.figures.slice(0, 4), ["at", "reads", "writes", "queries"]);
    answers(await at.rest("GET", "/admin/history?step=7"), 400, { message: /step=7/ });
  });
});

describe("administration from elsewhere", () => {
  const at = shared({ dev: false, args: ["--address", "0.0.0.0"] });

  it("a new key is not told over plain http to another machine", async (t) => {
    const elsewhere = Object.values(networkInterfaces()).flat().find((one) => !one.internal && one.family === "IPv4")?.address;
    if (elsewhere === undefined) return t.skip("this machine has no address but loopback");
    const regenerate = (over, host) =>
      at.rest("POST", "/admin/keys/regenerate", { over, host, body: { key: "secondary" } });
    const keys = at.server.keys;
    answers(await regenerate("http", elsewhere), 403, { message: /https/ });
    assert.deepEqual(at.server.keys, keys);
    answers(await regenerate("http", "127.0.0.1"), 200);
    answers(await regenerate("https", elsewhere), 200);
  });
});
