// Throughput in the console: autoscale of a container from its making on, and throughput that the containers of a
// database share. One server and a Chromium, some ten seconds.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import { eventually } from "../sdk/expect.mjs";
import { start } from "../sdk/server.mjs";
import { withBrowser } from "./browser.mjs";

describe("throughput in the console", () => {
  const at = withBrowser();
  before(async () => {
    at.server = await start({ limits: { "partition-throughput": 1000, "initial-partition-throughput": 1000 } });
    at.client = at.server.client();
    await at.client.databases.create({ id: "shop" });
    at.p = await at.page(at.server);
    await at.p.open();
    await at.p.signIn();
    await at.p.says("Overview");
  });
  after(() => at.server?.close());

  const offerOf = async (place) => (await place.readOffer()).resource.content;
  const container = (db, name) => at.client.database(db).container(name);
  // What is set, once it is: [RU/s, whether it is autoscale].
  const isSet = (place, units, autoscale) => eventually(async () => {
    const { offerThroughput, offerAutopilotSettings } = await offerOf(place);
    return autoscale ? offerAutopilotSettings?.maxThroughput === units : offerThroughput === units && !offerAutopilotSettings;
  }, { what: `${units} RU/s${autoscale ? " at most" : ""}` });
  const partitionsOf = async (db, name) =>
    (await at.server.rest()("GET", `/admin/partitions?database=${db}&container=${name}`)).body.partitions;

  // `kind`: the button of the throughput that it is to have.
  async function makeContainer(db, name, kind, units) {
    const { p } = at;
    await p.go(`/data/${db}`);
    await p.press("New container");
    await p.field("Name", name);
    await p.field("Partition key", "/pk");
    // Nothing is pressed: what the dialog proposes is taken, once it knows whether the database has throughput.
    if (kind) await p.press(kind);
    else await p.page.waitForFunction(() => document.querySelector("dialog input[aria-label='RU/s']") === null);
    if (units) await p.field(kind === "Autoscale" ? "Largest RU/s" : "RU/s", String(units));
    if (kind === "Autoscale") await p.says(`${units / 10} when idle`, "dialog");
    await p.press("Create the container");
    await p.says(`${name} has no items yet`);
  }

  it("a container is made with autoscale, and goes to manual and back", async () => {
    const { p } = at;
    await makeContainer("shop", "orders", "Autoscale", 2000);
    await isSet(container("shop", "orders"), 2000, true);
    await p.go("/");
    await p.says(/orders[^]*2,000 max/, "table.list");
    await p.go("/data/shop/orders/scale");
    await p.says("between 200 and 2,000, by the load");
    await p.says(/2\s*as now/, ".preview");
    // What the server would refuse is said before it is sent.
    await p.field("RU/s at most", "2500");
    await p.says("a multiple of 1,000");
    await p.field("RU/s at most", "4000");
    await p.says(/4\s*now 2: 2 splits/, ".preview");
    await p.press("Set 4,000 RU/s");
    await isSet(container("shop", "orders"), 4000, true);
    await p.says("between 400 and 4,000, by the load");
    await p.says(/4\s*as now/, ".preview");
    await p.press("Manual");
    await p.field("RU/s", "1200");
    await p.says("The partitions stay", ".preview");
    await p.press("Set 1,200 RU/s");
    await isSet(container("shop", "orders"), 1200, false);
    await p.press("Autoscale");
    await p.says("between 200 and 2,000, by the load");  // the next thousand
    await p.press("Set 2,000 RU/s");
    await isSet(container("shop", "orders"), 2000, true);
    assert.equal((await partitionsOf("shop", "orders")).length, 4);
    await p.isClean();
  });

  it("containers share the throughput of their database, and one has its own", async () => {
    const { p } = at;
    await p.press("New database");
    await p.field("Name", "library");
    await p.press("Manual");
    await p.says("share it", "dialog");
    await p.field("RU/s", "800");
    await p.press("Create the database");
    await p.says("library has no containers yet");
    await isSet(at.client.database("library"), 800, false);
    await makeContainer("library", "books");
    await makeContainer("library", "loans", "The database's");
    await makeContainer("library", "events", "Manual", 600);
    assert.equal((await container("library", "books").readOffer()).resource, undefined);
    await isSet(container("library", "events"), 600, false);
    await p.go("/");
    await p.says(/books[^]*800 shared/, "table.list");
    await p.go("/data/library/books/scale");
    await p.says("library has 800 RU/s for all containers");
    assert.doesNotMatch(await p.text("main"), /Throughput of books/);
    await p.go("/data/library/events/scale");
    await p.says("Throughput of events");
    // Changed where it is: for all that share it, and for no other.
    await p.go("/data/library");
    await p.says("Shared throughput");
    await p.press("Autoscale");
    await p.field("RU/s at most", "3000");
    await p.press("Set 3,000 RU/s");
    await isSet(at.client.database("library"), 3000, true);
    await p.go("/data/library/loans/scale");
    await p.says("library has up to 3,000 RU/s, by the load, for all containers");
    await isSet(container("library", "events"), 600, false);
    await p.go("/data/shop");
    await p.says("shop has no throughput of its own");
    await p.isClean();
  });

  it("a read-only key shows throughput and sets none", async () => {
    const keyed = await start({ dev: false });
    try {
      const { database } = await keyed.client().databases.create({ id: "shop", maxThroughput: 2000 });
      await database.containers.create({ id: "orders", partitionKey: "/pk", maxThroughput: 1000 });
      const p = await at.page(keyed);
      await p.open("/data/shop/orders/scale");
      await p.signIn(keyed.keys.primaryReadonly);
      await p.says("between 100 and 1,000, by the load");
      const field = await p.page.waitForSelector('::-p-aria([name="RU/s at most"])');
      assert.ok(await field.evaluate((one) => one.disabled));
      await p.go("/data/shop");
      await p.says("between 200 and 2,000, by the load");
      await p.isClean([keyed.keys.primaryReadonly]);
    } finally {
      await keyed.close();
    }
  });
});
