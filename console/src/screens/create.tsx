// Making and removing databases and containers.
import { useState } from "preact/hooks";
import { call, dbPath, type Json, offers, throughputHeaders } from "../lib/api";
import { useLoaded } from "../lib/live";
import { go } from "../lib/route";
import { Editor } from "../parts/editor";
import { Dialog, Field, Segmented, toast } from "../parts/parts";
import { reloadFigures, reloadTree, tree } from "./context";

export type Kind = "manual" | "autoscale" | "none";
export function ThroughputFields({ kind, setKind, units, setUnits, none }: {
  kind: Kind; setKind: (kind: Kind) => void; units: number; setUnits: (units: number) => void; none: string;
}) {
  return (
    <div class="field">
      <span class="label">Throughput</span>
      <div class="row wrap">
        <Segmented<Kind> label="Kind of throughput" value={kind} onChange={(chosen) => { setKind(chosen); setUnits(chosen === "autoscale" ? Math.max(1000, Math.ceil(units / 1000) * 1000) : units); }}
          options={[["manual", "Manual"], ["autoscale", "Autoscale"], ["none", none]]} />
        {kind !== "none" && (
          <><input class="input" type="number" style={{ width: "110px" }} aria-label={kind === "autoscale" ? "Largest RU/s" : "RU/s"} value={units}
            min={kind === "autoscale" ? 1000 : 400} step={kind === "autoscale" ? 1000 : 100} onInput={(event) => setUnits(Number(event.currentTarget.value))} />
          <span class="dim">{kind === "autoscale" ? `RU/s at most; ${Math.round(units / 10)} when idle` : "RU/s"}</span></>
        )}
      </div>
    </div>
  );
}

// What a new container of `db` is proposed until something is chosen: the database's throughput where it has some.
export function useThroughputKind(db: string): [Kind, (kind: Kind) => void] {
  const [chosen, choose] = useState<Kind>();
  const rid = tree.use()?.find((node) => node.id === db)?.rid;
  const hasOffer = useLoaded(`shared/${rid}`, async () => rid !== undefined && (await offers()).some((one) => one.offerResourceId === rid));
  return [chosen ?? (hasOffer.data ? "none" : "manual"), choose];
}

export function CreateDatabase({ onClose }: { onClose: () => void }) {
  const [id, setId] = useState("");
  const [kind, setKind] = useState<Kind>("none");
  const [units, setUnits] = useState(400);
  return (
    <Dialog title="New database" submit="Create the database" disabled={id.trim() === ""} onClose={onClose}
      onSubmit={async () => {
        await call("data/dbs", { method: "POST", body: { id: id.trim() }, headers: throughputHeaders(kind === "none" ? undefined : { units, autoscale: kind === "autoscale" }) });
        await reloadTree();
        onClose();
        toast(`Created the database ${id.trim()}`);
        go(["data", id.trim()]);
      }}>
      <Field label="Name">{(field) => <input class="input" id={field} value={id} autofocus autocomplete="off" onInput={(event) => setId(event.currentTarget.value)} />}</Field>
      <ThroughputFields kind={kind} setKind={setKind} units={units} setUnits={setUnits} none="None of its own" />
      <p class="small dim">{kind === "none" ? "Each container has its own throughput." : "The containers without throughput of their own share it."}</p>
    </Dialog>
  );
}

const usualPolicy = { indexingMode: "consistent", automatic: true, includedPaths: [{ path: "/*" }], excludedPaths: [{ path: '/"_etag"/?' }] };

