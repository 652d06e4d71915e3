// Queries: an editor, the rows, what it cost and why, how the index was used, pages, downloads. Where another face's language
// is spoken, one chooses it here.
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Answer, type Container, type Json, partitions, query, type QueryPage, queryPlan } from "../lib/api";
import { count, units } from "../lib/format";
import { graphOf } from "../lib/graph";
import { csv, download } from "../lib/json";
import { useLoaded } from "../lib/live";
import { useRoute } from "../lib/route";
import { type Property, propertiesOf } from "../lib/sql";
import { useWidths } from "../parts/columns";
import { Editor } from "../parts/editor";
import { Button, isOther, languages, Problem, Segmented } from "../parts/parts";
import { type Past, Rows, withPast } from "../parts/rows";
import { RunBar } from "../parts/run_bar";
import { GraphView } from "./graph_view";
import { type IndexMetrics, QueryFacts, type QueryMetrics } from "./query_facts";
import { Traversal } from "./traversal";

interface Ran { text: string; rows: Json[]; charge: number; ms: number; next: string | null; page: number; metrics: QueryMetrics; index?: IndexMetrics; returned: number }

// In memory, for each container: the text, the last result, and a hundred queries.
const texts = new Map<string, string>();
const results = new Map<string, Ran[]>();
const history = new Map<string, Past[]>();
const downloadMax = 100_000;

function metricsOf(headers: Headers): QueryMetrics {
  const found: QueryMetrics = {};
  for (const part of (headers.get("x-ms-documentdb-query-metrics") ?? "").split(";")) {
    const [name, value] = part.split("=");
    if (name && value) found[name] = Number(value);
  }
  return found;
}
function indexOf(headers: Headers): IndexMetrics | undefined {
  try {
    const text = headers.get("x-ms-cosmos-index-utilization");
    return text ? (JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)))) as IndexMetrics) : undefined;
  } catch {
    return undefined;
  }
}

// Which language was chosen last, for each container.
const chosen = new Map<string, string>();

export function Query({ db, container }: { db: string; container: Container }) {
  const name = `${db}/${container.id}`;
  const linked = useRoute().query.get("l");
  const [language, setLanguage] = useState(linked ?? chosen.get(name) ?? "sql");
  useEffect(() => { if (linked !== null) setLanguage(linked); }, [linked]);
  // Graphs are containers of our own databases.
  if (!languages.use().includes("gremlin") || isOther(db)) return <SqlQuery db={db} container={container} />;
  const choice = (
    <Segmented label="Language" value={language === "gremlin" ? "gremlin" : "sql"} options={[["sql", "SQL"], ["gremlin", "Gremlin"]]} onChange={(one) => {
      chosen.set(name, one);
      setLanguage(one);
    }} />
  );
  return language === "gremlin" ? <Traversal db={db} container={container} languages={choice} /> : <SqlQuery db={db} container={container} languages={choice} />;
}

