// What a query cost, line by line; how the index was used, in words; and the steps it took.
import type { Container, Json } from "../lib/api";
import { count, units } from "../lib/format";
import { link } from "../lib/route";
import { Icon } from "../parts/parts";

export type QueryMetrics = Record<string, number>;
interface Single { IndexSpec?: string; IndexDocumentExpression?: string; IndexImpactScore?: string; FilterExpression?: string; IndexPreciseSet?: boolean }
interface Composite { IndexSpecs?: string[]; IndexDocumentExpressions?: string[]; IndexImpactScore?: string }
export interface IndexMetrics {
  UtilizedSingleIndexes?: Single[]; PotentialSingleIndexes?: Single[];
  UtilizedCompositeIndexes?: Composite[]; PotentialCompositeIndexes?: Composite[];
}

// The published formula (docs/request-units.md). Entries of the index are what is left.
function billOf(metrics: QueryMetrics, charge: number, returned: number): [string, string, number][] {
  const items = metrics["retrievedDocumentCount"] ?? 0;
  const kb = (metrics["retrievedDocumentSize"] ?? 0) / 1024;
  const out = (metrics["outputDocumentSize"] ?? returned) / 1024;
  const lines: [string, string, number][] = [
    ["the query itself", "", 2],
    ["items read", `${count(items)} × 0.03`, items * 0.03],
    ["KB of items read", `${kb.toFixed(1)} × 0.01`, kb * 0.01],
    ["KB returned", `${out.toFixed(1)} × 0.02`, out * 0.02],
  ];
  const rest = charge - lines.reduce((sum, [, , amount]) => sum + amount, 0);
  if (rest >= 0.005) lines.splice(1, 0, ["index entries and text", `about ${count(Math.round(rest / 0.001))} × 0.001`, rest]);
  return lines;
}

const pathOf = (one: Single) => one.IndexSpec ?? one.IndexDocumentExpression ?? "";
const partsOf = (one: Composite) => (one.IndexSpecs ?? one.IndexDocumentExpressions ?? []).join(", ");

export function QueryFacts({ db, container, metrics, index, charge, returned, text, plan }: {
  db: string; container: Container; metrics: QueryMetrics; index?: IndexMetrics; charge: number; returned: number; text: string;
  plan?: { asked: number; of: number; info?: Record<string, Json> };
}) {
  const bill = billOf(metrics, charge, returned);
  const read = metrics["retrievedDocumentCount"] ?? 0;
  const given = metrics["outputDocumentCount"] ?? 0;
  const matched = metrics["indexHitDocumentCount"] ?? given;
  const used = [...(index?.UtilizedSingleIndexes ?? [])];
  const composites = index?.UtilizedCompositeIndexes ?? [];
  const missing = index?.PotentialSingleIndexes ?? [];
  const missingComposites = index?.PotentialCompositeIndexes ?? [];
  const hasFilter = /\bwhere\b/i.test(text);
  const most = Math.max(1, read, given, matched);
  const key = container.partitionKey?.paths.join(", ");
  const steps: [string, string, number][] = [];
  if (plan) steps.push([plan.asked < plan.of || plan.of === 1 ? `Ask ${plan.asked} of ${plan.of} ${plan.of === 1 ? "partition" : "partitions"}` : `Ask all ${plan.of} partitions`, plan.of === 1 ? "" : plan.asked === 1 ? "the filter says which" : "one after the other", 0]);
  for (const one of used) steps.push([`Index ${pathOf(one)}`, one.IndexImpactScore ? `${one.IndexImpactScore.toLowerCase()} impact` : "", 0]);
  for (const one of composites) steps.push([`Composite index ${partsOf(one)}`, "", 0]);
  steps.push([read === 0 && given > 0 ? "Answer from the index alone" : "Read items", read === 0 ? "" : count(read), read / most]);
  if (hasFilter && read > 0) steps.push(["Keep what matches", count(matched), matched / most]);
  const info = plan?.info ?? {};
  const has = (name: string) => { const value = info[name]; return value !== undefined && value !== null && value !== false && value !== "None" && !(Array.isArray(value) && value.length === 0); };
  if (has("orderBy")) steps.push(["Sort", (info["orderBy"] as string[]).join(", ").toLowerCase(), 0]);
  if (has("groupByExpressions")) steps.push(["Group", "", 0]);
  if (has("aggregates")) steps.push(["Aggregate", (info["aggregates"] as string[]).join(", "), 0]);
  if (has("distinctType")) steps.push(["Remove what is there twice", "", 0]);
  steps.push(["Return rows", count(given), given / most]);
  return (
    <>
      <section>
        <h2>What it cost</h2>
        <table class="bill">
          <tbody>
            {bill.map(([what, formula, amount]) => <tr key={what}><td>{what}</td><td class="formula num">{formula}</td><td class="num">{units(amount)}</td></tr>)}
            <tr class="sum"><td>this page</td><td /><td class="num">{units(charge)} RU</td></tr>
          </tbody>
        </table>
      </section>
      <section>
        <h2>Index use</h2>
        <ul class="uses">
          {used.map((one) => (
            <li key={`u${pathOf(one)}`}><Icon name="check" class="good" /><code>{pathOf(one)}</code>
              <p>{one.IndexPreciseSet === false ? "Narrowed by the index, then checked in each item." : "From the index."}</p></li>
          ))}
          {composites.map((one) => <li key={`c${partsOf(one)}`}><Icon name="check" class="good" /><code>{partsOf(one)}</code><p>This order and filter are in one composite index.</p></li>)}
          {missing.map((one) => (
            <li key={`m${pathOf(one)}`}><Icon name="warn" class="near" /><code>{pathOf(one)}</code>
              <p>Not indexed: items were read to check it. <a href={link(["data", db, container.id, "policies"])}>Add the path…</a></p></li>
          ))}
          {missingComposites.map((one) => (
            <li key={`p${partsOf(one)}`}><Icon name="warn" class="near" /><code>{partsOf(one)}</code>
              <p>A composite index on these would give this filter and order directly. <a href={link(["data", db, container.id, "policies"])}>Add it…</a></p></li>
          ))}
          {hasFilter && read > 0 && matched < read / 4 && missing.length === 0 && (
            <li><Icon name="warn" class="near" /><span>{count(read)} items read for {count(matched)}</span><p>The index could not tell most of them apart: a function or a negation has to look into each item.</p></li>
          )}
          {plan && plan.of > 1 && plan.asked === plan.of && key && (
            <li><Icon name="warn" class="near" /><span>no <code>{key}</code></span><p>All {plan.of} partitions were asked. With the key in the filter it is one.</p></li>
          )}
          {used.length + composites.length + missing.length + missingComposites.length === 0 && <li><Icon name="help" class="dim" /><span>No index was needed</span><p>{hasFilter ? "Nothing in the filter can use one." : "There is no filter: items are read in the order of their keys."}</p></li>}
        </ul>
      </section>
      <section>
        <h2>Plan</h2>
        <ol class="plan">
          {steps.map(([what, detail, part], i) => (
            <li key={i}><div class="line"><span>{what}</span><span class="dim">{detail}</span></div>{part > 0 && <div class="track" style={{ width: `${Math.max(1, part * 100)}%` }} />}</li>
          ))}
        </ol>
      </section>
    </>
  );
}
