// Where every key lives: the physical partitions of a container with what they store and serve, the
// keys that fill them, the ring of hashes, and how it came to be. A split can be started and watched.
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, type Container, hotKeys, type PartitionFigures, partitions, type PartitionsView, split, type SplitCause } from "../lib/api";
import { bytes, count, dateTime, ms, percent, plural, short } from "../lib/format";
import { pathParts } from "../lib/json";
import { useLoaded } from "../lib/live";
import { link } from "../lib/route";
import { boundLabel, colours, keyLabel, type Load, type Verdict, verdictOf } from "../lib/verdict";
import { Dialog, Field, Note, Problem, Segmented, WriteButton } from "../parts/parts";
import { tree } from "./context";
import { familyOf, Ring } from "./ring";

const every_ms = 1500;
const mean_ms = 10_000; // the load is the mean of this long
const keysEvery_ms = 15_000;
const keysOfRange = 6;

// The partitions, looked at again and again; loads are the growth of counters.
interface Live { view?: PartitionsView; loads: Map<number, Load>; error?: unknown; look: () => Promise<void> }
function useLive(db: string, id: string): Live {
  const [state, setState] = useState<{ view?: PartitionsView; loads: Map<number, Load>; error?: unknown }>({ loads: new Map() });
  const past = useRef<PartitionsView[]>([]);
  const keys = useRef<{ at: number; keys: PartitionsView["keys"]; largestKeys: PartitionsView["largestKeys"]; count: number }>({ at: 0, keys: [], largestKeys: [], count: 0 });
  const look = async () => {
    try {
      const isKeyTime = Date.now() - keys.current.at > keysEvery_ms || keys.current.count !== past.current.at(-1)?.partitions.length;
      const { body } = await partitions(db, id, isKeyTime ? keysOfRange : 0);
      if (isKeyTime) keys.current = { at: Date.now(), keys: body.keys, largestKeys: body.largestKeys, count: body.partitions.length };
      const view = { ...body, keys: keys.current.keys, largestKeys: keys.current.largestKeys };
      past.current = [...past.current.filter((one) => body.at - one.at <= mean_ms), body];
      const loads = new Map<number, Load>();
      for (const one of body.partitions) {
        const first = past.current.find((earlier) => earlier.partitions.some((other) => other.id === one.id));
        const old = first?.partitions.find((other) => other.id === one.id);
        const seconds = first ? (body.at - first.at) / 1000 : 0;
        if (old && seconds > 0.5) {
          const grown = (name: "requestUnits" | "throttled" | "reads" | "writes") => Math.max(0, one[name] - old[name]) / seconds;
          const served = grown("reads") + grown("writes");
          const price = served > 0 ? grown("requestUnits") / served : 1;
          loads.set(one.id, { unitsPerSecond: grown("requestUnits"), throttledPerSecond: grown("throttled"), askedPerSecond: grown("requestUnits") + grown("throttled") * price });
        }
      }
      setState({ view, loads });
    } catch (error) {
      setState((old) => ({ ...old, error }));
    }
  };
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    let over = false;
    past.current = [];
    keys.current.at = 0;
    const again = async () => {
      if (document.visibilityState === "visible") await look();
      if (!over) timer = setTimeout(again, every_ms);
    };
    void again();
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [db, id]);
  return { ...state, look };
}

const causes: Record<SplitCause, string> = { asked: "somebody asked", storage: "it was full", throughput: "of the throughput", load: "of its load" };

type Order = "hash" | "size" | "load";

const stored = (one: PartitionFigures) => (one.known ? bytes(one.bytes) : "?");

