// The MongoDB face beside FerretDB over PostgreSQL (durable) and mongo-java-server (in memory), which mongo_peers.mjs fetches, and
// the Cosmos face of the same server. A peer that cannot be had is said so, and left out.
//
//   ORRERY_BENCH_DOCUMENTS (100,000)
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

import { createRequests, nextTag, run } from "./load.mjs";
import { startFerret, startJavaServer } from "./mongo_peers.mjs";
import { lowToHigh, median, medians, ms, ratio, table, verdict, whole } from "./report.mjs";
import { freePort, output, startServer } from "./server.mjs";

const { BSON, MongoClient } = createRequire(fileURLToPath(new URL("../tests/sdk/x.js", import.meta.url)))("mongodb");

const documents = Number(process.env.ORRERY_BENCH_DOCUMENTS ?? 100_000);
const connections = 64;
const few = 4;  // where an answer takes long: a short run still gets some of every one
const fewest = 2;
const batch = 1_000;
const span = 100;  // documents of a range
const groups = 100;
const messages = 2_000;  // that are made for each kind; they are sent again and again
const ferretTarget = 5;
const javaTarget = 1;
const cosmosTarget = 0.8;

export const title = "The MongoDB face";
export const about = `bench/mongo_load.cc, one thread, ${connections} connections (${few} for batches, ${fewest} for ranges and groups), one message under way on each, as drivers send them but without a session, ` +
  `documents of 1 KB, ${whole(documents)} of them in the collection that is read, with an index on a number. A range is of ${span} ` +
  `documents by that index; $group sums and counts all documents in ${groups} groups. FerretDB 1.24 over PostgreSQL 15 is ` +
  "durable, as Orrery is; its table has an index on _id that serves its queries, made by hand, for its own does not (bench/mongo_peers.mjs); " +
  "ranges and groups scan whatever index there is, for it asks PostgreSQL for all documents; mongo-java-server 1.47 keeps everything in memory. The Cosmos face of the same server creates items of " +
  "1 KB. All take turns. Figures are documents a second; of ranges and groups, commands.";

const filler = "x".repeat(900);
const placeholder = new BSON.ObjectId("ee".repeat(12));
// Of the document with this number, in the order of numbers.
const idOf = (n) => new BSON.ObjectId(n.toString(16).padStart(24, "0"));
const document = (id, n) => ({ _id: id, n, group: `g${n % groups}`, amount: n / 7, at: new Date(1.7e12 + n), filler });

// A number that is the same for the same seed, whoever is measured.
function numbers(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor(state / 2 ** 32 * below);
  };
}

// As drivers send it: what a write is of in a section of its own.
function message({ documents: made, updates, ...command }) {
  const body = Buffer.concat([Buffer.from([0]), BSON.serialize({ ...command, $db: "bench" })]);
  const sequences = Object.entries({ documents: made, updates }).filter(([, list]) => list).map(([name, list]) => {
    const rest = Buffer.concat([Buffer.from(`${name}\0`), ...list.map((one) => BSON.serialize(one))]);
    const head = Buffer.alloc(5);
    head[0] = 1;
    head.writeInt32LE(4 + rest.length, 1);
    return Buffer.concat([head, rest]);
  });
  const all = Buffer.concat([Buffer.alloc(20), body, ...sequences]);
  all.writeInt32LE(all.length, 0);
  all.writeInt32LE(1, 4);
  all.writeInt32LE(2013, 12);
  return all;
}

const many = (count, make) => {
  const random = numbers(7);
  return Array.from({ length: count }, (_, i) => make(random, i));
};

const kinds = [
  { name: "single inserts, durable", cosmos: true, expected: { n: 1 },
    commands: () => many(100, (random, i) => ({ insert: "made", documents: [document(placeholder, i)] })) },
  { name: `inserts in batches of ${whole(batch)}`, open: few, each: batch, expected: { n: batch },
    commands: () => [{ insert: "made", documents: Array.from({ length: batch }, (_, i) => document(placeholder, i)) }] },
  { name: "reads by _id", isRead: true, found: 1,
    commands: () => many(messages, (random) => ({ find: "read", filter: { _id: idOf(random(documents)) }, limit: 1, singleBatch: true })) },
  { name: "updates by _id", expected: { n: 1 },
    commands: () => many(messages, (random) => ({ update: "read", updates: [{ q: { _id: idOf(random(documents)) }, u: { $inc: { changes: 1 } } }] })) },
  { name: `indexed ranges of ${span}`, isRead: true, open: fewest, found: span,
    commands: () => many(messages, (random) => {
      const from = random(documents - span);
      return { find: "read", filter: { n: { $gte: from, $lt: from + span } }, batchSize: 2 * span };
    }) },
  { name: `$group over ${whole(documents)}`, isRead: true, open: fewest, found: groups,
    commands: () => [{ aggregate: "read", cursor: { batchSize: 2 * groups },
      pipeline: [{ $group: { _id: "$group", sum: { $sum: "$amount" }, count: { $sum: 1 } } }] }] },
];

