// The pages of no face on a port of their own: the metrics need no token there, administration its
// signature all the same, and there is nothing else.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";

import { answers } from "./expect.mjs";
import { freePort, start } from "./server.mjs";

async function withOpsPort(options, use) {
  const port = await freePort();
  const server = await start({ ...options, args: ["--ops-port", String(port)] });
  const at = server.rest();
  // The same server at its other port.
  const ops = (method, path, given) => server.rest({ port })(method, path, given);
  try {
    await use({ server, at, ops, port });
  } finally {
    await server.close();
  }
}

describe("a port for operators", () => {
  it("health and metrics need no key", () => withOpsPort({ dev: false }, async ({ at, ops }) => {
    answers(await ops("GET", "/healthz", { key: null }), 200);
    const page = await ops("GET", "/metrics", { key: null });
    assert.equal(page.status, 200);
    assert.match(page.text, /orrery_requests_total\{face="ops",operation="health",status="200"\} 1/);
    answers(await at("GET", "/metrics", { key: null }), 401);
  }));

  it("administration is signed there, too", () => withOpsPort({ dev: false }, async ({ at, ops }) => {
    answers(await at("POST", "/dbs", { body: { id: "db" } }), 201);
    answers(await at("POST", "/dbs/db/colls", { body: { id: "c", partitionKey: { paths: ["/pk"], kind: "Hash" } } }), 201);
    const path = "/admin/partitions?database=db&container=c";
    answers(await ops("GET", path), 200);
    answers(await ops("GET", path, { key: null }), 401);
  }));

  it("no face answers there", () => withOpsPort({}, async ({ ops }) => {
    for (const path of ["/", "/dbs", "/dbs/db/colls/c/docs/1"]) answers(await ops("GET", path), 404, { message: /this port/ });
  }));

  it("with --dev a foreign name is refused there, too", () => withOpsPort({}, async ({ ops }) => {
    answers(await ops("GET", "/metrics", { headers: { host: "rebound.example" } }), 403);
  }));

  it("it can be named in a section of the configuration file", async () => {
    const port = await freePort();
    const folder = mkdtempSync(join(tmpdir(), "orrery-config-"));
    const config = join(folder, "orrery.ini");
    writeFileSync(config, `[ops]\nport = ${port}\n`);
    const server = await start({ args: ["--config", config] });
    try {
      answers(await server.rest({ port })("GET", "/healthz", { key: null }), 200);
    } finally {
      await server.close();
      rmSync(folder, { recursive: true });
    }
  });

  it("a section or a name in one that is not known is refused", async () => {
    const folder = mkdtempSync(join(tmpdir(), "orrery-config-"));
    const config = join(folder, "orrery.ini");
    try {
      for (const text of ["[nobody]\nport = 1\n", "[ops]\nnothing = 1\n"]) {
        writeFileSync(config, text);
        await assert.rejects(start({ args: ["--config", config] }), /nobody|nothing/);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("a port that is taken is said", () => withOpsPort({}, async ({ port }) => {
    await assert.rejects(start({ args: ["--ops-port", String(port)] }), /--ops-port|in use/);
  }));
});
