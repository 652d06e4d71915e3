// The Table face: entity group transactions. One server, some seconds.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { all, refused, sharedTables } from "./table.mjs";

describe("table batches", () => {
  const at = sharedTables();
  const rows = async (table) => (await all(table.listEntities())).map((one) => [one.rowKey, one.n]);

  it("D4: every kind of change in one transaction", async () => {
    const table = await at.table();
    const { etag } = await table.createEntity({ partitionKey: "a", rowKey: "etag", n: 0 });
    for (const rowKey of ["merge", "replace", "gone", "upsert"]) await table.createEntity({ partitionKey: "a", rowKey, n: 0, old: 1 });
    const key = (rowKey) => ({ partitionKey: "a", rowKey });
    const answer = await table.submitTransaction([
      ["create", { ...key("new"), n: 1 }], ["update", { ...key("merge"), n: 1 }, "Merge"],
      ["update", { ...key("replace"), n: 1 }, "Replace"], ["upsert", { ...key("upsert"), n: 1 }, "Merge"],
      ["upsert", { ...key("upsert new"), n: 1 }, "Merge"], ["upsert", { ...key("put"), n: 1 }, "Replace"],
      ["update", { ...key("etag"), n: 1 }, "Replace", { etag }], ["delete", key("gone")],
    ]);
    assert.equal(answer.status, 202);
    assert.equal(answer.subResponses.length, 8);
    for (const one of answer.subResponses) assert.equal(one.status, 204);
    assert.equal(answer.getResponseForEntity("new").etag, (await table.getEntity("a", "new")).etag);
    assert.equal(answer.getResponseForEntity("etag").etag, (await table.getEntity("a", "etag")).etag);
    assert.deepEqual(await rows(table),
      [["etag", 1], ["merge", 1], ["new", 1], ["put", 1], ["replace", 1], ["upsert", 1], ["upsert new", 1]]);
    assert.equal((await table.getEntity("a", "merge")).old, 1);
    assert.equal((await table.getEntity("a", "replace")).old, undefined);
  });

  it("D4: all or nothing, with the index of what failed", async () => {
    const table = await at.table();
    const { etag } = await table.createEntity({ partitionKey: "a", rowKey: "there", n: 0 });
    await table.updateEntity({ partitionKey: "a", rowKey: "there", n: 7 }, "Replace");
    const before = await rows(table);
    const good = ["create", { partitionKey: "a", rowKey: "good", n: 1 }];
    for (const [bad, status, code] of [
      [["create", { partitionKey: "a", rowKey: "there" }], 409, "EntityAlreadyExists"],
      [["update", { partitionKey: "a", rowKey: "missing" }, "Merge"], 404, "ResourceNotFound"],
      [["delete", { partitionKey: "a", rowKey: "missing" }], 404, "ResourceNotFound"],
      [["update", { partitionKey: "a", rowKey: "there" }, "Replace", { etag }], 412, "UpdateConditionNotSatisfied"],
      [["create", { partitionKey: "a", rowKey: "text", text: "x".repeat(32769) }], 400, "PropertyValueTooLarge"],
    ]) {
      const error = await refused(table.submitTransaction([good, ["upsert", { partitionKey: "a", rowKey: "other" }, "Merge"], bad]), status, code);
      assert.match(error.message, /2:/, code);
      assert.deepEqual(await rows(table), before, code);
    }
    await refused(table.submitTransaction([good, ["upsert", { partitionKey: "a", rowKey: "good" }, "Merge"]]).catch((error) => {
      // The client may find it itself.
      throw Object.assign(error, { statusCode: error.statusCode ?? 400 });
    }), 400);
    assert.deepEqual(await rows(table), before);
  });

  // Several operations as clients send them, by hand.
  function multipart(parts, { end = "\r\n", boundary = "batch_1" } = {}) {
    const lines = [`--${boundary}`, "Content-Type: multipart/mixed; boundary=changeset_1", ""];
    for (const [method, url, body, headers = {}] of parts) {
      lines.push("--changeset_1", "content-type: application/http", "Content-Transfer-Encoding: binary", "",
        `${method} ${url} HTTP/1.1`, "Accept: application/json;odata=minimalmetadata", "Content-Type: application/json",
        ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`), "", body === undefined ? "" : JSON.stringify(body));
    }
    lines.push("--changeset_1--", `--${boundary}--`, "");
    return { body: lines.join(end), headers: { "content-type": `multipart/mixed; boundary="${boundary}"` } };
  }

  it("D4: 100 entities and one partition are the limits; a row comes once", async () => {
    const table = await at.table();
    const url = `http://127.0.0.1/devstoreaccount1/${table.tableName}`;
    const insert = (PartitionKey, RowKey) => ["POST", url, { PartitionKey, RowKey, n: 1 }, { Prefer: "return-no-content" }];
    const code = async (parts, options) => {
      const answer = await at.raw("POST", "$batch", multipart(parts, options));
      return [answer.status, /"code":"(\w+)"/.exec(answer.text)?.[1]];
    };
    const many = (count) => Array.from({ length: count }, (_, i) => insert("a", String(i)));
    assert.equal((await code(many(101)))[1], "InvalidInput");
    assert.deepEqual((await code([insert("a", "1"), insert("b", "1")]))[1], "CommandsInBatchActOnDifferentPartitions");
    assert.deepEqual((await code([insert("a", "1"), insert("a", "1")]))[1], "InvalidDuplicateRow");
    assert.deepEqual(await rows(table), []);
    assert.deepEqual(await code(many(100)), [202, undefined]);
    assert.equal((await rows(table)).length, 100);
    // Lines that end in LF alone; MERGE by its own name and by X-HTTP-Method.
    const entity = `${url}(PartitionKey='a',RowKey='0')`;
    assert.deepEqual(await code([["MERGE", entity, { m: 1 }, { "if-match": "*" }]], { end: "\n", boundary: "any text" }), [202, undefined]);
    assert.deepEqual(await code([["POST", entity, { x: 1 }, { "X-HTTP-Method": "MERGE" }]]), [202, undefined]);
    const read = await table.getEntity("a", "0");
    assert.deepEqual([read.n, read.m, read.x], [1, 1, 1]);
  });

  it("D4: 4 MB are the limit, over many entities", async () => {
    const table = await at.table();
    const batch = (name, count) => Array.from({ length: count }, (_, i) =>
      ["create", { partitionKey: name, rowKey: String(i), one: "x".repeat(30_000), two: "x".repeat(30_000) }]);
    await refused(table.submitTransaction(batch("more", 72)), 413, "RequestBodyTooLarge");
    assert.equal((await table.submitTransaction(batch("less", 66))).status, 202);
    assert.deepEqual((await all(table.listEntities({ queryOptions: { select: ["PartitionKey"] } }))).map((one) => one.partitionKey),
      Array.from({ length: 66 }, () => "less"));
  });

  it("a query may stand alone in a batch", async () => {
    const table = await at.table();
    await table.createEntity({ partitionKey: "a", rowKey: "1", n: 5 });
    const lone = (path) => at.raw("POST", "$batch", {
      body: ["--b", "Content-Type: application/http", "", `GET http://127.0.0.1/devstoreaccount1/${path} HTTP/1.1`,
        "Accept: application/json;odata=nometadata", "", "", "--b--", ""].join("\r\n"),
      headers: { "content-type": "multipart/mixed; boundary=b" },
    });
    const point = await lone(`${table.tableName}(PartitionKey='a',RowKey='1')`);
    assert.equal(point.status, 202);
    assert.match(point.text, /HTTP\/1.1 200 OK[^]*"n":5/);
    assert.match((await lone(`${table.tableName}()?$filter=n%20eq%205`)).text, /"value":\[\{"PartitionKey":"a"/);
    assert.match((await lone(`${table.tableName}(PartitionKey='a',RowKey='2')`)).text, /HTTP\/1.1 404[^]*ResourceNotFound/);
  });

  it("D4: transfers that race keep the sum", async () => {
    const table = await at.table();
    const accounts = 5, each = 100;
    for (let i = 0; i < accounts; ++i) await table.createEntity({ partitionKey: "bank", rowKey: String(i), n: each });
    const transfer = async (from, to) => {
      for (;;) {
        const [a, b] = await Promise.all([table.getEntity("bank", from), table.getEntity("bank", to)]);
        try {
          await table.submitTransaction([
            ["update", { partitionKey: "bank", rowKey: from, n: a.n - 1 }, "Merge", { etag: a.etag }],
            ["update", { partitionKey: "bank", rowKey: to, n: b.n + 1 }, "Merge", { etag: b.etag }]]);
          return;
        } catch (error) {
          if (error.statusCode !== 412) throw error;
        }
      }
    };
    await Promise.all(Array.from({ length: 8 }, async (_, worker) => {
      for (let i = 0; i < 10; ++i) await transfer(String((worker + i) % accounts), String((worker * 3 + i + 1) % accounts === (worker + i) % accounts ? (worker + i + 1) % accounts : (worker * 3 + i + 1) % accounts));
    }));
    assert.equal((await all(table.listEntities())).reduce((sum, one) => sum + one.n, 0), accounts * each);
  });
});
