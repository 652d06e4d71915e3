// Data that comes from the server: loaded when it is asked for, again when that is said, and every
// so often while somebody looks at it. What was there stays until the new is.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";

export interface Loaded<T> {
  data?: T;
  error?: unknown;
  loading: boolean;
  reload: () => void;
}

// `key` says what is being asked for: another one drops the old data.
export function useLoaded<T>(key: string, load: () => Promise<T>, every_ms = 0): Loaded<T> {
  const [state, setState] = useState<{ key: string; data?: T; error?: unknown; loading: boolean }>({ key, loading: true });
  const latest = useRef(load);
  latest.current = load;
  const turn = useRef(0);
  const run = useCallback(async () => {
    const mine = ++turn.current;
    setState((old) => (old.key === key ? { ...old, loading: true } : { key, loading: true }));
    try {
      const data = await latest.current();
      if (mine === turn.current) setState({ key, data, loading: false });
    } catch (error) {
      if (mine === turn.current) setState((old) => ({ key, data: old.key === key ? old.data : undefined, error, loading: false }));
    }
  }, [key]);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let over = false;
    const again = async () => {
      if (document.visibilityState === "visible" || every_ms === 0) await run();
      if (!over && every_ms > 0) timer = setTimeout(again, every_ms);
    };
    void again();
    return () => {
      over = true;
      ++turn.current;
      clearTimeout(timer);
    };
  }, [run, every_ms]);
  const current = state.key === key ? state : { key, loading: true, data: undefined, error: undefined };
  return { data: current.data, error: current.error, loading: current.loading, reload: run };
}

// A small value that several parts of the page share.
export class Shared<T> {
  private readonly listeners = new Set<() => void>();
  constructor(private value: T) {}
  get = () => this.value;
  set = (value: T) => {
    this.value = value;
    for (const listener of this.listeners) listener();
  };
  use(): T {
    const [shown, show] = useState({ value: this.value });
    useEffect(() => {
      const listener = () => show({ value: this.value });
      this.listeners.add(listener);
      if (shown.value !== this.value) listener(); // set between drawing and this effect
      return () => void this.listeners.delete(listener);
    }, []);
    return this.value;
  }
}

// Names alone are kept on this device: never a key, an item or a query.
export function kept<T>(name: string, otherwise: T): T {
  try {
    const text = localStorage.getItem(`orrery.${name}`);
    return text === null ? otherwise : (JSON.parse(text) as T);
  } catch {
    return otherwise;
  }
}
export function keep(name: string, value: unknown) {
  try {
    localStorage.setItem(`orrery.${name}`, JSON.stringify(value));
  } catch {
    // A browser that keeps nothing is fine.
  }
}
