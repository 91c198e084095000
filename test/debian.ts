import { spawnSync } from "node:child_process";

/** Makes sure that a program is on this machine, from Debian's packages where it is missing. */
export function ensureProgram(program: string, debianPackage = program): void {
  if (isThere(program)) return;
  const install = `apt-get install -y --no-install-recommends ${debianPackage}`;
  process.stderr.write(`Installing ${debianPackage} ...\n`);
  for (const args of [["update", "-qq"], install.split(" ").slice(1)]) {
    spawnSync("apt-get", args, { stdio: ["ignore", 2, 2], env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } });
  }
  if (!isThere(program)) throw new Error(`The tests need ${program}. Install it as root: ${install}`);
}

function isThere(program: string): boolean {
  return spawnSync("sh", ["-c", 'command -v "$0"', program]).status === 0;
}
