// Stored procedures, triggers and functions: written here, saved over the version that was read, and
// procedures run with arguments, with what they returned and logged.
import { useEffect, useState } from "preact/hooks";
import { type Answer, call, type Container, containerPath, enc, type Json, keyHeader } from "../lib/api";
import { ms, units } from "../lib/format";
import { useLoaded } from "../lib/live";
import { Editor } from "../parts/editor";
import { Dialog, Field, Problem, toast, useReason, WriteButton } from "../parts/parts";

type Kind = "sprocs" | "triggers" | "udfs";
interface Script { id: string; body: string; _etag: string; triggerType?: string; triggerOperation?: string }
const kinds: [Kind, string, string, string][] = [
  ["sprocs", "Procedures", "StoredProcedures", `function (name) {
  // All of it happens, or nothing: it runs as one transaction within one partition key.
  console.log("called with", name);
  getContext().getResponse().setBody("Hello, " + name);
}`],
  ["triggers", "Triggers", "Triggers", `function () {
  const item = getContext().getRequest().getBody();
  item.touched = new Date().toISOString();
  getContext().getRequest().setBody(item);
}`],
  ["udfs", "Functions", "UserDefinedFunctions", `function (price) {
  return price * 1.19;
}`],
];

export function Scripts({ db, container }: { db: string; container: Container }) {
  const base = containerPath(db, container.id);
  const loaded = useLoaded(`scripts/${db}/${container.id}`, async () => {
    const feeds = await Promise.all(kinds.map(([kind, , member]) => call<Record<string, Script[]>>(`${base}/${kind}`).then(({ body }) => body[member] ?? [])));
    return Object.fromEntries(kinds.map(([kind], i) => [kind, feeds[i]!])) as Record<Kind, Script[]>;
  });
  const [chosen, setChosen] = useState<{ kind: Kind; id: string }>();
  const [creating, setCreating] = useState<Kind>();
  const script = chosen && loaded.data?.[chosen.kind].find((one) => one.id === chosen.id);
  if (loaded.error !== undefined && !loaded.data) return <div class="page"><Problem error={loaded.error} retry={loaded.reload} /></div>;
  return (
    <div class="scripts">
      <nav aria-label="Scripts">
        {kinds.map(([kind, title]) => (
          <section key={kind}>
            <h2>{title}<WriteButton of={db} kind="quiet" icon="plus" label={`New: ${title}`} onClick={() => setCreating(kind)} /></h2>
            {loaded.data?.[kind].map((one) => <button type="button" key={one.id} aria-current={chosen?.kind === kind && chosen.id === one.id} onClick={() => setChosen({ kind, id: one.id })}>{one.id}</button>)}
            {loaded.data?.[kind].length === 0 && <p class="dim small">none</p>}
          </section>
        ))}
      </nav>
      {script ? <Work key={`${chosen.kind}/${script.id}/${script._etag}`} base={base} container={container} kind={chosen.kind} script={script} reload={loaded.reload} onDeleted={() => { setChosen(undefined); loaded.reload(); }} /> : (
        <div class="page"><div class="empty"><h2>Scripts run where the items are</h2>
          <p>A procedure changes many items of one partition key as one transaction. A trigger runs with a write that names it. A function is called in queries as <code>udf.name()</code>.</p></div></div>
      )}
      {creating && <NewScript base={base} kind={creating} onClose={() => setCreating(undefined)} onDone={(id) => { setChosen({ kind: creating, id }); setCreating(undefined); loaded.reload(); }} />}
    </div>
  );
}

function NewScript({ base, kind, onClose, onDone }: { base: string; kind: Kind; onClose: () => void; onDone: (id: string) => void }) {
  const [id, setId] = useState("");
  const [type, setType] = useState("Pre");
  const [operation, setOperation] = useState("All");
  const [, title, , template] = kinds.find(([one]) => one === kind)!;
  return (
    <Dialog title={`New: ${title}`} submit="Create" disabled={id.trim() === ""} onClose={onClose}
      onSubmit={async () => {
        await call(`${base}/${kind}`, { method: "POST", body: { id: id.trim(), body: template, ...(kind === "triggers" ? { triggerType: type, triggerOperation: operation } : {}) } });
        toast(`Created ${id.trim()}`);
        onDone(id.trim());
      }}>
      <Field label="Name">{(field) => <input class="input" id={field} autofocus autocomplete="off" value={id} onInput={(event) => setId(event.currentTarget.value)} />}</Field>
      {kind === "triggers" && <div class="row">
        <Field label="Runs">{(field) => <select class="input" id={field} value={type} onChange={(event) => setType(event.currentTarget.value)}><option value="Pre">before the write</option><option value="Post">after the write</option></select>}</Field>
        <Field label="Of">{(field) => <select class="input" id={field} value={operation} onChange={(event) => setOperation(event.currentTarget.value)}>{["All", "Create", "Replace", "Delete", "Update"].map((one) => <option key={one}>{one}</option>)}</select>}</Field>
      </div>}
    </Dialog>
  );
}

