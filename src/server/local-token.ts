import { join } from "node:path";
import { type Actor, SYSTEM } from "../core/people/actor.ts";
import type { Engine } from "../engine/engine.ts";
import { isCode } from "../core/error-code.ts";
import { createPrivate, readPrivate, removePrivate } from "./private-file.ts";

const REPLY_MS = 1_000;

/** Where a server on this machine leaves word for this user's programs. */
export function serverFiles(runtimeDir: string): { token: string; address: string } {
  const dir = join(runtimeDir, "server");
  return { token: join(dir, "token"), address: join(dir, "server.json") };
}

/** Sees to it that this user's programs find a token that this server takes; an older one that it takes is kept. */
export async function keepLocalToken(file: string, engine: Engine, user: string): Promise<void> {
  const by: Actor = { ...SYSTEM, channel: "cli" };
  const kept = await readPrivate(file);
  if (kept !== undefined && (await engine.authenticate(kept, "cli"))?.actor.scope === "admin") return;
  const { text } = await engine.issueToken({ scope: "admin", subject: user, expiresAt: "never" }, by);
  if (kept !== undefined) await removePrivate(file);
  // Another server that starts now may have been faster; then its token is tried.
  if (!(await createPrivate(file, text))) await keepLocalToken(file, engine, user);
}

/** What the server of this user left word of: where it is, and its process. */
export async function findWord(runtimeDir: string): Promise<{ url: string; pid: number } | undefined> {
  const word = await readPrivate(serverFiles(runtimeDir).address);
  if (word === undefined) return undefined;
  const parsed: unknown = JSON.parse(word);
  if (parsed === null || typeof parsed !== "object" || !("url" in parsed) || !("pid" in parsed)) return undefined;
  return { url: String(parsed.url), pid: Number(parsed.pid) };
}

/** Where the server of this user answers. A server that was killed leaves its file behind, which is removed. */
export async function findAddress(runtimeDir: string): Promise<string | undefined> {
  const word = await findWord(runtimeDir);
  if (word === undefined) return undefined;
  const health = await findHealth(word.url);
  if (health === "ok") return word.url;
  const isThere = isProcess(word.pid);
  if (health === "slow" && isThere) return word.url; // it is busy
  // A server in a container has process numbers of its own, and answers.
  const now = isThere ? undefined : await findWord(runtimeDir);
  if (now?.pid === word.pid && now.url === word.url) await removePrivate(serverFiles(runtimeDir).address);
  return undefined;
}

async function findHealth(url: string): Promise<"ok" | "slow" | "none"> {
  try {
    const { ok } = await fetch(`${url}/health`, { signal: AbortSignal.timeout(REPLY_MS), redirect: "manual" });
    return ok ? "ok" : "none";
  } catch (error) {
    return error instanceof Error && error.name === "TimeoutError" ? "slow" : "none"; // nobody is there
  }
}

function isProcess(pid: number): boolean {
  try {
    process.kill(pid, 0); // sends nothing
    return true;
  } catch (error) {
    return !isCode(error, "ESRCH");
  }
}
