// The console's tab Keys: what is shown to whom and for how long, and new keys. And the widths of
// columns, which a person sets. Some seconds.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";

import { CosmosClient } from "../sdk/cosmos.mjs";
import { start } from "../sdk/server.mjs";
import { withBrowser } from "./browser.mjs";

const axe = readFileSync(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");

describe("keys in the console", () => {
  const at = withBrowser();
  before(async () => {
    at.server = await start({ dev: false });
    const { database } = await at.server.client().databases.create({ id: "shop" });
    at.orders = (await database.containers.create({ id: "orders", partitionKey: { paths: ["/customer"], version: 2 } })).container;
    for (let i = 0; i < 3; ++i) await at.orders.items.create({ id: `o${i}`, customer: `c${i}`, status: "open", total: i });
  });
  after(() => at.server?.close());
  const everything = (p) => p.page.evaluate(() => document.documentElement.outerHTML);

  it("a key is hidden until it is asked for, and can be used then", async () => {
    const { keys } = at.server;
    const p = await at.page(at.server);
    // What a page may copy is caught: the clipboard of a browser without a screen is not to be relied on.
    await p.page.evaluateOnNewDocument(() => {
      Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => { globalThis.copied = text; } } });
    });
    await p.open("/keys");
    await p.signIn(keys.primary);
    await p.says("The account’s keys");
    await p.says("AccountEndpoint=");
    let text = await everything(p);
    for (const key of Object.values(keys)) assert.ok(!text.includes(key), "a key is in the page before it is asked for");
    await p.press("Show the secondary key");
    await p.page.waitForFunction((key) => document.querySelector('[data-key="secondary"]').textContent === key, {}, keys.secondary);
    text = await everything(p);
    for (const name of ["primary", "primaryReadonly", "secondaryReadonly"]) assert.ok(!text.includes(keys[name]), name);
    await p.press("Hide the secondary key");
    await p.page.waitForFunction((key) => !document.documentElement.outerHTML.includes(key), {}, keys.secondary);
    // A connection string is copied with the key, and leads here.
    await p.press("Copy for Connection string, with the key");
    const copied = await (await p.page.waitForFunction(() => globalThis.copied)).jsonValue();
    const client = new CosmosClient(copied);
    assert.equal((await client.databases.readAll().fetchAll()).resources[0].id, "shop");
    client.dispose();
    assert.ok(!(await everything(p)).includes(keys.primary));
    await p.page.evaluate(axe);
    const found = await p.page.evaluate(async () => (await globalThis.axe.run(document, { resultTypes: ["violations"] })).violations.map((one) => `${one.id}: ${one.nodes[0]?.html}`));
    assert.deepEqual(found, []);
    await p.isClean(Object.values(keys));
    for (const key of Object.values(keys)) assert.ok(!at.server.log.includes(key), "a key is in the log");
  });

  it("a read-only session sees read-only keys alone, and makes none", async () => {
    const { keys } = at.server;
    const p = await at.page(at.server);
    await p.open("/keys");
    await p.signIn(keys.primaryReadonly);
    await p.says("not for this session");
    for (const name of ["Show the primary key", "Copy the secondary key", "New primary key", "New primary-readonly key"]) {
      const button = await p.page.waitForSelector(`::-p-aria([name="${name}"][role="button"])`);
      assert.ok(await button.evaluate((one) => one.disabled), name);
    }
    await p.press("Show the secondary-readonly key");
    await p.page.waitForFunction((key) => document.querySelector('[data-key="secondary-readonly"]').textContent === key, {}, keys.secondaryReadonly);
    // And if the page were to try, the server would refuse.
    const tried = await p.page.evaluate(async () => {
      const send = async (path, key) => (await fetch(`/console/api/${path}`, { method: "POST", body: JSON.stringify({ key }), headers: { "x-orrery-console": "1" } })).text();
      return [await send("keys", "primary"), await send("keys", "secondary"), await send("admin/keys/regenerate", "primary")];
    });
    for (const answer of tried) {
      assert.match(answer, /"code":"Forbidden"/);
      for (const key of Object.values(keys)) assert.ok(!answer.includes(key));
    }
    await p.isClean([keys.primary, keys.secondary]);
  });

  it("a new key takes the place of the old one", async () => {
    const old = at.server.keys.secondary;
    const p = await at.page(at.server);
    await p.open("/keys");
    await p.signIn(at.server.keys.primary);
    await p.press("New secondary key");
    await p.field("Type secondary to go on", "secondary");
    await p.press("Make a new key");
    await p.says("There is a new secondary key");
    const made = at.server.keys.secondary;
    assert.notEqual(made, old);
    assert.ok(!(await everything(p)).includes(made), "it is not shown by itself");
    await p.press("Show the secondary key");
    await p.page.waitForFunction((key) => document.querySelector('[data-key="secondary"]').textContent === key, {}, made);
    await assert.rejects(at.server.client({ key: old }).databases.readAll().fetchAll(), (error) => error.code === 401);
    await at.server.client({ key: made }).databases.readAll().fetchAll();
    await p.press("Hide the secondary key");
    await p.page.waitForFunction((key) => !document.documentElement.outerHTML.includes(key), {}, made);
    await p.press("Show the secondary key");
    await p.page.waitForFunction((key) => document.querySelector('[data-key="secondary"]').textContent === key, {}, made);
    // The key that opened it: the session is over.
    await p.press("New primary key");
    await p.field("Type primary to go on", "primary");
    await p.press("Make a new key");
    await p.says("The session has ended");
    await p.isClean(Object.values(at.server.keys));
  });

  it("columns are made wider and narrower by mouse and keyboard, and stay so", async () => {
    const p = await at.page(at.server);
    await p.open("/data/shop/orders/items");
    await p.signIn(at.server.keys.primary);
    await p.says("o1", ".grid");
    const edge = (name) => p.page.waitForSelector(`::-p-aria([name="Width of ${name}"][role="separator"])`);
    const width = async (name) => Math.round(await (await edge(name)).evaluate((one) => one.closest("th").getBoundingClientRect().width));
    const usual = await width("status");
    await (await edge("status")).focus();
    for (let i = 0; i < 5; ++i) await p.page.keyboard.press("ArrowRight");
    assert.equal(await width("status"), usual + 80);
    await p.page.keyboard.press("ArrowLeft");
    assert.equal(await width("status"), usual + 64);
    const box = await (await edge("customer")).boundingBox();
    const before = await width("customer");
    await p.page.mouse.move(box.x + 4, box.y + 10);
    await p.page.mouse.down();
    await p.page.mouse.move(box.x + 74, box.y + 10, { steps: 4 });
    await p.page.mouse.up();
    assert.equal(await width("customer"), before + 70);
    await p.page.reload();
    await p.says("o1", ".grid");
    assert.equal(await width("status"), usual + 64);
    assert.equal(await width("customer"), before + 70);
    await (await edge("status")).focus();
    await p.page.keyboard.press("Home");
    assert.equal(await (await edge("status")).evaluate((one) => one.closest("th").style.width), "", "as wide as the table gives it");
    // The same in the rows of a query.
    await p.go("/data/shop/orders/query");
    await p.press("Run");
    await p.says("o1", ".grid");
    const there = await width("status");
    await (await edge("status")).focus();
    await p.page.keyboard.press("ArrowRight");
    assert.equal(await width("status"), there + 16);
    await p.page.evaluate(axe);
    const found = await p.page.evaluate(async () => (await globalThis.axe.run(document, { resultTypes: ["violations"] })).violations.map((one) => `${one.id}: ${one.nodes[0]?.html}`));
    assert.deepEqual(found, []);
    await p.isClean(Object.values(at.server.keys));
  });
});
