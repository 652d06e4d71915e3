// Queries against PostgreSQL with the same documents as jsonb, and how both grow.
import { authorization } from "../tests/sdk/rest.mjs";
import { answerTo, run } from "./load.mjs";
import { Postgres } from "./postgres.mjs";
import { medians, ms, ratio, table, verdict, whole } from "./report.mjs";
import { key, output, sleep, startServer } from "./server.mjs";
import { split } from "./splits.mjs";

const clients = 8;

export const title = "Queries";
export const about = `Documents of about 1 KB in one container (default indexing), and in one PostgreSQL table as ` +
  "jsonb with a GIN index and an index for each expression that is asked for, vacuumed and analyzed; each has 4 GB " +
  `for caching. ${clients} clients each: wrk with signed requests, pgbench with prepared statements over a Unix ` +
  "socket. Every answer has whole documents, but for the counts. Values are chosen at random, the same way for both. " +
  "Over several partitions one request is answered from all of them, once what follows their splits is done; " +
  "PostgreSQL answers from a table in as many partitions by the hash of the same key, and from its one table.";

// `sql` and `postgres` take one number below `values(items)`. `rows` is what an answer holds.
const cases = [
  {
    name: "equality, 10 rows", rows: () => 10, values: (items) => items / 10,
    sql: "SELECT * FROM c WHERE c.batch = @v",
    postgres: "SELECT doc FROM items WHERE (doc->>'batch')::bigint = :v",
  },
  {
    name: "range, 100 rows", rows: () => 100, values: (items) => items - 100,
    sql: "SELECT * FROM c WHERE c.serial >= @v AND c.serial < @v + 100",
    postgres: "SELECT doc FROM items WHERE (doc->>'serial')::bigint >= :v AND (doc->>'serial')::bigint < :v + 100",
  },
  {
    name: "ORDER BY, first 10", rows: () => 10, values: () => 1,
    sql: "SELECT * FROM c ORDER BY c.score DESC OFFSET 0 LIMIT 10",
    postgres: "SELECT doc FROM items ORDER BY (doc->>'score')::float8 DESC OFFSET 0 LIMIT 10",
  },
  {
    name: "COUNT(1) of one group in 100", rows: () => 1, values: () => 100,
    sql: "SELECT VALUE COUNT(1) FROM c WHERE c[\"group\"] = CONCAT(\"group-\", ToString(@v))",
    postgres: "SELECT count(1) FROM items WHERE doc->>'group' = 'group-' || (:v)::text",
  },
  {
    name: "GROUP BY, 100 groups", rows: () => 100, values: () => 1, slow: true,
    sql: "SELECT c[\"group\"] AS g, COUNT(1) AS n FROM c GROUP BY c[\"group\"]",
    postgres: "SELECT doc->>'group', count(1) FROM items GROUP BY doc->>'group'",
  },
];
const fanOut = cases[0];

// Values spread over all there are, the same in every run.
function* spread(count, values) {
  let state = 42;
  for (let i = 0; i < count; ++i) {
    state = (state * 48271) % 2147483647;
    yield state % values;
  }
}

