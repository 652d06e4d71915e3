// One item: its JSON, saved only over the version that was read. When somebody else was faster, both
// changes are shown, and what is saved is chosen property by property.
import { useEffect, useState } from "preact/hooks";
import { ApiError, call, type Container, containerPath, enc, type Item, type Json, keyHeader } from "../lib/api";
import { bytes, dateTime, units } from "../lib/format";
import { type Difference, differences, equal, keyText, keyValues, merged, parseExactly, pathParts, pathText, withoutSystem } from "../lib/json";
import { Editor } from "../parts/editor";
import { Button, Dialog, Icon, Note, Problem, toast, useReason, WriteButton } from "../parts/parts";

// What was typed and not saved: it outlives a change of tab and a new sign-in.
const drafts = new Map<string, string>();

const pretty = (value: Json) => JSON.stringify(value, null, 2);

function template(container: Container): string {
  const made: { [name: string]: Json } = { id: crypto.randomUUID?.() ?? String(Date.now()) };
  for (const path of container.partitionKey?.paths ?? []) {
    let at = made;
    const parts = pathParts(path);
    for (const part of parts.slice(0, -1)) at = (at[part] ??= {}) as { [name: string]: Json };
    const last = parts.at(-1);
    if (last && !(last in at)) at[last] = "";
  }
  return pretty(made);
}

