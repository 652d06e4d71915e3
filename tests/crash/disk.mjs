// Files damaged while the server was stopped, and a folder that cannot be written: the server says
// what is wrong and where, and goes on serving everything else.
//
//   node tests/crash/disk.mjs
import {
  chmodSync, closeSync, cpSync, openSync, readdirSync, renameSync, rmSync, statSync, truncateSync, writeSync,
} from "node:fs";
import { join } from "node:path";

import { keyHeader } from "../sdk/rest.mjs";
import { start } from "../sdk/server.mjs";
import { createContainer, split, Violation } from "./load.mjs";

const items = 300;
const checks = [];

function check(what, truth, detail) {
  if (!truth) throw new Violation(`${what}: ${detail}`);
  checks.push(what);
}

async function fill(rest, container) {
  for (let i = 0; i < items; ++i) {
    const answer = await rest("POST", `/dbs/db/colls/${container}/docs`, {
      headers: keyHeader(`k${i}`), body: { id: `${i}`, pk: `k${i}`, pad: "x".repeat(1000 + i) },
    });
    if (answer.status !== 201) throw new Violation(`create: ${answer.status} ${answer.text}`);
  }
}

const read = (rest, container, i) =>
  rest("GET", `/dbs/db/colls/${container}/docs/${i}`, { headers: keyHeader(`k${i}`) });
const write = (rest, container, i, more = {}) =>
  rest("POST", `/dbs/db/colls/${container}/docs`, {
    headers: { ...keyHeader(`k${i}`), "x-ms-documentdb-is-upsert": "true" },
    body: { id: `${i}`, pk: `k${i}`, ...more },
  });

// The folders of partitions, oldest container first; a split makes sure that they have table files.
function folders(server) {
  const all = join(server.data, "partitions");
  return readdirSync(all).filter((name) => name.startsWith("c") && name !== "catalog")
    .map((name) => join(all, name, "db"));
}

function files(folder, pattern) {
  return readdirSync(folder).filter((name) => pattern.test(name)).map((name) => join(folder, name));
}

function overwrite(path, from, bytes) {
  const file = openSync(path, "r+");
  writeSync(file, Buffer.alloc(bytes, 0xa5), 0, bytes, from);
  closeSync(file);
}

async function works(rest, container, when) {
  const got = await read(rest, container, 1);
  check(`${when}: ${container} is read`, got.status === 200, `${got.status} ${got.text}`);
  const put = await write(rest, container, 1);
  check(`${when}: ${container} is written`, put.status === 200, `${put.status} ${put.text}`);
}

function refused(answer, what) {
  check(what, answer.status === 503, `${answer.status} ${answer.text.slice(0, 300)}`);
  check(`${what}, with a message`, /damaged|disk|cannot|lost/.test(answer.body?.message ?? ""), answer.text);
}

// One container is damaged by `damage`, given its folders; the other must not notice.
async function damaged(name, damage) {
  const server = await start();
  try {
    const rest = server.rest();
    await createContainer(rest, "sound");
    await fill(rest, "sound");
    const before = folders(server);
    await createContainer(rest, "broken");
    await fill(rest, "broken");
    const asked = await split(rest, "broken");
    check(`${name}: split`, asked.status === 200, asked.text);
    await server.stop();
    const after = folders(server).filter((folder) => !before.includes(folder));
    check(`${name}: found the files`, after.length >= 2, after.join());
    for (const folder of after) damage(folder);
    await server.launch();
    await works(rest, "sound", name);
    let worst;
    for (let i = 0; i < items; ++i) {
      const answer = await read(rest, "broken", i);
      check(`${name}: no wrong answer`, answer.status === 200 || answer.status === 503, `${answer.status} ${answer.text}`);
      if (answer.status === 200) {
        check(`${name}: a whole item`, answer.body.pad.length === 1000 + i, answer.text);
      } else {
        worst = answer;
      }
    }
    check(`${name}: something was noticed`, worst !== undefined, "every item was read");
    refused(worst, `${name}: a read answers 503`);
    const feed = await rest("GET", "/dbs/db/colls/broken/docs", { headers: { "x-ms-max-item-count": "1000" } });
    refused(feed, `${name}: the feed answers 503`);
    await works(rest, "sound", `${name}, afterwards`);
    const gone = await rest("DELETE", "/dbs/db/colls/broken");
    check(`${name}: a broken container can be deleted`, gone.status === 204, gone.text);
    await works(rest, "sound", `${name}, without it`);
    await server.close();
  } catch (error) {
    console.error(server.log);
    throw error;
  }
}

