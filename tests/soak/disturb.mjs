// What happens to the server of the soak test while its clients work: splits, new index rules, other
// throughput, containers that come and go, hostile requests, a full disk. And how each of its lives ends.
import { execFileSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, unlinkSync, writeSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { keyHeader } from "../sdk/rest.mjs";
import { partitionMap, split, Violation } from "../crash/load.mjs";
import { indexingPolicies } from "./model.mjs";

export const rangesMax = 16;  // a container with more is replaced: its many files only cost time

// Points where a life may end by the server's own hand (ORRERY_FAULT), or where a step fails once.
export const faultPoints = [
  "files.made", "partition.commit", "split.begin", "split.intended", "split.cloned_left", "split.cloned_right",
  "split.opened", "split.published", "split.trimmed",
];

const chain = (length) => Array.from({ length }, (_, i) => `c.n = ${i}`).join(" OR ");
const nested = (depth) => `${"ARRAY_CONCAT(".repeat(depth)}[1]${", [1, 2, 3])".repeat(depth)}`;
const hostile = [
  `SELECT VALUE 1 FROM c WHERE ${chain(3000)}`,
  `SELECT VALUE 1 FROM c WHERE c.n IN (${Array.from({ length: 5000 }, (_, i) => i).join(", ")})`,
  `SELECT VALUE ${nested(60)} FROM c`,
  `SELECT VALUE REPLICATE(REPLICATE('x', 10000), 10000) FROM c`,
  `SELECT VALUE COUNT(1) FROM c JOIN a IN c.l JOIN b IN c.l JOIN d IN c.l JOIN e IN c.l`,
  `SELECT ${"(".repeat(5000)}1${")".repeat(5000)}`,
  `SELECT * FROM c WHERE ${"NOT ".repeat(20000)} true`,
];

// One act each: (soak) → what was done, or undefined when nothing could be.
export const acts = {
  async split(soak) {
    const { id } = soak.random.pick(soak.containers);
    const ranges = await partitionMap(soak.rest, id);
    if (ranges.length > rangesMax) return undefined;
    const answer = await split(soak.rest, id, soak.random.below(2) === 0 ? soak.random.pick(ranges).id : undefined);
    // 409: another split is at it, or all of its items have one key.
    if (answer.status !== 200 && answer.status !== 409 && !soak.refused(answer)) throw new Violation(`split: ${answer.status} ${answer.text}`);
    return answer.status === 200 ? "split" : undefined;
  },

  async reindex(soak) {
    const container = soak.random.pick(soak.containers);
    const policy = soak.random.pick(indexingPolicies);
    const answer = await soak.rest("PUT", container.link, { body: container.definition(policy) });
    if (answer.status !== 200 && !soak.refused(answer)) throw new Violation(`new index rules: ${answer.status} ${answer.text}`);
    container.policy = policy;
    return "new index rules";
  },

  async scratch(soak) {
    const id = `scratch-${++soak.made}`;
    const link = `/dbs/db/colls/${id}`;
    await soak.rest("POST", "/dbs/db/colls", { body: { id, partitionKey: { paths: ["/pk"], kind: "Hash", version: 2 } } });
    for (let i = 0; i < 20; ++i) {
      const answer = await soak.rest("POST", `${link}/docs`, { headers: keyHeader(`k${i}`), body: { id: `${i}`, pk: `k${i}` } });
      if (answer.status !== 201 && !soak.refused(answer)) throw new Violation(`a new container: ${answer.status} ${answer.text}`);
    }
    const gone = await soak.rest("DELETE", link, {});
    if (gone.status !== 204 && !soak.refused(gone)) throw new Violation(`a container to be dropped: ${gone.status} ${gone.text}`);
    return "container made and dropped";
  },

  // Whatever it says, it gets an answer, and nobody else notices.
  async hostile(soak) {
    const container = soak.random.pick(soak.containers);
    const query = soak.random.pick(hostile);
    const answer = await soak.rest("POST", `${container.link}/docs`, {
      headers: {
        "content-type": "application/query+json", "x-ms-documentdb-isquery": "True",
        "x-ms-documentdb-query-enablecrosspartition": "True", "x-orrery-whole-query": "true",
      },
      body: JSON.stringify({ query }),
    });
    if (answer.status >= 500 && answer.status !== 503) throw new Violation(`${query.slice(0, 80)}: ${answer.status} ${answer.text.slice(0, 300)}`);
    return "hostile query";
  },

  async looping(soak) {
    const container = soak.random.pick(soak.containers);
    const answer = await soak.rest("POST", `${container.link}/sprocs/loop`, { headers: keyHeader(...container.paths.map(() => "loop")), body: [] });
    if (![400, 403, 408, 429, 503].includes(answer.status)) throw new Violation(`an endless procedure: ${answer.status} ${answer.text}`);
    return "endless procedure";
  },

  // Clients that send rubbish, or half a request, and stay.
  async rubbish(soak) {
    const texts = [
      "GET / HTTP/1.1\r\n", "\x16\x03\x01\x02\x00\x01", "POST /dbs HTTP/1.1\r\nhost: x\r\ncontent-length: 4000000\r\n\r\nabc",
      "x".repeat(100_000), "GET / HTTP/1.1\r\nhost: x\r\n\r\n".repeat(200),
    ];
    const sockets = Array.from({ length: 10 }, () => {
      const socket = net.connect(soak.server.port, "127.0.0.1");
      socket.on("error", () => {});
      socket.on("data", () => {});
      socket.write(soak.random.pick(texts));
      return socket;
    });
    await soak.wait(200);
    for (const socket of sockets) socket.destroy();
    return "rubbish";
  },

  // Full to the last byte for a while. What is refused then is the model's to settle.
  async fullDisk(soak) {
    if (!soak.disk) return undefined;
    soak.disk.fill();
    soak.diskIsFull = true;
    try {
      await soak.wait(soak.random.between(300, 2000));
      if (soak.random.below(3) === 0) await soak.killWhileFull();
    } finally {
      soak.disk.free();
    }
    // It goes on by itself: every container takes a write again.
    for (const container of soak.containers) await soak.untilWritable(container);
    soak.diskIsFull = false;
    return "full disk";
  },
};

// A small disk of its own, to be filled: a tmpfs, which only root can make.
export function smallDisk(bytes) {
  const folder = mkdtempSync(join(tmpdir(), "orrery-soak-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${bytes},mode=0700`, "orrery-soak", folder], { stdio: "ignore" });
  } catch {
    rmSync(folder, { recursive: true });
    return undefined;
  }
  const foreign = join(folder, "foreign");
  return {
    folder,
    fill() {
      const file = openSync(foreign, "w");
      const block = Buffer.alloc(64 * 1024, 1);
      try {
        for (let size = block.length; size >= 1;) {
          try {
            writeSync(file, block, 0, size);
          } catch (error) {
            if (error.code !== "ENOSPC") throw error;
            size = Math.floor(size / 2);
          }
        }
      } finally {
        closeSync(file);
      }
    },
    free() {
      unlinkSync(foreign);
    },
    freeBytes() {
      const { bavail, bsize } = statfsSync(folder);
      return bavail * bsize;
    },
    remove() {
      execFileSync("umount", ["-l", folder], { stdio: "ignore" });
      rmSync(folder, { recursive: true });
    },
  };
}
