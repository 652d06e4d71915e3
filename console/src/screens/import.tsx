// Import: a file is looked at, gets a target, and is written while one watches. What was rejected is
// listed with the reason, and can be saved.
import { useEffect, useState } from "preact/hooks";
import { call, type Container, dbPath, type Json, throughputHeaders } from "../lib/api";
import { bytes, count, plural, short, span, units as ru } from "../lib/format";
import { forget, goOn, job as shared, type Job, type Mode, pause, problemOf, rejectsText, start, stop } from "../lib/importer";
import { download } from "../lib/json";
import { type CellType, type FileRecord, type Format, guess, type ReadOptions, records } from "../lib/records";
import { link, useRoute } from "../lib/route";
import { access, Button, Field, Icon, isOther, Note, Problem, Segmented, WriteButton } from "../parts/parts";
import { reloadFigures, reloadTree, tree } from "./context";
import { ThroughputFields, useThroughputKind } from "./create";
import { Cell } from "../parts/rows";

const previewRows = 20;
const rejectedShown = 100;
const types: CellType[] = ["auto", "string", "number", "bool", "json"];
const quoteShell = (text: string) => (/^[\w./,:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

function Source({ onFile }: { onFile: (file: File) => void }) {
  const [over, setOver] = useState(false);
  return (
    <label class={`drop ${over ? "over" : ""}`}
      onDragOver={(event) => { event.preventDefault(); setOver(true); }} onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        const file = event.dataTransfer?.files[0];
        if (file) onFile(file);
      }}>
      <Icon name="up" />
      <span><b class="strong">Choose a file</b>, or drop it here</span>
      <span class="small dim">A JSON array, one JSON object a line, or CSV; plain or gzip. It is read on this machine and sent to this server alone.</span>
      <input type="file" class="hidden" aria-label="Choose a file" accept=".json,.ndjson,.jsonl,.csv,.tsv,.gz,.txt,application/json,text/csv" onChange={(event) => {
        const file = event.currentTarget.files?.[0];
        if (file) onFile(file);
      }} />
    </label>
  );
}

function Preview({ rows, options, setOptions, paths, makeIds }: {
  rows: FileRecord[]; options: ReadOptions; setOptions: (options: ReadOptions) => void; paths: string[]; makeIds: boolean;
}) {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row.value ?? {})))];
  // With nested columns the types are still those of the file's columns.
  const isTyped = options.format === "csv" && !options.nested;
  return (
    <div class="scroll-x" tabIndex={0} role="group" aria-label="The first records">
      <table class="keys preview-rows">
        <thead><tr><th scope="col" class="num">line</th>
          {columns.map((name) => <th scope="col" key={name}><code>{name}</code>{isTyped && <select class="input tiny" aria-label={`Type of ${name}`} value={options.types[name] ?? "auto"}
            onChange={(event) => setOptions({ ...options, types: { ...options.types, [name]: event.currentTarget.value as CellType } })}>
            {types.map((type) => <option key={type}>{type}</option>)}</select>}</th>)}
          <th scope="col">problem</th></tr></thead>
        <tbody>{rows.map((row) => {
          const problem = problemOf(row, paths, makeIds);
          return <tr key={row.number}><td class="num dim">{row.line}</td>
            {columns.map((name) => <td key={name} class={`tight ${typeof row.value?.[name] === "number" ? "num" : ""}`} style={{ maxWidth: "180px" }}><Cell value={row.value?.[name]} /></td>)}
            <td>{problem && <span class="over">{problem}</span>}</td></tr>;
        })}</tbody>
      </table>
    </div>
  );
}

const states: Record<Job["state"], [string, string]> = {
  running: ["live", "Importing"], paused: ["uneven", "Paused"], stopped: ["uneven", "Stopped"], failed: ["refused", "It failed"], done: ["even", "All of it is imported"],
};

