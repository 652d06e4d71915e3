// Whether a container's key is good, from how its partitions are filled and asked.
import type { KeyFigures, PartitionsView } from "./api";
import { bytes, percent, plural, short, times, units } from "./format";

// What is asked for is what is served and, at the same price each, what is refused.
export interface Load { unitsPerSecond: number; throttledPerSecond: number; askedPerSecond: number }
export interface Verdict { state: "even" | "uneven" | "refused" | "unknown"; title: string; text: string }

const itemsToJudge = 1000;

// Where on the ring of all hashes each range begins and ends: 0 to 1. The hashes of version 2 have
// their first two bits unset. Older hashes and keys in order are not spread evenly over their bytes:
// there each range gets the same width.
export function spansOf(view: PartitionsView): Map<number, [number, number]> {
  const all = view.partitions;
  if (view.placement !== "hash-2" && view.placement !== "multi-hash") return new Map(all.map((one, i) => [one.id, [i / all.length, (i + 1) / all.length]]));
  const place = (text: string, end: number) => (text === "" || text === "FF" ? end : Math.min(1, parseInt(text.slice(0, 8).padEnd(8, "0"), 16) / 2 ** 24 / 0x40));
  return new Map(all.map((one) => [one.id, [place(one.min, 0), place(one.max, 1)]]));
}

// Where a range begins or ends, as people read it. Hashes by their first bytes; of keys in order the first string in the
// bound, which ends before a byte 00 (docs/formats/values.md).
export function boundLabel(view: PartitionsView, bound: string): string {
  if (view.placement !== "range" || !/^(05|24)/.test(bound)) return bound.slice(0, 8) || "00";
  const text: number[] = [];
  for (const pair of bound.slice(2).match(/../g) ?? []) {
    if (pair === "00") break;
    text.push(parseInt(pair, 16));
  }
  return new TextDecoder().decode(new Uint8Array(text));
}

// A key as the server writes it, ["US"], as people do.
export function keyLabel(key: string): string {
  try {
    const values = JSON.parse(key) as unknown[];
    return values.map((value) => (typeof value === "string" ? value : value !== null && typeof value === "object" ? "no value" : JSON.stringify(value))).join(" / ");
  } catch {
    return key;
  }
}

export function verdictOf(view: PartitionsView, loads: Map<number, Load>): Verdict {
  const { partitions, limits, placement } = view;
  const items = partitions.reduce((sum, one) => sum + one.items, 0);
  const refusing = partitions.filter((one) => (loads.get(one.id)?.throttledPerSecond ?? 0) > 0);
  const refused = [...loads.values()].reduce((sum, one) => sum + one.throttledPerSecond, 0);
  const key = fullest(view.keys);
  const shareOfKey = (one: KeyFigures) => {
    const range = partitions.find((other) => other.id === one.range);
    return range && range.bytes > 0 ? one.bytes / range.bytes : 0;
  };
  const over = partitions
    .map((one) => ({ one, ratio: one.share > 0 ? (loads.get(one.id)?.askedPerSecond ?? 0) / one.share : 0 }))
    .sort((a, b) => b.ratio - a.ratio)[0];
  if (over && refusing.length > 0) {
    const held = view.keys.filter((one) => one.range === over.one.id).sort((a, b) => b.bytes - a.bytes)[0];
    if (held && shareOfKey(held) > 0.5 && partitions.length > 1) {
      return {
        state: "refused",
        title: `Range ${over.one.id} is nearly one key and asks for ${times(over.ratio)} its share`,
        text: `“${keyLabel(held.key)}” holds ${percent(shareOfKey(held))} of the range, ${bytes(held.bytes)} of the ${bytes(limits.keyBytes)} that one key may. One partition gives ${units(over.one.share)} RU/s, however much the container has.`,
      };
    }
  }
  if (key && key.bytes >= 0.8 * limits.keyBytes) {
    return {
      state: "refused",
      title: `“${keyLabel(key.key)}” is nearly full`,
      text: `It holds ${bytes(key.bytes)} of the ${bytes(limits.keyBytes)} that one key may. Writes to it will be refused at the limit, and no split helps: it is one key.`,
    };
  }
  if (refusing.length > 0 && refusing.length === partitions.length) {
    return {
      state: "refused",
      title: "Every range refuses requests: more throughput is needed",
      text: `${short(refused)} requests a second are over the budget, evenly. The key is fine. Raise the throughput on the Scale tab.`,
    };
  }
  if (refusing.length > 0) {
    return {
      state: "refused",
      title: `${plural(refusing.length, "range")} of ${partitions.length} refuse requests`,
      text: `${refusing.map((one) => one.id).join(", ")}: ${short(refused)} requests a second are over the budget. The others have room, so the requests favour some keys.`,
    };
  }
  if (items < itemsToJudge || partitions.length < 2) {
    return {
      state: "unknown",
      title: "Too little to judge",
      text: partitions.length < 2
        ? "One partition holds everything. Split it, or raise the throughput, to see how the key spreads."
        : `${plural(items, "item")}: from ${itemsToJudge.toLocaleString("en-US")} on it shows whether the key spreads them.`,
    };
  }
  const total = partitions.reduce((sum, one) => sum + one.bytes, 0);
  const spans = spansOf(view);
  const skew = Math.max(...partitions.map((one) => {
    const [from, to] = spans.get(one.id) ?? [0, 1];
    const width = to - from;
    return width > 0 && total > 0 ? one.bytes / total / width : 0;
  }));
  if (placement !== "range" && skew > 1.5) {
    return {
      state: "uneven",
      title: "Uneven",
      text: `The fullest range holds ${times(skew)} what its width of hashes should. ${key ? `“${keyLabel(key.key)}” has ${percent(shareOfKey(key))} of its range.` : ""} A key with more values spreads better.`,
    };
  }
  return {
    state: "even",
    title: "Even",
    text: `The fullest range holds ${times(skew)} the average. ${key ? `No key has more than ${percent(Math.max(...view.keys.map(shareOfKey)))} of its range. ` : ""}Nothing is being refused.`,
  };
}

export const fullest = (keys: KeyFigures[]): KeyFigures | undefined => [...keys].sort((a, b) => b.bytes - a.bytes)[0];

// The six keys that fill most of their partition: they alone get a colour, the same everywhere.
export function colours(view: PartitionsView): Map<string, number> {
  const part = (one: KeyFigures) => {
    const range = view.partitions.find((other) => other.id === one.range);
    return Math.max(one.bytes / view.limits.keyBytes, range && range.bytes > 0 ? one.bytes / range.bytes : 0);
  };
  const named = [...view.keys].filter((one) => part(one) >= 0.005).sort((a, b) => part(b) - part(a)).slice(0, 6);
  return new Map(named.map((one, i) => [`${one.range}/${one.key}`, i + 1]));
}
