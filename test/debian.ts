import { spawnSync } from "node:child_process";

/** One process installs at a time: a second one would find Debian's own locks taken, and give up. */
const LOCK = "/var/lock/askd-tests";

/** Makes sure that a program is on this machine, from Debian's packages where it is missing. */
export function ensureProgram(program: string, debianPackage = program): void {
  installPrograms({ [program]: debianPackage });
  if (!isThere(program)) {
    throw new Error(`The tests need ${program}. Install it as root: apt-get install ${debianPackage}`);
  }
}

/** Installs the missing ones of these programs, by the names of their packages; tests that need one say if it failed. */
export function installPrograms(packages: Readonly<Record<string, string>>): void {
  const missing = listMissing(packages);
  if (missing.length === 0) return;
  process.stderr.write(`Installing ${missing.join(", ")} ...\n`);
  const script = 'apt-get update -qq; exec apt-get install -y --no-install-recommends "$@"';
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  spawnSync("flock", [LOCK, "sh", "-c", script, "sh", ...missing], { stdio: ["ignore", 2, 2], env });
}

function listMissing(packages: Readonly<Record<string, string>>): string[] {
  return Object.keys(packages).flatMap((program) => (isThere(program) ? [] : (packages[program] ?? [])));
}

function isThere(program: string): boolean {
  return spawnSync("sh", ["-c", 'command -v "$0"', program]).status === 0;
}
