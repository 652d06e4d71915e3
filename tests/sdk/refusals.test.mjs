// What is not offered yet says so by name: never a wrong result. And newer clients are welcome.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { answers } from "./expect.mjs";
import { keyHeader } from "./rest.mjs";
import { shared } from "./server.mjs";

describe("not offered yet", () => {
  const at = shared();
  let docs;
  let path;
  const prepare = async () => {
    if (docs) return;
    const container = await at.container();
    path = `/dbs/db/colls/${container.id}`;
    docs = `${path}/docs`;
    await container.items.create({ id: "1", pk: "a", n: 1 });
  };
  const query = (text, headers = {}) => at.rest("POST", docs, {
    body: { query: text, parameters: [] },
    headers: { "content-type": "application/query+json", "x-ms-documentdb-isquery": "True", ...headers },
  });

  it("queries that call what is not there, or are none, are refused by name", async () => {
    await prepare();
    const crossing = { "x-ms-documentdb-query-enablecrosspartition": "True" };
    answers(await query("SELECT VALUE udf.tax(c.n) FROM c", crossing), 400, { message: /udf\.tax/ });
    assert.equal(answers(await query(" select *\nFROM anything ", crossing), 200).body.Documents[0].id, "1");
    answers(await at.rest("POST", docs, { body: {}, headers: { "x-ms-documentdb-isquery": "True" } }), 400, { message: /query/ });
  });

  it("a method that a path has not answers 405", async () => {
    await prepare();
    const not = {
      "/": ["POST", "PUT", "DELETE", "PATCH"],
      "/dbs": ["PUT", "DELETE", "PATCH"],
      "/dbs/db": ["POST", "PUT", "PATCH"],
      "/dbs/db/colls": ["PUT", "DELETE", "PATCH"],
      [path]: ["POST", "PATCH"],
      [docs]: ["PUT", "DELETE", "PATCH", "OPTIONS"],
      [`${docs}/1`]: ["POST", "OPTIONS"],
      [`${path}/pkranges`]: ["POST", "PUT", "DELETE"],
      [`${path}/sprocs`]: ["PUT", "DELETE"],
      [`${path}/triggers/t`]: ["POST", "PATCH"],
      [`${path}/udfs/u`]: ["POST", "PATCH"],
      "/dbs/db/users/u/permissions": ["PUT", "DELETE"],
      "/offers": ["PUT", "DELETE"],
      "/offers/x": ["POST", "DELETE"],
      "/metrics": ["POST", "PUT", "DELETE"],
      "/healthz": ["POST", "PUT", "DELETE"],
    };
    for (const [where, methods] of Object.entries(not)) {
      for (const method of methods) {
        answers(await at.rest(method, where, { body: "{}", headers: keyHeader("a") }), 405, { message: new RegExp(method) });
      }
    }
    for (const [method, where] of [["GET", "/admin/split"], ["POST", "/admin/partitions"], ["GET", "/admin/keys/regenerate"]]) {
      answers(await at.rest(method, where), 405);
    }
    for (const where of ["/healthz", "/metrics"]) answers(await at.rest("HEAD", where), 200);
  });

  it("newer versions of the protocol than are known are accepted", async () => {
    await prepare();
    for (const version of ["2015-12-16", "2018-12-31", "2020-07-15", "2024-11-30", "2035-01-01"]) {
      answers(await at.rest("GET", `${docs}/1`, { version, headers: keyHeader("a") }), 200);
      answers(await at.rest("GET", "/", { version }), 200);
    }
    for (const version of ["", "yesterday"]) {
      answers(await at.rest("GET", `${docs}/1`, { version, headers: keyHeader("a") }), [200, 400]);
    }
  });

  it("headers that nobody knows change nothing", async () => {
    await prepare();
    answers(await at.rest("GET", `${docs}/1`, {
      headers: { ...keyHeader("a"), "x-ms-cosmos-invented-later": "1", "x-ms-cosmos-sdk-supportedcapabilities": "255",
        "x-ms-cosmos-priority-level": "High", "x-ms-dedicatedgateway-max-age": "5" },
    }), 200);
  });
});
