import { z } from "zod";
import type { Entry } from "../../core/changes.ts";
import { Instant, later } from "../../core/instant.ts";
import { SYSTEM } from "../../core/people/actor.ts";
import { Refusal } from "../../core/refusal.ts";
import { type ClaimedJob, JobFailure, jobKey } from "../../core/run/job.ts";
import { type ApprovedWorkflow, parseApproved } from "../../core/workflow/approval.ts";
import type { WorkflowDefinition, WorkflowTrigger } from "../../core/workflow/definition/definition.ts";
import type { IssuePlace, IssueTracker, TrackedIssue } from "../../core/workflow/issue-tracker.ts";
import { EvaluationProblem } from "../../core/workflow/definition/evaluate.ts";
import { ExpressionProblem } from "../../core/workflow/definition/expression-token.ts";
import { ValueTooLarge } from "../../core/workflow/definition/value-size.ts";
import type { WorkflowCause } from "../../core/workflow/workflow-start.ts";
import { findTrigger, labelsOf, schedulesOf } from "../../core/workflow/trigger/match-trigger.ts";
import { type ScheduleTrigger, decideSchedule, findNextDue } from "../../core/workflow/trigger/schedule.ts";
import { sayWhy } from "../../engine/jobs/job-retry.ts";
import type { JobContext } from "../../engine/jobs/worker.ts";
import type { StepOutside } from "../tool/tool.ts";
import { findStaleness } from "./approved-file.ts";
import { readDefinition } from "./kept-definition.ts";
import { fillInputs } from "./trigger-input.ts";
import { nextLookAt } from "../../core/workflow/trigger/trigger-job.ts";
import { Workflows } from "./workflows.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** How far the triggers of a workflow have looked. */
const LookState = z.object({
  /** When each schedule is due next, by its place in the list. */
  due: z.record(z.string(), Instant).default({}),
  /** For each issue the change that was last looked at, and the label event that was last acted on. */
  issues: z.record(z.string(), z.object({ updatedAt: z.string(), labelledAt: z.string() })).default({}),
  /** The last run that could not be started; until one was. */
  failure: JobFailure.optional(),
});
type LookState = z.infer<typeof LookState>;

type Outside = Pick<StepOutside, "openTracker">;

/** Looks whether a schedule is due or an issue got a label, and starts runs. */
export async function lookAtTriggers(job: ClaimedJob, work: JobContext, outside: Outside): Promise<void> {
  const { store, decider } = work;
  const entry = await store.findEntry("workflow", job.key.slice(jobKey("trigger", "").length));
  if (!entry) return void (await decider.commit({ finished: [job] }));
  const workflow = parseApproved(entry);
  const definition = await readDefinition(store, workflow.definition);
  const stale = await findStaleness(workflow);
  const failure = stale
    ? { why: stale, at: work.now, trigger: "file_changed" as const }
    : await new TriggerLook({ workflow, definition, work, outside }).look();
  const next = nextLookAt(definition, work.now) ?? later(work.now, DAY_MS);
  // The job keeps the reason, so that people see why nothing is started.
  await decider.commit({ postponed: [{ job, dueAt: next, tries: failure ? 1 : 0, ...(failure && { failure }) }] });
}

interface LookDeps {
  workflow: ApprovedWorkflow;
  definition: WorkflowDefinition;
  work: JobContext;
  outside: Outside;
}

/** One look at the triggers of a workflow. */
class TriggerLook {
  readonly #deps: LookDeps;
  readonly #workflows: Workflows;
  #state: LookState = { due: {}, issues: {} };
  #version = 0;
  /** A failure of this look stays, whatever is started after it. */
  #hasFailed = false;

  constructor(deps: LookDeps) {
    this.#deps = deps;
    this.#workflows = new Workflows(deps.work);
  }

