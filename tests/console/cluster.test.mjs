// The console's tab Cluster, of two real nodes over a directory that they share. About half a minute.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";

import { startCluster, until } from "../cluster/cluster.mjs";
import { start } from "../sdk/server.mjs";
import { withBrowser } from "./browser.mjs";

const axe = readFileSync(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");

describe("a cluster in the console", () => {
  const at = withBrowser();
  before(async () => {
    at.cluster = await startCluster(["n1", "n2"]);
    const { database } = await at.cluster.nodes.get("n1").client().databases.create({ id: "db" });
    await database.containers.create({ id: "c", partitionKey: "/pk", throughput: 40_000 });
    at.ranges = await at.cluster.settled();
    at.p = await at.page(at.cluster.nodes.get("n1"));
    await at.p.open();
    await at.p.signIn();
    await at.p.says("Overview");
  });
  after(() => at.cluster?.close());
  const served = async (node) => (await at.cluster.partitions()).filter((one) => one.node === node).length;

  it("shows the nodes and who serves what; a range moves, a node is drained and serves again", async () => {
    const { p } = at;
    await p.press("Cluster", "link");
    await p.says(/All nodes are well/);
    await p.says(/n1[^]*n2/, ".nodes");
    await p.says("coordinator", ".nodes");
    const first = at.ranges[0];
    const to = first.node === "n1" ? "n2" : "n1";
    // It goes where it is told, and the page says so by itself.
    await p.press(`Move range ${first.id} of c`);
    await p.says(`${first.node} serves it now`, "dialog");
    await p.press("Move it");
    await p.says(`Range ${first.id} goes to ${to}`);
    await p.says(new RegExp(`${first.id}\\s+${to}\\s`), ".owned");
    assert.equal((await at.cluster.partitions()).find((one) => one.id === first.id).node, to);
    // A node is emptied.
    await p.press("Drain n2");
    await p.says("n2 is being drained");
    await p.says("drained: it can be stopped", ".nodes");
    await until("n2 serves nothing", async () => (await served("n2")) === 0);
    await p.press("Its ranges: n2");
    await p.says("n2 serves nothing");
    await p.press("Its ranges: n2");
    await p.press("Undrain n2");
    await p.says("n2 takes partitions again");
    await p.says("All nodes are well");
    await p.press("Spread anew");
    await p.says("being spread anew");
    await until("n2 serves some", async () => (await served("n2")) > 0);
    await p.says(/\sn2\s/, ".owned");
    await p.page.evaluate(axe);
    const found = await p.page.evaluate(async () => (await globalThis.axe.run(document, { resultTypes: ["violations"] })).violations.map((one) => `${one.id}: ${one.nodes[0]?.html}`));
    assert.deepEqual(found, []);
    // An import goes to whichever node it belongs to.
    const { database } = await at.cluster.nodes.get("n2").client().databases.create({ id: "db2" });
    await database.containers.create({ id: "there", partitionKey: "/pk", throughput: 20_000 });
    await at.cluster.settled("db2", "there");
    const statuses = await p.page.evaluate(async () => Promise.all(Array.from({ length: 12 }, async (_, i) => {
      const send = async () => (await fetch("/console/api/data/dbs/db2/colls/there/docs", {
        method: "POST", body: JSON.stringify({ id: `${i}`, pk: `k${i}` }), headers: { "x-orrery-console": "1", "x-ms-documentdb-partitionkey": `["k${i}"]`, "x-ms-documentdb-is-upsert": "true" } })).status;
      // On its way to a node it may be asked to come again, as any client is.
      for (;;) {
        const status = await send();
        if (status !== 503 && status !== 410 && status !== 408) return status;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    })));
    assert.ok(statuses.every((status) => status === 201 || status === 200), `${statuses}`);
  });

  it("says which node is gone", async () => {
    const { p } = at;
    await p.says("All nodes are well");
    await at.cluster.kill("n2");
    await p.says(/n2: look|1 node/);
    await at.cluster.settled();
    await p.page.waitForFunction(() => !/\sn2\s/.test(document.querySelector(".owned")?.innerText ?? " n2 "));
    await p.isClean();
  });

  it("a server alone has no such tab", async () => {
    const server = await start();
    try {
      const p = await at.page(server);
      await p.open("/cluster");
      await p.signIn();
      await p.says("This server is alone");
      assert.equal(await p.page.$('nav[aria-label="Console"] a[href="#/cluster"]'), null);
    } finally {
      await server.close();
    }
  });
});

describe("a node that hangs", () => {
  const at = withBrowser();

  it("its figures are said to be unknown, until it answers again", async () => {
    const cluster = await startCluster(["n1", "n2"], { steady: true });
    try {
      const asked = await cluster.coordinator();
      const hung = cluster.names.find((name) => name !== asked);
      const { database } = await cluster.nodes.get(asked).client().databases.create({ id: "db" });
      const { container } = await database.containers.create({ id: "c", partitionKey: "/pk", throughput: 40_000 });
      for (let i = 0; i < 24; ++i) await container.items.create({ id: `i${i}`, pk: `k${i}` });
      await until("both serve", async () => new Set((await cluster.settled()).map((one) => one.node)).size === 2);
      const p = await at.page(cluster.nodes.get(asked));
      await p.open("/data/db/c/partitions");
      await p.signIn();
      await p.says("in 24 items", ".card");
      await cluster.freeze(hung);
      await p.says(new RegExp(`Not all figures are known\\s+${hung} did not tell of range`), ".card");
      cluster.nodes.get(hung).process.kill("SIGCONT");
      await p.says("in 24 items", ".card");
      await p.says("Too little to judge", ".card");
      await p.isClean();
    } finally {
      await cluster.close();
    }
  });
});
