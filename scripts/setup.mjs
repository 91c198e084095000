// Makes the working tree ready: installs and builds what is missing or out of date, and nothing else.
import { spawnSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const INSTALLED = join(ROOT, "node_modules", ".package-lock.json");
const BUILT = join(ROOT, "dist", "cli.cjs");

if (changedAt(INSTALLED) < changedAt(join(ROOT, "package-lock.json"))) {
  step("Installing dependencies", "npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
}
if (changedAt(BUILT) < newestIn([join(ROOT, "src"), join(ROOT, "scripts", "build.mjs"), INSTALLED])) {
  step("Building dist", process.execPath, [join(ROOT, "scripts", "build.mjs")]);
}

function step(name, command, args) {
  const startedAt = Date.now();
  process.stderr.write(`${name} ...\n`);
  // Windows finds npm only through its shell; the arguments above are constants.
  const { status, error } = spawnSync(command, args, {
    cwd: ROOT,
    stdio: ["ignore", 2, 2],
    shell: process.platform === "win32" && command === "npm",
  });
  if (status !== 0) {
    process.stderr.write(`${name} failed${error ? `: ${error.message}` : ""}. Try: ${command} ${args.join(" ")}\n`);
    process.exit(1);
  }
  process.stderr.write(`${name} done in ${((Date.now() - startedAt) / 1000).toFixed(1)} s\n`);
}

/** The time of the last change in milliseconds; 0 for what is not there. */
function changedAt(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** The newest change in these files and folders; a folder's own time tells of deleted files. */
function newestIn(paths) {
  return paths.reduce((newest, path) => {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (!stat) return newest;
    const inside = stat.isDirectory() ? newestIn(readdirSync(path).map((name) => join(path, name))) : 0;
    return Math.max(newest, stat.mtimeMs, inside);
  }, 0);
}
