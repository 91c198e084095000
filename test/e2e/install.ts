import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join } from "node:path";

/** The programs that are tested with, unmodified, at exactly these versions. */
export const PROGRAMS = {
  claude: { name: "@anthropic-ai/claude-code", version: "2.1.325", bin: "claude" },
  codex: { name: "@openai/codex", version: "0.166.0", bin: "codex" },
  gemini: { name: "@google/gemini-cli", version: "0.61.0", bin: "gemini" },
  opencode: { name: "opencode-ai", version: "1.18.33", bin: "opencode" },
} as const;
export type ProgramName = keyof typeof PROGRAMS;

/** They take 1.2 GB and stay installed between runs, outside of the tree. */
const CACHE = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "askd-agents");

export function programFile(program: ProgramName): string {
  const { bin } = PROGRAMS[program];
  return join(folderOf(program), "node_modules", ".bin", bin);
}

/** Installs what is missing; a program that cannot be installed fails the run. */
export default function install(): void {
  for (const program of Object.keys(PROGRAMS) as ProgramName[]) {
    if (!existsSync(programFile(program))) installOne(program); // the folder appears when it is complete
    requireVersion(program);
  }
}

/** Starts it once: the first start reads some hundred megabytes, which no test should have to wait for. */
function requireVersion(program: ProgramName): void {
  const { name, version } = PROGRAMS[program];
  const { stdout, error } = spawnSync(programFile(program), ["--version"], {
    encoding: "utf8",
    timeout: 120_000,
    env: { PATH: process.env["PATH"], HOME: folderOf(program) },
  });
  if (!stdout?.includes(version)) {
    throw new Error(`${name} says "${stdout ?? ""}" instead of ${version}`, { cause: error });
  }
}

function installOne(program: ProgramName): void {
  const { name, version } = PROGRAMS[program];
  const startedAt = Date.now();
  process.stderr.write(`installing ${name}@${version} ...\n`);
  mkdirSync(CACHE, { recursive: true });
  const draft = mkdtempSync(join(CACHE, "draft-"));
  writeFileSync(join(draft, "package.json"), '{"private":true}');
  const args = ["install", "--no-audit", "--no-fund", "--loglevel=error", `${name}@${version}`];
  const { status, stderr } = spawnSync("npm", args, { cwd: draft, encoding: "utf8" });
  if (status !== 0) throw new Error(`${name}@${version} cannot be installed: ${stderr}`);
  rmSync(folderOf(program), { recursive: true, force: true });
  renameSync(draft, folderOf(program));
  process.stderr.write(`installed ${name}@${version} in ${Math.round((Date.now() - startedAt) / 1000)} s\n`);
}

function folderOf(program: ProgramName): string {
  const { name, version } = PROGRAMS[program];
  return join(CACHE, `${basename(name)}@${version}`);
}
