// The package under a real systemd, booted in a bare Debian that is shut off from this machine: installing starts the
// server, shut in as its unit says; an upgrade restarts it; removing stops it.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";

import { Root } from "./root.mjs";

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

describe("under systemd", { timeout: 170_000 }, () => {
  let root, booted, first, log = "";
  before(async () => {
    root = new Root(at("../../build/package-root.tar"), { services: true });
    booted = spawn(at("boot.sh"), [root.path], { stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [booted.stdout, booted.stderr]) stream.on("data", (text) => (log += text));
    let ended = false;
    booted.on("close", () => (ended = true));
    // The first process of the new system is a child of unshare, which is one of the script.
    for (;;) {
      assert.ok(!ended, `it did not boot:\n${log}`);
      first = firstProcess(booted.pid);
      if (first !== undefined && /^(running|degraded|starting)$/m.test(state())) break;
      await sleep(100);
    }
  });
  after(async () => {
    if (booted?.exitCode === null) {
      const ended = new Promise((resolve) => booted.on("close", resolve));
      booted.kill("SIGTERM");
      await ended;
    }
    root?.remove();
  });

  function firstProcess(script) {
    const children = (pid) => {
      try {
        return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean);
      } catch {
        return [];
      }
    };
    for (const unshare of children(script)) {
      for (const pid of children(unshare)) {
        try {
          if (readFileSync(`/proc/${pid}/comm`, "utf8").trim() === "systemd") return pid;
        } catch {
          continue;
        }
      }
    }
    return undefined;
  }
  const enter = (spaces, ...command) => execFileSync("nsenter", ["-t", first, ...spaces, ...command], {
    encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], timeout: 60_000,
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C.UTF-8", DEBIAN_FRONTEND: "noninteractive" },
  });
  const run = (...command) => enter(["-m", "-p", "-n", "-u", "-i", "-C", "--root", "--wd=/"], ...command);
  const state = () => {
    try {
      return run("systemctl", "is-system-running");
    } catch (error) {
      return error.stdout ?? "";
    }
  };
  const property = (name) => run("systemctl", "show", "-P", name, "orrery").trim();
  // The tests' own node, in the network of the root.
  const use = (what) => execFileSync("nsenter", ["-t", first, "-n", process.execPath, at("use_server.mjs"), what, root.file("var/lib/orrery/keys.json")],
    { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], timeout: 60_000 });
  const deb = () => join(at("../../build/package/"), readdirSync(at("../../build/package/")).find((name) => /^orrery_.*\.deb$/.test(name)));
  const install = (file) => {
    cpSync(file, root.file("var/orrery.deb"));
    run("dpkg", "-i", "/var/orrery.deb");
  };

  it("installing starts it, enabled, as its user, and everything works inside of its walls", () => {
    install(deb());
    assert.deepEqual([property("ActiveState"), property("StatusText"), property("UnitFileState")], ["active", "Serving", "enabled"]);
    assert.match(run("ps", "-o", "user=", "-p", property("MainPID")), /^orrery\s*$/);
    assert.equal(use("write"), "done\n");
    assert.match(run("orrery", "ls", "shop"), /^orders\s+\/pk\s+1\s+1\s/m);
    // What the unit takes away: it may write nothing but its data, and has no capabilities.
    const status = run("cat", `/proc/${property("MainPID")}/status`);
    assert.match(status, /^CapBnd:\s+0+$/m);
    assert.match(status, /^NoNewPrivs:\s+1$/m);
    assert.match(status, /^Seccomp:\s+2$/m);
  });

  it("an upgrade restarts it with its data", () => {
    const before = property("MainPID");
    const work = mkdtempSync(join(tmpdir(), "orrery-upgrade-"));
    const later = `${work}.deb`;
    try {
      execFileSync("dpkg-deb", ["-R", deb(), work]);
      chmodSync(work, 0o755);
      const control = join(work, "DEBIAN/control");
      writeFileSync(control, readFileSync(control, "utf8").replace(/^Version: .*$/m, (line) => `${line}+later`));
      execFileSync("dpkg-deb", ["-Zgzip", "-z1", "--root-owner-group", "-b", work, later], { stdio: "pipe" });
      install(later);
    } finally {
      rmSync(work, { recursive: true });
      rmSync(later, { force: true });
    }
    assert.equal(property("ActiveState"), "active");
    assert.notEqual(property("MainPID"), before);
    assert.equal(use("read"), "done\n");
  });

  it("one that is killed is started again; one that was stopped is not", async () => {
    const before = property("MainPID");
    run("kill", "-KILL", before);
    // It has none for a moment, before systemd calls it anything but active.
    const isAnother = () => !["0", before].includes(property("MainPID")) && property("ActiveState") === "active";
    while (!isAnother()) await sleep(200);
    assert.equal(use("read"), "done\n");
    run("systemctl", "stop", "orrery");
    assert.deepEqual([property("ActiveState"), property("Result")], ["inactive", "success"]);
    run("systemctl", "start", "orrery");
    assert.equal(use("read"), "done\n");
  });

  it("removing it stops it", () => {
    run("dpkg", "-r", "orrery");
    assert.notEqual(property("ActiveState"), "active");
    assert.ok(existsSync(root.file("var/lib/orrery/partitions")));
    run("dpkg", "-P", "orrery");
    assert.ok(!existsSync(root.file("var/lib/orrery")));
  });
});
