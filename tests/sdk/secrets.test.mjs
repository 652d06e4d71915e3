// What must not get out, and what ends it when it has: keys, tokens, the server's secret.
import assert from "node:assert/strict";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";

import { answers } from "./expect.mjs";
import { adminHeaders, keyHeader } from "./rest.mjs";
import { shared } from "./server.mjs";

describe("secrets", () => {
  const at = shared({ dev: false, args: ["--log-level", "debug"] });

  async function grantedToken() {
    const container = await at.container();
    const { user } = await at.db.users.upsert({ id: "ann" });
    const { resource } = await user.permissions.upsert({ id: container.id, permissionMode: "All", resource: `dbs/db/colls/${container.id}` });
    for (const pk of ["a", "b", "c", "d"]) await container.items.create({ id: "1", pk });
    const read = () => at.rest("GET", `/dbs/db/colls/${container.id}/docs/1`, { key: null, headers: {
      ...keyHeader("a"), authorization: encodeURIComponent(resource._token) } });
    return { container, token: resource._token, read };
  }

  it("no key, token, signature or secret is in the log, at any level, or in an answer", async () => {
    const before = at.server.keys;
    const { container, token, read } = await grantedToken();
    answers(await read(), 200);
    const wrong = [
      await at.rest("GET", "/dbs", { headers: { authorization: "type%3Dmaster%26ver%3D1.0%26sig%3DAAAA" } }),
      await at.rest("GET", "/dbs/db", { date: new Date(0) }),
      await at.rest("GET", "/dbs", { key: null, headers: { authorization: encodeURIComponent(`${token}x`) } }),
      await at.rest("DELETE", `/dbs/db/colls/${container.id}`, { key: null, headers: { authorization: encodeURIComponent(token) } }),
      await at.rest("POST", "/admin/split", { body: "x" }),
      await at.rest("POST", "/admin/split", { headers: { "x-orrery-nonce": "x" }, body: "{}" }),
      await at.rest("GET", "/metrics"),
      await at.rest("GET", "/metrics", { headers: { authorization: "Bearer x" } }),
    ];
    for (const answer of wrong) assert.ok(answer.status >= 400);
    assert.equal((await at.server.split(container)).code, 0);
    assert.equal((await at.server.command("keys", "regenerate", "secondary", "--data", at.server.data)).code, 0);
    const sent = decodeURIComponent(adminHeaders(at.server.key, "GET", "/").authorization).split("sig=")[1];
    assert.equal(sent.length, 44, "signatures look like this");
    await at.server.logged(/split a partition/);
    const shown = at.server.log + wrong.map((answer) => answer.text + JSON.stringify(answer.headers)).join("\n");
    const secret = readFileSync(join(at.server.data, "secret"));
    const metricsToken = readFileSync(join(at.server.data, "metrics-token"), "utf8").trim();
    for (const one of [...Object.values(before), ...Object.values(at.server.keys), token, token.split("sig=")[1], metricsToken,
      secret.toString("base64"), secret.toString("hex"), secret.toString("latin1")]) {
      for (const form of [one, encodeURIComponent(one)]) assert.ok(!shown.includes(form), form);
    }
    assert.doesNotMatch(at.server.log, /sig=|sig%3D/i);
  });

  it("whoever has got hold of the secret has nothing once it is removed: tokens end, keys stay", async () => {
    const { read } = await grantedToken();
    answers(await read(), 200);
    await at.server.restart();
    answers(await read(), 200);
    await at.server.stop();
    rmSync(join(at.server.data, "secret"));
    await at.server.launch();
    answers(await read(), 401, { message: /not made by this server/ });
    answers(await at.rest("GET", "/dbs/db"), 200);
    const { resources: [again] } = await at.server.client().database("db").user("ann").permissions.readAll().fetchAll();
    answers(await at.rest("GET", `/${again.resource}`, { key: null, headers: { authorization: encodeURIComponent(again._token) } }), 200);
  });
});
