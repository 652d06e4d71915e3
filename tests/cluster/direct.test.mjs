// Direct mode among several nodes: any node takes any frame, and sends on what others have. Two nodes; some seconds.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import { authorization } from "../sdk/rest.mjs";
import { DirectConnection } from "../sdk/rntbd.mjs";
import { makeContainer, startCluster, until } from "./cluster.mjs";

const container = "dbs/db/colls/c";
const keys = Array.from({ length: 40 }, (_, n) => `key-${n}`);

describe("direct mode among nodes", () => {
  let cluster;

  before(async () => {
    cluster = await startCluster(["n1", "n2"], { args: ["--direct-port", "0"], steady: true });
    await makeContainer(cluster);
  });
  after(() => cluster?.close());

  async function connect(t, node) {
    const rest = node.rest();
    const { _self, _rid } = await until("the node knows the container", async () => {
      const { status, body } = await rest("GET", `/${container}`);
      return status === 200 && body;
    });
    const date = new Date().toUTCString();
    const { body } = await rest("GET", `/addresses/?$resolveFor=${encodeURIComponent(`${_self}docs`)}`, { headers: {
      "x-ms-date": date, authorization: authorization(node.key, "GET", { type: "docs", link: _rid.toLowerCase() }, date) } });
    assert.ok(body._count > 2, "the container has several ranges");
    const at = new URL(body.Addresss[0].physcialUri.replace("rntbd:", "http:"));
    const connection = await DirectConnection.open(Number(at.port));
    t.after(() => connection.close());
    // The handlers find the range by the key, whatever the address was for.
    const replicaPath = at.pathname.replace(/\/$/, "");
    return (operation, key, { verb, id, payload } = {}) => connection.send(["item", operation],
      { database: "db", container: "c", replicaPath, key: JSON.stringify([key]), ...(id ? { item: id } : {}) },
      { key: node.key, signed: { verb, type: "docs", link: id ? `${container}/docs/${id}` : container }, body: payload });
  }

  it("what one node wrote, the other reads, whoever has the partition", async (t) => {
    const [first, second] = await Promise.all(["n1", "n2"].map((name) => connect(t, cluster.nodes.get(name))));
    const written = await Promise.all(keys.map((key, n) => first("upsert", key, { verb: "post", payload: { id: key, pk: key, n } })));
    assert.deepEqual([...new Set(written.map(({ status }) => status))], [201]);
    assert.ok(new Set(written.map(({ tokens }) => tokens.range)).size > 1, "they are in several ranges");
    const read = await Promise.all(keys.map((key) => second("read", key, { verb: "get", id: key })));
    assert.deepEqual(read.map(({ body }) => body?.n), keys.map((_, n) => n));
    assert.deepEqual(read.map(({ tokens }) => tokens.range), written.map(({ tokens }) => tokens.range));
    assert.ok(read.every(({ tokens }) => tokens.lsn > 0 && tokens.charge > 0 && /^-1#\d+$/.test(tokens.sessionToken)));
  });
});
