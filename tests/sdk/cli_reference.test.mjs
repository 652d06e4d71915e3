// What the program says of itself: the configuration file, manual pages and shell completion are made from its own
// options, and are what the tools that read them take.
import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";

import { freePort, program, runProgram, start } from "./server.mjs";

const has = (name) => spawnSync("sh", ["-c", `command -v ${name}`]).status === 0;
const output = (...args) =>
  new Promise((resolve, reject) => execFile(program, args, (error, out, err) => (error ? reject(new Error(err)) : resolve(out))));

describe("reference", () => {
  let folder, options, limits;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "orrery-reference-"));
    const help = await output("serve", "--help");
    options = [...help.matchAll(/^ {2}--([a-z-]+)/gm)].map(([, name]) => name).filter((name) => name !== "config");
    limits = [...help.split("Limits (")[1].matchAll(/^ {2}([a-z-]+) /gm)].map(([, name]) => name);
    assert.ok(options.length > 20 && limits.length > 40);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it("the configuration file has every setting and limit, with what the program takes", async () => {
    const file = await output("reference", "orrery.conf");
    const settings = new Map([...file.matchAll(/^#?([a-z-]+) = (.*)$/gm)].filter(([, name]) => name !== "limit").map(([, name, value]) => [name, value]));
    assert.deepEqual([...settings.keys()].sort(), options.filter((name) => name !== "limit").sort());
    assert.deepEqual([...file.matchAll(/^#limit = ([a-z-]+)=\d+$/gm)].map(([, name]) => name).sort(), limits.sort());
    for (const line of file.split("\n")) assert.ok(line.length <= 120, line);
    // All of it switched on: each is a setting that the program knows, and each default one that it takes.
    const port = await freePort();
    const on = file.replace(/^#(?=[a-z-]+ = )/gm, "").replace(/^data = .*$/m, "").replace(/^port = .*$/m, `port = ${port}`)
      .replace(/^(all-faces|[a-z]+-port|cert|cert-key|entra|throttling|node|node-address|cluster-ca|cluster-cert|cluster-key) = .*$/gm, "");
    const path = join(folder, "all.conf");
    writeFileSync(path, on);
    const server = await start({ dev: false, args: ["--config", path] });
    assert.equal((await server.rest()("GET", "/healthz", { key: null })).status, 200);
    await server.close();
  });

  it("the guide to the configuration names every flag", () => {
    const guide = readFileSync(fileURLToPath(new URL("../../docs/configuration.md", import.meta.url)), "utf8");
    for (const name of options) assert.ok(guide.includes(`\`--${name}`), `docs/configuration.md says nothing of --${name}`);
  });

  it("manual pages have every command, flag and limit", async () => {
    const plain = (text) => text.replaceAll("\\-", "-");
    const page = plain(await output("reference", "orrery.1"));
    for (const name of options) assert.ok(page.includes(`--${name}`), name);
    for (const [, name] of (await output("--help")).split("Subcommands:")[1].matchAll(/^ {2}([a-z-]+) /gm)) {
      assert.ok(page.includes(`.SS orrery ${name}`), name);
    }
    const settings = plain(await output("reference", "orrery.conf.5"));
    for (const name of limits) assert.ok(settings.includes(`.B ${name}\n`), name);
    for (const name of options.filter((one) => one !== "limit")) assert.ok(settings.includes(`.BR ${name} `), name);
  });

  it("manual pages are what man takes", { skip: !has("mandoc") && "mandoc is not installed" }, async () => {
    for (const name of ["orrery.1", "orrery.conf.5"]) {
      const path = join(folder, name);
      writeFileSync(path, await output("reference", name));
      const { stdout } = spawnSync("mandoc", ["-T", "lint", "-W", "warning", path], { encoding: "utf8" });
      // The day is left out, so that the same program makes the same page.
      assert.deepEqual(stdout.split("\n").filter((line) => line !== "" && !/missing date/.test(line)), []);
    }
  });

  it("every command that tells something can tell it as JSON", async () => {
    const without = [];
    const look = async (path) => {
      const help = await output(...path, "--help");
      const below = help.split("Subcommands:")[1]?.matchAll(/^ {2}([a-z-]+) /gm);
      if (below) for (const [, name] of below) await look([...path, name]);
      else if (!/^ {2}--json /m.test(help)) without.push(path.join(" "));
    };
    await look([]);
    // One runs until it is stopped, the others print files.
    assert.deepEqual(without.sort(), ["completion", "reference", "serve"]);
  });

  it("an unknown file or shell is refused with what there is", async () => {
    for (const args of [["reference", "x"], ["completion", "csh"]]) {
      const { code, out } = await runProgram(args);
      assert.equal(code, 1);
      assert.match(out, /is not one of/);
    }
  });
});

// What each shell offers for a line that ends in the word to be completed.
const shells = {
  bash: (script, line) => spawnSync("bash", ["-c", `source "$1"; COMP_WORDS=(${line.split(" ").map((word) => `'${word}'`).join(" ")})
    COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _orrery; printf '%s\\n' "\${COMPREPLY[@]}"`, "bash", script], { encoding: "utf8" }),
  fish: (script, line) => spawnSync("fish", ["-N", "-c", `source ${script}; complete -C "${line}"`], { encoding: "utf8" }),
};

for (const shell of ["bash", "fish"]) {
  describe(`completion in ${shell}`, { skip: !has(shell) && `${shell} is not installed` }, () => {
    let folder, script;
    before(async () => {
      folder = mkdtempSync(join(tmpdir(), "orrery-completion-"));
      script = join(folder, "script");
      writeFileSync(script, await output("completion", shell));
    });
    after(() => rmSync(folder, { recursive: true, force: true }));
    const offered = (line) => {
      const { stdout, stderr } = shells[shell](script, line);
      assert.equal(stderr, "");
      return stdout.split("\n").map((one) => one.split("\t")[0]).filter(Boolean);
    };

    it("commands, options and values are offered in their places", () => {
      assert.deepEqual(offered("orrery par"), ["partitions"]);
      assert.deepEqual(offered("orrery keys re"), ["regenerate"]);
      assert.deepEqual(offered("orrery serve --dur"), ["--durability"]);
      assert.deepEqual(offered("orrery serve --durability re"), ["relaxed"]);
      assert.deepEqual(offered("orrery partitions --dur"), []);
      assert.deepEqual(offered("orrery completion f"), ["fish"]);
      assert.deepEqual(offered("orrery keys regenerate primary-").sort(), ["primary-readonly"]);
      assert.ok(!offered("orrery ").includes("script-worker"));
      assert.ok(offered("orrery ").includes("serve"));
    });
  });
}

describe("completion in zsh", { skip: !has("zsh") && "zsh is not installed" }, () => {
  it("the script is read without an error, and asks for what there is", async () => {
    const script = await output("completion", "zsh");
    const folder = mkdtempSync(join(tmpdir(), "orrery-completion-"));
    const path = join(folder, "_orrery");
    writeFileSync(path, script);
    const read = spawnSync("zsh", ["-f", "-c", `autoload -U compinit; compinit -u -d ${folder}/dump; source ${path}; print -l \${(k)functions[(I)_orrery*]}; print $_comps[orrery]`], { encoding: "utf8" });
    rmSync(folder, { recursive: true, force: true });
    assert.equal(read.stderr, "");
    assert.match(read.stdout, /^_orrery_keys_regenerate$/m);
    assert.match(read.stdout, /^_orrery$/m);
    assert.match(script, /'\*--durability\[.*\]:value:\(sync relaxed\)'/);
  });
});
