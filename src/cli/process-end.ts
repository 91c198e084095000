import { SECOND_MS } from "../core/instant.ts";
import { Refusal } from "../core/refusal.ts";
import { findIdentity, isAlive } from "../agents/process/process-identity.ts";
import { findWord } from "../server/local-token.ts";
import { findAnswering } from "./commands/service/background-server.ts";
import type { Context } from "./context.ts";
import { pauseFor } from "./terminal/pause.ts";

/** A server lets requests finish for a while. */
const END_MS = 15 * SECOND_MS;
const LOOK_MS = 50;

/** The process of the server that answers here; a file that one left behind names none. */
export async function findServerPid(context: Context): Promise<number | undefined> {
  const word = await findWord(context.place.runtimeDir);
  if (word === undefined || (await findAnswering(context)) !== word.url) return undefined;
  return (await findIdentity(word.pid)) ? word.pid : undefined;
}

/** Tells a process to end, and waits until it has. */
export async function endProcess(pid: number, context: Context): Promise<void> {
  const process = await findIdentity(pid);
  if (!process || !context.tellToEnd(pid)) return;
  const signal = context.interrupt();
  for (let waitedMs = 0; waitedMs < END_MS && !signal.aborted; waitedMs += LOOK_MS) {
    if (!(await isAlive(process))) return;
    await pauseFor(LOOK_MS, signal, context);
  }
  throw new Refusal("store_unreachable", `Process ${pid} was told to end and goes on`, {
    hint: `End it by force: kill -9 ${pid}`,
  });
}
