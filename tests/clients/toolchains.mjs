// How a client program is made and run in each language: what has to be there, what is fetched and compiled
// (into build/clients, and the caches of pip, Go and Maven), and how the SDK is told to trust the server's
// certificate. Versions are pinned beside the programs: requirements.txt, package-lock.json,
// go.sum, pom.xml.
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const built = join(here, "../../build/clients");

// Each has
//   lacks()           what is missing on this machine, if anything
//   program           the source of the client program, in this folder
//   modes             of the connection, in which it is run one after the other; gateway unless given
//   make(source)      a program of one source file: (server) => {command, args, env}
export const toolchains = {
  python: {
    program: "python/client.py",
    lacks() {
      const version = output("python3", ["-c", "import sys; print('%d.%d' % sys.version_info[:2])"]);
      if (version === undefined) return "no python3";
      if (!atLeast(version, "3.10")) return `python3 is ${version}, the SDK needs 3.10`;
      if (output("python3", ["-c", "import venv, ensurepip"]) === undefined) return "python3 has no venv";
    },
    make(source) {
      const python = environment("python", "requirements.txt");
      return () => ({ command: python, args: [source] });
    },
  },

  gremlin: {
    program: "python/graph.py",
    lacks: () => toolchains.python.lacks(),
    make(source) {
      const python = environment("python-graph", "graph_requirements.txt");
      return () => ({ command: python, args: [source] });
    },
  },

  pymongo: {
    program: "python/documents.py",
    lacks: () => toolchains.python.lacks(),
    make(source) {
      const python = environment("python-documents", "documents_requirements.txt");
      return () => ({ command: python, args: [source] });
    },
  },

  mongosh: {
    program: "mongosh/shell.js",
    lacks() {
      if (output("npm", ["--version"]) === undefined) return "no npm";
    },
    make(source) {
      const folder = join(built, "mongosh");
      const lock = join(here, "mongosh/package-lock.json");
      once(join(folder, "installed"), readFileSync(lock, "utf8"), () => {
        for (const file of [lock, join(here, "mongosh/package.json")]) copyFileSync(file, join(folder, basename(file)));
        run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error"], { cwd: folder });
      });
      // Its settings and history belong to whoever runs it.
      return (server) => ({ command: join(folder, "node_modules/.bin/mongosh"), env: { HOME: folder },
        args: ["--quiet", "--norc", `mongodb://127.0.0.1:${server.mongoPort}/`, "--file", source] });
    },
  },

  go: {
    program: "go/client.go",
    lacks() {
      const version = output("go", ["env", "GOVERSION"])?.trim().replace("go", "");
      const wanted = readFileSync(join(here, "go/go.mod"), "utf8").match(/^go (\d+\.\d+)/m)[1];
      if (version === undefined) return "no go";
      if (!atLeast(version, wanted)) return `go is ${version}, the SDK needs ${wanted}`;
    },
    make(source, name) {
      const folder = join(built, "go", name);
      const program = join(built, "go", `${name}.out`);
      mkdirSync(folder, { recursive: true });
      for (const file of ["go.mod", "go.sum"]) copyFileSync(join(here, "go", file), join(folder, file));
      copyFileSync(source, join(folder, "main.go"));
      run("go", ["build", "-o", program, "."], { cwd: folder });
      return (server) => ({ command: program, args: [], env: { SSL_CERT_FILE: certificate(server) } });
    },
  },

  java: {
    program: "java/Client.java",
    modes: ["gateway", "direct"],
    lacks() {
      if (output("mvn", ["-version"]) === undefined) return "no mvn";
      const version = output("javac", ["-version"])?.trim().replace("javac ", "");
      if (version === undefined) return "no javac";
      if (!atLeast(version, "17")) return `javac is ${version}, the program needs 17`;
    },
    make(source, name) {
      const list = join(built, "java/classpath");
      const classes = join(built, "java", name);
      once(join(built, "java/resolved"), readFileSync(join(here, "java/pom.xml"), "utf8"), () =>
        run("mvn", ["--quiet", "--batch-mode", "--file", join(here, "java/pom.xml"),
          "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath", `-Dmdep.outputFile=${list}`]));
      const path = `${classes}:${readFileSync(list, "utf8").trim()}`;
      run("javac", ["-d", classes, "-cp", path, source]);
      return (server) => {
        const store = join(built, "java", `${name}.p12`);
        rmSync(store, { force: true });
        run("keytool", ["-importcert", "-noprompt", "-alias", "orrery", "-file", certificate(server),
          "-keystore", store, "-storepass", "orrery"]);
        const main = source.match(/(\w+)\.java$/)[1];
        return { command: "java", args: [`-Djavax.net.ssl.trustStore=${store}`,
          "-Djavax.net.ssl.trustStorePassword=orrery", "-cp", path, main] };
      };
    },
  },

  // Of JavaScript there is only the first program: tests/sdk is the rest.
  js: {
    lacks() {},
    make(source) {
      const link = join(dirname(source), "node_modules");
      if (!existsSync(link)) symlinkSync(join(here, "../sdk/node_modules"), link);
      return (server) => ({ command: process.execPath, args: [source], env: { NODE_EXTRA_CA_CERTS: certificate(server) } });
    },
  },
};

// Where a program from elsewhere is put before it is made.
export function workFolder(language) {
  const folder = join(built, "first", language);
  mkdirSync(folder, { recursive: true });
  return folder;
}

const certificate = (server) => join(server.data, "cert.pem");

// A Python of its own with the packages of a list beside the programs: its path.
function environment(name, list) {
  const folder = join(built, name);
  const requirements = join(here, "python", list);
  once(join(folder, "installed"), readFileSync(requirements, "utf8"), () => {
    rmSync(folder, { recursive: true, force: true });
    run("python3", ["-m", "venv", folder]);
    run(join(folder, "bin/python"), ["-m", "pip", "install", "--quiet", "--require-hashes", "--only-binary", ":all:",
      "-r", requirements]);
  });
  return join(folder, "bin/python");
}

// Does it unless the stamp says that it was done for the same text.
function once(stamp, text, action) {
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === text) return;
  mkdirSync(dirname(stamp), { recursive: true });
  action();
  writeFileSync(stamp, text);
}

function run(command, args, options = {}) {
  execFileSync(command, args, { stdio: ["ignore", 2, 2], ...options });
}

// What a command prints, or undefined when it is not there or fails.
function output(command, args) {
  try {
    return execFileSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  } catch {
    return undefined;
  }
}

function atLeast(version, wanted) {
  const [a, b] = [version, wanted].map((text) => text.split(".").map((part) => parseInt(part)));
  return a[0] !== b[0] ? a[0] > b[0] : (a[1] ?? 0) >= (b[1] ?? 0);
}