function requests(one, items) {
  const date = new Date().toUTCString();
  const link = "dbs/bench/colls/c0";
  const values = one.values(items);
  return [...spread(Math.min(values, 20_000), values)].map((value) => {
    const body = JSON.stringify({ query: one.sql, parameters: [{ name: "@v", value }] });
    return [
      `POST /${link}/docs HTTP/1.1`,
      "Content-Type: application/query+json",
      "x-ms-documentdb-isquery: True",
      "x-ms-documentdb-query-enablecrosspartition: true",
      "x-ms-max-item-count: 1000",
      "x-ms-version: 2020-07-15",
      "x-orrery-whole-query: true",
      `x-ms-date: ${date}`,
      `authorization: ${authorization(key, "POST", { type: "docs", link }, date)}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      "Host: 127.0.0.1:8081",
    ].join("\r\n") + "\r\n\r\n" + body;
  });
}

// Both give the same number of rows, or the comparison means nothing.
async function check(server, postgres, one, items) {
  const answer = await answerTo(server, requests(one, items)[0]);
  const rows = JSON.parse(answer.text.slice(answer.text.indexOf("\r\n\r\n") + 4))._count;
  const value = [...spread(1, one.values(items))][0];
  const theirs = (await postgres.sql(one.postgres.replaceAll(":v", String(value)))).trim().split("\n").length;
  if (answer.status !== 200 || rows !== one.rows() || theirs !== one.rows()) {
    throw new Error(`${one.name}: ${answer.status}, ${rows} rows here and ${theirs} there instead of ${one.rows()}`);
  }
}

async function compare(server, postgres, one, items, folder, { rounds, seconds }) {
  const ours = [];
  const theirs = [];
  for (let round = 0; round <= rounds; ++round) {
    // The first only warms up: everything that is asked for has to be read from files once.
    const length = round === 0 ? Math.max(2, Math.round(items / 80_000)) : seconds;
    const mine = await run(server, "replay.lua", requests(one, items), folder, { seconds: length, connections: clients });
    const other = await postgres.run(one.postgres, one.values(items), { clients, seconds: length });
    if (round === 0) continue;
    ours.push(mine);
    theirs.push(other);
  }
  const result = { ours: medians(ours), theirs: medians(theirs) };
  process.stderr.write(`  ${whole(items)} documents, ${one.name}: ${whole(result.ours.perSecond)}/s, PostgreSQL ${whole(result.theirs.perSecond)}/s\n`);
  return result;
}

export async function measure(settings) {
  const { programs, folder, largest, rounds, seconds } = settings;
  const sizes = (settings.quick ? [10_000, 100_000] : [10_000, 100_000, 1_000_000]).filter((size) => size <= largest);
  const results = new Map(cases.map((one) => [one, []]));
  const fans = [];
  for (const items of sizes) {
    const data = `${folder}/orrery-${items}`;
    const sample = programs.querySample;
    await output(programs.loader, "--data", data, "--items", String(items), "--sample", sample);
    const postgres = await Postgres.start(`${folder}/postgres-${items}`);
    await postgres.sql("CREATE TABLE items (doc jsonb NOT NULL)");
    await postgres.load("items", `${programs.loader} --print yes --items ${items} --sample ${sample}`);
    for (const index of ["USING gin (doc jsonb_path_ops)", "(((doc->>'batch')::bigint))", "(((doc->>'serial')::bigint))",
      "(((doc->>'score')::float8))", "((doc->>'group'))"]) {
      await postgres.sql(`CREATE INDEX ON items ${index}`);
    }
    await postgres.sql("VACUUM ANALYZE items");
    await postgres.sql("CHECKPOINT");
    await output("sync");
    const server = await startServer(programs, data, "--limit", `block-cache-bytes=${4 * 2 ** 30}`);
    for (const one of cases) {
      await check(server, postgres, one, items);
      results.get(one).push(await compare(server, postgres, one, items, folder, { rounds, seconds }));
    }
    if (items === sizes.at(-1)) {
      for (const partitions of [1, 4, 16]) {
        await splitInto(server, partitions);
        for (const there of partitions === 1 ? [1] : [partitions, 1]) {
          const one = { ...fanOut, postgres: fanOut.postgres.replace("items", await divided(postgres, there)) };
          await check(server, postgres, one, items);
          fans.push({ partitions, there, ...await compare(server, postgres, one, items, folder, { rounds, seconds }) });
        }
      }
    }
    await server.stop();
    await postgres.stop();
  }
  const last = sizes.length - 1;
  const compared = ({ ours, theirs }) => [whole(ours.perSecond), ms(ours.p50_us), whole(theirs.perSecond), ms(theirs.mean_us),
    verdict(ours.perSecond > theirs.perSecond, `**${ratio(ours.perSecond / theirs.perSecond)}**`)];
  return [
    `With ${whole(sizes[last])} documents:\n`,
    table([["", "Orrery/s", "p50", "PostgreSQL/s", "mean", "Orrery's part"],
      ...cases.map((one) => [one.name, ...compared(results.get(one)[last])]),
      ...fans.map((fan) => [
        `${fanOut.name}, from ${count(fan.partitions)}, there from ${count(fan.there)}`, ...compared(fan)])]),
    "\nQueries a second as the documents grow in number, each against the first:\n",
    table([["", ...sizes.map((items) => `${whole(items)}`), "PostgreSQL"],
      ...cases.map((one) => {
        const all = results.get(one);
        const part = (side, i) => ratio(all[i][side].perSecond / all[0][side].perSecond);
        return [one.name, ...sizes.map((_, i) => `${whole(all[i].ours.perSecond)} (${part("ours", i)})`),
          sizes.map((_, i) => part("theirs", i)).join(", ")];
      })]),
  ].join("\n");
}

const count = (partitions) => (partitions === 1 ? "1 partition" : `${partitions} partitions`);

// A table with the same documents in so many partitions by the hash of their key, as Orrery has them.
async function divided(postgres, partitions) {
  if (partitions === 1) return "items";
  const name = `items_in_${partitions}`;
  await postgres.sql(`CREATE TABLE ${name} (doc jsonb NOT NULL) PARTITION BY HASH ((doc->>'pk'))`);
  for (let i = 0; i < partitions; ++i) {
    await postgres.sql(`CREATE TABLE ${name}_${i} PARTITION OF ${name} ` +
      `FOR VALUES WITH (MODULUS ${partitions}, REMAINDER ${i})`);
  }
  await postgres.sql(`INSERT INTO ${name} SELECT doc FROM items`);
  await postgres.sql(`CREATE INDEX ON ${name} (((doc->>'batch')::bigint))`);
  await postgres.sql(`VACUUM ANALYZE ${name}`);
  await postgres.sql("CHECKPOINT");
  await output("sync");
  return name;
}

async function splitInto(server, partitions) {
  for (let count = await rangesOf(server); count < partitions; count = await rangesOf(server)) {
    const answer = await split(server);
    if (answer.status !== 200) throw new Error(`the split gave ${answer.status}: ${answer.text}`);
    await rest(server);
  }
}

// Until what follows a split in the background has been done.
async function rest(server) {
  for (let before = server.cpu_us(); ; before = server.cpu_us()) {
    await sleep(1000);
    if (server.cpu_us() - before < 50_000) return;
  }
}

async function rangesOf(server) {
  const answer = await server.rest("GET", "/dbs/bench/colls/c0/pkranges");
  return answer.body.PartitionKeyRanges.length;
}
