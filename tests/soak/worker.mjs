// One client of the soak test. It owns some partition keys in every container and does one random thing
// after another with them; whatever the server answers must be what the model says.
import { Violation } from "../crash/load.mjs";
import { Key, kinds } from "./model.mjs";
import { question, sameRows, someNumber, someText } from "./questions.mjs";

const idsPerKey = 14;
const pagesMax = 10_000;

// The server is gone, or the client must not go on with this: the rest of the operation is left.
class Interrupted extends Error {}

export const procedures = {
  // Adds to c.n of every item named, and gives each its new version: all of them or, when one is missing,
  // none.
  add: String(function add(changes) {
    const collection = getContext().getCollection();
    let open = changes.length;
    const accepted = (isAccepted) => { if (!isAccepted) throw new Error("not accepted: the time is nearly up"); };
    for (const { id, by, v } of changes) {
      accepted(collection.readDocument(`${collection.getAltLink()}/docs/${id}`, (error, item) => {
        if (error) throw error;
        item.n = (item.n ?? 0) + by;
        item.v = v;
        accepted(collection.replaceDocument(item._self, item, (failed) => {
          if (failed) throw failed;
          if (--open === 0) getContext().getResponse().setBody(changes.length);
        }));
      }));
    }
  }),
};

export const triggers = {
  // After an item is created, its shadow is: in the same transaction.
  shadow: String(function shadow() {
    const item = getContext().getResponse().getBody();
    const copy = { ...item, id: `${item.id}-shadow` };
    const collection = getContext().getCollection();
    const isAccepted = collection.createDocument(collection.getSelfLink(), copy, (error) => { if (error) throw error; });
    if (!isAccepted) throw new Error("not accepted: the time is nearly up");
  }),
};

export class Worker {
  // `soak`: {rest, sdk(), isDead(), isDoubtful(), count(what)}; see run.mjs.
  constructor(number, random, soak) {
    this.name = `w${number}`;
    this.random = random;
    this.soak = soak;
    this.keys = [];
    this.version = 0;
    this.last = [];  // what it did last, for the report of a violation
  }

  adopt(container) {
    for (const values of kinds[container.kind].keys(this.name)) this.keys.push(new Key(container, values));
  }

  abandon(container) {
    this.keys = this.keys.filter((key) => key.container !== container);
  }

  // Works until the server is dead or `stopped()`. First it looks at everything that it owns.
  async run(stopped) {
    try {
      await this.verify();
      while (!stopped()) await this.step();
    } catch (error) {
      if (error instanceof Interrupted) return;
      if (error instanceof Violation) error.message += `\n  ${this.name} did:\n    ${this.last.join("\n    ")}`;
      throw error;
    }
  }

  async step() {
    const key = this.random.pick(this.keys);
    if (key.possible) return this.look(key);
    const what = this.random.pick([
      "create", "create", "create", "upsert", "upsert", "replace", "replace", "remove", "patch", "patch", "batch", "batch",
      "procedure", "trigger", "refused", "read", "read", "read", "ask", "ask", "ask", "askAll", "askAll", "bySdk", "feed", "changes", "changes", "look",
    ]);
    this.soak.count(what);
    return this[what](key);
  }

  note(what) {
    this.last.push(what.replace(/x{9,}/g, "x…").slice(0, 300));
    if (this.last.length > 16) this.last.shift();
  }

  // --- requests ---------------------------------------------------------------------------------
  async request(method, path, options) {
    this.note(`${method} ${path} ${JSON.stringify(options.body ?? "")}`);
    let answer;
    try {
      answer = await this.soak.rest(method, path, options);
    } catch (error) {
      if (!this.soak.isDead()) await this.soak.death(error);
      throw new Interrupted();
    }
    this.note(`  ${answer.status} ${answer.text}`);
    return answer;
  }

  // A write that should answer `expected` and do `changes` (id → body, or null).
  async write(key, changes, expected, method, path, options) {
    key.possible = key.after(changes);
    const answer = await this.request(method, path, { ...options, headers: { ...key.header, ...options.headers } });
    if (answer.status === expected) {
      key.items = key.possible;
      key.possible = undefined;
    } else if (this.isRefusal(answer)) {
      await this.look(key);
    } else {
      throw new Violation(`${method} ${path}: ${answer.status} instead of ${expected}: ${answer.text.slice(0, 600)}`);
    }
    return answer;
  }

