// Traversals of a graph: an editor, the results as a table, as JSON and as a picture, and what they cost.
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Container, type Json, runText } from "../lib/api";
import { count, units } from "../lib/format";
import { graphOf } from "../lib/graph";
import { bindingsOf, itemsOfResults, rowOfResult } from "../lib/gremlin";
import { csv, download } from "../lib/json";
import { useRoute } from "../lib/route";
import { useWidths } from "../parts/columns";
import { Editor } from "../parts/editor";
import { Button, Problem, Segmented } from "../parts/parts";
import { type Past, Rows, withPast } from "../parts/rows";
import { RunBar } from "../parts/run_bar";
import { GraphView } from "./graph_view";

interface Ran { text: string; results: Json[]; more: boolean; charge: number; ms: number; at: number }

// In memory, for each container.
const texts = new Map<string, string>();
const bound = new Map<string, string>();
const latest = new Map<string, Ran>();
const history = new Map<string, Past[]>();

export function Traversal({ db, container, languages }: { db: string; container: Container; languages: ComponentChildren }) {
  const name = `${db}/${container.id}`;
  const route = useRoute();
  const linked = route.query.get("l") === "gremlin" ? route.query.get("q") : null;
  const [text, setText] = useState(linked ?? texts.get(name) ?? "g.V().limit(100)");
  // Only what is shown is sent.
  const [hasBindings, setHasBindings] = useState(bound.has(name));
  const [bindings, setBindings] = useState(bound.get(name) ?? '{"name": "Ada"}');
  const [now, setNow] = useState(latest.get(name));
  const [running, setRunning] = useState<AbortController>();
  const [error, setError] = useState<unknown>();
  const [view, setView] = useState<"table" | "json" | "graph">("table");
  const widths = useWidths(`traversal.${name}`);
  const isMounted = useRef(true);
  const path = container.partitionKey?.paths[0] ?? "";
  const rows = useMemo(() => now?.results.map(rowOfResult) ?? [], [now]);
  const items = useMemo(() => itemsOfResults(now?.results ?? [], path.replace(/^\//, "")), [now, path]);
  const hasGraph = useMemo(() => graphOf(items, path, true) !== undefined, [items, path]);
  const shown = view === "graph" && !hasGraph ? "table" : view;
  useEffect(() => () => { isMounted.current = false; }, []);
  const type = (value: string) => {
    setText(value);
    texts.set(name, value);
  };
  const bind = (value: string) => {
    setBindings(value);
    bound.set(name, value);
  };
  const pick = (one: Past) => {
    type(one.text);
    setHasBindings(one.bindings !== undefined);
    if (one.bindings !== undefined) bind(one.bindings);
  };
  useEffect(() => {
    if (linked !== null && linked !== texts.get(name)) type(linked);
  }, [linked]);
  const show = (ran: Ran | undefined) => {
    if (ran) latest.set(name, ran);
    else latest.delete(name);
    if (isMounted.current) setNow(ran);
  };
  const run = async (selection = "") => {
    if (running) return;
    const asked = selection.trim() || text;
    const control = new AbortController();
    setRunning(control);
    setError(undefined);
    try {
      const given = hasBindings ? bindings : undefined;
      const { body, charge } = await runText("gremlin", db, container.id, asked, bindingsOf(given ?? ""), control.signal);
      const at = Date.now() / 1000;
      show({ text: asked, results: body.results, more: body.more, charge, ms: body.ms, at });
      history.set(name, withPast(history.get(name) ?? [], { text: asked, bindings: given, charge, ms: body.ms, rows: body.results.length, at }));
    } catch (caught) {
      if (!control.signal.aborted) {
        setError(caught);
        show(undefined);
      }
    }
    setRunning(undefined);
  };
  return (
    <div class="split">
      <div class="left">
        <RunBar isRunning={!!running} onRun={() => run()} onStop={() => { running?.abort(); setRunning(undefined); }} what="traversals" past={history.get(name) ?? []}
          onPick={pick} languages={languages} downloads={<>
            <Button kind="quiet" disabled={!now} onClick={() => download(`${container.id}.csv`, "text/csv", csv(rows))}>Results as CSV</Button>
            <Button kind="quiet" disabled={!now} onClick={() => download(`${container.id}.json`, "application/json", JSON.stringify(now!.results, null, 2))}>Results as JSON</Button>
          </>}>
          <Button aria-expanded={hasBindings} title="Values for names that the traversal uses" onClick={() => setHasBindings(!hasBindings)}>Bindings</Button>
        </RunBar>
        <div class="query-editor"><Editor language="gremlin" label="Traversal" flat value={text} onChange={type} onRun={run} /></div>
        {hasBindings && <div class="query-editor bindings"><Editor language="json" label="Bindings" flat value={bindings} onChange={bind} onRun={() => run()} /></div>}
        {error !== undefined ? <div class="page"><Problem error={error} title="The traversal could not be run" /></div> : !now ? (
          <div class="page"><div class="empty"><h2>Walk through {container.id}</h2>
            <p class="dim"><kbd>Ctrl ↵</kbd> runs the traversal, or what is selected of it. Vertices, edges and paths of a result are drawn as a graph. A traversal that writes is stored.</p></div></div>
        ) : (
          <>
            <div class="facts" aria-live="polite">
              <span><b id="charge">{units(now.charge)}</b> <span class="dim">RU</span></span>
              <span><b>{now.ms.toFixed(1)}</b> <span class="dim">ms</span></span>
              <span><b>{count(rows.length)}</b> <span class="dim">{rows.length === 1 ? "result" : "results"}</span></span>
              {now.more && <span class="dim">There are more: only the first are shown.</span>}
              <span class="grow" />
              <Segmented label="Results as" value={shown} onChange={setView} options={[["table", "Table"], ["json", "JSON"], ...(hasGraph ? [["graph", "Graph"] as ["graph", string]] : [])]} />
            </div>
            {shown === "graph" ? <GraphView key={now.at} db={db} container={container} rows={items} isGraph />
              : shown === "json" ? <div class="rows-json"><Editor flat readOnly language="json" label="Results" value={JSON.stringify(now.results, null, 2)} class="grow" /></div>
              : <Rows rows={rows} widths={widths} busy={!!running} none="No results." />}
          </>
        )}
      </div>
    </div>
  );
}
