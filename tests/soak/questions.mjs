// Random queries, each with a function that gives the right answer from the items themselves. Values of
// the query language are JavaScript's; `undefined` stands for undefined.

const letters = ["a", "ab", "b", "ba", "c", "ca"];  // not "": the SDK loses it in DISTINCT
export const someNumber = (random) => random.between(-3, 12);
export const someText = (random) => random.pick(letters);

const not = (a) => (a === undefined ? undefined : !a);
const and = (a, b) => (a === false || b === false ? false : a === undefined || b === undefined ? undefined : true);
const or = (a, b) => (a === true || b === true ? true : a === undefined || b === undefined ? undefined : false);
const has = (value, test) => (value === undefined ? undefined : test(value));

// {text, holds}: a condition on c.n (a number or missing), c.s (a text or missing), c.l (numbers or missing).
function condition(random, depth) {
  if (depth > 0 && random.below(2) === 0) {
    const left = condition(random, depth - 1);
    const right = condition(random, depth - 1);
    return random.pick([
      { text: `(${left.text} AND ${right.text})`, holds: (c) => and(left.holds(c), right.holds(c)) },
      { text: `(${left.text} OR ${right.text})`, holds: (c) => or(left.holds(c), right.holds(c)) },
      { text: `NOT (${left.text})`, holds: (c) => not(left.holds(c)) },
    ]);
  }
  const k = someNumber(random);
  const other = k + random.below(6);
  const word = someText(random);
  const list = [k, other, someNumber(random)];
  return random.pick([
    { text: `c.n = ${k}`, holds: (c) => has(c.n, (n) => n === k) },
    { text: `c.n != ${k}`, holds: (c) => has(c.n, (n) => n !== k) },
    { text: `c.n > ${k}`, holds: (c) => has(c.n, (n) => n > k) },
    { text: `c.n <= ${k}`, holds: (c) => has(c.n, (n) => n <= k) },
    { text: `c.n BETWEEN ${k} AND ${other}`, holds: (c) => has(c.n, (n) => n >= k && n <= other) },
    { text: `c.n IN (${list.join(", ")})`, holds: (c) => has(c.n, (n) => list.includes(n)) },
    { text: `c.s = '${word}'`, holds: (c) => has(c.s, (s) => s === word) },
    { text: `STARTSWITH(c.s, '${word}')`, holds: (c) => has(c.s, (s) => s.startsWith(word)) },
    { text: "IS_DEFINED(c.n)", holds: (c) => c.n !== undefined },
    { text: `ARRAY_CONTAINS(c.l, ${k})`, holds: (c) => has(c.l, (l) => l.includes(k)) },
    {
      text: `EXISTS(SELECT VALUE e FROM e IN c.l WHERE e > ${k})`,
      holds: (c) => (c.l ?? []).some((e) => e > k),
    },
    {
      text: `EXISTS(SELECT VALUE e FROM e IN c.l WHERE c.n = ${k} OR e = ${other})`,
      holds: (c) => (c.l ?? []).some((e) => or(has(c.n, (n) => n === k), e === other) === true),
    },
  ]);
}

const byVersion = (a, b) => a.v - b.v;
const counted = (values) => {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
};

// {text, answer(items), ordered}: the rows, in this order if `ordered` says that there is one.
export function question(random, owner) {
  const filter = condition(random, 2);
  const where = `WHERE c.owner = '${owner}' AND ${filter.text}`;
  const matching = (items) => items.filter((c) => filter.holds(c) === true).sort(byVersion);
  const top = random.between(1, 12);
  const skip = random.below(6);
  return random.pick([
    { text: `SELECT VALUE c.v FROM c ${where}`, answer: (items) => matching(items).map((c) => c.v) },
    { text: `SELECT VALUE c.v FROM c ${where} ORDER BY c.v`, answer: (items) => matching(items).map((c) => c.v), ordered: true },
    {
      text: `SELECT TOP ${top} VALUE c.v FROM c ${where} ORDER BY c.v DESC`,
      answer: (items) => matching(items).map((c) => c.v).reverse().slice(0, top), ordered: true,
    },
    {
      text: `SELECT VALUE c.v FROM c ${where} ORDER BY c.v OFFSET ${skip} LIMIT ${top}`,
      answer: (items) => matching(items).map((c) => c.v).slice(skip, skip + top), ordered: true,
    },
    { text: `SELECT VALUE COUNT(1) FROM c ${where}`, answer: (items) => [matching(items).length] },
    {
      text: `SELECT VALUE SUM(c.n) FROM c ${where} AND IS_DEFINED(c.n)`,
      answer: (items) => [matching(items).reduce((sum, c) => sum + (c.n ?? 0), 0)],
    },
    {
      text: `SELECT c.s, COUNT(1) AS k FROM c ${where} AND IS_DEFINED(c.s) GROUP BY c.s`,
      answer: (items) => [...counted(matching(items).map((c) => c.s).filter((s) => s !== undefined))].map(([s, k]) => ({ s, k })),
    },
    {
      text: `SELECT DISTINCT VALUE c.s FROM c ${where}`,
      answer: (items) => [...new Set(matching(items).map((c) => c.s).filter((s) => s !== undefined))],
    },
    {
      text: `SELECT VALUE e FROM c JOIN e IN c.l ${where}`,
      answer: (items) => matching(items).flatMap((c) => c.l ?? []),
    },
  ]);
}

// Whether two lists of rows are the same, in order or as multisets.
export function sameRows(a, b, ordered) {
  const texts = (rows) => rows.map((row) => JSON.stringify(row));
  const [left, right] = [texts(a), texts(b)];
  return JSON.stringify(ordered ? left : left.sort()) === JSON.stringify(ordered ? right : right.sort());
}
