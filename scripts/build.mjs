// Bundles src into dist: the command line as two files, the everyday one and the rest, whose parts run when needed.
import { build, transform } from "esbuild";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const TARGET = "node20.19";
const ENTRY = "cli.js";
/** What `askd`, `askd status` and `askd --help` use, directly or by imports. The rest is read when something needs it. */
const EVERYDAY = [
  "cli/main",
  "cli/help",
  "cli/commands/inspect/status",
  "cli/make-context",
  "app",
  "store/sqlite/sqlite",
  "store/sqlite/read-only",
  "agents/runner/machine-id",
];

const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));

/** What browsers load, each as one small text that the server keeps in memory. */
async function bundleForBrowsers(entry) {
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: [entry],
    write: false,
    bundle: true,
    minify: true,
    charset: "utf8",
    target: ["chrome111", "firefox113", "safari16.4"],
    format: "iife",
    logLevel: "warning",
  });
  return outputFiles[0].text.trim();
}

/** Our pages run from left to right and from top to bottom, where these shorter names mean the same. */
const SHORTER = {
  "inline-size": "width",
  "block-size": "height",
  "-block-start": "-top",
  "-block-end": "-bottom",
  "-inline-start": "-left",
  "-inline-end": "-right",
};
function shorten(css) {
  return css.replace(/(?<=[{;])[a-z-]+(?=:)/g, (property) => {
    const name = property.replace(/inline-size|block-size|-(?:block|inline)-(?:start|end)/, (part) => SHORTER[part]);
    return name.replace(/^inset-(?=top|bottom|left|right)/, "");
  });
}
const ASSETS = {
  script: await bundleForBrowsers("src/web/client/main.ts"),
  style: shorten(await bundleForBrowsers("src/web/style/main.css")),
  besideStyle: shorten(await bundleForBrowsers("src/web/style/main-beside.css")),
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
// so each part becomes a function in a CommonJS file, called when the part is first needed.
const { outputFiles, metafile } = await build({
  absWorkingDir: ROOT,
  entryPoints: { cli: "src/cli/main.ts" },
  outdir: join(ROOT, "dist"),
  write: false,
  metafile: true,
  bundle: true,
  splitting: true,
  chunkNames: "part-[hash]",
  platform: "node",
  mainFields: ["module", "main"], // what some packages offer as "main" cannot be bundled
  target: TARGET,
  format: "esm",
  external: ["pg-native", "@photostructure/sqlite"],
  define: { ASKD_VERSION: JSON.stringify(version), ASKD_ASSETS: JSON.stringify(ASSETS) },
  plugins: [zodNamespace],
  logLevel: "warning",
});
const zodParts = new Set(outputFiles.filter(isZod).map(({ path }) => `./${basename(path)}`));
const everyday = everydayParts();
const [often, seldom, libraries] = await Promise.all(
  ["everyday", "seldom", "library"].map((use) =>
    Promise.all(outputFiles.filter((part) => useOf(part) === use).map(asFunction)),
  ),
);
const firstReplies = await recordFirstReplies();
write(join(ROOT, "dist", "first-replies.json"), `${JSON.stringify(firstReplies)}\n`);
writeProgram({ "library.cjs": rest(libraries), "rest.cjs": rest(seldom), "cli.cjs": program(often) }); // the one that needs the others comes last

/** What `askd mcp` replies before it is loaded, as the server itself replies it. */
async function recordFirstReplies() {
  const outfile = join(ROOT, ".cache", `first-replies.${process.pid}.mjs`);
  await build({
    absWorkingDir: ROOT,
    stdin: {
      contents: `import * as sdk from "@modelcontextprotocol/server";
        import { recordFirstReplies } from "./src/server/mcp/first-replies.ts";
        import { DEFAULT_TOOLS } from "./src/server/mcp/tool.ts";
        export const replies = await recordFirstReplies(sdk, { version: ${JSON.stringify(version)}, offered: DEFAULT_TOOLS });`,
      resolveDir: ROOT,
      loader: "ts",
    },
    outfile,
    bundle: true,
    platform: "node",
    target: TARGET,
    format: "esm",
    packages: "external",
    logLevel: "warning",
  });
  try {
    return (await import(pathToFileURL(outfile).href)).replies;
  } finally {
    rmSync(outfile, { force: true });
  }
}

/** The names of the parts that everyday commands load, found by following their imports. */
function everydayParts() {
  const names = new Set();
  const add = (path) => {
    if (names.has(basename(path)) || zodParts.has(`./${basename(path)}`)) return;
    names.add(basename(path));
    const { imports } = metafile.outputs[path];
    for (const next of imports) if (next.kind === "import-statement" && !next.external) add(next.path);
  };
  for (const [path, { entryPoint }] of Object.entries(metafile.outputs)) {
    if (EVERYDAY.some((name) => entryPoint === `src/${name}.ts`)) add(path);
  }
  return names;
}

/** Says whether a part is nothing but the library that makes schemas. */
function isZod(part) {
  return isAllFrom(part, "// node_modules/zod/");
}

function isAllFrom({ text }, start) {
  const files = text.match(/^\/\/ (src|node_modules)\/.*/gm) ?? [];
  return files.length > 0 && files.every((file) => file.startsWith(start));
}

/** The file that a part goes to. Other libraries than that for schemas have one of their own: few commands read them. */
function useOf(part) {
  if (everyday.has(basename(part.path))) return "everyday";
  return isAllFrom(part, "// node_modules/") && !isZod(part) ? "library" : "seldom";
}

/** One part as a CommonJS function; names of functions stay, as they are what a stack trace shows. */
async function asFunction({ path, text }) {
  const schemas = schemasOf(text);
  const { code: plain } = await transform(text, {
    format: "cjs",
    platform: "node",
    target: TARGET,
    supported: { "dynamic-import": false },
    define: { "import.meta.url": "ownUrl" },
  });
  const { code } = await transform(makeLater(plain, schemas), {
    target: TARGET,
    minifyWhitespace: true,
    minifySyntax: true,
    define: Object.fromEntries(schemas.map((name) => [name, `$schemas.${name}`])),
  });
  return `${JSON.stringify(`./${basename(path)}`)}(module,exports,require){${lazily(ascii(code))}}`;
}

/** Schemas, and the constants that are made of them: what has a capital name at the top of a file and comes from a call. */
function schemasOf(text) {
  const files = text.split(/^(?=\/\/ (?:src|node_modules)\/)/m).filter((file) => file.startsWith("// src/"));
  return files.flatMap((file) => [...file.matchAll(/^var ([A-Z]\w*) = [A-Za-z_]\w*[.(]/gm)].map(([, name]) => name));
}

/** Making all schemas takes longer than most commands do, so each is made when it is first used. */
function makeLater(code, names) {
  const later = names.reduce((done, name) => {
    const statement = new RegExp(`^var ${name} = ((?:.*\\n(?=[\\s)}\\]]))*.*);$`, "m");
    return done.replace(statement, (_, made) => `$later($schemas, "${name}", () => ${made});`);
  }, code);
  return names.length > 0 ? `const $schemas = {};\n${later}` : code;
}

/** One character that is not in Latin-1 makes V8 keep the whole program in two bytes each. */
function ascii(code) {
  return code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/**
 * Modules of Node, and what makes schemas, are loaded when something of them is first used; those that every start has
 * loaded stay as they are.
 */
function lazily(code) {
  return code.replace(/(\bimport_\w+=)require\("([^"]+)"\)/g, (whole, variable, name) =>
    /^node:(?!fs$|path$)/.test(name) || zodParts.has(name) ? `${variable}$lazy("${name}")` : whole,
  );
}

function program(functions) {
  return `const nodeRequire=require,loaded={},ownUrl=require("node:url").pathToFileURL(__filename).href;
const parts={${functions.join(",\n")}};
let others,libraries;
function load(name){
if(!name.startsWith("./"))return nodeRequire(name);
let module=loaded[name];
if(!module){
const part=parts[name]??(others??=loadProgram("rest.cjs")($lazy,$later,ownUrl))[name]
??(libraries??=loadProgram("library.cjs")($lazy,$later,ownUrl))[name];
module=loaded[name]={exports:{}};
part(module,module.exports,load)}
return module.exports}
function $lazy(name){let own;return new Proxy({},{get:(_,key)=>(own??=load(name))[key]})}
function $later(schemas,name,make){
Object.defineProperty(schemas,name,{configurable:true,get(){
const value=make();
Object.defineProperty(schemas,name,{value});
return value}})}
module.exports=load("./${ENTRY}");
`;
}

function rest(functions) {
  return `module.exports=($lazy,$later,ownUrl)=>({${functions.join(",\n")}});\n`;
}

/** The first line of each file names the build: what is cached for it is good for this text only. */
function writeProgram(files) {
  const build = createHash("sha256").update(Object.values(files).join("")).digest("hex").slice(0, 32);
  for (const [name, body] of Object.entries(files)) write(join(ROOT, "dist", name), `/*${build}*/\n${body}`);
}

/** By rename, so that a command started meanwhile finds a whole program. */
function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, text);
  renameSync(draft, path);
}
