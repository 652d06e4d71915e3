// Time series in three ways. Run it against a server of your own:
//   npm install @azure/cosmos && node time_series.mjs https://localhost:8081 KEY
import { runAsScript } from "./run.mjs";

const day = (at) => at.toISOString().slice(0, 10);
const month = (at) => at.toISOString().slice(0, 7);
const container = async (db, id, path, options) =>
  (await db.containers.createIfNotExists({ id, partitionKey: { paths: [path], version: 2 } }, options)).container;

// 1. The date as key: a day is read and removed as one, but all of today's writes go to one
// partition. For little data.
export async function byDate(db, readings) {
  const logs = await container(db, "log-by-date", "/day");
  for (const one of readings) await logs.items.create({ ...one, day: day(new Date(one.at)) });
  return {
    ofDay: async (at) => (await logs.items.query(
      { query: "SELECT * FROM c ORDER BY c.at" }, { partitionKey: day(at) }).fetchAll()).resources,
  };
}

// 2. The source as key: writes spread over the sources, and one source over time is one partition.
export async function bySource(db, readings) {
  const logs = await container(db, "log-by-source", "/source");
  for (const one of readings) await logs.items.create(one);
  return {
    ofSource: async (source, from, to) => (await logs.items.query(
      {
        query: "SELECT * FROM c WHERE c.at >= @from AND c.at < @to ORDER BY c.at",
        parameters: [{ name: "@from", value: from.toISOString() }, { name: "@to", value: to.toISOString() }],
      }, { partitionKey: source }).fetchAll()).resources,
  };
}

// 3. A container for each month, by source: the newest has much throughput, older ones little, and
// the oldest go whole.
export async function byMonth(db, readings, { busy = 1000, quiet = 400, keep = 2 } = {}) {
  const name = (of) => `log-${of}`;
  const newest = readings.map((one) => month(new Date(one.at))).sort().at(-1);
  const months = new Map();
  const openMonth = async (of) => {
    if (!months.has(of)) {
      months.set(of, await container(db, name(of), "/source", { offerThroughput: of === newest ? busy : quiet }));
    }
    return months.get(of);
  };
  for (const one of readings) await (await openMonth(month(new Date(one.at)))).items.create(one);
  return {
    // A range asks each month that it touches, and of each only the partition of the source.
    ofSource: async (source, from, to) => {
      const rows = [];
      for (const of of [...months.keys()].sort()) {
        if (of < month(from) || of > month(to)) continue;
        rows.push(...(await months.get(of).items.query(
          {
            query: "SELECT * FROM c WHERE c.at >= @from AND c.at < @to ORDER BY c.at",
            parameters: [{ name: "@from", value: from.toISOString() }, { name: "@to", value: to.toISOString() }],
          }, { partitionKey: source }).fetchAll()).resources);
      }
      return rows;
    },
    // Nothing is paid for each item.
    dropOld: async () => {
      const old = [...months.keys()].sort().slice(0, -keep);
      for (const of of old) {
        await months.get(of).delete();
        months.delete(of);
      }
      return old;
    },
    months: () => [...months.keys()].sort(),
  };
}

export function someReadings(sources = 4, months = 3, each = 5) {
  const readings = [];
  for (let m = 0; m < months; ++m) {
    for (let i = 0; i < each; ++i) {
      for (let s = 0; s < sources; ++s) {
        const at = new Date(Date.UTC(2026, 7 + m, 1 + i, s)).toISOString();
        readings.push({ id: `${at}-host-${s}`, source: `host-${s}`, at, value: m * 100 + i });
      }
    }
  }
  return readings;
}

await runAsScript(import.meta.url, async (client) => {
  const { database } = await client.databases.createIfNotExists({ id: "examples" });
  const readings = someReadings();
  const dated = await byDate(database, readings);
  console.log("1 August by date:", (await dated.ofDay(new Date("2026-08-01"))).length);
  const sourced = await bySource(database, readings);
  console.log("host-1 in August:", (await sourced.ofSource("host-1", new Date("2026-08-01"), new Date("2026-09-01"))).length);
  const monthly = await byMonth(database, readings);
  console.log("months:", monthly.months(), "dropped:", await monthly.dropOld());
  await database.delete();
});
