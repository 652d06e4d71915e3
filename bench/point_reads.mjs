// Point reads against a bare epoll loop that sends as many bytes for the same requests.
import { answerTo, connections, readRequests, run } from "./load.mjs";
import { lowToHigh, medians, ms, ratio, table, verdict, whole } from "./report.mjs";
import { output, startResponder, startServer } from "./server.mjs";

export const title = "Point reads of 1 KB";
export const about = `wrk, ${connections} connections, keep-alive, every request signed and checked; 10,000 ` +
  "items in one container. The responder is a bare epoll loop (bench/epoll_responder.cc) that sends a " +
  "reply of the same size. CPU is the server process's own, a request.";

export async function measure({ programs, folder, rounds, seconds }) {
  const items = 10_000;
  await output(programs.loader, "--data", `${folder}/reads`, "--items", String(items), "--sample", programs.sample);
  const server = await startServer(programs, `${folder}/reads`);
  const answer = await answerTo(server, readRequests({ items })[0]);
  if (answer.status !== 200) throw new Error(`a read gave ${answer.status}`);
  const responder = await startResponder(programs, answer.bytes);
  const results = { server: [], responder: [] };
  for (let round = 0; round <= rounds; ++round) {
    for (const [name, daemon] of [["server", server], ["responder", responder]]) {
      // The first round only warms up.
      const result = await run(daemon, "replay.lua", readRequests({ items }), folder,
        { seconds: round === 0 ? 2 : seconds });
      if (round > 0) results[name].push(result);
    }
  }
  await server.stop();
  await responder.stop();
  const [ours, bare] = [medians(results.server), medians(results.responder)];
  const each = results.server.map((one, i) => one.perSecond / results.responder[i].perSecond);
  const achieved = ours.perSecond / bare.perSecond;
  const row = (name, one) => [name, whole(one.perSecond), ms(one.p50_us), ms(one.p99_us), one.cpu_us.toFixed(1)];
  return table([
    ["", "requests/s", "p50", "p99", "CPU µs"],
    row("Orrery", ours),
    row("bare epoll responder", bare),
    [`ratio (rounds: ${lowToHigh(each, ratio)})`, verdict(achieved >= 0.6, `**${ratio(achieved)}**, target ≥ 0.6`),
      "", "", ratio(ours.cpu_us / bare.cpu_us)],
  ]) + `\n\nA reply has ${answer.bytes} bytes, ${answer.bodyBytes} of them the item.`;
}
