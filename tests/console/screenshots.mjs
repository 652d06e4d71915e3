// Makes the pictures of the documents, docs/images/console-*.png, from a server with made-up data:
//   node tests/console/screenshots.mjs [FOLDER]
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { startCluster } from "../cluster/cluster.mjs";
import { start } from "../sdk/server.mjs";
import { startTables, tableClient } from "../sdk/table.mjs";
import { launch, WatchedPage } from "./browser.mjs";

const folder = process.argv[2] ?? fileURLToPath(new URL("../../docs/images", import.meta.url));
mkdirSync(folder, { recursive: true });

// The same numbers every time.
let seed = 7;
const random = () => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;
const pick = (list) => list[Math.floor(random() * list.length)];
const countries = ["US", "US", "US", "US", "US", "US", "DE", "DE", "GB", "FR", "IN", "BR", "JP", "ES", "IT", "SE"];
const order = (i) => ({
  id: `ord-${48_000 + i}`, customerId: `cust-${1000 + Math.floor(random() * 900)}`, country: pick(countries), status: pick(["open", "paid", "packed", "shipped", "returned"]),
  total: Math.round(random() * 90_000) / 100, placed: new Date(Date.UTC(2026, 10, 15, 17, 36) - i * 61_000).toISOString(), gift: random() < 0.1,
  lines: [{ sku: pick(["star chart", "sextant", "astrolabe"]), count: 1 + Math.floor(random() * 3), price: Math.round(random() * 9000) / 100 }],
});

