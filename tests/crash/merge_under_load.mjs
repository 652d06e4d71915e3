// Splits one container and merges two of its partitions again, under reads, writes and feeds: every request must
// succeed.
//
//   node tests/crash/merge_under_load.mjs [MERGES] [SEED]
import { changeUnderLoad } from "./change_under_load.mjs";
import { merge, partitionMap, split, Violation } from "./load.mjs";

const merges = Number(process.argv[2] ?? 30);
const seed = Number(process.argv[3] ?? Date.now() % 1_000_000_000);

await changeUnderLoad({
  changes: `${merges} merges`, seed, again: `merge_under_load.mjs ${merges} ${seed}`,
  async change({ rest, random, paused }) {
    const halved = async () => {
      const answer = await split(rest, "c");
      if (answer.status !== 200) throw new Violation(`split: ${answer.status} ${answer.text}`);
    };
    await halved();
    for (let done = 0; done < merges; ++done) {
      await halved();
      const ranges = await partitionMap(rest, "c");
      const at = random.below(ranges.length - 1);
      const answer = await merge(rest, "c", ranges[at].id, ranges[at + 1].id);
      if (answer.status !== 200) throw new Violation(`merge: ${answer.status} ${answer.text}`);
      paused(answer);
    }
    return 2;
  },
});