function Bars({ view, loads, order }: { view: PartitionsView; loads: Map<number, Load>; order: Order }) {
  const named = colours(view);
  const rows = [...view.partitions];
  if (order === "size") rows.sort((a, b) => b.bytes - a.bytes);
  if (order === "load") rows.sort((a, b) => (loads.get(b.id)?.unitsPerSecond ?? 0) - (loads.get(a.id)?.unitsPerSecond ?? 0));
  const isDense = rows.length > 40;
  // The limit is a line; small data is shown on a scale of its own, or it could not be seen.
  const fullest = Math.max(1, ...rows.map((one) => one.bytes));
  const isToLimit = fullest > view.limits.partitionBytes / 3;
  const scale = isToLimit ? view.limits.partitionBytes * 1.02 : fullest * 1.05;
  const share = Math.max(1, ...rows.map((one) => one.share));
  const busiest = Math.max(share, ...rows.map((one) => loads.get(one.id)?.askedPerSecond ?? 0));
  const segments = (one: PartitionFigures): [number, number][] => {
    const own = view.keys.filter((key) => key.range === one.id && named.has(`${key.range}/${key.key}`)).map((key): [number, number] => [named.get(`${key.range}/${key.key}`)!, key.bytes]);
    const rest = one.bytes - own.reduce((sum, [, size]) => sum + size, 0);
    return [...own.sort((a, b) => b[1] - a[1]), [0, Math.max(0, rest)]];
  };
  const isShared = view.throughput?.shared ?? false;
  return (
    <table class="bars" aria-label="Physical partitions">
      <thead><tr>
        <th scope="col">range</th>
        <th scope="col" style={{ width: "42%" }}>storage{isToLimit ? ` of ${bytes(view.limits.partitionBytes)}` : ", beside the fullest"}</th><th scope="col" class="num">stored</th>
        <th scope="col" class="optional" style={{ width: "30%" }}>RU/s of {isShared ? "the database’s" : "its"} {count(share)}</th><th scope="col" class="num">asked</th>
        <th scope="col" class="num">over/s</th>
      </tr></thead>
      <tbody>
        {rows.map((one) => {
          const load = loads.get(one.id);
          const used = one.share > 0 && load ? load.askedPerSecond / one.share : 0;
          return (
            <tr key={one.id} class={isDense ? "dense" : ""} title={`Range ${one.id}: ${one.min || "00"} to ${one.max}${one.node ? `, at ${one.node}` : ""}`}>
              <th scope="row">{isDense ? <span class="hidden">{one.id}</span> : <span class="code">{one.id}{one.splitting ? " ↗" : ""}{one.problem ? " ■" : ""}</span>}</th>
              <td><div class="track">
                {segments(one).map(([colour, size]) => size > 0 && <div key={colour} class={`seg ${colour ? `bg-k${colour}` : "bg-rest"}`} style={{ width: `${(size / scale) * 100}%` }} />)}
                {isToLimit && <div class="limit" style={{ left: `${(view.limits.partitionBytes / scale) * 100}%` }} />}
              </div></td>
              <td class="num">{isDense ? <span class="hidden">{stored(one)}</span> : stored(one)}</td>
              <td class="optional"><div class="track">
                {load && load.unitsPerSecond > 0 && <div class="seg bg-rest" style={{ width: `${(Math.min(load.unitsPerSecond, one.share) / busiest / 1.02) * 100}%` }} />}
                {load && load.askedPerSecond > one.share && <div class="refused" style={{ width: `${((load.askedPerSecond - Math.min(load.unitsPerSecond, one.share)) / busiest / 1.02) * 100}%` }} />}
                <div class="limit" style={{ left: `${(one.share / busiest / 1.02) * 100}%` }} />
              </div></td>
              <td class={`num ${used > 1 ? "over" : used > 0.8 ? "near" : ""}`}>{isDense ? <span class="hidden">{percent(used)}</span> : percent(used)}</td>
              <td class={`num ${load && load.throttledPerSecond > 0 ? "over" : "dim"}`}>{load && load.throttledPerSecond > 0 ? short(load.throttledPerSecond) : "–"}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

// The filter that finds a key's items. The server shows a key as JSON where it is not a plain text.
function filterOf(container: Container, key: string): string | undefined {
  const paths = container.partitionKey?.paths ?? [];
  if (paths.length === 0) return undefined;
  try {
    const parsed = JSON.parse(key) as unknown;
    const values = Array.isArray(parsed) ? parsed : [parsed];
    if (values.length !== paths.length || values.some((value) => typeof value === "object")) return undefined;
    return paths.map((path, i) => `c${pathParts(path).map((part) => `["${part}"]`).join("")} = ${JSON.stringify(values[i])}`).join(" AND ");
  } catch {
    return undefined;
  }
}

function Picture({ db, container, live: { view, loads, error, look } }: { db: string; container: Container; live: Live }) {
  const [order, setOrder] = useState<Order>("hash");
  const [shape, setShape] = useState<"ring" | "table">("ring");
  if (!view) return error ? <Problem error={error} retry={look} /> : <div class="card" aria-busy="true" />;
  const silent = view.partitions.filter((one) => !one.known);
  const verdict: Verdict = silent.length > 0
    ? { state: "unknown", title: "Not all figures are known", text: `${[...new Set(silent.map((one) => one.node || "Nobody"))].join(", ")} did not tell of ${silent.length === 1 ? "range" : "ranges"} ${silent.map((one) => one.id).join(", ")}.` }
    : verdictOf(view, loads);
  const named = colours(view);
  const shown = [...view.largestKeys].sort((a, b) => (named.get(`${a.range}/${a.key}`) ?? 9) - (named.get(`${b.range}/${b.key}`) ?? 9) || b.bytes - a.bytes).slice(0, 8);
  const size = view.partitions.reduce((sum, one) => sum + one.bytes, 0);
  const items = view.partitions.reduce((sum, one) => sum + one.items, 0);
  const family = familyOf(view, loads);
  return (
    <section class="card stack" aria-label={`${db} / ${container.id}`}>
      <div class="row wrap"><h2>{container.id}</h2><code class="dim">{container.partitionKey?.paths.join(", ") ?? "no key"}</code>
        <span class="grow" />
        <span><b class="strong">{bytes(size)}</b> <span class="dim">in {plural(items, "item")}</span></span>
        <span><b class="strong">{plural(view.partitions.length, "partition")}</b></span>
        {view.throughput && <span><b class="strong">{count(view.throughput.units)}</b> <span class="dim">RU/s{view.throughput.autoscale ? " at most" : ""}{view.throughput.shared ? ", shared" : ""}</span></span>}
        {view.scaling && <span class="tag warn">scaling</span>}
        {view.partitions.some((one) => one.splitting) && <span class="tag warn">splitting</span>}
      </div>
        <Note state={verdict.state} title={verdict.title}>{verdict.text}</Note>
        {view.partitions.some((one) => one.problem) && <Note state="refused" title="A partition takes no writes">{view.partitions.filter((one) => one.problem).map((one) => `Range ${one.id}: ${one.problem}`).join(" ")}</Note>}
        <div class="row"><span class="grow" /><Segmented<Order> label="Order" value={order} onChange={setOrder} options={[["hash", view.placement === "range" ? "By key" : "By hash"], ["size", "By size"], ["load", "By load"]]} /></div>
        <div class="scroll-x" tabIndex={0} role="group" aria-label="Storage and load"><Bars view={view} loads={loads} order={order} /></div>
        <div class="legend">
          <span><i class="swatch bg-k1" />a key among the six that fill most of their range</span><span><i class="swatch bg-rest" />all other keys</span>
          <span><i class="hatch" />asked for beyond the share</span><span><i class="stroke" />the limit, or the share</span>
        </div>
        <div class="halves">
          <div class="stack">
            <Segmented label="Ranges as" value={shape} onChange={setShape} options={[["ring", "Ring"], ["table", "Table"]]} />
            {shape === "ring" ? <Ring view={view} loads={loads} /> : (
              <div class="scroll-x" tabIndex={0} role="group" aria-label="Ranges">
                <table class="keys"><thead><tr><th scope="col">range</th><th scope="col">from</th><th scope="col">to</th><th scope="col">came from</th></tr></thead>
                  <tbody>{view.partitions.map((one) => <tr key={one.id}><td class="code">{one.id}</td><td class="code">{boundLabel(view, one.min)}</td><td class="code">{boundLabel(view, one.max)}</td><td class="code">{one.parents.join(" → ") || "–"}</td></tr>)}</tbody></table>
              </div>
            )}
          </div>
          <div class="stack">
            <section>
              <h2>Fullest keys</h2>
              {shown.length === 0 ? <p class="dim">No items yet: no keys.</p> : (
                <table class="keys">
                  <thead><tr><th scope="col">key</th><th scope="col" class="num">range</th><th scope="col" class="num">stored</th><th scope="col" class="num">of range</th><th scope="col" class="num">items</th></tr></thead>
                  <tbody>{shown.map((one) => {
                    const range = view.partitions.find((other) => other.id === one.range);
                    const colour = named.get(`${one.range}/${one.key}`);
                    const filter = filterOf(container, one.key);
                    return <tr key={`${one.range}/${one.key}`}>
                      <td class="tight" style={{ maxWidth: "180px" }}><i class={`swatch ${colour ? `bg-k${colour}` : "bg-rest"}`} /> {filter ? <a class="code" href={link(["data", db, container.id, "items"], { where: filter })}>{keyLabel(one.key)}</a> : <code>{keyLabel(one.key)}</code>}</td>
                      <td class="num code">{one.range}</td><td class="num">{bytes(one.bytes)}</td><td class="num">{range && range.bytes > 0 ? percent(one.bytes / range.bytes) : "–"}</td><td class="num">{count(one.items)}</td></tr>;
                  })}</tbody>
                </table>
              )}
            </section>
            <HotKeyTable db={db} container={container} />
            {family.splits.length > 0 && (
              <section>
                <h2>Splits</h2>
                <table class="keys"><thead><tr><th scope="col">range</th><th scope="col">became</th><th scope="col">because</th><th scope="col">at</th></tr></thead>
                  <tbody>{[...family.splits].reverse().slice(0, 8).map((one) => {
                    const past = view.splits.find((other) => other.parent === one.parent);
                    return <tr key={one.parent}><td class="code">{one.parent}</td><td class="code">{one.children.join(", ")}</td><td>{past ? causes[past.cause] : "–"}</td><td class="dim">{past ? dateTime(past.at) : "–"}</td></tr>;
                  })}</tbody></table>
              </section>
            )}
          </div>
        </div>
    </section>
  );
}

// A sample of the requests, what was refused at the price of the others. It says how many it is about.
function HotKeyTable({ db, container }: { db: string; container: Container }) {
  const hot = useLoaded(`hot/${db}/${container.id}`, async () => (await hotKeys(db, container.id)).body, 3000);
  const shown = (hot.data?.keys ?? []).filter((one) => one.part >= 0.005).slice(0, 6);
  const isEnough = (hot.data?.sampled ?? 0) >= 20;
  return (
    <section>
      <h2>Hottest keys <span class="dim small">{isEnough ? `of about ${count(Math.round(hot.data!.sampled))} requests looked at` : ""}</span></h2>
      {!isEnough ? <p class="dim small">Too few requests lately to tell.</p> : shown.length === 0 ? <p class="dim small">No key has more than 0.5 % of the RU.</p> : (
        <table class="keys"><thead><tr><th scope="col">key</th><th scope="col" style={{ width: "40%" }}>part of the RU asked for</th><th scope="col" class="num">in percent</th><th scope="col" class="num">RU/s</th></tr></thead>
          <tbody>{shown.map((one) => {
            const filter = filterOf(container, one.key);
            return <tr key={one.key}><td class="tight" style={{ maxWidth: "180px" }}>{filter ? <a class="code" href={link(["data", db, container.id, "items"], { where: filter })}>{keyLabel(one.key)}</a> : <code>{keyLabel(one.key)}</code>}</td>
              <td><div class="heat" style={{ width: `${Math.max(1, one.part * 100)}%` }} /></td><td class="num">{percent(one.part)}</td><td class="num">{short(one.unitsPerSecond)}</td></tr>;
          })}</tbody></table>
      )}
    </section>
  );
}

function Compared({ db, container }: { db: string; container: Container }) {
  return <Picture db={db} container={container} live={useLive(db, container.id)} />;
}

function SplitDialog({ db, container, view, look, onClose }: { db: string; container: Container; view: PartitionsView; look: () => Promise<void>; onClose: () => void }) {
  const largest = [...view.partitions].sort((a, b) => b.bytes - a.bytes)[0];
  const [range, setRange] = useState(largest?.id ?? 0);
  const [state, setState] = useState<"ask" | "running" | "done">("ask");
  const [report, setReport] = useState<{ children: [number, number]; pauseMs: number; totalMs: number }>();
  const one = view.partitions.find((other) => other.id === range);
  return (
    <Dialog title={state === "done" ? `Range ${range} is split` : "Split a range"} submit="Split it now" onClose={onClose}
      onSubmit={state === "done" ? undefined : async () => {
        setState("running");
        try {
          const { body } = await split(db, container.id, range);
          setReport(body);
          setState("done");
          await look();
        } catch (caught) {
          setState("ask");
          if (caught instanceof ApiError && caught.status === 409) {
            throw new ApiError(409, caught.code, `${caught.message}\nAll items of one key stay together, so a range that is one key cannot be cut. Another partition key would spread it.`, caught.activityId);
          }
          throw caught;
        }
      }}>
      {state === "done" && report ? (
        <>
          <ol class="steps">
            {["cut in half by bytes", "flushed", "writes paused", "cloned", "published", "trimming goes on in the background"].map((step) => <li key={step} class="done"><span class="mark even" />{step}</li>)}
          </ol>
          <Note state="even" title={`Ranges ${report.children.join(" and ")} serve now`}>Writes paused for {ms(report.pauseMs)}; {ms(report.totalMs)} in all. No request failed: clients find the new ranges by themselves.</Note>
        </>
      ) : (
        <>
          <Field label="Range">{(id) => <select class="input" id={id} value={range} disabled={state === "running"} onChange={(event) => setRange(Number(event.currentTarget.value))}>
            {view.partitions.map((other) => <option key={other.id} value={other.id}>{other.id}: {bytes(other.bytes)}, {plural(other.items, "item")}</option>)}
          </select>}</Field>
          <p>{one && one.items === 0 ? `It is empty: it is cut at the middle of its ${view.placement === "range" ? "keys" : "hashes"}.` : "It is cut where half of its bytes are on each side."} It serves on while that happens; writes to it pause for a moment at the end.</p>
          {state === "running" && <p role="status" class="strong">Splitting range {range}…</p>}
        </>
      )}
    </Dialog>
  );
}

export function Partitions({ db, container }: { db: string; container: Container }) {
  const [splitting, setSplitting] = useState(false);
  const [other, setOther] = useState("");
  const live = useLive(db, container.id);
  const all = tree.use()?.flatMap((node) => node.containers.map((one) => ({ db: node.id, one }))) ?? [];
  const compared = all.find(({ db: name, one }) => `${name}/${one.id}` === other);
  return (
    <div class="page"><div class="stack" style={compared ? { maxWidth: "none" } : {}}>
      <div class="page-head">
        <span class="row small dim"><span class={`mark ${live.error ? "uneven" : "live"}`} />{live.error ? "no answer" : "live; the load is the mean of 10 s"}</span>
        <span class="grow" />
        {all.length > 1 && <label class="row small dim wide-only">Compare with <select class="input" value={other} onChange={(event) => setOther(event.currentTarget.value)}>
          <option value="">nothing</option>
          {all.filter(({ db: name, one }) => name !== db || one.id !== container.id).map(({ db: name, one }) => <option key={`${name}/${one.id}`} value={`${name}/${one.id}`}>{name} / {one.id}</option>)}
        </select></label>}
        <WriteButton id="split" disabled={!live.view} onClick={() => setSplitting(true)}>Split a range…</WriteButton>
        <a class="btn" href={link(["data", db, container.id, "scale"])}>Scale…</a>
      </div>
      <div class={compared ? "compare" : ""}>
        <Picture db={db} container={container} live={live} />
        {compared && <Compared key={other} db={compared.db} container={compared.one} />}
      </div>
      {splitting && live.view && <SplitDialog db={db} container={container} view={live.view} look={live.look} onClose={() => setSplitting(false)} />}
    </div></div>
  );
}
