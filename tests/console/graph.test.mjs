// A graph in the console: traversals, and the vertices and edges of a result as a picture. One server and a Chromium, some
// ten seconds.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import { graphClient, startGraphs } from "../sdk/gremlin.mjs";
import { withBrowser } from "./browser.mjs";

describe("a graph in the console", () => {
  const at = withBrowser();
  before(async () => {
    at.server = await startGraphs({ dev: false });
    const { database } = await at.server.client().databases.create({ id: "db" });
    for (const id of ["people", "plain"]) await database.containers.create({ id, partitionKey: { paths: ["/city"], kind: "Hash", version: 2 } });
    await database.container("plain").items.create({ id: "1", city: "Oslo", label: "no vertex" });
    at.client = graphClient(at.server, "people", { key: at.server.key });
    const people = ["ada", "bob", "cyd", "dan"];
    for (const [i, name] of people.entries()) {
      await at.client.submit("g.addV(l).property('id', i).property('city', 'Oslo').property('name', n).property('age', a)", { l: i === 3 ? "robot" : "person", i: name, n: name[0].toUpperCase() + name.slice(1), a: 30 + i });
    }
    for (const [from, to] of [["ada", "bob"], ["bob", "cyd"], ["cyd", "ada"], ["cyd", "dan"]]) {
      await at.client.submit("g.V(f).addE('knows').to(g.V(t)).property('since', 2020)", { f: from, t: to });
    }
    at.p = await at.page(at.server);
    await at.p.open();
    await at.p.signIn(at.server.key);
    await at.p.says("Overview");
  });
  after(async () => {
    await at.client?.close();
    await at.server?.stop();
  });

  const counts = () => at.p.page.evaluate(() => ["vertex", "edge"].map((kind) => document.querySelectorAll(`.graph svg .${kind}`).length));
  const ask = async (text, name = "people") => {
    await at.p.go(`/data/db/${name}/query`);
    await at.p.edit("Query", text);
    await at.p.press("Run");
  };
  const element = (name) => at.p.page.waitForSelector(`::-p-aria([name="${name}"][role="button"])`);

  it("B3: a result with vertices and edges is drawn beside its table", async () => {
    const { p } = at;
    await ask("SELECT * FROM c");
    await p.says("ada", ".grid");
    await p.press("Graph");
    await p.says("4 vertices and 4 edges", ".legend");
    assert.deepEqual(await counts(), [4, 4]);
    await p.says("Choose a vertex or an edge");
    // A click shows what it has.
    await (await element("Vertex Ada, person")).click();
    await p.says("30", ".graph-facts");
    await p.says("Oslo", ".graph-facts");
    // No two vertices lie on one another.
    const places = await p.page.evaluate(() => [...document.querySelectorAll(".graph .vertex circle")].map((one) => [Number(one.getAttribute("cx")), Number(one.getAttribute("cy"))]));
    for (const [i, a] of places.entries()) for (const b of places.slice(0, i)) assert.ok(Math.hypot(a[0] - b[0], a[1] - b[1]) > 40, JSON.stringify(places));
  });

  it("is used by the keyboard", async () => {
    const { p } = at;
    await (await element("Edge knows from Cyd to Dan")).evaluate((one) => one.focus());
    await p.page.keyboard.press("Enter");
    await p.says("from Cyd to Dan", ".graph-facts");
    await p.says("2020", ".graph-facts");
    await p.page.keyboard.press("Tab");
    const next = await p.page.evaluate(() => document.activeElement.getAttribute("aria-label"));
    assert.match(next, /^Vertex /);
    await p.page.keyboard.press("Space");
    assert.equal(await p.page.evaluate(() => document.activeElement.getAttribute("aria-pressed")), "true");
  });

  it("vertices that only edges name are hollow, and neighbours are asked for", async () => {
    const { p } = at;
    await ask("SELECT * FROM c WHERE c.id = 'ada'");
    await p.says("1 vertex and 0 edges", ".legend");
    await (await element("Vertex Ada, person")).click();
    await p.press("Show neighbours");
    await p.says("3 vertices and 2 edges", ".legend");
    await ask("SELECT * FROM c WHERE c._isEdge = true AND c._sink = 'dan'");
    await p.says("2 vertices and 1 edge", ".legend");
    await p.says("named by an edge", ".legend");
    assert.equal(await p.page.evaluate(() => document.querySelectorAll(".graph circle.hollow").length), 2);
  });

  it("other results have no such view", async () => {
    const { p } = at;
    await ask("SELECT * FROM c", "plain");
    await p.says("no vertex", ".grid");
    assert.equal(await p.page.evaluate(() => [...document.querySelectorAll("button")].filter((one) => one.innerText === "Graph").length), 0);
    await p.isClean([at.server.key]);
  });

  const walk = async (text, p = at.p) => {
    await p.go("/data/db/people/query");
    await p.press("Gremlin");
    await p.edit("Traversal", text);
    await p.press("Run");
  };
  const cells = (p = at.p) => p.page.evaluate(() => [...document.querySelectorAll(".grid tbody tr")].map((row) => [...row.children].map((cell) => cell.innerText)));

  it("B3: a traversal is run, and its result is a table, JSON and a picture, with its charge", async () => {
    const { p } = at;
    await walk("g.V().hasLabel('person').order().by('age').values('name')");
    await p.says("Cyd", ".grid");
    assert.deepEqual(await cells(), [["Ada"], ["Bob"], ["Cyd"]]);
    await p.says("3 results", ".facts");
    assert.ok(Number(await p.text("#charge")) > 0);
    // Vertices, as rows of their properties.
    await walk("g.V('ada')");
    await p.says("Oslo", ".grid");
    assert.deepEqual((await cells())[0].slice(0, 2), ["ada", "person"]);
    assert.match(await p.text(".grid thead"), /city[^]*name[^]*age/);
    await p.press("JSON");
    const shown = JSON.parse(await p.editorText("Results"));
    assert.deepEqual(shown.map((one) => [one.type, one.id, one.properties.age[0].value]), [["vertex", "ada", 30]]);
    // Vertices and edges of a path are drawn.
    await walk("g.V().hasLabel('person').outE('knows').inV().path()");
    await p.says("4 results", ".facts");
    await p.press("Graph");
    await p.says("4 vertices and 4 edges", ".legend");
    assert.deepEqual(await counts(), [4, 4]);
    assert.equal(await p.page.evaluate(() => document.querySelectorAll(".graph circle.hollow").length), 0);
    await (await element("Edge knows from Cyd to Dan")).click();
    await p.says("2020", ".graph-facts");
    // Edges alone name their vertices; what is asked for later is not drawn twice.
    await walk("g.V('cyd').outE()");
    await p.says("3 vertices and 2 edges", ".legend");
    assert.equal(await p.page.evaluate(() => document.querySelectorAll(".graph circle.hollow").length), 3);
    await (await element("Vertex cyd, person")).click();
    await p.press("Show neighbours");
    await p.says("4 vertices and 3 edges", ".legend");
    assert.equal(await p.page.evaluate(() => document.querySelectorAll(".graph circle.hollow").length), 0);
    await p.press("Table");
  });

  it("what a traversal writes is stored; what is wrong with one is said; long results are cut", async () => {
    const { p } = at;
    await walk("g.addV('person').property('id', 'eve').property('city', 'Bergen').property('name', 'Eve')");
    await p.says("eve", ".grid");
    const { resource } = await at.server.client().database("db").container("people").item("eve", "Bergen").read();
    assert.equal(resource.name[0]._value, "Eve");
    await walk("g.V().sideways()");
    await p.says(/could not be run \(400/, ".problem");
    await p.says("sideways", ".problem");
    await walk("g.addV('person').property('id', 'eve').property('city', 'Bergen')");
    await p.says(/could not be run \(409/, ".problem");
    await walk("g.inject(1).repeat(union(identity(), identity())).times(11)");
    await p.says(/1\D?000 results/, ".facts");
    await p.says("There are more", ".facts");
    // Earlier ones can be had again.
    await p.press("Earlier traversals");
    await p.says("hasLabel", ".history-list");
    await p.press("Earlier traversals");
    await p.press("SQL");
    assert.match(await p.editorText("Query"), /SELECT/);
    await p.isClean([at.server.key]);
  });

  it("a traversal is run with bindings, and what is wrong with them is said", async () => {
    const { p } = at;
    const isShown = () => p.page.evaluate(() => document.querySelector(".bindings") !== null);
    await walk("g.V().has('name', n).values('age').is(gt(a))");
    await p.says(/could not be run \(400/, ".problem");
    await p.says("'n' is neither a constant of the language nor a binding", ".problem");
    assert.equal(await isShown(), false);
    await p.press("Bindings");
    await p.edit("Bindings", '{"n": "Bob", "a": 30}');
    await p.press("Run");
    await p.says("1 result", ".facts");
    assert.deepEqual(await cells(), [["31"]]);
    for (const [text, said] of [['{"n": ', "The bindings are not JSON"], ["[1, 2]", "are to be an object"], ['{"n": {"@type": "g:Int32", "@value": "x"}, "a": 1}', /could not be run \(400/]]) {
      await p.edit("Bindings", text);
      await p.press("Run");
      await p.says(said, ".problem");
    }
    // What is not shown is not sent; an earlier traversal comes with its bindings.
    await p.press("Bindings");
    assert.equal(await isShown(), false);
    await p.edit("Traversal", "g.V().hasLabel('robot').values('name')");
    await p.press("Run");
    await p.says("Dan", ".grid");
    await p.press("Earlier traversals");
    await p.page.evaluate(() => [...document.querySelectorAll(".history-list button")].find((one) => one.innerText.includes("gt(a)")).click());
    await p.page.waitForSelector(".bindings");
    assert.equal(await p.editorText("Bindings"), '{"n": "Bob", "a": 30}');
    await p.press("Run");
    await p.says("31", ".grid");
    await p.press("Bindings");
    await p.isClean([at.server.key]);
  });

  it("a read-only console runs traversals that read", async () => {
    const p = await at.page(at.server);
    await p.open();
    await p.signIn(at.server.keys.primaryReadonly);
    await p.says("Overview");
    await walk("g.V().count()", p);
    await p.says("1 result", ".facts");
    await walk("g.V('ada').property('age', 99)", p);
    await p.says(/could not be run \(403/, ".problem");
    await p.says("reading only", ".problem");
    await p.isClean([at.server.keys.primaryReadonly]);
  });
});