  // Answers that are no violation: too busy, or (while the disk is full) no space.
  isRefusal(answer) {
    if (answer.status === 400 && answer.text.includes("not accepted: the time is nearly up")) return true;
    if (![503, 429, 408, 449].includes(answer.status)) return false;
    return this.soak.refused(answer);
  }

  async expectRead(method, path, options, ...statuses) {
    for (let attempt = 0; ; ++attempt) {
      const answer = await this.request(method, path, options);
      if (statuses.includes(answer.status)) return answer;
      if (!this.isRefusal(answer) || attempt === 100) {
        throw new Violation(`${method} ${path}: ${answer.status} ${answer.substatus}: ${answer.text.slice(0, 600)}`);
      }
      await this.soak.wait(50);
    }
  }

  // --- bodies -----------------------------------------------------------------------------------
  body(key, id) {
    const { random } = this;
    const body = { id, owner: this.name, v: ++this.version };
    if (random.below(5) > 0) body.n = someNumber(random);
    if (random.below(5) > 0) body.s = someText(random);
    if (random.below(3) > 0) body.l = Array.from({ length: random.below(4) }, () => someNumber(random));
    if (key.container.kind === "unique") body.u = `${this.name}-${body.v}`;
    return key.withKey(body);
  }

  // As sent: with a filling that makes partitions grow.
  sent(body) {
    return { ...body, pad: "x".repeat(this.random.below(1500)) };
  }

  anId() {
    return `i${this.random.below(idsPerKey)}`;
  }

  // --- writes -----------------------------------------------------------------------------------
  create(key) {
    const id = this.anId();
    const there = key.items.has(id);
    const body = this.body(key, id);
    return this.write(key, there ? [] : [[id, body]], there ? 409 : 201, "POST", key.docs, { body: this.sent(body) });
  }

  upsert(key) {
    const id = this.anId();
    const body = this.body(key, id);
    return this.write(key, [[id, body]], key.items.has(id) ? 200 : 201, "POST", key.docs,
      { headers: { "x-ms-documentdb-is-upsert": "true" }, body: this.sent(body) });
  }

  async replace(key) {
    const id = this.anId();
    const body = this.body(key, id);
    const headers = {};
    let expected = key.items.has(id) ? 200 : 404;
    if (expected === 200 && this.random.below(3) === 0) {
      const { body: now } = await this.expectRead("GET", `${key.docs}/${id}`, { headers: key.header }, 200);
      const right = this.random.below(2) === 0;
      headers["if-match"] = right ? now._etag : '"00000000-0000-0001-0000-000000000001"';
      if (!right) expected = 412;
    }
    return this.write(key, expected === 200 ? [[id, body]] : [], expected, "PUT", `${key.docs}/${id}`, { headers, body: this.sent(body) });
  }

  remove(key) {
    const id = this.anId();
    return this.write(key, [[id, null]], key.items.has(id) ? 204 : 404, "DELETE", `${key.docs}/${id}`, {});
  }

  patch(key) {
    const id = this.anId();
    const now = key.items.get(id);
    const v = ++this.version;
    const by = someNumber(this.random);
    const limit = someNumber(this.random);
    const operations = [
      { op: "set", path: "/v", value: v },
      now?.n === undefined ? { op: "add", path: "/n", value: by } : { op: "incr", path: "/n", value: by },
    ];
    const conditional = this.random.below(2) === 0;
    const expected = !now ? 404 : conditional && !(now.n > limit) ? 412 : 200;
    const changes = expected === 200 ? [[id, { ...now, v, n: (now.n ?? 0) + by }]] : [];
    return this.write(key, changes, expected, "PATCH", `${key.docs}/${id}`,
      { body: { ...(conditional ? { condition: `from c where c.n > ${limit}` } : {}), operations } });
  }

