import type { Entry } from "../../core/changes.ts";
import type { RunId } from "../../core/id.ts";
import { type Actor, SYSTEM } from "../../core/people/actor.ts";
import { Refusal } from "../../core/refusal.ts";
import { queueRun, requireStartable, wantingQuestion } from "../../core/run/run-lifecycle.ts";
import { requireAccess } from "../../core/people/access.ts";
import { resume } from "../../core/run/handover.ts";
import { type Run, hasEnded } from "../../core/run/run.ts";
import { runEvent } from "../../core/trail/event.ts";
import {
  type ApprovalInput,
  type ApprovedWorkflow,
  approveWorkflow,
  parseApproved,
  workflowId,
} from "../../core/workflow/approval.ts";
import { checkpointEntry, parseCheckpoint } from "../../core/workflow/checkpoint.ts";
import { isDefinitionOf } from "../../core/workflow/definition/definition-hash.ts";
import type { WorkflowDefinition } from "../../core/workflow/definition/definition.ts";
import { readInputs } from "../../core/workflow/definition/inputs.ts";
import { findConcurrency } from "../../core/workflow/definition/step-policy.ts";
import { Machine } from "../../core/workflow/run/machine.ts";
import { planOf } from "../../core/workflow/run/plan.ts";
import {
  type WorkflowCause,
  findNamedRun,
  onceEntry,
  onceId,
  liveRunEntry,
  liveRunId,
  requireNoLiveRun,
} from "../../core/workflow/workflow-start.ts";
import type { JobContext } from "../../engine/jobs/worker.ts";
import { newRun } from "../../engine/new-run.ts";
import { changedRefusal } from "./approved-file.ts";
import { readDefinition } from "./kept-definition.ts";
import { newCheckpoint } from "./new-checkpoint.ts";
import { listLiveWithKey } from "./start-limit.ts";
import { firstTriggerJobs } from "../../core/workflow/trigger/trigger-job.ts";

/** A new run of an approved workflow. */
export interface WorkflowStart {
  workflow: Pick<ApprovedWorkflow, "name" | "host" | "dir" | "repo" | "definition">;
  cause: WorkflowCause;
  inputs: Readonly<Record<string, unknown>>;
  issue?: { repo?: string | undefined; number: number } | undefined;
  /** Rows that are written together with the run, such as how far a trigger has looked. */
  entries?: readonly Entry[];
  /** Names what starts it: the same name again starts nothing, and is answered with the run that there is. */
  once?: string;
}

type WorkflowDeps = Pick<JobContext, "store" | "decider">;

/** Approves workflows, and starts and repeats their runs. */
export class Workflows {
  readonly #deps: WorkflowDeps;

  constructor(deps: WorkflowDeps) {
    this.#deps = deps;
  }

  /** Approves a definition for a project; a person reads it first. */
  async approve(input: ApprovalInput, definition: WorkflowDefinition, by: Actor): Promise<ApprovedWorkflow> {
    const { store, decider } = this.#deps;
    return decider.retry(async () => {
      const before = await store.findEntry("workflow", workflowId(input));
      const text = await store.findEntry("definition", input.definition);
      const isKept = text !== undefined && isDefinitionOf(input.definition, text.body["definition"]);
      const textVersion = isKept ? undefined : (text?.version ?? 0);
      const at = decider.at(by);
      const { approved, ...changes } = approveWorkflow(
        before && parseApproved(before),
        { input, definition, textVersion },
        at,
      );
      const scheduled = firstTriggerJobs(approved, definition, at.now);
      const committed = await decider.commit({ ...changes, scheduled });
      return committed.ok ? { ...approved, version: approved.version + 1 } : undefined;
    });
  }

