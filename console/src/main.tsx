// The console: who is signed in, the frame, and which screen is shown.
import "./style/tokens.css";
import "./style/base.css";
import "./style/screens.css";
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { lostAt, onReach, onSignedOut, session, type SessionInfo, signOut } from "./lib/api";
import { clock, count, short, span, units } from "./lib/format";
import { job as importJob } from "./lib/importer";
import { keep, kept, Shared } from "./lib/live";
import { go, link, useRoute } from "./lib/route";
import { access, Button, Icon, languages, otherFaces, Problem, readOnlyReason, Toasts, Wordmark, WriteButton } from "./parts/parts";
import { Advisor } from "./screens/advisor";
import { figures, nameOf, reloadTree, tree, useContainer, useFigures } from "./screens/context";
import { Cluster, cluster, lookForNodes } from "./screens/cluster";
import { CreateContainer, CreateDatabase } from "./screens/create";
import { Import } from "./screens/import";
import { Items } from "./screens/items";
import { Keys } from "./screens/keys";
import { Metrics } from "./screens/metrics";
import { DatabasePage, Overview } from "./screens/overview";
import { KeyHelp, Palette, tabs } from "./screens/palette";
import { Partitions } from "./screens/partitions";
import { Policies } from "./screens/policies";
import { Query } from "./screens/query";
import { Scale } from "./screens/scale";
import { Scripts } from "./screens/scripts";
import { SignIn } from "./screens/sign_in";

