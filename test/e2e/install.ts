import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join } from "node:path";

/** The programs that are tested with, unmodified, at exactly these versions unless others are asked for. */
export const PINNED = {
  claude: { name: "@anthropic-ai/claude-code", version: "2.1.325", bin: "claude" },
  codex: { name: "@openai/codex", version: "0.166.0", bin: "codex" },
  gemini: { name: "@google/gemini-cli", version: "0.61.0", bin: "gemini" },
  opencode: { name: "opencode-ai", version: "1.18.33", bin: "opencode" },
} as const;
export type ProgramName = keyof typeof PINNED;

interface Program {
  name: string;
  version: string;
  bin: string;
}

/** Other versions than the pinned ones, such as `claude=2.1.110,codex=0.162.0`. */
export const VERSIONS_ENV = "E2E_VERSIONS";

/** The programs at the versions that this run tests. */
export const PROGRAMS: Record<ProgramName, Program> = { ...PINNED, ...readVersions(process.env[VERSIONS_ENV] ?? "") };

/** They take 1.2 GB and stay installed between runs, outside of the tree. */
const CACHE = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "askd-agents");

export function programFile(program: ProgramName, version: string = PROGRAMS[program].version): string {
  const { bin } = PROGRAMS[program];
  return join(folderOf(program, version), "node_modules", ".bin", bin);
}

/** Installs what is missing; a program that cannot be installed fails the run. */
export default function install(): void {
  for (const program of Object.keys(PROGRAMS) as ProgramName[]) installProgram(program);
}

/** Installs a program at a version unless it is there, and starts it once. */
export function installProgram(program: ProgramName, version: string = PROGRAMS[program].version): void {
  if (!existsSync(programFile(program, version))) download(program, version); // the folder appears when it is complete
  requireVersion(program, version);
}

/** The first start reads some hundred megabytes, which no test should have to wait for. */
function requireVersion(program: ProgramName, version: string): void {
  const { name } = PROGRAMS[program];
  const { stdout, error } = spawnSync(programFile(program, version), ["--version"], {
    encoding: "utf8",
    timeout: 120_000,
    env: { PATH: process.env["PATH"], HOME: folderOf(program, version) },
  });
  if (!stdout?.includes(version)) {
    throw new Error(`${name} says "${stdout ?? ""}" instead of ${version}`, { cause: error });
  }
}

function download(program: ProgramName, version: string): void {
  const { name } = PROGRAMS[program];
  const startedAt = Date.now();
  process.stderr.write(`installing ${name}@${version} ...\n`);
  mkdirSync(CACHE, { recursive: true });
  const draft = mkdtempSync(join(CACHE, "draft-"));
  writeFileSync(join(draft, "package.json"), '{"private":true}');
  const args = ["install", "--no-audit", "--no-fund", "--loglevel=error", `${name}@${version}`];
  const { status, stderr } = spawnSync("npm", args, { cwd: draft, encoding: "utf8" });
  if (status !== 0) throw new Error(`${name}@${version} cannot be installed: ${stderr}`);
  rmSync(folderOf(program, version), { recursive: true, force: true });
  renameSync(draft, folderOf(program, version));
  process.stderr.write(`installed ${name}@${version} in ${Math.round((Date.now() - startedAt) / 1000)} s\n`);
}

function folderOf(program: ProgramName, version: string): string {
  const { name } = PROGRAMS[program];
  return join(CACHE, `${basename(name)}@${version}`);
}

function readVersions(text: string): Partial<Record<ProgramName, Program>> {
  const others = text.split(",").flatMap((part) => {
    const [name = "", version = ""] = part.split("=");
    if (part === "") return [];
    if (!Object.hasOwn(PINNED, name) || !/^\d+\.\d+\.\d+$/.test(version))
      throw new Error(`${VERSIONS_ENV} takes such as claude=2.1.110,codex=0.162.0, not "${part}"`);
    return [[name, { ...PINNED[name as ProgramName], version }] as const];
  });
  return Object.fromEntries(others);
}
