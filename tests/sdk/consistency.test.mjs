// Consistency levels: which are taken under which default, what they cost, and session tokens.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { answers, fails } from "./expect.mjs";
import { keyHeader } from "./rest.mjs";
import { shared } from "./server.mjs";

const levels = ["Strong", "BoundedStaleness", "Session", "ConsistentPrefix", "Eventual"];
const query = { "x-ms-documentdb-isquery": "True", "content-type": "application/query+json" };

for (const account of levels) {
  describe(`consistency: an account with ${account}`, () => {
    const at = shared({ args: ["--consistency", account] });

    it("A31: weaker levels are taken and stronger ones refused, for every operation", async () => {
      assert.equal((await at.client.getDatabaseAccount()).resource.consistencyPolicy, account);
      const container = await at.container();
      await container.items.create({ id: "1", pk: "a" });
      const docs = `/dbs/db/colls/${container.id}/docs`;
      for (const level of levels) {
        const taken = levels.indexOf(level) >= levels.indexOf(account);
        const headers = { ...keyHeader("a"), "x-ms-consistency-level": level };
        const expected = (status) => (taken ? status : 400);
        answers(await at.rest("GET", `${docs}/1`, { headers }), expected(200));
        answers(await at.rest("GET", docs, { headers }), expected(200));
        answers(await at.rest("POST", docs, { headers: { ...headers, ...query }, body: { query: "SELECT * FROM c" } }),
          expected(200));
        answers(await at.rest("PUT", `${docs}/1`, { headers, body: { id: "1", pk: "a" } }), expected(200));
        if (!taken) {
          const refused = await fails(
            at.server.client({ consistencyLevel: level }).database("db").container(container.id).item("1", "a").read(), 400);
          assert.match(refused.message, new RegExp(`${level}.*${account}`));
        }
      }
    });

    it("A31, A15: strong and bounded reads cost double: items, feeds, queries", async () => {
      const container = await at.container();
      await container.items.create({ id: "1", pk: "a" });
      const docs = `/dbs/db/colls/${container.id}/docs`;
      const charges = async (level) => {
        const headers = { ...keyHeader("a"), ...(level ? { "x-ms-consistency-level": level } : {}) };
        const asked = [
          await at.rest("GET", `${docs}/1`, { headers }),
          await at.rest("GET", docs, { headers }),
          await at.rest("POST", docs, { headers: { ...headers, ...query }, body: { query: "SELECT * FROM c" } }),
        ];
        return asked.map((answer) => Number(answers(answer, 200).headers["x-ms-request-charge"]));
      };
      const single = await charges("Eventual");
      for (const level of [undefined, ...levels.slice(levels.indexOf(account))]) {
        const factor = levels.indexOf(level ?? account) <= 1 ? 2 : 1;
        const got = await charges(level);
        got.forEach((charge, i) => assert.ok(Math.abs(charge - factor * single[i]) < 0.02,
          `${level ?? "default"} ${i}: ${charge}, single ${single[i]}`));
      }
    });
  });
}

describe("session tokens", () => {
  const at = shared();

  it("A31: honoured by reads, feeds and queries; 404/1002 when they are ahead", async () => {
    const container = await at.container();
    const { headers } = await container.items.create({ id: "1", pk: "a" });
    const token = headers["x-ms-session-token"];
    const [range, lsn] = [token.split(":")[0], Number(token.split("#")[1])];
    const ahead = `${range}:-1#${lsn + 1000}`;
    const docs = `/dbs/db/colls/${container.id}/docs`;
    const operations = {
      read: (headers) => at.rest("GET", `${docs}/1`, { headers }),
      feed: (headers) => at.rest("GET", docs, { headers }),
      query: (headers) => at.rest("POST", docs, { headers: { ...headers, ...query }, body: { query: "SELECT * FROM c" } }),
    };
    for (const [name, ask] of Object.entries(operations)) {
      answers(await ask({ ...keyHeader("a"), "x-ms-session-token": token }), 200);
      const refused = answers(await ask({ ...keyHeader("a"), "x-ms-session-token": ahead }), 404, { substatus: 1002 });
      assert.ok(refused.body.message.length > 20, name);
      answers(await ask({ ...keyHeader("a"), "x-ms-session-token": "nonsense" }), 400);
    }
  });

  it("A31: one client's write is seen by another that has its session token", async () => {
    const container = await at.container();
    const other = at.server.client().database("db").container(container.id);
    for (let i = 0; i < 20; ++i) {
      const { headers } = await container.items.upsert({ id: "1", pk: "a", i });
      const { resource } = await other.item("1", "a").read({ sessionToken: headers["x-ms-session-token"] });
      assert.equal(resource.i, i);
    }
  });
});
