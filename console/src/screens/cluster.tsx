// The nodes of a cluster: who lives and how lately it said so, who serves what; drains, moves and a new
// spread can be asked for.
import { useState } from "preact/hooks";
import { ApiError, type ClusterView, clusterView, drainNode, type MemberView, moveRange, partitions, rebalanceCluster } from "../lib/api";
import { bytes, count, plural, span } from "../lib/format";
import { Shared, useLoaded } from "../lib/live";
import { link } from "../lib/route";
import { Button, Dialog, Field, Note, Problem, toast, WriteButton } from "../parts/parts";
import { tree } from "./context";

const every_ms = 2000;
const containersMax = 20; // whose ranges are asked for
const lateS = 2; // a lease is renewed many times in this

// Undefined: not known yet. Null: a server alone.
export const cluster = new Shared<ClusterView | null | undefined>(undefined);
export async function lookForNodes() {
  try {
    cluster.set((await clusterView()).body);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) cluster.set(null);
    else throw error;
  }
}

function healthOf(one: MemberView): [string, string] {
  if (one.state !== "live") return ["refused", one.state === "revoked" ? "its lease was ended" : "its lease is over"];
  if (one.cannotReach) return ["uneven", `cannot reach ${one.cannotReach}`];
  if (one.silentS > lateS) return ["uneven", `silent for ${span(one.silentS)}`];
  if (one.draining) return ["uneven", one.ranges > 0 ? `draining: ${plural(one.ranges, "range")} left` : "drained: it can be stopped"];
  return ["even", "well"];
}

interface Owned { db: string; container: string; ranges: { id: number; node: string; bytes: number; known: boolean }[] }

function Move({ db, container, range, from, nodes, onClose }: { db: string; container: string; range: number; from: string; nodes: string[]; onClose: () => void }) {
  const others = nodes.filter((one) => one !== from);
  const [to, setTo] = useState(others[0] ?? "");
  return (
    <Dialog title={`Move range ${range} of ${container}`} submit="Move it" disabled={to === ""} onClose={onClose}
      onSubmit={async () => {
        await moveRange(db, container, range, to);
        toast(`Range ${range} goes to ${to}`);
        onClose();
      }}>
      <p>{from || "No node"} serves it now. Requests for it wait for a moment while it moves; none is lost.</p>
      <Field label="To">{(field) => <select class="input" id={field} value={to} onChange={(event) => setTo(event.currentTarget.value)}>{others.map((one) => <option key={one}>{one}</option>)}</select>}</Field>
    </Dialog>
  );
}

