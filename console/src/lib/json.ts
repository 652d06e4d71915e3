// Items as text and as values: paths, partition keys, differences between three versions.
import type { Item, Json, PartitionKey } from "./api";

// JSON.rawJSON keeps the digits of an integer that no JavaScript number has; not every browser has it.
declare global {
  interface JSON { rawJSON?(text: string): object; isRawJSON?(value: unknown): boolean }
}
const longInteger = /[:[,]\s*-?\d{16,}\s*[,}\]]/;
type Reviver = (name: string, value: unknown, context?: { source?: string }) => unknown;
const withDigits: Reviver = (_name, value, context) =>
  (typeof value === "number" && context?.source !== undefined && /^-?\d{16,}$/.test(context.source) && (!Number.isFinite(value) || String(BigInt(value)) !== context.source)
    ? JSON.rawJSON!(context.source) : value);
// Values of which none has lost a digit: the integers of tables have 64 bits.
export const parseExactly = (text: string): unknown =>
  (JSON.rawJSON && longInteger.test(text) ? JSON.parse(text, withDigits as Parameters<typeof JSON.parse>[1]) : JSON.parse(text));
// Whether it is a number, though JavaScript has none for it.
export const isExact = (value: unknown) => JSON.isRawJSON?.(value) ?? false;

export const systemNames = new Set(["_rid", "_self", "_etag", "_attachments", "_ts", "_lsn"]);

// The item as its author wrote it.
export function withoutSystem(item: Item): { [name: string]: Json } {
  const own: { [name: string]: Json } = {};
  for (const [name, value] of Object.entries(item)) if (!systemNames.has(name) && value !== undefined) own[name] = value;
  return own;
}

// "/address/city" or "/\"odd name\"/x"
export function pathParts(path: string): string[] {
  const parts: string[] = [];
  const pattern = /\/(?:"((?:[^"\\]|\\.)*)"|([^/]+))/g;
  for (const match of path.matchAll(pattern)) parts.push(match[1] ?? match[2] ?? "");
  return parts;
}

export function valueAt(value: Json | undefined, parts: string[]): Json | undefined {
  let at = value;
  for (const part of parts) {
    if (at === null || typeof at !== "object" || Array.isArray(at)) return undefined;
    at = Object.prototype.hasOwnProperty.call(at, part) ? at[part] : undefined;
  }
  return at;
}

export const keyValues = (item: Json | undefined, key: PartitionKey | undefined): (Json | undefined)[] =>
  !key || key.paths.length === 0 ? [undefined] : key.paths.map((path) => valueAt(item, pathParts(path)));

export const keyText = (values: (Json | undefined)[]) =>
  values.map((value) => (value === undefined ? "no value" : typeof value === "string" ? value : JSON.stringify(value))).join(" / ");

export const equal = (a: Json | undefined, b: Json | undefined): boolean => stable(a) === stable(b);
function stable(value: Json | undefined): string {
  if (value === undefined) return "undefined";
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(stable).join(",")}]`;
  return `{${Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${stable(value[name])}`).join(",")}}`;
}

export interface Difference {
  path: string[];
  was: Json | undefined;
  mine: Json | undefined;
  theirs: Json | undefined;
  // Who changed it. Where both did, and differently, a person has to choose.
  by: "mine" | "theirs" | "both";
}

export const isObject = (value: Json | undefined): value is { [name: string]: Json } =>
  value !== null && typeof value === "object" && !Array.isArray(value);

// Every place where a version differs from what both began with. Objects are looked into, arrays
// are taken whole.
export function differences(was: Json | undefined, mine: Json | undefined, theirs: Json | undefined, path: string[] = []): Difference[] {
  if (isObject(mine) && isObject(theirs)) {
    const base = isObject(was) ? was : {};
    const names = new Set([...Object.keys(base), ...Object.keys(mine), ...Object.keys(theirs)]);
    return [...names].flatMap((name) => differences(base[name], mine[name], theirs[name], [...path, name]));
  }
  const changedMine = !equal(was, mine);
  const changedTheirs = !equal(was, theirs);
  if (!changedMine && !changedTheirs) return [];
  if (equal(mine, theirs)) return [];
  return [{ path, was, mine, theirs, by: changedMine && changedTheirs ? "both" : changedMine ? "mine" : "theirs" }];
}

// `theirs` with the chosen differences put in from `mine`.
export function merged(mine: Json, theirs: Json, all: Difference[], takesMine: (difference: Difference) => boolean): Json {
  let made = structuredClone(theirs);
  for (const one of all) {
    if (!takesMine(one)) continue;
    if (one.path.length === 0) {
      made = structuredClone(mine);
      continue;
    }
    let at = made;
    for (const part of one.path.slice(0, -1)) {
      if (!isObject(at)) break;
      if (!isObject(at[part])) at[part] = {};
      at = at[part]!;
    }
    const last = one.path.at(-1)!;
    if (!isObject(at)) continue;
    if (one.mine === undefined) delete at[last];
    else at[last] = structuredClone(one.mine);
  }
  return made;
}

export const pathText = (path: string[]) => path.map((part, i) => (/^[A-Za-z_]\w*$/.test(part) ? (i ? "." : "") + part : `["${part}"]`)).join("");

// --- download ------------------------------------------------------------------------------------
// Spreadsheets run a cell that begins with = + - @ as a formula.
export function csv(rows: Json[]): string {
  const names: string[] = [];
  const seen = new Set<string>();
  for (const row of rows) {
    for (const name of isObject(row) ? Object.keys(row) : ["value"]) {
      if (!seen.has(name)) {
        seen.add(name);
        names.push(name);
      }
    }
  }
  const cell = (value: Json | undefined) => {
    if (value === undefined || value === null) return "";
    let text = typeof value === "string" ? value : JSON.stringify(value);
    if (typeof value === "string" && /^[=+\-@\t\r]/.test(text)) text = `'${text}`;
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = rows.map((row) => names.map((name) => cell(isObject(row) ? row[name] : row)).join(","));
  return [names.map(cell).join(","), ...lines].join("\r\n") + "\r\n";
}

export function download(name: string, type: string, text: string) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const anchor = document.createElement("a");
  anchor.href = url;
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
