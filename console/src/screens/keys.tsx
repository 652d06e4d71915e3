// Who can get in: the keys of the account, hidden until somebody asks, what a program needs to connect
// in each SDK language, and new keys. A key is in this page's memory alone, and for a minute.
import { useEffect, useState } from "preact/hooks";
import { ApiError, type KeyInfo, keyList, newKey, showKey } from "../lib/api";
import { useLoaded } from "../lib/live";
import { connections } from "../lib/snippets";
import { access, Button, Dialog, Field, Note, Problem, readOnlyReason, toast } from "../parts/parts";

const shownFor_ms = 60_000;
const hiddenKey = "••••••••••••";
const words: Record<string, string> = { primary: "Primary", secondary: "Secondary", "primary-readonly": "Primary, read-only", "secondary-readonly": "Secondary, read-only" };
const copyText = (text: string) => navigator.clipboard?.writeText(text).then(() => toast("Copied"), () => toast("The browser does not let this page copy")) ?? toast("The browser lets a page copy over https alone");

function NewKey({ name, onClose, onDone }: { name: string; onClose: () => void; onDone: () => void }) {
  const [typed, setTyped] = useState("");
  return (
    <Dialog title={`Make a new ${name} key?`} submit="Make a new key" danger disabled={typed !== name} onClose={onClose}
      onSubmit={async () => {
        await newKey(name);
        toast(`There is a new ${name} key; the old one is refused`);
        onDone();
        onClose();
      }}>
      <p>Programs that use the key are refused from that moment on, and so are sessions of the console that it opened. To change keys without a pause: move programs to the other key first.</p>
      <Field label={`Type ${name} to go on`}>{(field) => <input class="input" id={field} autofocus autocomplete="off" value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />}</Field>
    </Dialog>
  );
}

export function Keys() {
  const may = access.use() === "read-write";
  const list = useLoaded("keys", async () => (await keyList()).body);
  const [shown, setShown] = useState<{ name: string; value: string }>();
  const [chosen, setChosen] = useState<string>();
  const [renewing, setRenewing] = useState<string>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    if (!shown) return;
    const timer = setTimeout(() => setShown(undefined), shownFor_ms);
    return () => clearTimeout(timer);
  }, [shown]);
  const ask = async (name: string, then: (value: string) => unknown) => {
    setError(undefined);
    try {
      await then((await showKey(name)).body.value);
    } catch (caught) {
      setError(caught);
    }
  };
  const keys = list.data?.keys ?? [];
  const seen = keys.filter((one) => one.maySee);
  const used = seen.find((one) => one.key === chosen) ?? seen[0];
  const valueOf = (one?: KeyInfo) => (one && shown?.name === one.key ? shown.value : hiddenKey);
  return (
    <div class="page"><div class="stack">
      <div class="page-head"><h1>Keys</h1></div>
      {list.error !== undefined && <Problem error={list.error} retry={list.reload} />}
      {error !== undefined && <Problem error={error} title={error instanceof ApiError && error.status === 403 ? "Not shown" : undefined} />}
      {list.data?.fixed && <Note state="uneven" title="This server runs with --dev">Its key is the emulator’s, which everybody knows. Start it without --dev for keys of its own.</Note>}
      <section class="card stack"><header><h2>The account’s keys</h2></header>
        <div class="scroll-x" tabIndex={0} role="group" aria-label="Keys">
          <table class="list"><thead><tr><th scope="col">name</th><th scope="col">may</th><th scope="col">key</th><th scope="col"><span class="hidden">actions</span></th></tr></thead>
            <tbody>{keys.map((one) => {
              const name = words[one.key] ?? one.key;
              const isShown = shown?.name === one.key;
              const why = one.maySee ? undefined : "A read-only key opened this console: it shows read-only keys alone.";
              return <tr key={one.key}><td>{name}</td><td>{one.access === "read-write" ? "read and write" : "read"}</td>
                <td><code class="secret" data-key={one.key}>{one.maySee ? valueOf(one) : "not for this session"}</code></td>
                <td><div class="row">
                  <Button disabled={!one.maySee} title={why} label={`${isShown ? "Hide" : "Show"} the ${one.key} key`} onClick={() => (isShown ? setShown(undefined) : ask(one.key, (value) => setShown({ name: one.key, value })))}>{isShown ? "Hide" : "Show"}</Button>
                  <Button icon="copy" label={`Copy the ${one.key} key`} disabled={!one.maySee} title={why} onClick={() => ask(one.key, copyText)} />
                  {!list.data?.fixed && <Button kind="danger" disabled={!may} title={may ? undefined : readOnlyReason} label={`New ${one.key} key`} onClick={() => setRenewing(one.key)}>New…</Button>}
                </div></td></tr>;
            })}</tbody></table>
        </div>
        <p class="small dim">A key that is shown is hidden again after a minute. Keys are shown and made within 15 minutes of signing in; after that, sign in again. On the server: <code>orrery keys list</code>.</p>
      </section>
      {used && <section class="card stack"><header><h2>Connect</h2></header>
        {seen.length > 1 && <label class="row small dim">With the key <select class="input" value={used.key} onChange={(event) => setChosen(event.currentTarget.value)}>{seen.map((one) => <option key={one.key} value={one.key}>{words[one.key] ?? one.key}</option>)}</select></label>}
        {connections(valueOf(used)).map(({ language, text }) => (
          <div class="snippet" key={language}><div class="bar"><b class="strong small">{language}</b><span class="grow" />
            <Button kind="quiet" icon="copy" label={`Copy for ${language}, with the key`} onClick={() => ask(used.key, (value) => copyText(connections(value).find((one) => one.language === language)!.text))} /></div>
            <pre tabIndex={0} aria-label={`Connecting: ${language}`}><code>{text}</code></pre></div>
        ))}
      </section>}
      {renewing && <NewKey name={renewing} onClose={() => setRenewing(undefined)} onDone={() => { setShown(undefined); list.reload(); }} />}
    </div></div>
  );
}
