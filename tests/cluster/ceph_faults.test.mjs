// Nodes that are cut off from Ceph, and a Ceph that loses a part of itself, under a load whose history is checked. The Ceph
// is one of this file's own, in the network of network.mjs: it is started (some 15 s) when ORRERY_TEST_CEPH says that there may
// be one, and networks can be made, which needs root. About 20 s each.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";

import { until } from "./cluster.mjs";
import { missingForNetworks, Network } from "./network.mjs";
import { answersAll, cutOff, underLoad } from "./under_load.mjs";

const three = ["n1", "n2", "n3"];
const noCeph = process.env.ORRERY_TEST_CEPH ? false : "no Ceph: set ORRERY_TEST_CEPH";

describe("with a Ceph that fails", { skip: noCeph || missingForNetworks() }, () => {
  const program = fileURLToPath(new URL("../../tools/ceph.sh", import.meta.url));
  const options = {};
  let lab;
  const ceph = (...args) => execFileSync("ceph", ["--conf", options.ceph, "--connect-timeout", "30", ...args],
    { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  before(() => {
    options.network = new Network([...three, "spare"]);
    lab = mkdtempSync(join(tmpdir(), "orrery-ceph-"));
    options.ceph = join(lab, "ceph.conf");
    execFileSync(program, ["up", lab, options.network.hub("store")], { stdio: "ignore" });
  });
  after(() => {
    if (lab) execFileSync(program, ["down", lab], { stdio: "ignore" });
    options.network?.remove();
    if (lab) rmSync(lab, { recursive: true, force: true });
  });

  // As a power cut would.
  function kill(daemon) {
    process.kill(Number(readFileSync(join(lab, `run/${daemon}.pid`), "utf8")), "SIGKILL");
  }
  const start = (daemon) => execFileSync(program, ["start", lab, daemon], { stdio: "ignore" });
  const osdsUp = (count) => until(`${count} OSDs are up`, () => ceph("osd", "stat").includes(`${count} up`));

  test("an owner is cut off from Ceph, and not from the others", () => cutOff(options, "owner", ["store"]));
  test("the coordinator is cut off from Ceph and from the others", () => cutOff(options, "coordinator", ["store", "peers"]));

  test("an OSD is killed, and comes back: writes go on when Ceph has noticed", () =>
    underLoad(three, options, async (cluster, load) => {
      const since = performance.now();
      kill("osd.1");
      const took = await load.isServedBy(three, since);
      console.log(`# an OSD was killed: all items were written again after ${took} ms; ${cluster.ended.length} nodes ended`);
      await osdsUp(2);
      await load.isServedBy(three);
      start("osd.1");
      await osdsUp(3);
      await load.isServedBy(three);
      for (const name of cluster.names) await answersAll(cluster, name, load);
    }));

  test("the monitor is killed, and started again", () =>
    underLoad(three, options, async (cluster, load) => {
      kill("mon.a");
      assert.throws(() => ceph("--connect-timeout", "1", "osd", "stat"), "the monitor is gone");
      const took = await load.isServedBy(three);
      console.log(`# without a monitor all items were written after ${took} ms`);
      start("mon.a");
      await osdsUp(3);
      await load.isServedBy(three);
      // What needs the monitor's map anew works too.
      await cluster.add("spare");
      await answersAll(cluster, "spare", load);
    }));
});
