// The door: one click where the server allows it, a key everywhere else.
import { useState } from "preact/hooks";
import { type SessionInfo, signIn } from "../lib/api";
import { Button, Problem, Wordmark } from "../parts/parts";

const planets: [number, number, number, string][] = [
  [104, -50, 13, "#5580e6"], [174, 35, 11, "#3ec7ae"], [250, 205, 15, "#e3b04a"], [318, -24, 26, "#f07a5c"], [392, 22, 13, "#b4def8"],
];
function Art() {
  return (
    <div class="art">
      <svg viewBox="0 0 640 800" preserveAspectRatio="xMidYMid slice" aria-hidden="true">
        {[104, 174, 250, 318, 392, 470].map((r) => <circle class="orbit" cx="300" cy="340" r={r} key={r} />)}
        {Array.from({ length: 96 }, (_, i) => {
          const angle = (i / 96) * 2 * Math.PI;
          const from = i % 8 === 0 ? 404 : 410;
          const at = (r: number) => `${300 + r * Math.cos(angle)} ${340 + r * Math.sin(angle)}`;
          return <path class="arm" d={`M${at(from)}L${at(418)}`} key={i} />;
        })}
        {planets.map(([orbit, degrees, r, colour], i) => {
          const x = 300 + orbit * Math.cos((degrees * Math.PI) / 180);
          const y = 340 + orbit * Math.sin((degrees * Math.PI) / 180);
          return (
            <g class={`turn ${i > 2 ? "slow" : ""}`} key={orbit}>
              <path class="arm" d={`M300 340L${x} ${y}`} />
              <circle cx={x} cy={y} r={r} fill={colour} stroke="#dcb256" stroke-width="1.500" />
            </g>
          );
        })}
        <circle cx="300" cy="340" r="54" fill="#dcb256" opacity="0.150" />
        <circle cx="300" cy="340" r="40" fill="none" stroke="#dcb256" stroke-width="1.500" />
        <circle cx="300" cy="340" r="31" fill="#dcb256" />
      </svg>
      <p><strong>See where every key lives.</strong>A partitioned database that shows its partitions.</p>
    </div>
  );
}

export function SignIn({ info, ended, onDone }: { info: SessionInfo; ended: boolean; onDone: (info: SessionInfo) => void }) {
  const [key, setKey] = useState("");
  const [shown, setShown] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const enter = async (with_?: string) => {
    setBusy(true);
    setError(undefined);
    try {
      const { body } = await signIn(with_);
      setKey("");
      onDone(body);
    } catch (caught) {
      setError(caught);
    }
    setBusy(false);
  };
  return (
    <main class="sign">
      <Art />
      <div class="door">
        <form autocomplete="off" onSubmit={(event) => { event.preventDefault(); void enter(key.trim()); }}>
          <Wordmark />
          <h1>Sign in to {location.host}</h1>
          {ended && <p class="dim">The session has ended: it lasts an hour without a request, eight hours in all, and no longer than its key. What you had not saved is still here.</p>}
          {info.withoutKey && (
            <>
              <div class="dev">
                <div class="grow small"><div class="strong">Started with <code>--dev</code></div>Only this machine can reach it. No key needed.</div>
                <Button kind="primary" disabled={busy} onClick={() => enter()}>Open the console</Button>
              </div>
              <div class="or">or with a key</div>
            </>
          )}
          <div class="field">
            <label for="key">Account key</label>
            <div class="row">
              <input class="input code" id="key" type={(shown ? "text" : "password") as "password"} autocomplete="off" spellcheck={false} value={key}
                placeholder="Primary, secondary or read-only key" onInput={(event) => setKey(event.currentTarget.value)} />
              <Button kind="quiet" aria-pressed={shown} onClick={() => setShown(!shown)}>{shown ? "Hide" : "Show"}</Button>
            </div>
            <span class="hint">A read-only key gives a read-only console. The key is sent once and not kept. <code>orrery keys list</code> shows the keys of a data folder.</span>
          </div>
          {error !== undefined && <Problem error={error} title="Not signed in" />}
          <button class={`btn ${info.withoutKey ? "" : "primary"}`} type="submit" disabled={busy || key.trim() === ""}>Sign in with the key</button>
          <p class="small dim">account {info.account} · version {info.version}</p>
        </form>
      </div>
    </main>
  );
}
