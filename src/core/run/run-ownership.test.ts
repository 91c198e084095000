import { describe, expect, test } from "vitest";
import { ADA, IDS, NOON, aQuestion, aRun, answered } from "../../../test/builders.ts";
import { DEFAULT_RULES } from "../rules.ts";
import { SYSTEM } from "../people/actor.ts";
import { transferRun, endOwnedRun, recordSession, requeueRun, claimRun } from "./run-ownership.ts";
import type { DecisionContext } from "../changes.ts";
import { MINUTE_MS, later, msBetween } from "../instant.ts";
import { resumeRun } from "./run-lifecycle.ts";
import type { Run } from "./run.ts";

const AT: DecisionContext = { now: later(NOON, MINUTE_MS), by: SYSTEM, ids: IDS, rules: DEFAULT_RULES };
const ME = IDS.worker();
const OTHER = IDS.worker();
const DONE = { status: "completed" as const };

function carried(over: Partial<Run> = {}): Run {
  return aRun({ worker: OTHER, epoch: 3, starts: 1, session: "s", ...over });
}

function owing(over: Partial<Run> = {}) {
  const run = carried({ status: "resuming", ...over });
  const question = answered(aQuestion({ runId: run.id }));
  return { run: { ...run, owes: [question.id] }, open: [question] };
}

describe("a run is taken up", () => {
  test("by one worker only: who has it has to let go of it first", () => {
    expect(claimRun({ run: carried({ status: "resuming" }), open: [] }, { worker: ME }, AT)).toEqual({});
    const free = carried({ status: "resuming", worker: undefined });
    expect(claimRun({ run: free, open: [] }, { worker: ME }, AT).runs?.[0]).toMatchObject({
      worker: ME,
      epoch: 4,
      starts: 2,
    });
  });
});

describe("a run whose worker is gone", () => {
  const from = { worker: OTHER, epoch: 3 };

  test("is adopted as it is", () => {
    expect(transferRun({ run: carried(), open: [] }, from, ME, AT).runs?.[0]).toMatchObject({ worker: ME, epoch: 3 });
  });

  test("is adopted also when it was cancelled, as its processes may be there", () => {
    const run = carried({ status: "cancelled" });
    expect(transferRun({ run, open: [] }, from, ME, AT).runs?.[0]).toMatchObject({ worker: ME, status: "cancelled" });
  });

  test.each<[string, Partial<Run>]>([
    ["was let go of", { worker: undefined }],
    ["was adopted by a third", { worker: IDS.worker() }],
    ["was started again", { epoch: 4 }],
  ])("is not adopted when it %s meanwhile", (_what, over) => {
    expect(transferRun({ run: carried(over), open: [] }, from, ME, AT)).toEqual({});
    expect(requeueRun({ run: carried(over), open: [] }, from, undefined, AT)).toEqual({});
  });
});