  /** Returns why a run could not be started, if the last one could not. */
  async look(): Promise<JobFailure | undefined> {
    const { workflow, work, definition, outside } = this.#deps;
    const entry = await work.store.findEntry("trigger", this.#id);
    this.#version = entry?.version ?? 0;
    this.#state = LookState.catch({ due: {}, issues: {} }).parse(entry?.body ?? {});
    const labels = labelsOf(definition);
    const tracker = labels.length === 0 ? undefined : await outside.openTracker();
    const repos = tracker ? reposOf(workflow, tracker) : [];
    const found = await Promise.all(
      repos.flatMap((repo) =>
        labels.map(async (label) => ({ label, issues: await tracker?.listLabelled(repo, label) })),
      ),
    );
    for (const { label, issues = [] } of found) {
      for (const issue of issues) if (tracker) await this.#lookAtIssue(issue, label, tracker);
    }
    const open = found.flatMap(({ label, issues = [] }) => issues.map((issue) => ({ label, issue })));
    for (const { trigger, index } of schedulesOf(definition)) {
      const dueAt = this.#state.due[index] ?? findNextDue(trigger, workflow.approvedAt);
      const { isDue, nextAt } = dueAt ? decideSchedule(trigger, dueAt, work.now) : { isDue: false, nextAt: undefined };
      if (nextAt !== undefined) this.#state.due[index] = nextAt;
      if (isDue) await this.#startScheduled(trigger, labels.length > 0 ? open : undefined, tracker);
    }
    await this.#keep();
    return this.#state.failure;
  }

  /** Starts a run if somebody who may write has put the label there since the last look. */
  async #lookAtIssue(issue: TrackedIssue, label: string, tracker: IssueTracker): Promise<void> {
    const { workflow, definition } = this.#deps;
    const name = `${issue.repo}#${issue.number} ${label}`;
    const before = this.#state.issues[name];
    if (before?.updatedAt === issue.updatedAt) return;
    const added = await tracker.findLabelAdded(issue, label);
    const since = before?.labelledAt ?? `${workflow.approvedAt.slice(0, 19)}Z`;
    this.#state.issues[name] = { updatedAt: issue.updatedAt, labelledAt: added && added.at > since ? added.at : since };
    if (!added || (before ? added.at <= since : added.at < since)) return;
    const mayWrite = await tracker.mayWrite(issue.repo, added.by);
    const event = {
      is: "label_added",
      label,
      issueNumber: issue.number,
      repo: issue.repo,
      by: added.by,
      mayWrite,
    } as const;
    const match = findTrigger(definition, event);
    if (!match?.starts) return;
    const cause: WorkflowCause = { type: "label_added", label, by: added.by };
    await this.#start(cause, match.trigger, issue);
  }

  /** One run, or one for each open issue with the label, if somebody who may write put it there. */
  async #startScheduled(
    trigger: ScheduleTrigger,
    open: ReadonlyArray<{ label: string; issue: TrackedIssue }> | undefined,
    tracker: IssueTracker | undefined,
  ): Promise<void> {
    const cause: WorkflowCause = { type: "schedule", schedule: trigger.schedule };
    if (!open) return this.#start(cause, trigger, undefined);
    for (const { label, issue } of open) {
      const added = await tracker?.findLabelAdded(issue, label);
      if (!added || !(await tracker?.mayWrite(issue.repo, added.by))) continue;
      await this.#start({ ...cause, label, by: added.by }, trigger, issue);
    }
  }

  /** Starts a run together with what the triggers have seen; an issue with a live run keeps that one. */
  async #start(cause: WorkflowCause, trigger: WorkflowTrigger, issue: TrackedIssue | undefined): Promise<void> {
    const { workflow } = this.#deps;
    const place = issue && { repo: issue.repo, number: issue.number };
    const scope = {
      trigger: { ...cause },
      issue: issue && { ...issue },
      issueNumber: issue?.number,
      repo: issue?.repo,
    };
    const { failure } = this.#state;
    if (!this.#hasFailed) this.#state.failure = undefined;
    try {
      const inputs = fillInputs(trigger, scope);
      await this.#workflows.start({ workflow, cause, inputs, issue: place, entries: [this.#entry] }, SYSTEM);
      this.#version += 1;
    } catch (error) {
      const isBusy = error instanceof Refusal && error.code === "already_pending";
      const why = findStartProblem(error);
      if (!isBusy && why === undefined) throw error;
      this.#state.failure = failure;
      if (why === undefined) return;
      // One that cannot be started keeps no other from it.
      this.#hasFailed = true;
      const { now: at } = this.#deps.work;
      this.#state.failure = { why: sayProblem(cause, place, why), at, trigger: "start_refused" };
    }
  }

  async #keep(): Promise<void> {
    await this.#deps.work.decider.commit({ entries: [this.#entry] });
  }

  get #entry(): Entry {
    return { kind: "trigger", id: this.#id, version: this.#version, body: { ...this.#state } };
  }

  get #id() {
    return `look ${this.#deps.workflow.id}`;
  }
}

/** Why no run can be started as its trigger says; undefined if that is not its fault. */
function findStartProblem(error: unknown): string | undefined {
  const isWrong =
    error instanceof EvaluationProblem || error instanceof ExpressionProblem || error instanceof ValueTooLarge;
  return isWrong || (error instanceof Refusal && error.code === "bad_input") ? sayWhy(error) : undefined;
}

function sayProblem({ type }: WorkflowCause, issue: IssuePlace | undefined, why: string): string {
  const about = issue === undefined ? "" : ` for ${issue.repo}#${issue.number}`;
  return `The trigger ${type} could start no run${about}: ${why}`;
}

/** The repository of the project, if the settings name it; without one, those of the settings. */
function reposOf({ repo }: ApprovedWorkflow, { repos }: IssueTracker): readonly string[] {
  if (repo === undefined) return repos;
  return repos.filter((each) => each.toLowerCase() === repo.toLowerCase());
}
