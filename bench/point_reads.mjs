// Point reads against a bare epoll loop that sends as many bytes for the same requests.
import { writeFileSync } from "node:fs";

import { answerTo, connections, readRequests, run } from "./load.mjs";
import { lowToHigh, medians, ms, ratio, table, verdict, whole } from "./report.mjs";
import { output, startResponder, startServer } from "./server.mjs";

export const title = "Point reads of 1 KB";
export const about = `wrk, ${connections} connections, keep-alive, every request signed and checked; 10,000 ` +
  "items in one container. The responder is a bare epoll loop (bench/epoll_responder.cc) that reads the same " +
  "requests and sends a reply of the same size: one header and filler, or one of Orrery's own answers with " +
  "its 16 headers, which wrk has to read too. CPU is what a request costs the server, and wrk. With all cores " +
  "busy the ratio of CPU times, both together, is that of the requests/s, and other work blurs it less.";

const target = 0.6;

export async function measure({ programs, folder, rounds, seconds }) {
  const items = 10_000;
  await output(programs.loader, "--data", `${folder}/reads`, "--items", String(items), "--sample", programs.sample);
  const server = await startServer(programs, `${folder}/reads`);
  const answer = await answerTo(server, readRequests({ items })[0]);
  if (answer.status !== 200) throw new Error(`a read gave ${answer.status}`);
  const size = answer.text.length;
  writeFileSync(`${folder}/reply`, answer.text, "latin1");
  const sides = [
    { name: "Orrery", daemon: server },
    { name: "responder, filler", daemon: await startResponder(programs, ["--reply-bytes", String(size)]) },
    { name: "responder, same answer", daemon: await startResponder(programs, ["--reply-file", `${folder}/reply`]) },
  ];
  for (const side of sides) side.results = [];
  for (let round = 0; round <= rounds; ++round) {
    for (const side of sides) {
      // The first round only warms up.
      const result = await run(side.daemon, "replay.lua", readRequests({ items }), folder,
        { seconds: round === 0 ? 2 : seconds });
      if (round > 0) side.results.push(result);
    }
  }
  for (const side of sides) {
    await side.daemon.stop();
    side.median = medians(side.results);
  }
  const total_us = (one) => one.cpu_us + one.client_us;
  const ours = sides[0];
  return table([
    ["", "requests/s", "p50", "p99", "CPU µs", "of wrk", "Orrery's part", "by CPU", "rounds"],
    ...sides.map((side) => {
      const one = side.median;
      const each = ours.results.map((result, i) => result.perSecond / side.results[i].perSecond);
      const part = ours.median.perSecond / one.perSecond;
      return [side.name, whole(one.perSecond), ms(one.p50_us), ms(one.p99_us), one.cpu_us.toFixed(1),
        one.client_us.toFixed(1),
        ...(side === ours ? ["", "", ""] : [
          verdict(part >= target, `**${ratio(part)}**, target ≥ ${target}`),
          ratio(total_us(one) / total_us(ours.median)), lowToHigh(each, ratio),
        ])];
    }),
  ]) + `\n\nA reply has ${size} bytes, ${answer.bodyBytes} of them the item.`;
}
