// The advisor on what a server has recorded of a real load, sent by the vendor's SDK: that it comes to
// the right answer, and that its simulation refuses about what the server refused. The load goes by a
// clock that the test moves, so the speed of the machine is no part of it. About half a minute.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";

import { together } from "./expect.mjs";
import { runProgram, start } from "./server.mjs";

// The same numbers every time.
function dice(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

describe("advice from what a server recorded", () => {
  const folder = mkdtempSync(join(tmpdir(), "orrery-replay-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const advise = async (...args) => {
    const { code, out } = await runProgram(["advise", ...args, "--json"]);
    assert.ok([0, 3].includes(code), out);
    return JSON.parse(out);
  };

  it("A36: a property that most queries name, and that changes, is not advised", async () => {
    const server = await start({ limits: { "advise-requests": 10_000 } });
    try {
      const { database } = await server.client().databases.create({ id: "db" });
      const { container } = await database.containers.create({ id: "tickets", partitionKey: { paths: ["/id"], version: 2 } }, { offerThroughput: 20_000 });
      const roll = dice(111);
      const state = () => ["open", "busy", "closed"][roll(3)];
      const tickets = Array.from({ length: 500 }, (_, i) => ({
        id: `t${i}`, assignee: `agent${roll(400)}`, projectId: `PRJ${roll(300)}`, state: state(), opened: `2026-0${1 + roll(9)}-1${roll(9)}`,
      }));
      await together(8, tickets.map((one) => () => container.items.create(one)));
      const requests = Array.from({ length: 600 }, () => {
        const one = tickets[roll(tickets.length)];
        const kind = roll(9);
        if (kind < 4) {
          return () => container.items.query({ query: "SELECT * FROM c WHERE c.assignee = @1 AND c.state = @2", parameters: [{ name: "@1", value: `agent${roll(400)}` }, { name: "@2", value: state() }] }).fetchAll();
        }
        if (kind < 7) return () => container.items.query({ query: "SELECT * FROM c WHERE c.projectId = @1", parameters: [{ name: "@1", value: one.projectId }] }).fetchAll();
        return () => {
          if (roll(100) < 45) one.assignee = `agent${roll(400)}`;
          if (roll(100) < 70) one.state = state();
          return container.item(one.id, one.id).replace({ ...one });
        };
      });
      await together(8, requests);
      const said = await advise("db/tickets", "--data", server.data);
      assert.equal(said.best, "/projectId", JSON.stringify(said.candidates.slice(0, 3).map((one) => one.name)));
      assert.equal(said.verdict, "change");
      const why = (name) => said.candidates.find((one) => one.name === name)?.hard.map((one) => one.code) ?? [];
      assert.ok(why("/assignee").includes("changes"), `${why("/assignee")}`);
      assert.ok(why("/state").includes("few_values"), `${why("/state")}`);
    } finally {
      await server.close();
    }
  });

  // One stream has four tenths of the writes. Each round is one second by the server's clock.
  const streams = 200;
  const rounds = 8;
  const inRound = 80;
  const unitsPerSecond = 1_000; // in four partitions
  const pad = "x".repeat(2_000);
  const load = () => {
    const roll = dice(117);
    return Array.from({ length: rounds }, (_, round) => Array.from({ length: inRound }, (__, i) => ({
      id: `${round}-${i}-${roll(1e9)}`, streamId: roll(10) < 4 ? "s0" : `s${1 + roll(streams - 1)}`, at: new Date(1_790_000_000_000 + round * 1000).toISOString(), pad,
    })));
  };
  async function send(throttling, key) {
    const server = await start({ args: ["--throttling", throttling], limits: { "partition-throughput": unitsPerSecond / 4, "advise-requests": 10_000 }, clock: true });
    try {
      const rest = server.rest();
      const { database } = await server.client().databases.create({ id: "db" });
      await database.containers.create({ id: "c", partitionKey: { paths: [`/${key}`], version: 2 } }, { offerThroughput: unitsPerSecond });
      const counts = { refused: 0, all: 0 };
      const items = [];
      server.clock.stop();
      for (const round of load()) {
        await together(8, round.map((item) => async () => {
          const { status, text } = await rest("POST", "/dbs/db/colls/c/docs", { body: item, headers: { "x-ms-documentdb-partitionkey": JSON.stringify([item[key]]) } });
          assert.ok([201, 429].includes(status), text);
          ++counts.all;
          if (status === 429) ++counts.refused;
          else items.push(item);
        }));
        server.clock.advance_ms(1_000);
      }
      server.clock.resume();
      const { body } = await rest("GET", "/admin/partitions?database=db&container=c");
      const file = join(folder, `${throttling}-${key}.ndjson`);
      const { code, out } = await runProgram(["advise", "db/c", "--record-to", file, "--with-key", "--data", server.data]);
      assert.equal(code, 0, out);
      const records = readFileSync(file, "utf8").trim().split("\n").map((line) => JSON.parse(line));
      return { share: counts.refused / counts.all, refusing: body.partitions.filter((one) => one.throttled > 0).length, partitions: body.partitions.length, records, items };
    } finally {
      await server.close();
    }
  }

  it("A36: the simulation refuses where the server does, and about as much", async () => {
    const wanted = await send("report", "streamId"); // nothing is refused, so all that is wanted is recorded
    assert.equal(wanted.share, 0);
    // The server's wall clock ran on by the machine's speed: the load is of so many seconds.
    const sums = wanted.records.filter(({ k }) => k === "time");
    const total = (name) => sums.reduce((sum, one) => sum + one[name], 0);
    const lines = [...wanted.records.filter(({ k }) => k !== "time"), { k: "time", t: sums[0].t, s: rounds, requests: total("requests"), ru: total("ru"), throttled: 0 }];
    const workload = join(folder, "workload.ndjson");
    const items = join(folder, "items.ndjson");
    writeFileSync(workload, `${lines.map((one) => JSON.stringify(one)).join("\n")}\n`);
    writeFileSync(items, `${wanted.items.map((one) => JSON.stringify(one)).join("\n")}\n`);
    const said = await advise("--items", items, "--workload", workload, "--key", "/id");
    const candidate = (name) => said.candidates.find((one) => one.name === name);
    const simulated = candidate("/streamId").throttled;
    const real = await send("on", "streamId");
    assert.equal(real.partitions, 4);
    assert.equal(real.refusing, 1, "one partition is hot");
    assert.ok(real.share > 0.1, `${real.share}`);
    assert.ok(Math.abs(real.share - simulated) < 0.1, `refused ${real.share}, simulated ${simulated}`);
    assert.ok(Math.abs(candidate("/streamId").busiest.share - 0.4) < 0.08, `${candidate("/streamId").busiest.share}`);
    const recorded = real.records.filter(({ k }) => k === "time").reduce((sum, one) => sum + one.throttled, 0);
    assert.ok(Math.abs(recorded - real.share * rounds * inRound) <= 0.2 * real.share * rounds * inRound, `${recorded}`);
    // The simulated bars are as uneven as the load: one holds most.
    const bars = said.bars.find((one) => one.key === "/streamId")?.ru ?? [];
    assert.ok(Math.max(...bars) > 0.45, `${bars}`);
    const even = await send("on", "id");
    assert.ok(even.share < 0.02, `${even.share}`);
    assert.ok(candidate("/id").throttled < 0.05, `${candidate("/id").throttled}`);
  });
});
