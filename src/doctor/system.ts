import { access, constants } from "node:fs/promises";
import { tmpdir } from "node:os";
import { isAbsolute } from "node:path";
import { runProgram } from "../agents/process/process-identity.ts";
import { SECOND_MS } from "../core/instant.ts";
import type { Finding } from "./finding.ts";
import { isOldNode, LEAST_NODE } from "./node-version.ts";
import type { DoctorContext } from "./doctor-context.ts";
import type { Config } from "../config/load.ts";
import type { ConfigProblem } from "../config/config-problem.ts";
import { formatProblem } from "../core/text/file-problem.ts";

const GIT_MS = 10 * SECOND_MS;

/** Checks the Node that runs askd. */
export function checkNode({ nodeVersion }: Pick<DoctorContext, "nodeVersion">): Finding[] {
  const text = `node ${nodeVersion}`;
  if (!isOldNode(nodeVersion)) return [{ code: "node", area: "system", level: "ok", text }];
  return [
    {
      code: "node_old",
      area: "system",
      subject: "node",
      level: "problem",
      text: `${nodeVersion} is too old: askd needs ${LEAST_NODE} or newer`,
      fix: "install a newer one from nodejs.org, or with your version manager",
    },
  ];
}

/** Checks for git, which tells the work of a run from what was there before. */
export async function checkGit({ env }: Pick<DoctorContext, "env">): Promise<Finding[]> {
  const options = { timeout: GIT_MS, env: { PATH: env["PATH"] } };
  const said = await runProgram("git", ["--version"], options).catch(() => undefined);
  const version = /\d+\.\d+(\.\d+)?/.exec(said?.stdout ?? "")?.[0];
  if (version !== undefined) return [{ code: "git", area: "system", level: "ok", text: `git ${version}` }];
  return [
    {
      code: "git_missing",
      area: "system",
      subject: "git",
      level: "warning",
      text: "is not on the path: changes of agents cannot be shown, and worktrees cannot be created",
      fix: "install git",
    },
  ];
}

/** Checks that the system's temporary folders exist and are writable. */
export async function checkTemporary({ env, platform }: Pick<DoctorContext, "env" | "platform">): Promise<Finding[]> {
  const findings: Finding[] = [];
  const dir = env["TMPDIR"] ?? tmpdir();
  const isGood = await isWritable(dir);
  if (!isGood) {
    findings.push({
      code: "tmpdir",
      area: "system",
      subject: "TMPDIR",
      level: "problem",
      text: `${dir} is not a folder that you can write to: editors and agents cannot work`,
      fix: `mkdir -p ${dir}, or unset TMPDIR`,
    });
  }
  const runtime = env["XDG_RUNTIME_DIR"];
  if (platform !== "win32" && runtime && isAbsolute(runtime) && !env["ASKD_HOME"] && !(await isWritable(runtime))) {
    findings.push({
      code: "runtime_dir",
      area: "system",
      subject: "XDG_RUNTIME_DIR",
      level: "problem",
      text: `${runtime} is not a folder that you can write to: a server cannot publish its address`,
      fix: "sign in again, or unset XDG_RUNTIME_DIR",
    });
  }
  return findings.length > 0
    ? findings
    : [{ code: "temporary", area: "system", level: "ok", text: "temporary files ok" }];
}

async function isWritable(dir: string): Promise<boolean> {
  return access(dir, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** Checks the configuration files. */
export function checkSettings({ errors, warnings, files }: Config): Finding[] {
  const found = [...errors, ...warnings].map(describeConfigProblem);
  if (found.length > 0) return found;
  const names = files.filter(({ isThere }) => isThere).map(({ layer }) => layer);
  return names.length === 0
    ? []
    : [{ code: "settings", area: "system", level: "ok", text: `settings of ${names.join(", ")} ok` }];
}

function describeConfigProblem(problem: ConfigProblem): Finding {
  return {
    code: "settings_wrong",
    area: "system",
    subject: "settings",
    level: problem.level === "error" ? "problem" : "warning",
    text: formatProblem(problem),
    fix: problem.hint,
  };
}
