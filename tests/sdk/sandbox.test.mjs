// Hostile scripts against a live server: each costs its own execution, and other clients do not
// notice.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { fails } from "./expect.mjs";
import { shared } from "./server.mjs";

const attacks = {
  loop: [function loop() { for (;;); }, [408]],
  memory: [function memory() { const all = []; for (;;) all.push(new Array(1e6).fill(all.length)); }, [400, 408]],
  text: [function text() { let s = "x"; for (;;) s += s; }, [400]],
  recursion: [function recursion() { const f = (n) => f(n + 1) + 1; return f(0); }, [400]],
  regex: [function regex() { return /^(a+)+$/.test("a".repeat(40) + "b"); }, [408]],
  promises: [function promises() { const again = () => Promise.resolve().then(again); again(); }, [408]],
  flood: [function flood() {
    const c = getContext().getCollection();
    for (let i = 0; c.createDocument(c.getSelfLink(), { id: `flood${i}`, pk: "attacked" }); ++i);
    throw new Error("all of it for nothing");
  }, [400, 408]],
  answer: [function answer() { getContext().getResponse().setBody("x".repeat(8 << 20)); }, [400, 413]],
};

describe("hostile scripts", () => {
  const at = shared({ limits: { "script-time-ms": 1000 } });

  it("A27: infinite loops, memory, recursion, regular expressions cost only themselves", async () => {
    const container = await at.container();
    for (const [id, [body]] of Object.entries(attacks)) {
      await container.scripts.storedProcedures.create({ id, body });
    }
    await container.scripts.storedProcedures.create({ id: "good", body: function good() {
      const c = getContext().getCollection();
      c.upsertDocument(c.getSelfLink(), { id: "good", pk: "p" }, (error) => {
        if (error) throw error;
        getContext().getResponse().setBody("done");
      });
    } });
    let attacking = true;
    const clients = Array.from({ length: 4 }, async (_, client) => {
      let done = 0;
      for (; attacking || done < 5; ++done) {
        const item = { id: `${client}-${done}`, pk: `k${client}`, n: done };
        await container.items.create(item);
        assert.equal((await container.item(item.id, item.pk).read()).resource.n, done);
      }
      return done;
    });
    try {
      await Promise.all(Object.entries(attacks).map(async ([id, [, codes]]) => {
        await assert.rejects(container.scripts.storedProcedure(id).execute("attacked", []), (error) => {
          assert.ok(codes.includes(error.code), `${id}: ${error.code} ${error.message}`);
          return true;
        });
      }));
    } finally {
      attacking = false;
    }
    for (const done of await Promise.all(clients)) assert.ok(done >= 5);
    const left = await container.items.query("SELECT VALUE c.id FROM c", { partitionKey: "attacked" }).fetchAll();
    assert.deepEqual(left.resources, []);
    assert.equal((await container.scripts.storedProcedure("good").execute("p", [])).resource, "done");
  });

  it("scripts reach no files, processes or network", async () => {
    const container = await at.container();
    await container.scripts.storedProcedures.create({ id: "look", body: function look() {
      const names = ["require", "process", "fetch", "XMLHttpRequest", "WebSocket", "setTimeout", "load", "read",
        "os", "Worker", "SharedArrayBuffer", "WebAssembly"];
      getContext().getResponse().setBody(names.filter((name) => name in globalThis));
    } });
    assert.deepEqual((await container.scripts.storedProcedure("look").execute("p", [])).resource, []);
  });

  it("a script reads, finds and changes nothing of another partition key", async () => {
    const container = await at.container();
    const { resource: other } = await container.items.create({ id: "hidden", pk: "theirs", word: "secret" });
    await container.items.create({ id: "own", pk: "mine" });
    await container.scripts.storedProcedures.create({ id: "probe", body: function probe(self, named) {
      const c = getContext().getCollection();
      const found = [];
      const told = (error, result) => { if (!error) found.push(result ?? "done"); };
      for (const link of [self, named]) {
        for (const attempt of [
          () => c.readDocument(link, told), () => c.replaceDocument(link, { id: "hidden", pk: "theirs", taken: true }, told),
          () => c.replaceDocument(link, { id: "hidden", pk: "mine" }, told), () => c.deleteDocument(link, told),
        ]) {
          try { attempt(); } catch (error) { void error; }
        }
      }
      c.readDocuments(c.getSelfLink(), {}, told);
      for (const query of ["SELECT * FROM c", "SELECT * FROM c WHERE c.pk = 'theirs'", "SELECT VALUE COUNT(1) FROM c WHERE c.word = 'secret'"]) {
        c.queryDocuments(c.getSelfLink(), query, { enableCrossPartitionQuery: true, partitionKey: "theirs" }, told);
      }
      c.queryDocuments(c.getSelfLink(), "SELECT VALUE 1", () => getContext().getResponse().setBody(JSON.stringify(found)));
    } });
    const named = `dbs/db/colls/${container.id}/docs/hidden`;
    const { resource } = await container.scripts.storedProcedure("probe").execute("mine", [other._self, named]);
    assert.match(resource, /own/);
    assert.doesNotMatch(resource, /hidden|secret|theirs|\[1\]/);
    assert.deepEqual((await container.item("hidden", "theirs").read()).resource, other);
  });

  it("what one execution leaves behind is not seen by the next", async () => {
    const container = await at.container();
    await container.scripts.storedProcedures.create({ id: "mark", body: function mark() {
      const before = typeof globalThis.mark_;
      globalThis.mark_ = 1;
      Array.prototype.mark_ = 1;
      getContext().getResponse().setBody([before, String([].mark_ === 1)]);
    } });
    for (let i = 0; i < 3; ++i) {
      const { resource } = await container.scripts.storedProcedure("mark").execute("p", []);
      assert.deepEqual(resource, ["undefined", "true"]);
    }
    await fails(container.scripts.storedProcedure("none").execute("p", []), 404);
  });
});
