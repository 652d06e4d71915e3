// The items of a container: a table with chosen columns, a filter, pages; beside it one item.
import { useEffect, useRef, useState } from "preact/hooks";
import { type Container, type Item, type Json, query } from "../lib/api";
import { count, ms, units } from "../lib/format";
import { isExact, keyValues, pathParts, systemNames, valueAt } from "../lib/json";
import { keep, kept } from "../lib/live";
import { go, link, useRoute } from "../lib/route";
import { ColumnHead, useWidths } from "../parts/columns";
import { Button, Icon, isOther, otherReason, Problem, Snippets, WriteButton } from "../parts/parts";
import { Cell } from "../parts/rows";
import { ItemEditor } from "./item_editor";

const pageSize = 50;

// The first columns: what most items have, without what is too large for a cell.
function usualColumns(items: Item[], keys: string[]): string[] {
  const seen = new Map<string, number>();
  for (const item of items) {
    for (const [name, value] of Object.entries(item)) {
      if (name === "id" || systemNames.has(name) || keys.includes(name)) continue;
      if (value !== null && typeof value === "object" && !isExact(value)) continue;
      seen.set(name, (seen.get(name) ?? 0) + 1);
    }
  }
  return [...seen].sort((a, b) => b[1] - a[1]).slice(0, 5).map(([name]) => name);
}

