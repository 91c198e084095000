// Plays the tests with real agents at other versions: node scripts/run.mjs test/e2e/versions.ts matrix|newest [files] [-t name]
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { PINNED, type ProgramName, VERSIONS_ENV } from "./install.ts";

type Versions = Partial<Record<ProgramName, string>>;

/** Older versions, and what they are known for. */
const OLDER: readonly Versions[] = [
  // The first that can put a question off.
  { claude: "2.1.89", codex: "0.162.0", gemini: "0.53.0" },
  // Loses the result of a question that shared a turn.
  { claude: "2.1.110", codex: "0.164.0", gemini: "0.57.0" },
  // The first seen that hides its question tool without a permission prompt tool.
  { claude: "2.1.200", codex: "0.165.0", gemini: "0.60.0" },
];
const FOLDER = "test/e2e";
/** Files that older versions do not play, and why; they play all others. */
const NOT_FOR_OLDER: Readonly<Record<string, string>> = {
  "action-crash.e2e.ts": "kills the action, not an agent",
  "agent-command.e2e.ts": "compares records with those of the pinned versions",
  "by-hand.e2e.ts": "sessions that a person starts are promised for the pinned versions",
  "codex-app.e2e.ts": "needs the app server of a newer Codex",
  "doctor.e2e.ts": "measures the pinned version",
  "hook.e2e.ts": "sessions that a person starts are promised for the pinned versions",
  "init.e2e.ts": "settings are written as the pinned versions read them",
  "mutt.e2e.ts": "starts no agent",
  "older-claude.e2e.ts": "names its versions itself",
  "opencode-serve.e2e.ts": "needs the server of a newer OpenCode",
  "package.e2e.ts": "starts no agent",
  "permission-by-hand.e2e.ts": "sessions that a person starts are promised for the pinned versions",
  "permission.e2e.ts": "2.1.110 is told a refusal twice if a hook of its user parked the call; all else holds there",
  "pgbouncer.e2e.ts": "is about the store",
  "planted-walk.e2e.ts": "is about faults in askd",
  "plugin.e2e.ts": "is validated as the pinned versions do",
  "postgres-full.e2e.ts": "is about the store",
  "postgres-restore.e2e.ts": "is about the store",
  "proxy.e2e.ts": "is about the server",
  "restart.e2e.ts": "needs a client that resumes a stream",
  "second-by-hand.e2e.ts": "sessions that a person starts are promised for the pinned versions",
  "session.e2e.ts": "sessions that a person starts are promised for the pinned versions",
  "workflow.e2e.ts": "resumes an agent as run.e2e.ts does",
};

const Report = z.looseObject({
  numPassedTests: z.number(),
  testResults: z.array(
    z.looseObject({ assertionResults: z.array(z.looseObject({ fullName: z.string(), status: z.string() })) }),
  ),
});

interface Played {
  said: string;
  passed: number;
  failed: string[];
}

/** Plays the tests at these versions and returns what failed. */
function play(versions: Versions, files: readonly string[]): Played {
  const said = sayVersions(versions);
  process.stderr.write(`\n== ${said}\n`);
  const dir = mkdtempSync(join(tmpdir(), "askd-versions-"));
  const output = join(dir, "report.json");
  const reporters = ["--reporter=verbose", "--reporter=json", `--outputFile.json=${output}`];
  const chosen = Object.entries(versions).map(([name, version]) => `${name}=${version}`);
  spawnSync("npx", ["vitest", "run", "--config", "test/e2e/vitest.config.ts", ...reporters, ...files], {
    stdio: ["ignore", 2, 2],
    env: { ...process.env, [VERSIONS_ENV]: chosen.join(",") },
  });
  const { numPassedTests, testResults } = Report.parse(JSON.parse(readFileSync(output, "utf8")));
  rmSync(dir, { recursive: true });
  const failed = testResults.flatMap(({ assertionResults }) =>
    assertionResults.flatMap(({ fullName, status }) => (status === "failed" ? [fullName] : [])),
  );
  return { said, passed: numPassedTests, failed };
}

function sayVersions(versions: Versions): string {
  const names = Object.keys(PINNED) as ProgramName[];
  return names.map((name) => `${name} ${versions[name] ?? `${PINNED[name].version} (pinned)`}`).join(", ");
}

/** The newest version of a program that the registry has. */
function findNewest(name: ProgramName): string {
  const { stdout, status } = spawnSync("npm", ["view", PINNED[name].name, "version"], { encoding: "utf8" });
  if (status !== 0) throw new Error(`The registry does not say which ${PINNED[name].name} is the newest`);
  return stdout.trim();
}

function report(played: readonly Played[]): number {
  for (const { said, passed, failed } of played) {
    process.stdout.write(`${failed.length === 0 && passed > 0 ? "✓" : "✗"} ${said}: ${passed} passed\n`);
    for (const name of failed) process.stdout.write(`    ✗ ${name}\n`);
  }
  return played.every(({ passed, failed }) => passed > 0 && failed.length === 0) ? 0 : 1;
}

function playMatrix(files: readonly string[]): number {
  const options = files.findIndex((file) => file.startsWith("-"));
  const names = options < 0 ? files : files.slice(0, options);
  const wanted = listForOlder().filter((name) => names.length === 0 || names.some((file) => name.includes(file)));
  const more = options < 0 ? [] : files.slice(options);
  const older = wanted.length === 0 ? [] : OLDER.map((versions) => play(versions, [...wanted, ...more]));
  return report([play({}, files), ...older]);
}

/** The files that older versions play. */
function listForOlder(): string[] {
  const all = readdirSync(FOLDER).filter((name) => name.endsWith(".e2e.ts"));
  const gone = Object.keys(NOT_FOR_OLDER).filter((name) => !all.includes(name));
  if (gone.length > 0) throw new Error(`There is no ${gone.join(", ")} in ${FOLDER}`);
  return all.filter((name) => !Object.hasOwn(NOT_FOR_OLDER, name)).map((name) => join(FOLDER, name));
}

/** Plays the newest versions, and the pinned ones again where something failed: only the difference is news. */
function playNewest(files: readonly string[]): number {
  const names = Object.keys(PINNED) as ProgramName[];
  const newest = Object.fromEntries(names.map((name) => [name, findNewest(name)])) as Record<ProgramName, string>;
  const changed = names.filter((name) => newest[name] !== PINNED[name].version);
  for (const name of names) {
    const to = changed.includes(name) ? ` -> ${newest[name]}` : ", which is the newest";
    process.stdout.write(`${name} ${PINNED[name].version}${to}\n`);
  }
  if (changed.length === 0) return 0;
  const played = play(Object.fromEntries(changed.map((name) => [name, newest[name]])), files);
  const before = played.failed.length > 0 ? play({}, files) : undefined;
  const isNew = (name: string) => before?.failed.includes(name) !== true;
  for (const name of played.failed)
    process.stdout.write(`${isNew(name) ? "Changed" : "Fails at the pinned version too"}: ${name}\n`);
  return report([played]);
}

const [mode, ...files] = process.argv.slice(2);
if (mode !== "matrix" && mode !== "newest") throw new Error("Say matrix or newest");
process.exitCode = mode === "matrix" ? playMatrix(files) : playNewest(files);
