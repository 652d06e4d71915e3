// Is it well: the load, what is refused, what is stored, and the containers that need a look first.
import { useState } from "preact/hooks";
import { dbPath, history } from "../lib/api";
import { bytes, count, percent, plural, short, units } from "../lib/format";
import { useLoaded } from "../lib/live";
import { go, link } from "../lib/route";
import { Icon, isOther, Note, otherReason, Problem, Snippets, WriteButton } from "../parts/parts";
import { CreateContainer, CreateDatabase, DeleteDialog } from "./create";
import { figures, nameOf, tree, treeError, reloadTree } from "./context";
import { ThroughputForm } from "./scale";

function Spark({ values, colour }: { values: number[]; colour: string }) {
  const most = Math.max(...values, 1e-9);
  const points = values.map((value, i) => `${(i / Math.max(1, values.length - 1)) * 200},${32 - (value / most) * 28}`).join(" ");
  return <svg class="spark" viewBox="0 0 200 34" preserveAspectRatio="none" aria-hidden="true">
    {values.length > 1 && <polyline points={points} fill="none" class={`stroke-${colour}`} stroke-width="1.5" vector-effect="non-scaling-stroke" />}
  </svg>;
}

export function Overview() {
  const all = tree.use();
  const error = treeError.use();
  const now = figures.use();
  const [creating, setCreating] = useState(false);
  const past = useLoaded("overview", async () => (await history(5, Date.now() / 1000 - 900)).body, 10_000);
  const series = (name: string) => {
    const at = past.data?.figures.indexOf(name) ?? -1;
    return at < 0 ? [] : past.data!.samples.map((sample) => sample[at] ?? 0);
  };
  if (error && !all) return <div class="page"><Problem error={error} retry={reloadTree} /></div>;
  if (all && all.length === 0) {
    return (
      <div class="page"><div class="empty">
        <h1>Nothing is here yet</h1>
        <p>A database holds containers, and a container holds items. Make a database here, or let a program do it:</p>
        <Snippets database="shop" container="orders" keys={["/customerId"]} />
        <WriteButton kind="primary" icon="plus" id="new-database" onClick={() => setCreating(true)}>New database</WriteButton>
        {creating && <CreateDatabase onClose={() => setCreating(false)} />}
      </div></div>
    );
  }
  const rows = [...(now?.all ?? [])].sort((a, b) => (now!.rates.get(nameOf(b))?.throttledPerSecond ?? 0) - (now!.rates.get(nameOf(a))?.throttledPerSecond ?? 0) || b.bytes - a.bytes);
  const refusing = rows.filter((one) => (now!.rates.get(nameOf(one))?.throttledPerSecond ?? 0) > 0);
  const p99 = series("p99Ms").at(-1) ?? 0;
  const stored = rows.reduce((sum, one) => sum + one.bytes, 0);
  return (
    <div class="page"><div class="stack">
      <div class="page-head"><h1>Overview</h1><span class="grow" /><span class="row small dim"><span class="mark live" />live, every 2 s</span></div>
      {refusing.length > 0
        ? <Note state="refused" title={`${plural(refusing.length, "container")} over budget`}>{refusing.map((one) => nameOf(one)).join(", ")}. Open its partitions to see whether one key or all of them ask too much.</Note>
        : <Note state="even" title="All is well">Nothing is being refused.</Note>}
      <div class="stats">
        <div class="card stat"><h2>Load</h2><span><span class="big">{units(now?.total.unitsPerSecond ?? 0)}</span> <span class="dim">RU/s</span></span><Spark values={series("units")} colour="k2" /></div>
        <div class="card stat"><h2>Over budget</h2><span><span class={`big ${refusing.length ? "over" : ""}`}>{short(now?.total.throttledPerSecond ?? 0)}</span> <span class="dim">a second</span></span><Spark values={series("throttled")} colour="k4" /></div>
        <div class="card stat"><h2>Slowest of a hundred</h2><span><span class="big">{short(p99)}</span> <span class="dim">ms</span></span><Spark values={series("p99Ms")} colour="k3" /></div>
        <div class="card stat"><h2>Stored</h2><span><span class="big">{bytes(stored).split(" ")[0]}</span> <span class="dim">{bytes(stored).split(" ")[1]}</span></span><Spark values={series("bytes")} colour="k1" /></div>
      </div>
      <section class="card">
        <header><h2>Containers</h2></header>
        <div class="scroll-x" tabIndex={0} role="group" aria-label="Containers">
          <table class="list">
            <thead><tr><th scope="col">container</th><th scope="col" class="num">items</th><th scope="col" class="num">stored</th><th scope="col" class="num">partitions</th><th scope="col" class="num">throughput</th><th scope="col" class="num">used</th><th scope="col" class="num">over budget</th></tr></thead>
            <tbody>
              {rows.map((one) => {
                const rate = now!.rates.get(nameOf(one))!;
                return (
                  <tr key={nameOf(one)}>
                    <td><a href={link(["data", one.database, one.container, "partitions"])}>{one.database} / <b>{one.container}</b></a></td>
                    <td class="num">{one.items === null ? "–" : count(one.items)}</td>
                    <td class="num">{bytes(one.bytes)}</td>
                    <td class="num">{one.partitions}{one.scaling ? " ↗" : ""}</td>
                    <td class="num">{one.throughput ? `${count(one.throughput.units)}${one.throughput.autoscale ? " max" : ""}${one.throughput.shared ? " shared" : ""}` : "–"}</td>
                    <td class="num">{one.throughput ? percent(rate.unitsPerSecond / one.throughput.units) : "–"}</td>
                    <td class={`num ${rate.throttledPerSecond > 0 ? "over" : "dim"}`}>{rate.throttledPerSecond > 0 ? `${short(rate.throttledPerSecond)} /s` : "–"}</td>
                  </tr>
                );
              })}
              {now && rows.length === 0 && <tr><td colSpan={7} class="dim">No containers yet. Open a database on the left and make one.</td></tr>}
            </tbody>
          </table>
        </div>
      </section>
    </div></div>
  );
}

