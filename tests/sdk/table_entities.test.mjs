// The Table face: tables and entities with the vendor's client. One server, some seconds.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { all, refused, sharedTables, tableClient } from "./table.mjs";

describe("table entities", () => {
  const at = sharedTables();

  it("B2 D2: a table is made if absent, an entity is found by its two keys", async () => {
    const table = tableClient(at.server, "Redmond");
    await table.createTable();
    await table.createTable();  // the client takes TableAlreadyExists for success
    const made = await at.raw("POST", "Tables", { body: { TableName: "redMOND" } });
    assert.equal(made.status, 409);
    assert.equal(made.json["odata.error"].code, "TableAlreadyExists");
    const inserted = await table.createEntity({ partitionKey: "a", rowKey: "1", city: "Roma" });
    const read = await table.getEntity("a", "1");
    assert.equal(read.city, "Roma");
    assert.equal(read.etag, inserted.etag);
    assert.equal(decodeURIComponent(read.etag), `W/"datetime'${read.timestamp}'"`);
    // A PartitionKey that nobody has used needs no step.
    await table.createEntity({ partitionKey: "never seen", rowKey: "1" });
    await refused(table.createEntity({ partitionKey: "a", rowKey: "1" }), 409, "EntityAlreadyExists");
    await refused(table.getEntity("a", "2"), 404, "ResourceNotFound");
  });

  it("tables are listed, filtered, paged, read and deleted; names compare without case", async () => {
    for (const name of ["ListA", "listB", "listc"]) await at.service.createTable(name);
    const names = async (filter) =>
      (await all(at.service.listTables({ queryOptions: { filter } }))).map((one) => one.name);
    assert.deepEqual(await names("TableName ge 'listB' and TableName lt 'list~'"), ["listB", "listc"]);
    assert.ok((await names()).includes("ListA"));
    const pages = await all(at.service.listTables({ queryOptions: { filter: "TableName ge 'list' or TableName eq 'ListA'" } })
      .byPage({ maxPageSize: 1 }));
    assert.deepEqual(pages.flat().map((one) => one.name), ["ListA", "listB", "listc"]);
    assert.equal((await at.raw("GET", "Tables('LISTa')")).json.TableName, "ListA");
    await at.service.deleteTable("lista");
    assert.equal((await at.raw("GET", "Tables('ListA')")).status, 404);
    assert.equal((await at.raw("DELETE", "Tables('ListA')")).json["odata.error"].code, "ResourceNotFound");
    await refused(tableClient(at.server, "ListA").createEntity({ partitionKey: "a", rowKey: "1" }), 404, "TableNotFound");
    for (const [name, code] of [["ab", "OutOfRangeInput"], ["1abc", "InvalidResourceName"], ["a-bc", "InvalidResourceName"],
      ["tables", "InvalidResourceName"], ["a".repeat(64), "OutOfRangeInput"]]) {
      const made = await at.raw("POST", "Tables", { body: { TableName: name } });
      assert.deepEqual([made.status, made.json["odata.error"].code], [400, code], name);
    }
  });

  it("every EDM type comes back digit by digit", async () => {
    const table = await at.table();
    const entity = {
      partitionKey: "types", rowKey: "1",
      text: "Übermütige 🐄 \"quoted\" \\ \u0001", empty: "", yes: true, no: false, int: -2147483648, half: 1.5,
      whole: { type: "Double", value: "5.0" }, nan: { type: "Double", value: "NaN" },
      up: { type: "Double", value: "Infinity" }, down: { type: "Double", value: "-Infinity" },
      small: 5e-324, large: 1.7976931348623157e308,
      big: 9223372036854775807n, bigger: -9223372036854775808n, odd: { type: "Int64", value: "9007199254740993" },
      date: { type: "DateTime", value: "2026-11-15T17:13:05.1979943Z" }, old: { type: "DateTime", value: "1601-01-01T00:00:00Z" },
      guid: { type: "Guid", value: "6f9619ff-8b86-d011-b42d-00cf4fc964ff" },
      bytes: new Uint8Array([0, 1, 254, 255]),
    };
    await table.createEntity(entity);
    const read = await table.getEntity("types", "1", { disableTypeConversion: true });
    const values = (name) => read[name]?.value ?? read[name];
    assert.equal(values("text"), entity.text);
    assert.equal(values("empty"), "");
    assert.equal(String(values("int")), "-2147483648");
    assert.equal(Number(values("half")), 1.5);
    for (const [name, type, text] of [["whole", "Double", "5"], ["nan", "Double", "NaN"], ["up", "Double", "Infinity"],
      ["down", "Double", "-Infinity"], ["big", "Int64", "9223372036854775807"], ["bigger", "Int64", "-9223372036854775808"],
      ["odd", "Int64", "9007199254740993"], ["date", "DateTime", "2026-11-15T17:13:05.1979943Z"],
      ["old", "DateTime", "1601-01-01T00:00:00Z"], ["guid", "Guid", "6f9619ff-8b86-d011-b42d-00cf4fc964ff"],
      ["bytes", "Binary", "AAH+/w=="]]) {
      assert.deepEqual([read[name].type, String(read[name].value)], [type, text], name);
    }
    assert.equal(Number(values("small")), 5e-324);
    assert.equal(Number(values("large")), 1.7976931348623157e308);
    const converted = await table.getEntity("types", "1");
    assert.equal(converted.big, 9223372036854775807n);
    assert.deepEqual([...converted.bytes], [0, 1, 254, 255]);
  });

  it("metadata levels, $select and Prefer", async () => {
    const table = await at.table();
    const path = `${table.tableName}(PartitionKey='a',RowKey='1')`;
    const accept = (level) => ({ headers: { accept: `application/json;odata=${level}` } });
    const insert = (row, headers) => at.raw("POST", table.tableName, {
      body: { PartitionKey: "a", RowKey: row, "n@odata.type": "Edm.Int64", n: "5", s: "x", gone: null,
        Timestamp: "2000-01-01T00:00:00Z", "odata.etag": "W/\"mine\"" }, headers,
    });
    const inserted = await insert("1");
    assert.equal(inserted.status, 201);
    assert.equal(inserted.json["odata.etag"], inserted.headers.get("etag"));
    assert.equal(inserted.json.n, "5");
    assert.notEqual(inserted.json.Timestamp, "2000-01-01T00:00:00Z");
    assert.ok(!("gone" in inserted.json));
    const quiet = await insert("2", { prefer: "return-no-content" });
    assert.deepEqual([quiet.status, quiet.text, quiet.headers.get("preference-applied")], [204, "", "return-no-content"]);
    assert.equal((await insert("3", { prefer: "return-content" })).headers.get("preference-applied"), "return-content");

    const none = (await at.raw("GET", path, accept("nometadata"))).json;
    assert.deepEqual(Object.keys(none), ["PartitionKey", "RowKey", "Timestamp", "n", "s"]);
    const minimal = (await at.raw("GET", path, accept("minimalmetadata"))).json;
    assert.deepEqual(Object.keys(minimal),
      ["odata.metadata", "odata.etag", "PartitionKey", "RowKey", "Timestamp", "n@odata.type", "n", "s"]);
    const full = await at.raw("GET", path, accept("fullmetadata"));
    for (const name of ["odata.type", "odata.id", "odata.editLink", "Timestamp@odata.type"]) assert.ok(full.json[name], name);
    assert.match(full.headers.get("content-type"), /odata=fullmetadata/);
    assert.deepEqual(Object.keys((await at.raw("GET", `${path}?$format=application/json;odata=nometadata`)).json), Object.keys(none));
    assert.deepEqual(Object.keys((await at.raw("GET", `${path}?$select=s,missing`, accept("nometadata"))).json), ["s"]);
    assert.deepEqual(Object.keys((await at.raw("GET", `${path}?$select=`, accept("nometadata"))).json), Object.keys(none));
    const atom = await at.raw("GET", path, { headers: { accept: "application/atom+xml" } });
    assert.equal(atom.status, 415);
    assert.match(atom.text, /<m:code>AtomFormatNotSupported<\/m:code>/);
  });

  it("replace, merge, both kinds of upsert and delete, by etag and without", async () => {
    const table = await at.table();
    const key = { partitionKey: "a", rowKey: "1" };
    const shown = async () => {
      const { etag, timestamp, partitionKey, rowKey, ...rest } = await table.getEntity("a", "1");
      for (const name of Object.keys(rest)) if (name.startsWith("odata")) delete rest[name];
      return rest;
    };
    await refused(table.updateEntity({ ...key, x: 1 }, "Merge"), 404, "ResourceNotFound");
    await refused(table.updateEntity({ ...key, x: 1 }, "Replace"), 404, "ResourceNotFound");
    const first = await table.upsertEntity({ ...key, x: 1, y: 1 }, "Merge");
    assert.deepEqual(await shown(), { x: 1, y: 1 });
    await table.upsertEntity({ ...key, y: 2, z: 2 }, "Merge");
    assert.deepEqual(await shown(), { x: 1, y: 2, z: 2 });
    await refused(table.updateEntity({ ...key, x: 3 }, "Merge", { etag: first.etag }), 412, "UpdateConditionNotSatisfied");
    await refused(table.updateEntity({ ...key, x: 3 }, "Replace", { etag: first.etag }), 412, "UpdateConditionNotSatisfied");
    await refused(table.deleteEntity("a", "1", { etag: first.etag }), 412, "UpdateConditionNotSatisfied");
    const { etag } = await table.getEntity("a", "1");
    const merged = await table.updateEntity({ ...key, x: "text now" }, "Merge", { etag });
    assert.deepEqual(await shown(), { x: "text now", y: 2, z: 2 });
    const replaced = await table.updateEntity({ ...key, only: true }, "Replace", { etag: merged.etag });
    assert.deepEqual(await shown(), { only: true });
    await table.upsertEntity({ ...key, last: 1 }, "Replace");
    assert.deepEqual(await shown(), { last: 1 });
    await refused(table.deleteEntity("a", "1", { etag: replaced.etag }), 412, "UpdateConditionNotSatisfied");
    await table.deleteEntity("a", "1");
    await refused(table.deleteEntity("a", "1"), 404, "ResourceNotFound");

    const path = `${table.tableName}(PartitionKey='a',RowKey='1')`;
    await table.createEntity(key);
    assert.equal((await at.raw("DELETE", path)).status, 400);
    assert.equal((await at.raw("DELETE", path, { headers: { "if-match": "odd" } })).json["odata.error"].code, "InvalidInput");
    assert.equal((await at.raw("DELETE", path, { headers: { "if-match": "W/\"odd\"" } })).status, 412);
    for (const [method, headers] of [["MERGE", {}], ["PATCH", {}], ["POST", { "x-http-method": "MERGE" }]]) {
      const changed = await at.raw(method, path, { body: { [`by${method}`]: 1 }, headers });
      assert.equal(changed.status, 204, method);
    }
    assert.deepEqual(await shown(), { byMERGE: 1, byPATCH: 1, byPOST: 1 });
  });

  it("D1: keys of any text, also empty and with quotes; what keys may not have is refused", async () => {
    const table = await at.table();
    const keys = ["", "it''s", "O'Neil", "100%", "a b", "Ä🐄", "a&b=c+d", "%25", "k".repeat(1024)];
    for (const key of keys) {
      await table.createEntity({ partitionKey: key, rowKey: key, key });
      assert.equal((await table.getEntity(key, key)).key, key);
    }
    const order = (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b));
    assert.deepEqual((await all(table.listEntities())).map((one) => one.partitionKey), [...keys].sort(order));
    for (const key of keys) await table.deleteEntity(key, key);
    assert.deepEqual(await all(table.listEntities()), []);
    for (const key of ["a/b", "a\\b", "a#b", "a?b", "a\tb", "a\u0085b"]) {
      await refused(table.createEntity({ partitionKey: key, rowKey: "1" }), 400, "InvalidInput");
      await refused(table.createEntity({ partitionKey: "1", rowKey: key }), 400, "InvalidInput");
    }
    await refused(table.createEntity({ partitionKey: "k".repeat(1025), rowKey: "1" }), 400, "KeyValueTooLarge");
  });

  it("the limits of an entity", async () => {
    const table = await at.table();
    const properties = (count) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, i]));
    await table.createEntity({ partitionKey: "a", rowKey: "1", ...properties(252) });
    await refused(table.createEntity({ partitionKey: "a", rowKey: "2", ...properties(253) }), 400, "TooManyProperties");
    await refused(table.updateEntity({ partitionKey: "a", rowKey: "1", one: 1 }, "Merge"), 400, "TooManyProperties");
    await table.createEntity({ partitionKey: "a", rowKey: "3", text: "x".repeat(32768), bytes: new Uint8Array(65536) });
    await refused(table.createEntity({ partitionKey: "a", rowKey: "4", text: "x".repeat(32769) }), 400, "PropertyValueTooLarge");
    await refused(table.createEntity({ partitionKey: "a", rowKey: "4", bytes: new Uint8Array(65537) }), 400, "PropertyValueTooLarge");
    const large = Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`t${i}`, "x".repeat(32768)]));
    await refused(table.createEntity({ partitionKey: "a", rowKey: "4", ...large }), 400, "EntityTooLarge");
    const bad = (body) => at.raw("POST", table.tableName, { body });
    for (const [body, code] of [
      [{ PartitionKey: "a" }, "PropertiesNeedValue"],
      [{ PartitionKey: "a", RowKey: "5", "1a": 1 }, "PropertyNameInvalid"],
      [{ PartitionKey: "a", RowKey: "5", ["n".repeat(256)]: 1 }, "PropertyNameTooLong"],
      [{ PartitionKey: "a", RowKey: "5", d: "yesterday", "d@odata.type": "Edm.DateTime" }, "InvalidInput"],
      [{ PartitionKey: "a", RowKey: "5", n: "9223372036854775808", "n@odata.type": "Edm.Int64" }, "InvalidInput"],
      [{ PartitionKey: "a", RowKey: "5", list: [1] }, "InvalidInput"],
      ["{", "InvalidInput"],
    ]) {
      const answer = await bad(body);
      assert.deepEqual([answer.status, answer.json["odata.error"].code], [400, code], JSON.stringify(body).slice(0, 80));
      assert.equal(answer.headers.get("x-ms-error-code"), code);
    }
  });

  it("a body over 4 MB is refused in the form of this service", async () => {
    const table = await at.table();
    const large = await refused(table.createEntity({ partitionKey: "a", rowKey: "1", text: "x".repeat(5 << 20) }), 413);
    assert.match(large.message, /RequestBodyTooLarge/);
    const many = Array.from({ length: 50 }, (_, i) => ["create", { partitionKey: "a", rowKey: String(i), a: "x".repeat(32768), b: "x".repeat(32768), c: "x".repeat(32768) }]);
    assert.equal((await refused(table.submitTransaction(many), 413)).code, "RequestBodyTooLarge");
  });

  it("every version of the API is accepted", async () => {
    const table = await at.table();
    for (const version of ["2009-09-19", "2019-02-02", "2099-12-31"]) {
      const listed = await at.raw("GET", `${table.tableName}()`, { headers: { "x-ms-version": version } });
      assert.deepEqual([listed.status, listed.headers.get("x-ms-version")], [200, "2026-06-06"]);
    }
    for (const version of ["newest", "2019-02-2", "2019-02-02x"]) {
      const refused = await at.raw("GET", `${table.tableName}()`, { headers: { "x-ms-version": version } });
      assert.deepEqual([refused.status, refused.headers.get("x-ms-error-code")], [400, "InvalidHeaderValue"], version);
    }
  });
});