const theme = new Shared<"light" | "dark">(kept("theme", matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
function setTheme(value: "light" | "dark") {
  document.documentElement.dataset["theme"] = value;
  theme.set(value);
}
setTheme(theme.get());
const turnTheme = () => {
  const value = theme.get() === "dark" ? "light" : "dark";
  keep("theme", value);
  setTheme(value);
};

const titles: Record<string, string> = { metrics: "Metrics", import: "Import", keys: "Keys", cluster: "Cluster" };

function Tree({ onGo }: { onGo: () => void }) {
  const all = tree.use();
  const now = figures.use();
  const { parts } = useRoute();
  const [creating, setCreating] = useState<string | undefined>();
  const isHere = (db: string, id?: string) => parts[0] === "data" && parts[1] === db && parts[2] === id;
  return (
    <>
      <div class="tree-head"><h2 class="grow dim">Data</h2><WriteButton kind="quiet" icon="plus" label="New database" onClick={() => setCreating("")} /></div>
      <nav class="tree" aria-label="Data">
        <ul>
          {all?.map((db) => (
            <li key={db.id}>
              <div><a class="db" href={link(["data", db.id])} aria-current={isHere(db.id) ? "page" : undefined} onClick={onGo}><Icon name="data" /><span class="tight">{db.id}</span></a>
                <WriteButton of={db.id} kind="quiet" icon="plus" label={`New container in ${db.id}`} onClick={() => setCreating(db.id)} /></div>
              <ul>
                {db.containers.map((one) => {
                  const rate = now?.rates.get(nameOf({ database: db.id, container: one.id }));
                  return (
                    <li key={one.id}><a href={link(["data", db.id, one.id, parts[3] && parts[0] === "data" ? parts[3] : "items"])} aria-current={isHere(db.id, one.id) ? "page" : undefined} onClick={onGo}>
                      <span class="tight">{one.id}</span><span class="path tight">{one.partitionKey?.paths.join(", ")}</span>
                      {rate && rate.throttledPerSecond > 0 && <span class="mark refused" role="img" aria-label="over budget" />}
                    </a></li>
                  );
                })}
              </ul>
            </li>
          ))}
        </ul>
      </nav>
      {creating === "" && <CreateDatabase onClose={() => setCreating(undefined)} />}
      {creating && <CreateContainer db={creating} onClose={() => setCreating(undefined)} />}
    </>
  );
}

function ContainerPage({ db, id, tab }: { db: string; id: string; tab: string }) {
  const container = useContainer(db, id);
  const all = tree.use();
  if (!all) return <div class="page" />;
  if (!container) return <div class="page"><div class="empty"><h2>There is no container {id} in {db}</h2><a href="#/">Overview</a></div></div>;
  const screens: Record<string, () => preact.JSX.Element> = {
    items: () => <Items key={`${db}/${id}`} db={db} container={container} />,
    query: () => <Query key={`${db}/${id}`} db={db} container={container} />,
    partitions: () => <Partitions key={`${db}/${id}`} db={db} container={container} />,
    scale: () => <Scale key={`${db}/${id}`} db={db} container={container} />,
    scripts: () => <Scripts key={`${db}/${id}`} db={db} container={container} />,
    policies: () => <Policies key={`${db}/${id}`} db={db} container={container} />,
    advisor: () => <Advisor key={`${db}/${id}`} db={db} container={container} />,
  };
  return (
    <>
      <nav class="tabs" aria-label={`${db} / ${id}`}>
        {tabs.map(([name, title]) => <a key={name} href={link(["data", db, id, name])} aria-current={tab === name ? "page" : undefined}>{title}</a>)}
      </nav>
      {(screens[tab] ?? screens["items"]!)()}
    </>
  );
}

function LostBar() {
  const [lost, setLost] = useState(lostAt());
  useEffect(() => {
    const off = onReach(() => setLost(lostAt()));
    setLost(lostAt()); // it may have changed before this effect ran
    return () => void off();
  }, []);
  if (!lost) return null;
  return <div class="lost" role="alert">No answer since {clock(lost / 1000, true)}. Trying every 2 s.</div>;
}

function Frame({ info, onSignOut }: { info: SessionInfo; onSignOut: () => void }) {
  const { parts } = useRoute();
  const [popup, setPopup] = useState<"palette" | "keys">();
  const [showTree, setShowTree] = useState(false);
  const now = figures.use();
  const dark = theme.use() === "dark";
  const job = importJob.use();
  const importing = job?.state === "running" || job?.state === "paused" ? `: ${count(job.written)}` : "";
  useFigures();
  const hasNodes = cluster.use() != null;
  useEffect(() => void reloadTree(), []);
  // Without an answer it looks as in a server alone.
  useEffect(() => void lookForNodes().catch(() => {}), []);
  const [db, id, tab = "items"] = parts[0] === "data" ? parts.slice(1) : [];
  useEffect(() => {
    document.title = id ? `${id} · ${db} · Orrery` : titles[parts[0] ?? ""] ? `${titles[parts[0]!]} · Orrery` : db ? `${db} · Orrery` : "Orrery";
  }, [db, id, parts[0]]);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        setPopup("palette");
        return;
      }
      if (event.altKey && id && /^[1-7]$/.test(event.key)) {
        event.preventDefault();
        go(["data", db!, id, tabs[Number(event.key) - 1]![0]]);
        return;
      }
      const target = event.composedPath()[0] as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName ?? "") || target.isContentEditable || document.querySelector("dialog[open]")) return;
      if (event.key === "?") setPopup("keys");
      else if (event.key === "t") turnTheme();
      else if (event.key === "/") document.getElementById("filter")?.focus();
      else if (event.key === "n") document.getElementById("new-item")?.click();
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [db, id]);
  const readOnly = info.access === "read-only";
  const leave = () => setShowTree(false);
  return (
    <div class="frame">
      <header class="top">
        <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById("main")?.focus(); }}>Skip to the content</a>
        <a class="brand" href="#/" aria-label="Orrery: overview"><Wordmark /></a>
        {db && <ol class="crumbs" aria-label="Where"><li class="wide-only"><a href={link(["data", db])}>{db}</a></li>{id && <li><span class="tight">{id}</span></li>}</ol>}
        <button type="button" class="go wide-only" onClick={() => setPopup("palette")}><Icon name="search" />Go to…<kbd>Ctrl K</kbd></button>
        <span class="grow" />
        <span class="gauge wide-only"><b>{units(now?.total.unitsPerSecond ?? 0)}</b><span class="dim">RU/s</span></span>
        {(now?.total.throttledPerSecond ?? 0) > 0 && <span class="gauge wide-only"><b class="over">{short(now!.total.throttledPerSecond)}</b><span class="dim">over/s</span></span>}
        <span class={`tag ${readOnly ? "warn" : "wide-only"}`} title={readOnly ? readOnlyReason : `Signed in; ends after ${span(3600)} without a request`}><Icon name="lock" />{info.access}</span>
        <Button kind="quiet" icon={dark ? "sun" : "moon"} label={dark ? "Light theme" : "Dark theme"} onClick={turnTheme} />
        <Button kind="quiet" icon="help" label="Keyboard" class="wide-only" onClick={() => setPopup("keys")} />
        <Button kind="quiet" icon="out" label="Sign out" id="sign-out" onClick={onSignOut} />
      </header>
      <aside class={`side ${showTree ? "open" : ""}`} aria-label="Places">
        <nav aria-label="Console">
          <a href="#/" aria-current={parts.length === 0 ? "page" : undefined} onClick={leave}><Icon name="home" />Overview</a>
          <a href="#/metrics" aria-current={parts[0] === "metrics" ? "page" : undefined} onClick={leave}><Icon name="chart" />Metrics</a>
          <a href="#/import" aria-current={parts[0] === "import" ? "page" : undefined} onClick={leave}><Icon name="up" />Import{importing}</a>
          <a href="#/keys" aria-current={parts[0] === "keys" ? "page" : undefined} onClick={leave}><Icon name="key" />Keys</a>
          {hasNodes && <a href="#/cluster" aria-current={parts[0] === "cluster" ? "page" : undefined} onClick={leave}><Icon name="nodes" />Cluster</a>}
        </nav>
        <Tree onGo={leave} />
        <div class="side-foot"><span>{location.host}</span><span>{info.version}</span></div>
      </aside>
      <main class="main" id="main" tabIndex={-1}>
        <LostBar />
        {id && <h1 class="hidden">{db} / {id}</h1>}
        {parts[0] === "metrics" ? <Metrics /> : parts[0] === "import" ? <Import /> : parts[0] === "keys" ? <Keys /> : parts[0] === "cluster" ? <Cluster /> : id ? <ContainerPage db={db!} id={id} tab={tab} /> : db ? <DatabasePage key={db} db={db} /> : <Overview />}
      </main>
      <nav class="bottom" aria-label="Screens">
        <a href="#/" aria-current={parts.length === 0 && !showTree ? "page" : undefined} onClick={leave}><Icon name="home" />Overview</a>
        <button type="button" aria-expanded={showTree} onClick={() => setShowTree(!showTree)}><Icon name="data" />Data</button>
        <a href="#/metrics" aria-current={parts[0] === "metrics" && !showTree ? "page" : undefined} onClick={leave}><Icon name="chart" />Metrics</a>
        <button type="button" onClick={() => setPopup("palette")}><Icon name="search" />Go to</button>
      </nav>
      {popup === "palette" && <Palette onClose={() => setPopup(undefined)} />}
      {popup === "keys" && <KeyHelp onClose={() => setPopup(undefined)} />}
      <Toasts />
    </div>
  );
}

function App() {
  const [info, setInfo] = useState<SessionInfo>();
  const [error, setError] = useState<unknown>();
  const [ended, setEnded] = useState(false);
  const ask = () => session().then(({ body }) => { enter(body); setError(undefined); }, setError);
  const enter = (body: SessionInfo) => {
    access.set(body.access ?? "read-only");
    otherFaces.set(body.otherFaces ?? []);
    languages.set(body.languages ?? []);
    setInfo(body);
  };
  useEffect(() => void ask(), []);
  useEffect(() => {
    const off = onSignedOut(() => setInfo((old) => {
      if (old?.access) setEnded(true);
      return old && { ...old, access: undefined };
    }));
    return () => void off();
  }, []);
  if (error) return <main class="page"><Problem error={error} retry={ask} /></main>;
  if (!info) return null;
  if (!info.access) return <SignIn info={info} ended={ended} onDone={(body) => { setEnded(false); enter(body); }} />;
  return <Frame info={info} onSignOut={async () => {
    try {
      enter((await signOut()).body);
      tree.set(undefined);
      figures.set(undefined);
    } catch (caught) {
      setError(caught);
    }
  }} />;
}

render(<App />, document.getElementById("app")!);
