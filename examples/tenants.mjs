// Tenants in tiers: small ones share a container by a hierarchical key, large ones have one of their
// own, and a tenant moves from one tier to the other.
//   npm install @azure/cosmos && node tenants.mjs https://localhost:8081 KEY
import { runAsScript } from "./run.mjs";

export class Tenants {
  #db;
  #shared;
  #directory; // which tenant is where: read once, kept
  #own = new Map();

  static async open(db) {
    const tenants = new Tenants();
    tenants.#db = db;
    // The further level lifts the limit of size of a tenant; all of it is still found by the first.
    tenants.#shared = (await db.containers.createIfNotExists(
      { id: "tenants-shared", partitionKey: { paths: ["/tenantId", "/userId"], kind: "MultiHash", version: 2 } })).container;
    tenants.#directory = (await db.containers.createIfNotExists({ id: "tenants-directory", partitionKey: { paths: ["/id"], version: 2 } })).container;
    const { resources } = await tenants.#directory.items.readAll().fetchAll();
    for (const one of resources) tenants.#own.set(one.id, db.container(one.container));
    return tenants;
  }

  async write(item) {
    const own = this.#own.get(item.tenantId);
    return (own ?? this.#shared).items.upsert(item);
  }

  // One request to one partition in both tiers.
  async ofUser(tenantId, userId) {
    const own = this.#own.get(tenantId);
    const query = { query: "SELECT * FROM c WHERE c.tenantId = @t AND c.userId = @u", parameters: [{ name: "@t", value: tenantId }, { name: "@u", value: userId }] };
    return (await (own ?? this.#shared).items.query(query, { partitionKey: own ? userId : [tenantId, userId] }).fetchAll()).resources;
  }

  // Asks the partitions that hold the tenant, not all.
  async ofTenant(tenantId) {
    const own = this.#own.get(tenantId);
    const query = { query: "SELECT * FROM c WHERE c.tenantId = @t", parameters: [{ name: "@t", value: tenantId }] };
    return (await (own ?? this.#shared).items.query(query, own ? {} : { partitionKey: [tenantId] }).fetchAll()).resources;
  }

  isAlone(tenantId) {
    return this.#own.has(tenantId);
  }

  // Copies the items, switches the route, and deletes the old ones. Writes of the tenant must rest
  // meanwhile; with a change feed they need not.
  async moveToOwnContainer(tenantId, throughput = 1000) {
    const items = await this.ofTenant(tenantId);
    const id = `tenant-${tenantId}`;
    const { container } = await this.#db.containers.createIfNotExists({ id, partitionKey: { paths: ["/userId"], version: 2 } }, { offerThroughput: throughput });
    for (const item of items) await container.items.upsert(item);
    await this.#directory.items.upsert({ id: tenantId, container: id });
    this.#own.set(tenantId, container);
    for (const item of items) await this.#shared.item(item.id, [tenantId, item.userId]).delete();
    return items.length;
  }

  // Deletes everything of it in one step.
  async removeAlone(tenantId) {
    await this.#own.get(tenantId).delete();
    await this.#directory.item(tenantId, tenantId).delete();
    this.#own.delete(tenantId);
  }
}

await runAsScript(import.meta.url, async (client) => {
  const { database } = await client.databases.createIfNotExists({ id: "examples" });
  const tenants = await Tenants.open(database);
  for (let i = 0; i < 30; ++i) await tenants.write({ id: `n${i}`, tenantId: `t${i % 3}`, userId: `u${i % 5}`, text: "hello" });
  console.log("of t0:", (await tenants.ofTenant("t0")).length);
  console.log("moved:", await tenants.moveToOwnContainer("t0"));
  console.log("of t0, now alone:", (await tenants.ofTenant("t0")).length);
  await database.delete();
});
