// What is sent to a Table service to measure it: signed as a client of the vendor does (SharedKeyLite),
// to the emulator's account. A signature is good for 15 minutes, so requests are made anew for every run.
import { createHmac } from "node:crypto";

const account = "devstoreaccount1";
const key = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
const idCharacters = 20;

export const tableName = "bench";
export const insertPartitions = 1000;
export const loadedPartitions = 4;
export const loadedRows = 500;  // of each
export const batchSize = 100;

const partitionOf = (number) => `key-${String(number).padStart(4, "0")}`;
const rowOf = (number) => `row-${String(number).padStart(6, "0")}`;

function headers(path, date) {
  const signature = createHmac("sha256", Buffer.from(key, "base64")).update(`${date}\n/${account}${path}`).digest("base64");
  return {
    "x-ms-date": date,
    "x-ms-version": "2019-02-02",
    DataServiceVersion: "3.0",
    Accept: "application/json;odata=minimalmetadata",
    Authorization: `SharedKeyLite ${account}:${signature}`,
  };
}

function request(method, resource, { query = "", type, body, more = {} } = {}) {
  const path = `/${account}/${resource}`;
  const lines = Object.entries({
    ...headers(path, new Date().toUTCString()),
    ...more,
    ...(body === undefined ? {} : { "Content-Type": type, "Content-Length": lengthOf(body) }),
    Host: "127.0.0.1",
    Connection: "keep-alive",
  }).map(([name, value]) => `${name}: ${value}`);
  return `${method} ${path}${query} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n${body ?? ""}`;
}

// With what will stand for each @id.
const lengthOf = (body) => Buffer.byteLength(body) + (body.split("@id").length - 1) * (idCharacters - "@id".length);

// About 1 KB, with a property of most types.
function entity(partition, row) {
  return JSON.stringify({
    PartitionKey: partition,
    RowKey: row,
    kind: "order",
    customer: "Ada Lovelace",
    email: "ada@example.com",
    street: "12 St James's Square",
    "total@odata.type": "Edm.Int64",
    total: "279",
    weight: 19.25,
    paid: true,
    "placed@odata.type": "Edm.DateTime",
    placed: "2026-05-14T09:30:00.0000000Z",
    note: "brass gear ".repeat(63),
  });
}

const withoutContent = { Prefer: "return-no-content" };

// Each cut in two where the row key's text belongs.
export const insertRequests = () => Array.from({ length: insertPartitions }, (_, i) =>
  request("POST", tableName, { type: "application/json", body: entity(partitionOf(i), "@id"), more: withoutContent }).split("@id"));

export const getRequests = () => Array.from({ length: loadedPartitions * loadedRows }, (_, i) =>
  request("GET", `${tableName}(PartitionKey='${loadedPartition(i % loadedPartitions)}',RowKey='${rowOf(i % loadedRows)}')`));

export const scanRequests = () => Array.from({ length: loadedPartitions }, (_, i) =>
  request("GET", `${tableName}()`, { query: `?$filter=PartitionKey%20eq%20'${loadedPartition(i)}'` }));

export const batchRequests = () => Array.from({ length: 50 }, (_, i) =>
  batch(Array.from({ length: batchSize }, (_, j) => entity(`batch-${i}`, `@id-${j}`))));

const loadedPartition = (number) => `loaded-${number}`;

function batch(entities) {
  const parts = entities.map((body) => [
    "--changeset_1", "Content-Type: application/http", "Content-Transfer-Encoding: binary", "",
    `POST http://127.0.0.1/${account}/${tableName} HTTP/1.1`, "Content-Type: application/json",
    "Accept: application/json;odata=minimalmetadata", "Prefer: return-no-content", "DataServiceVersion: 3.0", "", body,
  ].join("\r\n"));
  const body = ["--batch_1", "Content-Type: multipart/mixed; boundary=changeset_1", "", ...parts, "--changeset_1--",
    "--batch_1--", ""].join("\r\n");
  return request("POST", "$batch", { type: "multipart/mixed; boundary=batch_1", body });
}

// Makes the table, and the entities that are read. `send` gives the answer to one request.
export async function load(send) {
  const expect = async (text, status) => {
    const answer = await send(text);
    if (answer.status !== status) throw new Error(`loading: ${answer.text.slice(0, 2000)}`);
    if (status === 202 && answer.text.includes("HTTP/1.1 4")) throw new Error(`loading: ${answer.text.slice(0, 2000)}`);
  };
  await expect(request("POST", "Tables", { type: "application/json", body: JSON.stringify({ TableName: tableName }), more: withoutContent }), 204);
  for (let partition = 0; partition < loadedPartitions; ++partition) {
    for (let row = 0; row < loadedRows; row += batchSize) {
      await expect(batch(Array.from({ length: batchSize }, (_, i) => entity(loadedPartition(partition), rowOf(row + i)))), 202);
    }
  }
}
