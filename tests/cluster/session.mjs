// What a session may expect, whoever else writes: it reads its own writes, and does not see an item go back.
//
// An operation is {kind: "write" | "read", session, item, version, called, returned}. Every item has one writer, which numbers
// its writes from 1 and stops at the first whose outcome it does not know, so versions have one order; 0 is "not there".
// A session's operations may overlap: one counts for those that were called after it had returned.

// What was broken, as texts; empty when nothing was.
export function brokenGuarantees(operations) {
  const broken = [];
  const lines = new Map();
  for (const one of [...operations].sort((a, b) => a.called - b.called)) {
    const line = `${one.session} ${one.item}`;
    if (!lines.has(line)) lines.set(line, []);
    const before = lines.get(line).filter((other) => other.returned < one.called);
    if (one.kind === "read") {
      const wrote = newest(before, "write");
      const saw = newest(before, "read");
      if (one.version < wrote) broken.push(`session ${line}: read ${one.version} after it wrote ${wrote}`);
      if (one.version < saw) broken.push(`session ${line}: read ${one.version} after it read ${saw}`);
    }
    lines.get(line).push(one);
  }
  return broken;
}

function newest(operations, kind) {
  return Math.max(0, ...operations.filter((one) => one.kind === kind).map((one) => one.version));
}
