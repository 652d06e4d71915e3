// The records of a file that is to be imported, read as a stream: memory has a bound whatever the
// file holds. As `orrery import` reads them: a JSON array, one JSON object a line, or CSV whose cells
// tell their types; plain or gzip.
import type { Json } from "./api";
import { isObject } from "./json";

export type Format = "json" | "ndjson" | "csv";
export type CellType = "auto" | "string" | "number" | "bool" | "json";
export interface ReadOptions { format: Format; delimiter: string; nested: boolean; types: Record<string, CellType> }
export interface FileRecord {
  number: number; // from 1
  line: number;
  text: string; // as the file has it
  json: string; // the item as JSON; empty when there is a problem
  value?: { [name: string]: Json };
  problem?: string;
}

export const recordBytesMax = 8 * 2 ** 20;

interface Raw { line: number; text: string; cells?: Cell[]; problem?: string }
interface Cell { text: string; quoted: boolean }
interface Splitter { push: (chunk: string) => Raw[]; end: () => Raw[] }

const tooLong = (line: number, text: string): Raw => ({ line, text: text.slice(0, 1000), problem: `the record has more than ${recordBytesMax} bytes` });

// One object a line.
function lines(): Splitter {
  let rest = "";
  let line = 0;
  const one = (text: string): Raw[] => {
    ++line;
    if (text.trim() === "") return [];
    return [text.length > recordBytesMax ? tooLong(line, text) : { line, text: text.trim() }];
  };
  return {
    push(chunk) {
      const parts = (rest + chunk).split("\n");
      rest = parts.pop()!;
      // The beginning is enough to say what was wrong with it.
      if (rest.length > 2 * recordBytesMax) rest = rest.slice(0, recordBytesMax + 1);
      return parts.flatMap(one);
    },
    end: () => one(rest),
  };
}

// The elements of one array.
function elements(): Splitter {
  let state: "before" | "between" | "in" | "after" = "before";
  let depth = 0;
  let inString = false;
  let escaped = false;
  let line = 1;
  let from = 1;
  let text = "";
  const close = (): Raw => {
    const made = text.trim();
    text = "";
    return made.length > recordBytesMax ? tooLong(from, made) : { line: from, text: made };
  };
  return {
    push(chunk) {
      const found: Raw[] = [];
      let start = 0; // of what of this chunk belongs to the element
      const take = (end: number) => {
        if (text.length <= recordBytesMax) text += chunk.slice(start, end);
      };
      for (let i = 0; i < chunk.length; ++i) {
        const c = chunk[i]!;
        if (c === "\n") ++line;
        if (inString) {
          if (escaped) escaped = false;
          else if (c === "\\") escaped = true;
          else if (c === '"') inString = false;
          continue;
        }
        if (state === "in") {
          if (c === '"') inString = true;
          else if (c === "{" || c === "[") ++depth;
          else if ((c === "}" || c === "]") && depth > 0) --depth;
          else if (depth === 0 && (c === "," || c === "]")) {
            take(i);
            found.push(close());
            state = c === "," ? "between" : "after";
          }
          continue;
        }
        if (/\s/.test(c)) continue;
        if (state === "before") {
          if (c !== "[") throw new Error(`The file is no JSON array: line ${line} begins with ${c}.`);
          state = "between";
        } else if (state === "between") {
          if (c === "]") {
            state = "after";
            continue;
          }
          state = "in";
          from = line;
          start = i;
          if (c === '"') inString = true;
          else if (c === "{" || c === "[") depth = 1;
        } else {
          throw new Error(`There is more after the end of the array, at line ${line}.`);
        }
      }
      if (state === "in") take(chunk.length);
      return found;
    },
    end() {
      if (state === "after") return [];
      return [{ line: from, text: text.slice(0, 1000), problem: "the array has no end: the file is cut short" }];
    },
  };
}

