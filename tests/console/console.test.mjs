// The console as people use it, in a real Chromium: in by a key or a click, databases, containers and
// items made and changed, a conflict, queries, scripts, a split, and out again. And what must not work.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import { start } from "../sdk/server.mjs";
import { withBrowser } from "./browser.mjs";

const orders = { id: "orders", partitionKey: { paths: ["/customerId"], kind: "Hash", version: 2 } };

describe("a console with a key", () => {
  const at = withBrowser();
  before(async () => {
    at.server = await start({ dev: false });
    at.db = (await at.server.client().databases.create({ id: "shop" })).database;
    at.orders = (await at.db.containers.create(orders)).container;
    for (let i = 0; i < 5; ++i) {
      await at.orders.items.create({ id: `o${i}`, customerId: `c${i}`, status: i % 2 ? "paid" : "open", total: i * 10 });
    }
  });
  after(() => at.server?.close());

  it("is opened by a key, makes databases, containers and items, asks, and is left", async () => {
    const keys = at.server.keys;
    const p = await at.page(at.server);
    await p.page.goto(`${p.origin}/`, { waitUntil: "load" });
    assert.equal(new URL(p.page.url()).pathname, "/console/", "a browser is sent on");
    await p.says("Sign in to");
    assert.doesNotMatch(await p.text(), /Open the console/, "one click is for --dev");
    await p.signIn("bm8ga2V5");
    await p.says("no key of this server");
    await p.page.$eval("#key", (one) => { one.value = ""; });
    await p.signIn(keys.primary);
    await p.says("Overview");
    await p.says("orders");

    await p.press("New database");
    await p.field("Name", "library");
    await p.press("Create the database");
    await p.says("library has no containers yet");
    await p.says("CosmosClient");
    await p.press("New container");
    await p.field("Name", "books");
    await p.field("Partition key", "/author");
    await p.press("Create the container");
    await p.says("books has no items yet");

    await p.press("New item");
    await p.edit("The new item", '{"id":"b1","author":"Borges","title":"Ficciones","pages":174}');
    await p.press("Create");
    await p.says("b1", ".grid");
    const { resource } = await at.server.client().database("library").container("books").item("b1", "Borges").read();
    assert.equal(resource.title, "Ficciones");

    await p.go("/data/library/books/query");
    await p.edit("Query", "SELECT c.title, c.pages FROM c WHERE c.pages > 100 ORDER BY c.pages");
    await p.press("Run");
    await p.says("Ficciones", ".grid");
    await p.says(/\d\.\d\d\s*RU/, ".facts");
    await p.says("/pages/?", ".aside");
    await p.says("What it cost", ".aside");
    await p.edit("Query", "SELECT nonsense FRM c");
    await p.press("Run");
    await p.says("The query could not be run");

    await p.press("Sign out");
    await p.says("Sign in to");
    await p.isClean(Object.values(keys));
    assert.doesNotMatch(at.server.log, new RegExp(keys.primary.slice(0, 20).replace(/[+/]/g, "\\$&")));
  });

  it("a save after somebody else's shows both changes and loses neither", async () => {
    const p = await at.page(at.server);
    await p.open("/data/shop/orders/items");
    await p.signIn(at.server.key);
    await p.says("o1", ".grid");
    await p.page.evaluate(() => [...document.querySelectorAll("tbody tr")].find((row) => row.innerText.startsWith("o1")).click());
    await p.says("Save", ".right");
    await p.edit("The item o1", '{"id":"o1","customerId":"c1","status":"returned","total":10,"gift":true}');
    await at.orders.item("o1", "c1").replace({ id: "o1", customerId: "c1", status: "shipped", total: 10, tracking: "1Z" });
    await p.press("Save");
    await p.says("changed by someone else");
    await p.says("tracking", ".conflict");
    const save = await p.page.waitForSelector('::-p-aria([name="Save the merged item"][role="button"])');
    assert.ok(await save.evaluate((one) => one.disabled), "both changed status: a person has to choose");
    assert.equal((await at.orders.item("o1", "c1").read()).resource.status, "shipped", "nothing is overwritten");
    await (await p.page.waitForSelector('::-p-aria([name="status: yours, \\"returned\\""][role="radio"])')).evaluate((one) => one.click());
    await p.press("Save the merged item");
    await p.says(/Saved: [\d.]+ RU/);
    const { resource } = await at.orders.item("o1", "c1").read();
    assert.deepEqual([resource.status, resource.gift, resource.tracking], ["returned", true, "1Z"]);

    // Deleted meanwhile: the text is still there.
    await p.edit("The item o1", '{"id":"o1","customerId":"c1","status":"kept"}');
    await at.orders.item("o1", "c1").delete();
    await p.press("Save");
    await p.says("deleted by someone else");
    await p.press("Create it again");
    await p.says(/Created: [\d.]+ RU/);
    assert.equal((await at.orders.item("o1", "c1").read()).resource.status, "kept");

    // The key of an item cannot be changed, and the page says so before anything is sent.
    await p.edit("The item o1", '{"id":"o1","customerId":"c2","status":"kept"}');
    await p.says("cannot be changed", ".right");
    await p.press("Undo all");
    await p.press("Delete this item");
    await p.press("Delete the item");
    await p.says("Deleted o1");
    assert.equal((await at.orders.item("o1", "c1").read()).statusCode, 404);
    await p.isClean([at.server.key]);
  });

  it("a read-only key gives a console that only reads", async () => {
    const p = await at.page(at.server);
    await p.open("/data/shop/orders/items?id=o2&key=%5B%22c2%22%5D");
    await p.signIn(at.server.keys.primaryReadonly);
    await p.says("read-only");
    await p.says("o2", ".grid");
    for (const name of ["New item", "Delete this item", "Save"]) {
      const button = await p.page.waitForSelector(`::-p-aria([name="${name}"][role="button"])`);
      assert.ok(await button.evaluate((one) => one.disabled), name);
    }
    // And if the page were to try, the server would refuse.
    const tried = await p.page.evaluate(async () => {
      const send = async (path, method, body) => (await fetch(`/console/api/${path}`, { method, body, headers: { "x-orrery-console": "1" } })).status;
      return [await send("data/dbs", "GET"), await send("data/dbs", "POST", '{"id":"x"}'), await send("data/dbs/shop/colls/orders", "DELETE"),
        await send("admin/split", "POST", '{"database":"shop","container":"orders"}'), await send("admin/partitions?database=shop&container=orders", "GET"),
        await send("data/admin/keys/regenerate", "POST", '{"key":"primary"}')];
    });
    assert.deepEqual(tried, [200, 403, 403, 403, 200, 404]);
    await p.go("/data/shop/orders/partitions");
    await p.says("Too little to judge");
    await p.isClean(Object.values(at.server.keys));
  });

  it("a link that was stolen shows nothing, and a session ends with its key", async () => {
    const p = await at.page(at.server);
    await p.open("/data/shop/orders/items?id=o2&key=%5B%22c2%22%5D");
    await p.signIn(at.server.keys.secondary);
    await p.says("o2", ".grid");
    const thief = await at.page(at.server);
    await thief.page.goto(p.page.url(), { waitUntil: "load" });
    await thief.says("Sign in to");
    assert.doesNotMatch(await thief.text(), /c2/);
    // The cookie cannot be read by a script, and is not sent along by another site.
    assert.equal(await p.page.evaluate(() => document.cookie), "");
    const [cookie] = await p.context.cookies();
    assert.deepEqual([cookie.httpOnly, cookie.sameSite, cookie.path], [true, "Strict", "/console"]);
    const made = await at.server.command("keys", "regenerate", "secondary", "--data", at.server.data, "--port", String(at.server.port));
    assert.equal(made.code, 0, made.out);
    await p.says("The session has ended");
    await p.isClean([cookie.value]);
  });

  it("another site's page gets nothing out of a session", async () => {
    const p = await at.page(at.server);
    await p.open();
    await p.signIn(at.server.key);
    await p.says("Overview");
    // 127.0.0.1 and localhost are two sites to a browser.
    const other = await p.context.newPage();
    await other.goto(`http://localhost:${at.server.port}/healthz`);
    const tried = await other.evaluate(async (origin) => {
      const send = (options) => fetch(`${origin}/console/api/data/dbs`, { credentials: "include", ...options }).then((one) => one.status, () => "refused");
      return [await send({}), await send({ headers: { "x-orrery-console": "1" } }), await send({ method: "POST", mode: "no-cors", body: '{"id":"stolen"}' }).then(String)];
    }, p.origin);
    assert.deepEqual(tried.slice(0, 2), ["refused", "refused"]);
    const { resources } = await at.server.client().databases.readAll().fetchAll();
    assert.ok(!resources.some((one) => one.id === "stolen"));
    await p.isClean([at.server.key]);
  });
});
