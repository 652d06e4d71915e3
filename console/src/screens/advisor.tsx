// Which partition key the container should have: what the advisor of the server says, from a sample
// of the items and of the requests that were recorded.
import { useState } from "preact/hooks";
import { advise, type AdvisedKey, type AdviseView, ApiError, type Container } from "../lib/api";
import { bytes, count, percent } from "../lib/format";
import { useLoaded } from "../lib/live";
import { Button, Field, Note, Problem } from "../parts/parts";

const shownKeys = 12;

const headline = (view: AdviseView) => ({
  choose: `Choose ${view.best}`,
  keep: `Keep ${view.present}: no other key is much better`,
  change: `Change from ${view.present} to ${view.best}`,
  none_good: `No key is good; the best of them is ${view.best}`,
  insufficient: `Too little is known for a verdict; tentatively ${view.best}`,
}[view.verdict]);

const state = (view: AdviseView) => ({ choose: "even", keep: "even", change: "uneven", none_good: "refused", insufficient: "unknown" } as const)[view.verdict];

// Bytes and RU/s by partition, of the best key beside the present one, on one scale.
function Bars({ view }: { view: AdviseView }) {
  const most = Math.max(1e-9, ...view.bars.flatMap((one) => [...one.bytes, ...one.ru]));
  return (
    <div class="halves advised-bars">
      {view.bars.map((one, i) => (
        <section key={one.key} class="card stack" aria-label={`${one.key} by partition`}>
          <h2><code>{one.key}</code> <span class="dim">{i === 0 ? "best" : "now"}</span></h2>
          <table class="bars"><thead><tr><th scope="col">partition</th><th scope="col" style={{ width: "40%" }}>bytes</th><th scope="col" style={{ width: "40%" }}>RU/s</th></tr></thead>
            <tbody>{one.bytes.slice(0, 40).map((share, at) => (
              <tr key={at}><th scope="row"><span class="code">{at}</span></th>
                {[share, one.ru[at]!].map((part, column) => <td key={column} title={percent(part)}><div class="track"><div class={`seg ${column === 0 ? "bg-k1" : "bg-k2"}`} style={{ width: `${(part / most) * 100}%` }} /></div><span class="hidden">{percent(part)}</span></td>)}
              </tr>))}
            </tbody></table>
          {one.bytes.length > 40 && <p class="small dim">and {one.bytes.length - 40} more partitions</p>}
        </section>
      ))}
    </div>
  );
}

function Ranking({ view, chosen, onChoose }: { view: AdviseView; chosen: string; onChoose: (name: string) => void }) {
  const shown = view.candidates.filter((one, i) => i < shownKeys || one.name === view.present || view.reasons.some(({ key }) => key === one.name));
  const codes = (one: AdvisedKey) => [...one.hard, ...one.warn].map(({ code }) => code.replaceAll("_", " ")).join(", ");
  return (
    <div class="scroll-x" tabIndex={0} role="region" aria-label="Ranked keys">
      <table class="list ranked">
        <thead><tr><th scope="col" class="num">rank</th><th scope="col">key</th><th scope="col" class="num">score</th><th scope="col" class="num">needs RU/s</th><th scope="col" class="num optional">fan-out</th><th scope="col" class="num optional">busiest RU/s</th><th scope="col" class="num optional">largest value</th><th scope="col" class="num">429</th><th scope="col">against it</th></tr></thead>
        <tbody>{shown.map((one) => (
          <tr key={one.name} class={chosen === one.name ? "on" : ""}>
            <td class="num">{view.candidates.indexOf(one) + 1}</td>
            <th scope="row"><button type="button" class="link code" aria-pressed={chosen === one.name} onClick={() => onChoose(one.name)}>{one.name}</button>{one.name === view.present && <span class="tag">now</span>}</th>
            <td class="num">{one.score.toFixed(1)}</td><td class="num">{count(one.needed_ru)}</td><td class="num optional">{percent(one.fan_out)}</td>
            <td class="num optional">{count(one.busiest.ru)}</td><td class="num optional">{bytes(one.largest.at_horizon)}</td>
            <td class={`num ${(one.throttled ?? 0) > 0.01 ? "over" : ""}`}>{one.throttled === null ? "–" : percent(one.throttled)}</td>
            <td class={one.hard.length > 0 ? "over" : "dim"}>{codes(one) || "–"}</td>
          </tr>))}
        </tbody>
      </table>
    </div>
  );
}

