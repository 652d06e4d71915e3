// The small parts of every screen: icons, buttons, dialogs, notes, messages.
import type { ButtonHTMLAttributes, ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "../lib/api";
import { Shared } from "../lib/live";
import { snippets } from "../lib/snippets";

const shapes = {
  home: "M2.5 7.5 8 3l5.5 4.5V13a.5.5 0 0 1-.5.5H9.8V10H6.2v3.5H3a.5.5 0 0 1-.5-.5z",
  chart: "M2.5 2.5v11h11M5 10l2.5-3 2 2L13 5",
  plus: "M8 3.5v9M3.5 8h9",
  key: "M10 2.5a3.5 3.5 0 1 0 .01 0M7.6 8.4 3 13M4.6 11.4l1.6 1.6",
  search: "M7 2.5a4.5 4.5 0 1 0 .01 0M10.3 10.3 13.5 13.5",
  sun: "M8 5.2a2.8 2.8 0 1 0 .01 0M8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M12.6 3.4l-.9.9M4.3 11.7l-.9.9",
  moon: "M13 9.6A5.5 5.5 0 0 1 6.4 3 5.5 5.5 0 1 0 13 9.6z",
  out: "M6 2.5H3a.5.5 0 0 0-.5.5v10a.5.5 0 0 0 .5.5h3M10 5l3 3-3 3M13 8H6",
  play: "M5 3.2 12.5 8 5 12.8z",
  stop: "M4 4h8v8H4z",
  check: "M3 8.5 6.5 12 13 4.5",
  warn: "M8 2.5 14.2 13.2H1.8zM8 6.8v3M8 11.6v.1",
  down: "M8 2.5v8M4.8 7.5 8 10.7l3.2-3.2M2.5 13.5h11",
  up: "M8 10.7v-8M4.8 5.7 8 2.5l3.2 3.2M2.5 13.5h11",
  nodes: "M8 2.500a2 2 0 1 0 .01 0M3.500 9.500a2 2 0 1 0 .01 0M12.500 9.500a2 2 0 1 0 .01 0M6.900 6.100 4.600 9.700M9.100 6.100l2.300 3.600M5.500 11.500h5",
  columns: "M2.5 3h11v10h-11zM6.2 3v10M9.8 3v10",
  clock: "M8 2.2a5.8 5.8 0 1 0 .01 0M8 4.8V8l2.2 1.6",
  close: "M4 4l8 8M12 4l-8 8",
  trash: "M3 4.5h10M6.5 4.5V3h3v1.5M4.2 4.5l.6 9h6.4l.6-9",
  data: "M8 2.5c3 0 5 .8 5 1.9S11 6.3 8 6.3 3 5.5 3 4.4s2-1.9 5-1.9zM3 4.4v7.2c0 1.1 2 1.9 5 1.9s5-.8 5-1.9V4.4M3 8c0 1.1 2 1.9 5 1.9S13 9.100 13 8",
  lock: "M3.5 7.2h9v6h-9zM5.3 7.2V5a2.7 2.7 0 0 1 5.4 0v2.2",
  help: "M8 2.2a5.800 5.800 0 1 0 .01 0M6.300 6.300a1.800 1.800 0 1 1 2.500 1.700c-.5.2-.8.5-.8 1.100M8 11.300v.1",
  copy: "M5.500 5.500h8v8h-8zM10.500 5.500v-3h-8v8h3",
};
export type IconName = keyof typeof shapes;
export const Icon = ({ name, class: extra = "" }: { name: IconName; class?: string }) => (
  <svg class={`icon ${extra}`} viewBox="0 0 16 16" aria-hidden="true"><path d={shapes[name]} /></svg>
);

export const Wordmark = () => (
  <svg class="wordmark" viewBox="0 0 118 22" preserveAspectRatio="xMinYMid slice" role="img" aria-label="Orrery">
    <circle class="line" cx="11" cy="11" r="8.500" />
    <circle class="sun" cx="11" cy="11" r="2.600" />
    <circle class="planet" cx="16.500" cy="4" r="3.600" />
    <path class="line" d="M29 19V3h5.500a4.500 4.500 0 0 1 0 9H29m5 0 6 7M47 19V3h5.500a4.500 4.500 0 0 1 0 9H47m5 0 6 7M75 3H65v16h10M65 11h8.500M82 19V3h5.500a4.500 4.500 0 0 1 0 9H82m5 0 6 7M99 3l7 8.500L113 3M106 11.500V19" />
  </svg>
);

type ButtonProps = Omit<ButtonHTMLAttributes<HTMLButtonElement>, "icon"> & {
  kind?: "primary" | "danger" | "quiet" | ""; icon?: IconName; label?: string; children?: ComponentChildren;
};
export const Button = ({ kind = "", icon, label, children, ...rest }: ButtonProps) => (
  <button type="button" {...rest} class={`btn ${kind} ${children === undefined ? "icon-only" : ""} ${rest.class ?? ""}`}
    aria-label={label} title={rest.title ?? label}>
    {icon && <Icon name={icon} />}{children}
  </button>
);

// What only a read-write key may do.
export const access = new Shared<"read-write" | "read-only">("read-only");
export const readOnlyReason = "A read-only key opened this console. Sign in with a read-write key to change anything.";
// The faces beside the one that this console speaks. Their databases have ids FACE:NAME here; they are shown and scaled.
export const otherFaces = new Shared<string[]>([]);
// Those of them whose language can be used here, over containers of any of our own databases.
export const languages = new Shared<string[]>([]);
export const isOther = (db: string) => otherFaces.get().some((face) => db.startsWith(`${face}:`));
export const otherReason = (db: string) => `${db} is written through its own protocol (${db.split(":")[0]}). Here it is shown, queried, scaled and split.`;
// Why nothing can be changed in a database, or anywhere; undefined when it can.
export function useReason(db?: string): string | undefined {
  otherFaces.use();
  const may = access.use() === "read-write";
  if (!may) return readOnlyReason;
  return db !== undefined && isOther(db) ? otherReason(db) : undefined;
}
// `of`: the database that it changes something in.
export function WriteButton({ of, ...props }: ButtonProps & { of?: string }) {
  const reason = useReason(of);
  return <Button {...props} disabled={reason !== undefined || props.disabled} title={reason ?? props.title} />;
}

export function Segmented<T extends string>({ value, options, onChange, label }: {
  value: T; options: [T, string][]; onChange: (value: T) => void; label: string;
}) {
  return (
    <div class="segmented" role="group" aria-label={label}>
      {options.map(([one, text]) => (
        <button type="button" key={one} aria-pressed={one === value} onClick={() => onChange(one)}>{text}</button>
      ))}
    </div>
  );
}

export function Field({ label, hint, children }: { label: string; hint?: ComponentChildren; children: (id: string) => ComponentChildren }) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children(id)}
      {hint && <span class="hint">{hint}</span>}
    </div>
  );
}

