// Throughput: what is set, and what a change would do before it is made.
import { useState } from "preact/hooks";
import { type Container, type Offer, offers, partitions, type PartitionsView, setOffer } from "../lib/api";
import { count, plural } from "../lib/format";
import { useLoaded } from "../lib/live";
import { access, Field, Note, Problem, Segmented, toast, WriteButton } from "../parts/parts";
import { reloadFigures } from "./context";

// How many partitions a throughput needs: each serves so much at most.
const needed = (units: number, view: PartitionsView) => Math.max(1, Math.ceil(units / view.limits.partitionUnits));

interface ThroughputProps { rid: string; name: string; view?: PartitionsView; onDone?: () => void }

export function ThroughputForm(props: ThroughputProps) {
  const offer = useLoaded(`offer/${props.rid}`, async () => (await offers()).find((one) => one.offerResourceId === props.rid) ?? null);
  if (offer.error) return <Problem error={offer.error} retry={offer.reload} />;
  // Nothing can be typed before it is known what is set: it would be lost.
  if (offer.data === undefined) return <p class="dim" aria-busy="true">Reading the throughput of {props.name}</p>;
  if (offer.data === null) return <p class="dim">{props.name} has no throughput of its own. It is given when it is created.</p>;
  const { offerAutopilotSettings, offerThroughput } = offer.data.content;
  const unitsNow = offerAutopilotSettings?.maxThroughput ?? offerThroughput ?? 0;
  const autoscaleNow = offerAutopilotSettings !== undefined;
  return <OfferForm key={`${unitsNow}/${autoscaleNow}`} {...props} offer={offer.data} reload={offer.reload} unitsNow={unitsNow} autoscaleNow={autoscaleNow} />;
}

// What is typed begins with what is set.
function OfferForm({ name, view, onDone, offer, reload, unitsNow, autoscaleNow }: ThroughputProps & {
  offer: Offer; reload: () => void; unitsNow: number; autoscaleNow: boolean;
}) {
  const [kind, setKind] = useState<"manual" | "autoscale">(autoscaleNow ? "autoscale" : "manual");
  const [units, setUnits] = useState(unitsNow);
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const mayWrite = access.use() === "read-write";
  const step = kind === "autoscale" ? 1000 : 100;
  const least = kind === "autoscale" ? 1000 : 400;
  const wrong = units < least ? `at least ${count(least)}` : units % step !== 0 ? `a multiple of ${count(step)}` : "";
  const changed = units !== unitsNow || (kind === "autoscale") !== autoscaleNow;
  return (
    <form class="stack" onSubmit={async (event) => {
      event.preventDefault();
      if (!changed || wrong) return;
      setBusy(true);
      setError(undefined);
      try {
        await setOffer(offer, { units, autoscale: kind === "autoscale" });
        toast(`${name}: ${count(units)} RU/s${kind === "autoscale" ? " at most" : ""}`);
        reload();
        await reloadFigures();
        onDone?.();
      } catch (caught) {
        setError(caught);
      }
      setBusy(false);
    }}>
      <div class="row wrap fields">
        <Segmented label="Kind" value={kind} onChange={(chosen) => { setKind(chosen); if (chosen === "autoscale") setUnits(Math.max(1000, Math.ceil(units / 1000) * 1000)); }} options={[["manual", "Manual"], ["autoscale", "Autoscale"]]} />
        <Field label={kind === "autoscale" ? "RU/s at most" : "RU/s"}>{(id) => <input class="input" id={id} type="number" style={{ width: "130px" }} min={least} step={step} value={units} disabled={!mayWrite} onInput={(event) => setUnits(Number(event.currentTarget.value))} />}</Field>
        {kind === "autoscale" && <span class="dim">between {count(units / 10)} and {count(units)}, by the load</span>}
      </div>
      {view && <>
        <input class="slider" type="range" aria-label="RU/s" min={least} max={Math.min(view.limits.containerUnitsMax, Math.max(view.limits.partitionUnits * 12, unitsNow * 2))} step={step} value={units} disabled={!mayWrite} onInput={(event) => setUnits(Number(event.currentTarget.value))} />
        <Preview view={view} units={units} now={unitsNow} />
      </>}
      {error !== undefined && <Problem error={error} />}
      <div class="row"><WriteButton type="submit" kind="primary" disabled={!changed || wrong !== "" || busy}>{changed ? `Set ${count(units)} RU/s` : "Nothing to set"}</WriteButton>{wrong && <span class="over">{wrong}</span>}</div>
    </form>
  );
}

function Preview({ view, units, now }: { view: PartitionsView; units: number; now: number }) {
  const have = view.partitions.length;
  const want = Math.max(have, needed(units, view));
  const share = units / want;
  const added = want - have;
  return (
    <div class="preview" aria-live="polite">
      <div class="card"><h3>Partitions</h3><div><span class="big">{want}</span> {added > 0 ? <span class="dim">now {have}: {plural(added, "split")}</span> : <span class="dim">as now</span>}</div>
        <div class="blocks" aria-hidden="true">{Array.from({ length: Math.min(want, 60) }, (_, i) => <i key={i} class={i >= have ? "new" : ""} />)}</div></div>
      <div class="card"><h3>Each gets</h3><div><span class="big">{count(share)}</span> <span class="dim">RU/s, now {count(now / have)}</span></div>
        <p class="small dim">A partition serves {count(view.limits.partitionUnits)} at most.</p></div>
      <div class="card"><h3>One key can get</h3><div><span class="big">{count(share)}</span> <span class="dim">RU/s</span></div>
        <p class="small dim">All items of a key are in one partition, so no key gets more than that, whatever the container has.</p></div>
      {added > 0 && <Note state="uneven" title={`${plural(added, "split")} will follow`}>Partitions are split while they serve; each pauses its writes for a moment. Watch them on the Partitions tab.</Note>}
      {units < now && <Note state="unknown" title="The partitions stay">Lower throughput takes effect at once. Partitions are not merged, so each gets less.</Note>}
      {added <= 0 && units > now && <Note state="even" title="At once">No split is needed: the partitions that are there serve it.</Note>}
    </div>
  );
}

export function Scale({ db, container }: { db: string; container: Container }) {
  const view = useLoaded(`scale/${db}/${container.id}`, async () => (await partitions(db, container.id, 0)).body, 3000);
  if (view.error && !view.data) return <div class="page"><Problem error={view.error} retry={view.reload} /></div>;
  return (
    <div class="page"><div class="stack">
      {view.data?.throughput?.shared && <Note state="unknown" title="Shared throughput">The database {db} has {view.data.throughput.autoscale ? `up to ${count(view.data.throughput.units)} RU/s, by the load,` : `${count(view.data.throughput.units)} RU/s`} for all containers without throughput of their own. Change it on the <a href={`#/data/${encodeURIComponent(db)}`}>database’s page</a>.</Note>}
      {view.data?.scaling && <Note state="uneven" title="Scaling">Partitions are being split towards what was set.</Note>}
      {!view.data?.throughput?.shared && <section class="card"><header><h2>Throughput of {container.id}</h2></header>
        {view.data && <ThroughputForm rid={container._rid} name={container.id} view={view.data} onDone={view.reload} />}</section>}
    </div></div>
  );
}
