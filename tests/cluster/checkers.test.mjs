// The checkers of histories find what is wrong, and nothing else. No server; takes no time.
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { checkRegister } from "./linearizable.mjs";
import { brokenGuarantees } from "./session.mjs";

const write = (value, called, returned = Infinity) => ({ kind: "write", value, called, returned, client: 1 });
const swap = (expected, value, called, returned = Infinity) => ({ kind: "swap", expected, value, called, returned, client: 1 });
const read = (value, called, returned) => ({ kind: "read", value, called, returned, client: 2 });
const isGood = (...history) => checkRegister(history).ok;

// A register that does one operation at a time, at a moment between call and return, with clients that overlap.
function honest(random, { clients, operations, lost }) {
  const history = [];
  let clock = 0;
  let value;
  const open = [];
  for (let made = 0; made < operations || open.length > 0;) {
    const step = random(3);
    if (step === 0 && made < operations && open.length < clients) {
      const kind = ["write", "read", "swap"][random(3)];
      open.push({ kind, value: kind === "read" ? undefined : `v${made}`, called: ++clock, returned: Infinity, client: made });
      ++made;
    } else if (step === 1 && open.length > 0) {
      const one = open[random(open.length)];
      if (one.done) continue;
      one.done = true;
      if (one.kind === "read") one.value = value;
      if (one.kind === "swap") one.expected = value;
      if (one.kind !== "read") value = one.value;
    } else if (step === 2 && open.length > 0) {
      const at = random(open.length);
      const [one] = open[at].done || random(10) < lost ? open.splice(at, 1) : [];
      if (!one) continue;
      const answered = one.done && random(10) >= lost;
      if (answered) one.returned = ++clock;
      // Of a swap without an answer it is known what it expected.
      if (answered || one.kind === "write" || (one.kind === "swap" && one.done)) history.push(one);
    }
  }
  return history;
}

function randomOf(seed) {
  let state = seed * 2654435761 + 1;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

describe("the checker of linearizability", () => {
  test("takes what one register can have done", () => {
    assert.ok(isGood());
    assert.ok(isGood(read(undefined, 1, 2)));
    assert.ok(isGood(write("a", 1, 2), read("a", 3, 4)));
    assert.ok(isGood(write("a", 1, 4), read(undefined, 2, 3)), "read before the write that it overlaps");
    assert.ok(isGood(write("a", 1, 10), write("b", 2, 9), read("b", 11, 12)));
    assert.ok(isGood(write("a", 1, 10), write("b", 2, 9), read("a", 11, 12)));
    assert.ok(isGood(write("a", 1, 2), swap("a", "b", 3, 4), swap("b", "c", 5, 6), read("c", 7, 8)));
  });

  test("takes a write without an answer early, late, or never", () => {
    assert.ok(isGood(write("a", 1), read("a", 2, 3)));
    assert.ok(isGood(write("a", 1), write("b", 2, 3), read("b", 4, 5), read("a", 6, 7)), "late");
    assert.ok(isGood(write("a", 1), read(undefined, 2, 3)));
    assert.ok(isGood(swap("x", "a", 1), read(undefined, 2, 3)), "its condition never held");
    assert.ok(isGood(write("x", 1), swap("x", "y", 2), read("y", 3, 4)), "one that is seen only by another without an answer");
  });

  test("refuses a read of something older", () => {
    assert.ok(!isGood(write("a", 1, 2), write("b", 3, 4), read("a", 5, 6)));
    assert.ok(!isGood(write("a", 1, 2), read(undefined, 3, 4)), "a lost write");
    assert.ok(!isGood(write("a", 1, 2), write("b", 3, 8), read("b", 4, 5), read("a", 6, 7)), "back and forth");
  });

  test("refuses a value that nobody wrote, and one before it was written", () => {
    assert.ok(!isGood(read("a", 1, 2)));
    assert.ok(!isGood(read("a", 1, 2), write("a", 3, 4)));
    assert.ok(!isGood(read("a", 1, 2), write("a", 3)));
  });

  test("refuses a write without an answer that is undone, or done twice", () => {
    assert.ok(!isGood(write("a", 1), read("a", 2, 3), read(undefined, 4, 5)));
    assert.ok(!isGood(write("a", 1), read("a", 2, 3), write("b", 4, 5), read("b", 6, 7), read("a", 8, 9)));
  });

  test("refuses two swaps of the same value", () => {
    assert.ok(!isGood(write("a", 1, 2), swap("a", "b", 3, 10), swap("a", "c", 4, 9)));
    assert.ok(!isGood(write("a", 1, 2), swap("a", "b", 3, 4), read("a", 5, 6)));
  });

  test("says which operation fits nowhere", () => {
    const { why, history } = checkRegister([write("a", 1, 2), write("b", 3, 4), read("a", 5, 6)]);
    assert.match(why, /read a \[5\.\.6\]/);
    assert.equal(history.length, 3);
  });

  test("takes 300 histories of an honest register, and refuses each once one read of it is made stale", () => {
    let refused = 0;
    for (let seed = 1; seed <= 300; ++seed) {
      const random = randomOf(seed);
      const history = honest(random, { clients: 6, operations: 120, lost: seed % 4 });
      const found = checkRegister(history);
      assert.ok(found.ok, `seed ${seed}: ${found.why}\n${found.history?.join("\n")}`);
      // A read that returns last, and sees the first value that was overwritten.
      const end = Math.max(0, ...history.map((one) => one.returned).filter(Number.isFinite));
      const overwritten = history.find((one) => one.kind === "swap" && one.expected !== undefined && one.returned !== Infinity);
      if (!overwritten) continue;
      ++refused;
      assert.ok(!checkRegister([...history, read(overwritten.expected, end + 1, end + 2)]).ok, `seed ${seed}`);
    }
    assert.ok(refused > 200, `${refused} of 300 had something to make stale`);
  });

  test("is quick for many operations of many clients, and for many writes without an answer", () => {
    const history = honest(randomOf(7), { clients: 12, operations: 4000, lost: 2 });
    assert.ok(checkRegister(history).ok);
  });
});

describe("the checker of sessions", () => {
  const one = (kind, session, version, called, returned) => ({ kind, session, item: "x", version, called, returned });

  test("takes old reads of other sessions, and reads that overlap", () => {
    assert.deepEqual(brokenGuarantees([
      one("write", "a", 1, 1, 2), one("read", "b", 0, 3, 4), one("read", "a", 1, 5, 6),
      one("write", "a", 2, 7, 10), one("read", "a", 1, 8, 9), one("read", "a", 2, 11, 12),
    ]), []);
  });

  test("refuses a session that does not read its own write", () => {
    assert.match(brokenGuarantees([one("write", "a", 2, 1, 2), one("read", "a", 1, 3, 4)])[0], /read 1 after it wrote 2/);
  });

  test("refuses a session that sees an item go back", () => {
    assert.match(brokenGuarantees([one("read", "b", 5, 1, 2), one("read", "b", 4, 3, 4)])[0], /read 4 after it read 5/);
  });
});