export function Dialog({ title, onClose, onSubmit, submit, danger, children, wide, disabled }: {
  title: string; onClose: () => void; onSubmit?: () => Promise<void> | void; submit?: string; danger?: boolean;
  children: ComponentChildren; wide?: boolean; disabled?: boolean;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const id = useId();
  useLayoutEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    dialog.current?.showModal();
    return () => before?.focus?.();
  }, []);
  const send = async (event: Event) => {
    event.preventDefault();
    if (!onSubmit || busy || disabled) return;
    setBusy(true);
    setError(undefined);
    try {
      await onSubmit();
    } catch (caught) {
      setError(caught);
    }
    setBusy(false);
  };
  return (
    <dialog ref={dialog} class={wide ? "wide" : ""} aria-labelledby={id} onClose={onClose}>
      <form method="dialog" onSubmit={send}>
        <header><h2 id={id}>{title}</h2></header>
        <div class="body">
          {children}
          {error !== undefined && <Problem error={error} />}
        </div>
        <footer>
          <Button onClick={onClose}>{onSubmit ? "Cancel" : "Close"}</Button>
          {onSubmit && <button class={`btn ${danger ? "danger" : "primary"}`} type="submit" disabled={busy || disabled}>{submit}</button>}
        </footer>
      </form>
    </dialog>
  );
}

// In place of what could not be shown: what failed, and what to do.
export function Problem({ error, retry, title }: { error: unknown; retry?: () => void; title?: string }) {
  const known = error instanceof ApiError ? error : undefined;
  const said = error instanceof Error ? error.message : String(error);
  const titles: Record<number, string> = {
    0: "No answer", 400: "The server refused this", 401: "The session has ended", 403: "Not allowed", 404: "It is not there",
    409: "It is there already", 412: "Someone changed it meanwhile", 413: "Too large", 429: "Over the budget", 503: "The server is busy",
  };
  return (
    <div class="problem" role="alert">
      <span class="title">{title ?? titles[known?.status ?? -1] ?? "It failed"}{known && known.status > 0 ? ` (${known.status}${known.substatus ? `/${known.substatus}` : ""})` : ""}</span>
      <pre>{said}</pre>
      {known?.what && <span class="small dim"><code>{known.what}</code>{known.activityId && <> · activity <code>{known.activityId}</code></>}</span>}
      {retry && <Button onClick={retry}>Try again</Button>}
    </div>
  );
}

export const Note = ({ state, title, children }: { state: string; title: string; children?: ComponentChildren }) => (
  <div class={`note ${state}`}>
    <span class={`mark ${state}`} aria-hidden="true" />
    <div><div class="title">{title}</div><div class="small">{children}</div></div>
  </div>
);

// A short word that something is done.
const toasts = new Shared<{ id: number; text: string }[]>([]);
let toastId = 0;
export function toast(text: string) {
  const id = ++toastId;
  toasts.set([...toasts.get().slice(-3), { id, text }]);
  setTimeout(() => toasts.set(toasts.get().filter((one) => one.id !== id)), 5000);
}
export const Toasts = () => (
  <div class="toasts" role="status" aria-live="polite">
    {toasts.use().map((one) => <div class="toast" key={one.id}><Icon name="check" />{one.text}</div>)}
  </div>
);

export function Snippets({ database, container, keys }: { database: string; container: string; keys: string[] }) {
  const all = snippets(database, container, keys);
  const [chosen, setChosen] = useState(0);
  const one = all[chosen]!;
  return (
    <div class="snippet">
      <div class="bar"><div class="row" role="tablist" aria-label="Language">
        {all.map(({ language }, i) => (
          <button type="button" role="tab" key={language} aria-selected={i === chosen} tabIndex={i === chosen ? 0 : -1} onClick={() => setChosen(i)}
            onKeyDown={(event) => {
              const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? all.length - 1 : 0;
              if (step === 0) return;
              setChosen((chosen + step) % all.length);
              (event.currentTarget.parentElement!.children[(chosen + step) % all.length] as HTMLElement).focus();
            }}>{language}</button>
        ))}
        </div><span class="grow" />
        <Button kind="quiet" icon="copy" label="Copy" onClick={() => navigator.clipboard?.writeText(one.text).then(() => toast("Copied"), () => toast("The browser does not let this page copy"))} />
      </div>
      <pre tabIndex={0} aria-label={`${one.language} example`}><code>{one.text}</code></pre>
    </div>
  );
}
