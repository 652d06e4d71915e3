// Run where the server of a booted root can be reached: node use_server.mjs write|read KEYS-FILE. Writes an item, and
// runs a stored procedure, whose worker shuts itself in beyond what the unit does; or reads the item.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { CosmosClient } from "../sdk/cosmos.mjs";

const [, , what, keys] = process.argv;
const client = new CosmosClient({
  endpoint: "http://127.0.0.1:8081", key: JSON.parse(readFileSync(keys, "utf8")).primary,
  connectionPolicy: { enableBackgroundEndpointRefreshing: false },
});
if (what === "write") {
  const { database } = await client.databases.create({ id: "shop" });
  const { container } = await database.containers.create({ id: "orders", partitionKey: "/pk" });
  await container.items.create({ id: "1", pk: "a", what: "kept" });
  await container.scripts.storedProcedures.create({ id: "sum", body: "function () { getContext().getResponse().setBody(40 + 2); }" });
  assert.equal((await container.scripts.storedProcedure("sum").execute("a", [])).resource, 42);
} else {
  const { resource } = await client.database("shop").container("orders").item("1", "a").read();
  assert.equal(resource.what, "kept");
}
client.dispose();
console.log("done");
