// How a container treats its items: what is indexed, when items expire, what is unique. As a form
// and as JSON; a change is checked against the version that was read.
import { useEffect, useState } from "preact/hooks";
import { call, type Container, container as read, containerPath, type Json } from "../lib/api";
import { useLoaded } from "../lib/live";
import { go } from "../lib/route";
import { Editor } from "../parts/editor";
import { Button, Field, Note, Problem, Segmented, toast, useReason, WriteButton } from "../parts/parts";
import { reloadTree } from "./context";
import { DeleteDialog } from "./create";

interface Path { path: string; order?: string }
interface Policy { indexingMode?: string; automatic?: boolean; includedPaths?: Path[]; excludedPaths?: Path[]; compositeIndexes?: Path[][]; spatialIndexes?: Json; [name: string]: unknown }

const lines = (text: string) => text.split("\n").map((line) => line.trim()).filter(Boolean);
const system = new Set(["_rid", "_self", "_etag", "_ts", "_docs", "_sprocs", "_triggers", "_udfs", "_conflicts"]);
const own = (definition: Container) => Object.fromEntries(Object.entries(definition).filter(([name]) => !system.has(name)));

export function Policies({ db, container }: { db: string; container: Container }) {
  const loaded = useLoaded(`${db}/${container.id}`, async () => (await read(db, container.id)).body);
  const [mode, setMode] = useState<"form" | "json">("form");
  const [text, setText] = useState("");
  const [error, setError] = useState<unknown>();
  const [deleting, setDeleting] = useState(false);
  const mayWrite = useReason(db) === undefined;
  const definition = loaded.data;
  useEffect(() => {
    if (definition) setText(JSON.stringify(own(definition), null, 2));
  }, [definition]);
  if (loaded.error !== undefined && !definition) return <div class="page"><Problem error={loaded.error} retry={loaded.reload} /></div>;
  if (!definition) return <div class="page" />;
  let draft: Container | undefined;
  try {
    draft = JSON.parse(text) as Container;
  } catch {
    draft = undefined;
  }
  const policy = (draft?.indexingPolicy ?? {}) as Policy;
  const change = (edit: (value: Container) => void) => {
    if (!draft) return;
    const copy = structuredClone(draft);
    edit(copy);
    setText(JSON.stringify(copy, null, 2));
  };
  const setPolicy = (edit: (value: Policy) => void) => change((copy) => edit(copy.indexingPolicy as unknown as Policy));
  const changed = text !== JSON.stringify(own(definition), null, 2);
  const composites = (policy.compositeIndexes ?? []).map((one) => one.map((part) => `${part.path} ${part.order === "descending" ? "desc" : "asc"}`).join(", ")).join("\n");
  const save = async () => {
    setError(undefined);
    try {
      await call(containerPath(db, container.id), { method: "PUT", body: draft, headers: { "if-match": definition._etag } });
      toast("Saved. Items are indexed anew in the background where that changed.");
      loaded.reload();
      await reloadTree();
    } catch (caught) {
      setError(caught);
    }
  };
  const expiry = draft?.defaultTtl === undefined ? "no" : draft.defaultTtl === -1 ? "own" : "all";
  return (
    <div class="page"><div class="stack">
      <div class="page-head">
        <Segmented label="Policies as" value={mode} onChange={setMode} options={[["form", "Form"], ["json", "JSON"]]} />
        {changed && <span class="tag">not saved</span>}
        <span class="grow" />
        {changed && <Button kind="quiet" onClick={() => setText(JSON.stringify(own(definition), null, 2))}>Undo all</Button>}
        <WriteButton of={db} kind="primary" disabled={!changed || !draft} onClick={save}>Save the policies</WriteButton>
      </div>
      {error !== undefined && <Problem error={error} />}
      {mode === "json" || !draft ? (
        <div style={{ height: "60vh", display: "flex" }}><Editor language="json" label="The container’s definition" value={text} onChange={setText} onSave={save} readOnly={!mayWrite} class="grow" /></div>
      ) : (
        <div class="cards two">
          <section class="card stack"><h2>Indexing</h2>
            <Segmented label="Indexing mode" value={(policy.indexingMode ?? "consistent").toLowerCase() as "consistent" | "none"} onChange={(value) => setPolicy((one) => { one.indexingMode = value; one.automatic = value !== "none"; if (value === "none") { delete one.includedPaths; delete one.excludedPaths; delete one.compositeIndexes; delete one.spatialIndexes; } else { one.includedPaths ??= [{ path: "/*" }]; one.excludedPaths ??= []; } })} options={[["consistent", "On"], ["none", "Off"]]} />
            {policy.indexingMode === "none" ? <p class="dim small">Items are found by id and key alone. Queries read everything.</p> : (
              <>
                <Field label="Indexed paths" hint="One a line. /* is everything; /a/? one property; /list/[]/? each element.">{(id) => <textarea id={id} class="input code" rows={4} style={{ height: "auto" }} disabled={!mayWrite} value={(policy.includedPaths ?? []).map((one) => one.path).join("\n")} onChange={(event) => setPolicy((one) => { one.includedPaths = lines(event.currentTarget.value).map((path) => ({ path })); })} />}</Field>
                <Field label="Left out" hint="What no query asks for: writes get cheaper by each path.">{(id) => <textarea id={id} class="input code" rows={3} style={{ height: "auto" }} disabled={!mayWrite} value={(policy.excludedPaths ?? []).map((one) => one.path).join("\n")} onChange={(event) => setPolicy((one) => { one.excludedPaths = lines(event.currentTarget.value).map((path) => ({ path })); })} />}</Field>
              </>
            )}
          </section>
          <section class="card stack"><h2>Composite indexes</h2>
            <Field label="One a line" hint="For ORDER BY over several properties, and for filters with an order: /status asc, /placed desc">{(id) => <textarea id={id} class="input code" rows={5} style={{ height: "auto" }} disabled={!mayWrite || policy.indexingMode === "none"} value={composites} onChange={(event) => setPolicy((one) => {
              const made = lines(event.currentTarget.value).map((line) => line.split(",").map((part) => {
                const [path = "", order = "asc"] = part.trim().split(/\s+/);
                return { path, order: /^desc/i.test(order) ? "descending" : "ascending" };
              }));
              if (made.length > 0) one.compositeIndexes = made;
              else delete one.compositeIndexes;
            })} />}</Field>
          </section>
          <section class="card stack"><h2>Expiry</h2>
            <Segmented label="Items expire" value={expiry} onChange={(value) => change((copy) => { if (value === "no") delete copy.defaultTtl; else copy.defaultTtl = value === "own" ? -1 : 86_400; })} options={[["no", "Never"], ["own", "Those that say so"], ["all", "All"]]} />
            {expiry === "all" && <Field label="Seconds after the last write">{(id) => <input id={id} class="input" type="number" min={1} disabled={!mayWrite} value={draft!.defaultTtl} onInput={(event) => change((copy) => { copy.defaultTtl = Number(event.currentTarget.value); })} />}</Field>}
            <p class="dim small">An item’s own <code>ttl</code> goes before it.</p>
          </section>
          <section class="card stack"><h2>Given at creation</h2>
            <p class="small">Partition key <code>{container.partitionKey?.paths.join(", ") ?? "none"}</code> ({container.partitionKey?.kind}, version {container.partitionKey?.version ?? 1})</p>
            <p class="small">Unique keys {((draft.uniqueKeyPolicy as { uniqueKeys?: { paths: string[] }[] } | undefined)?.uniqueKeys ?? []).map((one) => <code key={one.paths.join()}>{one.paths.join(", ")} </code>)}{!(draft.uniqueKeyPolicy as { uniqueKeys?: unknown[] } | undefined)?.uniqueKeys?.length && "none"}</p>
            <Note state="unknown" title="These cannot be changed">Copy the items to another container to have others.</Note>
            <div><WriteButton of={db} kind="danger" icon="trash" onClick={() => setDeleting(true)}>Delete the container…</WriteButton></div>
          </section>
        </div>
      )}
      {deleting && <DeleteDialog what="container" name={container.id} path={containerPath(db, container.id)} onClose={() => setDeleting(false)} onDone={() => { setDeleting(false); go(["data", db]); }} />}
    </div></div>
  );
}