  // Several operations, all or none; one in four has one that cannot succeed.
  async batch(key) {
    const changes = new Map();
    const operations = [];
    const ids = [...new Set(Array.from({ length: this.random.between(1, 6) }, () => this.anId()))];
    for (const id of ids) {
      if (key.items.has(id) && this.random.below(3) === 0) {
        operations.push({ operationType: "Delete", id });
        changes.set(id, null);
      } else {
        const body = this.body(key, id);
        operations.push(key.items.has(id)
          ? { operationType: "Replace", id, resourceBody: this.sent(body) } : { operationType: "Create", resourceBody: this.sent(body) });
        changes.set(id, body);
      }
    }
    const fails = this.random.below(4) === 0;
    if (fails) operations.push({ operationType: "Read", id: "never-there" });
    await this.write(key, fails ? [] : changes, fails ? 207 : 200, "POST", key.docs, {
      headers: { "x-ms-cosmos-is-batch-request": "True", "x-ms-cosmos-batch-atomic": "True" }, body: operations,
    });
  }

  procedure(key) {
    const ids = [...key.items.keys()].filter(() => this.random.below(3) === 0).slice(0, 4);
    const fails = this.random.below(5) === 0;
    const changes = new Map();
    const args = ids.map((id) => {
      const by = someNumber(this.random);
      const v = ++this.version;
      const now = key.items.get(id);
      changes.set(id, { ...now, v, n: (now.n ?? 0) + by });
      return { id, by, v };
    });
    if (fails) args.push({ id: "never-there", by: 1, v: ++this.version });
    if (args.length === 0) return undefined;
    return this.write(key, fails ? [] : changes, fails ? 400 : 200, "POST", `${key.container.link}/sprocs/add`, { body: [args] });
  }

  trigger(key) {
    if (key.container.kind === "unique") return undefined;  // a shadow would have the same value
    const id = this.anId();
    const shadow = `${id}-shadow`;
    const body = this.body(key, id);
    const headers = { "x-ms-documentdb-post-trigger-include": "shadow" };
    if (key.items.has(id)) return this.write(key, [], 409, "POST", key.docs, { headers, body: this.sent(body) });
    if (key.items.has(shadow)) return this.write(key, [], 400, "POST", key.docs, { headers, body: this.sent(body) });
    const copy = { ...body, id: shadow };
    return this.write(key, [[id, body], [shadow, copy]], 201, "POST", key.docs, { headers, body: this.sent(body) });
  }

  // What must not be done: a value that another item of the key has, a body for another key.
  refused(key) {
    const [holder] = key.items.values();
    const id = `new-${this.anId()}`;
    if (key.container.kind === "unique" && holder?.u) {
      return this.write(key, [], 409, "POST", key.docs, { body: { ...this.body(key, id), u: holder.u } });
    }
    const body = { ...this.body(key, id), [key.container.paths.at(-1)]: "another key" };
    return this.write(key, [], 400, "POST", key.docs, { body });
  }

  // --- reads ------------------------------------------------------------------------------------
  async read(key) {
    const id = this.anId();
    const now = key.items.get(id);
    const answer = await this.expectRead("GET", `${key.docs}/${id}`, { headers: key.header }, now ? 200 : 404);
    if (now) this.compare(key, answer.body, now);
  }

