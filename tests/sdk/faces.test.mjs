// Which faces a server has: those that were asked for, at their ports, or with --all-faces every one at
// its usual port. The usual ports are tried on a loopback address of the test's own, where nobody else
// has them.
import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";

import { drivers, v2 } from "./gremlin.mjs";
import { MongoClient } from "./mongo.mjs";
import { devKey, freePort, runProgram, start } from "./server.mjs";
import { devAccount, devCredential, TableServiceClient } from "./table.mjs";

const usualPorts = { table: 10002, gremlin: 8901, mongo: 27017, direct: 10251 };

function ownAddress() {
  return `127.${randomInt(1, 255)}.${randomInt(0, 255)}.${randomInt(1, 255)}`;
}

// A listener that refuses to speak, or nothing where the port is taken.
function take(host, port) {
  return new Promise((resolve) => {
    const listener = net.createServer((socket) => socket.destroy());
    listener.once("error", () => resolve(undefined));
    listener.listen(port, host, () => resolve(listener));
  });
}

const release = (listener) => new Promise((resolve) => listener.close(resolve));

// The usual ports that can be had at this address: another program may have one at every address.
async function freeFaces(host) {
  const free = [];
  for (const [face, port] of Object.entries(usualPorts)) {
    const listener = await take(host, port);
    if (!listener) continue;
    await release(listener);
    free.push(face);
  }
  return free;
}

// Each face as its clients see it.
const asked = {
  async table(host) {
    const client = new TableServiceClient(`http://${host}:${usualPorts.table}/${devAccount}`, devCredential(),
      { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } });
    for await (const table of client.listTables()) assert.ok(table.name);
  },
  async mongo(host) {
    const client = new MongoClient(`mongodb://${host}:${usualPorts.mongo}/`);
    try {
      assert.equal((await client.db("test").command({ ping: 1 })).ok, 1);
    } finally {
      await client.close();
    }
  },
  async gremlin(host, server) {
    const { database } = await server.client().databases.createIfNotExists({ id: "db" });
    await database.containers.createIfNotExists({ id: "g", partitionKey: { paths: ["/pk"] } });
    const { driver } = drivers["3.4"];
    const client = new driver.Client(`ws://${host}:${usualPorts.gremlin}/gremlin`, {
      traversalSource: "g", mimeType: v2, authenticator: new driver.auth.PlainTextSaslAuthenticator("/dbs/db/colls/g", devKey),
    });
    try {
      assert.deepEqual((await client.submit("g.V().count()")).toArray(), [0]);
    } finally {
      await client.close();
    }
  },
  // Its protocol has tests of its own: here it is enough that somebody listens.
  async direct(host) {
    const socket = net.connect(usualPorts.direct, host);
    await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    socket.destroy();
  },
};

async function serveAll(host) {
  return start({ host, args: ["--address", host, "--all-faces"] });
}

// Where the server noted that its faces are.
const noted = (server) => JSON.parse(readFileSync(join(server.data, "server.json"), "utf8")).faces;
const portsOf = (faces) => Object.fromEntries(faces.map((face) => [face, usualPorts[face]]));

describe("--all-faces", () => {
  it("every face serves at its usual port", async () => {
    const host = ownAddress();
    const free = await freeFaces(host);
    const server = await serveAll(host);
    try {
      assert.deepEqual(noted(server), portsOf(free));
      for (const face of free) await asked[face](host, server);
    } finally {
      await server.close();
    }
  });

  for (const taken of Object.keys(usualPorts)) {
    it(`one whose port is taken is left out, and that is said; the others serve: ${taken}`, async () => {
      const host = ownAddress();
      const rest = (await freeFaces(host)).filter((face) => face !== taken);
      const listener = await take(host, usualPorts[taken]);
      const server = await serveAll(host);
      try {
        await server.logged(new RegExp(`a listener is left out: its usual port cannot be had.*listener=${taken}.*${usualPorts[taken]}`));
        assert.deepEqual(noted(server), portsOf(rest));
        for (const face of rest) await asked[face](host, server);
      } finally {
        await server.close();
        if (listener) await release(listener);
      }
    });
  }

  it("a port that was asked for and is taken ends the start", async () => {
    const host = ownAddress();
    for (const face of Object.keys(usualPorts)) {
      const listener = await take(host, await freePort());
      const args = ["--address", host, "--all-faces", `--${face}-port`, String(listener.address().port)];
      await assert.rejects(start({ host, args }), new RegExp(`in use[^]*--${face}-port|--${face}-port[^]*in use`));
      await release(listener);
    }
  });
});

describe("options of faces", () => {
  it("are taken from the face's section of a configuration file", async () => {
    const folder = mkdtempSync(join(tmpdir(), "orrery-config-"));
    writeFileSync(join(folder, "orrery.ini"), "[mongo]\nport = 0\nreplica-set = globaldb\n");
    const server = await start({ args: ["--config", join(folder, "orrery.ini")] });
    const client = new MongoClient(`mongodb://127.0.0.1:${noted(server).mongo}/?directConnection=true`);
    try {
      assert.equal((await client.db("admin").command({ hello: 1 })).setName, "globaldb");
    } finally {
      await client.close();
      await server.close();
      rmSync(folder, { recursive: true });
    }
  });

  it("a value that the face does not take ends the start, and what there is is said", async () => {
    for (const [option, value, said] of [
      ["--table-flavour", "sour", "--table-flavour 'sour' is not one of storage, cosmos"],
      ["--gremlin-answers", "Typed", "--gremlin-answers 'Typed' is not one of untyped, typed"],
      ["--gremlin-loops", "-1", "--gremlin-loops '-1' is not a whole number"],
      ["--consistency", "Strongest", "--consistency 'Strongest' is not one of Strong, BoundedStaleness"],
      ["--queries", "all", "--queries 'all' is not one of service, permissive"],
    ]) {
      const { code, out } = await runProgram(["serve", "--data", join(tmpdir(), "orrery-never"), `${option}=${value}`]);
      assert.deepEqual([code, out.includes(said)], [2, true], out);
    }
  });
});

describe("what faces share", () => {
  // The server's threads that help queries.
  const helpers = ({ process: { pid } }) => readdirSync(`/proc/${pid}/task`)
    .filter((task) => readFileSync(`/proc/${pid}/task/${task}/comm`, "utf8").startsWith("helpers")).length;

  it("the threads that help queries are as many with several faces as with one", async () => {
    const counts = [];
    for (const args of [[], ["--gremlin-port", "0", "--mongo-port", "0", "--table-port", "0"]]) {
      const server = await start({ args });
      counts.push(helpers(server));
      await server.close();
    }
    assert.ok(counts[0] > 0);
    assert.equal(counts[1], counts[0]);
  });
});
