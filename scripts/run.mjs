// Runs one TypeScript file: node scripts/run.mjs <file.ts> [arguments]
import { build } from "esbuild";
import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const [file, ...args] = process.argv.slice(2);
if (!file) {
  process.stderr.write("usage: node scripts/run.mjs <file.ts> [arguments]\n");
  process.exit(2);
}

const entry = resolve(file);
const name = relative(ROOT, entry).replace(/[^\w.-]/g, "_");
const outfile = join(ROOT, ".cache", "run", `${name}.${process.pid}.mjs`);
await build({
  entryPoints: [entry],
  outfile,
  bundle: true,
  platform: "node",
  target: "node20.19",
  format: "esm",
  packages: "external",
  sourcemap: "inline",
  logLevel: "warning",
}).catch(() => process.exit(1));

const child = spawn(process.execPath, [...process.execArgv, "--enable-source-maps", outfile, ...args], {
  stdio: "inherit",
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code, signal) => {
  rmSync(outfile, { force: true });
  if (!signal) process.exit(code ?? 1);
  // Ends by the same signal, so that the caller sees what ended the program.
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
