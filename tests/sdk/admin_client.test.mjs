// The commands that ask a running server: over https alone, and nothing before the server has shown
// the certificate that is expected of it.
import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import net from "node:net";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import tls from "node:tls";

import { runProgram, shared, start } from "./server.mjs";

describe("commands over https", () => {
  const at = shared({ dev: false });
  const file = (name) => join(at.server.data, name);
  const regenerate = (...args) => runProgram(["keys", "regenerate", "secondary-readonly", ...args]);
  // Where a command finds nothing.
  let nowhere, other, forgedCert, forgedKey;
  before(async () => {
    nowhere = file("nowhere");
    mkdirSync(nowhere);
    other = await start();
    [forgedCert, forgedKey] = ["cert.pem", "key.pem"].map((name) => join(other.data, name));
  });
  after(() => other?.close());

  // A server that is not ours: it takes what is sent to it. `bytes` is all of it; over TLS what it
  // decrypts, in the clear what arrives.
  async function impostor(options) {
    const caught = { bytes: "" };
    const take = (socket) => {
      socket.on("error", () => {});
      socket.on("data", (data) => {
        caught.bytes += data.toString("latin1");
        if (caught.answer !== undefined) socket.end(caught.answer);
        else if (options === undefined) socket.destroy();
      });
    };
    const server = options === undefined ? net.createServer(take) : tls.createServer(options, take);
    server.on("tlsClientError", () => {});
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    after(() => server.close());
    return Object.assign(caught, { port: server.address().port });
  }

  // A certificate with the names of ours, by somebody else.
  const forged = () => ({ key: readFileSync(forgedKey), cert: readFileSync(forgedCert) });

  it("the server of a data folder is known by the certificate in it, whichever it is", async () => {
    const { code, out } = await regenerate("--data", at.server.data);
    assert.equal(code, 0, out);
    assert.ok(out.includes(at.server.keys.secondaryReadonly), out);
    await at.server.restart({ args: ["--cert", forgedCert, "--cert-key", forgedKey] });
    assert.equal((await regenerate("--data", at.server.data)).code, 0);
    assert.equal((await regenerate("--data", nowhere, "--host", "localhost", "--port", String(at.server.port),
      "--key", at.server.key, "--ca", file("cert.pem"))).code, 1, "that is its certificate no longer");
    await at.server.restart({ args: [] });
    assert.equal((await regenerate("--data", at.server.data)).code, 0);
  });

  it("who has taken the port of a server that is gone gets nothing", async () => {
    const copy = file("copy");
    mkdirSync(copy);
    const saved = JSON.parse(readFileSync(file("server.json"), "utf8"));
    copyFileSync(file("keys.json"), join(copy, "keys.json"));
    const { cert, key } = forged();
    for (const options of [{ cert, key }, undefined]) {
      const caught = await impostor(options);
      writeFileSync(join(copy, "server.json"), JSON.stringify({ ...saved, port: caught.port }));
      const { code, out } = await regenerate("--data", copy);
      assert.equal(code, 1, out);
      assert.match(out, options ? /is not the server that runs on the data folder/ : /does not speak https/);
      assert.match(out, /[Nn]othing was sent/);
      assert.ok(!/admin|authorization|x-ms-/i.test(caught.bytes));
    }
    rmSync(copy, { recursive: true });
  });

  it("a server elsewhere is known by --ca and by its name", async () => {
    const to = (...args) => regenerate("--data", nowhere, "--port", String(at.server.port), "--key", at.server.key, ...args);
    for (const host of ["localhost", "127.0.0.1"]) {
      const { code, out } = await to("--host", host, "--ca", file("cert.pem"));
      assert.equal(code, 0, out);
    }
    // The system knows nothing of our certificate; it is not made for that name; that is no certificate.
    const refused = {
      "is not one to trust by this system": ["--host", "localhost"],
      "is not one to trust by --ca": ["--host", "ip6-localhost.localhost", "--ca", file("cert.pem")],
      "holds no PEM certificate": ["--host", "localhost", "--ca", file("keys.json")],
      "is not a host name": ["--host", "localhost/x"],
    };
    for (const [reason, args] of Object.entries(refused)) {
      const { code, out } = await to(...args);
      assert.equal(code, 1, out);
      assert.ok(out.includes(reason), `${reason}: ${out}`);
    }
    assert.match((await to("--host", "localhost", "--ca", forgedCert)).out, /not one to trust by --ca/);
  });

  it("nothing is sent in the clear, wherever the server is", async () => {
    const caught = await impostor();
    for (const host of ["localhost", "127.0.0.1", "plain.localhost"]) {
      const { code, out } = await regenerate("--data", nowhere, "--host", host, "--port", String(caught.port), "--key", at.server.key);
      assert.equal(code, 1);
      assert.match(out, /does not speak https; nothing was sent/);
    }
    assert.ok(!/admin|authorization|x-ms-/i.test(caught.bytes));
    const { code, out } = await regenerate("--data", nowhere, "--host", `http://127.0.0.1`, "--port", String(caught.port), "--key", at.server.key);
    assert.equal(code, 1);
    assert.match(out, /is not a host name/);
  });

  it("neither proxies of the environment nor redirects are followed", async () => {
    const caught = await impostor();
    const proxy = `http://127.0.0.1:${caught.port}`;
    const env = { http_proxy: proxy, https_proxy: proxy, HTTPS_PROXY: proxy, all_proxy: proxy, ALL_PROXY: proxy };
    const asked = await runProgram(["keys", "regenerate", "secondary-readonly", "--data", at.server.data], { env });
    assert.equal(asked.code, 0, asked.out);
    assert.equal(caught.bytes, "");
    const target = await impostor(forged());
    const turning = await impostor(forged());
    turning.answer = `HTTP/1.1 307 Temporary Redirect\r\nlocation: https://localhost:${target.port}/admin/keys/regenerate\r\ncontent-length: 0\r\n\r\n`;
    const { code } = await regenerate("--data", nowhere, "--host", "localhost", "--port", String(turning.port),
      "--key", at.server.key, "--ca", forgedCert);
    assert.equal(code, 1);
    assert.equal(target.bytes, "");
  });

  it("what clients wrote does not command the terminal of who looks at it", async () => {
    const container = await at.container();
    const pk = "\u001b[2J\u009b2J\u202ekey";
    await container.items.create({ id: "1", pk });
    const { code, out } = await runProgram(["partitions", `db/${container.id}`, "--data", at.server.data]);
    assert.equal(code, 0, out);
    assert.match(out, /\\u009b2J\\u202ekey/);
    assert.doesNotMatch(out, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    const unknown = await runProgram(["partitions", `db/no\u001b[2J\u009b`, "--data", at.server.data]);
    assert.equal(unknown.code, 1);
    assert.doesNotMatch(unknown.out, /[\u001b\u009b]/);
  });

  it("a key in the environment is as good as one on the command line, which neighbours can see", async () => {
    const args = ["keys", "regenerate", "secondary-readonly", "--data", nowhere, "--host", "localhost",
      "--port", String(at.server.port), "--ca", file("cert.pem")];
    const { code, out } = await runProgram(args, { env: { ORRERY_KEY: at.server.key } });
    assert.equal(code, 0, out);
    assert.equal((await runProgram(args, { env: { ORRERY_KEY: at.server.keys.primaryReadonly } })).code, 1);
  });
});
