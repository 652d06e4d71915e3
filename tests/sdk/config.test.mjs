// The configuration file: read by `orrery serve --config`, overridden by flags, never ignored.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";

import { program } from "./server.mjs";

// Runs `serve` until it is ready (then stops it) or ends by itself.
function serve(args) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, ["serve", ...args], { stdio: ["ignore", "pipe", "pipe"] });
    let out = "";
    let err = "";
    child.stdout.on("data", (text) => {
      out += text;
      if (out.includes("\n")) child.kill("SIGTERM");
    });
    child.stderr.on("data", (text) => (err += text));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, out, err }));
  });
}

describe("configuration file", () => {
  let folder;
  before(() => (folder = mkdtempSync(join(tmpdir(), "orrery-config-"))));
  after(() => rmSync(folder, { recursive: true, force: true }));

  function file(name, text) {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  }

  it("sets what flags would, limits included", async () => {
    const path = file(
      "good.ini",
      `# settings\ndata = ${folder}/a\nport = 0\ndev = true\nlimit = item-bytes=1M\nlimit = feed-items=10\n`,
    );
    const { code, out } = await serve(["--config", path]);
    assert.match(out, /^orrery ready on http:\/\/127\.0\.0\.1:\d+/);
    assert.equal(code, 0);
  });

  it("is overridden by flags", async () => {
    const path = file("address.ini", `data = ${folder}/b\nport = 0\naddress = 203.0.113.1\n`);
    const { out } = await serve(["--config", path, "--address", "127.0.0.2"]);
    assert.match(out, /^orrery ready on http:\/\/127\.0\.0\.2:\d+/);
  });

  it("is an error when it is missing, names an unknown setting or has a bad value", async () => {
    const bad = [
      join(folder, "missing.ini"),
      file("unknown.ini", "no-such-setting = 1\n"),
      file("value.ini", `data = ${folder}/c\nport = many\n`),
      file("limit.ini", `data = ${folder}/c\nport = 0\nlimit = no-such=1\n`),
    ];
    for (const path of bad) {
      const { code, out, err } = await serve(["--config", path]);
      assert.notEqual(code, 0, path);
      assert.equal(out, "", path);
      assert.notEqual(err, "", path);
    }
  });
});
