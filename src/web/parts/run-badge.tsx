import type { AwayMachine } from "../../core/run/machine.ts";
import type { PendingQuestion } from "../../core/question/question.ts";
import { type Run, hasEnded, isAgentAlive, isAnswerUntaken, isLoggedOut } from "../../core/run/run.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { type PageReader, tell } from "./page-reader.ts";

/** True if an answer waits that the run was not resumed with, or its agent was only logged out. */
export function mayResume(run: Run): boolean {
  if (isLoggedOut(run)) return true;
  return (
    !hasEnded(run) &&
    !isAgentAlive(run) &&
    run.status !== "resuming" &&
    run.pendingId === undefined &&
    run.owes.length > 0 &&
    run.giveBack !== "poll"
  );
}

/** The state of a run in the reader's language. */
export function runStateWords(reader: PageReader, run: Run): string {
  return tell(reader, isAnswerUntaken(run) ? "state.untaken" : `state.${run.status}`);
}

interface BadgeView {
  reader: PageReader;
  run: Run;
  pending: PendingQuestion | undefined;
  /** The machine that the run waits for, if it is away. */
  away?: AwayMachine | undefined;
  /** Number of failed resume attempts, if known. */
  failed?: number;
}

/** The state of a run as a label; never by colour alone. */
export function RunBadge({ reader, run, pending, away, failed = 0 }: BadgeView) {
  if (run.pendingId !== undefined) {
    const held = pending?.hold !== undefined && isAgentAlive(run) ? `, ${tell(reader, "runs.held")}` : "";
    return <span class="chip wait badge">{tell(reader, "runs.badge") + held}</span>;
  }
  if (away) {
    const words = tell(reader, "runs.machine", { machine: makeVisible(away.name) });
    return <span class="chip bad badge">{words}</span>;
  }
  if (mayResume(run) && !isLoggedOut(run)) return <span class="chip wait badge">{tell(reader, "runs.answered")}</span>;
  if (run.status === "resuming" && failed > 0) {
    const words = tell(reader, failed === 1 ? "runs.tried.one" : "runs.tried", { n: failed });
    return <span class="chip bad badge">{words}</span>;
  }
  if (run.mayHaveAsked !== undefined) {
    const words = `${runStateWords(reader, run)}, ${tell(reader, "runs.doubt")}`;
    return <span class="chip wait badge">{words}</span>;
  }
  const colour = isAnswerUntaken(run) ? "wait" : (COLOURS[run.status] ?? "");
  return <span class={`chip badge ${colour}`}>{runStateWords(reader, run)}</span>;
}

const COLOURS: Readonly<Partial<Record<Run["status"], string>>> = {
  completed: "ok",
  failed: "bad",
  blocked: "bad",
  awaiting_input: "wait",
};