  compare(key, found, now) {
    const { pad, ...rest } = found;
    const bare = Object.fromEntries(Object.entries(rest).filter(([name]) => !name.startsWith("_")));
    const sorted = (item) => JSON.stringify(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)));
    if (sorted(bare) !== sorted(now)) throw new Violation(`${key}: read ${JSON.stringify(bare)}, should be ${JSON.stringify(now)}`);
  }

  async pages(path, headers, body) {
    const rows = [];
    let continuation;
    const size = this.random.pick([1, 2, 5, 20, 100, 1000]);
    for (let page = 0; page < pagesMax; ++page) {
      const answer = await this.expectRead("POST", path, {
        headers: {
          ...headers, "content-type": "application/query+json", "x-ms-documentdb-isquery": "True",
          "x-ms-max-item-count": String(size), ...(continuation ? { "x-ms-continuation": continuation } : {}),
        },
        body: JSON.stringify(body),
      }, 200);
      rows.push(...answer.body.Documents);
      continuation = answer.headers["x-ms-continuation"];
      if (!continuation) return rows;
    }
    throw new Violation(`${body.query}: more than ${pagesMax} pages`);
  }

  check(query, rows, items, where) {
    const right = query.answer(items);
    if (sameRows(rows, right, query.ordered)) return;
    throw new Violation(`${query.text} over ${where} gave ${JSON.stringify(rows)}, right is ${JSON.stringify(right)}\n  of ${JSON.stringify(items)}`);
  }

  // A query over one key, and over all keys of this worker in a container.
  async ask(key) {
    const query = question(this.random, this.name);
    const rows = await this.pages(key.docs, key.header, { query: query.text });
    this.check(query, rows, [...key.items.values()], key);
  }

  ownItems(container) {
    const keys = this.keys.filter((key) => key.container === container);
    return keys.some((key) => key.possible) ? undefined : keys.flatMap((key) => [...key.items.values()]);
  }

  async askAll({ container }) {
    const items = this.ownItems(container);
    if (!items) return;
    const query = question(this.random, this.name);
    const rows = await this.pages(`${container.link}/docs`, {
      "x-ms-documentdb-query-enablecrosspartition": "True", "x-orrery-whole-query": "true",
    }, { query: query.text });
    this.check(query, rows, items, container.id);
  }

  // The same through the vendor's client, which asks each partition and merges.
  async bySdk({ container }) {
    const items = this.ownItems(container);
    if (!items) return;
    const query = question(this.random, this.name);
    this.note(`by the SDK: ${query.text}`);
    let rows;
    try {
      const all = this.soak.sdk().database("db").container(container.id).items.query(query.text, { maxItemCount: this.random.pick([3, 50]) });
      rows = (await all.fetchAll()).resources;
    } catch (error) {
      if (this.soak.isDead()) throw new Interrupted();
      if (error.code >= 400 && error.code < 500 && error.code !== 408 && error.code !== 429) throw new Violation(`${query.text}: ${error.code} ${error.message}`);
      return;
    }
    this.check(query, rows, items, `${container.id}, by the SDK`);
  }

  // Everything that the server has of a key, by its feed: id → v.
  async found(key) {
    const found = new Map();
    let continuation;
    do {
      const answer = await this.expectRead("GET", key.docs, {
        headers: { ...key.header, "x-ms-max-item-count": String(this.random.between(1, 40)), ...(continuation ? { "x-ms-continuation": continuation } : {}) },
      }, 200);
      for (const item of answer.body.Documents) {
        if (found.has(item.id)) throw new Violation(`${key}: ${item.id} is twice in the feed`);
        found.set(item.id, item.v);
      }
      continuation = answer.headers["x-ms-continuation"];
    } while (continuation);
    return found;
  }

  async look(key) {
    key.settle(await this.found(key));
  }

  feed(key) {
    return this.look(key);
  }

  // Reads the key's change feed to its end: nothing goes back, and nothing that is there was left out.
  async changes(key) {
    const { feed } = key;
    for (let page = 0; page < pagesMax; ++page) {
      const answer = await this.expectRead("GET", key.docs, {
        headers: {
          ...key.header, "A-IM": "Incremental Feed", "x-ms-max-item-count": String(this.random.pick([1, 7, 100])),
          ...(feed.continuation ? { "if-none-match": feed.continuation } : {}),
        },
      }, 200, 304);
      feed.continuation = answer.headers.etag ?? feed.continuation;
      if (answer.status === 304) break;
      for (const { id, v } of answer.body.Documents) {
        if (feed.seen.get(id) > v) throw new Violation(`${key}: the change feed shows ${id} as ${v} after ${feed.seen.get(id)}`);
        feed.seen.set(id, v);
      }
    }
    for (const [id, { v }] of key.items) {
      if (feed.seen.get(id) !== v) throw new Violation(`${key}: ${id} is ${v}, and its change feed ends with ${feed.seen.get(id)}`);
    }
  }

  // Everything that this worker owns is as it should be.
  async verify() {
    for (const key of this.keys) {
      await this.look(key);
      for (const [id, now] of key.items) {
        this.compare(key, (await this.expectRead("GET", `${key.docs}/${id}`, { headers: key.header }, 200)).body, now);
      }
      await this.changes(key);
    }
  }
}