// Rows of cells, as RFC 4180 has them. A row may have line breaks in its quotes.
function rows(delimiter: string): Splitter {
  let cells: Cell[] = [];
  let cell = "";
  let quoted = false;
  let inQuotes = false;
  let wasQuote = false; // the last character was a quote inside of quotes
  let line = 1;
  let from = 1;
  let text = "";
  const endCell = () => {
    cells.push({ text: cell, quoted });
    cell = "";
    quoted = false;
  };
  const endRow = (): Raw[] => {
    if (cells.length === 0 && cell === "" && !quoted) {
      text = "";
      return [];
    }
    endCell();
    const made: Raw = text.length > recordBytesMax ? tooLong(from, text) : { line: from, text: text.replace(/\r?\n$/, ""), cells };
    cells = [];
    text = "";
    return [made];
  };
  return {
    push(chunk) {
      const found: Raw[] = [];
      for (const c of chunk) {
        if (text === "") from = line;
        if (c === "\n") ++line;
        if (text.length <= recordBytesMax) text += c;
        if (inQuotes && !wasQuote) {
          if (c === '"') wasQuote = true;
          else if (cell.length <= recordBytesMax) cell += c;
          continue;
        }
        if (wasQuote && c === '"') {
          cell += '"';
          wasQuote = false;
          continue;
        }
        if (wasQuote) {
          wasQuote = false;
          inQuotes = false;
        }
        if (c === '"' && cell === "" && !quoted) {
          inQuotes = true;
          quoted = true;
        } else if (c === delimiter) endCell();
        else if (c === "\n") found.push(...endRow());
        else if (c !== "\r") cell += c;
      }
      return found;
    },
    end() {
      if (inQuotes && !wasQuote) return [{ line: from, text: text.slice(0, 1000), problem: "a quote is not closed" }];
      return endRow();
    },
  };
}

const digitsOf = (number: string) => number.replace(/[eE].*/, "").replace(/\D/g, "").replace(/^0+|0+$/g, "");
// A number as JSON writes it, all of whose digits a double keeps.
function isExactNumber(text: string): boolean {
  if (!/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text) || !Number.isFinite(Number(text))) return false;
  const digits = digitsOf(text);
  return digits.length <= 15 || (digits.length <= 17 && digitsOf(String(Number(text))) === digits);
}
function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

