// The whole gate: format, lint, types, unused code, package, tests. Stops at the first step that fails.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const BIN = join(ROOT, "node_modules", ".bin");

const STEPS = [
  ["setup", process.execPath, [join(ROOT, "scripts", "setup.mjs")]],
  ["format", join(BIN, "oxfmt"), ["--check"]],
  ["lint", join(BIN, "oxlint"), ["--type-aware", "--deny-warnings"]],
  ["types", join(BIN, "tsc"), ["-p", "."]],
  ["script", join(BIN, "tsc"), ["-p", join("src", "web", "client")]],
  ["unused", join(BIN, "knip"), []],
  ["package", join(BIN, "publint"), ["--strict", "--pack", "npm"]],
  ["tests", join(BIN, "vitest"), ["run"]],
];

const startedAt = Date.now();
for (const [name, command, args] of STEPS) run(name, command, args);
process.stdout.write(`all     ${seconds(startedAt)}\n`);

function run(name, command, args) {
  const stepStartedAt = Date.now();
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: ROOT,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    shell: process.platform === "win32",
  });
  if (status === 0) {
    process.stdout.write(`${name.padEnd(8)}${seconds(stepStartedAt)}\n`);
    return;
  }
  process.stdout.write(`${name.padEnd(8)}failed after ${seconds(stepStartedAt)}\n`);
  process.stderr.write(`${stdout ?? ""}${stderr ?? ""}${error ? `${error.message}\n` : ""}`);
  process.exit(1);
}

function seconds(since) {
  return `${((Date.now() - since) / 1000).toFixed(1)} s`;
}
