// Figures to text: medians, spreads, tables, and what the machine was.
import { execFileSync } from "node:child_process";
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from "node:fs";
import os from "node:os";

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

// Of objects with the same members, each a number: the medians.
export function medians(results) {
  return Object.fromEntries(Object.keys(results[0]).map(
    (name) => [name, median(results.map((result) => result[name]))]));
}

export const whole = (value) => Math.round(value).toLocaleString("en-US");
export const ms = (us) => `${(us / 1000).toFixed(us < 9_950 ? 2 : 1)} ms`;
export const ratio = (value) => value.toFixed(2);
export const lowToHigh = (values, show) => `${show(Math.min(...values))}–${show(Math.max(...values))}`;

// Rows of cells; the first is the head. Text to the left, everything else to the right.
export function table(rows) {
  const line = (cells) => `| ${cells.join(" | ")} |`;
  return [line(rows[0]), `|${rows[0].map((_, i) => (i === 0 ? "---" : "--:")).join("|")}|`,
    ...rows.slice(1).map(line)].join("\n");
}

// A target, and whether it was met.
export const verdict = (met, target) => `${target} ${met ? "✓" : "✗"}`;

export function machine(workFolder) {
  const cpu = os.cpus()[0]?.model ?? "unknown processor";
  return `${cpu}, ${os.cpus().length} cores, ${Math.round(os.totalmem() / 2 ** 30)} GB, ` +
    `Linux ${os.release()}; a synced 4 KB write takes ${ms(syncTime_us(workFolder))} (median); ` +
    `load average at the start ${os.loadavg()[0].toFixed(2)}`;
}

function syncTime_us(folder) {
  const path = `${folder}/sync-probe`;
  const file = openSync(path, "w");
  const block = Buffer.alloc(4096, 1);
  const times = [];
  for (let i = 0; i < 200; ++i) {
    const start = process.hrtime.bigint();
    writeSync(file, block);
    fdatasyncSync(file);
    times.push(Number(process.hrtime.bigint() - start) / 1000);
  }
  closeSync(file);
  rmSync(path);
  return median(times);
}

export function commit(root) {
  try {
    return execFileSync("git", ["-C", root, "rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();
  } catch {
    return "unknown";
  }
}