export function ItemEditor({ db, container, id, values, onClose, onSaved, onDeleted }: {
  db: string; container: Container; id?: string; values?: Json[];
  onClose: () => void; onSaved: (item: Item, isCreated: boolean) => void; onDeleted: (item: Item) => void;
}) {
  const isNew = id === undefined;
  const draftName = `${db}/${container.id}/${id ?? "new"}/${JSON.stringify(values ?? [])}`;
  const [item, setItem] = useState<Item>();
  const [text, setText] = useState(isNew ? (drafts.get(draftName) ?? template(container)) : "");
  const [error, setError] = useState<unknown>();
  const [theirs, setTheirs] = useState<Item | "deleted">();
  const [saving, setSaving] = useState(false);
  const [charge, setCharge] = useState<number>();
  const [deleting, setDeleting] = useState(false);
  const mayWrite = useReason(db) === undefined;
  const path = (itemId: string) => `${containerPath(db, container.id)}/docs/${enc(itemId)}`;
  // A key that is not there is not null.
  const header = values === undefined ? {} : keyHeader(values.map((value, i) => (value === null && item && keyValues(item as Json, container.partitionKey)[i] === undefined ? undefined : value)));

  const read = async () => {
    setError(undefined);
    const found = async (asked: (Json | undefined)[]) => call<Item>(path(id!), { headers: keyHeader(asked) });
    try {
      let answer;
      try {
        answer = await found(values!);
      } catch (caught) {
        // Null in a link stands for no value, too.
        if (!(caught instanceof ApiError) || caught.status !== 404 || !values!.includes(null)) throw caught;
        answer = await found(values!.map((value) => (value === null ? undefined : value)));
      }
      setItem(answer.body);
      setText(drafts.get(draftName) ?? pretty(withoutSystem(answer.body)));
      setTheirs(undefined);
      setCharge(answer.charge);
    } catch (caught) {
      setError(caught);
    }
  };
  useEffect(() => {
    if (!isNew) void read();
  }, [draftName]);

  let parsed: { [name: string]: Json } | undefined;
  let fault = "";
  try {
    const value = parseExactly(text) as Json;
    if (value === null || typeof value !== "object" || Array.isArray(value)) fault = "An item is a JSON object: { … }";
    else parsed = value;
  } catch (caught) {
    fault = text.trim() === "" ? "Nothing is here yet" : (caught as Error).message;
  }
  const original = item && withoutSystem(item);
  const changed = isNew || (parsed !== undefined && original !== undefined ? !equal(parsed, original) : text !== (original ? pretty(original) : ""));
  if (parsed && typeof parsed["id"] !== "string") fault = "id must be a string";
  if (parsed && original && !isNew) {
    if (parsed["id"] !== original["id"]) fault = `The id cannot be changed (it is ${JSON.stringify(original["id"])}): make a new item instead`;
    else if (!equal(keyValues(parsed, container.partitionKey) as Json, keyValues(original, container.partitionKey) as Json)) {
      fault = `The partition key ${container.partitionKey?.paths.join(", ")} cannot be changed (it is ${keyText(keyValues(original, container.partitionKey))}): it decides where the item lives`;
    }
  }
  const size = new TextEncoder().encode(parsed ? JSON.stringify(parsed) : text).length;

  const type = (value: string) => {
    setText(value);
    if (original && value === pretty(original)) drafts.delete(draftName);
    else if (item || isNew) drafts.set(draftName, value);
  };
  const write = async (value: { [name: string]: Json }, etag: string | undefined) => {
    setSaving(true);
    setError(undefined);
    try {
      const asCreate = isNew || etag === undefined;
      const answer = asCreate
        ? await call<Item>(`${containerPath(db, container.id)}/docs`, { method: "POST", body: value, headers: keyHeader(keyValues(value, container.partitionKey)) })
        : await call<Item>(path(id!), { method: "PUT", body: value, headers: { ...header, "if-match": etag } });
      drafts.delete(draftName);
      setItem(answer.body);
      setText(pretty(withoutSystem(answer.body)));
      setTheirs(undefined);
      setCharge(answer.charge);
      toast(`${asCreate ? "Created" : "Saved"}: ${units(answer.charge)} RU`);
      onSaved(answer.body, isNew);
    } catch (caught) {
      if (caught instanceof ApiError && caught.status === 412) {
        try {
          setTheirs((await call<Item>(path(id!), { headers: header })).body);
        } catch (again) {
          if (again instanceof ApiError && again.status === 404) setTheirs("deleted");
          else setError(again);
        }
      } else if (caught instanceof ApiError && caught.status === 404 && !isNew) {
        setTheirs("deleted");
      } else {
        setError(caught);
      }
    }
    setSaving(false);
  };
  const save = () => {
    if (parsed && fault === "" && changed && mayWrite && !saving) void write(parsed, isNew ? undefined : item?._etag);
  };

  return (
    <section class="right" aria-label={isNew ? "New item" : `Item ${id}`}
      onKeyDown={(event) => { if ((event.ctrlKey || event.metaKey) && event.key === "s") { event.preventDefault(); save(); } }}>
      <div class="bar lined">
        <code class="strong tight">{isNew ? "New item" : id}</code>
        {changed && !isNew && item && theirs === undefined && <span class="tag">not saved</span>}
        {theirs !== undefined && <span class="tag warn">{theirs === "deleted" ? "deleted by someone else" : "changed by someone else"}</span>}
        <span class="grow" />
        {!isNew && <WriteButton of={db} kind="quiet" icon="trash" label="Delete this item" disabled={!item} onClick={() => setDeleting(true)} />}
        <Button kind="quiet" icon="close" label="Close" onClick={onClose} />
      </div>
      {error !== undefined && <div class="conflict"><Problem error={error} retry={isNew || item ? undefined : read} /></div>}
      {theirs === "deleted" && parsed ? (
        <div class="conflict">
          <Note state="uneven" title="Someone deleted this item after you opened it">Your text is still here. Create it again, or let it go.</Note>
          <div class="row wrap">
            <WriteButton of={db} kind="primary" disabled={saving || fault !== ""} onClick={() => write(parsed!, undefined)}>Create it again</WriteButton>
            <Button onClick={() => { drafts.delete(draftName); onDeleted(item!); }}>Let it go</Button>
          </div>
          <pre class="merged" tabIndex={0}>{text}</pre>
        </div>
      ) : theirs !== undefined && parsed && original ? (
        <Conflict was={original} mine={parsed} theirs={theirs as Item} saving={saving}
          onSave={(value) => write(value, (theirs as Item)._etag)}
          onTheirs={() => { drafts.delete(draftName); setItem(theirs as Item); setText(pretty(withoutSystem(theirs as Item))); onSaved(theirs as Item, false); setTheirs(undefined); }}
          onBack={() => setTheirs(undefined)} />
      ) : (
        <>
          <Editor language="json" label={isNew ? "The new item, JSON" : `The item ${id}, JSON`} value={text} onChange={type} onSave={save} flat readOnly={!mayWrite || (!isNew && !item)} class="grow" />
          <div class="foot" aria-live="polite">
            {fault !== "" && (item || isNew) ? <span class="over tight" title={fault}><Icon name="warn" /> {fault}</span> : (
              <span class="dim tight">{bytes(size)}{item?._ts ? ` · saved ${dateTime(item._ts)}` : ""}{charge ? ` · ${units(charge)} RU` : ""}</span>
            )}
            <span class="grow" />
            {changed && !isNew && item && <Button kind="quiet" onClick={() => { drafts.delete(draftName); setText(pretty(original!)); }}>Undo all</Button>}
            <WriteButton of={db} kind="primary" id="save" disabled={saving || fault !== "" || !changed} onClick={save}>{isNew ? "Create" : "Save"}</WriteButton>
          </div>
        </>
      )}
      {deleting && item && (
        <Dialog title={`Delete ${item.id}?`} submit="Delete the item" danger onClose={() => setDeleting(false)}
          onSubmit={async () => {
            await call(path(item.id), { method: "DELETE", headers: { ...header, "if-match": item._etag! } });
            setDeleting(false);
            drafts.delete(draftName);
            toast(`Deleted ${item.id}`);
            onDeleted(item);
          }}>
          <p>Its key is <code>{keyText(keyValues(item as Json, container.partitionKey))}</code>. It is deleted only if nobody changed it since you opened it.</p>
        </Dialog>
      )}
    </section>
  );
}