export function Cluster() {
  const view = cluster.use();
  const looked = useLoaded("cluster", lookForNodes, every_ms);
  const all = tree.use()?.flatMap((node) => node.containers.map((one) => ({ db: node.id, container: one.id }))) ?? [];
  const asked = all.slice(0, containersMax);
  const owned = useLoaded(`owned/${asked.map((one) => `${one.db}/${one.container}`).join("|")}`, async () =>
    Promise.all(asked.map(async (one): Promise<Owned> => ({ ...one, ranges: (await partitions(one.db, one.container, 0)).body.partitions.map(({ id, node, bytes: size, known }) => ({ id, node, bytes: size, known })) }))), every_ms);
  const [moving, setMoving] = useState<{ db: string; container: string; range: number; from: string }>();
  const [chosen, setChosen] = useState("");
  const [error, setError] = useState<unknown>();
  const act = async (what: () => Promise<unknown>, said: string) => {
    setError(undefined);
    try {
      await what();
      toast(said);
      looked.reload();
    } catch (caught) {
      setError(caught);
    }
  };
  if (view === null) return <div class="page"><div class="empty"><h2>This server is alone</h2><p>Several servers over one volume are a cluster: each serves some of the partitions, and any takes any request.</p><code>orrery serve --node NAME --node-address HOST:PORT …</code></div></div>;
  if (!view) return looked.error ? <div class="page"><Problem error={looked.error} retry={looked.reload} /></div> : <div class="page" aria-busy="true" />;
  const members = [...view.members].sort((a, b) => (a.name < b.name ? -1 : 1));
  const live = members.filter((one) => one.state === "live");
  const newest = Math.max(view.catalogLsn, ...members.map((one) => one.catalogLsn));
  const unwell = members.filter((one) => healthOf(one)[0] !== "even");
  const nodes = live.map((one) => one.name);
  const rows = (owned.data ?? []).filter((one) => chosen === "" || one.ranges.some((range) => range.node === chosen));
  return (
    <div class="page"><div class="stack">
      <div class="page-head"><h1>Cluster</h1><span class="tag">{plural(live.length, "node")}</span>
        <span class="small dim">asked {view.node}; the coordinator is {view.coordinator || "not known"}; plan {view.term}.{view.plan}</span><span class="grow" />
        <WriteButton onClick={() => act(rebalanceCluster, "Partitions are being spread anew")}>Spread anew</WriteButton></div>
      {error !== undefined && <Problem error={error} />}
      {looked.error !== undefined && <Problem error={looked.error} retry={looked.reload} />}
      {!view.leaseGood && <Note state="refused" title={`${view.node} has no good lease`}>It answers 503 until it has one: look at its log and whether it reaches the volume.</Note>}
      <Note state={!view.coordinator ? "refused" : unwell.length > 0 ? "uneven" : "even"} title={!view.coordinator ? "Nobody coordinates" : unwell.length > 0 ? `${unwell.map((one) => one.name).join(", ")}: look` : "All nodes are well"}>
        {unwell.map((one) => `${one.name}: ${healthOf(one)[1]}.`).join(" ") || `${plural(view.ranges, "range")} are served by ${plural(live.length, "node")}.`}</Note>
      <section class="card"><header><h2>Nodes</h2></header>
        <div class="scroll-x" tabIndex={0} role="group" aria-label="Nodes">
          <table class="list nodes"><thead><tr><th scope="col">node</th><th scope="col">address</th><th scope="col">health</th><th scope="col" class="num">ranges</th><th scope="col" class="num">lease renewed</th><th scope="col" class="num">catalog behind</th><th scope="col">plan</th><th scope="col"><span class="hidden">actions</span></th></tr></thead>
            <tbody>{members.map((one) => {
              const [state, word] = healthOf(one);
              return <tr key={`${one.name}/${one.incarnation}`}>
                <td><b class="strong">{one.name}</b>{one.name === view.coordinator && <> <span class="tag">coordinator</span></>}{one.name === view.node && <> <span class="tag">asked</span></>}</td>
                <td class="code">{one.address}</td><td><span class="row"><span class={`mark ${state}`} aria-hidden="true" />{word}</span></td>
                <td class="num">{count(one.ranges)}</td><td class="num">{one.silentS < 0.1 ? "now" : `${one.silentS.toFixed(1)} s ago`}</td>
                <td class="num">{one.catalogLsn === 0 ? "–" : count(Math.max(0, newest - one.catalogLsn))}</td><td>{view.isCoordinator ? (one.hasPlan ? "newest" : "older") : "–"}</td>
                <td><div class="row"><Button aria-pressed={chosen === one.name} label={`Its ranges: ${one.name}`} onClick={() => setChosen(chosen === one.name ? "" : one.name)}>Its ranges</Button>
                  {one.state === "live" && (one.draining
                    ? <WriteButton label={`Undrain ${one.name}`} onClick={() => act(() => drainNode(one.name, false), `${one.name} takes partitions again`)}>Undrain</WriteButton>
                    : <WriteButton label={`Drain ${one.name}`} disabled={live.length < 2} onClick={() => act(() => drainNode(one.name, true), `${one.name} is being drained`)}>Drain</WriteButton>)}</div></td></tr>;
            })}</tbody></table>
        </div>
      </section>
      <section class="card stack"><header><h2>Who serves what{chosen ? `: ${chosen}` : ""}</h2></header>
        {owned.error !== undefined && <Problem error={owned.error} retry={owned.reload} />}
        {rows.length === 0 ? <p class="dim">{chosen ? `${chosen} serves nothing.` : "No containers yet."}</p> : rows.map((one) => (
          <section key={`${one.db}/${one.container}`} aria-label={`${one.db} / ${one.container}`}>
            <h3 class="small"><a href={link(["data", one.db, one.container, "partitions"])}>{one.db} / {one.container}</a></h3>
            <ul class="owned">{one.ranges.filter((range) => chosen === "" || range.node === chosen).map((range) => (
              <li key={range.id}><code>{range.id}</code> <b class="strong">{range.node || "nobody yet"}</b> <span class="dim small">{range.known ? bytes(range.bytes) : "?"}</span>
                <WriteButton kind="quiet" label={`Move range ${range.id} of ${one.container}`} disabled={nodes.filter((node) => node !== range.node).length === 0} onClick={() => setMoving({ db: one.db, container: one.container, range: range.id, from: range.node })}>Move…</WriteButton></li>
            ))}</ul>
          </section>
        ))}
        {all.length > asked.length && <p class="small dim">The first {containersMax} of {count(all.length)} containers. All: <code>orrery cluster status</code>.</p>}
      </section>
      {moving && <Move {...moving} nodes={nodes} onClose={() => { setMoving(undefined); owned.reload(); }} />}
    </div></div>
  );
}
