// Files imported in the console: each format, a container that is made for it, records that are
// rejected, a server that throttles, and stopping. Some seconds.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { gzipSync } from "node:zlib";

import { start } from "../sdk/server.mjs";
import { withBrowser } from "./browser.mjs";

describe("import in the console", () => {
  const at = withBrowser();
  const folder = mkdtempSync(join(tmpdir(), "orrery-console-import-"));
  const file = (name, content) => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  before(async () => {
    // Its budgets are in the test's hands: nothing is refused because the machine is fast.
    at.server = await start({ dev: false, args: ["--throttling", "on"], clock: true });
    at.db = (await at.server.client().databases.create({ id: "shop" })).database;
    at.rest = at.server.rest();
    at.p = await at.page(at.server);
    await at.p.open("/import");
    await at.p.signIn(at.server.key);
    await at.p.says("Choose a file");
  });
  after(async () => {
    await at.server?.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const choose = async (path) => {
    const input = await at.p.page.waitForSelector("input[type=file]");
    await input.uploadFile(path);
  };
  const again = () => at.p.press("Import another file");
  const all = async (id) => {
    const { resources } = await at.db.container(id).items.readAll().fetchAll();
    return resources.map(({ _rid, _self, _etag, _attachments, _ts, ...own }) => own).sort((a, b) => (a.id < b.id ? -1 : 1));
  };

  it("a CSV file makes a container of its own; types are seen and can be said", async () => {
    const { p } = at;
    await choose(file("people.csv", 'id,city,age,zip,tags,note\nada,Oslo,36,0150,"[1,2]","12"\nbob,"Rome, old",41,00184,,\ncyd,Oslo,young,1,"{""a"":true}",null\n'));
    await p.says(/people\.csv[^]*Read as/);
    await p.says("Rome, old", ".preview-rows");
    await p.field("Type of age", "number");
    await p.says("the cell of column 'age' is not a number", ".preview-rows");
    await p.field("Type of zip", "string");
    await p.field("Name", "people");
    await p.field("Partition key", "/city");
    await p.field("RU/s", "5000");
    await p.says("orrery import shop/people people.csv --types age=number,zip=string --create --partition-key /city --throughput 5000", ".command");
    await p.press("Import the file");
    await p.says("Imported, but for 1 record");
    await p.says("the cell of column 'age' is not a number", ".rejected");
    assert.deepEqual(await all("people"), [
      { id: "ada", city: "Oslo", age: 36, zip: "0150", tags: [1, 2], note: "12" }, { id: "bob", city: "Rome, old", age: 41, zip: "00184" }]);
    const offer = (await at.db.container("people").readOffer()).resource;
    assert.equal(offer.content.offerThroughput, 5000);
    // What was rejected is saved with the reason: caught before the browser writes it.
    const saved = await p.page.evaluate(async () => {
      const made = new Promise((resolve) => { URL.createObjectURL = (blob) => { resolve(blob.text()); return "blob:none"; }; });
      HTMLAnchorElement.prototype.click = () => {};
      [...document.querySelectorAll("button")].find((one) => one.textContent === "Save them with their reasons").click();
      return made;
    });
    const { source, line, reason, record } = JSON.parse(saved);
    assert.deepEqual([source, line, record], ["people.csv", 4, 'cyd,Oslo,young,1,"{""a"":true}",null']);
    assert.match(reason, /not a number/);
    await p.page.reload();
    await p.says("Choose a file");
  });

  it("a JSON array and lines of JSON, gzipped, go into a container that is there", async () => {
    const { p } = at;
    await p.press("A container that is there");
    await choose(file("more.json", JSON.stringify([{ id: "dee", city: "Pisa", text: 'a "quoted, [text]' }, { id: "eve", city: "Pisa", _etag: "old", _ts: 1 }, 7, { city: "no id" }], null, 1)));
    await p.says("dee", ".preview-rows");
    await p.says(/it is no JSON object[^]*no id/, ".preview-rows");
    await p.press("Import the file");
    await p.says("Imported, but for 2 records");
    await p.says("every item needs one", ".rejected");
    assert.deepEqual((await all("people")).slice(2), [{ id: "dee", city: "Pisa", text: 'a "quoted, [text]' }, { id: "eve", city: "Pisa" }]);
    await again();
    // All digits of a number come through; what is there stays when that is chosen; ids are made.
    await choose(file("lines.ndjson.gz", gzipSync('{"id":"eve","city":"Pisa","n":1}\n\n{"id":"fay","city":"Pisa","n":0.1234567890123456789}\n{"city":"Pisa"}\n{"id":"gil","city":\n')));
    await p.says("fay", ".preview-rows");
    await p.press("Stays");
    await p.press("Make ids for records that have none", "checkbox");
    await p.press("Import the file");
    await p.says("Imported, but for 1 record");
    await p.says(/were there\s*1/, ".figures");
    const { body } = await at.rest("GET", "/dbs/shop/colls/people/docs/eve", { headers: { "x-ms-documentdb-partitionkey": '["Pisa"]' } });
    assert.equal(body.n, undefined);
    const { text } = await at.rest("GET", "/dbs/shop/colls/people/docs/fay", { headers: { "x-ms-documentdb-partitionkey": '["Pisa"]' } });
    assert.match(text, /0\.1234567890123456789/);
    assert.ok((await all("people")).some((one) => one.id === "lines.ndjson.gz-3"));
    await again();
    // A record whose id is taken is rejected when that is chosen, unless it says the same.
    await choose(file("taken.ndjson", '{"id":"dee","city":"Pisa","text":"a \\"quoted, [text]"}\n{"id":"eve","city":"Pisa","n":2}\n'));
    await p.says("eve", ".preview-rows");
    await p.press("Rejects the record");
    await p.press("Import the file");
    await p.says("Imported, but for 1 record");
    await p.says(/were there\s*1/, ".figures");
    await again();
    // A file that is none.
    await choose(file("bad.json", "[{} x"));
    await p.says(/has no end|no JSON/);
    await choose(file("bytes.csv", Buffer.from([0x69, 0x64, 0xff, 0xfe, 0x0a])));
    await p.says("UTF-8");
  });

  it("throttling is waited for, a pause and a stop are heeded, and nothing is lost", async () => {
    const { p } = at;
    await at.db.containers.create({ id: "slow", partitionKey: { paths: ["/id"], version: 2 } }, { offerThroughput: 400 });
    await p.page.reload();
    await p.says("Choose a file");
    at.server.clock.stop(); // no budget comes back
    await p.field("Container", "shop/slow");
    await choose(file("many.ndjson", Array.from({ length: 1_200 }, (_, i) => JSON.stringify({ id: `${i}` })).join("\n")));
    await p.press("Import the file");
    const figure = (name) => p.page.evaluate((wanted) => {
      const found = [...document.querySelectorAll(".figures div")].find((one) => one.querySelector("dt").textContent === wanted);
      return Number((found?.querySelector("dd").textContent ?? "0").replaceAll(",", ""));
    }, name);
    const reaches = (name, least) => p.page.waitForFunction((wanted, number) => {
      const found = [...document.querySelectorAll(".figures div")].find((one) => one.querySelector("dt").textContent === wanted);
      return Number((found?.querySelector("dd").textContent ?? "0").replaceAll(",", "")) >= number;
    }, {}, name, least);
    await reaches("429, waited for", 3);
    const before = await figure("written");
    assert.ok(before > 10 && before < 1_000, `${before}`);
    // It goes on by itself once the budget is back.
    at.server.clock.advance_ms(1_000);
    await reaches("written", before + 10);
    // Other screens can be looked at meanwhile.
    await p.press("Pause");
    await p.says("Paused");
    await p.go("/");
    await p.says("Overview");
    await p.go("/import");
    await p.says("Paused");
    at.server.clock.resume();
    await p.press("Go on");
    await reaches("written", before + 50);
    await p.press("Stop");
    await p.says("Stopped");
    // Once nothing is in flight any more, what the page says was written is what is there.
    await p.says("Import another file");
    assert.equal((await all("slow")).length, await figure("written"));
    assert.equal(await figure("written") + await figure("rejected"), await figure("read"));
    await again();
    // The same file again: all of it is there in the end, once each.
    await at.server.client().offer((await at.db.container("slow").readOffer()).resource.id).read().then(({ resource }) =>
      at.server.client().offer(resource.id).replace({ ...resource, content: { ...resource.content, offerThroughput: 10_000 } }));
    await p.field("Container", "shop/slow");
    await choose(file("many.ndjson", Array.from({ length: 1_200 }, (_, i) => JSON.stringify({ id: `${i}` })).join("\n")));
    await p.press("Import the file");
    await p.says("All of it is imported");
    assert.equal((await all("slow")).length, 1_200);
    await p.isClean(Object.values(at.server.keys));
  });

  it("a read-only key can look at a file and import nothing", async () => {
    const p = await at.page(at.server);
    await p.open("/import");
    await p.signIn(at.server.keys.primaryReadonly);
    await p.says("Choose a file");
    const button = await p.page.waitForSelector('::-p-aria([name="Import the file"][role="button"])');
    assert.ok(await button.evaluate((one) => one.disabled));
  });
});