function Progress({ job }: { job: Job }) {
  const seconds = job.busy_ms / 1000;
  const part = job.file.size > 0 ? Math.min(1, job.bytes / job.file.size) : 1;
  const rate = seconds > 0 ? (job.written + job.present) / seconds : 0;
  const isOver = job.state !== "running" && job.state !== "paused";
  const [state, title] = states[job.state];
  const isPartial = job.state === "done" && job.rejected.length > 0;
  const left = part > 0.02 && !isOver ? (seconds / part) * (1 - part) : undefined;
  return (
    <section class="card stack" aria-label="Progress">
      <div class="row wrap"><h2>{job.file.name} → {job.db} / {job.container}</h2><span class="grow" />
        {job.state === "running" && <Button onClick={pause}>Pause</Button>}
        {job.state === "paused" && <Button kind="primary" onClick={goOn}>Go on</Button>}
        {!isOver && <Button kind="danger" icon="stop" onClick={stop}>Stop</Button>}
        {job.ended && <><a class="btn" href={link(["data", job.db, job.container, "items"])}>Look at the items</a><Button kind="primary" onClick={forget}>Import another file</Button></>}
      </div>
      <Note state={isPartial ? "uneven" : state} title={isPartial ? `Imported, but for ${plural(job.rejected.length, "record")}` : title}>
        {job.trouble ?? (job.state === "stopped" ? `${plural(job.read, "record")} of the file were read. The same file can be imported again: what is there is not made twice.` : "")}
      </Note>
      <progress max={1} value={job.state === "done" ? 1 : part} aria-label="Part of the file that was read" />
      <dl class="figures">
        <div><dt>read</dt><dd>{count(job.read)}</dd></div>
        <div><dt>written</dt><dd>{count(job.written)}</dd></div>
        {job.present > 0 && <div><dt>were there</dt><dd>{count(job.present)}</dd></div>}
        <div><dt>rejected</dt><dd class={job.rejected.length > 0 ? "over" : ""}>{count(job.rejected.length)}</dd></div>
        <div><dt>records/s</dt><dd>{short(rate)}</dd></div>
        <div><dt>RU</dt><dd>{ru(job.charge)}</dd></div>
        <div><dt>RU/s</dt><dd>{short(seconds > 0 ? job.charge / seconds : 0)}</dd></div>
        <div><dt>429, waited for</dt><dd>{count(job.throttled)}</dd></div>
        <div><dt>{isOver ? "took" : "left"}</dt><dd>{isOver ? span(seconds) : left === undefined ? "–" : span(left)}</dd></div>
      </dl>
      {job.rejected.length > 0 && (
        <section class="stack" aria-label="Rejected records">
          <div class="row"><h2>Rejected records</h2><span class="grow" />
            <Button icon="down" onClick={() => download(`rejects-${job.db}-${job.container}.ndjson`, "application/x-ndjson", rejectsText(job))}>Save them with their reasons</Button></div>
          <div class="scroll-x" tabIndex={0} role="group" aria-label="Rejected records and reasons">
            <table class="keys rejected"><thead><tr><th scope="col" class="num">line</th><th scope="col">reason</th><th scope="col">record</th></tr></thead>
              <tbody>{job.rejected.slice(0, rejectedShown).map((one) => <tr key={one.number}><td class="num">{one.line}</td><td>{one.reason}</td><td class="tight code" style={{ maxWidth: "360px" }}>{one.record.slice(0, 200)}</td></tr>)}</tbody></table>
          </div>
          {job.rejected.length > rejectedShown && <p class="small dim">The first {rejectedShown} of {count(job.rejected.length)}. The file has them all.</p>}
        </section>
      )}
    </section>
  );
}

const empty: ReadOptions = { format: "ndjson", delimiter: ",", nested: false, types: {} };

