import { existsSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { findProgram } from "../../../agents/runner/launch.ts";
import type { ClientSurroundings } from "../../../agents/wiring.ts";
import type { Context } from "../../context.ts";
import { VERSION } from "../../version.ts";

const MOST_FOLDERS = 40;
/** Where npx keeps what it fetched; it is gone some day. */
const FETCHED = /[/\\]_npx[/\\]/;

/** The facts of this machine that wiring needs. */
export async function setupAround(context: Context): Promise<ClientSurroundings> {
  const shared = [...(context.platform === "win32" ? ["cmd", "/c"] : []), "npx", "-y", `askd@${VERSION}`];
  return {
    env: context.env,
    homeDir: context.homeDir,
    platform: context.platform,
    dir: (await findTop(context.cwd)).dir,
    askd: { own: (await findOwn(context)) ?? shared, shared },
    liveWindowMs: context.rules.liveWindowMs,
  };
}

/** The top folder of the repository around a folder, or that folder where there is none. */
export async function findTop(cwd: string): Promise<{ dir: string; isRepository: boolean }> {
  const start = await realpath(cwd).catch(() => cwd); // it is named, but not there
  for (let dir = start, count = 0; count < MOST_FOLDERS; dir = dirname(dir), count += 1) {
    if (existsSync(join(dir, ".git"))) return { dir, isRepository: true };
    if (dirname(dir) === dir) break;
  }
  return { dir: start, isRepository: false };
}

/** How this very askd is started by others: by its name on the path, or by its file; nothing if it will not stay. */
async function findOwn({ self, env, cwd }: Context) {
  const bin = self.at(-1) ?? "";
  const onPath = await findProgram("askd", env, cwd);
  if (onPath !== undefined && !FETCHED.test(onPath) && (await isSame(onPath, bin))) return [onPath];
  return FETCHED.test(bin) || !existsSync(bin) ? undefined : self;
}

async function isSame(one: string, other: string) {
  const [first, second] = await Promise.all([one, other].map((path) => realpath(path).catch(() => path)));
  return first === second;
}
