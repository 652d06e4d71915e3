// What operators do in the console: look at partitions, split one and watch, scale, change policies,
// write and run scripts, read metrics; by keyboard, on a phone, in both themes; and axe finds nothing.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";

import { start } from "../sdk/server.mjs";
import { withBrowser } from "./browser.mjs";

const axe = readFileSync(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");

describe("a console with --dev", () => {
  const at = withBrowser();
  before(async () => {
    at.server = await start({ limits: { "partition-throughput": 1000, "initial-partition-throughput": 1000 } });
    at.client = at.server.client();
    at.db = (await at.client.databases.create({ id: "shop" })).database;
    at.orders = (await at.db.containers.create(
      { id: "orders", partitionKey: { paths: ["/customerId"], kind: "Hash", version: 2 } }, { offerThroughput: 1000 })).container;
    await at.db.containers.create({ id: "bad", partitionKey: { paths: ["/country"], kind: "Hash", version: 2 } });
    const items = Array.from({ length: 1200 }, (_, i) => ({ id: `o${i}`, customerId: `c${i % 300}`, total: i, status: i % 3 ? "open" : "paid" }));
    for (let i = 0; i < items.length; i += 100) {
      await at.orders.items.bulk(items.slice(i, i + 100).map((one) => ({ operationType: "Create", partitionKey: one.customerId, resourceBody: one })));
    }
    at.p = await at.page(at.server);
    await at.p.open();
    await at.p.signIn();
    await at.p.says("Overview");
  });
  after(() => at.server?.close());

  it("an address that changes before the first picture is painted is followed", async () => {
    const page = await at.page(at.server, { context: at.p.context });
    await page.page.evaluateOnNewDocument(() => {
      const watch = new MutationObserver(() => {
        if (!document.querySelector(".brand")) return;
        watch.disconnect();
        location.hash = "/metrics";
      });
      watch.observe(document, { childList: true, subtree: true });
    });
    try {
      await page.open();
      await page.page.waitForSelector('a[href="#/metrics"][aria-current="page"]');
    } finally {
      await page.page.close(); // the other page is looked at again
    }
  });

  it("a split is started and watched", async () => {
    const { p } = at;
    await p.go("/data/shop/orders/partitions");
    await p.says("Too little to judge");
    await p.says("Fullest keys");
    await p.press("Split a range…");
    await p.press("Split it now");
    await p.says(/Writes paused for [\d.]+ m?s/);
    await p.press("Close");
    await p.says("2 partitions", ".card");
    await p.says("Even", ".note");
    await p.page.waitForSelector('svg.ring[aria-label^="2 ranges on the ring of hashes, after 1 splits"]');
    await p.page.$eval('input[aria-label="Splits so far"]', (one) => { one.value = "0"; one.dispatchEvent(new Event("input", { bubbles: true })); });
    await p.page.waitForSelector('svg.ring[aria-label^="1 range on the ring"]');
    await p.press("Table");
    await p.says("came from");
    // Empty, it is cut at the middle of its hashes.
    await p.go("/data/shop/bad/partitions");
    await p.says("No items yet");
    await p.press("Split a range…");
    await p.says("cut at the middle");
    await p.press("Cancel");
    // Most requests ask for one key: it is named.
    await p.go("/data/shop/orders/partitions");
    let seen = false;
    const load = (async () => {
      for (let i = 0; !seen; ++i) await at.orders.item(`o${i % 5 ? 7 : i % 1200}`, `c${i % 5 ? 7 : i % 300}`).read();
    })();
    try {
      await p.says(/Hottest keys[^]*c7[^%]*(7\d|8\d) %/, ".halves");
    } finally {
      seen = true;
      await load;
    }
    // A key leads to its items.
    const key = await p.page.waitForSelector(".keys a");
    await key.evaluate((one) => one.click());
    await p.says("4 items", ".foot");
  });

  it("throughput is set with a preview, and the splits that follow are seen", async () => {
    const { p } = at;
    await p.go("/data/shop/orders/scale");
    await p.says("One key can get");
    await p.field("RU/s", "4000");
    await p.says(/4\s*now 2: 2 splits/, ".preview");
    await p.says("2 splits will follow");
    await p.press("Set 4,000 RU/s");
    await p.says(/4\s*as now/, ".preview");
    await p.go("/data/shop/orders/partitions");
    await p.says("4 partitions", ".card");
    await p.says("4,000 RU/s", ".card");
    // The history says why: the newest first.
    await p.says(/of the throughput[^]*of the throughput[^]*somebody asked/, ".halves");
  });

  it("policies are changed as a form and as JSON", async () => {
    const { p } = at;
    await p.go("/data/shop/orders/policies");
    await p.field("One a line", "/status asc, /total desc");
    await p.press("Save the policies");
    await p.says("Saved.");
    const { resource } = await at.orders.read();
    assert.deepEqual(resource.indexingPolicy.compositeIndexes[0].map((one) => [one.path, one.order]), [["/status", "ascending"], ["/total", "descending"]]);
    await p.press("JSON");
    const { id, partitionKey, indexingPolicy } = resource;
    await p.edit("The container’s definition", JSON.stringify({ id, partitionKey, indexingPolicy, defaultTtl: 3600 }));
    await p.press("Save the policies");
    await p.page.waitForFunction(() => !document.body.innerText.includes("not saved"));
    assert.equal((await at.orders.read()).resource.defaultTtl, 3600);
  });

  it("a procedure is written, saved, run with arguments, and its log is read", async () => {
    const { p } = at;
    await p.go("/data/shop/orders/scripts");
    await p.press("New: Procedures");
    await p.field("Name", "double");
    await p.press("Create");
    await p.edit("Script double", 'function (n) { console.log("given " + n); getContext().getResponse().setBody({ twice: 2 * n }); }');
    await p.press("Save");
    await p.says("Saved double");
    await p.field("Partition key", '"c1"');
    await p.field("Arguments", "[21]");
    await p.press("Run the procedure");
    await p.says('"twice": 42', ".result");
    await p.says("given 21", ".result");
    await p.press("Delete this script");
    await p.press("Delete the script");
    await p.says("Deleted double");
  });

  it("queries page, complete and download", async () => {
    const { p } = at;
    await p.go("/data/shop/orders/query");
    await p.edit("Query", "SELECT c.id, c.total FROM c WHERE c.total >= 1000 ORDER BY c.total");
    await p.press("Run");
    await p.says("o1000", ".grid");
    await p.says(/4 of 4\s*partitions/, ".facts");
    await p.press("Next page");
    await p.says("o1100", ".grid");
    await p.says("page 2", ".foot");
    await p.press("Previous page");
    await p.says("page 1", ".foot");
    // The properties of the items are offered.
    await p.edit("Query", "SELECT c.cust");
    await p.page.keyboard.down("Control");
    await p.page.keyboard.press("Space");
    await p.page.keyboard.up("Control");
    const editor = await p.editor("Query");
    await p.page.waitForFunction((one) => one.getRootNode().querySelector(".cm-tooltip-autocomplete")?.innerText.includes("customerId"), {}, editor);
    await p.page.keyboard.press("Escape");
    // What is saved: caught before the browser writes it.
    const csv = await p.page.evaluate(async () => {
      const made = new Promise((resolve) => { URL.createObjectURL = (blob) => { resolve(blob.text()); return "blob:none"; }; });
      HTMLAnchorElement.prototype.click = () => {};
      [...document.querySelectorAll("button")].find((one) => one.textContent === "All rows as CSV").click();
      return made;
    });
    assert.match(csv, /^id,total\r\no1000,1000\r\n/);
    assert.equal(csv.trim().split("\r\n").length, 201);
    await p.page.reload();
  });

  it("metrics show what was, and live", async () => {
    const { p } = at;
    await p.go("/metrics");
    await p.says("orrery_request_units_total");
    await p.says(/RU\/s that are provisioned/);
    await p.press("6 h");
    await p.press("15 min");
    await p.says("Latency");
  });

  it("goes by keyboard", async () => {
    const { p } = at;
    await p.go("/data/shop/orders/items");
    await p.says("o1", ".grid");
    await p.page.keyboard.down("Alt");
    await p.page.keyboard.press("4");
    await p.page.keyboard.up("Alt");
    await p.says("One key can get");
    await p.page.keyboard.down("Control");
    await p.page.keyboard.press("k");
    await p.page.keyboard.up("Control");
    await p.page.waitForSelector("dialog[open] input");
    await p.page.keyboard.type("orders items");
    await p.page.keyboard.press("Enter");
    await p.page.waitForSelector(".grid tbody tr");
    await p.page.focus(".grid tbody tr");
    await p.page.keyboard.press("j");
    await p.page.keyboard.press("Enter");
    await p.page.waitForSelector('.grid tbody tr:nth-child(2)[aria-selected="true"]');
    await p.page.focus(".brand");
    await p.page.keyboard.press("/");
    assert.equal(await p.page.evaluate(() => document.activeElement.id), "filter");
    await p.page.focus(".brand");
    await p.page.keyboard.press("?");
    await p.says("light or dark", "dialog");
    await p.page.keyboard.press("Escape");
    await p.page.waitForFunction(() => !document.querySelector("dialog"));
    const before = await p.page.evaluate(() => document.documentElement.dataset.theme);
    await p.page.focus(".brand");
    await p.page.keyboard.press("t");
    assert.notEqual(await p.page.evaluate(() => document.documentElement.dataset.theme), before);
    await p.page.keyboard.press("t");
    await p.isClean();
  });

  it("says so while the server is away, and goes on when it is back", async () => {
    const p = await at.page(at.server);
    await p.open("/data/shop/orders/items");
    await p.signIn();
    await p.says("o1", ".grid");
    await at.server.restart();
    await p.says("The session has ended");
    await p.signIn();
    await p.says("o1", ".grid");
    await p.go("/metrics");
    await p.says("Latency");
  });

  for (const [name, options] of Object.entries({
    "light, wide": {}, "dark, wide": { dark: true }, "light, phone": { phone: true, width: 390, height: 844 }, "dark, phone": { dark: true, phone: true, width: 390, height: 844 },
  })) {
    it(`axe finds nothing: ${name}`, async () => {
      const p = await at.page(at.server, options);
      const found = [];
      const look = async (screen) => {
        // The policy keeps inline scripts out: this one comes by the debugger.
        await p.page.evaluate(axe);
        await p.page.waitForFunction(() => !document.querySelector(".busy")); // dimmed while it loads
        const { violations } = await p.page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
        found.push(...violations.map((one) => `${screen}: ${one.id} (${one.impact}) ${one.nodes[0].html.slice(0, 160)} ${one.nodes[0].failureSummary}`));
        const wide = await p.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        if (wide > 0) found.push(`${screen}: the page scrolls sideways by ${wide} px`);
      };
      await p.open();
      await p.says("Sign in to");
      await look("sign-in");
      await p.signIn();
      for (const [hash, says] of [["/", "orders"], ["/data/shop", "Shared throughput"], ["/data/shop/orders/items?id=o1&key=%5B%22c1%22%5D", "Save"], ["/data/shop/bad/items", "no items yet"],
        ["/data/shop/orders/query", "Ask orders something"], ["/data/shop/orders/partitions", "Fullest keys"], ["/data/shop/orders/scale", "One key can get"],
        ["/data/shop/orders/scripts", "Scripts run where"], ["/data/shop/orders/policies", "Indexed paths"], ["/metrics", "Latency"], ["/import", "Where it goes"], ["/keys", "Connect"]]) {
        await p.go(hash);
        await p.says(says);
        await look(hash);
      }
      if (!options.phone) {
        await p.go("/data/shop");
        await p.press("New container");
        await p.says("Partition key", "dialog");
        await look("new container");
      }
      assert.deepEqual(found, []);
      await p.isClean();
    });
  }
});
