// New keys while the server runs.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { answers, fails } from "./expect.mjs";
import { devKey, shared } from "./server.mjs";

describe("orrery keys", () => {
  const at = shared({ dev: false });
  const keys = (...args) => at.server.command("keys", ...args, "--data", at.server.data);
  const properties = {
    primary: "primary", secondary: "secondary",
    "primary-readonly": "primaryReadonly", "secondary-readonly": "secondaryReadonly",
  };

  it("A32: list shows the four keys", async () => {
    const { code, out } = await keys("list");
    assert.equal(code, 0, out);
    for (const [name, property] of Object.entries(properties)) {
      assert.ok(out.includes(`${name.padEnd(20)}${at.server.keys[property]}`), out);
    }
  });

  it("A32: a new key is taken and the old one refused, without a restart", async () => {
    for (const [name, property] of Object.entries(properties)) {
      const before = at.server.keys;
      const old = at.server.client({ key: before[property] });
      await old.database("db").read();
      const { code, out } = await keys("regenerate", name);
      assert.equal(code, 0, out);
      const after = at.server.keys;
      assert.notEqual(after[property], before[property]);
      assert.ok(out.includes(after[property]), out);
      assert.equal(Buffer.from(after[property], "base64").length, 64);
      await fails(old.database("db").read(), 401);
      const fresh = at.server.client({ key: after[property] });
      assert.equal((await fresh.database("db").read()).statusCode, 200);
      for (const other of Object.values(properties).filter((one) => one !== property)) {
        assert.equal(after[other], before[other]);
        assert.equal((await at.server.client({ key: after[other] }).database("db").read()).statusCode, 200);
      }
    }
    const fresh = at.server.keys;
    await at.server.restart();
    assert.deepEqual(at.server.keys, fresh);
    assert.equal((await at.server.client().database("db").read()).statusCode, 200);
  });

  it("requests under way are answered while keys change", async () => {
    const client = at.server.client({ key: at.server.keys.secondary });
    let going = true;
    const reader = (async () => {
      let count = 0;
      for (; going; ++count) assert.equal((await client.database("db").read()).statusCode, 200);
      return count;
    })();
    for (let i = 0; i < 5; ++i) assert.equal((await keys("regenerate", "primary-readonly")).code, 0);
    going = false;
    assert.ok((await reader) > 0);
  });

  it("an unknown key, a read-only key and a bad body are refused", async () => {
    const unknown = await keys("regenerate", "tertiary");
    assert.equal(unknown.code, 1);
    assert.match(unknown.out, /tertiary.*primary-readonly/);
    const readonly = await keys("regenerate", "primary", "--key", at.server.keys.primaryReadonly);
    assert.equal(readonly.code, 1);
    assert.match(readonly.out, /may only read/);
    const post = (body) => at.server.rest()("POST", "/admin/keys/regenerate", { body });
    answers(await post({}), 400);
    answers(await post({ key: 1 }), 400);
    answers(await post("x"), 400);
  });
});

describe("orrery keys with --dev", () => {
  const at = shared();

  it("the emulator's key cannot be regenerated, and the message says why", async () => {
    const { code, out } = await at.server.command("keys", "regenerate", "primary", "--data", at.server.data);
    assert.equal(code, 1);
    assert.match(out, /--dev/);
    const list = await at.server.command("keys", "list", "--data", at.server.data);
    assert.ok(list.out.includes(devKey));
  });
});