const server = await start({
  args: ["--throttling", "on"],
  limits: { "physical-partition-bytes": "8M", "logical-partition-bytes": "2M", "partition-throughput": 1000, "initial-partition-throughput": 1000, "partitioned-throughput-min": 400, "advise-requests": 2000 },
});
const keyed = await start({ dev: false });
const scratch = mkdtempSync(join(tmpdir(), "orrery-screenshots-"));
const browser = await launch();
let isOver = false;
try {
  const client = server.client({ connectionPolicy: { retryOptions: { maxRetryAttemptCount: 100, maxWaitTimeInSeconds: 60, fixedRetryIntervalInMilliseconds: 50 } } });
  const { database: shop } = await client.databases.create({ id: "shop" });
  const { database: telemetry } = await client.databases.create({ id: "telemetry", throughput: 1000 });
  await telemetry.containers.create({ id: "readings", partitionKey: { paths: ["/site", "/device"], kind: "MultiHash", version: 2 } });
  const make = async (id, path, offer) => (await shop.containers.create({ id, partitionKey: { paths: [path], kind: "Hash", version: 2 } }, { offerThroughput: offer })).container;
  const good = await make("orders", "/customerId", 6000);
  const bad = await make("orders-by-country", "/country", 6000);
  const customers = await make("customers", "/id", 400);
  for (let i = 0; i < 60; ++i) await customers.items.create({ id: `cust-${1000 + i}`, name: `Customer ${i}`, city: pick(["Oslo", "Lyon", "Porto"]) });
  const all = Array.from({ length: 5000 }, (_, i) => order(i));
  for (const [container, key] of [[good, "customerId"], [bad, "country"]]) {
    for (let i = 0; i < all.length; i += 500) {
      await container.items.executeBulkOperations?.(all.slice(i, i + 500).map((one) => ({ operationType: "Create", partitionKey: one[key], resourceBody: one })))
        ?? await container.items.bulk(all.slice(i, i + 500).map((one) => ({ operationType: "Create", partitionKey: one[key], resourceBody: one })));
    }
  }
  // Some load: even on the one, most of it on one key of the other.
  const impatient = server.client({ connectionPolicy: { retryOptions: { maxRetryAttemptCount: 0 } } });
  const load = async (name, key) => {
    const container = impatient.database("shop").container(name);
    while (!isOver) {
      const one = pick(all);
      await container.item(one.id, one[key]).replace({ ...one, seen: Math.floor(random() * 1e6) }).catch(() => {});
    }
  };
  const loads = [...Array.from({ length: 8 }, () => load("orders", "customerId")), ...Array.from({ length: 20 }, () => load("orders-by-country", "country"))];

  const shoot = async (name, hash, { wait = 0, act, says, of = server, key, ...options } = {}) => {
    const context = await browser.createBrowserContext();
    const p = await new WatchedPage(await context.newPage(), of, context).start(options);
    await p.open(hash);
    if (hash !== undefined) {
      await p.signIn(key);
      await p.page.waitForSelector(".frame");
    }
    if (says) await p.says(says);
    await act?.(p);
    await new Promise((resolve) => setTimeout(resolve, wait));
    await p.page.screenshot({ path: `${folder}/console-${name}.png` });
    if (p.errors.length) console.error(name, p.errors);
    await context.close();
  };
  const only = process.env.ONLY?.split(",");
  const shots = {
    "sign-in": () => shoot("sign-in", undefined, { says: "Sign in to", wait: 300 }),
    overview: () => shoot("overview", "/", { says: "orders-by-country", wait: 12_000 }),
    items: () => shoot("items", "/data/shop/orders/items?where=c.status%20%3D%20'open'", { says: "ord-", wait: 500, act: (p) => p.page.click("tbody tr:nth-child(4)") }),
    conflict: () => shoot("conflict", "/data/shop/customers/items?id=cust-1003&key=%5B%22cust-1003%22%5D", {
      says: "Save", wait: 400, act: async (p) => {
        const { resource } = await customers.item("cust-1003", "cust-1003").read();
        await p.edit("The item cust-1003", JSON.stringify({ id: "cust-1003", name: "Ada Lovelace", city: resource.city, vip: true }, null, 2));
        await customers.item("cust-1003", "cust-1003").replace({ ...resource, name: "A. Lovelace", city: "London" });
        await p.press("Save");
        await p.says("changed by someone else");
      },
    }),
    query: () => shoot("query", "/data/shop/orders/query", {
      dark: true, wait: 1200, act: async (p) => {
        await p.edit("Query", "SELECT c.id, c.customerId, c.status, c.total, c.placed\nFROM c\nWHERE c.status = 'open' AND c.total > 150\nORDER BY c.placed DESC");
        await p.press("Run");
        await p.says("RU", ".facts");
        await p.page.keyboard.press("Escape");
      },
    }),
    partitions: () => shoot("partitions", "/data/shop/orders-by-country/partitions", {
      width: 1480, height: 980, says: "Fullest keys", wait: 12_000, act: (p) => p.page.select(".page-head select", "shop/orders"),
    }),
    "partitions-dark": () => shoot("partitions-dark", "/data/shop/orders-by-country/partitions", { dark: true, height: 1060, says: "Fullest keys", wait: 9_000 }),
    scale: () => shoot("scale", "/data/shop/orders/scale", { says: "One key can get", wait: 500, act: (p) => p.field("RU/s", "9000") }),
    scripts: () => shoot("scripts", "/data/shop/customers/scripts", {
      wait: 500, act: async (p) => {
        await p.press("New: Procedures");
        await p.field("Name", "greet");
        await p.press("Create");
        await p.press("Run the procedure");
        await p.says("Hello, world");
      },
    }),
    policies: () => shoot("policies", "/data/shop/orders/policies", { says: "Indexed paths", wait: 300 }),
    metrics: () => shoot("metrics", "/metrics", { says: "Request units", wait: 6_000 }),
    "phone-items": () => shoot("phone-items", "/data/shop/orders/items", { phone: true, width: 390, height: 844, dark: true, says: "ord-", wait: 500 }),
    "phone-partitions": () => shoot("phone-partitions", "/data/shop/orders-by-country/partitions", { phone: true, width: 390, height: 844, says: "range", wait: 9_000 }),
    import: () => shoot("import", "/import", {
      height: 1000, says: "Choose a file", wait: 400, act: async (p) => {
        const file = join(scratch, "returns.csv");
        const rows = Array.from({ length: 40 }, (_, i) => `ret-${7000 + i},cust-${1000 + Math.floor(random() * 900)},${pick(["torn", "late", "wrong size"])},0${1000 + i},${(random() * 90).toFixed(2)}`);
        rows[3] = `,${rows[3].split(",").slice(1).join(",")}`;
        writeFileSync(file, `id,customerId,reason,zip,refund\n${rows.join("\n")}\n`);
        await (await p.page.waitForSelector("input[type=file]")).uploadFile(file);
        await p.says("ret-7005", ".preview-rows");
        await p.page.evaluate(() => document.querySelector(".drop").scrollIntoView());
      },
    }),
    keys: () => shoot("keys", "/keys", { says: "AccountEndpoint", wait: 300, of: keyed, key: keyed.key }),
    cluster: async () => {
      const cluster = await startCluster(["north", "south", "west"]);
      try {
        const { database } = await cluster.nodes.get("north").client().databases.create({ id: "db" });
        await database.containers.create({ id: "c", partitionKey: "/pk", throughput: 60_000 });
        await cluster.settled();
        await shoot("cluster", "/cluster", { dark: true, says: "All nodes are well", wait: 3_000, of: cluster.nodes.get("north") });
      } finally {
        await cluster.close();
      }
    },
    // Asked for by customer, and kept by country.
    advisor: async () => {
      const asked = client.database("shop").container("orders-by-country");
      for (let i = 0; i < 600; ++i) {
        await asked.items.query({ query: "SELECT * FROM c WHERE c.customerId = @who", parameters: [{ name: "@who", value: pick(all).customerId }] }).fetchAll();
      }
      await shoot("advisor", "/data/shop/orders-by-country/advisor", {
        height: 1060, says: "customerId", wait: 500, act: async (p) => {
          await p.page.waitForSelector(".ranked");
          await p.press("/country");
          await p.says("few_values", ".reasons");
          await p.page.evaluate(() => { for (const one of document.querySelectorAll("*")) one.scrollTop = 0; });
        },
      });
    },
    tables: async () => {
      const tables = await startTables();
      try {
        const cities = ["Berlin", "Lyon", "Oslo", "Porto"];
        const orders = tableClient(tables, "Orders");
        await orders.createTable();
        for (const city of cities) {
          await orders.submitTransaction(Array.from({ length: 40 }, (_, i) => ["create", {
            partitionKey: city, rowKey: `ord-${String(48_000 + i)}`, status: pick(["open", "paid", "shipped"]), total: Math.round(random() * 90_000) / 100,
            counter: 9007199254740993n + BigInt(i), placed: new Date(Date.UTC(2026, 10, 15, 17, 36) - i * 61_000),
          }]));
        }
        await tableClient(tables, "Customers").createTable();
        await shoot("tables", "/data/table:tables/orders/items", { says: "Berlin", wait: 500, of: tables, act: (p) => p.page.click("tbody tr:nth-child(4)") });
      } finally {
        await tables.close();
      }
    },
    empty: () => shoot("empty", "/data/telemetry/readings/items", { says: "no items yet", wait: 300 }),
  };
  for (const [name, make] of Object.entries(shots)) {
    if (only && !only.includes(name)) continue;
    await make().catch((error) => console.error(name, error.message.slice(0, 2000)));
  }
  isOver = true;
  await Promise.all(loads);
} finally {
  isOver = true;
  await browser.close();
  rmSync(browser.folder, { recursive: true, force: true });
  rmSync(scratch, { recursive: true, force: true });
  await server.close();
  await keyed.close();
}