// Undefined: the property is absent.
export function cellValue({ text, quoted }: Cell, type: CellType): Json | undefined {
  if (text === "" && !quoted) return undefined;
  switch (type) {
    case "string":
      return text;
    case "number": {
      const value = parsed(text);
      if (typeof value !== "number") throw new Error("is not a number");
      return value;
    }
    case "bool":
      if (text !== "true" && text !== "false") throw new Error("is neither true nor false");
      return text === "true";
    case "json": {
      const value = parsed(text);
      if (value === undefined) throw new Error("is not JSON");
      return value;
    }
    case "auto":
      if (quoted) return (/^[{["]/.test(text) ? parsed(text) : undefined) ?? text;
      if (text === "null") return null;
      if (text === "true" || text === "false") return text === "true";
      return isExactNumber(text) ? Number(text) : text;
  }
}

// An own property, whatever its name: __proto__ is one.
const put = (object: { [name: string]: Json }, name: string, value: Json) =>
  Object.defineProperty(object, name, { value, enumerable: true, writable: true, configurable: true });

function itemOf(cells: Cell[], columns: string[], { types, nested }: ReadOptions): { [name: string]: Json } {
  if (cells.length !== columns.length) throw new Error(`the record has ${cells.length} cells, and there are ${columns.length} columns`);
  const item: { [name: string]: Json } = {};
  columns.forEach((column, i) => {
    let value: Json | undefined;
    try {
      value = cellValue(cells[i]!, types[column] ?? "auto");
    } catch (error) {
      throw new Error(`the cell of column '${column}' ${(error as Error).message}`);
    }
    if (value === undefined) return;
    const parts = nested ? column.split(".") : [column];
    let at = item;
    for (const part of parts.slice(0, -1)) {
      if (!Object.hasOwn(at, part)) put(at, part, {});
      const inner = at[part]!;
      if (!isObject(inner)) throw new Error(`'${part}' is a value, and cannot have properties as well`);
      at = inner;
    }
    if (Object.hasOwn(at, parts.at(-1)!)) throw new Error(`two columns give '${column}'`);
    put(at, parts.at(-1)!, value);
  });
  return item;
}

function recordOf(raw: Raw, number: number, columns: string[], options: ReadOptions): FileRecord {
  const record: FileRecord = { number, line: raw.line, text: raw.text, json: "" };
  if (raw.problem) return { ...record, problem: raw.problem };
  try {
    if (raw.cells) {
      record.value = itemOf(raw.cells, columns, options);
      record.json = JSON.stringify(record.value);
    } else {
      const value = JSON.parse(raw.text) as Json;
      if (!isObject(value)) return { ...record, problem: "it is no JSON object" };
      record.value = value;
      record.json = raw.text; // with all digits of its numbers
    }
  } catch (error) {
    return { ...record, problem: (error as Error).message };
  }
  return record;
}

async function opened(file: File, onBytes: (bytes: number) => void): Promise<ReadableStream<string>> {
  const head = new Uint8Array(await file.slice(0, 4).arrayBuffer());
  if (head[0] === 0x28 && head[1] === 0xb5 && head[2] === 0x2f) throw new Error("The file is compressed by zstd, which browsers do not read: import it with orrery import.");
  const counted = file.stream().pipeThrough(new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, to) {
      onBytes(chunk.byteLength);
      to.enqueue(chunk);
    },
  }));
  const plain = head[0] === 0x1f && head[1] === 0x8b ? counted.pipeThrough(new DecompressionStream("gzip")) : counted;
  return plain.pipeThrough(new TextDecoderStream("utf-8", { fatal: true }));
}

async function* chunks(file: File, onBytes: (bytes: number) => void): AsyncGenerator<string> {
  const reader = (await opened(file, onBytes)).getReader();
  try {
    for (;;) {
      let next;
      try {
        next = await reader.read();
      } catch (error) {
        throw new Error(`The file cannot be read: ${(error as Error).message}. It is to be text in UTF-8, plain or gzip.`);
      }
      if (next.done) return;
      yield next.value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

// What the file seems to be, by its name and its beginning.
export async function guess(file: File): Promise<{ format: Format; delimiter: string }> {
  let head = "";
  for await (const chunk of chunks(file, () => {})) {
    head += chunk;
    if (head.length > 4096) break;
  }
  const name = file.name.toLowerCase().replace(/\.gz$/, "");
  const first = head.trimStart()[0];
  const format: Format = name.endsWith(".csv") || name.endsWith(".tsv") ? "csv" : first === "[" ? "json" : first === "{" ? "ndjson" : "csv";
  const header = head.split("\n")[0] ?? "";
  const times = (delimiter: string) => header.split(delimiter).length;
  const delimiter = [",", ";", "\t"].reduce((best, one) => (times(one) > times(best) ? one : best));
  return { format, delimiter };
}

export async function* records(file: File, options: ReadOptions, onBytes: (bytes: number) => void = () => {}): AsyncGenerator<FileRecord> {
  const splitter = options.format === "csv" ? rows(options.delimiter) : options.format === "json" ? elements() : lines();
  let columns: string[] | undefined;
  let number = 0;
  const take = function* (raws: Raw[]): Generator<FileRecord> {
    for (const raw of raws) {
      if (options.format === "csv" && !columns) {
        if (!raw.cells) throw new Error(`The first line is to name the columns: ${raw.problem ?? ""}`);
        columns = raw.cells.map((cell) => cell.text);
        if (columns.some((name) => name === "")) throw new Error("A column has no name: the first line is to name them all.");
        continue;
      }
      yield recordOf(raw, ++number, columns ?? [], options);
    }
  };
  for await (const chunk of chunks(file, onBytes)) yield* take(splitter.push(chunk));
  yield* take(splitter.end());
}
