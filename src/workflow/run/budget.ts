import type { Entry } from "../../core/changes.ts";
import type { RunId } from "../../core/id.ts";
import type { Instant } from "../../core/instant.ts";
import { SYSTEM } from "../../core/people/actor.ts";
import type { Run } from "../../core/run/run.ts";
import { costOf, spendingOf } from "../../core/workflow/spending.ts";
import type { JobContext } from "../../engine/jobs/worker.ts";
import type { Store } from "../../store/store.ts";
import { StepError } from "../tool/tool.ts";
import { readDefinition } from "./kept-definition.ts";

const PAGE = 500;

/** The rest of the budget for the agents of a run; undefined without a budget. Refuses if nothing is left. */
export async function requireBudget(
  run: Run,
  { store, decider }: Pick<JobContext, "store" | "decider">,
): Promise<number | undefined> {
  const { workflow } = run;
  const { budget } = workflow ? await readDefinition(store, workflow.definition) : {};
  if (!workflow || !budget) return undefined;
  const { now } = decider.at(SYSTEM);
  const left = [
    ...(budget.per_run === undefined ? [] : [budget.per_run - (await costOfRun(run, store))]),
    ...(budget.per_day === undefined ? [] : [budget.per_day - (await costOfDay(workflow.name, now, store))]),
  ];
  const least = Math.min(...left);
  if (least > 0) return Number.isFinite(least) ? least : undefined;
  throw new StepError("budget_used", `The budget of the workflow ${workflow.name} is used up`);
}

/** The cost of the agents of the whole run, however long ago they worked. */
async function costOfRun(run: Run, store: Store): Promise<number> {
  return sum(await store.readEntries("usage", await listFamily(await rootOf(run, store), store)));
}

/** The cost of all agents of a workflow on one day, whenever their runs began. */
async function costOfDay(workflow: string, at: Instant, store: Store): Promise<number> {
  return sum(await store.listEntries("usage", spendingOf({ workflow, at })));
}

function sum(entries: readonly Entry[]): number {
  return entries.reduce((total, entry) => total + costOf(entry), 0);
}

async function rootOf(run: Run, store: Store): Promise<RunId> {
  const parent = run.workflow?.branch && run.parentId ? await store.findRun(run.parentId) : undefined;
  return parent ? rootOf(parent, store) : run.id;
}

/** A run and all runs that it or they started. */
async function listFamily(root: RunId, store: Store): Promise<RunId[]> {
  const found = [root];
  // Those that are found are looked at in turn.
  for (const parentId of found) found.push(...(await listChildren(parentId, store)));
  return found;
}

async function listChildren(parentId: RunId, store: Store): Promise<RunId[]> {
  const found: RunId[] = [];
  for (;;) {
    const after = found.at(-1);
    const page = await store.listRuns({
      parentId,
      order: "oldest",
      limit: PAGE,
      ...(after !== undefined && { after }),
    });
    found.push(...page.map(({ id }) => id));
    if (page.length < PAGE) return found;
  }
}
