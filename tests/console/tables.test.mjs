// Tables in the console, as the databases of other faces: listed, shown, queried, scaled and split; and nothing that would
// write them is offered. One server and a Chromium, some ten seconds.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import { eventually } from "../sdk/expect.mjs";
import { startTables, tableClient } from "../sdk/table.mjs";
import { withBrowser } from "./browser.mjs";

describe("tables in the console", () => {
  const at = withBrowser();
  before(async () => {
    at.server = await startTables({ limits: { "partition-throughput": 1000, "initial-partition-throughput": 1000 } });
    at.table = tableClient(at.server, "Orders");
    await at.table.createTable({ requestOptions: { customHeaders: { "x-ms-offer-throughput": "1000" } } });
    for (let city = 0; city < 20; ++city) {
      await at.table.submitTransaction(Array.from({ length: 20 }, (_, i) => ["create",
        { partitionKey: `city${String(city).padStart(2, "0")}`, rowKey: `r${i}`, total: city * 100 + i, count: 9007199254740993n }]));
    }
    await at.server.client().databases.create({ id: "shop" });
    // A name with a colon is no face's.
    await at.server.client().databases.create({ id: "own:name" });
    at.p = await at.page(at.server);
    await at.p.open();
    await at.p.signIn();
    await at.p.says("Overview");
  });
  after(() => at.server?.close());

  // A button that cannot be used, and says why.
  async function isRefused(name) {
    const found = await at.p.page.waitForSelector(`::-p-aria([name="${name}"][role="button"])`, { visible: true });
    const { disabled, title } = await found.evaluate((one) => ({ disabled: one.disabled, title: one.title }));
    assert.ok(disabled, `${name} is offered`);
    assert.match(title, /table:tables is written through its own protocol/);
  }
  const offerOf = async (name) => (await at.server.client().database("table:tables").container(name).readOffer()).resource.content;

  it("a table is listed with its figures, and nothing is made or deleted beside it", async () => {
    const { p } = at;
    await p.says("table:tables");
    await p.says("table:tables / orders", "table.list");
    await isRefused("New container in table:tables");
    await p.go("/data/table:tables");
    await p.says("Read-only here");
    await isRefused("Delete…");
    await isRefused("New container");
    await p.go("/data/own:name");
    await p.says("own:name has no containers yet");
    assert.doesNotMatch(await p.text(), /Read-only here/);
    await p.go("/import");
    await p.says("Import");
    assert.doesNotMatch(await p.text("main"), /table:tables/);
  });

  it("its entities are shown and queried, and not changed", async () => {
    const { p } = at;
    await p.go("/data/table:tables/orders/items");
    await p.says("city00", ".grid");
    await p.says("9007199254740993", ".grid");
    await isRefused("New item");
    await p.page.evaluate(() => document.querySelector(".grid tbody tr").click());
    await p.says("city00", ".split");
    const editor = await p.editor("The item");
    await p.page.waitForFunction((one) => /RowKey/.test(one.innerText), {}, editor);
    assert.equal(await editor.evaluate((one) => one.getAttribute("aria-readonly")), "true");
    assert.match(await p.editorText("The item"), /"count": 9007199254740993\b/);
    await isRefused("Delete this item");
    await isRefused("Save");
    await p.go("/data/table:tables/orders/query");
    await p.edit("Query", "SELECT c.RowKey, c.total FROM c WHERE c.PartitionKey = 'city07' AND c.total > 717");
    await p.press("Run");
    await p.says("718", ".grid");
    await p.says("719", ".grid");
    await p.go("/data/table:tables/orders/scripts");
    await isRefused("New: Procedures");
    await p.go("/data/table:tables/orders/policies");
    await isRefused("Delete the container…");
    await isRefused("Save the policies");
  });

  it("its throughput is changed, and its partitions split by themselves and by hand", async () => {
    const { p } = at;
    await p.go("/data/table:tables/orders/partitions");
    await p.says("1 partition", ".card");
    await p.says("By key");
    await p.says("Fullest keys");
    await p.press("Split a range…");
    await p.press("Split it now");
    await p.says(/Writes paused for [\d.]+ m?s/);
    await p.press("Close");
    await p.says("2 partitions", ".card");
    await p.press("Table");
    await p.says(/city\d\d/, "table.keys");
    await p.go("/data/table:tables/orders/scale");
    await p.says("Throughput of orders");
    await p.field("RU/s", "4000");
    await p.press("Set 4,000 RU/s");
    await eventually(async () => (await offerOf("orders")).offerThroughput === 4000, { what: "the new throughput" });
    await p.go("/data/table:tables/orders/partitions");
    await p.says("4 partitions", ".card");
    const entities = [];
    for await (const one of at.table.listEntities()) entities.push(one);
    assert.equal(entities.length, 400);
    await p.isClean([]);
  });
});
