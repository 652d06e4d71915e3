// The query language for the editor: what to colour, and what to offer while one types.
import { type Completion, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import { StreamLanguage } from "@codemirror/language";

const keywords = `SELECT VALUE DISTINCT TOP FROM IN JOIN WHERE GROUP BY ORDER ASC DESC OFFSET LIMIT AND OR NOT BETWEEN LIKE ESCAPE EXISTS ARRAY AS RANK UDF`.split(" ");
const constants = ["true", "false", "null", "undefined"];
const functions = `ABS ACOS ARRAY_AVG ARRAY_CONCAT ARRAY_CONTAINS ARRAY_CONTAINS_ALL ARRAY_CONTAINS_ANY ARRAY_LENGTH ARRAY_SLICE ASIN ATAN AVG CEILING CHOOSE CONCAT CONTAINS COS COUNT COUNTIF DATETIMEADD DATETIMEBIN DATETIMEDIFF DATETIMEFROMPARTS DATETIMEPART DATETIMETOTICKS DATETIMETOTIMESTAMP DOCUMENTID ENDSWITH EXP FLOOR FULLTEXTCONTAINS FULLTEXTSCORE GETCURRENTDATETIME GETCURRENTTIMESTAMP IIF INDEX_OF INTADD INTDIV INTMUL INTSUB IS_ARRAY IS_BOOL IS_DEFINED IS_FINITE_NUMBER IS_INTEGER IS_NULL IS_NUMBER IS_OBJECT IS_PRIMITIVE IS_STRING LEFT LENGTH LOG LOWER LTRIM MAX MIN NUMBERBIN OBJECTTOARRAY PI POWER RAND REGEXMATCH REPLACE REPLICATE REVERSE RIGHT ROUND RTRIM SETINTERSECT SETUNION SIGN SIN SQRT SQUARE STARTSWITH STRINGEQUALS STRINGTOARRAY STRINGTOBOOLEAN STRINGTONULL STRINGTONUMBER STRINGTOOBJECT ST_DISTANCE ST_INTERSECTS ST_ISVALID ST_WITHIN SUBSTRING SUM TAN TICKSTODATETIME TIMESTAMPTODATETIME TOSTRING TRIM TRUNC UPPER VECTORDISTANCE`.split(" ");
const words = new Map<string, string>([
  ...keywords.map((word) => [word, "keyword"] as const),
  ...functions.map((word) => [word, "function"] as const),
]);

export const sql = StreamLanguage.define<{ afterDot: boolean }>({
  startState: () => ({ afterDot: false }),
  token(stream, state) {
    if (stream.eatSpace()) return null;
    if (stream.match("--")) {
      stream.skipToEnd();
      return "comment";
    }
    const afterDot = state.afterDot;
    state.afterDot = false;
    if (stream.match(/^"(?:[^"\\]|\\.)*"?/) || stream.match(/^'(?:[^'\\]|\\.)*'?/)) return "string";
    if (stream.match(/^@\w+/)) return "atom";
    if (stream.match(/^0x[0-9a-f]+|^\d+(\.\d+)?(e[+-]?\d+)?/i)) return "number";
    const word = stream.match(/^[A-Za-z_$][\w$]*/) as RegExpMatchArray | null;
    if (word) {
      if (afterDot) return "propertyName";
      if (constants.includes(word[0].toLowerCase())) return "atom";
      const kind = words.get(word[0].toUpperCase());
      if (kind === "function") return stream.peek() === "(" ? "keyword" : null;
      return kind ? "keyword" : null;
    }
    state.afterDot = stream.next() === ".";
    return null;
  },
  languageData: { commentTokens: { line: "--" } },
});

export interface Property { path: string; type: string; example: string }

// After `c.` the properties seen in the container's items; elsewhere words of the language.
export const completions = (properties: () => Property[]) => (context: CompletionContext): CompletionResult | null => {
  const path = context.matchBefore(/[A-Za-z_]\w*(\.\w*)+/);
  if (path) {
    const parts = path.text.split(".");
    const before = parts.slice(1, -1).join(".");
    const options: Completion[] = properties()
      .filter((one) => (before === "" ? !one.path.includes(".") : one.path.startsWith(`${before}.`) && !one.path.slice(before.length + 1).includes(".")))
      .map((one) => ({ label: one.path.slice(before === "" ? 0 : before.length + 1), type: "property", detail: one.type, info: one.example ? `such as ${one.example}` : undefined }));
    return options.length ? { from: path.to - parts.at(-1)!.length, options, validFor: /^\w*$/ } : null;
  }
  const word = context.matchBefore(/\w+/);
  if (!word && !context.explicit) return null;
  return {
    from: word?.from ?? context.pos,
    options: [
      ...keywords.map((label) => ({ label, type: "keyword", boost: 1 })),
      ...functions.map((label) => ({ label, apply: `${label}(`, type: "function" })),
    ],
    validFor: /^\w*$/,
  };
};

// Which properties some items have, to three levels.
export function propertiesOf(items: unknown[]): Property[] {
  const found = new Map<string, Property>();
  const look = (value: unknown, prefix: string, depth: number) => {
    if (value === null || typeof value !== "object" || Array.isArray(value) || depth > 3) return;
    for (const [name, inner] of Object.entries(value)) {
      if (!/^[A-Za-z_]\w*$/.test(name)) continue;
      const path = prefix ? `${prefix}.${name}` : name;
      const type = inner === null ? "null" : Array.isArray(inner) ? "array" : typeof inner;
      if (!found.has(path) && found.size < 500) {
        const example = type === "object" || type === "array" ? "" : JSON.stringify(inner).slice(0, 40);
        found.set(path, { path, type, example });
      }
      look(inner, path, depth + 1);
    }
  };
  for (const item of items) look(item, "", 1);
  return [...found.values()];
}
