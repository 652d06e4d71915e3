// Starting and stopping: quickly, cleanly, one server a folder.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";

import { answers } from "./expect.mjs";
import { freePort, runProgram, shared, start } from "./server.mjs";

describe("starting and stopping", () => {
  const at = shared();

  it("SIGTERM ends an idle server at once with 0, open connections or not", async (t) => {
    // It would wait an hour for requests that are under way.
    const server = await start({ args: ["--grace", "3600"] });
    t.after(() => server.close());
    const rest = server.rest();
    answers(await rest("GET", "/dbs"), 200);
    await server.stop();
  });

  it("SIGTERM finishes what was accepted: every request is answered or was never taken", async (t) => {
    const server = await start();
    t.after(() => server.close());
    const rest = server.rest();
    answers(await rest("POST", "/dbs", { body: { id: "db" } }), 201);
    answers(await rest("POST", "/dbs/db/colls", { body: { id: "c", partitionKey: { paths: ["/pk"], kind: "Hash" } } }), 201);
    const acknowledged = [];
    let stopping = false;
    const worker = async (w) => {
      for (let i = 0; !stopping || i < 3; ++i) {
        try {
          const answer = await rest("POST", "/dbs/db/colls/c/docs", { body: { id: `${w}-${i}`, pk: "a" } });
          if (answer.status === 201) acknowledged.push(`${w}-${i}`);
          else assert.equal(answer.status, 503, answer.text);
        } catch (error) {
          assert.ok(stopping, `refused before the end: ${error.message}`);
          return;
        }
      }
    };
    const workers = Array.from({ length: 8 }, (_, w) => worker(w));
    while (acknowledged.length < 100) await new Promise((resolve) => setTimeout(resolve, 2));
    stopping = true;
    await server.stop();
    await Promise.all(workers);
    await server.launch();
    const key = { "x-ms-documentdb-partitionkey": '["a"]' };
    for (const id of acknowledged) answers(await rest("GET", `/dbs/db/colls/c/docs/${id}`, { headers: key }), 200);
  });

  it("a second server on the same folder, or on the same port, says why it cannot start", async () => {
    const folder = await runProgram(["serve", "--data", at.server.data, "--port", String(await freePort()), "--dev"], { timeout_ms: 5000 });
    assert.ok(typeof folder.code === "number" && folder.code !== 0, `${folder.code}`);
    assert.ok(folder.out.includes(at.server.data), folder.out);
    const other = mkdtempSync(join(tmpdir(), "orrery-test-"));
    try {
      const port = await runProgram(["serve", "--data", other, "--port", String(at.server.port), "--dev"], { timeout_ms: 5000 });
      assert.ok(typeof port.code === "number" && port.code !== 0, `${port.code}`);
      assert.match(port.out, new RegExp(`${at.server.port}`));
      assert.match(port.out, /in use/i);
    } finally {
      rmSync(other, { recursive: true, force: true });
    }
    answers(await at.rest("GET", "/dbs"), 200);
  });

  it("a limit that does not exist, or makes no sense, is refused with the names of those that do", async () => {
    for (const limit of ["no-such-limit=5", "item-bytes=many", "item-bytes"]) {
      const { code, out } = await runProgram(
        ["serve", "--data", join(at.server.data, "x"), "--port", "1", "--dev", "--limit", limit], { timeout_ms: 5000 });
      assert.ok(typeof code === "number" && code !== 0, `${limit}: ${code}`);
      assert.match(out, /item-bytes/);
    }
  });

  it("help reads well: every command is there", async () => {
    const { code, out } = await runProgram(["--help"]);
    assert.equal(code, 0);
    for (const word of ["serve", "split"]) assert.match(out, new RegExp(`\\b${word}\\b`));
    const serve = await runProgram(["serve", "--help"]);
    assert.equal(serve.code, 0);
    for (const flag of ["--data", "--port", "--dev", "--limit"]) assert.ok(serve.out.includes(flag), flag);
  });
});
