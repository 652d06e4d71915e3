// HybridRow for tests: batches as .NET clients send them, and their results. The layout is at the head of
// src/api/cosmos/wire/hybrid_batch.h.
import assert from "node:assert/strict";
import { crc32 as zlibCrc32 } from "node:zlib";

export const operations = { Create: 0, Patch: 1, Read: 2, Delete: 4, Replace: 5, Upsert: 20 };

const crcTable = Array.from({ length: 256 }, (_, n) => {
  for (let bit = 0; bit < 8; ++bit) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n >>> 0;
});
const crc32 = zlibCrc32 ?? ((bytes) => {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = crcTable[(crc ^ byte) & 0xff] ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
});

const u32 = (value) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};

function counted(text) {
  const bytes = Buffer.from(text);
  const count = [];
  let left = bytes.length;
  for (; left >= 0x80; left >>>= 7) count.push((left & 0x7f) | 0x80);
  return Buffer.concat([Buffer.from([...count, left]), bytes]);
}

const head = (schema) => Buffer.concat([Buffer.from([0x81]), u32(schema)]);
const segment = Buffer.concat([head(2147473648), Buffer.from([1]), u32(10)]);

function rowOf({ operationType, partitionKey, id, resourceBody, ifMatch, ifNoneMatch, minimalReturnPreference }) {
  const body = resourceBody === undefined || Buffer.isBuffer(resourceBody) ? resourceBody : JSON.stringify(resourceBody);
  const variable = [[0x04, partitionKey], [0x10, id], [0x40, body]].filter(([, value]) => value !== undefined);
  const sparse = [[9, ifMatch], [10, ifNoneMatch]].filter(([, value]) => value !== undefined)
    .map(([field, text]) => Buffer.concat([Buffer.from([20, field]), counted(text)]));
  if (minimalReturnPreference !== undefined) sparse.push(Buffer.from([minimalReturnPreference ? 3 : 2, 12]));
  return Buffer.concat([
    head(2145473648), Buffer.from([variable.reduce((bits, [bit]) => bits | bit, 3)]),
    u32(operations[operationType]), u32(2), ...variable.map(([, value]) => counted(value)), ...sparse,
  ]);
}

// A batch of operations such as those of a batch in JSON; `partitionKey` is a text with a JSON array.
export function encodeBatch(list) {
  return Buffer.concat([segment, ...list.map((operation) => {
    const row = rowOf(operation);
    return Buffer.concat([head(2147473649), u32(row.length), u32(crc32(row)), row]);
  })]);
}

// The results in an answer, as those of a batch in JSON; `raw` is the item's bytes.
export function decodeResults(bytes) {
  assert.deepEqual(bytes.subarray(0, 10), segment);
  const results = [];
  for (let at = 10; at < bytes.length;) {
    assert.deepEqual(bytes.subarray(at, at + 5), head(2147473649));
    const length = bytes.readUInt32LE(at + 5);
    const row = bytes.subarray(at + 13, at + 13 + length);
    assert.equal(row.length, length);
    assert.equal(bytes.readUInt32LE(at + 9), crc32(row));
    results.push(decodeRow(row));
    at += 13 + length;
  }
  return results;
}

function decodeRow(row) {
  assert.deepEqual(row.subarray(0, 5), head(2145473649));
  const presence = row[5];
  const result = { statusCode: row.readInt32LE(6), subStatusCode: row.readInt32LE(10) };
  let at = 14;
  const take = () => {
    let length = 0;
    let shift = 0;
    do length |= (row[at] & 0x7f) << shift, shift += 7; while (row[at++] & 0x80);
    at += length;
    assert.ok(at <= row.length);
    return row.subarray(at - length, at);
  };
  if (presence & 4) result.eTag = take().toString();
  if (presence & 8) {
    result.raw = take();
    if (result.raw[0] === 0x7b) result.resourceBody = JSON.parse(result.raw);
  }
  while (at < row.length) {
    const [type, field] = [row[at++], row[at++]];
    if (type === 11 && field === 5) result.retryAfterMilliseconds = row.readUInt32LE(at), at += 4;
    else if (type === 16 && field === 6) result.requestCharge = row.readDoubleLE(at), at += 8;
    else assert.fail(`a field ${field} of type ${type}`);
  }
  return result;
}
