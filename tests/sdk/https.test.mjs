// The same port speaks TLS: the SDK's usual way, with the certificate made on the first start.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import tls from "node:tls";

import { answers, fails, together } from "./expect.mjs";
import { shared } from "./server.mjs";

describe("https", () => {
  const at = shared({ client: { over: "https" } });

  function certificate() {
    return new Promise((resolve, reject) => {
      const socket = tls.connect({ host: "127.0.0.1", port: at.server.port, servername: "localhost", rejectUnauthorized: false },
        () => {
          const found = { peer: socket.getPeerCertificate(), protocol: socket.getProtocol() };
          socket.end();
          resolve(found);
        });
      socket.once("error", reject);
    });
  }

  it("A23: databases, containers and items over https with the SDK", async () => {
    assert.equal(new URL(await at.client.getWriteEndpoint()).origin, at.server.httpsUrl);
    const container = await at.container({ throughput: 1000 });
    const created = await container.items.create({ id: "1", pk: "a", city: "città" });
    assert.equal(created.statusCode, 201);
    assert.deepEqual((await container.item("1", "a").read()).resource, created.resource);
    await container.item("1", "a").replace({ id: "1", pk: "a", n: 2 });
    assert.equal((await container.items.upsert({ id: "1", pk: "a", n: 3 })).statusCode, 200);
    await fails(container.items.create({ id: "1", pk: "a" }), 409);
    assert.equal((await container.item("1", "a").delete()).statusCode, 204);
    assert.equal((await container.readOffer()).resource.content.offerThroughput, 1000);
    assert.equal((await container.readPartitionKeyRanges().fetchAll()).resources.length, 1);
  });

  it("large items and many connections at once", async () => {
    const container = await at.container({ indexingPolicy: { indexingMode: "none", automatic: false } });
    const pad = "x".repeat(1_500_000);
    await together(8, Array.from({ length: 8 }, (_, i) => () => container.items.create({ id: `${i}`, pk: `${i}`, pad })));
    await together(8, Array.from({ length: 8 }, (_, i) => async () => {
      assert.equal((await container.item(`${i}`, `${i}`).read()).resource.pad.length, pad.length);
    }));
  });

  it("http and https see the same data on the same port", async () => {
    const container = await at.container();
    await container.items.create({ id: "1", pk: "a" });
    const plain = at.server.client({ over: "http" });
    assert.equal((await plain.database("db").container(container.id).item("1", "a").read()).statusCode, 200);
    const secure = at.server.rest({ over: "https" });
    assert.equal(new URL(answers(await secure("GET", "/"), 200).body.writableLocations[0].databaseAccountEndpoint).protocol, "https:");
    assert.equal(new URL(answers(await at.rest("GET", "/"), 200).body.writableLocations[0].databaseAccountEndpoint).protocol, "http:");
  });

  it("the certificate is for localhost and 127.0.0.1, and stays over a restart", async () => {
    const first = await certificate();
    assert.match(first.protocol, /^TLSv1\.[23]$/);
    assert.match(first.peer.subjectaltname, /DNS:localhost/);
    assert.match(first.peer.subjectaltname, /IP Address:127\.0\.0\.1/);
    assert.ok(new Date(first.peer.valid_to) > new Date(Date.now() + 30 * 24 * 3600 * 1000));
    await at.server.restart();
    assert.equal((await certificate()).peer.fingerprint256, first.peer.fingerprint256);
  });
});
