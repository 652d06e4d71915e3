// Requests by hand, signed as the vendor's REST documents say, for what the SDK does not let a test
// send or see. A request is `await rest("GET", "/dbs/x/colls/y", { headers, body })` and gives
// {status, substatus, headers, body, text, bytes}; it throws only when there is no answer at all.
import { createHash, createHmac, randomBytes } from "node:crypto";
import http from "node:http";
import https from "node:https";

// What the signature covers, from the path: the type of the resource, and its link. `rid` says that
// the path is made of RIDs; then only the last one is signed, in lower case.
export function signedParts(path, { rid = false } = {}) {
  const segments = path.split("?")[0].split("/").filter(Boolean).map(decodeURIComponent);
  const feed = segments.length % 2 === 1;
  const type = segments.at(feed ? -1 : -2) ?? "";
  const owner = feed ? segments.slice(0, -1) : segments;
  // Of the operation on all items of a key, the container is signed, as the key's.
  if (type === "operations") return { type: "partitionkey", link: segments.slice(0, 4).join("/") };
  if (type === "offers") return { type, link: feed ? "" : owner.at(-1).toLowerCase() };
  return { type, link: rid ? (owner.at(-1) ?? "").toLowerCase() : owner.join("/") };
}

export function authorization(key, method, { type, link }, date) {
  const text = `${method.toLowerCase()}\n${type.toLowerCase()}\n${link}\n${date.toLowerCase()}\n\n`;
  const signature = createHmac("sha256", Buffer.from(key, "base64")).update(text).digest("base64");
  return encodeURIComponent(`type=master&ver=1.0&sig=${signature}`);
}

// The headers of a request to /admin/…, which signs all of itself: src/ops/admin_signature.h.
export function adminHeaders(key, method, target, body = "", date = new Date().toUTCString()) {
  const nonce = randomBytes(16).toString("hex").toUpperCase();
  const hash = createHash("sha256").update(body).digest("hex").toUpperCase();
  const text = `orrery-admin\n${method}\n${target}\n${date}\n${nonce}\n${hash}\n`;
  const signature = createHmac("sha256", Buffer.from(key, "base64")).update(text).digest("base64");
  return {
    authorization: encodeURIComponent(`type=orrery-admin&ver=1.0&sig=${signature}`),
    "x-orrery-date": date, "x-orrery-nonce": nonce, "x-orrery-content-sha256": hash,
  };
}

// The request function of a server. Options given here or with a request:
//   over     "http" or "https"
//   key      to sign with; null sends no authorization at all
//   date     a Date, to sign and send
//   version  x-ms-version
//   rid      the path is made of RIDs
//   host     the address to send it to
//   port     the port, if not the server's main one
//   within   how long it may take, in ms
export function restOf(server, defaults = {}) {
  return (method, path, options = {}) => {
    const {
      over = "http", key = server.key, date = new Date(), version = "2020-07-15", rid = false,
      host = server.host ?? "127.0.0.1", headers = {}, body, port = server.port, within = 30_000,
    } = { ...defaults, ...options };
    const stamp = date.toUTCString();
    const all = { "x-ms-date": stamp, "x-ms-version": version, accept: "application/json" };
    const bytes = body === undefined || typeof body === "string" || Buffer.isBuffer(body)
      ? body : JSON.stringify(body);
    if (key !== null && path.startsWith("/admin/")) {
      Object.assign(all, adminHeaders(key, method, path, bytes, stamp));
    } else if (key !== null) {
      all.authorization = authorization(key, method, signedParts(path, { rid }), stamp);
    }
    if (bytes !== undefined) {
      all["content-type"] = "application/json";
      all["content-length"] = Buffer.byteLength(bytes);
    }
    return send({ over, host, port, agent: server.agents[over], within }, method, path, { ...all, ...headers }, bytes);
  };
}

function send({ over, host, port, agent, within }, method, path, headers, sent) {
  const library = over === "https" ? https : http;
  return new Promise((resolve, reject) => {
    const request = library.request(
      { host, port, method, path, headers, agent,
        ...(over === "https" ? { rejectUnauthorized: false } : {}) },
      (response) => {
        const parts = [];
        response.on("data", (part) => parts.push(part));
        response.on("error", reject);
        response.on("end", () => {
          const bytes = Buffer.concat(parts);
          const text = bytes.toString("utf8");
          resolve({
            status: response.statusCode,
            substatus: Number(response.headers["x-ms-substatus"] ?? 0),
            headers: response.headers,
            bytes,
            text,
            body: parse(text),
          });
        });
      },
    );
    request.on("error", reject);
    request.setTimeout(within, () => request.destroy(new Error(`${method} ${path}: no answer in ${within} ms`)));
    request.end(sent);
  });
}

function parse(text) {
  try {
    return text === "" ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

// The key header: ["Redmond", 5, null, true, {}], {} being None.
export function keyHeader(...values) {
  return {
    "x-ms-documentdb-partitionkey": JSON.stringify(values).replace(
      /[\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`),
  };
}

// Every page of a feed: {items, pages}. `member` is the array's name in the body.
export async function readFeed(rest, path, member, { headers = {}, pages_max = 1000 } = {}) {
  const items = [];
  let pages = 0;
  let continuation;
  do {
    const answer = await rest("GET", path, {
      headers: { ...headers, ...(continuation ? { "x-ms-continuation": continuation } : {}) },
    });
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text}`);
    items.push(...answer.body[member]);
    continuation = answer.headers["x-ms-continuation"];
    if (++pages > pages_max) throw new Error(`${path}: more than ${pages_max} pages`);
  } while (continuation);
  return { items, pages };
}
