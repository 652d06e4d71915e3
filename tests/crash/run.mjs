// Kills a loaded server again and again, while it splits and merges, and looks for lost writes.
//
//   node tests/crash/run.mjs [KILLS] [SEED]
//
// After every kill the server starts again on the same folder, and then: every acknowledged write
// is there, nothing is twice, nothing deleted is back, the partition map covers everything, and
// session tokens from before are accepted. Half of the kills come at a random moment, the others at
// a named point of a split or merge (ORRERY_FAULT). The first violation ends it with 1.
import { freePort, start } from "../sdk/server.mjs";
import { createContainer, Load, merge, partitionMap, pause, randomOf, split, Violation } from "./load.mjs";

const points = [
  "split.begin", "split.intended", "split.cloned_left", "split.cloned_right", "split.opened", "split.published",
  "split.trimmed", "merge.begin", "merge.intended", "merge.copied", "merge.opened", "merge.published",
];
const kills = Number(process.argv[2] ?? 12);
const seed = Number(process.argv[3] ?? Date.now() % 1_000_000_000);
const rangesMax = 24;  // then a new container: the many files of an old one only cost time
const faultWithin_ms = 6_000;

async function run() {
  const random = randomOf(seed);
  const server = await start({ limits: { "physical-partition-bytes": "300K" } });
  const rest = server.rest();
  const done = { kills: 0, faults: new Map(), splits: 0, merges: 0, writes: 0, containers: 0 };
  let load;
  const fresh = async () => {
    load = new Load({ container: `c${++done.containers}`, random });
    await createContainer(rest, load.container);
  };
  try {
    await fresh();
    let point;  // where the server that runs now is to die
    while (done.kills < kills) {
      await untilDead(server, rest, load, random, point, done);
      // A fault at a point that opening passes too (trimming) may end it while we look. Then it
      // starts again before anything is written: what was under way is not decided yet.
      do {
        ++done.kills;
        point = random.below(2) === 0 ? random.pick(points) : undefined;
        server.env = point ? { ORRERY_FAULT: `${point}=kill@${random.between(1, 3)}` } : {};
        await startAgain(server);
      } while (!await verify(server, rest, load, point));
      if ((await partitionMap(rest, load.container)).length <= rangesMax) continue;
      server.env = {};
      point = undefined;
      await server.restart({ hard: true });
      const old = load.container;
      await rest("DELETE", `/dbs/db/colls/${old}`);
      await server.restart({ hard: true });
      const gone = await rest("GET", `/dbs/db/colls/${old}`);
      if (gone.status !== 404) throw new Violation(`${old} was deleted and answers ${gone.status}`);
      await fresh();
    }
    server.env = {};
    await server.restart({ hard: true });
    await load.verify(rest);
    await server.close();
  } catch (error) {
    console.error(server.log);
    throw error;
  }
  const faults = [...done.faults].map(([name, count]) => `${name} ${count}`).join(", ");
  return `${done.kills} kills (${faults || "none at a named point"}), ${done.splits} splits and ${done.merges} merges asked for, ` +
    `${done.writes} writes acknowledged, none lost`;
}

// Loads the server, and splits and merges its partitions, until it is dead: by a fault, or by our hand.
async function untilDead(server, rest, load, random, point, done) {
  let dead = false;
  const died = server.exited.then(() => { dead = true; });
  const before = load.acknowledged;
  const splitting = async () => {
    while (!dead) {
      try {
        const answer = await split(rest, load.container);
        if (answer.status === 200) ++done.splits;
        else if (answer.status !== 409) throw new Violation(`split: ${answer.status} ${answer.text}`);
        const ranges = await partitionMap(rest, load.container);
        if (ranges.length > 1 && (random.below(2) === 0 || point?.startsWith("merge"))) {
          const at = random.below(ranges.length - 1);
          const united = await merge(rest, load.container, ranges[at].id, ranges[at + 1].id);
          if (united.status === 200) ++done.merges;
          // Too large together, or one of them was split meanwhile.
          else if (![404, 409].includes(united.status)) throw new Violation(`merge: ${united.status} ${united.text}`);
        }
      } catch (error) {
        if (error instanceof Violation) throw error;
        return;
      }
      await pause(random.between(20, 200));
    }
  };
  const working = Promise.all([load.run(rest, () => dead), splitting()]);
  const lifetime = point ? faultWithin_ms : random.between(150, 1200);
  // A violation must not wait for the end of the life.
  await Promise.race([died, pause(lifetime), working.then(() => pause(lifetime))]);
  if (dead && point) done.faults.set(point, (done.faults.get(point) ?? 0) + 1);
  else if (dead) throw new Violation("the server ended by itself");
  else await server.kill();
  dead = true;
  server.dispose();
  await working;
  done.writes += load.acknowledged - before;
}

async function startAgain(server) {
  server.process = undefined;
  try {
    await server.launch();
  } catch (error) {
    if (!/in use/.test(error.message)) throw error;
    server.port = await freePort();
    await server.launch();
  }
}

// False when the fault that was arranged ended the server meanwhile.
async function verify(server, rest, load, point) {
  try {
    await partitionMap(rest, load.container);
    await load.verify(rest);
    return true;
  } catch (error) {
    const dead = await Promise.race([server.exited.then(() => true), pause(500).then(() => false)]);
    if (error instanceof Violation || !dead || !point) throw error;
    return false;
  }
}

console.log(`seed ${seed}`);
try {
  console.log(await run());
  process.exit(0);
} catch (error) {
  console.error(error instanceof Violation ? `VIOLATION: ${error.message}` : error);
  console.error(`Again with: node tests/crash/run.mjs ${kills} ${seed}`);
  process.exit(1);
}
