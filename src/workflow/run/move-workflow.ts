import type { RunId } from "../../core/id.ts";
import type { Actor } from "../../core/people/actor.ts";
import { Refusal } from "../../core/refusal.ts";
import { machineName } from "../../core/run/machine.ts";
import { moveRun, requireMovable } from "../../core/run/move-run.ts";
import { type Run, hasEnded } from "../../core/run/run.ts";
import { isApprovedHere, parseApproved } from "../../core/workflow/approval.ts";
import { parseCheckpoint } from "../../core/workflow/checkpoint.ts";
import type { JobContext } from "../../engine/jobs/worker.ts";
import { listMachines } from "../../engine/machines.ts";
import type { Store } from "../../store/store.ts";

const MOST_CHILDREN = 1_000;
/** The tools that do not work in the tree of their run; `parallel` and `steps` start runs that are looked at themselves. */
const TREELESS: ReadonlySet<string> = new Set([
  "post_question",
  "http",
  "github_comment",
  "update_github_issue",
  "parallel",
  "steps",
]);

/** The machine that goes on with the run. */
export interface NewMachine {
  host: string;
  /** Says whether the branch of this tree is in the project. */
  hasBranch(dir: string, tree: string): Promise<boolean>;
}

/** A run that was moved. */
interface MovedWorkflow {
  run: Run;
  /** It worked in its tree before: what was not committed there is left behind. */
  hasTree: boolean;
  /** The agents that its steps started and that have not ended: they do not move with it. */
  agents: Run[];
}

/**
 * Moves a workflow run with its live branches to a machine where its definition is approved. The whole run of a branch
 * moves, and last: a move that was interrupted is completed by the next one.
 */
export async function moveWorkflow(
  run: Run,
  { host, hasBranch }: NewMachine,
  by: Actor,
  { store, decider }: Pick<JobContext, "store" | "decider">,
): Promise<MovedWorkflow> {
  const [known, now, root] = [await listMachines(store), await store.now(), await findWhole(run, store)];
  const all = [...(await readDescendants(root, store)), root];
  const live = all.filter((each) => !hasEnded(each));
  const staying = live.filter((each) => each.workflow && each.host !== host);
  for (const each of staying.length === 0 || hasEnded(root) ? [root] : staying) {
    requireMovable(each, host, { known, others: [], now });
  }
  const dir = await getApprovedDir(root, host, store);
  const tree = root.workflow?.tree ?? root.id;
  const hasTree = await usesTree(all, store);
  if (hasTree && !(await hasBranch(dir, tree))) throw noBranch(root, dir, tree);
  for (const { id, version } of staying) {
    await decider.changeRun(id, by, (read, at) => {
      if (read.run.version !== version) throw wentOn(read.run);
      return moveRun(read, { host, dir }, at);
    });
  }
  const moved = await store.findRun(run.id);
  return { run: moved ?? run, hasTree, agents: live.filter((each) => !each.workflow && each.host !== host) };
}

/** The run that a branch belongs to. */
async function findWhole(run: Run, store: Store): Promise<Run> {
  let whole = run;
  while (whole.waitedForBy) {
    const parent = await store.findRun(whole.waitedForBy.runId);
    if (!parent) return whole;
    whole = parent;
  }
  return whole;
}

async function readDescendants({ id }: Pick<Run, "id">, store: Store): Promise<Run[]> {
  const children = await store.listRuns({ parentId: id, order: "oldest", limit: MOST_CHILDREN });
  const own = children.filter(({ waitedForBy }) => waitedForBy?.runId === id);
  const inner = await Promise.all(own.map((child) => readDescendants(child, store)));
  return [...inner.flat(), ...own];
}

/** The project of this machine in which a person has approved the definition of the run. */
async function getApprovedDir({ number, dir, workflow }: Run, host: string, store: Store): Promise<string> {
  const here = (await store.listEntries("workflow")).map(parseApproved).filter((each) => each.host === host);
  const approved = here.filter((each) => workflow && isApprovedHere(workflow.definition, [each]));
  const found = approved.find((each) => each.dir === dir) ?? approved[0];
  if (found) return found.dir;
  const name = workflow?.name ?? "";
  throw new Refusal(
    "not_permitted",
    `Run #${number} cannot continue here: no person has approved its workflow ${name} on this machine`,
    {
      hint: `In its project here, with the file as it was when the run began, read it, then: askd workflow approve ${name}`,
    },
  );
}

/** Says whether one of these runs has worked in their tree. */
async function usesTree(runs: readonly Run[], store: Store): Promise<boolean> {
  const ids = runs.filter(({ workflow }) => workflow).map(({ id }): RunId => id);
  const checkpoints = (await store.readEntries("checkpoint", ids)).map((entry) => parseCheckpoint(entry).checkpoint);
  return checkpoints.some(({ steps }) => Object.values(steps).some(({ tool }) => !TREELESS.has(tool)));
}

function noBranch({ number, host }: Run, dir: string, tree: string) {
  const name = machineName(host);
  return new Refusal("not_found", `Run #${number} cannot continue here: its branch askd/${tree} is not in ${dir}`, {
    hint:
      `Fetch it from the project on ${name}: git fetch <that project> askd/${tree}:askd/${tree}\n` +
      `Or cancel the run: askd runs cancel ${number}`,
  });
}

/** A worker has claimed it since: the last heartbeat of its machine is outdated. */
function wentOn({ number }: Run) {
  return new Refusal("moved", `Run #${number} went on meanwhile`, {
    hint: `See it with: askd workflow show ${number}`,
  });
}