  async list(): Promise<ApprovedWorkflow[]> {
    return (await this.#deps.store.listEntries("workflow")).map(parseApproved);
  }

  async find(at: Pick<ApprovedWorkflow, "host" | "dir" | "name">): Promise<ApprovedWorkflow | undefined> {
    const entry = await this.#deps.store.findEntry("workflow", workflowId(at));
    return entry && parseApproved(entry);
  }

  /** Refuses a definition that no person has approved, or that was changed since. */
  async getApproved(at: Pick<ApprovedWorkflow, "host" | "dir" | "name">, hash: string): Promise<ApprovedWorkflow> {
    const found = await this.find(at);
    if (found?.definition === hash) return found;
    if (found) throw changedRefusal(at);
    throw new Refusal("not_permitted", `The workflow ${at.name} is not approved; nothing was started`, {
      hint: `Read it, then: askd workflow approve ${at.name}`,
    });
  }

  /** Starts a run; refuses a second live one for the same issue. */
  async start(start: WorkflowStart, by: Actor): Promise<Run> {
    const { store, decider } = this.#deps;
    const { workflow, cause, issue } = start;
    const definition = await readDefinition(store, workflow.definition);
    const inputs = readInputs(definition, start.inputs);
    const repo = issue?.repo ?? workflow.repo;
    const about = issue && { number: issue.number, ...(repo !== undefined && { repo }) };
    const data = { inputs, trigger: cause, issueNumber: issue?.number, repo, issue: about && { ...about } };
    const before = await this.#findStarted(start.once);
    if (before) return before;
    const key = findConcurrency(definition, data);
    if (key) await this.#makeRoom(workflowId(workflow), key, by);
    return decider.retry(async () => {
      const known = await this.#findStarted(start.once);
      if (known) return known;
      const at = decider.at(by);
      const id = at.ids.run();
      const once = start.once === undefined ? [] : [onceEntry(start.once, id)];
      const tree = `${workflow.name}-${id.slice(-6)}`;
      const ref = { name: workflow.name, definition: workflow.definition, tree, ...(key && { key: key.key }) };
      const input = {
        id,
        name: workflow.name,
        agent: "workflow",
        host: workflow.host,
        dir: workflow.dir,
        giveBack: "worker",
        measured: ["agent", "repo"],
        workflow: ref,
        issue: about,
        ...(repo !== undefined && { repo }),
      } as const;
      const run = newRun({ ...input, measured: [...input.measured] }, at, { implicit: false });
      const live =
        about?.repo === undefined ? [] : [await this.#guard(workflow.name, { ...about, repo: about.repo }, id)];
      const checkpoint = checkpointEntry(id, { version: 0, checkpoint: newCheckpoint(data, at.now) });
      const committed = await decider.commit({
        ...queueRun(run, at),
        entries: [checkpoint, ...live, ...once, ...(start.entries ?? [])],
      });
      return committed.ok ? { ...run, version: 1, number: committed.numbers.get(id) ?? 0 } : undefined;
    });
  }

  /** The run that was started by this before. */
  async #findStarted(once: string | undefined): Promise<Run | undefined> {
    const { store } = this.#deps;
    const id = once === undefined ? undefined : findNamedRun(await store.findEntry("trigger", onceId(once)));
    return id && store.findRun(id);
  }

  /** Repeats an ended run from a step, or from the one that failed; with a branch or agent the run that waited for it. */
  async retry(named: RunId, from: string | undefined, by: Actor): Promise<Run> {
    const { store, decider } = this.#deps;
    return decider.retry(async () => {
      const run = await this.#findRepeated(named);
      const id = run?.id ?? named;
      const entry = await store.findEntry("checkpoint", id);
      if (!run?.workflow || !entry) throw noWorkflow(run);
      const at = decider.at(by);
      requireAccess("resume_run", by);
      if (!hasEnded(run) && run.status !== "blocked") {
        throw new Refusal("not_pending", `Run #${run.number} has not ended (${run.status})`, {
          hint: `Cancel it first: askd workflow cancel ${run.number}`,
        });
      }
      if (run.status !== "cancelled") requireStartable(run);
      const definition = await readDefinition(store, run.workflow.definition);
      const { version, checkpoint } = parseCheckpoint(entry);
      const plan = planOf(definition, run.workflow.branch);
      const machine = new Machine({ plan, checkpoint, around: {}, secrets: {}, now: at.now });
      if (!machine.rewind(from))
        throw noSuchStep(
          run,
          from,
          plan.lists.steps.map((step) => step.id),
        );
      const begun: Run = {
        ...wantingQuestion(run),
        reason: undefined,
        endedAt: undefined,
        result: undefined,
        owes: [],
        pendingId: undefined,
        workflow: { ...run.workflow, isRepeated: true },
      };
      const next = resume(begun, undefined, at);
      const committed = await decider.commit({
        runs: [next.run],
        entries: [checkpointEntry(id, { version, checkpoint: machine.checkpoint }), ...(await this.#guardAgain(run))],
        events: [runEvent(run, next.run, at, { from })],
        scheduled: next.scheduled,
      });
      return committed.ok ? { ...next.run, version: run.version + 1 } : undefined;
    });
  }

  /** The run to repeat: a branch or an agent whose workflow has ended is of no use to anybody alone. */
  async #findRepeated(id: RunId): Promise<Run | undefined> {
    const run = await this.#deps.store.findRun(id);
    const parent = run?.waitedForBy && (await this.#deps.store.findRun(run.waitedForBy.runId));
    if (!parent || (run?.workflow && !hasEnded(parent))) return run;
    return this.#findRepeated(parent.id);
  }

  /** Applies `when_busy` of a concurrency key to the runs that have it. */
  async #makeRoom(workflow: string, { key, whenBusy }: { key: string; whenBusy: string }, by: Actor): Promise<void> {
    if (whenBusy === "wait") return;
    const same = await listLiveWithKey(this.#deps.store, workflow, key);
    const [first] = same;
    if (first && whenBusy === "skip") {
      throw new Refusal("already_pending", `Run #${first.number} has the same key; nothing was started`, {
        hint: `See it with: askd workflow show ${first.number}`,
      });
    }
    const { cancelRun } = await import("../../core/run/run-lifecycle.ts");
    for (const { id } of same) {
      await this.#deps.decider.changeRun(id, by.scope === "system" ? SYSTEM : by, (read, at) =>
        hasEnded(read.run) ? {} : cancelRun(read, "replaced", at),
      );
    }
  }

  /** The row by which two starts for one issue at the same time become one. */
  async #guard(name: string, { repo, number }: { repo: string; number: number }, runId: RunId): Promise<Entry> {
    const { store } = this.#deps;
    const before = await store.findEntry("trigger", liveRunId({ name, repo, number }));
    const known = findNamedRun(before);
    if (known !== undefined && known !== runId) requireNoLiveRun(await store.findRun(known));
    return liveRunEntry(before, { name, repo, number, runId });
  }

  async #guardAgain({ id, issue, workflow }: Run): Promise<Entry[]> {
    const repo = issue?.repo;
    if (!workflow || workflow.branch || !issue || repo === undefined) return [];
    return [await this.#guard(workflow.name, { repo, number: issue.number }, id)];
  }
}

function noWorkflow(run: Run | undefined) {
  if (!run) return new Refusal("not_found", "There is no such run");
  return new Refusal("bad_input", `Run #${run.number} is not the run of a workflow`, {
    hint: `See it with: askd show ${run.number}`,
  });
}

function noSuchStep(run: Run, from: string | undefined, names: readonly string[]) {
  const what = from === undefined ? "has no step to repeat" : `has no step "${from}"`;
  return new Refusal("bad_input", `The workflow of run #${run.number} ${what}`, {
    hint: `Choose one: askd workflow retry ${run.number} --from <step>; it has: ${names.join(", ")}`,
  });
}
