// Bundles src into dist: the command line as one file whose parts run when they are needed.
import { build, transform } from "esbuild";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const TARGET = "node20.19";
const ENTRY = "cli.js";

const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));

/** What browsers load, each as one small text that the server keeps in memory. */
async function bundleForBrowsers(entry) {
  const { outputFiles } = await build({
    ...{ absWorkingDir: ROOT, entryPoints: [entry], write: false, bundle: true, minify: true, charset: "utf8" },
    ...{ target: ["chrome111", "firefox113", "safari16.4"], format: "iife", logLevel: "warning" },
  });
  return outputFiles[0].text.trim();
}
const ASSETS = {
  script: await bundleForBrowsers("src/web/client/main.ts"),
  style: await bundleForBrowsers("src/web/style/main.css"),
};

/** The `z` object keeps all of zod in the bundle (450 kB); as a namespace only what is used stays (85 kB). */
const zodNamespace = {
  name: "zod-namespace",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, "utf8").replace('import { z } from "zod";', 'import * as z from "zod";'),
      loader: "ts",
    }));
  },
};

// Code splitting decides which parts run together. Many small ES modules start slowly, though (20 files: 30 ms),
// so each part becomes a function in one CommonJS file, called when the part is first needed.
const { outputFiles } = await build({
  absWorkingDir: ROOT,
  entryPoints: { cli: "src/cli/main.ts" },
  outdir: join(ROOT, "dist"),
  write: false,
  bundle: true,
  splitting: true,
  chunkNames: "part-[hash]",
  platform: "node",
  mainFields: ["module", "main"], // what some packages offer as "main" cannot be bundled
  target: TARGET,
  format: "esm",
  external: ["pg", "@photostructure/sqlite", "@modelcontextprotocol/server", "markdown-it"],
  define: { ASKD_VERSION: JSON.stringify(version), ASKD_ASSETS: JSON.stringify(ASSETS) },
  plugins: [zodNamespace],
  logLevel: "warning",
});
const parts = await Promise.all(outputFiles.map(asFunction));
write(join(ROOT, "dist", "cli.cjs"), program(parts));

/** One part as a CommonJS function; names of functions stay, as they are what a stack trace shows. */
async function asFunction({ path, text }) {
  const { code } = await transform(text, {
    format: "cjs",
    platform: "node",
    target: TARGET,
    minifyWhitespace: true,
    minifySyntax: true,
    supported: { "dynamic-import": false },
    define: { "import.meta.url": "ownUrl" },
  });
  return `${JSON.stringify(`./${basename(path)}`)}(module,exports,require){${lazily(ascii(code))}}`;
}

/** One character that is not in Latin-1 makes V8 keep the whole program in two bytes each. */
function ascii(code) {
  return code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Modules of Node are loaded when something of them is first used; those that every start has loaded stay as they are. */
function lazily(code) {
  return code.replace(/(\bimport_node_\w+=)require\("(node:(?!fs"|path")[\w/]+)"\)/g, '$1lazy("$2")');
}

function program(functions) {
  const body = `const nodeRequire=require,loaded={},ownUrl=require("node:url").pathToFileURL(__filename).href;
const parts={${functions.join(",\n")}};
function load(name){
if(!Object.hasOwn(parts,name))return nodeRequire(name);
let module=loaded[name];
if(!module){module=loaded[name]={exports:{}};parts[name](module,module.exports,load)}
return module.exports}
function lazy(name){let own;return new Proxy({},{get:(_,key)=>(own??=nodeRequire(name))[key]})}
module.exports=load("./${ENTRY}");
`;
  // The first line names the build: what is cached for it is good for this text only.
  return `/*${createHash("sha256").update(body).digest("hex").slice(0, 32)}*/\n${body}`;
}

/** By rename, so that a command started meanwhile finds a whole program. */
function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, text);
  renameSync(draft, path);
}
