import { access, constants } from "node:fs/promises";
import { tmpdir } from "node:os";
import { isAbsolute } from "node:path";
import { runProgram } from "../agents/process/process-identity.ts";
import { SECOND_MS } from "../core/instant.ts";
import type { Finding } from "./finding.ts";
import { isOldNode, LEAST_NODE } from "./node-version.ts";
import type { Patient } from "./doctor-context.ts";

const GIT_MS = 10 * SECOND_MS;

/** The Node that runs askd itself. */
export function checkNode({ nodeVersion }: Pick<Patient, "nodeVersion">): Finding[] {
  const text = `node ${nodeVersion}`;
  if (!isOldNode(nodeVersion)) return [{ code: "node", area: "system", level: "ok", text }];
  return [
    {
      ...{ code: "node_old", area: "system", subject: "node", level: "problem" },
      text: `${nodeVersion} is too old: askd needs ${LEAST_NODE} or newer`,
      fix: "install a newer one from nodejs.org, or with your version manager",
    },
  ];
}

/** Git, without which the work of a run cannot be told from what was there before. */
export async function checkGit({ env }: Pick<Patient, "env">): Promise<Finding[]> {
  const options = { timeout: GIT_MS, env: { PATH: env["PATH"] } };
  const said = await runProgram("git", ["--version"], options).catch(() => undefined);
  const version = /\d+\.\d+(\.\d+)?/.exec(said?.stdout ?? "")?.[0];
  if (version !== undefined) return [{ code: "git", area: "system", level: "ok", text: `git ${version}` }];
  return [
    {
      ...{ code: "git_missing", area: "system", subject: "git", level: "warning" },
      text: "is not on the path: what an agent changed cannot be shown, and worktrees cannot be made",
      fix: "install git",
    },
  ];
}

/** The folders that the system gives every user, which have to be there and be writable. */
export async function checkTemporary({ env, platform }: Pick<Patient, "env" | "platform">): Promise<Finding[]> {
  const findings: Finding[] = [];
  const dir = env["TMPDIR"] ?? tmpdir();
  const isGood = await isWritable(dir);
  if (!isGood) {
    findings.push({
      ...{ code: "tmpdir", area: "system", subject: "TMPDIR", level: "problem" },
      text: `${dir} is not a folder that you can write to: editors and agents cannot work`,
      fix: `mkdir -p ${dir}, or unset TMPDIR`,
    });
  }
  const runtime = env["XDG_RUNTIME_DIR"];
  if (platform !== "win32" && runtime && isAbsolute(runtime) && !env["ASKD_HOME"] && !(await isWritable(runtime))) {
    findings.push({
      ...{ code: "runtime_dir", area: "system", subject: "XDG_RUNTIME_DIR", level: "problem" },
      text: `${runtime} is not a folder that you can write to: no server can leave word of itself`,
      fix: "sign in anew, or unset XDG_RUNTIME_DIR",
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
