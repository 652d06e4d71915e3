// What changed lately: the server's own figures, live and for the last hours and days.
import { useState } from "preact/hooks";
import { history } from "../lib/api";
import { bytes, count, percent, short, units } from "../lib/format";
import { useLoaded } from "../lib/live";
import { Plot } from "../parts/plot";
import { Button, Problem, Segmented } from "../parts/parts";
import { figures } from "./context";

type Span = "15m" | "1h" | "6h" | "24h" | "7d";
const spans: Record<Span, [string, number, number]> = {
  "15m": ["15 min", 900, 5], "1h": ["1 h", 3600, 5], "6h": ["6 h", 21_600, 60], "24h": ["24 h", 86_400, 60], "7d": ["7 d", 604_800, 60],
};

export function Metrics() {
  const [span, setSpan] = useState<Span>("15m");
  const [paused, setPaused] = useState(false);
  const now = figures.use();
  const [, seconds, step] = spans[span];
  const loaded = useLoaded(`metrics/${span}`, async () => {
    const to = Date.now() / 1000;
    return { ...(await history(step, to - seconds)).body, to };
  }, paused ? 0 : step === 5 ? 5000 : 30_000);
  const data = loaded.data;
  const times = data?.samples.map((one) => one[0]!) ?? [];
  const of = (name: string, scale = 1) => {
    const at = data?.figures.indexOf(name) ?? -1;
    return at < 0 ? [] : data!.samples.map((one) => (one[at] ?? 0) * scale);
  };
  const to = data?.to ?? 0;
  const frame = { times, from: to - seconds, to, step: data?.stepSeconds ?? step };
  const last = (values: number[]) => values.at(-1) ?? 0;
  const peak = (values: number[]) => Math.max(0, ...values);
  const provisioned = (() => {
    const seen = new Set<string>();
    return (now?.all ?? []).reduce((sum, one) => {
      if (!one.throughput) return sum;
      const name = one.throughput.shared ? `db ${one.database}` : `${one.database}/${one.container}`;
      if (seen.has(name)) return sum;
      seen.add(name);
      return sum + one.throughput.units;
    }, 0);
  })();
  const stored = of("bytes");
  const growth = stored.length > 1 && times.length > 1 ? ((last(stored) - stored[0]!) / Math.max(1, times.at(-1)! - times[0]!)) * 86_400 : 0;
  const refused = of("throttled");
  const failed = of("failed");
  return (
    <div class="page"><div class="stack">
      <div class="page-head">
        <h1>Metrics</h1>
        <Segmented<Span> label="Span" value={span} onChange={setSpan} options={Object.entries(spans).map(([name, [text]]) => [name as Span, text])} />
        <span class="grow" />
        {!paused && <span class="row small dim"><span class="mark live" />live</span>}
        <Button onClick={() => setPaused(!paused)}>{paused ? "Go on" : "Pause"}</Button>
      </div>
      {loaded.error !== undefined && !data ? <Problem error={loaded.error} retry={loaded.reload} /> : times.length < 2 ? (
        <div class="empty"><h2>The first samples are on their way</h2><p class="dim">One is taken every {step} seconds. They are kept for a week, also while the server restarts.</p></div>
      ) : (
        <div class="cards">
          <Plot {...frame} title="Requests" metric="orrery_requests_total" unit="/s" sentence={`At most ${short(peak(of("reads").map((value, i) => value + of("writes")[i]! + of("queries")[i]!)))} a second in this time.`}
            series={[{ name: "reads", colour: "k1", values: of("reads") }, { name: "writes", colour: "k2", values: of("writes") }, { name: "queries", colour: "k3", values: of("queries") }]} />
          <Plot {...frame} title="Request units" metric="orrery_request_units_total" unit="RU/s" format={units}
            sentence={provisioned > 0 ? `${percent(last(of("units")) / provisioned)} of the ${count(provisioned)} RU/s that are provisioned.` : "Nothing is provisioned."}
            series={[{ name: "RU/s", colour: "k2", values: of("units") }]} />
          <Plot {...frame} title="Latency" metric="orrery_request_seconds" unit="ms" sentence="Inside the server, from the whole request to its answer."
            series={[{ name: "p50", colour: "k3", values: of("medianMs") }, { name: "p95", colour: "k6", values: of("p95Ms") }, { name: "p99", colour: "k4", values: of("p99Ms") }]} />
          <Plot {...frame} title="Over budget" metric="orrery_partition_throttled_total" unit="/s" sentence={peak(refused) === 0 ? "No request was over a partition’s budget." : "Requests beyond a partition’s share: 429, or only noted with --throttling report."}
            series={[{ name: "over budget", colour: "k4", values: refused }, { name: "failed, 5xx", colour: "k5", values: failed }]} />
          <Plot {...frame} title="Storage" metric="orrery_partition_bytes" unit="" format={bytes} sentence={`${growth > 0 ? `${bytes(growth)} more a day at this rate. ` : ""}${count(last(of("partitions")))} partitions, ${count(last(of("items")))} items in those that are open.`}
            series={[{ name: "stored", colour: "k1", values: stored }]} />
          <Plot {...frame} title="Connections" metric="orrery_connections_open" unit="open" format={count} sentence="Open when the sample was taken, this console’s among them."
            series={[{ name: "open", colour: "k5", values: of("connections") }]} />
        </div>
      )}
    </div></div>
  );
}
