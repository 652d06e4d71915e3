// Other servers of MongoDB's protocol for mongo.mjs: FerretDB over a PostgreSQL of its own, built from Go's module proxy, and
// mongo-java-server with its data in memory, from Maven Central.
//
//   ORRERY_BENCH_FERRETDB   a FerretDB that was built before
import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { promisify } from "node:util";

import { classPath } from "./gremlin_peers.mjs";
import { Postgres } from "./postgres.mjs";
import { freePort, launch } from "./server.mjs";

const ferretVersion = "v1.24.0";

async function buildFerret(folder) {
  const given = process.env.ORRERY_BENCH_FERRETDB;
  if (given) return given;
  const run = promisify(execFile);
  // What the proxy has lacks a file that the release's build makes, and does not start without it.
  const { stdout } = await run("go", ["mod", "download", "-json", `github.com/FerretDB/FerretDB@${ferretVersion}`], { cwd: folder });
  const source = `${folder}/source`;
  await run("cp", ["-r", JSON.parse(stdout).Dir, source]);
  await run("chmod", ["-R", "u+w", source]);
  writeFileSync(`${source}/build/version/version.txt`, ferretVersion);
  await run("go", ["build", "-buildvcs=false", "-o", `${folder}/ferretdb`, "./cmd/ferretdb"], { cwd: source, maxBuffer: 1 << 24 });
  return `${folder}/ferretdb`;
}

// PostgreSQL acknowledges after the disk's sync here: inserts are compared.
export async function startFerret(folder) {
  mkdirSync(folder, { recursive: true });
  const program = await buildFerret(folder);
  const postgresPort = await freePort();
  const postgres = await Postgres.start(`${folder}/postgres`, {
    listen_addresses: "127.0.0.1", port: String(postgresPort), fsync: "on", max_connections: "300", shared_buffers: "1GB",
    plan_cache_mode: "force_custom_plan" });  // a generic plan does not know that $1 is _id, and cannot use the index below
  await postgres.sql("CREATE DATABASE ferretdb");
  const port = await freePort();
  const daemon = await launch("sh", ["-c", 'exec "$@" 2>&1', "sh", program, `--listen-addr=127.0.0.1:${port}`, "--debug-addr=-",
    `--postgresql-url=postgres://postgres@127.0.0.1:${postgresPort}/ferretdb?pool_max_conns=200`, "--telemetry=disable", `--state-dir=${folder}`,
    "--log-level=info"], "Listening on TCP", port);
  // FerretDB asks for an _id by `_jsonb->'_id' @> …` (internal/backends/postgresql/query.go), which its own unique index, a B-tree,
  // does not serve: every read and update by _id would scan. PostgreSQL has an index that does, so a person makes one by hand.
  daemon.loaded = async () => {
    const tables = await postgres.sql("SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname = 'bench' AND tablename NOT LIKE '\\_ferretdb%'", "ferretdb");
    for (const table of tables.trim().split("\n")) {
      await postgres.sql(`CREATE INDEX ON ${table} USING gin ((_jsonb->'_id') jsonb_path_ops) WITH (fastupdate = off)`, "ferretdb");
      await postgres.sql(`VACUUM ANALYZE ${table}`, "ferretdb");
    }
  };
  const stop = daemon.stop.bind(daemon);
  daemon.stop = async () => {
    await stop();
    await postgres.stop();
  };
  return daemon;
}

const javaMain = `import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;

public class Peer {
  public static void main(String[] args) {
    new MongoServer(new MemoryBackend()).bind("127.0.0.1", Integer.parseInt(args[0]));
    System.out.println("peer ready");
  }
}
`;

export async function startJavaServer(folder) {
  const path = await classPath(folder, [["de.bwaldvogel", "mongo-java-server", "1.47.0"], ["org.slf4j", "slf4j-nop", "2.0.16"]], []);
  writeFileSync(`${folder}/Peer.java`, javaMain);
  const port = await freePort();
  return launch("sh", ["-c", 'exec java -Xmx4g -cp "$0" "$1" "$2" 2>&1', path, `${folder}/Peer.java`, String(port)], "peer ready", port);
}
