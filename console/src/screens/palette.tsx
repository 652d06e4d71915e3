// Ctrl K: go to any container, screen or database by typing a part of its name. ?: the keys.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { link } from "../lib/route";
import { Dialog, Icon, type IconName } from "../parts/parts";
import { cluster } from "./cluster";
import { tree } from "./context";

export const tabs: [string, string][] = [["items", "Items"], ["query", "Query"], ["partitions", "Partitions"], ["scale", "Scale"], ["scripts", "Scripts"], ["policies", "Policies"], ["advisor", "Advisor"]];

interface Target { text: string; detail: string; href: string; icon: IconName }

export function Palette({ onClose }: { onClose: () => void }) {
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const all: Target[] = [
    { text: "Overview", detail: "", href: "#/", icon: "home" },
    { text: "Metrics", detail: "", href: "#/metrics", icon: "chart" },
    { text: "Import", detail: "a file", href: "#/import", icon: "up" },
    { text: "Keys", detail: "connect", href: "#/keys", icon: "key" },
    ...(cluster.get() ? [{ text: "Cluster", detail: "nodes", href: "#/cluster", icon: "nodes" } as Target] : []),
    ...(tree.get() ?? []).flatMap((db): Target[] => [
      { text: db.id, detail: "database", href: link(["data", db.id]), icon: "data" },
      ...db.containers.flatMap((one) => tabs.map(([tab, title]): Target => ({ text: `${db.id} / ${one.id}`, detail: title, href: link(["data", db.id, one.id, tab]), icon: "data" }))),
    ]),
  ];
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const found = all.filter((one) => words.every((word) => `${one.text} ${one.detail}`.toLowerCase().includes(word))).slice(0, 40);
  const chosen = Math.min(at, Math.max(0, found.length - 1));
  const leave = (target?: Target) => {
    if (target) location.hash = target.href;
    onClose();
  };
  return (
    <dialog ref={dialog} class="palette" aria-label="Go to" onClose={onClose}>
      <input role="combobox" aria-expanded="true" aria-controls="palette-list" aria-activedescendant={found.length ? `palette-${chosen}` : undefined} aria-label="Go to" placeholder="Go to a container, a screen…"
        value={typed} autofocus onInput={(event) => { setTyped(event.currentTarget.value); setAt(0); }}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") setAt(Math.min(chosen + 1, found.length - 1));
          else if (event.key === "ArrowUp") setAt(Math.max(chosen - 1, 0));
          else if (event.key === "Enter") leave(found[chosen]);
          else return;
          event.preventDefault();
        }} />
      <ul role="listbox" id="palette-list" aria-label="Places">
        {found.map((one, i) => (
          <li role="option" id={`palette-${i}`} key={one.href} aria-selected={i === chosen} onClick={() => leave(one)} onMouseMove={() => setAt(i)}>
            <Icon name={one.icon} /><span class="grow tight">{one.text}</span><span class="dim small">{one.detail}</span>
          </li>
        ))}
        {found.length === 0 && <li class="dim" role="option" aria-selected="false">Nothing has that in its name</li>}
      </ul>
    </dialog>
  );
}

const keys: [string, string][] = [
  ["Ctrl K", "go to"], ["Alt 1 … 7", "tabs of a container"], ["/", "filter"], ["j k ↑ ↓", "rows"], ["Enter, e", "open, edit"], ["n", "new item"],
  ["Ctrl S", "save"], ["Ctrl ↵", "run the query"], ["Esc", "close; in an editor, leave it"], ["t", "light or dark"], ["?", "this list"],
];
export const KeyHelp = ({ onClose }: { onClose: () => void }) => (
  <Dialog title="Keyboard" onClose={onClose}>
    <table class="list"><tbody>{keys.map(([key, what]) => <tr key={key}><td><kbd>{key}</kbd></td><td>{what}</td></tr>)}</tbody></table>
  </Dialog>
);