export function CreateContainer({ db, onClose }: { db: string; onClose: () => void }) {
  const [id, setId] = useState("");
  const [key, setKey] = useState("/");
  const [kind, setKind] = useThroughputKind(db);
  const [units, setUnits] = useState(400);
  const [expire, setExpire] = useState<"no" | "own" | "all">("no");
  const [seconds, setSeconds] = useState(86_400);
  const [unique, setUnique] = useState("");
  const [mode, setMode] = useState<"form" | "json">("form");
  const [text, setText] = useState("");
  const paths = key.split(",").map((path) => path.trim()).filter(Boolean);
  const definition = (): Json => ({
    id: id.trim(),
    partitionKey: paths.length > 1 ? { paths, kind: "MultiHash", version: 2 } : { paths, kind: "Hash", version: 2 },
    indexingPolicy: usualPolicy,
    ...(expire === "no" ? {} : { defaultTtl: expire === "own" ? -1 : seconds }),
    ...(unique.trim() === "" ? {} : { uniqueKeyPolicy: { uniqueKeys: unique.split("\n").filter(Boolean).map((line) => ({ paths: line.split(",").map((path) => path.trim()) })) } }),
  });
  const ready = mode === "json" ? text.trim() !== "" : id.trim() !== "" && paths.length > 0 && paths.every((path) => /^\/./.test(path));
  return (
    <Dialog title={`New container in ${db}`} submit="Create the container" wide={mode === "json"} disabled={!ready} onClose={onClose}
      onSubmit={async () => {
        const body = mode === "json" ? (JSON.parse(text) as { id: string }) : (definition() as { id: string });
        await call(`${dbPath(db)}/colls`, { method: "POST", body, headers: throughputHeaders(kind === "none" ? undefined : { units, autoscale: kind === "autoscale" }) });
        await Promise.all([reloadTree(), reloadFigures()]);
        onClose();
        toast(`Created the container ${body.id}`);
        go(["data", db, body.id, "items"]);
      }}>
      <Segmented label="Define it" value={mode} onChange={(chosen) => { if (chosen === "json") setText(JSON.stringify(definition(), null, 2)); setMode(chosen); }} options={[["form", "Form"], ["json", "JSON"]]} />
      {mode === "json" ? <div style={{ height: "320px", display: "flex" }}><Editor language="json" label="The container's definition" value={text} onChange={setText} class="grow" /></div> : (
        <>
          <Field label="Name">{(field) => <input class="input" id={field} value={id} autofocus autocomplete="off" onInput={(event) => setId(event.currentTarget.value)} />}</Field>
          <Field label="Partition key" hint="The property that decides where an item lives: one with many values that requests know, such as /customerId. Up to three for a hierarchy: /tenant, /user. It cannot be changed.">
            {(field) => <input class="input code" id={field} value={key} autocomplete="off" spellcheck={false} onInput={(event) => setKey(event.currentTarget.value)} />}
          </Field>
          <div class="field">
            <span class="label">Items expire</span>
            <div class="row wrap">
              <Segmented label="Items expire" value={expire} onChange={setExpire} options={[["no", "Never"], ["own", "Those that say so"], ["all", "All, after"]]} />
              {expire === "all" && <><input class="input" type="number" min={1} style={{ width: "110px" }} aria-label="Seconds" value={seconds} onInput={(event) => setSeconds(Number(event.currentTarget.value))} /><span class="dim">seconds</span></>}
            </div>
          </div>
          <Field label="Unique keys" hint="Paths whose values are unique within a partition key, one set a line: /email, or /a,/b. They cannot be changed.">
            {(field) => <textarea class="input code" id={field} rows={2} style={{ height: "auto" }} value={unique} onInput={(event) => setUnique(event.currentTarget.value)} />}
          </Field>
        </>
      )}
      <ThroughputFields kind={kind} setKind={setKind} units={units} setUnits={setUnits} none="The database's" />
    </Dialog>
  );
}

// What holds many items is not removed by a slip: its name has to be typed.
export function DeleteDialog({ what, name, path, onClose, onDone }: { what: string; name: string; path: string; onClose: () => void; onDone: () => void }) {
  const [typed, setTyped] = useState("");
  return (
    <Dialog title={`Delete the ${what} ${name}?`} submit={`Delete the ${what}`} danger disabled={typed !== name} onClose={onClose}
      onSubmit={async () => {
        await call(path, { method: "DELETE" });
        toast(`Deleted the ${what} ${name}`);
        onDone();
        await Promise.all([reloadTree(), reloadFigures()]);
      }}>
      <p>All that is in it goes with it, and nothing brings it back.</p>
      <Field label={`Type ${name} to go on`}>{(field) => <input class="input" id={field} autofocus autocomplete="off" value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />}</Field>
    </Dialog>
  );
}
