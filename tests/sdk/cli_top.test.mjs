// orrery top: where the load is. What it shows is compared with what was asked of the server; rates depend on time, and
// so only which is larger, and whether there is any, is looked at.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { after, before, describe, it } from "node:test";
import { createInterface } from "node:readline";

import { program, runProgram, shared } from "./server.mjs";

describe("top", () => {
  let busy, load, stopped = false;
  // Before the server is stopped.
  after(async () => {
    stopped = true;
    await load;
  });
  const at = shared({ dev: false, args: ["--throttling", "report"] });
  before(async () => {
    busy = await at.container({ id: "busy", throughput: 12_000 });
    for (const pk of ["hot", "cold"]) await busy.items.create({ id: "1", pk });
    load = (async () => {
      while (!stopped) {
        for (let i = 0; i < 20; ++i) await busy.item("1", "hot").read();
        await busy.item("1", "cold").read();
      }
    })();
  });
  const top = (...args) => runProgram(["top", "--interval", "0.5", ...args, "--data", at.server.data]);

  it("A13: shows each partition of what is used, with its rate and share, the busiest first", async () => {
    const { code, out } = await top("--once", "--json");
    assert.equal(code, 0, out);
    const { partitions, unitsPerSecond, keys } = JSON.parse(out);
    const [first, second] = partitions.filter(({ container }) => container === "db/busy");
    assert.ok(first.unitsPerSecond > second.unitsPerSecond && first.unitsPerSecond > 0, out);
    assert.equal(first.share, 6_000);
    assert.equal(first.items + second.items, 2);
    assert.ok(unitsPerSecond > 0);
    assert.equal(keys[0].key, '["hot"]', "the key that is asked for most");
    assert.ok(keys[0].part > 0.5);
  });

  it("A13: without a terminal it prints a block for each sample, and no control characters", async () => {
    const { code, out } = await top("--samples", "2", "--count", "1");
    assert.equal(code, 0, out);
    assert.equal([...out.matchAll(/^127\.0\.0\.1:\d+: 1 container, [\d,]+ RU\/s, 0\.0 throttled\/s$/gm)].length, 2, out);
    assert.match(out, /^container\s+partition\s+RU\/s\s+of\s+used\s+throttled\/s\s+items\s+stored$/m);
    assert.match(out, /^db\/busy\s+\d+\s+[\d,]+\s+6,000\s+\d+ %\s/m);
    assert.match(out, /^and 1 more partitions$/m);
    assert.match(out, /^db\/busy\s+\d+ %\s+\["hot"\]$/m);
    assert.doesNotMatch(out, /\u001b/);
  });

  it("A13: goes on until it is told to end", async () => {
    const child = spawn(program, ["top", "--interval", "0.2", "--json", "--data", at.server.data], { stdio: ["ignore", "pipe", "inherit"] });
    const ended = new Promise((resolve) => child.on("close", (code, signal) => resolve({ code, signal })));
    let lines = 0;
    for await (const line of createInterface({ input: child.stdout })) {
      JSON.parse(line);
      if (++lines === 3) child.kill("SIGINT");
    }
    assert.ok(lines >= 3);
    assert.deepEqual(await ended, { code: 0, signal: null });
  });
});
