import { requireMay, requireMayGoOn } from "../people/access.ts";
import type { At, Changes } from "../changes.ts";
import { sayDuration } from "../text/duration.ts";
import { runEvent } from "../trail/event.ts";
import { resume, startJob } from "./handover.ts";
import { type Instant, msBetween } from "../instant.ts";
import { type Job, jobKey } from "./job.ts";
import { type RunRead, park } from "./run-lifecycle.ts";
import { type Machine, SILENT_MACHINE_MS, machineName } from "./machine.ts";
import { isHeldBack, isPending } from "../question/question.ts";
import { Refusal } from "../refusal.ts";
import { type Run, hasEnded, isAlive } from "./run.ts";

/** What is known beside the run: of machines, and of runs with the same session. */
interface Around {
  known: readonly Machine[];
  others: readonly Run[];
  now: Instant;
}

/** Refuses to take a run away from a machine that is there. */
export function requireMovable(run: Run, host: string, { known, others, now }: Around): void {
  const number = `#${run.number}`;
  if (hasEnded(run)) {
    throw new Refusal("run_ended", `Run ${number} is over already (${run.status})`, {
      hint: `See it with: askd show ${run.number}`,
      fact: { is: "run_ended", number: run.number, status: run.status },
    });
  }
  if (run.giveBack !== "worker") {
    throw new Refusal("bad_input", `Run ${number} was not started by askd, and askd cannot start it elsewhere`);
  }
  if (run.host === host) {
    throw new Refusal("bad_input", `Run ${number} belongs to this machine already`, {
      hint: `Take it up here: askd runs resume ${run.number}`,
    });
  }
  const heardAt = known.find(({ id }) => id === run.host)?.heardAt;
  const silentMs = heardAt === undefined ? Number.POSITIVE_INFINITY : msBetween(heardAt, now);
  if (silentMs <= SILENT_MACHINE_MS) {
    const name = machineName(run.host);
    const ago = sayDuration(Math.max(0, silentMs));
    throw new Refusal("not_pending", `Run ${number} is looked after by ${name}, which was heard of ${ago} ago`, {
      hint: `Only when ${name} is silent for ${sayDuration(SILENT_MACHINE_MS)} can it go on elsewhere`,
    });
  }
  const other = others.find((each) => each.id !== run.id && each.host === host && each.agent === run.agent);
  if (other) {
    throw new Refusal("key_reused", `The session of ${number} belongs to #${other.number} on this machine`, {
      hint: `See it with: askd show ${other.number}`,
    });
  }
}

/**
 * Makes another machine the run's own and takes the run up there. The epoch that the old machine may have begun is
 * over: when it is back it starts nothing, and ends what it left running.
 */
export function moveRun(read: RunRead, host: string, at: At): Changes {
  const { run, open } = read;
  requireMay("take_over_run", at.by);
  for (const question of open.filter(isHeldBack)) requireMayGoOn("take_over_run", { ...read, question }, at, false);
  // What failed on the old machine says nothing about the new one.
  const begun = { worker: undefined, seen: undefined, starts: 0, isContinued: false };
  const moved: Run = { ...run, ...begun, host, epoch: run.epoch + 1 };
  const next = goOnThere({ run: moved, open }, { moved_from: run.host, moved_to: host, epoch: moved.epoch }, at);
  return {
    ...next,
    scheduled: [...endThere(run, at), ...(next.scheduled ?? [])],
    dropped: [jobKey("carry", run.id), jobKey("stop", run.id), ...(next.dropped ?? [])],
  };
}

/** What the new machine has to do for a run that has just become its own. */
function goOnThere({ run, open }: RunRead, detail: Record<string, unknown>, at: At): Changes {
  const pending = open.find(isPending);
  // Its agent is gone with its machine: it waits for its answer without it.
  if (pending && isAlive(run)) return park(run, pending, at, detail);
  const jobs = run.status === "queued" ? [startJob(run, at.now)] : [];
  const next = pending || run.status === "queued" ? { run, scheduled: jobs } : resume(run, open[0], at);
  return { runs: [next.run], events: [runEvent(run, next.run, at, detail)], scheduled: next.scheduled };
}

/** Has the old machine end the processes that it may have left, if it ever is back. */
function endThere(run: Run, { now: dueAt }: At): Job[] {
  if (run.worker === undefined && !isAlive(run)) return [];
  const key = jobKey("stop", `${run.id}@${run.host}`);
  return [{ key, kind: "stop", dueAt, runId: run.id, host: run.host, tries: 0 }];
}
