import { requireAccess, requireMayResumeAgent } from "../people/access.ts";
import type { DecisionContext, Changes } from "../changes.ts";
import { formatDuration } from "../text/duration.ts";
import { runEvent } from "../trail/event.ts";
import { resume, startJob } from "./handover.ts";
import { type Instant, msBetween } from "../instant.ts";
import { type Job, jobKey, runJob } from "./job.ts";
import { type RunSnapshot, parkRun } from "./run-lifecycle.ts";
import { type Machine, SILENT_MACHINE_MS, machineName } from "./machine.ts";
import { isHeldBack, isPending } from "../question/question.ts";
import { Refusal } from "../refusal.ts";
import { type Run, hasEnded, isAgentAlive } from "./run.ts";

/** The known machines, and other runs with the same session. */
interface MoveContext {
  known: readonly Machine[];
  others: readonly Run[];
  now: Instant;
}

/** The machine that a run moves to, and its directory there if that is another one. */
interface NewPlace {
  host: string;
  dir?: string | undefined;
}

/** Refuses to move a run whose machine is present. */
export function requireMovable(run: Run, host: string, { known, others, now }: MoveContext): void {
  const number = `#${run.number}`;
  if (hasEnded(run)) {
    throw new Refusal("run_ended", `Run ${number} has already ended (${run.status})`, {
      hint: run.workflow
        ? `Repeat it first: askd workflow retry ${run.number}`
        : `See it with: askd show ${run.number}`,
      fact: { is: "run_ended", number: run.number, status: run.status },
    });
  }
  if (run.giveBack !== "worker") {
    throw new Refusal("bad_input", `Run ${number} was not started by askd, and askd cannot start it elsewhere`);
  }
  if (run.host === host) {
    throw new Refusal("bad_input", `Run ${number} belongs to this machine already`, {
      hint: `Resume it here: askd runs resume ${run.number}`,
    });
  }
  const heardAt = known.find(({ id }) => id === run.host)?.heardAt;
  const silentMs = heardAt === undefined ? Number.POSITIVE_INFINITY : msBetween(heardAt, now);
  if (silentMs <= SILENT_MACHINE_MS) {
    const name = machineName(run.host);
    const ago = formatDuration(Math.max(0, silentMs));
    throw new Refusal("not_pending", `Run ${number} belongs to ${name}, which sent its last heartbeat ${ago} ago`, {
      hint: `It can continue elsewhere once ${name} has been silent for ${formatDuration(SILENT_MACHINE_MS)}`,
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
 * Moves a run to another machine and resumes it there. The old machine's epoch is over: when it is back it starts
 * nothing and ends what it left running.
 */
export function moveRun(read: RunSnapshot, { host, dir }: NewPlace, at: DecisionContext): Changes {
  const { run, open } = read;
  requireAccess("take_over_run", at.by);
  for (const question of open.filter(isHeldBack)) requireMayResumeAgent("take_over_run", { ...read, question }, at, {});
  // Failures on the old machine do not count on the new one.
  const begun = { worker: undefined, seen: undefined, starts: 0, isContinued: false };
  // A workflow that waits for its branches looks at them again here.
  const workflow = run.workflow && { ...run.workflow, isWaiting: undefined };
  const moved: Run = { ...run, ...begun, host, dir: dir ?? run.dir, workflow, epoch: run.epoch + 1 };
  const next = continueOnNewHost(
    { run: moved, open },
    { moved_from: run.host, moved_to: host, epoch: moved.epoch },
    at,
  );
  return {
    ...next,
    scheduled: [...stopOnOldHost(run, at), ...(next.scheduled ?? [])],
    dropped: [jobKey("carry", run.id), jobKey("stop", run.id), ...(next.dropped ?? [])],
  };
}

/** The next step of a moved run on its new machine. */
function continueOnNewHost({ run, open }: RunSnapshot, detail: Record<string, unknown>, at: DecisionContext): Changes {
  const pending = open.find(isPending);
  // Its agent is gone with its machine: the run waits parked for its answer.
  if (pending && isAgentAlive(run)) return parkRun(run, pending, at, detail);
  const jobs = run.status === "queued" ? [startJob(run, at.now)] : [];
  const next = pending || run.status === "queued" ? { run, scheduled: jobs } : resume(run, open[0], at);
  return { runs: [next.run], events: [runEvent(run, next.run, at, detail)], scheduled: next.scheduled };
}

/** The job with which the old machine, once back, ends leftover processes. */
function stopOnOldHost(run: Run, { now }: DecisionContext): Job[] {
  if (run.worker === undefined && !isAgentAlive(run)) return [];
  return [{ ...runJob("stop", run, now), key: jobKey("stop", `${run.id}@${run.host}`) }];
}
