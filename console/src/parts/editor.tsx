// A code editor. It lives in a shadow root: its styles are constructed style sheets there, which the
// page's policy against inline styles allows.
import { acceptCompletion, autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, type CompletionSource } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { javascript } from "@codemirror/lang-javascript";
import { json, jsonParseLinter } from "@codemirror/lang-json";
import { bracketMatching, foldGutter, foldKeymap, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { linter, lintKeymap } from "@codemirror/lint";
import { Annotation, Compartment, EditorState, type Extension, Prec } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useRef } from "preact/hooks";
import { gremlin, stepCompletions } from "../lib/gremlin";
import { completions, type Property, sql } from "../lib/sql";

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--code-key)" },
  { tag: [tags.string, tags.regexp], color: "var(--code-str)" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: "var(--code-num)" },
  { tag: [tags.keyword, tags.operatorKeyword, tags.controlKeyword, tags.definitionKeyword], color: "var(--code-word)", fontWeight: "500" },
  { tag: tags.comment, color: "var(--code-dim)", fontStyle: "italic" },
]);

const look = EditorView.theme({
  "&": { height: "100%", color: "var(--ink)", backgroundColor: "transparent", fontSize: "12.5px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--font-code)", lineHeight: "1.6", fontVariantLigatures: "none", overflow: "auto" },
  ".cm-gutters": { backgroundColor: "transparent", color: "var(--ink-3)", border: "0", borderRight: "1px solid var(--hair)" },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--brass-soft) 45%, transparent)" },
  ".cm-activeLineGutter": { backgroundColor: "transparent" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--info-soft)" },
  ".cm-matchingBracket": { backgroundColor: "var(--brass-soft) !important", outline: "1px solid var(--brass-line)" },
  ".cm-tooltip": { backgroundColor: "var(--surface)", border: "1px solid var(--line)", borderRadius: "6px", boxShadow: "var(--shadow)", color: "var(--ink)" },
  ".cm-tooltip-autocomplete > ul": { fontFamily: "var(--font-code)", maxHeight: "14em" },
  ".cm-tooltip-autocomplete > ul > li": { padding: "2px 8px" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--brass-soft)", color: "var(--ink)" },
  ".cm-completionDetail": { color: "var(--ink-3)", fontStyle: "normal", marginLeft: "1em" },
  ".cm-completionInfo": { padding: "4px 8px", fontSize: "12px", color: "var(--ink-2)" },
  ".cm-diagnostic": { padding: "4px 8px", borderLeftColor: "var(--bad)" },
  ".cm-foldPlaceholder": { backgroundColor: "var(--sunken)", border: "1px solid var(--line)", color: "var(--ink-2)" },
});

const fromOutside = Annotation.define<boolean>();

export interface EditorProps {
  value: string;
  language: "json" | "sql" | "gremlin" | "javascript";
  label: string;
  onChange?: (text: string) => void;
  // Ctrl+Enter and Ctrl+S; what is selected, if anything is.
  onRun?: (selection: string) => void;
  onSave?: () => void;
  properties?: () => Property[];
  readOnly?: boolean;
  flat?: boolean;
  class?: string;
}

export function Editor(props: EditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | undefined>(undefined);
  const latest = useRef(props);
  latest.current = props;
  const frozen = useRef(new Compartment());
  const told = useRef<string[]>([]); // what onChange was called with lately
  useEffect(() => {
    const root = host.current!.shadowRoot ?? host.current!.attachShadow({ mode: "open" });
    const source: CompletionSource = completions(() => latest.current.properties?.() ?? []);
    const languages: Record<EditorProps["language"], Extension> = {
      json: [json(), linter(jsonParseLinter(), { delay: 200 }), lineNumbers(), foldGutter()],
      sql: [sql, EditorView.lineWrapping, autocompletion({ override: [source], icons: false }), lineNumbers()],
      gremlin: [gremlin, EditorView.lineWrapping, autocompletion({ override: [stepCompletions], icons: false }), lineNumbers()],
      javascript: [javascript(), autocompletion({ icons: false }), lineNumbers(), foldGutter()],
    };
    const made = new EditorView({
      root,
      parent: root as unknown as Element,
      state: EditorState.create({
        doc: latest.current.value,
        extensions: [
          Prec.highest(keymap.of([
            { key: "Mod-Enter", run: (at) => {
              const { from, to } = at.state.selection.main;
              latest.current.onRun?.(at.state.sliceDoc(from, to));
              return latest.current.onRun !== undefined;
            } },
            { key: "Mod-s", preventDefault: true, run: () => {
              latest.current.onSave?.();
              return true;
            } },
            { key: "Tab", run: acceptCompletion },
            // Tab leaves the editor after Escape, for those who have no mouse.
            { key: "Escape", run: (at) => {
              at.contentDOM.blur();
              return false;
            } },
          ])),
          history(), drawSelection(), highlightActiveLine(), indentOnInput(), bracketMatching(), closeBrackets(),
          keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...completionKeymap, ...foldKeymap, ...lintKeymap, indentWithTab]),
          languages[latest.current.language],
          syntaxHighlighting(colours), look,
          EditorView.contentAttributes.of({ "aria-label": latest.current.label, spellcheck: "false" }),
          frozen.current.of(EditorState.readOnly.of(latest.current.readOnly ?? false)),
          EditorView.updateListener.of((update) => {
            if (!update.docChanged || update.transactions.some((one) => one.annotation(fromOutside))) return;
            const text = update.state.doc.toString();
            told.current = [...told.current.slice(-20), text];
            latest.current.onChange?.(text);
          }),
        ],
      }),
    });
    view.current = made;
    return () => made.destroy();
  }, [props.language]);
  useEffect(() => {
    const at = view.current;
    // What comes back late is what was typed here, and more may have been typed since.
    const isLate = told.current.includes(props.value) && told.current.at(-1) !== props.value;
    if (!isLate) told.current = [];
    if (!at || isLate || at.state.doc.toString() === props.value) return;
    at.dispatch({ changes: { from: 0, to: at.state.doc.length, insert: props.value }, annotations: fromOutside.of(true) });
  }, [props.value]);
  useEffect(() => {
    view.current?.dispatch({ effects: frozen.current.reconfigure(EditorState.readOnly.of(props.readOnly ?? false)) });
  }, [props.readOnly]);
  return <div class={`editor ${props.flat ? "flat" : ""} ${props.class ?? ""}`}><div ref={host} /></div>;
}
