import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

/** One change of a source file before it is built. Its text has to be there: an edit that fits nowhere is an error. */
export interface Edit {
  file: string;
  find: RegExp;
  put: string;
}

/** The whole program, built from changed sources into a folder of its own. */
export interface Variant {
  bin: string;
  remove(): void;
}

/** Waits of the product that a proof cannot sit through: grace periods, heartbeats, leases and retries. */
const WAITS: ReadonlyArray<readonly [string, readonly string[]]> = [
  ["src/core/rules.ts", ["HANDOVER_GRACE_MS"]],
  ["src/core/run/run-ownership.ts", ["OWNERSHIP_MS", "RETRY_MS"]],
  ["src/agents/runner/follower.ts", ["ASKED_GRACE_MS"]],
  ["src/agents/process/stop.ts", ["GRACE_MS"]],
  ["src/agents/runner/starter.ts", ["WAIT_MS"]],
  ["src/agents/runner/worker-row.ts", ["BEAT_MS", "SILENT_MS"]],
  ["src/engine/jobs/worker.ts", ["LEASE_MS"]],
  ["src/engine/jobs/job-retry.ts", ["URGENT_RETRY_MS", "RETRY_MS"]],
];

let variants = 0;

/** Makes every wait so many times as long, be it one or a ladder of several. */
export function scaleWaits(scale: number): Edit[] {
  const scaled = `(_, each) => (typeof each === "number" ? Math.round(each * ${scale}) : each)`;
  return WAITS.flatMap(([file, names]) =>
    names.map((name) => ({
      file,
      find: new RegExp(`^((?:export )?const ${name}) = (.+?)(?: as const)?;$`, "m"),
      put: `$1 = (JSON.parse(JSON.stringify($2), ${scaled}));`,
    })),
  );
}

/** Builds the program with the build script of the package from a changed copy of its sources. */
export async function buildVariant(edits: readonly Edit[]): Promise<Variant> {
  // Inside the package, so that its dependencies are found.
  const root = resolve(".cache", "proof", `variant.${process.pid}.${(variants += 1)}`);
  rmSync(root, { recursive: true, force: true });
  mkdirSync(join(root, "scripts"), { recursive: true });
  for (const name of ["src", "bin", "package.json", "tsconfig.json", "scripts/build.mjs"])
    cpSync(resolve(name), join(root, name), { recursive: true });
  for (const edit of edits) apply(root, edit);
  await promisify(execFile)(process.execPath, [join(root, "scripts", "build.mjs")], { cwd: root });
  return { bin: join(root, "bin", "askd"), remove: () => rmSync(root, { recursive: true, force: true }) };
}

function apply(root: string, { file, find, put }: Edit): void {
  const path = join(root, file);
  const before = readFileSync(path, "utf8");
  if (!find.test(before)) throw new Error(`${file} has nothing like ${find.source}: the edit has to follow the source`);
  writeFileSync(path, before.replace(find, put));
}
