import { z } from "zod";
import type { Entry } from "../../core/changes.ts";
import { RunId } from "../../core/id.ts";
import type { Instant } from "../../core/instant.ts";
import { SYSTEM } from "../../core/people/actor.ts";
import { type Run, hasEnded } from "../../core/run/run.ts";
import { workflowIdOf } from "../../core/workflow/approval.ts";
import type { WorkflowDefinition, WorkflowStep } from "../../core/workflow/definition/definition.ts";
import { innerSteps } from "../../core/workflow/definition/step-tree.ts";
import { planOf } from "../../core/workflow/run/plan.ts";
import { costOf, spendingOf } from "../../core/workflow/spending.ts";
import type { JobContext } from "../../engine/jobs/worker.ts";
import type { Store } from "../../store/store.ts";
import { StepError } from "../tool/tool.ts";
import { readDefinition } from "./kept-definition.ts";

const PAGE = 500;

/** The part of a budget that one agent may spend: other agents get none of it. */
const Reservation = z.object({ holder: RunId, root: RunId, agent: RunId, usd: z.number() });
type Reservation = z.infer<typeof Reservation>;

/** The reservations of a workflow; a run or branch has one at most, because it starts one agent after another. */
const ReservationRow = z.object({ reserved: z.array(Reservation) });

/** An agent that a step starts, with the budget of the step. */
interface BudgetRequest {
  id: RunId;
  budgetUsd: number | undefined;
  /** The most that the settings let it cost. */
  mostUsd: number | undefined;
}

/**
 * Reserves the budget of an agent: what is left of the budget of its workflow, at most that of its step or the settings.
 * Branches that are live together get equal parts. Undefined if there is no budget; refuses if nothing is left.
 */
export async function reserveBudget(
  run: Run,
  agent: BudgetRequest,
  { store, decider }: Pick<JobContext, "store" | "decider">,
): Promise<number | undefined> {
  const { workflow } = run;
  const definition = workflow && (await readDefinition(store, workflow.definition));
  if (!workflow || !definition?.budget) return agent.budgetUsd;
  const id = `reserved ${workflowIdOf(run, workflow)}`;
  return decider.retry(async () => {
    const row = await store.findEntry("usage", id);
    const held = await listHeld(row, run, store);
    const root = await rootOf(run, store);
    const family = [root, ...(await listDescendants(root.id, store))];
    const left = await findLeft(definition, { run, family, held }, { store, now: decider.at(SYSTEM).now });
    const part = left / countSharers(definition, { run, family, held });
    const usd = Math.min(part, agent.budgetUsd ?? part, agent.mostUsd ?? part);
    const reserved = [
      ...held.map(({ reservation }) => reservation),
      { holder: run.id, root: root.id, agent: agent.id, usd },
    ];
    // Of two agents that start at the same time, one commits first, and the other gets a part of what is left then.
    const entry: Entry = { kind: "usage", id, version: row?.version ?? 0, body: { reserved } };
    return (await decider.commit({ entries: [entry] })).ok ? usd : undefined;
  });
}

/** A reservation of an agent that has not ended, with what is left of it. */
interface HeldBudget {
  reservation: Reservation;
  leftUsd: number;
  isParked: boolean;
}

/** The reservations of other runs; those whose agent has ended are left out. */
async function listHeld(row: Entry | undefined, run: Run, store: Store): Promise<HeldBudget[]> {
  const { reserved = [] } = ReservationRow.safeParse(row?.body).data ?? {};
  const others = reserved.filter(({ holder }) => holder !== run.id);
  const ids = others.flatMap(({ holder, agent }) => [holder, agent]);
  const runs = new Map((await store.readRuns(ids)).map((each) => [each.id, each]));
  const usage = await store.readEntries("usage", ids);
  const costs = new Map(usage.map((entry) => [entry.id, costOf(entry)]));
  return others.flatMap((reservation) => {
    const { agent, holder, usd } = reservation;
    // An agent that is not there yet is about to be started by its holder.
    const found = runs.get(agent) ?? runs.get(holder);
    if (!found || hasEnded(found)) return [];
    const isParked = found.status === "awaiting_input" || found.status === "deferred";
    return [{ reservation, leftUsd: Math.max(0, usd - (costs.get(agent) ?? 0)), isParked }];
  });
}

