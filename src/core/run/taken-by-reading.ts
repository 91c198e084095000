import type { Actor } from "../people/actor.ts";
import type { Read } from "../changes.ts";
import { isPending, owes } from "../question/question.ts";
import { isAlive } from "./run.ts";

/** Doors that see for themselves whether an outcome arrived. Programs at any other one come and read it. */
const WITNESSED: ReadonlySet<string> = new Set(["mcp", "hook", "marker", "result", "cli"]);

/**
 * Says whether showing this question to that caller gives its outcome to the program that asked. Whoever else looks,
 * a person at the inbox for one, takes nothing. A run that a worker starts again counts only while its agent is there.
 */
export function isTakenByReading({ run, question }: Read, by: Actor): boolean {
  const { askedBy, via } = question;
  if (isPending(question) || !owes(question)) return false;
  const isDoor = by.channel === "cli" ? via === "cli" : by.channel === "api" && !WITNESSED.has(via);
  if (!isDoor || askedBy.scope !== by.scope || askedBy.id !== by.id || askedBy.runId !== by.runId) return false;
  return run.giveBack === "poll" || (run.giveBack === "worker" && by.runId === run.id && isAlive(run));
}
