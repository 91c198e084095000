import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Actor, SYSTEM } from "../core/people/actor.ts";
import type { Engine } from "../engine/engine.ts";
import { hasErrorCode } from "../core/error-code.ts";
import { createPrivate, readPrivate, removePrivate, replacePrivate } from "./private-file.ts";

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

/** The published address and process of a server. */
interface ServerWord {
  url: string;
  pid: number;
}

/** Every server keeps a file of its own beside the address: when one ends, another that is alive is found again. */
const OWN_FILE = /^server-\d+-\d+\.json$/;

function ownFile(runtimeDir: string, { url, pid }: ServerWord) {
  return join(dirname(serverFiles(runtimeDir).address), `server-${pid}-${new URL(url).port}.json`);
}

/** Leaves word of a server that has started: from now on this one is found, and no killed one at its address. */
export async function announceServer(runtimeDir: string, word: ServerWord): Promise<void> {
  for (const { file, word: other } of await listWords(runtimeDir)) {
    if (other.url === word.url && !isProcess(other.pid)) await removePrivate(file);
  }
  await replacePrivate(ownFile(runtimeDir, word), JSON.stringify(word));
  await replacePrivate(serverFiles(runtimeDir).address, JSON.stringify(word));
}

/** Takes back the word of a server that ends; the address of another one stays, or is found again. */
export async function withdrawServer(runtimeDir: string, word: ServerWord): Promise<void> {
  await removePrivate(ownFile(runtimeDir, word));
  if (isSame(await findWord(runtimeDir), word)) await replaceByOther(runtimeDir);
}

/** Puts a server that answers in the place of the one that is gone; without any the address is removed. */
export async function replaceByOther(runtimeDir: string): Promise<string | undefined> {
  const { address } = serverFiles(runtimeDir);
  const other = await findOther(runtimeDir);
  for (const { file, word } of await listWords(runtimeDir)) {
    if (!isProcess(word.pid) && !(other && isSame(word, other))) await removePrivate(file);
  }
  if (other) await replacePrivate(address, JSON.stringify(other));
  else await removePrivate(address);
  return other?.url;
}

/** Finds a server that answers by the files that servers keep of their own. */
export async function findOther(runtimeDir: string): Promise<ServerWord | undefined> {
  const words = (await listWords(runtimeDir)).map(({ word }) => word);
  // A killed server may have had the address of one that answers now; one in a container has process numbers of its own.
  const [alive, others] = [words.filter(({ pid }) => isProcess(pid)), words.filter(({ pid }) => !isProcess(pid))];
  for (const word of [...alive, ...others]) if ((await findHealth(word.url)) === "ok") return word;
  return undefined;
}

/** The files that servers keep of their own. */
async function listWords(runtimeDir: string) {
  const dir = dirname(serverFiles(runtimeDir).address);
  const names = (await readdir(dir).catch(() => [])).filter((each) => OWN_FILE.test(each)).sort(); // none before the first
  const words = await Promise.all(
    names.map(async (name) => ({ file: join(dir, name), word: await readWord(join(dir, name)) })),
  );
  return words.flatMap(({ file, word }) => (word ? [{ file, word }] : []));
}

function isSame(one: ServerWord | undefined, other: ServerWord) {
  return one?.pid === other.pid && one.url === other.url;
}

/** The published address and process of this user's server. */
export async function findWord(runtimeDir: string): Promise<ServerWord | undefined> {
  return readWord(serverFiles(runtimeDir).address);
}

async function readWord(file: string): Promise<ServerWord | undefined> {
  const word = await readPrivate(file);
  if (word === undefined) return undefined;
  const parsed = parseJson(word);
  if (parsed === null || typeof parsed !== "object" || !("url" in parsed) || !("pid" in parsed)) return undefined;
  return { url: String(parsed.url), pid: Number(parsed.pid) };
}

function parseJson(text: string): unknown {
  try {
    const parsed: unknown = JSON.parse(text);
    return parsed;
  } catch {
    return undefined; // cut off: no server wrote that
  }
}

/** Where the server of this user answers. A server that was killed leaves its files behind, which are removed. */
export async function findAddress(runtimeDir: string): Promise<string | undefined> {
  const word = await findWord(runtimeDir);
  if (word === undefined) return undefined;
  const health = await findHealth(word.url);
  if (health === "ok") return word.url;
  const isThere = isProcess(word.pid);
  if (health === "slow" && isThere) return word.url; // it is busy
  // A server in a container has process numbers of its own, and answers.
  const now = isThere ? undefined : await findWord(runtimeDir);
  return isSame(now, word) ? replaceByOther(runtimeDir) : undefined;
}

async function findHealth(url: string) {
  try {
    const { ok } = await fetch(`${url}/health`, { signal: AbortSignal.timeout(REPLY_MS), redirect: "manual" });
    return ok ? "ok" : "none";
  } catch (error) {
    return error instanceof Error && error.name === "TimeoutError" ? "slow" : "none"; // nobody is there
  }
}

function isProcess(pid: number) {
  try {
    process.kill(pid, 0); // sends nothing
    return true;
  } catch (error) {
    return !hasErrorCode(error, "ESRCH");
  }
}
