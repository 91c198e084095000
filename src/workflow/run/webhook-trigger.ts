import { SYSTEM } from "../../core/people/actor.ts";
import { Refusal } from "../../core/refusal.ts";
import type { Run } from "../../core/run/run.ts";
import { redactor } from "../../core/secret/redact.ts";
import { type ApprovedWorkflow, parseApproved } from "../../core/workflow/approval.ts";
import { EvaluationProblem } from "../../core/workflow/definition/evaluate.ts";
import { findTrigger } from "../../core/workflow/trigger/match-trigger.ts";
import type { Webhook, WebhookResult } from "../../core/workflow/webhook.ts";
import type { JobContext } from "../../engine/jobs/worker.ts";
import { requireUnchanged } from "./approved-file.ts";
import { readDefinition } from "./kept-definition.ts";
import { redactDeep } from "./redact-deep.ts";
import { fillInputs } from "./trigger-input.ts";
import { Workflows } from "./workflows.ts";

type WebhookDeps = Pick<JobContext, "store" | "decider"> & {
  /** This machine, whose projects it can read. */
  host: string;
};

/** Starts a run of each approved workflow of this machine that waits for this webhook; the same request again starts none. */
export async function startByWebhook(webhook: Webhook, deps: WebhookDeps): Promise<WebhookResult> {
  const clean = redactor([], deps.decider.at(SYSTEM).rules.redact);
  const kept = { ...webhook, body: redactDeep(webhook.body, clean) };
  const runs: Array<WebhookResult["runs"][number]> = [];
  const refused: Array<WebhookResult["refused"][number]> = [];
  const all = (await deps.store.listEntries("workflow")).map(parseApproved);
  for (const workflow of all.filter(({ host }) => host === deps.host)) {
    try {
      const run = await start(workflow, kept, deps);
      if (run) runs.push({ runId: run.id, number: run.number, workflow: workflow.name });
    } catch (error) {
      refused.push({ workflow: workflow.name, ...whyNot(error) });
    }
  }
  return { runs, refused };
}

/** Starts a run of the workflow; undefined if it does not wait for this. */
async function start(workflow: ApprovedWorkflow, webhook: Webhook, deps: WebhookDeps): Promise<Run | undefined> {
  const definition = await readDefinition(deps.store, workflow.definition);
  const { name, body } = webhook;
  const match = findTrigger(definition, { is: "webhook", name, body });
  if (!match?.starts) return undefined;
  await requireUnchanged(workflow);
  const cause = { type: "webhook", name, body, by: `hook:${name}` } as const;
  const inputs = fillInputs(match.trigger, { trigger: cause });
  const once = `webhook ${workflow.id} ${name} ${webhook.id}`;
  return new Workflows(deps).start({ workflow, cause, inputs, once }, SYSTEM);
}

/** A workflow that cannot begin keeps no other from it. */
function whyNot(error: unknown): { code: string; detail: string } {
  if (error instanceof EvaluationProblem) return { code: "bad_expression", detail: error.message };
  if (error instanceof Refusal) return { code: error.code, detail: error.message };
  throw error;
}
