import type { AwayMachine } from "../../core/run/machine.ts";
import type { Pending } from "../../core/question/question.ts";
import { type Run, hasEnded, isAlive, isAnswerUntaken, isLoggedOut } from "../../core/run/run.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { type Reader, tell } from "./reader.ts";

/** Says whether an answer is there that the run was not resumed with, or its agent only had to be logged in. */
export function mayResume(run: Run): boolean {
  if (isLoggedOut(run)) return true;
  return (
    !hasEnded(run) &&
    !isAlive(run) &&
    run.status !== "resuming" &&
    run.pendingId === undefined &&
    run.owes.length > 0 &&
    run.giveBack !== "poll"
  );
}

/** The state of a run, in words. */
export function stateWords(reader: Reader, run: Run): string {
  return tell(reader, isAnswerUntaken(run) ? "state.untaken" : `state.${run.status}`);
}

interface BadgeView {
  reader: Reader;
  run: Run;
  pending: Pending | undefined;
  /** The machine that it waits for and that is away. */
  away?: AwayMachine | undefined;
  /** How often it was resumed in vain, where that is known. */
  failed?: number;
}

/** What state a run is in, always in words. */
export function RunBadge({ reader, run, pending, away, failed = 0 }: BadgeView) {
  if (run.pendingId !== undefined) {
    const held = pending?.hold !== undefined && isAlive(run) ? `, ${tell(reader, "runs.held")}` : "";
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
  const colour = isAnswerUntaken(run) ? "wait" : (COLOURS[run.status] ?? "");
  return <span class={`chip badge ${colour}`}>{stateWords(reader, run)}</span>;
}

const COLOURS: Readonly<Partial<Record<Run["status"], string>>> = {
  completed: "ok",
  failed: "bad",
  blocked: "bad",
  awaiting_input: "wait",
};
