// Runs the client programs of this folder, and the first programs of README.md, each with the vendor's SDK of its
// language, against a server of its own: node tests/clients/run.mjs [LANGUAGE...].
//
// Prints TAP. A language whose tools are not on this machine is a line "# not run: Go: no go". The exit status
// is 1 when something failed.
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { freePort, start } from "../sdk/server.mjs";
import { toolchains, workFolder } from "./toolchains.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const titles = { python: "Python", gremlin: "gremlinpython", pymongo: "pymongo", mongosh: "mongosh", go: "Go", java: "Java", js: "JavaScript" };
const fileNames = { python: "first.py", go: "first.go", java: "First.java", js: "first.mjs" };
// Reached only by what is stuck, on a busy machine too.
const programWithin_ms = 600_000;
let failed = 0;

const wanted = process.argv.slice(2);
for (const name of wanted) {
  if (!(name in toolchains)) {
    console.error(`There is no client program in ${name}; there are ${Object.keys(toolchains).join(", ")}.`);
    process.exit(1);
  }
}
const gremlinPort = await freePort();
const mongoPort = await freePort();
const server = await start({ args: ["--direct-port", "0", "--gremlin-port", String(gremlinPort), "--mongo-port", String(mongoPort)] });
server.mongoPort = mongoPort;
try {
  for (const language of wanted.length > 0 ? wanted : Object.keys(toolchains)) await judge(language);
} finally {
  await server.close();
}
process.exitCode = failed > 0 ? 1 : 0;

async function judge(language) {
  const tools = toolchains[language];
  const lacks = tools.lacks();
  if (lacks) {
    console.log(`# not run: ${titles[language]}: ${lacks}`);
    return;
  }
  try {
    if (tools.program) {
      const source = join(here, tools.program);
      const made = tools.make(source, "client");
      if (language === "gremlin") await makeGraph();
      for (const mode of tools.modes ?? ["gateway"]) {
        const title = mode === "gateway" ? titles[language] : `${titles[language]}, ${mode} mode`;
        const { code, out, err } = await execute(made, { ORRERY_MODE: mode });
        const count = (pattern) => out.match(pattern)?.length ?? 0;
        process.stdout.write(out.replace(/^((?:not )?ok) - /gm, `$1 - ${title}: `));
        failed += count(/^not ok /gm);
        if (code !== 0 && count(/^not ok /gm) === 0 || count(/^ok /gm) === 0) {
          report(false, `${title}: the program ends as it should`, `it ended with ${code}\n${err}`);
        }
      }
    }
    if (!(language in fileNames)) return;
    await judgeReadme(language, "A first program", /^ada 12.5\n$/);
    if (language === "js") await judgeReadme(language, "A tour in five minutes", /^wrote 1 for .* RU\n/);
  } catch (error) {
    report(false, `${titles[language]}: the program can be made`, error.message);
  }
}

// The container of graph.py.
async function makeGraph() {
  const { database } = await server.client().databases.createIfNotExists({ id: "db" });
  await database.containers.createIfNotExists({ id: "people", partitionKey: { paths: ["/pk"] } });
}

// The program in this language of a section of README.md runs, and prints what is said there.
async function judgeReadme(language, heading, printed) {
  const source = join(workFolder(language), fileNames[language]);
  writeFileSync(source, readmeProgram(language, heading).replaceAll("8081", server.port));
  const { code, out, err } = await execute(toolchains[language].make(source, "first"));
  report(code === 0 && printed.test(out), `${titles[language]}: the program in README.md: ${heading}`,
    `it ended with ${code} and printed ${JSON.stringify(out)}\n${err}`);
}

function report(good, title, detail) {
  console.log(`${good ? "ok" : "not ok"} - ${title}`);
  if (good) return;
  ++failed;
  console.log(detail.trim().replace(/^/gm, "  # "));
}

function readmeProgram(language, heading) {
  const sections = readFileSync(join(here, "../../README.md"), "utf8").split(/^## /m);
  const section = sections.find((part) => part.startsWith(`${heading}\n`));
  const block = section?.match(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, "m"));
  if (!block) throw new Error(`README.md has no program in ${language} under "${heading}"`);
  return block[1];
}

function execute(made, mode = {}) {
  const { command, args, env = {} } = made(server);
  const settings = { ORRERY_ENDPOINT: `https://localhost:${server.port}`, ORRERY_KEY: server.key,
    ORRERY_CERT: join(server.data, "cert.pem"), ORRERY_GREMLIN: `wss://localhost:${gremlinPort}/gremlin`,
    ORRERY_MONGO: `mongodb://127.0.0.1:${mongoPort}/` };
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], timeout: programWithin_ms,
      killSignal: "SIGKILL", env: { ...process.env, ...settings, ...mode, ...env } });
    const texts = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"]) {
      child[name].setEncoding("utf8");
      child[name].on("data", (text) => {
        texts[name] = (texts[name] + text).slice(-200_000);
      });
    }
    child.once("error", (error) => resolve({ code: error.message, out: "", err: "" }));
    child.once("close", (code, signal) => resolve({ code: code ?? signal, out: texts.stdout, err: texts.stderr.slice(-5_000) }));
  });
}