const shown = (value: Json | undefined) => (value === undefined ? "not there" : JSON.stringify(value));

function Conflict({ was, mine, theirs, saving, onSave, onTheirs, onBack }: {
  was: { [name: string]: Json }; mine: { [name: string]: Json }; theirs: Item; saving: boolean;
  onSave: (value: { [name: string]: Json }) => void; onTheirs: () => void; onBack: () => void;
}) {
  const theirsOwn = withoutSystem(theirs);
  const all = differences(was, mine, theirsOwn);
  const name = (one: Difference) => pathText(one.path);
  // Where one side alone changed something, that change is taken.
  const [choice, setChoice] = useState(new Map<string, "mine" | "theirs">());
  const chosen = (one: Difference) => choice.get(name(one)) ?? (one.by === "both" ? undefined : one.by);
  const open = all.filter((one) => chosen(one) === undefined);
  const result = merged(mine, theirsOwn, all, (one) => chosen(one) === "mine") as { [name: string]: Json };
  const changedLines = new Set(all.map((one) => one.path[0]));
  const choose = (one: Difference, side: "mine" | "theirs") => setChoice(new Map(choice).set(name(one), side));
  return (
    <div class="conflict">
      <Note state="uneven" title={`Someone saved this item${theirs._ts ? ` at ${dateTime(theirs._ts)}` : ""}, after you opened it`}>
        Nothing of yours is lost and nothing of theirs is overwritten. {open.length > 0 ? "Choose where both changed the same, then save." : "Look it over, then save."}
      </Note>
      <div class="scroll-x" tabIndex={0} role="group" aria-label="Differences">
      <table>
        <thead><tr><th scope="col">property</th><th scope="col">was</th><th scope="col">yours</th><th scope="col">theirs</th></tr></thead>
        <tbody>
          {all.map((one) => (
            <tr key={name(one)}>
              <td>{name(one)}</td>
              <td class="dim">{shown(one.was)}</td>
              {(["mine", "theirs"] as const).map((side) => (
                <td key={side}><label>
                  <input type="radio" name={`choose-${name(one)}`} checked={chosen(one) === side} onChange={() => choose(one, side)}
                    aria-label={`${name(one)}: ${side === "mine" ? "yours" : "theirs"}, ${shown(one[side])}`} />
                  <span>{shown(one[side])}</span>
                </label></td>
              ))}
            </tr>
          ))}
          {all.length === 0 && <tr><td colSpan={4}>Both changed the same in the same way.</td></tr>}
        </tbody>
      </table>
      </div>
      <div class="row wrap">
        <WriteButton kind="primary" disabled={saving || open.length > 0} onClick={() => onSave(result)}>Save the merged item</WriteButton>
        <Button onClick={onTheirs}>Take theirs</Button>
        <Button kind="quiet" onClick={onBack}>Back to the editor</Button>
      </div>
      <h3>The item as it will be saved</h3>
      <pre class="merged" tabIndex={0} aria-label="The merged item">
        <span>{"{"}</span>
        {Object.entries(result).map(([property, value], i, entries) => (
          <span key={property} class={changedLines.has(property) ? "changed" : ""}>{`  ${JSON.stringify(property)}: ${JSON.stringify(value, null, 2).replaceAll("\n", "\n  ")}${i + 1 < entries.length ? "," : ""}`}</span>
        ))}
        <span>{"}"}</span>
      </pre>
    </div>
  );
}
