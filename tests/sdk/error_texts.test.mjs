// Words of the vendor's that clients look for in the messages of errors.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { answers, fails } from "./expect.mjs";
import { keyHeader } from "./rest.mjs";
import { shared } from "./server.mjs";

describe("error texts", () => {
  const at = shared();
  const mismatch = /Partition key provided either doesn't correspond to definition in the collection or doesn't match partition key field values specified in the document\./;

  it("what is not there", async () => {
    const container = await at.container();
    await fails(container.item("no", "a").delete(), 404, { message: /Resource Not Found/ });
    await fails(at.db.container("no").read(), 404, { message: /Resource Not Found/ });
    await fails(at.client.database("no").read(), 404, { message: /Resource Not Found/ });
  });

  it("a continuation that is none", async () => {
    const container = await at.container();
    await fails(container.items.query("SELECT * FROM c", { continuationToken: "junk" }).fetchNext(), 400,
      { message: /Invalid Continuation Token/ });
    await fails(container.items.readAll({ continuationToken: "junk", maxItemCount: 2 }).fetchNext(), 400,
      { message: /Invalid Continuation Token/ });
  });

  it("a batch without operations", async () => {
    const container = await at.container();
    answers(await at.rest("POST", `/dbs/db/colls/${container.id}/docs`, { body: [],
      headers: { ...keyHeader("a"), "x-ms-cosmos-is-batch-request": "True", "x-ms-cosmos-batch-atomic": "True" } }), 400,
    { message: /Batch request has no operations\./ });
  });

  it("what is too large", async () => {
    const container = await at.container();
    const large = { id: "1", pk: "a", pad: "x".repeat(2_400_000) };
    const words = /^Message: \{"Errors":\["Request size is too large"\]\}\r\n/;
    const direct = await fails(container.items.create(large), 413);
    assert.match(direct.body?.message ?? direct.message, /\{"Errors":\["Request size is too large"\]\}/);
    answers(await at.rest("POST", `/dbs/db/colls/${container.id}/docs`, { body: large, headers: keyHeader("a") }), 413,
      { message: words });
    await assert.rejects(container.items.bulk([{ operationType: "Create", partitionKey: "a", resourceBody: large }]),
      /Message: \{"Errors":\["Request size is too large"\]\}\r\n/);
  });

  it("the beginning of a change feed of all versions", async () => {
    const container = await at.container({ changeFeedPolicy: { retentionDuration: 10 } });
    answers(await at.rest("GET", `/dbs/db/colls/${container.id}/docs`,
      { headers: { "A-IM": "Full-Fidelity Feed", "x-ms-cosmos-changefeed-wire-format-version": "2021-09-15" } }), 400,
    { message: /You must read the change feed from within the retention period\./ });
  });

  it("a key that is not that of the item, or not of the container", async () => {
    const container = await at.container();
    const docs = `/dbs/db/colls/${container.id}/docs`;
    answers(await at.rest("POST", docs, { body: { id: "1", pk: "a" }, headers: keyHeader("b") }), 400,
      { substatus: 1001, message: mismatch });
    const levels = await at.container({ partitionKey: { paths: ["/a", "/b"], kind: "MultiHash", version: 2 } });
    answers(await at.rest("GET", `/dbs/db/colls/${levels.id}/docs/1`, { headers: keyHeader("x") }), 400, { message: mismatch });
  });

  it("paths that a key or a vector index cannot have", async () => {
    const partitionKey = (path) => ({ paths: [path, "/b"], kind: "MultiHash", version: 2 });
    await fails(at.db.containers.create({ id: "bad", partitionKey: partitionKey("a") }), 400,
      { message: /The partition key component definition path 'a' could not be accepted, failed near position '0'\./ });
    await fails(at.db.containers.create({ id: "bad", partitionKey: partitionKey("/a b") }), 400,
      { message: /near position '2'\. Partition key paths must contain only valid characters and not contain a trailing slash or wildcard character/ });
    answers(await at.rest("POST", "/dbs/db/colls", { body: { id: "bad", partitionKey: { paths: ["/pk"] },
      indexingPolicy: { vectorIndexes: [{ path: "/vector2", type: "flat" }] } } }), 400,
    { message: /vector2 not matching in Embedding's path/ });
  });
});
