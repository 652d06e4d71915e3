// What the soak test knows to be true of the server: the containers that it made, and every item in them.
//
// Each partition key belongs to one worker, which does one thing at a time with it. So the state of a key
// is known exactly, but for one case: a write without a clear answer (the server died, the disk was full)
// leaves two states possible, the one before and the one after as a whole. The next look decides which it
// was, and both must fit as a whole: half of a transaction is a violation.
import { keyHeader } from "../sdk/rest.mjs";
import { Violation } from "../crash/load.mjs";

// The kinds of containers. `keys` gives the partition keys of a worker.
export const kinds = {
  plain: {
    definition: { partitionKey: { paths: ["/pk"], kind: "Hash", version: 2 } },
    keys: (worker) => Array.from({ length: 5 }, (_, i) => [`${worker} ${i}`]),
  },
  levels: {
    definition: { partitionKey: { paths: ["/tenant", "/user", "/day"], kind: "MultiHash", version: 2 } },
    keys: (worker) => [["north", 1], ["north", 2], ["south", 1]].map(([user, day]) => [worker, user, day]),
  },
  unique: {
    definition: {
      partitionKey: { paths: ["/pk"], kind: "Hash", version: 2 },
      uniqueKeyPolicy: { uniqueKeys: [{ paths: ["/u"] }] },
    },
    keys: (worker) => Array.from({ length: 3 }, (_, i) => [`${worker}#${i}`]),
  },
};

export const indexingPolicies = [
  { indexingMode: "consistent", automatic: true, includedPaths: [{ path: "/*" }], excludedPaths: [{ path: "/pad/?" }] },
  {
    indexingMode: "consistent", automatic: true, includedPaths: [{ path: "/owner/?" }, { path: "/v/?" }, { path: "/n/?" }],
    excludedPaths: [{ path: "/*" }],
  },
  {
    indexingMode: "consistent", automatic: true, includedPaths: [{ path: "/*" }], excludedPaths: [],
    compositeIndexes: [[{ path: "/s", order: "ascending" }, { path: "/v", order: "descending" }]],
  },
];

export class Container {
  constructor(kind, number) {
    this.kind = kind;
    this.id = `${kind}-${number}`;
    this.paths = kinds[kind].definition.partitionKey.paths.map((path) => path.slice(1));
    this.policy = indexingPolicies[0];
  }

  get link() {
    return `/dbs/db/colls/${this.id}`;
  }

  definition(policy = this.policy) {
    return { id: this.id, ...kinds[this.kind].definition, indexingPolicy: policy };
  }
}

// One partition key of one worker in one container.
export class Key {
  constructor(container, values) {
    this.container = container;
    this.values = values;
    this.items = new Map();     // id → the body last acknowledged, without system properties
    this.possible = undefined;  // the items after a write that was not answered clearly
    this.feed = { continuation: undefined, seen: new Map() };  // its change feed, as far as it was read
  }

  get header() {
    return keyHeader(...this.values);
  }

  get docs() {
    return `${this.container.link}/docs`;
  }

  withKey(body) {
    const item = { ...body };
    this.container.paths.forEach((path, i) => { item[path] = this.values[i]; });
    return item;
  }

  // The items as they are after `changes`: id → new body, or null for a removal.
  after(changes) {
    const items = new Map(this.items);
    for (const [id, body] of changes) {
      if (body === null) items.delete(id);
      else items.set(id, body);
    }
    return items;
  }

  // `found`: id → v, everything that the server has of this key. It decides what a doubtful write did.
  settle(found) {
    const fits = (items) => items.size === found.size && [...items].every(([id, { v }]) => found.get(id) === v);
    if (this.possible && fits(this.possible)) this.items = this.possible;
    else if (!fits(this.items)) throw new Violation(`${this} should be ${told(this.items)}${this.possible ? ` or ${told(this.possible)}` : ""} and is ${told(found)}`);
    this.possible = undefined;
  }

  toString() {
    return `${this.container.id} ${JSON.stringify(this.values)}`;
  }
}

const told = (items) => `{${[...items].map(([id, state]) => `${id}: ${state.v ?? state}`).sort().join(", ")}}`;
