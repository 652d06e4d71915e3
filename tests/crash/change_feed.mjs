// Readers of the change feed while the container is written to and split, and the server is killed.
//
//   node tests/crash/change_feed.mjs [KILLS] [SEED]
//
// Two readers, one of latest versions and one of all versions and deletes, each through the SDK's
// iterator. After every page a reader notes its continuation, and goes on from there whenever it stops
// or is interrupted. At the end:
//  - latest versions: the last state of every item was seen, and no item ever went back,
//  - all versions: every acknowledged write of an item was seen, in the order of the writes.
import { keyHeader } from "../sdk/rest.mjs";
import { ChangeFeedMode, ChangeFeedStartFrom } from "../sdk/cosmos.mjs";
import { start } from "../sdk/server.mjs";
import { pause, randomOf, split, Violation } from "./load.mjs";

const kills = Number(process.argv[2] ?? 3);
const seed = Number(process.argv[3] ?? Date.now() % 1_000_000_000);
const itemsPerWriter = 12;
const writers = 4;
const docs = "/dbs/db/colls/c/docs";

// One client writes its items in turn; what was acknowledged of each is noted in order.
class Writer {
  constructor(name, random) {
    this.random = random;
    this.items = Array.from({ length: itemsPerWriter }, (_, i) => ({ id: `${name}-${i}`, n: 0, there: false, done: [] }));
  }

  async run(rest, stopped) {
    while (!stopped()) {
      const item = this.random.pick(this.items);
      const remove = item.there && this.random.below(5) === 0;
      const n = ++item.n;
      let answer;
      try {
        answer = remove
          ? await rest("DELETE", `${docs}/${item.id}`, { headers: keyHeader(item.id) })
          : await rest("POST", docs, {
            headers: { ...keyHeader(item.id), "x-ms-documentdb-is-upsert": "true" }, body: { id: item.id, pk: item.id, n },
          });
      } catch {
        item.there = false;  // killed: nobody knows; the next upsert settles it
        item.perhapsDeleted = remove;
        await pause(20);
        continue;
      }
      if (answer.status >= 400 && answer.status !== 404) {
        throw new Violation(`write of ${item.id}: ${answer.status} ${answer.text}`);
      }
      item.there = !remove;
      item.perhapsDeleted = false;
      if (answer.status < 400) item.done.push(remove ? "delete" : n);
    }
  }
}

class Reader {
  constructor(mode, from, random) {
    this.mode = mode;
    this.from = from;
    this.random = random;
    this.continuation = undefined;
    this.seen = new Map();  // id → what was seen of it, in order
    this.resumed = 0;
  }

  iterator(server) {
    return server.client().database("db").container("c").items.getChangeFeedIterator({
      changeFeedMode: this.mode, maxItemCount: 20,
      changeFeedStartFrom: this.continuation ? ChangeFeedStartFrom.Continuation(this.continuation) : this.from,
    });
  }

  // One page: whether there was anything new.
  async read(iterator) {
    const page = await iterator.readNext();
    for (const change of page.result ?? []) this.note(change);
    this.continuation = page.continuationToken;
    return page.statusCode !== 304;
  }

  note(change) {
    const [id, what] = this.mode === ChangeFeedMode.LatestVersion
      ? [change.id, change.n]
      : change.metadata.operationType === "delete" ? [change.metadata.id, "delete"] : [change.current.id, change.current.n];
    if (!this.seen.has(id)) this.seen.set(id, []);
    this.seen.get(id).push(what);
  }

  async run(server, stopped) {
    while (!stopped()) {
      try {
        // It stops by itself, too, and goes on as another process would.
        const iterator = this.iterator(server);
        for (let pages = this.random.between(1, 40); pages > 0 && !stopped(); --pages) {
          if (!(await this.read(iterator))) await pause(5);
        }
      } catch (error) {
        if (error.code >= 400 && error.code < 500) throw new Violation(`${this.mode}: ${error.code} ${error.message}`);
        await pause(50);
      }
      ++this.resumed;
    }
  }

  async drain(server) {
    const iterator = this.iterator(server);
    while (await this.read(iterator));
  }
}

function checkLatest(reader, items) {
  for (const { id, done, perhapsDeleted } of items) {
    const seen = reader.seen.get(id) ?? [];
    for (let i = 1; i < seen.length; ++i) {
      if (seen[i] < seen[i - 1]) throw new Violation(`${id} went back: ${seen.slice(Math.max(0, i - 3), i + 1)}`);
    }
    const last = done.at(-1);
    if (last !== undefined && last !== "delete" && !perhapsDeleted && !(seen.at(-1) >= last)) {
      throw new Violation(`${id}: ${last} was acknowledged, and the last seen is ${seen.at(-1)}`);
    }
  }
}

function checkAll(reader, items) {
  for (const { id, done } of items) {
    const seen = reader.seen.get(id) ?? [];
    let at = 0;
    for (const what of done) {
      while (at < seen.length && seen[at] !== what) ++at;
      if (at === seen.length) throw new Violation(`${id}: ${what} of ${done} is not among ${seen}`);
      ++at;
    }
  }
}

async function run() {
  const random = randomOf(seed);
  const server = await start();
  try {
    const rest = server.rest();
    await rest("POST", "/dbs", { body: { id: "db" } });
    const made = await rest("POST", "/dbs/db/colls", {
      body: { id: "c", partitionKey: { paths: ["/pk"], kind: "Hash", version: 2 }, changeFeedPolicy: { retentionDuration: 60 } },
    });
    if (made.status !== 201) throw new Violation(`cannot create the container: ${made.text}`);
    const latest = new Reader(ChangeFeedMode.LatestVersion, ChangeFeedStartFrom.Beginning(), random);
    const all = new Reader(ChangeFeedMode.AllVersionsAndDeletes, ChangeFeedStartFrom.Now(), random);
    await all.drain(server);
    const writing = Array.from({ length: writers }, (_, i) => new Writer(`w${i}`, random));
    const items = writing.flatMap((writer) => writer.items);

    let stop = false;
    let splits = 0;
    const stopped = () => stop;
    const disturb = async () => {
      for (let i = 0; i < kills; ++i) {
        for (let part = 0; part < 2; ++part) {
          await pause(random.between(200, 500));
          if ((await split(rest, "c")).status === 200) ++splits;
        }
        await pause(random.between(50, 300));
        await server.restart({ hard: true });
      }
      await pause(300);
    };
    const workers = [
      ...writing.map((writer) => writer.run(rest, stopped)), latest.run(server, stopped), all.run(server, stopped),
    ];
    await Promise.race([disturb(), Promise.all(workers)]);
    stop = true;
    await Promise.all(workers);
    for (const reader of [latest, all]) await reader.drain(server);
    checkLatest(latest, items);
    checkAll(all, items);
    const acknowledged = items.reduce((sum, item) => sum + item.done.length, 0);
    if (acknowledged < 100 || splits === 0) throw new Violation(`only ${acknowledged} writes and ${splits} splits`);
    await server.close();
    return `${acknowledged} writes through ${splits} splits and ${kills} kills: ` +
      `none missed by either reader, none out of order (they stopped and went on ${latest.resumed + all.resumed} times)`;
  } catch (error) {
    console.error(server.log);
    throw error;
  }
}

console.log(`seed ${seed}`);
try {
  console.log(await run());
  process.exit(0);
} catch (error) {
  console.error(error instanceof Violation ? `VIOLATION: ${error.message}` : error);
  console.error(`Again with: node tests/crash/change_feed.mjs ${kills} ${seed}`);
  process.exit(1);
}