export function DatabasePage({ db }: { db: string }) {
  const node = tree.use()?.find((one) => one.id === db);
  const [creating, setCreating] = useState(false);
  const [deleting, setDeleting] = useState(false);
  if (!node) return <div class="page"><div class="empty"><h2>There is no database {db}</h2><a href="#/">Overview</a></div></div>;
  return (
    <div class="page"><div class="stack">
      <div class="page-head"><h1>{db}</h1><span class="tag">{plural(node.containers.length, "container")}</span><span class="grow" />
        <WriteButton of={db} kind="danger" icon="trash" onClick={() => setDeleting(true)}>Delete…</WriteButton>
        <WriteButton of={db} kind="primary" icon="plus" id="new-container" onClick={() => setCreating(true)}>New container</WriteButton></div>
      {isOther(db) && <Note state="unknown" title="Read-only here">{otherReason(db)}</Note>}
      {node.containers.length === 0 && isOther(db) ? null : node.containers.length === 0 ? (
        <div class="empty">
          <h2>{db} has no containers yet</h2>
          <p>A container holds items and spreads them over partitions by one of their properties, the partition key.</p>
          <Snippets database={db} container="orders" keys={["/customerId"]} />
        </div>
      ) : (
        <section class="card"><header><h2>Containers</h2></header>
          <table class="list"><thead><tr><th scope="col">name</th><th scope="col">partition key</th></tr></thead>
            <tbody>{node.containers.map((one) => <tr key={one.id}><td><a href={link(["data", db, one.id, "items"])}>{one.id}</a></td><td><Icon name="key" class="key-icon" /><code>{one.partitionKey?.paths.join(", ") ?? "none"}</code></td></tr>)}</tbody></table>
        </section>
      )}
      {!isOther(db) && <section class="card"><header><h2>Shared throughput</h2></header><ThroughputForm rid={node.rid} name={db} /></section>}
      {creating && <CreateContainer db={db} onClose={() => setCreating(false)} />}
      {deleting && <DeleteDialog what="database" name={db} path={dbPath(db)} onClose={() => setDeleting(false)} onDone={() => { setDeleting(false); go([]); }} />}
    </div></div>
  );
}