function Work({ base, container, kind, script, reload, onDeleted }: { base: string; container: Container; kind: Kind; script: Script; reload: () => void; onDeleted: () => void }) {
  const [text, setText] = useState(script.body);
  const [args, setArgs] = useState('["world"]');
  const [key, setKey] = useState((container.partitionKey?.paths ?? []).map(() => '""').join(", "));
  const [error, setError] = useState<unknown>();
  const [answer, setAnswer] = useState<Answer<Json>>();
  const [deleting, setDeleting] = useState(false);
  const mayWrite = useReason() === undefined;
  useEffect(() => setText(script.body), [script.body]);
  const path = `${base}/${kind}/${enc(script.id)}`;
  const save = async () => {
    if (text === script.body || !mayWrite) return;
    setError(undefined);
    try {
      const { _etag: etag, ...rest } = script;
      await call(path, { method: "PUT", body: { ...rest, body: text }, headers: { "if-match": etag } });
      toast(`Saved ${script.id}`);
      reload();
    } catch (caught) {
      setError(caught);
    }
  };
  const run = async () => {
    setError(undefined);
    setAnswer(undefined);
    try {
      const parsed = JSON.parse(args) as Json;
      if (!Array.isArray(parsed)) throw new Error('The arguments are a JSON array: ["a", 1]');
      const values = JSON.parse(`[${key}]`) as Json[];
      setAnswer(await call<Json>(path, { method: "POST", body: parsed, headers: { ...(container.partitionKey ? keyHeader(values) : {}), "x-ms-documentdb-script-enable-logging": "true" } }));
    } catch (caught) {
      setError(caught);
    }
  };
  const log = decodeURIComponent(answer?.headers.get("x-ms-documentdb-script-log-results") ?? "");
  return (
    <div class="work">
      <div class="bar lined"><code class="strong tight">{script.id}</code>{script.triggerType && <span class="tag">{script.triggerType === "Pre" ? "before" : "after"} {script.triggerOperation}</span>}{text !== script.body && <span class="tag">not saved</span>}<span class="grow" />
        <WriteButton kind="quiet" icon="trash" label="Delete this script" onClick={() => setDeleting(true)} />
        <WriteButton kind={text !== script.body ? "primary" : ""} disabled={text === script.body} onClick={save}>Save</WriteButton></div>
      <Editor language="javascript" label={`Script ${script.id}`} flat value={text} onChange={setText} onSave={save} readOnly={!mayWrite} class="grow" />
      <div class="result">
        {kind === "sprocs" && <div class="row wrap fields">
          <Field label="Partition key">{(id) => <input class="input code" id={id} value={key} spellcheck={false} autocomplete="off" onInput={(event) => setKey(event.currentTarget.value)} />}</Field>
          <Field label="Arguments">{(id) => <input class="input code" id={id} value={args} spellcheck={false} autocomplete="off" onInput={(event) => setArgs(event.currentTarget.value)} />}</Field>
          <WriteButton kind="primary" icon="play" disabled={text !== script.body} title={text !== script.body ? "Save it first: what is saved is what runs" : undefined} onClick={run}>Run the procedure</WriteButton>
        </div>}
        {kind === "udfs" && <p class="small dim">In a query: <code>SELECT VALUE udf.{script.id}(c.price) FROM c</code></p>}
        {kind === "triggers" && <p class="small dim">A write runs it when its request names it: <code>{script.triggerType === "Pre" ? "preTriggerInclude" : "postTriggerInclude"}: ["{script.id}"]</code></p>}
        {error !== undefined && <Problem error={error} title="It could not be done" />}
        {answer && <>
          <p class="small dim">{units(answer.charge)} RU · {ms(answer.ms)}</p>
          <h3>Returned</h3><pre>{answer.body === undefined ? "nothing" : JSON.stringify(answer.body, null, 2)}</pre>
          {log !== "" && <><h3>Log</h3><pre>{log}</pre></>}
        </>}
      </div>
      {deleting && <Dialog title={`Delete ${script.id}?`} submit="Delete the script" danger onClose={() => setDeleting(false)} onSubmit={async () => { await call(path, { method: "DELETE" }); setDeleting(false); toast(`Deleted ${script.id}`); onDeleted(); }}><p>What calls it will fail.</p></Dialog>}
    </div>
  );
}
