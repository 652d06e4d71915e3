// A text with the same hash as another partition key: Murmur3 x64-128 run backwards, as anyone can.
// The C++ tests have the same in src/value/hash_twin.h, which explains it.
const mask = (1n << 64n) - 1n;
const c1 = 0x87c37b91114253d5n;
const c2 = 0x4cf5ad432745937fn;
const add1 = 0x52dce729n;
const add2 = 0x38495ab5n;

const low = (x) => x & mask;
const rotl = (x, by) => low(x << by) | (x >> (64n - by));
const rotr = (x, by) => rotl(x, 64n - by);

function inverse(of) {
  let result = of;
  for (let i = 0; i < 6; ++i) result = low(result * low(2n - of * result));
  return result;
}
const undo = { five: inverse(5n), c1: inverse(c1), c2: inverse(c2) };

const mix1 = (k) => low(rotl(low(k * c1), 31n) * c2);
const mix2 = (k) => low(rotl(low(k * c2), 33n) * c1);

function take([h1, h2], k1, k2) {
  h1 = low((rotl(h1 ^ mix1(k1), 27n) + h2) * 5n + add1);
  h2 = low((rotl(h2 ^ mix2(k2), 31n) + h1) * 5n + add2);
  return [h1, h2];
}

// The two words that lead from one state to another.
function wordsBetween([h1, h2], [end1, end2]) {
  const mixed1 = rotr(low(low((end1 - add1) * undo.five) - h2), 27n) ^ h1;
  const mixed2 = rotr(low(low((end2 - add2) * undo.five) - end1), 31n) ^ h2;
  return [low(rotr(low(mixed1 * undo.c2), 31n) * undo.c1), low(rotr(low(mixed2 * undo.c1), 33n) * undo.c2)];
}

const fmix = (h) => {
  h = low((h ^ (h >> 33n)) * 0xff51afd7ed558ccdn);
  h = low((h ^ (h >> 33n)) * 0xc4ceb9fe1a85ec53n);
  return h ^ (h >> 33n);
};
const unfmix = (h) => {
  h = low((h ^ (h >> 33n)) * inverse(0xc4ceb9fe1a85ec53n));
  h = low((h ^ (h >> 33n)) * inverse(0xff51afd7ed558ccdn));
  return h ^ (h >> 33n);
};

function tailWord(bytes) {
  let word = 0n;
  for (const [i, byte] of bytes.entries()) word |= BigInt(byte) << BigInt(8 * i);
  return word;
}

function murmur3(bytes) {
  let state = [0n, 0n];
  let at = 0;
  for (; at + 16 <= bytes.length; at += 16) state = take(state, bytes.readBigUInt64LE(at), bytes.readBigUInt64LE(at + 8));
  let [h1, h2] = state;
  const tail = bytes.subarray(at);
  if (tail.length > 8) h2 ^= mix2(tailWord(tail.subarray(8)));
  if (tail.length > 0) h1 ^= mix1(tailWord(tail.subarray(0, 8)));
  h1 ^= BigInt(bytes.length);
  h2 ^= BigInt(bytes.length);
  h1 = low(h1 + h2);
  h2 = low(h2 + h1);
  h1 = fmix(h1);
  h2 = fmix(h2);
  h1 = low(h1 + h2);
  return [h1, low(h2 + h1)];
}

// The bytes of a text that are hashed.
const tagged = (text) => Buffer.concat([Buffer.from([8]), Buffer.from(text), Buffer.from([255])]);

// Different for each `which`, a letter.
export function hashTwin(text, which = "a") {
  const wanted = murmur3(tagged(text));
  const length = 33n;
  let [h1, h2] = wanted;
  h2 = low(h2 - h1);
  h1 = low(h1 - h2);
  h1 = unfmix(h1);
  h2 = unfmix(h2);
  h2 = low(h2 - h1);
  h1 = low(h1 - h2);
  const end = [h1 ^ length ^ mix1(0xffn), h2 ^ length];
  const words = Buffer.alloc(16);
  for (let i = 0; ; ++i) {
    const first = `${which}${i.toString(36).padStart(14, ".")}`;
    const block = Buffer.from(`\x08${first}`);
    const state = take([0n, 0n], block.readBigUInt64LE(0), block.readBigUInt64LE(8));
    const [k1, k2] = wordsBetween(state, end);
    if ((k1 & 0x8080808080808080n) !== 0n || (k2 & 0x8080808080808080n) !== 0n) continue;
    words.writeBigUInt64LE(k1, 0);
    words.writeBigUInt64LE(k2, 8);
    if (words.includes(0) || words.includes(0x7f)) continue;
    const twin = first + words.toString("latin1");
    const found = murmur3(tagged(twin));
    if (found[0] !== wanted[0] || found[1] !== wanted[1]) throw new Error("the hash was run backwards wrongly");
    return twin;
  }
}
