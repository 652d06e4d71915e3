// Request units: the vendor's published figures, and the same charge for the same request.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { ranges, together } from "./expect.mjs";
import { keyHeader } from "./rest.mjs";
import { shared } from "./server.mjs";

const KB = 1024;
// Item size, read, write: the vendor's table, for items without indexed properties.
const table = [
  [1, 1.0, 4.95], [4, 1.14, 6.67], [16, 1.67, 9.52], [64, 4.76, 22.67],
  [128, 9.95, 48.19], [512, 40.95, 184.57], [1024, 145.9, 625],
];
const unindexed = { indexingPolicy: { indexingMode: "none", automatic: false } };

// An item whose JSON, as it is sent, has exactly this many bytes.
function sized(id, bytes) {
  const item = { id, pk: "a", pad: "" };
  item.pad = "x".repeat(bytes - JSON.stringify(item).length);
  return item;
}

function near(actual, expected, what) {
  assert.ok(Math.abs(actual - expected) <= expected * 0.01, `${what}: ${actual} instead of ${expected}`);
}

describe("request units", () => {
  const at = shared();

  it("A15: reading a 1 KB item costs 1 RU, whatever else is stored", async () => {
    const container = await at.container();
    await container.items.create(sized("one", KB));
    const charge = async () => (await container.item("one", "a").read()).requestCharge;
    assert.equal(await charge(), 1);
    await together(16, Array.from({ length: 300 }, (_, i) => () => container.items.create({ id: `${i}`, pk: `${i}` })));
    assert.equal(await charge(), 1);
    assert.deepEqual(await Promise.all(Array.from({ length: 50 }, charge)), new Array(50).fill(1));
  });

  it("A15: larger items cost more: the published figures within 1 %", async () => {
    const container = await at.container(unindexed);
    for (const [size, read, write] of table) {
      const created = await container.items.create(sized(`${size}`, size * KB));
      near(created.requestCharge, write, `writing ${size} KB`);
      near((await container.item(`${size}`, "a").read()).requestCharge, read, `reading ${size} KB`);
    }
  });

  it("A15: between the figures the charge grows with the size", async () => {
    const container = await at.container(unindexed);
    let last = { read: 0, write: 0 };
    for (const size of [0.5, 1, 2, 3, 4, 8, 12, 16, 40, 100, 300, 700, 1500, 1900]) {
      const write = (await container.items.create(sized(`${size}`, Math.round(size * KB)))).requestCharge;
      const read = (await container.item(`${size}`, "a").read()).requestCharge;
      assert.ok(read >= last.read && write >= last.write, `${size} KB: ${read}/${write}`);
      last = { read, write };
    }
  });

  it("A15: indexed properties cost, each the same", async () => {
    const container = await at.container();
    const create = async (id, properties) => (await container.items.create({ id, pk: "a", ...properties })).requestCharge;
    const none = await create("0", {});
    const one = await create("1", { a: 1 });
    const two = await create("2", { a: 1, b: 1 });
    assert.ok(one > none);
    assert.ok(Math.abs((two - one) - (one - none)) < 0.05, `${none} ${one} ${two}`);
  });

  it("A15: entries of composite and spatial indexes cost as others do", async () => {
    const indexingPolicy = {
      compositeIndexes: [[{ path: "/a" }, { path: "/b", order: "descending" }]],
      spatialIndexes: [{ path: "/place/*", types: ["Point"] }],
    };
    const item = { id: "1", pk: "a", a: 1, place: { type: "Point", coordinates: [13.4, 52.5] } };
    const plain = await at.container();
    const indexed = await at.container({ indexingPolicy });
    const charge = async (container) => (await container.items.create(item)).requestCharge;
    // a, place, its type, its coordinates and both numbers; then the composite and a cell.
    assert.equal(await charge(plain), 6.15);
    assert.equal(await charge(indexed), 6.55);
    // The composite changes with one of its values, whatever it is.
    assert.equal((await indexed.item("1", "a").replace({ ...item, b: 2 })).requestCharge, 10.5);
    assert.equal((await indexed.item("1", "a").delete()).requestCharge, 6.75);
  });

  it("A15: the same request on the same data costs the same", async () => {
    const charges = [];
    for (let i = 0; i < 2; ++i) {
      const container = await at.container();
      const sum = [];
      sum.push((await container.items.create({ id: "1", pk: "a", n: [1, 2, 3], text: "x" })).requestCharge);
      sum.push((await container.item("1", "a").read()).requestCharge);
      sum.push((await container.item("1", "a").replace({ id: "1", pk: "a", n: [1] })).requestCharge);
      sum.push((await container.items.upsert({ id: "1", pk: "a", n: [2] })).requestCharge);
      sum.push((await container.item("1", "a").delete()).requestCharge);
      charges.push(sum);
    }
    assert.deepEqual(charges[0], charges[1]);
    for (const charge of charges[0]) assert.ok(charge > 0);
  });

  it("A15: a read that finds nothing costs too", async () => {
    const container = await at.container();
    const missing = await at.rest("GET", `/dbs/db/colls/${container.id}/docs/none`, { headers: keyHeader("a") });
    assert.equal(missing.status, 404);
    assert.ok(Number(missing.headers["x-ms-request-charge"]) >= 1);
  });

  it("A15: how many partitions there are does not change a read's charge", async () => {
    const container = await at.container({ throughput: 24_000 });
    assert.equal((await ranges(at.rest, container)).length, 4);
    await container.items.create(sized("one", KB));
    assert.equal((await container.item("one", "a").read()).requestCharge, 1);
  });
});
