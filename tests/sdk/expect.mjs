// What the tests assert over and over.
import assert from "node:assert/strict";

// The SDK call fails with this status, and with this substatus and message if they are given.
export async function fails(promise, code, { substatus, message } = {}) {
  let answer;
  try {
    answer = await promise;
  } catch (error) {
    assert.equal(error.code, code, `${error.code} ${error.message}`);
    if (substatus !== undefined) assert.equal(error.substatus, substatus, error.message);
    if (message !== undefined) assert.match(error.message, message);
    return error;
  }
  // The SDK turns a 404 on reading an item into an answer.
  assert.equal(answer?.statusCode, code, `should fail with ${code}`);
  if (substatus !== undefined) assert.equal(answer.substatus, substatus);
  return answer;
}

// The REST answer has this status, a body of the vendor's shape if it is an error, and so on.
export function answers(answer, status, { substatus, message } = {}) {
  const allowed = [status].flat();
  const said = answer.text.length > 300 ? `${answer.text.slice(0, 300)}…` : answer.text;
  assert.ok(allowed.includes(answer.status),
    `${answer.status} instead of ${allowed.join(" or ")}: ${said}`);
  if (answer.status >= 400) {
    assert.equal(typeof answer.body?.code, "string", `an error has a code: ${said}`);
    assert.equal(typeof answer.body?.message, "string", `an error has a message: ${said}`);
  }
  if (substatus !== undefined) assert.equal(answer.substatus, substatus, said);
  if (message !== undefined) assert.match(answer.body.message, message);
  return answer;
}

// Asks again and again until it says yes; what it says then.
export async function eventually(question, { within_ms = 60_000, every_ms = 50, what = "it" } = {}) {
  const end = Date.now() + within_ms;
  for (;;) {
    const answer = await question();
    if (answer) return answer;
    assert.ok(Date.now() < end, `${what} did not happen within ${within_ms} ms`);
    await pause(every_ms);
  }
}

export function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

// Runs the jobs (functions) with at most `width` of them at once, and gives their results in order.
export async function together(width, jobs) {
  const results = new Array(jobs.length);
  let next = 0;
  const worker = async () => {
    while (next < jobs.length) {
      const i = next++;
      results[i] = await jobs[i]();
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, jobs.length) }, worker));
  return results;
}

// The item as it was sent, without what the system added.
export function bare(item) {
  const { _rid, _self, _etag, _attachments, _ts, ...rest } = item;
  return rest;
}

// The ranges of a container by REST, in order, checked: from "" to "FF" without gap or overlap.
export async function ranges(rest, container) {
  const answer = await rest("GET", `/dbs/${container.database.id}/colls/${container.id}/pkranges`);
  assert.equal(answer.status, 200, answer.text);
  const list = answer.body.PartitionKeyRanges.sort((a, b) => (a.minInclusive < b.minInclusive ? -1 : 1));
  assert.equal(answer.body._count, list.length);
  assert.equal(list[0].minInclusive, "");
  assert.equal(list.at(-1).maxExclusive, "FF");
  for (let i = 1; i < list.length; ++i) {
    assert.equal(list[i].minInclusive, list[i - 1].maxExclusive, "a gap or an overlap");
  }
  return list;
}
