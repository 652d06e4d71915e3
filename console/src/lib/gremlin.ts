// Traversals: their language for the editor, and what their results are as rows and as vertices and edges.
import { type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import { StreamLanguage } from "@codemirror/language";
import type { Json } from "./api";
import { isObject, parseExactly } from "./json";

const steps = `E V addE addV aggregate and as barrier both bothE bothV by cap choose coalesce constant count cyclicPath dedup drop elementMap emit executionProfile explain filter flatMap fold from group groupCount has hasId hasKey hasLabel hasNot hasValue id identity in inE inV inject is key label limit local loops map match max mean mergeE mergeV min not option optional or order otherV out outE outV path project properties property range repeat sample select sideEffect simplePath skip store sum tail times to toList tree unfold union until value valueMap values where`.split(" ");
const predicates = `eq neq lt lte gt gte between inside outside within without startingWith endingWith containing asc desc`.split(" ");
const known = new Set([...steps, ...predicates]);

export const gremlin = StreamLanguage.define({
  token(stream) {
    if (stream.eatSpace()) return null;
    if (stream.match(/^"(?:[^"\\]|\\.)*"?/) || stream.match(/^'(?:[^'\\]|\\.)*'?/)) return "string";
    if (stream.match(/^\d+(\.\d+)?(e[+-]?\d+)?[a-z]?/i)) return "number";
    const word = stream.match(/^[A-Za-z_$][\w$]*/) as RegExpMatchArray | null;
    if (!word) {
      stream.next();
      return null;
    }
    if (["true", "false", "null"].includes(word[0])) return "atom";
    return known.has(word[0]) && stream.peek() === "(" ? "keyword" : null;
  },
});

// The values for names of a traversal, as a person has typed them. Throws what is wrong with them.
export function bindingsOf(text: string): { [name: string]: Json } | undefined {
  if (text.trim() === "") return undefined;
  let read: Json;
  try {
    read = parseExactly(text) as Json;
  } catch (error) {
    throw new Error(`The bindings are not JSON: ${(error as Error).message}`);
  }
  if (!isObject(read)) throw new Error('The bindings are to be an object, as {"name": "Ada", "age": 30}.');
  return read;
}

export const stepCompletions = (context: CompletionContext): CompletionResult | null => {
  const word = context.matchBefore(/\w+/);
  // Nothing is offered inside of a text.
  const before = context.state.doc.sliceString(0, word?.from ?? context.pos).replace(/\\./g, "");
  const quotes = before.match(/'[^']*'|"[^"]*"|['"]/g) ?? [];
  if ((!word && !context.explicit) || quotes.some((one) => one.length === 1)) return null;
  return {
    from: word?.from ?? context.pos,
    options: [...known].map((label) => ({ label, apply: `${label}(`, type: "function" })),
    validFor: /^\w*$/,
  };
};

type Row = Record<string, Json>;
const nestingMax = 16;
const isRow = (value: Json | undefined): value is Row => value !== null && typeof value === "object" && !Array.isArray(value) && Object.getPrototypeOf(value) === Object.prototype;
const isElement = (value: Row, type: string) => value["type"] === type && typeof value["id"] === "string" && typeof value["label"] === "string";
const isPath = (value: Row) => Array.isArray(value["labels"]) && Array.isArray(value["objects"]) && Object.keys(value).length === 2;
const valuesOf = (property: Json | undefined): Json[] => (Array.isArray(property) ? property.map((one) => (isRow(one) ? one["value"] ?? null : one)) : []);
const one = (values: Json[]): Json => (values.length === 1 ? values[0]! : values);

// Inside of a row an element is named by its id.
const named = (value: Json): Json => (isRow(value) && (isElement(value, "vertex") || isElement(value, "edge")) ? value["id"]! : value);

// One result as a row of a table: an element by its properties, a path by its places.
export function rowOfResult(result: Json): Json {
  if (!isRow(result)) return result;
  const properties = isRow(result["properties"]) ? result["properties"] : {};
  if (isElement(result, "vertex")) {
    return { id: result["id"]!, label: result["label"]!, ...Object.fromEntries(Object.entries(properties).map(([key, value]) => [key, one(valuesOf(value))])) };
  }
  if (isElement(result, "edge")) return { id: result["id"]!, label: result["label"]!, outV: result["outV"] ?? null, inV: result["inV"] ?? null, ...properties };
  if (isPath(result)) {
    const labels = result["labels"] as Json[];
    const places = (result["objects"] as Json[]).map((object, i) => {
      const names = labels[i];
      return [Array.isArray(names) && names.length > 0 ? names.join(", ") : String(i + 1), named(object)] as const;
    });
    return Object.fromEntries(places);
  }
  return Object.fromEntries(Object.entries(result).map(([key, value]) => [key, named(value)]));
}

// The vertices and edges anywhere in results, as the items that they are stored in. `part`: the property that is the
// partition key. A result does not tell the keys of an edge's ends.
export function itemsOfResults(results: Json[], part: string): Json[] {
  const items: Json[] = [];
  const look = (value: Json, depth: number) => {
    if (depth > nestingMax || value === null || typeof value !== "object") return;
    if (Array.isArray(value)) {
      for (const inner of value) look(inner, depth + 1);
      return;
    }
    if (!isRow(value)) return;
    const properties = isRow(value["properties"]) ? value["properties"] : {};
    if (isElement(value, "vertex")) {
      const all = Object.entries(properties).map(([key, some]): [string, Json] => [key, key === part ? one(valuesOf(some)) : valuesOf(some).map((inner) => ({ _value: inner }))]);
      items.push({ ...Object.fromEntries(all), id: value["id"]!, label: value["label"]! });
    } else if (isElement(value, "edge")) {
      items.push({
        ...properties, id: value["id"]!, label: value["label"]!, _isEdge: true, _vertexId: value["outV"] ?? null, _vertexLabel: value["outVLabel"] ?? null,
        _sink: value["inV"] ?? null, _sinkLabel: value["inVLabel"] ?? null,
      });
    } else {
      for (const inner of Object.values(value)) look(inner, depth + 1);
    }
  };
  for (const result of results) look(result, 0);
  return items;
}
