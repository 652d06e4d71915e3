// The conflicts of a container: none, as there is one write region.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { answers, fails } from "./expect.mjs";
import { keyHeader } from "./rest.mjs";
import { shared } from "./server.mjs";

describe("conflicts", () => {
  const at = shared();

  it("the feed is empty, read or queried, and no id is found", async () => {
    const container = await at.container();
    assert.deepEqual((await container.conflicts.readAll().fetchAll()).resources, []);
    assert.deepEqual((await container.conflicts.query("SELECT * FROM c").fetchAll()).resources, []);
    const planned = container.conflicts.query("SELECT * FROM c", { forceQueryPlan: true });
    assert.deepEqual((await planned.fetchNext()).resources ?? [], []);
    // (The SDK signs another link than it sends for one conflict.)
    const one = `/dbs/db/colls/${container.id}/conflicts/none`;
    answers(await at.rest("GET", one, { headers: keyHeader("a") }), 404);
    answers(await at.rest("DELETE", one, { headers: keyHeader("a") }), 404);
    await fails(at.db.container("none").conflicts.readAll().fetchAll(), 404);
  });

  it("as clients of other languages read it", async () => {
    const container = await at.container();
    const { resource } = await container.read();
    const path = `/dbs/db/colls/${container.id}/conflicts`;
    const { body, headers } = answers(await at.rest("GET", path), 200);
    assert.deepEqual(body, { _rid: resource._rid, Conflicts: [], _count: 0 });
    assert.equal(headers["x-ms-item-count"], "0");
    assert.equal(resource._conflicts, "conflicts/");
    answers(await at.rest("POST", path, { body: { id: "1" } }), 405);
    answers(await at.rest("PUT", `${path}/1`, { body: { id: "1" }, headers: keyHeader("a") }), 405);
  });

  it("how they would be resolved is part of a container, and stays", async () => {
    const lastWriter = await at.container();
    assert.deepEqual((await lastWriter.read()).resource.conflictResolutionPolicy,
      { mode: "LastWriterWins", conflictResolutionPath: "/_ts", conflictResolutionProcedure: "" });
    const custom = await at.container({ conflictResolutionPolicy:
      { mode: "Custom", conflictResolutionProcedure: "dbs/db/colls/c/sprocs/resolve" } });
    const { resource } = await custom.read();
    assert.equal(resource.conflictResolutionPolicy.mode, "Custom");
    assert.equal(resource.conflictResolutionPolicy.conflictResolutionProcedure, "dbs/db/colls/c/sprocs/resolve");
    await custom.replace({ ...resource, defaultTtl: 100 });
    await fails(custom.replace({ ...resource, conflictResolutionPolicy: { mode: "LastWriterWins" } }), 400);
    await fails(at.container({ conflictResolutionPolicy: { mode: "Both" } }), 400, { message: /mode/ });
  });
});
