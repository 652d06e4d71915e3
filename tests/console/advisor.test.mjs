// The console's tab Advisor: which partition key a container should have.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";

import { start } from "../sdk/server.mjs";
import { withBrowser } from "./browser.mjs";

const axe = readFileSync(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");

describe("the advisor in the console", () => {
  const at = withBrowser();
  before(async () => {
    at.server = await start();
    const client = at.server.client();
    const { database } = await client.databases.create({ id: "shop" });
    const { container } = await database.containers.create({ id: "orders", partitionKey: { paths: ["/status"], kind: "Hash", version: 2 } });
    await database.containers.create({ id: "empty", partitionKey: { paths: ["/id"], kind: "Hash", version: 2 } });
    const items = Array.from({ length: 600 }, (_, i) => ({ id: `o${i}`, status: i % 2 ? "open" : "paid", customer: `c${i % 150}` }));
    for (let i = 0; i < items.length; i += 100) {
      await container.items.bulk(items.slice(i, i + 100).map((one) => ({ operationType: "Create", partitionKey: one.status, resourceBody: one })));
    }
    for (let i = 0; i < 40; ++i) {
      await container.items.query({ query: "SELECT * FROM c WHERE c.customer = @who", parameters: [{ name: "@who", value: `c${i}` }] }).fetchAll();
    }
    at.p = await at.page(at.server);
    await at.p.open();
    await at.p.signIn();
    await at.p.says("Overview");
  });
  after(() => at.server?.close());

  it("keys are ranked with reasons and bars", async () => {
    const { p } = at;
    await p.go("/data/shop/orders/advisor");
    // Few requests are said, and the list is tentative.
    await p.says("Too little is known for a verdict; tentatively /customer");
    await p.says("few requests");
    await p.says(/1\s*\/customer/, ".ranked");
    await p.says(/\/status\s*now/, ".ranked");
    await p.says(/few values/, ".ranked");
    await p.press("/status");
    await p.says(/few_values: it has 2 values/, ".reasons");
    const bars = await p.page.$$eval(".advised-bars section", (all) => all.map((one) => one.getAttribute("aria-label")));
    assert.deepEqual(bars, ["/customer by partition", "/status by partition"]);
    assert.ok(await p.page.$$eval(".advised-bars .seg", (all) => all.some((one) => one.getBoundingClientRect().width > 20)));
    // A key of one's own.
    await p.field("Score a key", "suffix(/customer,7)");
    await p.press("Score");
    await p.says("suffix(/customer,7)", ".ranked");
    await p.page.evaluate(axe);
    const found = await p.page.evaluate(async () => (await globalThis.axe.run(document, { resultTypes: ["violations"] })).violations.filter((one) => ["serious", "critical"].includes(one.impact)).map((one) => `${one.id}: ${one.nodes[0]?.html}`));
    assert.deepEqual(found, []);
  });

  it("an empty container says what to do", async () => {
    await at.p.go("/data/shop/empty/advisor");
    await at.p.says("No items yet");
    await at.p.says("orrery advise --items");
  });
});
