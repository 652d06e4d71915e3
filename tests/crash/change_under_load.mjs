// Reads, writes and feeds of one container while its partitions change: every request must succeed.
//
// Prints the longest write, which is told and not judged: it is the machine's as much as ours.
import { keyHeader, readFeed } from "../sdk/rest.mjs";
import { start } from "../sdk/server.mjs";
import { createContainer, Load, partitionMap, randomOf, Violation } from "./load.mjs";

const permanent = 200;

async function run(changes, seed, change) {
  const random = randomOf(seed);
  const server = await start();
  const rest = server.rest();
  await createContainer(rest, "c");
  const load = new Load({ container: "c", random });
  const feedOnly = new Map();  // items that nobody changes: every feed must show each of them once
  for (let i = 0; i < permanent; ++i) {
    const id = `p${i}`;
    const answer = await rest("POST", load.docs, {
      headers: keyHeader(`permanent ${i}`), body: { id, pk: `permanent ${i}`, version: -1 },
    });
    if (answer.status !== 201) throw new Violation(`create: ${answer.status} ${answer.text}`);
    feedOnly.set(id, { pk: `permanent ${i}`, token: answer.headers["x-ms-session-token"] });
  }

  let stop = false;
  const count = { reads: 0, feeds: 0 };
  const reading = async () => {
    while (!stop) {
      const [id, { pk, token }] = random.pick([...feedOnly]);
      const answer = await rest("GET", `${load.docs}/${id}`, {
        headers: { ...keyHeader(pk), "x-ms-session-token": token },
      });
      if (answer.status !== 200) throw new Violation(`read ${id}: ${answer.status} ${answer.substatus} ${answer.text}`);
      ++count.reads;
    }
  };
  const feeding = async () => {
    while (!stop) {
      const { items } = await readFeed(rest, load.docs, "Documents", { headers: { "x-ms-max-item-count": "50" } });
      const ids = items.map((item) => item.id);
      if (new Set(ids).size !== ids.length) throw new Violation("a feed shows an item twice");
      const shown = ids.filter((id) => feedOnly.has(id)).length;
      if (shown !== permanent) throw new Violation(`a feed shows ${shown} of ${permanent} items`);
      ++count.feeds;
    }
  };
  let longestPause_ms = 0;
  const paused = (answer) => { longestPause_ms = Math.max(longestPause_ms, answer.body.pauseMs); };
  const workers = [load.run(rest, () => stop), reading(), reading(), feeding()];
  try {
    const expected = await Promise.race([change({ rest, random, paused }), Promise.all(workers)]);
    stop = true;
    await Promise.all(workers);
    for (const [id, { pk }] of feedOnly) {
      const answer = await rest("DELETE", `${load.docs}/${id}`, { headers: keyHeader(pk) });
      if (answer.status !== 204) throw new Violation(`delete ${id}: ${answer.status} ${answer.text}`);
    }
    await load.verify(rest);
    const ranges = await partitionMap(rest, "c");
    if (ranges.length !== expected) throw new Violation(`${ranges.length} ranges after ${changes}, not ${expected}`);
    if (load.acknowledged === 0 || count.feeds === 0) throw new Violation("there was no load");
    await server.close();
  } catch (error) {
    console.error(server.log);
    throw error;
  }
  return `${changes} under ${load.acknowledged} writes, ${count.reads} reads and ${count.feeds} feeds: ` +
    `none failed; longest write ${load.longest_ms.toFixed(0)} ms, longest pause ${longestPause_ms.toFixed(0)} ms`;
}

// `changes` says what is done, for people. `change({ rest, random, paused })` does it in the container "c", tells
// `paused` of each answer, and returns how many ranges there are to be at its end. `again`: how to repeat it.
export async function changeUnderLoad({ changes, seed, again, change }) {
  console.log(`seed ${seed}`);
  try {
    console.log(await run(changes, seed, change));
    process.exit(0);
  } catch (error) {
    console.error(error instanceof Violation ? `VIOLATION: ${error.message}` : error);
    console.error(`Again with: node tests/crash/${again}`);
    process.exit(1);
  }
}
