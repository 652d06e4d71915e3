// The Debian package in a bare Debian: installed, started as its unit says, upgraded with data in it, removed, purged.
// There is no systemd in the root: the test does what the unit says, and listens on the socket that systemd would.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";

import { restOf } from "../sdk/rest.mjs";
import { freePort, program } from "../sdk/server.mjs";
import { Root } from "./root.mjs";

const folder = fileURLToPath(new URL("../../build/package/", import.meta.url));
const has = (program) => {
  try {
    execFileSync("sh", ["-c", `command -v ${program}`]);
    return true;
  } catch {
    return false;
  }
};
const field = (deb, name) => execFileSync("dpkg-deb", ["-f", deb, name], { encoding: "utf8" }).trim();

// All values of a setting of the unit.
function settings(unit, name) {
  return [...unit.matchAll(new RegExp(`^${name}=(.*)$`, "gm"))].map(([, value]) => value);
}

// What a service manager hears: resolves when a message has a line.
class Manager {
  constructor(path) {
    this.heard = "";
    this.waiting = [];
    this.listener = spawn("python3", ["-c", `
import os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o777)
print("LISTENING=1", flush=True)
while True: print(s.recv(4096).decode(), flush=True)`, path], { stdio: ["ignore", "pipe", "inherit"] });
    createInterface({ input: this.listener.stdout }).on("line", (line) => {
      this.heard += `${line}\n`;
      for (const check of this.waiting.splice(0)) check();
    });
  }

  async hears(line, failed) {
    while (!this.heard.split("\n").includes(line)) {
      await Promise.race([new Promise((resolve) => this.waiting.push(resolve)), failed ?? new Promise(() => {})]);
    }
  }

  close() {
    this.listener.kill("SIGKILL");
  }
}

