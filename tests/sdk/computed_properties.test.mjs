// Computed properties of a container: named in queries as if items had them.
import assert from "node:assert/strict";
import { before, describe, it } from "node:test";

import { fails, together } from "./expect.mjs";
import { shared } from "./server.mjs";

describe("computed properties", () => {
  const at = shared();
  let container;

  before(async () => {
    container = await at.container({
      throughput: 24_000,
      computedProperties: [
        { name: "lowerName", query: "SELECT VALUE LOWER(c.name) FROM c" },
        { name: "net", query: "SELECT VALUE c.price * (1 - c.discount) FROM c" },
      ],
    });
    await together(8, ["Bolt", "ANVIL", "cog", "Dial"].map((name, i) => () =>
      container.items.create({ id: `${i}`, pk: `k${i}`, name, price: 100, discount: i / 10 })));
  });

  const rows = async (query) => (await container.items.query(query).fetchAll()).resources;

  it("filter, sort, group and show", async () => {
    assert.deepEqual(await rows("SELECT VALUE c.name FROM c WHERE c.lowerName = 'anvil'"), ["ANVIL"]);
    assert.deepEqual(await rows("SELECT VALUE c.lowerName FROM c ORDER BY c.lowerName"),
      ["anvil", "bolt", "cog", "dial"]);
    assert.deepEqual(await rows("SELECT VALUE SUM(c.net) FROM c"), [340]);
    assert.equal((await rows("SELECT c.lowerName, COUNT(1) AS n FROM c GROUP BY c.lowerName")).length, 4);
  });

  it("are not part of the item", async () => {
    const [item] = await rows("SELECT * FROM c WHERE c.id = '0'");
    assert.equal("lowerName" in item, false);
    assert.equal((await container.item("0", "k0").read()).resource.lowerName, undefined);
  });

  it("change with the container", async () => {
    const { resource } = await container.read();
    resource.computedProperties = [{ name: "upperName", query: "SELECT VALUE UPPER(x.name) FROM x" }];
    await container.replace(resource);
    assert.deepEqual(await rows("SELECT VALUE c.upperName FROM c WHERE c.id = '2'"), ["COG"]);
    assert.deepEqual(await rows("SELECT VALUE c.lowerName FROM c WHERE c.id = '2'"), []);
  });

  it("are refused when their query is wrong", async () => {
    await fails(at.container({ computedProperties: [{ name: "x", query: "SELECT VALUE c.a + FROM c" }] }), 400,
      { message: /computedProperties/ });
  });
});
