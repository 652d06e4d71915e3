// Queries that are made to hurt: by their depth, their length, or what they ask to be computed. Each is
// refused or answered, and the server goes on.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { before, describe, it } from "node:test";

import { shared } from "./server.mjs";

const queryHeaders = {
  "content-type": "application/query+json",
  "x-ms-documentdb-isquery": "True",
  "x-ms-documentdb-query-enablecrosspartition": "True",
};

describe("hostile queries", () => {
  const at = shared({ args: ["--queries", "permissive"] });
  let container;
  let link;

  before(async () => {
    container = await at.container({});
    link = `/dbs/db/colls/${container.id}`;
    await container.items.create({ id: "1", pk: "k", a: 1 });
    await container.items.create({ id: "2", pk: "k", a: 2 });
  });

  async function query(text, parameters = []) {
    return at.rest("POST", `${link}/docs`, { headers: queryHeaders, body: { query: text, parameters } });
  }

  // What is refused says so with 400, and the server is there afterwards.
  async function refused(text) {
    const { status, text: answer } = await query(text);
    assert.equal(status, 400, answer.slice(0, 300));
    await alive();
    return answer;
  }

  async function alive() {
    const { resource } = await container.item("1", "k").read();
    assert.equal(resource.a, 1);
  }

  const chain = (term, by, times) => Array(times).fill(term).join(` ${by} `);

  describe("chains of AND and OR", () => {
    const terms = 30_000;
    const any = chain("c.a=1", "OR", terms);
    const all = chain("c.a=1", "AND", terms);

    for (const [name, filter] of [["AND", all], ["OR", any]]) {
      it(`in a filter: ${name}`, async () => {
        const { status, body } = await query(`SELECT VALUE c.id FROM c WHERE ${filter}`);
        assert.equal(status, 200);
        assert.deepEqual(body.Documents, ["1"]);
      });

      it(`in what is selected and sorted by: ${name}`, async () => {
        const { status, body } = await query(`SELECT VALUE ${filter} FROM c`);
        assert.equal(status, 200);
        assert.deepEqual(body.Documents, [true, false]);
        const sorted = await at.rest("POST", `${link}/docs`, {
          headers: { ...queryHeaders, "x-ms-documentdb-partitionkey": '["k"]' },
          body: { query: `SELECT VALUE c.id FROM c ORDER BY ${filter}` },
        });
        assert.equal(sorted.status, 200);
        assert.deepEqual(sorted.body.Documents, ["2", "1"]);
      });

      it(`in a query over databases: ${name}`, async () => {
        const { status, body } = await at.rest("POST", "/dbs", {
          headers: queryHeaders,
          body: { query: `SELECT VALUE c.id FROM c WHERE ${filter.replaceAll("c.a=1", 'c.id="db"')}` },
        });
        assert.equal(status, 200);
        assert.deepEqual(body.Databases, ["db"]);
      });

      it(`in the condition of a patch: ${name}`, async () => {
        const { resource } = await container.item("1", "k").patch({
          condition: `from c where ${filter}`,
          operations: [{ op: "set", path: "/seen", value: name }],
        });
        assert.equal(resource.seen, name);
      });

      it(`in a script's query: ${name}`, async () => {
        const { resource: procedure } = await container.scripts.storedProcedures.create({
          id: `chain-${name}`,
          body: `function (filter) {
            const collection = getContext().getCollection();
            const accepted = collection.queryDocuments(collection.getSelfLink(), "SELECT VALUE c.id FROM c WHERE " + filter,
              function (error, rows) { if (error) throw error; getContext().getResponse().setBody(rows); });
            if (!accepted) throw new Error("not accepted");
          }`,
        });
        const { resource } = await container.scripts.storedProcedure(procedure.id).execute("k", [filter]);
        assert.deepEqual(resource, ["1"]);
      });

      it(`in a plan: ${name}`, async () => {
        const { status } = await at.rest("POST", `${link}/docs`, {
          headers: { ...queryHeaders, "x-ms-cosmos-is-query-plan-request": "True",
            "x-ms-cosmos-supported-query-features": "OrderBy, MultipleOrderBy" },
          body: { query: `SELECT * FROM c WHERE ${filter} ORDER BY c.a` },
        });
        assert.equal(status, 200);
      });
    }
  });

  // Each would take gigabytes, or hours, by what it asks to be computed.
  describe("what is computed", () => {
    const kilobytes = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${at.server.process.pid}/status`, "utf8"))[1]);
    const numbers = `[${Array(100).fill(0).join()}]`;
    const times = (text, count) => Array(count).fill(text).join();
    // Joins in which each makes many of the one before.
    const growing = (first, next) => Array.from({ length: 9 }, (_, i) => i).reduce(
      (text, i) => `${text} JOIN (SELECT VALUE ${next.replaceAll("@", `x${i}`)}) x${i + 1}`,
      `SELECT VALUE x9 FROM c JOIN (SELECT VALUE ${first}) x0`);

    for (const [name, text] of [
      ["lists that are joined", growing(numbers, `ARRAY_CONCAT(${times("@", 100)})`)],
      ["lists that are shared", growing(numbers, `[${times("@", 100)}]`)],
      ["objects that are shared", growing(numbers, `{a:@,b:@,c:@,d:@,e:@}`)],
      ["texts", growing("REPLICATE('x', 10000)", "@ || @ || @ || @")],
      ["lists of texts", growing("REPLICATE('x', 10000)", "CONCAT(@,@,@,@)").replace("SELECT VALUE x9", "SELECT VALUE STRINGSPLIT(x9, 'x')")],
      ["rows of rows", `SELECT VALUE ARRAY(SELECT VALUE [a,b] FROM a IN ${numbers.replace("[", "(SELECT VALUE [").replace("]", "])")} JOIN b IN (SELECT VALUE ${numbers}) JOIN d IN (SELECT VALUE ${numbers}) JOIN e IN (SELECT VALUE ${numbers})) FROM c`],
    ]) {
      it(`memory has a bound: ${name}`, async () => {
        const before = kilobytes();
        let most = before;
        const watch = setInterval(() => { most = Math.max(most, kilobytes()); }, 5);
        const { status, text: answer } = await query(text);
        clearInterval(watch);
        assert.equal(status, 400, answer.slice(0, 200));
        assert.match(answer, /memory|time/);
        assert.ok(most - before < 400 * 1024, `${most - before} KB more for ${answer.slice(0, 100)}`);
        await alive();
      });
    }
  });

  it("what nests without end is refused", async () => {
    for (const [open, close] of [["(", ")"], ["NOT (", ")"], ["(c.a=1 OR ", ")"], ["[", "]"], ["ABS(", ")"], ["c.a + ", ""],
      ["EXISTS(SELECT VALUE 1 WHERE ", ")"], ["(SELECT VALUE ", ")"], ["true ? true : ", ""]]) {
      const answer = await refused(`SELECT * FROM c WHERE ${open.repeat(10_000)}c.a${close.repeat(10_000)}`);
      assert.match(answer, /nests too deeply/);
    }
  });
});
