// Numbers, sizes and times as people read them.

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const two = new Intl.NumberFormat("en-US", { maximumFractionDigits: 2, minimumFractionDigits: 2 });

export const count = (n: number) => whole.format(n);
export const units = (n: number) => (n >= 1000 ? whole.format(n) : two.format(n));
// 0.4, 12.3, 1,234
export function short(n: number): string {
  if (n === 0) return "0";
  if (Math.abs(n) >= 100) return whole.format(n);
  if (Math.abs(n) >= 10) return n.toFixed(1);
  return n.toFixed(Math.abs(n) < 0.1 ? 2 : 1);
}
export function bytes(n: number): string {
  const names = ["B", "KB", "MB", "GB", "TB"];
  let at = 0;
  while (n >= 1024 && at + 1 < names.length) {
    n /= 1024;
    ++at;
  }
  return `${at === 0 ? whole.format(n) : n >= 100 ? whole.format(n) : n.toFixed(1)} ${names[at]}`;
}
export const percent = (part: number) => `${part >= 0.1 || part === 0 ? Math.round(part * 100) : (part * 100).toFixed(1)} %`;
export const times = (n: number) => `${n >= 10 ? Math.round(n) : n.toFixed(1)} ×`;
export const ms = (n: number) => (n >= 1000 ? `${(n / 1000).toFixed(2)} s` : n >= 10 ? `${Math.round(n)} ms` : `${n.toFixed(1)} ms`);
export function span(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 129_600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}
const pad = (n: number) => String(n).padStart(2, "0");
export function clock(seconds: number, withSeconds = false): string {
  const at = new Date(seconds * 1000);
  return `${pad(at.getHours())}:${pad(at.getMinutes())}${withSeconds ? `:${pad(at.getSeconds())}` : ""}`;
}
export function dateTime(seconds: number): string {
  const at = new Date(seconds * 1000);
  return `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())} ${clock(seconds, true)}`;
}
export const plural = (n: number, one: string, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;
