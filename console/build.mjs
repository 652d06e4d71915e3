// Makes the console out of its sources, and a C++ file that holds it:
//   node console/build.mjs OUT.cc
// Installs the packages that package-lock.json names when that has changed. Where they cannot be had
// (no network, no npm), the program is built with a page that says so, and the next build tries again.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] && resolve(process.argv[2]);
const dist = out ? join(dirname(out), "console") : join(here, "dist");

function install() {
  const stamp = join(here, "node_modules", ".installed");
  const lock = join(here, "package-lock.json");
  if (existsSync(stamp) && statSync(stamp).mtimeMs >= statSync(lock).mtimeMs) return;
  execFileSync("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: here, stdio: ["ignore", "inherit", "inherit"],
  });
  writeFileSync(stamp, "");
}

const types = {
  html: "text/html; charset=utf-8", js: "text/javascript; charset=utf-8", css: "text/css; charset=utf-8",
  svg: "image/svg+xml", woff2: "font/woff2",
};
const hashed = (bytes) => createHash("sha256").update(bytes).digest("hex").slice(0, 12);

// The files by their path below /console/.
async function bundle() {
  const { build } = await import(pathToFileURL(join(here, "node_modules/esbuild/lib/main.js")));
  const made = await build({
    entryPoints: { app: join(here, "src/main.tsx") },
    bundle: true, minify: true, write: false, format: "esm", target: "es2021",
    outdir: dist, entryNames: "assets/[name]-[hash]", assetNames: "assets/[name]-[hash]",
    jsx: "automatic", jsxImportSource: "preact", loader: { ".woff2": "file" },
    legalComments: "none", logLevel: "warning", absWorkingDir: here, publicPath: "/console",
    define: { "process.env.NODE_ENV": '"production"' },
  });
  const files = new Map(made.outputFiles.map((one) =>
    [one.path.slice(dist.length + 1), Buffer.from(one.contents)]));
  const icon = readFileSync(join(here, "src/icon.svg"));
  const iconPath = `assets/icon-${hashed(icon)}.svg`;
  files.set(iconPath, icon);
  const [script] = [...files.keys()].filter((path) => path.endsWith(".js"));
  const [style] = [...files.keys()].filter((path) => path.endsWith(".css"));
  const fonts = [...files.keys()].filter((path) => path.endsWith(".woff2"));
  const page = readFileSync(join(here, "src/index.html"), "utf8")
    .replace("SCRIPT", script).replace("STYLE", style).replace("ICON", iconPath)
    .replace("<!-- FONTS -->", fonts.map((path) =>
      `<link rel="preload" href="${path}" as="font" type="font/woff2" crossorigin>`).join(""));
  files.set("", Buffer.from(page));
  return files;
}

function placeholder(reason) {
  const text = `<!doctype html><html lang="en"><title>Orrery</title><h1>The console is not in this program</h1>
<p>Its packages could not be had when the program was built: ${reason.replace(/[<>&]/g, " ")}</p>
<p>Build again with npm and its registry within reach. Everything else works.</p></html>`;
  return new Map([["", Buffer.from(text)]]);
}

const typeOf = (path) => types[path === "" ? "html" : path.split(".").pop()];

// The bytes are taken in by the assembler: no compiler reads them.
function write(files) {
  rmSync(dist, { recursive: true, force: true });
  mkdirSync(dist, { recursive: true });
  const rows = [];
  const pieces = [];
  let n = 0;
  for (const [path, bytes] of files) {
    const gzipped = !path.endsWith(".woff2");
    const file = join(dist, `${n}.bin`);
    writeFileSync(file, gzipped ? gzipSync(bytes, { level: 9 }) : bytes);
    pieces.push(`".global orrery_asset_${n}\\norrery_asset_${n}:\\n.incbin \\"${file}\\"\\n"
    ".global orrery_asset_${n}_end\\norrery_asset_${n}_end:\\n.byte 0\\n"`);
    rows.push({ n, path, type: typeOf(path), gzipped, size: statSync(file).size });
    ++n;
  }
  const text = `// Made by console/build.mjs: the files of the console.
#include <array>

#include "console/assets.h"

__asm__(
    ".section .rodata.orrery_console,\\"a\\",@progbits\\n"
    ${pieces.join("\n    ")}
    ".previous\\n");

extern "C" {
${rows.map(({ n }) => `extern const char orrery_asset_${n}[];`).join("\n")}
}

namespace orrery::console {

std::span<const Asset> assets() {
  static const std::array<Asset, ${rows.length}> all = {
${rows.map(({ n, path, type, gzipped, size }) =>
    `      Asset{"${path}", "${type}", ${gzipped}, {orrery_asset_${n}, ${size}}},`).join("\n")}
  };
  return all;
}

}  // namespace orrery::console
`;
  writeFileSync(out, text);
}

let files;
let failure;
try {
  install();
} catch (error) {
  failure = `npm ci: ${error.message.split("\n")[0]}`;
}
if (failure === undefined) {
  files = await bundle();
} else {
  console.error(`The console is left out of the program: ${failure}`);
  files = placeholder(failure);
}
if (out) {
  write(files);
  // Older than its sources: the next build tries again.
  if (failure !== undefined) utimesSync(out, 1, 1);
} else {
  let sum = 0;
  for (const [path, bytes] of files) {
    const size = path.endsWith(".woff2") ? bytes.length : gzipSync(bytes, { level: 9 }).length;
    sum += size;
    console.log(`${String(size).padStart(8)}  ${path || "index.html"}`);
  }
  console.log(`${String(sum).padStart(8)}  compressed, in all`);
}