describe("package", { timeout: 180_000 }, () => {
  let root, deb, port, unit;
  before(() => {
    const [newest] = readdirSync(folder).filter((name) => /^orrery_.*\.deb$/.test(name));
    deb = join(folder, newest);
    root = new Root(fileURLToPath(new URL("../../build/package-root.tar", import.meta.url)));
  });
  const managers = new Set();
  after(() => {
    for (const manager of managers) manager.close();
    root?.remove();
  });

  const install = (file, ...options) => {
    cpSync(file, root.file("tmp/orrery.deb"));
    return root.run("dpkg", ...options, "-i", "/tmp/orrery.deb");
  };
  const state = () => root.run("dpkg-query", "-W", "-f", "${db:Status-Abbrev} ${Version}", "orrery").trim();

  // Runs the unit's command as its user until `use` is done.
  async function served(use) {
    const name = `run/notify-${process.hrtime.bigint()}`;
    const manager = new Manager(root.file(name));
    managers.add(manager);
    await manager.hears("LISTENING=1");
    const [user] = settings(unit, "User");
    const [command] = settings(unit, "ExecStart");
    const child = root.start(user, command.split(" "), { NOTIFY_SOCKET: `/${name}` });
    let log = "";
    child.on("error", (error) => (log += error.message));
    child.stderr.on("data", (text) => (log += text));
    const ended = new Promise((resolve) => child.on("close", (code, signal) => resolve({ code, signal })));
    const died = ended.then((how) => Promise.reject(new Error(`it ended: ${JSON.stringify(how)}\n${log}`)));
    died.catch(() => {});
    try {
      await manager.hears("READY=1", died);
      const { primary: key } = JSON.parse(readFileSync(root.file("var/lib/orrery/keys.json"), "utf8"));
      const rest = restOf({ port, key, agents: { http: new http.Agent() } });
      const result = await use(rest, child);
      child.kill("SIGTERM");
      await manager.hears("STOPPING=1", died);
      assert.deepEqual(await ended, { code: 0, signal: null }, log);
      return result;
    } finally {
      child.kill("SIGKILL");
      manager.close();
    }
  }

  const readItem = (rest) =>
    rest("GET", "/dbs/shop/colls/orders/docs/1", { headers: { "x-ms-documentdb-partitionkey": '["a"]' } });

  it("installs, with a user, a data folder of its own, and files in their places", () => {
    install(deb);
    assert.equal(state(), `ii  ${field(deb, "Version")}`);
    const [, uid, gid] = /^orrery:[^:]*:(\d+):(\d+):/m.exec(readFileSync(root.file("etc/passwd"), "utf8"));
    const data = statSync(root.file("var/lib/orrery"));
    assert.deepEqual([data.uid, data.gid, data.mode & 0o777], [Number(uid), Number(gid), 0o700]);
    assert.match(root.run("dpkg-query", "-W", "-f", "${Conffiles}", "orrery"), /\/etc\/orrery\/orrery\.conf [0-9a-f]{32}/);
    for (const path of ["usr/bin/orrery", "lib/systemd/system/orrery.service", "usr/share/man/man1/orrery.1.gz",
      "usr/share/man/man5/orrery.conf.5.gz", "usr/share/bash-completion/completions/orrery",
      "usr/share/zsh/vendor-completions/_orrery", "usr/share/fish/vendor_completions.d/orrery.fish",
      "usr/share/doc/orrery/copyright"]) {
      assert.ok(existsSync(root.file(path)), path);
    }
    for (const line of root.run("dpkg-deb", "-c", "/tmp/orrery.deb").split("\n").filter(Boolean)) {
      assert.match(line, /^[d-]rw[x-]r-[x-]r-[x-] root\/root /, "for everybody to read, for root to change");
    }
    assert.doesNotMatch(root.run("ldd", "/usr/bin/orrery"), /not found/);
    assert.match(root.run("orrery", "--version"), /^orrery \d/);
    unit = readFileSync(root.file("lib/systemd/system/orrery.service"), "utf8");
  });

  it("the unit is one that systemd takes, and is shut in", { skip: !has("systemd-analyze") && "there is no systemd-analyze" }, () => {
    // Its program is in the root, not here.
    const copy = root.file("tmp/orrery.service");
    writeFileSync(copy, unit.replace("ExecStart=/usr/bin/orrery", `ExecStart=${program}`));
    execFileSync("systemd-analyze", ["verify", "--man=no", copy], { stdio: "pipe" });
    // 0 is shut in, 100 is open: most services of Debian are above 90.
    execFileSync("systemd-analyze", ["security", "--offline=true", "--threshold=20", copy], { stdio: "pipe" });
  });

  it("its unit's command starts as its user, says when it is ready, and keeps what is written", async () => {
    port = await freePort();
    const conf = root.file("etc/orrery/orrery.conf");
    // As an administrator would.
    writeFileSync(conf, readFileSync(conf, "utf8").replace("#port = 8081", `port = ${port}`));
    await served(async (rest, child) => {
      assert.match(readFileSync(`/proc/${child.pid}/status`, "utf8"), new RegExp(`^Uid:\\s+${statSync(root.file("var/lib/orrery")).uid}\\s`, "m"));
      assert.equal((await rest("POST", "/dbs", { body: { id: "shop" } })).status, 201);
      assert.equal((await rest("POST", "/dbs/shop/colls", { body: { id: "orders", partitionKey: { paths: ["/pk"], kind: "Hash" } } })).status, 201);
      assert.equal((await rest("POST", "/dbs/shop/colls/orders/docs", {
        body: { id: "1", pk: "a", what: "kept" }, headers: { "x-ms-documentdb-partitionkey": '["a"]' },
      })).status, 201);
      // The commands find the installed server by themselves.
      assert.match(root.run("orrery", "partitions", "shop/orders"), /^\s+0\s+1\s/m);
    });
    assert.equal(statSync(root.file("var/lib/orrery/keys.json")).mode & 0o777, 0o600);
  });

  it("what is installed can be a node of a cluster", async () => {
    assert.doesNotMatch(root.run("ldd", "/usr/lib/orrery/liborrery_peer.so"), /not found/);
    const home = root.file("var/lib/orrery/node");
    execFileSync(fileURLToPath(new URL("../../tools/cluster_certificates.sh", import.meta.url)), [home, "127.0.0.1", "n1"]);
    execFileSync("chown", ["-R", "--reference", root.file("var/lib/orrery"), home]);
    const at = "/var/lib/orrery/node";
    const nodePort = await freePort();
    const child = root.start("orrery", ["orrery", "serve", "--data", `${at}/data`, "--port", String(nodePort),
      "--volume", `directory:${at}/store`, "--node", "n1", "--node-address", `127.0.0.1:${await freePort()}`,
      "--cluster-ca", `${at}/ca.pem`, "--cluster-cert", `${at}/n1.pem`, "--cluster-key", `${at}/n1.key`]);
    let log = "";
    child.stderr.on("data", (text) => (log += text));
    const ended = new Promise((resolve) => child.on("close", (code) => resolve(code)));
    try {
      const ready = new Promise((resolve) => createInterface({ input: child.stdout }).on("line", (line) => {
        if (line.startsWith("orrery ready on ")) resolve("ready");
      }));
      assert.equal(await Promise.race([ready, ended]), "ready", log);
      const status = JSON.parse(root.run("orrery", "cluster", "status", "--json", "--data", `${at}/data`));
      assert.equal(status.coordinator, "n1");
      child.kill("SIGTERM");
      assert.equal(await ended, 0, log);
    } finally {
      child.kill("SIGKILL");
      rmSync(home, { recursive: true, force: true });
    }
  });

  it("an upgrade keeps data and edited settings, and serves them", async () => {
    const work = mkdtempSync(join(tmpdir(), "orrery-upgrade-"));
    try {
      // A later version, whose settings have a line more.
      execFileSync("dpkg-deb", ["-R", deb, work]);
      chmodSync(work, 0o755);
      const control = join(work, "DEBIAN/control");
      writeFileSync(control, readFileSync(control, "utf8").replace(/^Version: .*$/m, (line) => `${line}+later`));
      writeFileSync(join(work, "etc/orrery/orrery.conf"), `# later\n${readFileSync(join(work, "etc/orrery/orrery.conf"), "utf8")}`);
      execFileSync("dpkg-deb", ["-Zgzip", "-z1", "--root-owner-group", "-b", work, join(work, "..", "later.deb")], { stdio: "pipe" });
      install(join(work, "..", "later.deb"), "--force-confdef", "--force-confold");
    } finally {
      rmSync(work, { recursive: true });
      rmSync(join(work, "..", "later.deb"), { force: true });
    }
    assert.equal(state(), `ii  ${field(deb, "Version")}+later`);
    assert.match(readFileSync(root.file("etc/orrery/orrery.conf"), "utf8"), new RegExp(`^port = ${port}$`, "m"));
    assert.match(readFileSync(root.file("etc/orrery/orrery.conf.dpkg-dist"), "utf8"), /^# later/);
    await served(async (rest) => assert.equal((await readItem(rest)).body.what, "kept"));
  });

  it("removing it leaves data and settings; purging it leaves neither", async () => {
    root.run("dpkg", "-r", "orrery");
    assert.match(state(), /^rc/);
    assert.ok(!existsSync(root.file("usr/bin/orrery")));
    assert.ok(existsSync(root.file("var/lib/orrery/partitions")) && existsSync(root.file("etc/orrery/orrery.conf")));
    // Who installs it again finds everything.
    install(deb, "--force-confdef", "--force-confold");
    await served(async (rest) => assert.equal((await readItem(rest)).body.what, "kept"));
    root.run("dpkg", "-P", "orrery");
    assert.ok(!existsSync(root.file("var/lib/orrery")) && !existsSync(root.file("etc/orrery")));
    assert.throws(() => root.run("dpkg-query", "-W", "orrery"), /no packages found/);
  });
});