export function Items({ db, container }: { db: string; container: Container }) {
  const route = useRoute();
  const filter = route.query.get("where") ?? "";
  const [typed, setTyped] = useState(filter);
  const [items, setItems] = useState<Item[]>([]);
  const [next, setNext] = useState<string | null>(null);
  const [facts, setFacts] = useState({ charge: 0, ms: 0, pages: 0 });
  const [state, setState] = useState<"loading" | "ready">("loading");
  const [error, setError] = useState<unknown>();
  const [choosing, setChoosing] = useState(false);
  const storeName = `columns.${db}/${container.id}`;
  const [chosen, setChosen] = useState<string[] | null>(kept<string[] | null>(storeName, null));
  const widths = useWidths(`items.${db}/${container.id}`);
  const turn = useRef(0);
  const body = useRef<HTMLTableSectionElement>(null);
  const keys = (container.partitionKey?.paths ?? []).map((path) => pathParts(path));
  const keyNames = keys.map((parts) => parts.join("."));
  const openId = route.query.get("id");
  const openKey = route.query.get("key");
  const isNew = route.query.has("new");

  const load = async (continuation: string | null = null) => {
    const mine = ++turn.current;
    setState("loading");
    setError(undefined);
    try {
      const text = filter.trim() === "" ? "SELECT * FROM c" : `SELECT * FROM c WHERE ${filter}`;
      let page = await query(db, container.id, text, { size: pageSize, continuation });
      let rows = page.body.Documents as Item[];
      let charge = page.charge;
      let took = page.ms;
      // A page can be empty while there is more: partitions without a match.
      for (let i = 0; rows.length === 0 && page.headers.get("x-ms-continuation") && i < 20; ++i) {
        page = await query(db, container.id, text, { size: pageSize, continuation: page.headers.get("x-ms-continuation") });
        rows = page.body.Documents as Item[];
        charge += page.charge;
        took += page.ms;
      }
      if (mine !== turn.current) return;
      setItems((old) => (continuation ? [...old, ...rows] : rows));
      setNext(page.headers.get("x-ms-continuation"));
      setFacts((old) => ({ charge, ms: took, pages: continuation ? old.pages + 1 : 1 }));
    } catch (caught) {
      if (mine === turn.current) setError(caught);
    }
    if (mine === turn.current) setState("ready");
  };
  useEffect(() => {
    setTyped(filter);
    setItems([]);
    void load();
  }, [db, container.id, filter]);

  const columns = chosen ?? usualColumns(items, keyNames);
  const offered = [...new Set([...columns, ...items.flatMap((item) => Object.keys(item)).filter((name) => name !== "id" && !keyNames.includes(name))])];
  const choose = (names: string[]) => {
    setChosen(names);
    keep(storeName, names);
  };
  const at = (query: Record<string, string | undefined>) => go(["data", db, container.id, "items"], { where: filter, ...query });
  const open = (item: Item) => at({ id: item.id, key: JSON.stringify(keyValues(item as Json, container.partitionKey).map((one) => one ?? null)) });
  const isOpen = (item: Item) => item.id === openId && JSON.stringify(keyValues(item as Json, container.partitionKey).map((one) => one ?? null)) === openKey;
  const step = (event: KeyboardEvent, item: Item) => {
    const row = event.currentTarget as HTMLElement;
    if (event.key === "Enter" || event.key === " " || event.key === "e") open(item);
    else if (event.key === "ArrowDown" || event.key === "j") (row.nextElementSibling as HTMLElement | null)?.focus();
    else if (event.key === "ArrowUp" || event.key === "k") (row.previousElementSibling as HTMLElement | null)?.focus();
    else return;
    event.preventDefault();
  };

  if (state === "ready" && items.length === 0 && !error && filter === "" && !isNew) {
    return (
      <div class="page">
        <div class="empty">
          <h2>{container.id} has no items yet</h2>
          {isOther(db) ? <p>{otherReason(db)}</p> : <>
            <p>Make one here, or with a program: this is all it takes.</p>
            <Snippets database={db} container={container.id} keys={container.partitionKey?.paths ?? []} />
            <div class="row"><WriteButton kind="primary" icon="plus" onClick={() => at({ new: "1" })}>New item</WriteButton>
              <a class="btn" href={link(["import"], { to: `${db}/${container.id}` })}>Import a file</a></div></>}
        </div>
      </div>
    );
  }
  return (
    <div class="split">
      <div class="left">
        <form class="bar" onSubmit={(event) => { event.preventDefault(); filter === typed ? void load() : go(["data", db, container.id, "items"], { where: typed }); }}>
          <label class="where"><span>WHERE</span>
            <input id="filter" aria-label="Filter: a condition of the query language" placeholder="c.status = 'open' AND c.total > 100" spellcheck={false}
              autocomplete="off" value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
          </label>
          <div class="anchor wide-only">
            <Button icon="columns" label="Columns" aria-expanded={choosing} onClick={() => setChoosing(!choosing)} />
            {choosing && (
              <div class="menu" role="group" aria-label="Columns">
                {offered.map((name) => (
                  <label class="check" key={name}>
                    <input type="checkbox" checked={columns.includes(name)}
                      onChange={() => choose(columns.includes(name) ? columns.filter((one) => one !== name) : [...columns, name])} />
                    <code>{name}</code>
                  </label>
                ))}
                <Button kind="quiet" onClick={() => { setChosen(null); keep(storeName, null); }}>The usual ones</Button>
              </div>
            )}
          </div>
          <WriteButton of={db} icon="plus" id="new-item" onClick={() => at({ new: "1" })}>New item</WriteButton>
        </form>
        {error !== undefined ? <div class="page"><Problem error={error} retry={() => load()} title={filter ? "The filter could not be run" : undefined} /></div> : (
          <div class={`grid ${state === "loading" ? "busy" : ""}`}>
            <table aria-label={`Items of ${container.id}`}>
              <thead>
                <tr>
                  <ColumnHead name="id" widths={widths} />
                  {keyNames.filter((name) => name !== "id").map((name) => <ColumnHead key={name} name={name} widths={widths}><Icon name="key" class="key-icon" />{name}</ColumnHead>)}
                  {columns.map((name) => <ColumnHead key={name} name={name} widths={widths} class={items.some((item) => typeof item[name] === "number") ? "num" : ""} />)}
                </tr>
              </thead>
              <tbody ref={body}>
                {items.map((item, i) => (
                  <tr key={item._rid} tabIndex={i === 0 || isOpen(item) ? 0 : -1} aria-selected={isOpen(item)}
                    onClick={() => open(item)} onKeyDown={(event) => step(event, item)}>
                    <td class="mono" style={widths.style("id")}>{item.id}</td>
                    {keys.filter((parts) => parts.join(".") !== "id").map((parts) => <td class="mono" key={parts.join(".")} style={widths.style(parts.join("."))}><Cell value={valueAt(item as Json, parts)} /></td>)}
                    {columns.map((name) => <td key={name} class={typeof item[name] === "number" ? "num" : ""} style={widths.style(name)}><Cell value={item[name]} /></td>)}
                  </tr>
                ))}
                {state === "ready" && items.length === 0 && <tr><td colSpan={1 + keys.length + columns.length} class="dim">No item matches <code>{filter}</code>.</td></tr>}
              </tbody>
            </table>
          </div>
        )}
        <div class="foot">
          <span>{count(items.length)} {items.length === 1 ? "item" : "items"}{next ? " so far" : ""}</span>
          <span class="grow" />
          <span class="dim">page: {units(facts.charge)} RU · {ms(facts.ms)}</span>
          <Button disabled={!next || state === "loading"} onClick={() => load(next)}>More</Button>
        </div>
      </div>
      {(openId !== null || isNew) && (
        <ItemEditor db={db} container={container} key={isNew ? "new" : `${openId}/${openKey}`} id={isNew ? undefined : openId!}
          values={isNew ? undefined : (JSON.parse(openKey ?? "[null]") as Json[])}
          onClose={() => at({})}
          onSaved={(item, isCreated) => {
            if (isCreated) {
              setItems((old) => [item, ...old]);
              open(item);
            } else {
              setItems((old) => old.map((one) => (one._rid === item._rid ? item : one)));
            }
          }}
          onDeleted={(item) => {
            setItems((old) => old.filter((one) => one._rid !== item._rid));
            at({});
          }} />
      )}
    </div>
  );
}