async function prepare(side, folder) {
  side.client = new MongoClient(`mongodb://127.0.0.1:${side.port}/?directConnection=true`, { retryWrites: false });
  const db = side.client.db("bench");
  await db.collection("read").createIndex({ n: 1 });
  for (let from = 0; from < documents; from += batch) {
    await db.collection("read").insertMany(Array.from({ length: Math.min(batch, documents - from) }, (_, i) => document(idOf(from + i), from + i)));
  }
  await side.loaded?.();
  for (const [at, kind] of kinds.entries()) {
    const commands = kind.commands();
    writeFileSync(`${folder}/messages-${at}`, Buffer.concat(commands.map(message).flatMap((bytes) => {
      const length = Buffer.alloc(4);
      length.writeUInt32LE(bytes.length);
      return [length, bytes];
    })));
    // One is looked at more closely than the load does.
    const { documents: made, ...first } = commands[0];
    const { cursor, ...answer } = await db.command({ ...first, ...(made ? { documents: made.map((one) => ({ ...one, _id: new BSON.ObjectId() })) } : {}) });
    if (kind.found && cursor.firstBatch.length !== kind.found) throw new Error(`${kind.name}: found ${cursor.firstBatch.length}`);
    if (kind.expected && answer.n !== kind.expected.n) throw new Error(`${kind.name}: ${JSON.stringify(answer)}`);
  }
  await side.client.close();
}

let tags = 0;
async function load(programs, side, folder, at, seconds) {
  const kind = kinds[at];
  const before = side.cpu_us?.();
  const printed = await output(programs.mongoLoad, String(side.port), String(seconds), String(kind.open ?? connections), String(++tags),
    `${folder}/messages-${at}`);
  const result = JSON.parse(printed);
  if (result.requests === 0 || result.refused > 0) throw new Error(`${kind.name}: ${result.refused} of ${result.requests} were refused`);
  return { perSecond: result.requests / (result.us / 1e6), p50_us: result.p50_us,
    cpu_us: before === undefined ? 0 : (side.cpu_us() - before) / result.requests };
}

export async function measure({ programs, folder, rounds, seconds }) {
  await output(programs.loader, "--data", `${folder}/data`, "--items", "1000", "--sample", programs.sample);
  const mongoPort = await freePort();
  const server = await startServer(programs, `${folder}/data`, "--mongo-port", String(mongoPort));
  const sides = { ours: { port: mongoPort, cpu_us: () => server.cpu_us(), stop: () => server.stop() } };
  const missing = [];
  for (const [name, start] of [["ferret", startFerret], ["java", startJavaServer]]) {
    try {
      sides[name] = await start(`${folder}/${name}`);
    } catch (error) {
      missing.push(`${name}: ${error.message.split("\n")[0]}`);
    }
  }
  for (const side of Object.values(sides)) await prepare(side, folder);
  const results = kinds.map(() => ({ ours: [], ferret: [], java: [], cosmos: [] }));
  for (let round = 0; round <= rounds; ++round) {
    for (const [at, kind] of kinds.entries()) {
      for (const [name, side] of Object.entries(sides)) {
        // The first round only warms up. FerretDB reads all documents for a range: that takes too long to be done for nothing.
        if (round === 0 && name === "ferret" && kind.open === fewest) continue;
        const result = await load(programs, side, folder, at, round === 0 ? 1 : seconds);
        if (round > 0) results[at][name].push(result);
      }
      if (!kind.cosmos) continue;
      const result = await run(server, "create.lua", createRequests({}), folder, { seconds: round === 0 ? 1 : seconds, tag: nextTag() });
      if (round > 0) results[at].cosmos.push(result);
    }
  }
  for (const side of Object.values(sides)) await side.stop();
  const rows = kinds.map((kind, at) => rowOf(kind, results[at]));
  const said = missing.map((text) => `\n\nNot there: ${text}.`).join("");
  return table([["", "Orrery/s", "p50", "CPU µs", "FerretDB/s", "ratio", "java-server/s", "ratio", "Cosmos face/s", "ratio"], ...rows]) + said;
}

function rowOf(kind, { ours, ferret, java, cosmos }) {
  const perSecond = (results) => {
    if (results.length === 0) return "";
    const figure = medians(results).perSecond * (kind.each ?? 1);
    return figure < 10 ? figure.toFixed(2) : whole(figure);
  };
  const compared = (other, target) => {
    if (other.length === 0) return "";
    const each = ours.map((result, i) => result.perSecond / other[i].perSecond);
    const text = `**${ratio(median(each))}** (${lowToHigh(each, ratio)})`;
    return target === undefined ? text : verdict(median(each) >= target, `${text}, target ≥ ${target}`);
  };
  return [kind.name, perSecond(ours), ms(medians(ours).p50_us), medians(ours).cpu_us.toFixed(0), perSecond(ferret), compared(ferret, ferretTarget),
    perSecond(java), compared(java, kind.isRead ? javaTarget : undefined), perSecond(cosmos), compared(cosmos, cosmosTarget)];
}
