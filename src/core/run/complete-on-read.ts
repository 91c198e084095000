import type { Actor } from "../people/actor.ts";
import type { QuestionSnapshot } from "../changes.ts";
import { isPending, owesOutcome } from "../question/question.ts";
import { isAgentAlive } from "./run.ts";

/** Doors that observe whether an outcome arrived. Programs at other doors fetch it. */
const WITNESSED: ReadonlySet<string> = new Set(["mcp", "hook", "marker", "result", "cli"]);

/**
 * Says whether showing this question to that caller hands its outcome to the program that asked. Other readers, such as
 * a person at the inbox, take nothing. A run that a worker resumes counts only while its agent is alive.
 */
export function isTakenByReading({ run, question }: QuestionSnapshot, by: Actor): boolean {
  const { askedBy, via } = question;
  if (isPending(question) || !owesOutcome(question)) return false;
  const isDoor = by.channel === "cli" ? via === "cli" : by.channel === "api" && !WITNESSED.has(via);
  if (!isDoor || askedBy.scope !== by.scope || askedBy.id !== by.id || askedBy.runId !== by.runId) return false;
  return run.giveBack === "poll" || (run.giveBack === "worker" && by.runId === run.id && isAgentAlive(run));
}