function Prepare() {
  const wanted = useRoute().query.get("to") ?? "";
  const nodes = tree.use()?.filter((node) => !isOther(node.id));
  const may = access.use() === "read-write";
  const [file, setFile] = useState<File>();
  const [options, setOptions] = useState(empty);
  const [rows, setRows] = useState<FileRecord[]>([]);
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const [target, setTarget] = useState<"there" | "new">("there");
  const [to, setTo] = useState(wanted);
  const [db, setDb] = useState("");
  const [id, setId] = useState("");
  const [key, setKey] = useState("/");
  const [units, setUnits] = useState(400);
  const [mode, setMode] = useState<Mode>("upsert");
  const [makeIds, setMakeIds] = useState(false);
  const all = (nodes ?? []).flatMap((node) => node.containers.map((one) => ({ db: node.id, one, name: `${node.id}/${one.id}` })));
  const chosen = all.find(({ name }) => name === to) ?? all[0];
  const database = db || nodes?.[0]?.id || "";
  const [kind, setKind] = useThroughputKind(database);
  const newPaths = key.split(",").map((path) => path.trim()).filter(Boolean);
  const isNew = target === "new" || all.length === 0;
  const paths = isNew ? newPaths : chosen?.one.partitionKey?.paths ?? [];
  const look = async (chosenFile: File, how: ReadOptions) => {
    setError(undefined);
    const found: FileRecord[] = [];
    try {
      for await (const record of records(chosenFile, how)) {
        found.push(record);
        if (found.length >= previewRows) break;
      }
    } catch (caught) {
      setError(caught);
    }
    setRows(found);
  };
  useEffect(() => {
    if (file) void look(file, options);
  }, [file, options]);
  const take = async (chosenFile: File) => {
    setError(undefined);
    setRows([]);
    try {
      const guessed = await guess(chosenFile);
      setOptions({ ...empty, ...guessed });
      setFile(chosenFile);
      if (id === "") setId(chosenFile.name.replace(/\..*$/, ""));
    } catch (caught) {
      setError(caught);
    }
  };
  const isReady = may && !busy && file !== undefined && rows.length > 0 && (isNew ? database !== "" && id.trim() !== "" && newPaths.length > 0 && newPaths.every((path) => /^\/./.test(path)) : chosen !== undefined);
  const begin = async () => {
    setBusy(true);
    setError(undefined);
    try {
      let container: Container;
      if (isNew) {
        const definition: Json = { id: id.trim(), partitionKey: newPaths.length > 1 ? { paths: newPaths, kind: "MultiHash", version: 2 } : { paths: newPaths, kind: "Hash", version: 2 } };
        container = (await call<Container>(`${dbPath(database)}/colls`, { method: "POST", body: definition, headers: throughputHeaders(kind === "none" ? undefined : { units, autoscale: kind === "autoscale" }) })).body;
        await Promise.all([reloadTree(), reloadFigures()]);
      } else {
        container = chosen!.one;
      }
      start({ file: file!, options, db: isNew ? database : chosen!.db, container, mode, makeIds });
    } catch (caught) {
      setError(caught);
    }
    setBusy(false);
  };
  const name = isNew ? `${database || "DB"}/${id.trim() || "CONTAINER"}` : chosen?.name ?? "DB/CONTAINER";
  const command = ["orrery import", quoteShell(name), quoteShell(file?.name ?? "FILE"), ...(options.format === "csv" && options.delimiter !== "," ? [`--delimiter ${options.delimiter === "\t" ? "tab" : quoteShell(options.delimiter)}`] : []),
    ...(options.nested ? ["--nested"] : []), ...(Object.values(options.types).some((type) => type !== "auto") ? [`--types ${Object.entries(options.types).filter(([, type]) => type !== "auto").map(([column, type]) => `${column}=${type}`).join(",")}`] : []),
    ...(isNew ? [`--create --partition-key ${newPaths.join(",") || "/KEY"}`, ...(kind === "none" ? [] : [`--throughput ${kind === "autoscale" ? "auto:" : ""}${units}`])] : []),
    ...(mode === "upsert" ? [] : [`--mode ${mode}`]), ...(makeIds ? ["--generate-ids"] : [])].join(" ");
  return (
    <>
      <section class="card stack"><h2>1. The file</h2>
        <Source onFile={take} />
        {error !== undefined && <Problem error={error} title={file ? undefined : "The file cannot be read"} />}
        {file && <div class="row wrap"><b class="strong">{file.name}</b><span class="dim">{bytes(file.size)}</span>
          <label class="row small dim">Read as <select class="input" value={options.format} onChange={(event) => setOptions({ ...options, format: event.currentTarget.value as Format })}>
            <option value="json">a JSON array</option><option value="ndjson">one JSON object a line</option><option value="csv">CSV</option></select></label>
          {options.format === "csv" && <>
            <label class="row small dim">Cells between <select class="input" value={options.delimiter} onChange={(event) => setOptions({ ...options, delimiter: event.currentTarget.value, types: {} })}>
              <option value=",">commas</option><option value=";">semicolons</option><option value={"\t"}>tabs</option></select></label>
            <label class="check"><input type="checkbox" checked={options.nested} onChange={() => setOptions({ ...options, nested: !options.nested, types: {} })} />a.b is the property b of a</label></>}
        </div>}
        {rows.length > 0 && <><Preview rows={rows} options={options} setOptions={setOptions} paths={paths} makeIds={makeIds} />
          <p class="small dim">The first {plural(rows.length, "record")}.</p></>}
      </section>
      <section class="card stack"><h2>2. Where it goes</h2>
        {all.length > 0 && <Segmented<"there" | "new"> label="Target" value={target} onChange={setTarget} options={[["there", "A container that is there"], ["new", "A new container"]]} />}
        {!isNew ? (
          <Field label="Container">{(field) => <select class="input" id={field} value={chosen?.name ?? ""} onChange={(event) => setTo(event.currentTarget.value)}>
            {all.map(({ name: one, one: container }) => <option key={one} value={one}>{one} ({container.partitionKey?.paths.join(", ") ?? "no key"})</option>)}</select>}</Field>
        ) : (nodes?.length ?? 0) === 0 ? <p class="dim">There is no database yet: make one on the left.</p> : (
          <>
            <Field label="Database">{(field) => <select class="input" id={field} value={database} onChange={(event) => setDb(event.currentTarget.value)}>{nodes!.map((node) => <option key={node.id}>{node.id}</option>)}</select>}</Field>
            <Field label="Name">{(field) => <input class="input" id={field} value={id} autocomplete="off" onInput={(event) => setId(event.currentTarget.value)} />}</Field>
            <Field label="Partition key" hint="A property with many values that requests know, such as /customerId. Up to three for a hierarchy: /tenant, /user. It cannot be changed.">
              {(field) => <input class="input code" id={field} value={key} autocomplete="off" spellcheck={false} onInput={(event) => setKey(event.currentTarget.value)} />}</Field>
            <ThroughputFields kind={kind} setKind={setKind} units={units} setUnits={setUnits} none="The database's" />
          </>
        )}
        <div class="field"><span class="label">An item that is there already</span>
          <Segmented<Mode> label="An item that is there already" value={mode} onChange={setMode} options={[["upsert", "Is replaced"], ["skip", "Stays"], ["create", "Rejects the record"]]} /></div>
        <label class="check"><input type="checkbox" checked={makeIds} onChange={() => setMakeIds(!makeIds)} />Make ids for records that have none</label>
      </section>
      <section class="card stack"><h2>3. Go</h2>
        <div class="row wrap"><WriteButton kind="primary" disabled={!isReady} onClick={begin}>Import the file</WriteButton>
          <span class="small dim">Large files go faster by the command line:</span></div>
        <pre class="command" tabIndex={0} aria-label="The same by the command line"><code>{command}</code></pre>
      </section>
    </>
  );
}

export function Import() {
  const job = shared.use();
  return (
    <div class="page"><div class="stack">
      <div class="page-head"><h1>Import</h1></div>
      {job ? <Progress job={job} /> : <Prepare />}
    </div></div>
  );
}
