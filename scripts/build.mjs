// Bundles src into dist: the command line with its parts loaded when used, and the library.
import { build } from "esbuild";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const DIST = join(ROOT, "dist");
const ENTRIES = { cli: "src/cli/main.ts", index: "src/index.ts" };

const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));

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

const { outputFiles } = await build({
  absWorkingDir: ROOT,
  entryPoints: Object.fromEntries(Object.entries(ENTRIES).filter(([, file]) => existsSync(join(ROOT, file)))),
  outdir: DIST,
  write: false,
  bundle: true,
  splitting: true,
  chunkNames: "part-[hash]",
  platform: "node",
  target: "node20.19",
  format: "esm",
  minify: true,
  sourcemap: "linked",
  sourcesContent: false,
  external: ["pg", "@photostructure/sqlite", "node:sqlite"],
  define: { ASKD_VERSION: JSON.stringify(version) },
  plugins: [zodNamespace],
  logLevel: "warning",
});

// Parts come first and entries last, each by rename, so that a command started meanwhile finds a whole program.
mkdirSync(DIST, { recursive: true });
const isEntry = ({ path }) => Object.hasOwn(ENTRIES, basename(path).split(".")[0]);
for (const file of [...outputFiles].sort((a, b) => Number(isEntry(a)) - Number(isEntry(b)))) {
  const draft = `${file.path}.${process.pid}`;
  writeFileSync(draft, file.contents);
  renameSync(draft, file.path);
}
const built = new Set(outputFiles.map(({ path }) => basename(path)));
for (const name of readdirSync(DIST)) {
  if (name.startsWith("part-") && !built.has(name)) rmSync(join(DIST, name), { force: true });
}
