// What a neighbour on the machine finds of the data folder: nothing.
import assert from "node:assert/strict";
import { chmodSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";

import { shared } from "./server.mjs";

describe("the data folder", () => {
  // The server must not rely on the umask that it is started with.
  let umask;
  before(() => { umask = process.umask(0); });
  after(() => process.umask(umask));
  const at = shared({ dev: false });

  // [path, kind, mode in octal] of the folder and everything in it. Files go while a server runs: what is
  // gone before it was looked at is left out.
  function everything(path = at.server.data) {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return [];
    const kind = found.isDirectory() ? "folder" : found.isFile() ? "file" : "other";
    const own = [path, kind, (found.mode & 0o7777).toString(8)];
    return kind === "folder" ? [own, ...namesIn(path).flatMap((name) => everything(join(path, name)))] : [own];
  }

  function namesIn(folder) {
    try {
      return readdirSync(folder);
    } catch (error) {
      if (error.code === "ENOENT") return [];
      throw error;
    }
  }

  function ownersAlone() {
    const all = everything();
    assert.deepEqual(all.filter(([, kind, mode]) => mode !== (kind === "folder" ? "700" : "600")), []);
    assert.deepEqual(all.filter(([, kind]) => kind === "other"), []);
    return all.map(([path]) => path.slice(at.server.data.length + 1));
  }

  // Items, a split, a script, a new key: all that makes files.
  async function use() {
    const container = await at.server.client().database("db").containers.create({ id: `c${++at.made}`, partitionKey: "/pk" })
      .then((made) => made.container);
    for (let i = 0; i < 20; ++i) await container.items.create({ id: `${i}`, pk: `${i}` });
    await container.scripts.storedProcedures.create({ id: "s", body: function s() { getContext().getResponse().setBody(1); } });
    assert.equal((await container.scripts.storedProcedure("s").execute("a", [])).resource, 1);
    assert.equal((await at.server.split(container)).code, 0);
    assert.equal((await at.server.command("keys", "regenerate", "secondary", "--data", at.server.data)).code, 0);
  }

  it("folders are 0700 and files 0600: keys, certificates, data, logs", async () => {
    await use();
    const names = ownersAlone();
    for (const name of ["keys.json", "secret", "cert.pem", "key.pem", "server.json", "metrics-token", "LOCK", "partitions/catalog"]) {
      assert.ok(names.includes(name), `${name} is not there: ${names}`);
    }
    assert.ok(names.some((name) => /^partitions\/c\d+-p[\w-]+\/.*\.(sst|log)$/.test(name)), `${names}`);
    await at.server.restart({ hard: true });
    await use();
    ownersAlone();
    await at.server.restart();
    ownersAlone();
  });

  it("a private key that was given and that others can read is warned of", async () => {
    const [cert, key] = ["cert.pem", "key.pem"].map((name) => join(at.server.data, name));
    const args = ["--cert", cert, "--cert-key", key];
    await at.server.restart({ args });
    assert.doesNotMatch(at.server.log, /private key/);
    chmodSync(key, 0o640);
    await at.server.restart({ args });
    await at.server.logged(/warn.* others on this machine can read the certificate's private key.*key\.pem/);
    chmodSync(key, 0o600);
    await at.server.restart({ args: [] });
  });

  it("a folder that others could read is closed to them at the start, and the log says so", async () => {
    await at.server.stop();
    for (const [path, kind] of everything()) chmodSync(path, kind === "folder" ? 0o755 : 0o644);
    await at.server.launch();
    await at.server.logged(/warn.* others on this machine could read the data folder/);
    ownersAlone();
    await use();
    ownersAlone();
    await at.server.restart();
    assert.doesNotMatch(at.server.log, /others on this machine/);
  });
});
