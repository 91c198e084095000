import { describeTrigger } from "../../../core/workflow/definition/graph.ts";
import { RUN_FIELDS, viewRun } from "../../../core/api/view.ts";
import { Refusal } from "../../../core/refusal.ts";
import { parseIssue } from "../../../core/run/issue.ts";
import { type UsableWorkflow, getWorkflow } from "../../../workflow/definition/workflow-folder.ts";
import { whoTypes } from "../../actor.ts";
import { requireOneArgument } from "../../arguments.ts";
import type { Context } from "../../context.ts";
import { printResult } from "../../output.ts";
import { oneLine } from "../../view/sanitise.ts";
import { findRepository } from "../run/repository.ts";
import { startService } from "../service/worker.ts";
import { readProjectWorkflows, requireTools } from "./project-workflows.ts";
import { openWorkflows, projectOf } from "./workflow-engine.ts";
import type { WorkflowFlags } from "./workflow.ts";

const APPROVED_FIELDS = ["name", "path", "hash", "approved_by", "approved_at"] as const;

/** Lets a workflow run, after a person has read it; each change of its file has to be approved anew. */
export async function approve(words: readonly string[], _given: WorkflowFlags, context: Context): Promise<number> {
  const found = await getNamed(words, "workflow approve <name>", context);
  await requireTools(found, context);
  const { engine, workflows } = await openWorkflows(context);
  const by = await whoTypes(engine, context);
  const { place, repo } = await placeOf(found, context);
  const { definition, hash, path } = found;
  const input = { ...place, file: path, definition: hash, ...(repo !== undefined && { repo }) };
  const { approvedBy, approvedAt } = await workflows.approve(input, definition, by);
  const starts = (definition.triggers ?? []).map(describeTrigger);
  if (starts.length > 0) await startService(context);
  printResult(context, APPROVED_FIELDS, {
    page: () => `✓ ${definition.name} is approved${starts.length === 0 ? "" : `; it starts ${starts.join(", ")}`}\n`,
    json: () => ({ name: definition.name, path, hash, approved_by: approvedBy.id, approved_at: approvedAt }),
  });
  return 0;
}

/** Starts a run of an approved workflow by hand. */
export async function start(words: readonly string[], given: WorkflowFlags, context: Context): Promise<number> {
  const found = await getNamed(words, "workflow run <name> [--input name=value] [--issue repo#12]", context);
  const { engine, workflows } = await openWorkflows(context);
  const by = await whoTypes(engine, context);
  const { place } = await placeOf(found, context);
  const workflow = await workflows.getApproved(place, found.hash);
  await requireTools(found, context);
  const issue = given.issue === undefined ? undefined : parseIssue(given.issue);
  const inputs = readPairs(given.input ?? []);
  const run = await workflows.start({ workflow, cause: { type: "manual", by: by.id }, inputs, issue }, by);
  const started = await startService(context);
  printResult(context, RUN_FIELDS, {
    page: () => `${run.number}\n`,
    json: () => viewRun(run),
  });
  if (!context.isQuiet && !context.json) {
    const service = started === "started" ? " (started the askd worker in the background)" : "";
    context.stderr.write(
      `#${run.number} ${oneLine(run.name)} is queued${service}. See it: ${context.program} workflow show ${run.number}\n`,
    );
  }
  return 0;
}

async function getNamed(words: readonly string[], usage: string, context: Context): Promise<UsableWorkflow> {
  return getWorkflow(await readProjectWorkflows(context), requireOneArgument(words, usage));
}

/** The machine and the project that a workflow belongs to. */
async function placeOf({ definition, path }: UsableWorkflow, context: Context) {
  const dir = projectOf(path);
  const { repo } = await findRepository(dir, context.readFile);
  return { place: { name: definition.name, host: await context.keepHost(), dir }, repo };
}

/** Reads `name=value`. */
function readPairs(pairs: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf("=");
      if (at > 0) return [pair.slice(0, at), pair.slice(at + 1)];
      throw new Refusal("bad_input", `"${oneLine(pair)}" is no input`, { hint: "Write it like: --input name=value" });
    }),
  );
}