interface BudgetReading {
  run: Run;
  /** The whole run, its branches, and all runs that it or they started. */
  family: readonly Run[];
  held: readonly HeldBudget[];
}

/** How much of the budget is neither spent nor reserved; refuses if that is nothing. */
async function findLeft(
  { name, budget: { per_run: perRun, per_day: perDay } = {} }: WorkflowDefinition,
  { run, family, held }: BudgetReading,
  { store, now }: { store: Store; now: Instant },
): Promise<number> {
  const ids = family.map(({ id }) => id);
  const ofRun = held.filter(({ reservation }) => ids.includes(reservation.holder));
  // An agent may wait for an answer for days, and keeps no other run from working meanwhile.
  const ofDay = held.filter(({ isParked }) => !isParked);
  const left = Math.min(
    perRun === undefined ? Infinity : perRun - sum(await store.readEntries("usage", ids)) - sumHeld(ofRun),
    perDay === undefined ? Infinity : perDay - (await costOfDay(run, now, store)) - sumHeld(ofDay),
  );
  if (left > 0) return left;
  const why = sumHeld(held) + left > 0 ? "used up, or reserved for agents that work now" : "used up";
  throw new StepError("budget_used", `The budget of the workflow ${name} is ${why}`);
}

function sumHeld(held: readonly HeldBudget[]): number {
  return held.reduce((total, { leftUsd }) => total + leftUsd, 0);
}

/** How many runs share what is left: this one, and live branches beside it that may start an agent and have none. */
function countSharers(definition: WorkflowDefinition, { run, family, held }: BudgetReading): number {
  const holders = new Set(held.map(({ reservation }) => reservation.holder));
  const parents = new Set(family.filter((each) => !hasEnded(each)).map(({ parentId }) => parentId));
  const others = family.filter(
    ({ id, status, workflow }) =>
      id !== run.id && workflow && !hasEnded({ status }) && !holders.has(id) && !parents.has(id),
  );
  return 1 + others.filter(({ workflow }) => hasAgent(planOf(definition, workflow?.branch).lists.steps)).length;
}

function hasAgent(steps: readonly WorkflowStep[]): boolean {
  return steps.some((step) => ("tool" in step ? step.tool === "agent" : hasAgent(innerSteps(step)?.steps ?? [])));
}

/** The cost of all agents of a workflow on one day, whenever their runs began. */
async function costOfDay(run: Run, at: Instant, store: Store): Promise<number> {
  const { workflow } = run;
  return workflow
    ? sum(await store.listEntries("usage", spendingOf({ workflow: workflowIdOf(run, workflow), at })))
    : 0;
}

function sum(entries: readonly Entry[]): number {
  return entries.reduce((total, entry) => total + costOf(entry), 0);
}

async function rootOf(run: Run, store: Store): Promise<Run> {
  const parent = run.workflow?.branch && run.parentId ? await store.findRun(run.parentId) : undefined;
  return parent ? rootOf(parent, store) : run;
}

/** The runs that a run started, and those that they started. */
async function listDescendants(root: RunId, store: Store): Promise<Run[]> {
  const found = await listChildren(root, store);
  // Those that are found are looked at in turn.
  for (const { id } of found) found.push(...(await listChildren(id, store)));
  return found;
}

async function listChildren(parentId: RunId, store: Store): Promise<Run[]> {
  const found: Run[] = [];
  for (;;) {
    const after = found.at(-1)?.id;
    const page = await store.listRuns({
      parentId,
      order: "oldest",
      limit: PAGE,
      ...(after !== undefined && { after }),
    });
    found.push(...page);
    if (page.length < PAGE) return found;
  }
}
