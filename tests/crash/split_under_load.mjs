// Splits one container again and again under reads, writes and feeds: every request must succeed.
//
//   node tests/crash/split_under_load.mjs [SPLITS] [SEED]
import { changeUnderLoad } from "./change_under_load.mjs";
import { partitionMap, pause, split, Violation } from "./load.mjs";

const splits = Number(process.argv[2] ?? 30);
const seed = Number(process.argv[3] ?? Date.now() % 1_000_000_000);

await changeUnderLoad({
  changes: `${splits} splits`, seed, again: `split_under_load.mjs ${splits} ${seed}`,
  async change({ rest, random, paused }) {
    for (let done = 0; done < splits;) {
      const ranges = await partitionMap(rest, "c");
      const range = random.below(3) === 0 ? random.pick(ranges).id : undefined;
      const answer = await split(rest, "c", range);
      if (answer.status === 200) {
        ++done;
        paused(answer);
      } else if (answer.status !== 409) {
        throw new Violation(`split: ${answer.status} ${answer.text}`);
      }
      await pause(30);
    }
    return splits + 1;
  },
});