function SqlQuery({ db, container, languages }: { db: string; container: Container; languages?: ComponentChildren }) {
  const name = `${db}/${container.id}`;
  const route = useRoute();
  const linked = route.query.get("l") === "gremlin" ? null : route.query.get("q");
  const [text, setText] = useState(linked ?? texts.get(name) ?? "SELECT * FROM c");
  const [pages, setPages] = useState<Ran[]>(results.get(name) ?? []);
  const [size, setSize] = useState(100);
  const [running, setRunning] = useState<AbortController>();
  const [error, setError] = useState<unknown>();
  const [view, setView] = useState<"table" | "json" | "graph">("table");
  const [fetching, setFetching] = useState<{ rows: number; charge: number }>();
  const widths = useWidths(`query.${name}`);
  const properties = useRef<Property[]>([]);
  const isMounted = useRef(true);
  const now = pages.at(-1);
  const hasGraph = useMemo(() => now !== undefined && graphOf(now.rows, container.partitionKey?.paths[0] ?? "") !== undefined, [now]);
  const shown = view === "graph" && !hasGraph ? "table" : view;
  useEffect(() => () => { isMounted.current = false; }, []);
  useEffect(() => {
    query(db, container.id, "SELECT TOP 50 * FROM c").then(({ body }) => { properties.current = propertiesOf(body.Documents); }, () => {});
  }, [name]);
  useEffect(() => {
    if (linked !== null && linked !== texts.get(name)) type(linked);
  }, [linked]);
  const plan = useLoaded(`${name}/${now?.text ?? ""}`, async () => {
    if (!now) return undefined;
    const [planned, view] = await Promise.all([queryPlan(db, container.id, now.text).catch(() => undefined), partitions(db, container.id, 0)]);
    const ranges = planned?.body.queryRanges;
    const asked = ranges
      ? view.body.partitions.filter((one) => ranges.some((range) => range.min < one.max && (range.isMaxInclusive ? range.max >= one.min : range.max > one.min))).length
      : view.body.partitions.length;
    return { asked, of: view.body.partitions.length, info: planned?.body.queryInfo };
  });

  const type = (value: string) => {
    setText(value);
    texts.set(name, value);
  };
  const ran = (asked: string, page: Answer<QueryPage>, number: number): Ran => ({
    text: asked, rows: page.body.Documents, charge: page.charge, ms: page.ms, next: page.headers.get("x-ms-continuation"), page: number,
    metrics: metricsOf(page.headers), index: indexOf(page.headers), returned: JSON.stringify(page.body).length,
  });
  const show = (all: Ran[]) => {
    results.set(name, all);
    if (isMounted.current) setPages(all);
  };
  const run = async (selection = "", from?: Ran) => {
    if (running) return;
    const asked = from?.text ?? (selection.trim() || text);
    const control = new AbortController();
    setRunning(control);
    setError(undefined);
    try {
      const page = await query(db, container.id, asked, { size, continuation: from?.next, metrics: true, signal: control.signal });
      const one = ran(asked, page, (from?.page ?? 0) + 1);
      show(from ? [...pages, one] : [one]);
      if (!from) {
        history.set(name, withPast(history.get(name) ?? [], { text: asked, charge: one.charge, ms: one.ms, rows: one.rows.length, at: Date.now() / 1000 }));
      }
    } catch (caught) {
      if (!control.signal.aborted) {
        setError(caught);
        if (!from) show([]);
      }
    }
    setRunning(undefined);
  };
  const all = async (format: "csv" | "json") => {
    if (!now) return;
    const control = new AbortController();
    setRunning(control);
    const rows: Json[] = [];
    let charge = 0;
    let next: string | null = null;
    try {
      do {
        const page: Answer<QueryPage> = await query(db, container.id, now.text, { size: 1000, continuation: next, signal: control.signal });
        rows.push(...page.body.Documents);
        charge += page.charge;
        next = page.headers.get("x-ms-continuation");
        setFetching({ rows: rows.length, charge });
      } while (next && rows.length < downloadMax);
      save(rows, format);
    } catch (caught) {
      if (!control.signal.aborted) setError(caught);
    }
    setFetching(undefined);
    setRunning(undefined);
  };
  const save = (rows: Json[], format: "csv" | "json") =>
    format === "csv" ? download(`${container.id}.csv`, "text/csv", csv(rows)) : download(`${container.id}.json`, "application/json", JSON.stringify(rows, null, 2));

  const spent = pages.reduce((sum, one) => sum + one.charge, 0);
  return (
    <div class="split">
      <div class="left">
        <RunBar isRunning={!!running} onRun={() => run()} onStop={() => { running?.abort(); setRunning(undefined); }} what="queries" past={history.get(name) ?? []}
          onPick={(one) => type(one.text)} languages={languages} downloads={<>
            <Button kind="quiet" disabled={!now} onClick={() => save(now!.rows, "csv")}>This page as CSV</Button>
            <Button kind="quiet" disabled={!now} onClick={() => save(now!.rows, "json")}>This page as JSON</Button>
            <Button kind="quiet" disabled={!now || !!running} onClick={() => all("csv")}>All rows as CSV</Button>
            <Button kind="quiet" disabled={!now || !!running} onClick={() => all("json")}>All rows as JSON</Button>
          </>}>
          {fetching && <span class="dim small">{count(fetching.rows)} rows, {units(fetching.charge)} RU so far</span>}
          <label class="row small dim wide-only">Page of <select class="input" value={size} onChange={(event) => setSize(Number(event.currentTarget.value))}>
            {[10, 100, 1000].map((n) => <option key={n} value={n}>{n}</option>)}
          </select></label>
        </RunBar>
        <div class="query-editor"><Editor language="sql" label="Query" flat value={text} onChange={type} onRun={run} properties={() => properties.current} /></div>
        {error !== undefined ? <div class="page"><Problem error={error} title="The query could not be run" /></div> : !now ? (
          <div class="page"><div class="empty"><h2>Ask {container.id} something</h2>
            <p class="dim"><kbd>Ctrl ↵</kbd> runs the query, or what is selected of it. <kbd>Ctrl Space</kbd> offers the properties that are in the items.</p></div></div>
        ) : (
          <>
            <div class="facts" aria-live="polite">
              <span><b id="charge">{units(now.charge)}</b> <span class="dim">RU</span></span>
              <span><b>{now.metrics["totalExecutionTimeInMs"]?.toFixed(1) ?? now.ms.toFixed(1)}</b> <span class="dim">ms</span></span>
              <span><b>{count(now.rows.length)}</b> <span class="dim">{now.rows.length === 1 ? "row" : "rows"}</span></span>
              {plan.data && <span><b>{plan.data.asked} of {plan.data.of}</b> <span class="dim">{plan.data.of === 1 ? "partition" : "partitions"}</span></span>}
              <span class="grow" />
              <Segmented label="Rows as" value={shown} onChange={setView} options={[["table", "Table"], ["json", "JSON"], ...(hasGraph ? [["graph", "Graph"] as ["graph", string]] : [])]} />
            </div>
            {shown === "graph" ? <GraphView key={`${now.text}/${now.page}`} db={db} container={container} rows={now.rows} /> : shown === "json" ? <div class="rows-json"><Editor flat readOnly language="json" label="Rows" value={JSON.stringify(now.rows, null, 2)} class="grow" /></div> : <Rows rows={now.rows} widths={widths} busy={!!running} none={`No rows${now.next ? " on this page; there may be more" : ""}.`} />}
            <div class="foot">
              <span>page {now.page}{pages.length > 1 ? ` · ${units(spent)} RU in all` : ""}</span>
              <span class="grow" />
              <Button kind="quiet" disabled={pages.length < 2 || !!running} onClick={() => show(pages.slice(0, -1))}>Previous page</Button>
              <Button disabled={!now.next || !!running} onClick={() => run("", now)}>Next page</Button>
            </div>
          </>
        )}
      </div>
      {now && <aside class="right aside aside-only" aria-label="About this query" tabIndex={0}><QueryFacts db={db} container={container} metrics={now.metrics} index={now.index} charge={now.charge} returned={now.returned} text={now.text} plan={plan.data} /></aside>}
    </div>
  );
}
