// The bar above an editor whose text is run: Run or Stop, the texts from before, a choice of languages, downloads.
import type { ComponentChildren } from "preact";
import { Button } from "./parts";
import { Earlier, type Past } from "./rows";

export function RunBar({ isRunning, onRun, onStop, what, past, onPick, languages, downloads, children }: {
  isRunning: boolean; onRun: () => void; onStop: () => void; what: string; past: Past[]; onPick: (one: Past) => void;
  languages?: ComponentChildren; downloads: ComponentChildren; children?: ComponentChildren;
}) {
  return (
    <div class="bar lined">
      {isRunning ? <Button kind="primary" icon="stop" onClick={onStop}>Stop</Button>
        : <Button kind="primary" icon="play" id="run" onClick={onRun}>Run</Button>}
      <kbd class="wide-only">Ctrl ↵</kbd>
      <Earlier past={past} what={what} onPick={onPick} />
      {languages}
      <span class="grow" />
      {children}
      <details class="anchor"><summary class="btn">Download</summary>
        <div class="menu stack tight-gap">{downloads}</div>
      </details>
    </div>
  );
}