describe("a run whose model did not reply", () => {
  const by = { worker: OTHER, epoch: 3 };
  const failed = { status: "failed", reason: "api_error", summary: "529", retry: {} } as const;

  test("is resumed from its session after a growing time, and fails when that does not help", () => {
    const delays: Array<number | undefined> = [];
    let run = carried();
    for (let start = 0; start < 6; start += 1) {
      const { runs, scheduled } = endOwnedRun({ run, open: [] }, by, failed, AT);
      const [next] = runs ?? [];
      delays.push(scheduled?.[0] && msBetween(AT.now, scheduled[0].dueAt));
      expect(next?.status).toBe(start < 5 ? "resuming" : "failed");
      run = { ...next!, worker: OTHER };
    }
    expect(delays).toEqual([5_000, 30_000, 120_000, 600_000, 1_800_000, undefined]);
    expect(run.apiTries).toBeUndefined();
  });

  test("keeps the answer that it did not take", () => {
    const read = owing();
    const { runs, questions } = endOwnedRun(read, by, failed, AT);
    expect(runs?.[0]).toMatchObject({ status: "resuming", reason: "api_error", owes: read.run.owes });
    expect(questions ?? []).toEqual([]);
  });

  test("waits for the end of a usage limit, and goes on by itself or when a person says so", () => {
    const ends = later(AT.now, 3 * 60 * MINUTE_MS);
    const limited = { status: "failed", reason: "usage_limit", retry: { at: ends } } as const;
    const { runs, scheduled } = endOwnedRun({ run: carried(), open: [] }, by, limited, AT);
    expect(runs?.[0]).toMatchObject({ status: "resuming", reason: "usage_limit", resumesAt: ends, worker: undefined });
    expect(scheduled).toEqual([expect.objectContaining({ kind: "resume", dueAt: ends })]);
    const [waiting] = runs ?? [];
    const now = resumeRun({ run: waiting!, open: [] }, [], { ...AT, by: ADA });
    expect(now.runs?.[0]).toMatchObject({ status: "resuming", reason: undefined, resumesAt: undefined });
    expect(now.scheduled?.[0]?.dueAt).toBe(AT.now);
    expect(claimRun({ run: waiting!, open: [] }, { worker: ME }, AT).runs?.[0]).toMatchObject({ resumesAt: undefined });
  });

  test("fails at once without a session to resume", () => {
    const { runs } = endOwnedRun({ run: carried({ session: undefined }), open: [] }, by, failed, AT);
    expect(runs?.[0]).toMatchObject({ status: "failed", reason: "api_error" });
  });

  test.each(["failed", "blocked"] as const)("and that is %s is resumed when a person says so", (status) => {
    const run = carried({ status, reason: "api_error", worker: undefined, endedAt: AT.now });
    const { runs, scheduled } = resumeRun({ run, open: [] }, [], { ...AT, by: ADA });
    expect(runs?.[0]).toMatchObject({ status: "resuming", reason: undefined });
    expect(scheduled).toEqual([expect.objectContaining({ kind: "resume", dueAt: AT.now })]);
  });
});

describe("a run whose agent was never started", () => {
  const from = { worker: OTHER, epoch: 3 };

  test("waits as before when its worker died, however often that happens", () => {
    const { runs, scheduled } = requeueRun({ run: carried({ starts: 9 }), open: [] }, from, undefined, AT);
    expect(runs?.[0]).toMatchObject({ status: "queued", worker: undefined, starts: 8 });
    expect(scheduled?.[0]).toMatchObject({ kind: "resume", dueAt: AT.now });
  });

  test("is tried again later and later when starting failed", () => {
    const delays = [1, 2, 3, 4].map((starts) => {
      const { scheduled } = requeueRun(owing({ starts }), from, "no such directory", AT);
      return msBetween(AT.now, scheduled?.[0]?.dueAt ?? AT.now);
    });
    expect(delays).toEqual([0, 1_000, 5_000, 30_000]);
  });

  test("fails in the end, and says why", () => {
    const { runs, questions, dropped } = requeueRun(owing({ starts: 5 }), from, "no such directory", AT);
    expect(runs?.[0]).toMatchObject({ status: "failed", reason: "start_failed", worker: undefined, owes: [] });
    expect(runs?.[0]?.result?.summary).toBe("no such directory");
    expect(questions?.[0]).toMatchObject({ handover: { state: "void", reason: "start_failed" } });
    expect(dropped).toContain(`carry:${runs?.[0]?.id}`);
  });

  test("is let go of when it was cancelled meanwhile", () => {
    const run = carried({ status: "cancelled", epoch: 4 });
    const { runs, scheduled, dropped } = requeueRun({ run, open: [] }, { ...from, epoch: 4 }, undefined, AT);
    expect(runs?.[0]).toMatchObject({ status: "cancelled", worker: undefined });
    expect(scheduled).toBeUndefined();
    expect(dropped).toEqual([`carry:${run.id}`, `stop:${run.id}`]);
  });
});

describe("a session", () => {
  test("is named by the start that has the run, and by no earlier one", () => {
    const read = { run: carried(), open: [] };
    expect(recordSession(read, "t", 3, AT).runs?.[0]).toMatchObject({ session: "t" });
    expect(() => recordSession(read, "t", 2, AT)).toThrow("epoch 2 is over");
  });

  test("of a run that was cancelled is of no interest", () => {
    const run = carried({ status: "cancelled", epoch: 4, session: undefined });
    expect(recordSession({ run, open: [] }, "t", 3, AT)).toEqual({});
  });
});

