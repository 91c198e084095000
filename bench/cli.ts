import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median } from "./loop.ts";

const ROUNDS = Number(process.argv[2] ?? 30);
const ASKD = join("bin", "askd");

const home = mkdtempSync(join(tmpdir(), "askd-bench-"));
// Node parses the file that this names at every start: it would hide what our own start costs.
const { NODE_EXTRA_CA_CERTS: _certificates, ...inherited } = process.env;
const env = { ...inherited, ASKD_HOME: home };
const subjects: Array<{ name: string; argv: string[] }> = [
  { name: "node -e 0", argv: ["-e", "0"] },
  { name: "askd --help", argv: [ASKD, "--help"] },
  { name: "askd status", argv: [ASKD, "status"] },
  { name: "askd answer (refused)", argv: [ASKD, "answer", "-", "1"] },
];

try {
  // A store with something in it, and the first start of each behind us.
  for (const question of ["Redis or Memcached?", "JWT or cookies?"])
    spawnSync(process.execPath, [ASKD, "ask", question], { env });
  for (const { argv } of subjects) spawnSync(process.execPath, argv, { env });
  const times = subjects.map((): number[] => []);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [index, { argv }] of subjects.entries()) times[index]?.push(timed(argv));
  }
  const floor = median(times[0] ?? []);
  console.log(`cold start, ${ROUNDS} rounds in turn, Node ${process.versions.node}; goal: within 2x of node -e 0`);
  console.table(
    subjects.map(({ name }, index) => {
      const all = times[index] ?? [];
      return {
        "": name,
        "median ms": median(all).toFixed(1),
        "lowest ms": Math.min(...all).toFixed(1),
        ratio: (median(all) / floor).toFixed(2),
      };
    }),
  );
} finally {
  rmSync(home, { recursive: true, force: true });
}

function timed(argv: string[]): number {
  const started = performance.now();
  spawnSync(process.execPath, argv, { env, stdio: ["ignore", "pipe", "ignore"] }); // as in $(askd status)
  return performance.now() - started;
}
