// HTTP itself, byte by byte over a socket: what clients other than the SDK may send.
import assert from "node:assert/strict";
import net from "node:net";
import { describe, it } from "node:test";

import { authorization, keyHeader, signedParts } from "./rest.mjs";
import { shared } from "./server.mjs";

describe("http", () => {
  const at = shared();

  // The lines of a signed request, up to and including the empty one.
  function head(method, path, headers = {}) {
    const date = new Date().toUTCString();
    const all = {
      host: `127.0.0.1:${at.server.port}`, "x-ms-date": date, "x-ms-version": "2020-07-15",
      authorization: authorization(at.server.key, method, signedParts(path), date), ...headers,
    };
    return `${method} ${path} HTTP/1.1\r\n${Object.entries(all).map(([k, v]) => `${k}: ${v}\r\n`).join("")}\r\n`;
  }

  // Sends the parts one after the other and reads until `enough` says so or the server closes.
  function talk(parts, enough) {
    return new Promise((resolve, reject) => {
      const socket = net.connect(at.server.port, "127.0.0.1");
      const timer = setTimeout(() => socket.destroy(new Error(`no end within 10 s: ${text.slice(0, 300)}`)), 10_000);
      let text = "";
      const done = () => {
        clearTimeout(timer);
        socket.destroy();
        resolve(text);
      };
      socket.setEncoding("utf8");
      socket.on("data", (more) => {
        text += more;
        if (enough(text)) done();
      });
      socket.on("end", done);
      socket.on("error", (error) => {
        clearTimeout(timer);
        if (text) resolve(text); else reject(error);
      });
      for (const part of parts) socket.write(part);
    });
  }

  const statuses = (text) => [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((found) => Number(found[1]));
  const has = (count) => (text) => statuses(text).length >= count && text.endsWith("}");

  it("pipelined requests are answered in order on one connection", async () => {
    const names = ["db", "nothing", "db", "nowhere"];
    const text = await talk([names.map((name) => head("GET", `/dbs/${name}`)).join("")], has(4));
    assert.deepEqual(statuses(text), [200, 404, 200, 404]);
  });

  it("a request may come a few bytes at a time", async () => {
    const request = head("GET", "/dbs/db");
    const parts = [];
    for (let i = 0; i < request.length; i += 7) parts.push(request.slice(i, i + 7));
    assert.deepEqual(statuses(await talk(parts, has(1))), [200]);
  });

  it("chunked bodies", async () => {
    const container = await at.container();
    const request = head("POST", `/dbs/db/colls/${container.id}/docs`,
      { "transfer-encoding": "chunked", "content-type": "application/json", ...keyHeader("a") });
    const text = await talk([request, '8\r\n{"id":"c\r\n', 'd;x=y\r\nhunked","pk":\r\n', '4\r\n"a"}\r\n', "0\r\n\r\n"], has(1));
    assert.deepEqual(statuses(text), [201]);
    assert.equal((await container.item("chunked", "a").read()).statusCode, 200);
  });

  it("Expect: 100-continue is answered before the body", async () => {
    const container = await at.container();
    const body = '{"id":"expected","pk":"a"}';
    const request = head("POST", `/dbs/db/colls/${container.id}/docs`,
      { expect: "100-continue", "content-length": body.length, "content-type": "application/json", ...keyHeader("a") });
    const text = await new Promise((resolve, reject) => {
      const socket = net.connect(at.server.port, "127.0.0.1", () => socket.write(request));
      let got = "";
      let sent = false;
      socket.setEncoding("utf8");
      socket.setTimeout(10_000, () => socket.destroy(new Error(`stuck after: ${got}`)));
      socket.on("data", (more) => {
        got += more;
        if (!sent && got.includes("100 Continue")) {
          sent = true;
          socket.write(body);
        }
        if (has(2)(got)) {
          socket.destroy();
          resolve(got);
        }
      });
      socket.on("error", reject);
    });
    assert.deepEqual(statuses(text), [100, 201]);
  });

  it("a large body is not awaited from those who may not send it", async () => {
    const container = await at.container();
    const path = `/dbs/db/colls/${container.id}/docs`;
    const large = { "content-length": 3_000_000, "content-type": "application/json", ...keyHeader("a") };
    for (const more of [{ authorization: "type%3dmaster%26ver%3d1.0%26sig%3dAAAA" }, { authorization: "" }]) {
      for (const expect of [{}, { expect: "100-continue" }]) {
        // Only the head is sent: the answer must not need the rest.
        const text = await talk([head("POST", path, { ...large, ...more, ...expect })], () => false);
        assert.deepEqual(statuses(text), [401], text);
        assert.match(text, /^connection: close\r$/im);
      }
    }
    for (const page of ["/healthz", "/metrics", "/admin/partitions"]) {
      assert.deepEqual(statuses(await talk([head("GET", page, large)], () => false)), [413], page);
    }
  });

  it("a small body of a request that is refused leaves the connection", async () => {
    const unsigned = `POST /dbs HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\n{"id":"x"}`;
    assert.deepEqual(statuses(await talk([unsigned, head("GET", "/dbs/db")], has(2))), [401, 200]);
  });

  it("a large body with its signature comes through", async () => {
    const container = await at.container();
    const body = JSON.stringify({ id: "large", pk: "a", text: "x".repeat(1_000_000) });
    const request = head("POST", `/dbs/db/colls/${container.id}/docs`,
      { "content-length": body.length, "content-type": "application/json", ...keyHeader("a") });
    const text = await talk([request, body], (got) => statuses(got).length === 1);
    assert.deepEqual(statuses(text), [201]);
  });

  it("HTTP/1.0 and Connection: close end the connection after the answer", async () => {
    const closed = await talk([head("GET", "/dbs/db", { connection: "close" })], () => false);
    assert.deepEqual(statuses(closed), [200]);
    const old = await talk([head("GET", "/dbs/db").replace("HTTP/1.1", "HTTP/1.0")], () => false);
    assert.match(old, /^HTTP\/1\.[01] 200/);
  });

  it("what is not HTTP, or has no end, is refused and closed", async () => {
    for (const bytes of ["nonsense\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/9.9\r\n\r\n",
      "GET / HTTP/1.1\r\nhost: x\r\ncontent-length: x\r\n\r\n",
      "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n",
      `GET / HTTP/1.1\r\nx: ${"y".repeat(200_000)}\r\n\r\n`]) {
      const text = await talk([bytes], () => false);
      const refusal = bytes.includes("HTTP/9.9") ? /^HTTP\/1\.1 505/ : /^HTTP\/1\.1 4\d\d/;
      assert.match(text, refusal, bytes.slice(0, 60));
    }
    assert.deepEqual(statuses(await talk([head("GET", "/dbs/db")], has(1))), [200]);
  });

  it("many connections at once", async () => {
    const all = await Promise.all(Array.from({ length: 200 }, () => talk([head("GET", "/dbs/db")], has(1))));
    for (const text of all) assert.deepEqual(statuses(text), [200]);
  });
});