describe("a run whose agent is gone", () => {
  const by = { worker: OTHER, epoch: 3 };

  test.each(["worker_lost", "agent_killed"])("goes on from its session once after %s", (reason) => {
    const lost = { status: "failed" as const, reason };
    const first = endOwnedRun({ run: carried(), open: [] }, by, lost, AT);
    expect(first.runs?.[0]).toMatchObject({ status: "resuming", isContinued: true, worker: undefined });
    const second = endOwnedRun({ run: carried({ isContinued: true }), open: [] }, by, lost, AT);
    expect(second.runs?.[0]).toMatchObject({ status: "failed", reason });
  });

  test("goes back to its agent with an answer that came while it ended", () => {
    const { runs, scheduled } = endOwnedRun(owing({ status: "running" }), by, DONE, AT);
    expect(runs?.[0]).toMatchObject({ status: "resuming", worker: undefined });
    expect(scheduled?.[0]).toMatchObject({ kind: "resume", dueAt: AT.now });
  });

  test.each(["error_max_turns", "error_max_budget_usd"])(
    "at its limit (%s) is not started once more for an answer that it did not take, and keeps it for a person",
    (reason) => {
      const { run, open } = owing();
      const [question] = open.map((each) => ({
        ...each,
        handover: { state: "handing" as const, epoch: 3, at: NOON, by: "start" as const },
      }));
      const read = { run, open: question ? [question] : [] };
      const ended = endOwnedRun(read, by, { status: "failed", reason, summary: "It has taken its 2 turns" }, AT);
      expect(ended.runs?.[0]).toMatchObject({ status: "failed", reason, worker: undefined, owes: [] });
      expect(ended.questions).toMatchObject([{ handover: { state: "void", reason } }]);
      const resumed = resumeRun({ run: ended.runs![0]!, open: [] }, ended.questions ?? [], { ...AT, by: ADA });
      expect(resumed.questions).toMatchObject([{ handover: { state: "owed", isRepeated: true } }]);
    },
  );

  test("waits for a login where its agent has none: what it owes stays owed, and no try is lost", () => {
    const loggedOut = { status: "failed" as const, reason: "not_logged_in", summary: "Not logged in" };
    const { run, open } = owing({ lastQuestionId: IDS.question(), starts: 5 });
    const { runs, questions, scheduled } = endOwnedRun({ run, open }, by, loggedOut, AT);
    const waits = { status: "blocked", reason: "not_logged_in", worker: undefined, owes: run.owes, starts: 4 };
    expect(runs?.[0]).toMatchObject({ ...waits, result: { summary: "Not logged in" } });
    expect([questions, scheduled]).toEqual([undefined, undefined]);
    const resumed = resumeRun({ run: runs![0]!, open }, [], AT);
    expect(resumed.runs?.[0]).toMatchObject({ status: "resuming", reason: undefined, owes: run.owes });
    expect(resumed.scheduled?.[0]).toMatchObject({ kind: "resume", dueAt: AT.now });
    // The record may have the answer by then, though no model has seen it: the session goes on all the same.
    const given = endOwnedRun({ run: carried({ lastQuestionId: run.lastQuestionId }), open: [] }, by, loggedOut, AT);
    expect(resumeRun({ run: given.runs![0]!, open: [] }, [], AT).scheduled?.[0]).toMatchObject({ kind: "resume" });
  });

  test("fails for want of a login where nobody has answered anything", () => {
    const ended = endOwnedRun({ run: carried(), open: [] }, by, { status: "failed", reason: "not_logged_in" }, AT);
    expect(ended.runs?.[0]).toMatchObject({ status: "failed", reason: "not_logged_in" });
  });

  test.each<[string, Partial<Run>]>([
    ["another worker has it", { worker: ME }],
    ["it is at a later start", { epoch: 4 }],
  ])("is left alone when %s", (_what, over) => {
    expect(endOwnedRun({ run: carried(over), open: [] }, by, DONE, AT)).toEqual({});
  });

  test("is let go of when it was cancelled meanwhile", () => {
    const run = carried({ status: "cancelled", epoch: 4 });
    expect(endOwnedRun({ run, open: [] }, by, DONE, AT).runs?.[0]).toMatchObject({ worker: undefined });
  });
});