function Reasons({ view, name }: { view: AdviseView; name: string }) {
  const one = view.candidates.find((other) => other.name === name);
  if (!one) return null;
  const said = view.reasons.find(({ key }) => key === name)?.because ?? [...one.hard, ...one.warn].map(({ code, text }) => `${code}: ${text}.`);
  const factors = Object.entries(one.factors);
  return (
    <section class="card stack" aria-label={`Why ${name}`}>
      <h2><code>{name}</code> <span class="dim">{one.score.toFixed(1)} of 100</span></h2>
      <ul class="reasons">{said.length > 0 ? said.map((text) => <li key={text}>{text}</li>) : <li>Nothing speaks against it.</li>}</ul>
      <p class="small dim">{factors.map(([factor, value]) => `${factor} ${value.toFixed(2)}`).join(" · ")}; about {count(one.distinct.estimate)} values</p>
    </section>
  );
}

export function Advisor({ db, container }: { db: string; container: Container }) {
  const [asked, setAsked] = useState("");
  const [typed, setTyped] = useState("");
  const [chosen, setChosen] = useState("");
  const loaded = useLoaded(`advise/${db}/${container.id}/${asked}`, async () => (await advise(db, container.id, asked)).body);
  const view = loaded.data;
  if (loaded.error instanceof ApiError && loaded.error.status === 404 && loaded.error.message.includes("no items")) {
    return <div class="page"><div class="empty"><h2>No items yet</h2><p>The advisor judges partition keys by items and by requests. Write some items, use the container as it will be used, and look again; or ask about a file:</p><code>orrery advise --items sample.ndjson --workload requests.ndjson</code></div></div>;
  }
  if (!view) return <div class="page">{loaded.error ? <Problem error={loaded.error} retry={loaded.reload} /> : <div class="card" aria-busy="true">Reading a sample…</div>}</div>;
  const name = view.candidates.some((one) => one.name === chosen) ? chosen : asked && view.candidates.some((one) => one.name === asked) ? asked : view.best;
  return (
    <div class="page"><div class="stack">
      <Note state={state(view)} title={headline(view)}>Confidence {view.confidence}. {count(view.items_read)} items read of {count(view.items)} ({bytes(view.bytes)}), {count(view.requests_read)} requests recorded, peak {count(view.peak_ru)} of {count(view.throughput)} RU/s, judged with {count(view.N)} partitions.</Note>
      {view.notes.map(({ code, text }) => <Note key={code} state="unknown" title={code.replaceAll("_", " ")}>{text}</Note>)}
      <section class="card stack" aria-label="Keys">
        <header class="row wrap"><h2>Keys, best first</h2><span class="grow" />
          <form class="row" onSubmit={(event) => { event.preventDefault(); setAsked(typed.trim()); setChosen(""); }}>
            <Field label="Score a key">{(id) => <input class="input code" id={id} value={typed} placeholder="join(/a,day(/ts))" onInput={(event) => setTyped(event.currentTarget.value)} />}</Field>
            <Button type="submit">Score</Button>
          </form>
          <Button onClick={loaded.reload}>Look again</Button></header>
        {loaded.error !== undefined && <Problem error={loaded.error} />}
        <Ranking view={view} chosen={name} onChoose={setChosen} />
      </section>
      <Reasons view={view} name={name} />
      {view.advice.map(({ code, text }) => <Note key={code} state="uneven" title={code.replaceAll("_", " ")}>{text}.</Note>)}
      <Bars view={view} />
    </div></div>
  );
}
