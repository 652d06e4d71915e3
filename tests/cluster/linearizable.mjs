// Whether what clients saw of one register can have happened in one order that keeps real time: Wing and Gong's search,
// with Lowe's memory of the states that were tried.
//
// An operation is {kind, value, expected, called, returned, client}: `called` and `returned` are places in one order of
// events of one process. `returned` is Infinity when nobody knows whether it was done; such a write may take effect at any
// later time, or never.
//   write   sets `value`
//   swap    sets `value`, and succeeded, so that what was there before was `expected`
//   read    saw `value`
// Values are written once each, and the register is `undefined` before the first. Operations that were refused are left out:
// a refused one that took effect shows as a read of a value that nobody wrote.
//
// The search is over operations that overlap, so its cost is bounded by how many clients use one register at a time. Writes
// of unknown outcome would overlap all that comes later; what bounds them: one whose value nobody saw need not have
// happened, and one that was seen has happened by the time that the first who saw it returned.

// {ok: true}, or {ok: false, why, history} with the operations around the first that fits nowhere.
export function checkRegister(operations) {
  const known = settle(operations).sort((a, b) => a.called - b.called);
  const written = new Set(known.filter((one) => one.kind !== "read").map((one) => one.value));
  const strange = known.find((one) => seenBy(one) !== undefined && !written.has(seenBy(one)));
  if (strange) return { ok: false, why: `${text(strange)} saw what nobody wrote`, history: [text(strange)] };
  return search(known);
}

// The value that an operation found.
function seenBy(operation) {
  return operation.kind === "read" ? operation.value : operation.kind === "swap" ? operation.expected : undefined;
}

// The operations that must have happened, each with a time by which it had.
function settle(operations) {
  const kept = operations.filter((one) => one.kind !== "read" || one.returned !== Infinity).map((one) => ({ ...one }));
  for (;;) {
    const seen = new Map();
    for (const one of kept) {
      const value = seenBy(one);
      if (value !== undefined) seen.set(value, Math.min(seen.get(value) ?? Infinity, one.returned));
    }
    let changed = false;
    for (let i = kept.length - 1; i >= 0; --i) {
      const one = kept[i];
      if (one.returned !== Infinity) continue;
      if (!seen.has(one.value)) {
        kept.splice(i, 1);  // a swap that goes may have been the only one that saw another
        changed = true;
      } else if (seen.get(one.value) !== Infinity) {
        one.returned = seen.get(one.value);
        changed = true;
      }
    }
    if (!changed) return kept.filter((one) => one.returned !== Infinity);
  }
}

function search(all) {
  const done = new Array(all.length).fill(false);
  const tried = new Set();
  const stack = [];
  let first = 0;  // all before it are done
  let state;
  let furthest = { first: 0, state: undefined };

  // Those that may come next: all that were called before any that is left has returned.
  const candidates = () => {
    let soonest = Infinity;
    const found = [];
    for (let i = first; i < all.length && all[i].called < soonest; ++i) {
      if (done[i]) continue;
      found.push(i);
      soonest = Math.min(soonest, all[i].returned);
    }
    return found.filter((i) => all[i].called < soonest && fits(all[i], state));
  };
  const key = () => {
    const extra = [];
    for (let i = first; extra.length < stack.length - first; ++i) {
      if (done[i]) extra.push(i);
    }
    return `${first}:${extra}:${state}`;
  };

  let next = candidates();
  for (;;) {
    while (first < all.length && done[first]) ++first;
    if (first === all.length) return { ok: true };
    if (next.length === 0) {
      if (stack.length === 0) return failure(all, furthest);
      const back = stack.pop();
      done[back.chosen] = false;
      ({ first, state, next } = back);
      continue;
    }
    const chosen = next[0];
    stack.push({ chosen, first, state, next: next.slice(1) });
    done[chosen] = true;
    if (all[chosen].kind !== "read") state = all[chosen].value;
    while (first < all.length && done[first]) ++first;
    if (first > furthest.first) furthest = { first, state };
    const here = key();
    if (tried.has(here)) {
      next = [];
    } else {
      tried.add(here);
      next = candidates();
    }
  }
}

function fits(operation, state) {
  return operation.kind === "write" || seenBy(operation) === state;
}

function failure(all, { first, state }) {
  return {
    ok: false,
    why: `no order has a place for ${text(all[first])}; the register may have had ${state} before it`,
    history: all.slice(Math.max(0, first - 8), first + 8).map(text),
  };
}

function text({ kind, value, expected, called, returned, client, node }) {
  const change = kind === "swap" ? `${expected} to ${value}` : `${value}`;
  return `${kind} ${change} [${called}..${returned}] client ${client}${node ? ` at ${node}` : ""}`;
}