// The catalog is damaged: the server does not start, and touches nothing. With a copy in its place it does.
async function damagedCatalog(name, damage) {
  const server = await start();
  try {
    const rest = server.rest();
    await createContainer(rest, "c");
    await fill(rest, "c");
    await server.stop();
    await server.launch();
    await createContainer(rest, "d");  // in the log, where the rest is in tables now
    await fill(rest, "d");
    await server.stop();
    const place = join(server.data, "partitions", "catalog");
    const copy = join(server.data, "copy");
    cpSync(place, copy, { recursive: true });
    const before = folders(server).map((folder) => [folder, ...readdirSync(folder)].join());
    damage(join(place, "db"));
    for (let attempt = 0; attempt < 2; ++attempt) {
      const failure = await server.launch().then(() => "", (error) => error.message);
      check(`catalog, ${name}: no start`, failure !== "", "it started");
      check(`catalog, ${name}: a message`, /damaged|lost|cannot/.test(failure) && failure.includes(place), failure);
    }
    const after = folders(server).map((folder) => [folder, ...readdirSync(folder)].join());
    check(`catalog, ${name}: partitions untouched`, `${before}` === `${after}`, `${before}\n${after}`);
    check(`catalog, ${name}: nothing removed`, readdirSync(join(server.data, "removed")).length === 0, "something was");
    rmSync(place, { recursive: true });
    renameSync(copy, place);
    await server.launch();
    await works(rest, "c", `catalog, ${name}, restored`);
    await works(rest, "d", `catalog, ${name}, restored`);
    await server.close();
  } catch (error) {
    console.error(server.log);
    throw error;
  }
}

const cut = (path, share) => truncateSync(path, Math.floor(statSync(path).size * share));
const losses = {
  "logs removed": (folder) => files(folder, /\.log$/).forEach((path) => rmSync(path)),
  "logs cut to half": (folder) => files(folder, /\.log$/).forEach((path) => cut(path, 0.5)),
  "logs without their last bytes": (folder) =>
    files(folder, /\.log$/).forEach((path) => truncateSync(path, Math.max(0, statSync(path).size - 10))),
  "manifests cut to half": (folder) => files(folder, /^MANIFEST/).forEach((path) => cut(path, 0.5)),
  "tables removed": (folder) => files(folder, /\.sst$/).forEach((path) => rmSync(path)),
};

// Root may write anywhere, so a read-only folder proves something only for others.
async function readOnlyFolder() {
  if (process.getuid() === 0) return;
  const server = await start();
  const rest = server.rest();
  await createContainer(rest, "c");
  await fill(rest, "c");
  await server.stop();
  const [folder] = folders(server);
  chmodSync(folder, 0o555);
  try {
    await server.launch();
    refused(await write(rest, "c", 1), "a folder that cannot be written answers 503");
  } finally {
    chmodSync(folder, 0o755);
    await server.close();
  }
}

try {
  await damaged("table files overwritten", (folder) => {
    for (const path of files(folder, /\.sst$/)) {
      if (statSync(path).size > 4096) overwrite(path, 512, 2048);
    }
  });
  await damaged("table files cut short", (folder) => {
    for (const path of files(folder, /\.sst$/)) truncateSync(path, Math.floor(statSync(path).size / 2));
  });
  await damaged("manifests overwritten", (folder) => {
    for (const path of files(folder, /^MANIFEST/)) overwrite(path, 0, 64);
  });
  for (const [name, damage] of Object.entries(losses)) {
    await damaged(name, damage);
    await damagedCatalog(name, damage);
  }
  await readOnlyFolder();
  console.log(`disk trouble: ${new Set(checks).size} checks passed`);
  process.exit(0);
} catch (error) {
  console.error(error instanceof Violation ? `VIOLATION: ${error.message}` : error);
  process.exit(1);
}
