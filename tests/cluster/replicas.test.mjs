// Read replicas: nodes that answer reads of partitions which another node owns, as far as the consistency level of
// a request allows. Eight clusters of three nodes, one after the other: about a minute.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";

import { start } from "../sdk/server.mjs";
import { startCluster, until } from "./cluster.mjs";

const upTo = (count) => Array.from({ length: count }, (_, i) => i);
const docs = "/dbs/db/colls/c/docs";

async function withCluster(options, run) {
  const folder = mkdtempSync(join(tmpdir(), "orrery-hold-"));
  const hold = join(folder, "hold");
  const cluster = await startCluster(["n1", "n2", "n3"], {
    args: options.args ?? [],
    env: { ORRERY_TEST_HOLD_REPLICAS: hold },
    steady: options.steady ?? true,
  });
  try {
    const { database } = await cluster.nodes.get("n1").client().databases.create({ id: "db" });
    await database.containers.create({ id: "c", partitionKey: "/pk", throughput: options.throughput ?? 400 });
    await setReplicas(cluster, "n1", options.count ?? 2);
    const owned = await cluster.settled();
    const owner = owned[0].node;
    await run({
      cluster, owner, replicas: cluster.names.filter((name) => name !== owner),
      hold: () => writeFileSync(hold, ""), release: () => rmSync(hold),
    });
  } finally {
    await cluster.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

// By one node, until all of them have it.
async function setReplicas(cluster, name, count) {
  const { code, out } = await cluster.command(name, "replicas", String(count));
  assert.equal(code, 0, out);
  assert.equal((await cluster.status(name)).readReplicas, count, "the asked node has it at once");
  await until(`all nodes are to have ${count}`, async () => {
    for (const one of cluster.names) if ((await cluster.status(one)).readReplicas !== count) return false;
    return true;
  });
}

const key = (id) => ({ "x-ms-documentdb-partitionkey": JSON.stringify([id]) });

// By REST, so that nothing is added to what a test says: {status, n, token}.
async function read(cluster, name, id, { level, token } = {}) {
  const headers = { ...key(id) };
  if (level) headers["x-ms-consistency-level"] = level;
  if (token) headers["x-ms-session-token"] = token;
  const reply = await cluster.nodes.get(name).rest()("GET", `${docs}/${id}`, { headers });
  return { status: reply.status, n: reply.body?.n, token: reply.headers["x-ms-session-token"], text: reply.text };
}

async function write(cluster, name, id, n) {
  const reply = await cluster.nodes.get(name).rest()("POST", docs, {
    headers: { ...key(id), "x-ms-documentdb-is-upsert": "true" }, body: { id, pk: id, n },
  });
  assert.ok(reply.status === 200 || reply.status === 201, reply.text);
  return reply.headers["x-ms-session-token"];
}

async function metric(cluster, name, metricName) {
  const reply = await cluster.nodes.get(name).rest()("GET", "/metrics");
  assert.equal(reply.status, 200);
  return reply.text.split("\n").filter((line) => line.startsWith(`${metricName}{`))
    .reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}
const answered = (cluster, name) => metric(cluster, name, "orrery_replica_reads_total");

async function answersItselfNow(cluster, name, id) {
  const before = await answered(cluster, name);
  const { status } = await read(cluster, name, id, { level: "Eventual" });
  return status === 200 && (await answered(cluster, name)) > before;
}
// Until the node answers reads of this item by itself.
const answersItself = (cluster, name, id) => until(`${name} answers`, () => answersItselfNow(cluster, name, id));

describe("read replicas", () => {
  test("answer point reads, queries and feeds where the client asks", () => withCluster({}, async ({ cluster, owner, replicas }) => {
    for (const i of upTo(10)) await write(cluster, owner, `i${i}`, i);
    for (const name of replicas) {
      await answersItself(cluster, name, "i0");
      await until("it has all", async () => (await read(cluster, name, "i9", { level: "Eventual" })).status === 200);
      const [shown] = (await cluster.status(name)).replicas;
      assert.deepEqual([shown.database, shown.container], ["db", "c"]);
      assert.ok(shown.reads > 0 && shown.lsn > 0 && shown.stalenessS >= 0, JSON.stringify(shown));
      assert.match((await cluster.command(name, "status")).out, /^read replicas at .*\n.*\ndb\/c /m);
      const forwarded = await metric(cluster, name, "orrery_forwarded_requests_total");
      const before = await answered(cluster, name);
      for (const i of upTo(10)) {
        const { status, n, token } = await read(cluster, name, `i${i}`, { level: "Eventual" });
        assert.deepEqual([status, n], [200, i]);
        assert.match(token, /^\d+:.*10$/, "the replica's own LSN");
      }
      const container = cluster.nodes.get(name).client({ consistencyLevel: "Eventual" }).database("db").container("c");
      const numbers = (await container.items.query("SELECT VALUE c.n FROM c ORDER BY c.n").fetchAll()).resources;
      assert.deepEqual(numbers, upTo(10));
      assert.equal((await container.items.readAll().fetchAll()).resources.length, 10);
      const changes = await cluster.nodes.get(name).rest()("GET", docs, {
        headers: { "A-IM": "Incremental Feed", "x-ms-consistency-level": "Eventual", ...key("i3") },
      });
      assert.equal(changes.body?.Documents?.length, 1, changes.text);
      assert.ok((await answered(cluster, name)) >= before + 13, "all of that here");
      // It may have been catching up once or twice.
      assert.ok((await metric(cluster, name, "orrery_forwarded_requests_total")) <= forwarded + 3, "and hardly any of it elsewhere");
    }
    assert.equal(await answered(cluster, owner), 0);
  }));

  test("their number is the account's: set at any node, followed by all, and kept when the coordinator ends", () => withCluster({ count: 0, steady: false }, async ({ cluster, owner, replicas }) => {
    await write(cluster, owner, "x", 1);
    for (const name of replicas) for (const _ of upTo(3)) assert.equal((await read(cluster, name, "x", { level: "Eventual" })).n, 1);
    for (const name of replicas) assert.equal(await answered(cluster, name), 0, "there are none");
    const coordinator = await cluster.coordinator();
    await setReplicas(cluster, cluster.names.find((name) => name !== coordinator), 2);
    assert.match((await cluster.command("n1", "status")).out, /^read replicas of each partition: 2$/m);
    for (const name of replicas) await answersItself(cluster, name, "x");
    for (const name of replicas) assert.equal((await cluster.status(name)).replicas.length, 1);
    // One of two: the other asks the owner again.
    await setReplicas(cluster, "n1", 1);
    const holders = async () => {
      const all = await Promise.all(replicas.map(async (name) => [name, (await cluster.status(name)).replicas.length]));
      return all.filter(([, count]) => count > 0).map(([name]) => name);
    };
    const [left] = await until("one is closed", async () => {
      const found = await holders();
      return found.length === 1 && found;
    });
    await answersItself(cluster, left, "x");
    const other = replicas.find((name) => name !== left);
    for (const _ of upTo(3)) assert.equal(await answersItselfNow(cluster, other, "x"), false);
    await setReplicas(cluster, "n1", 0);
    await until("all are closed", async () => (await holders()).length === 0);
    for (const name of replicas) assert.equal(await answersItselfNow(cluster, name, "x"), false);
    await setReplicas(cluster, "n1", 2);
    for (const bad of ["-1", "1001", "many"]) assert.notEqual((await cluster.command("n1", "replicas", bad)).code, 0, bad);
    for (const body of [{}, { count: 0.5 }, { count: "2" }, { count: -1 }]) {
      assert.equal((await cluster.nodes.get("n1").rest()("POST", "/admin/cluster/replicas", { body })).status, 400, JSON.stringify(body));
    }
    await cluster.kill(coordinator);
    for (const name of cluster.names) await until(`${name} knows it`, async () => (await cluster.status(name)).readReplicas === 2);
    const after = await until("it is served", () => write(cluster, cluster.names[0], "x", 2).catch(() => undefined));
    assert.ok(after);
    const [{ node }] = await cluster.settled();
    await answersItself(cluster, cluster.names.find((name) => name !== node), "x");
  }));

  test("a server alone has none, and says why", async () => {
    const server = await start();
    try {
      const { code, out } = await server.command("cluster", "replicas", "1", "--data", server.data, "--port", String(server.port));
      assert.equal(code, 1, out);
      assert.match(out, /this server is alone: it was started without --node/);
    } finally {
      await server.close();
    }
  });

  test("session: a client never sees less than it has seen, whichever node it asks", () => withCluster({}, async ({ cluster, owner, replicas }) => {
    await write(cluster, owner, "x", 0);
    for (const name of replicas) await answersItself(cluster, name, "x");
    const before = (await answered(cluster, replicas[0])) + (await answered(cluster, replicas[1]));
    // Reads its own writes.
    for (const i of upTo(40)) {
      const token = await write(cluster, owner, "x", i);
      const seen = await read(cluster, replicas[i % 2], "x", { token });
      assert.deepEqual([seen.status, seen.n], [200, i]);
    }
    // And nothing older than what it has read, while another writes.
    let done = false;
    const writing = (async () => {
      for (let n = 40; !done; ++n) await write(cluster, owner, "x", n);
    })();
    try {
      let seen = { n: 0, token: undefined };
      for (const i of upTo(120)) {
        const now = await read(cluster, cluster.names[i % 3], "x", { token: seen.token });
        // The owner may be about to acknowledge what a replica has shown already.
        if (now.status === 404 && /1002|LSN/.test(now.text)) continue;
        assert.equal(now.status, 200, now.text);
        assert.ok(now.n >= seen.n, `${now.n} after ${seen.n}`);
        seen = now;
      }
    } finally {
      done = true;
      await writing;
    }
    await until("replicas answer sessions, too", async () => {
      for (const name of replicas) await read(cluster, name, "x");
      return (await answered(cluster, replicas[0])) + (await answered(cluster, replicas[1])) > before;
    });
  }));

  test("strong is never stale, bounded staleness is bounded, and the weaker ones catch up", () => withCluster(
    { args: ["--consistency", "Strong", "--replica-staleness-ms", "600000"] },
    async ({ cluster, owner, replicas: [name], hold, release }) => {
      await write(cluster, owner, "x", 1);
      await answersItself(cluster, name, "x");
      hold();
      const token = await write(cluster, owner, "x", 2);
      for (const level of ["Eventual", "ConsistentPrefix", "Session"]) {
        assert.equal((await read(cluster, name, "x", { level })).n, 1, level);
      }
      assert.equal((await read(cluster, name, "x", { level: "Strong" })).n, 2);
      assert.equal((await read(cluster, name, "x")).n, 2, "the account's own");
      assert.equal((await read(cluster, name, "x", { level: "Session", token })).n, 2);
      // At the latest 5 s after it was fresh.
      await until("bounded staleness asks the owner", async () => (await read(cluster, name, "x", { level: "BoundedStaleness" })).n === 2);
      assert.equal((await read(cluster, name, "x", { level: "Eventual" })).n, 1, "and eventual does not");
      assert.equal((await read(cluster, name, "x", { level: "Strong" })).n, 2);
      await until("the owner's LSN is known", async () => (await metric(cluster, name, "orrery_replica_lsns_behind")) === 1);
      assert.ok((await metric(cluster, name, "orrery_replica_staleness_seconds")) > 0);
      release();
      await until("it catches up", async () => (await read(cluster, name, "x", { level: "Eventual" })).n === 2);
      await until("it says so", async () => (await metric(cluster, name, "orrery_replica_lsns_behind")) === 0);
    }));

  test("a replica that is staler than it may be answers nothing", () => withCluster(
    { args: ["--replica-staleness-ms", "1000"] },
    async ({ cluster, owner, replicas: [name], hold }) => {
      await write(cluster, owner, "x", 1);
      await answersItself(cluster, name, "x");
      hold();
      await write(cluster, owner, "x", 2);
      await until("the owner answers", async () => (await read(cluster, name, "x", { level: "Eventual" })).n === 2);
      const before = await answered(cluster, name);
      for (const _ of upTo(5)) assert.equal((await read(cluster, name, "x", { level: "Eventual" })).n, 2);
      assert.equal(await answered(cluster, name), before);
    }));

  test("a replica that hung answers no session with less than it has seen", () => withCluster({}, async ({ cluster, owner, replicas: [name, other] }) => {
    await write(cluster, owner, "x", 0);
    await answersItself(cluster, name, "x");
    const frozen = cluster.nodes.get(name);
    frozen.process.kill("SIGSTOP");
    let token;
    for (const n of upTo(10)) token = await write(cluster, other, "x", n);
    const reads = upTo(10).map(() => read(cluster, name, "x", { token }).catch(() => undefined));
    frozen.process.kill("SIGCONT");
    for (const one of reads) {
      const answer = await one;
      if (answer?.status === 200) assert.equal(answer.n, 9);
    }
    assert.equal((await read(cluster, other, "x", { token })).n, 9);
  }));

  test("the end of an owner: replicas go on, and one of them takes over", () => withCluster({ steady: false }, async ({ cluster, owner, replicas }) => {
    const token = await write(cluster, owner, "x", 1);
    for (const name of replicas) await answersItself(cluster, name, "x");
    await cluster.kill(owner);
    const eventually = async () => {
      for (const name of replicas) {
        const seen = await until(`${name} answers`, async () => {
          const one = await read(cluster, name, "x", { token });
          return one.status === 200 && one;
        });
        assert.equal(seen.n, 1);
      }
    };
    await eventually();
    await until("another owns it", async () => (await cluster.partitions("db", "c", replicas[0])).every((one) => replicas.includes(one.node)));
    const after = await write(cluster, replicas[1], "x", 2);
    for (const name of replicas) {
      const seen = await until(`${name} answers`, async () => {
        const one = await read(cluster, name, "x", { token: after });
        return one.status === 200 && one;
      });
      assert.equal(seen.n, 2);
    }
  }));

  test("a split under reads fails none of them, and its children get replicas", () => withCluster({}, async ({ cluster, owner, replicas }) => {
    for (const i of upTo(20)) await write(cluster, owner, `i${i}`, i);
    for (const name of replicas) await answersItself(cluster, name, "i0");
    let done = false;
    const failures = [];
    const reading = replicas.map(async (name) => {
      const container = cluster.nodes.get(name).client({ consistencyLevel: "Eventual" }).database("db").container("c");
      for (let i = 0; !done; ++i) {
        const { statusCode, resource } = await container.item(`i${i % 20}`, `i${i % 20}`).read().catch((error) => ({ statusCode: error.code }));
        if (statusCode !== 200 || resource.n !== i % 20) failures.push([name, i, statusCode]);
      }
    });
    const coordinator = await cluster.coordinator();
    const split = await cluster.nodes.get(coordinator).split(cluster.container(coordinator));
    assert.equal(split.code, 0, split.out);
    await until("there are two", async () => (await cluster.partitions()).length === 2);
    done = true;
    await Promise.all(reading);
    assert.deepEqual(failures, []);
    // Children move while nodes are balanced: who owns neither of the two is looked up each time.
    const name = await until("a node that owns neither child answers by itself", async () => {
      const owners = (await cluster.settled()).map((one) => one.node);
      const other = cluster.names.find((one) => !owners.includes(one));
      for (const id of ["i1", "i7", "i19"]) {
        if (!await answersItselfNow(cluster, other, id)) return undefined;
      }
      return other;
    });
    for (const i of upTo(20)) {
      assert.equal((await until("it is there", async () => {
        const one = await read(cluster, name, `i${i}`, { level: "Eventual" });
        return one.status === 200 && one;
      })).n, i);
    }
  }));
});
