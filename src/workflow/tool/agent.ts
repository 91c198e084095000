import { z } from "zod";
import { DEFAULT_AGENT } from "../../core/workflow/definition/check-definition.ts";
import type { Run } from "../../core/run/run.ts";
import type { StepResult } from "../../core/workflow/run/machine.ts";
import { type PromptPart, joinPrompt } from "../../core/workflow/run/prompt.ts";
import { findOutputMismatch } from "./output-schema.ts";
import { parseInput } from "./step-input.ts";

const AgentInput = z.strictObject({
  agent: z.string().min(1).default(DEFAULT_AGENT),
  prompt: z.union([z.string().min(1), z.array(z.union([z.string(), z.object({ quoted: z.string() })])).min(1)]),
  /** The JSON Schema of its structured output. */
  schema: z.record(z.string(), z.unknown()).optional(),
  budget: z.number().positive().optional(),
});

/** The keys of the input of an agent step. */
export const AGENT_KEYS: readonly string[] = Object.keys(AgentInput.shape);

/** The work of an agent. */
export interface AgentTask {
  agent: string;
  prompt: string;
  budgetUsd: number | undefined;
}

/** Reads the input of an agent step; text of others in its prompt is quoted with this delimiter. */
export function readAgentTask(input: Readonly<Record<string, unknown>>, delimiter: string): AgentTask {
  const { agent, prompt, schema, budget } = parseInput(AgentInput, input, "agent");
  const parts: readonly PromptPart[] = typeof prompt === "string" ? [prompt] : prompt;
  const asked = joinPrompt(parts, delimiter);
  return { agent, prompt: schema ? `${asked}\n\n${howToReport(schema)}` : asked, budgetUsd: budget };
}

function howToReport(schema: Readonly<Record<string, unknown>>) {
  return [
    "When you are done, end your last message with one JSON object and nothing after it:",
    '{"status": "completed", "summary": "<one sentence>", "output": <an object that fits the schema below>}',
    'If you cannot do it, write {"status": "failed", "summary": "<why>"}.',
    `Schema of output: ${JSON.stringify(schema)}`,
  ].join("\n");
}

/** How the run of an agent counts for its step: its structured output, or what it says it did. */
export function agentResult(run: Run, input: unknown): StepResult {
  if (run.status === "skipped") return { is: "skipped", reason: run.reason };
  const { summary, details, output } = run.result ?? {};
  if (run.status !== "completed") {
    const said = summary ?? run.reason ?? run.status;
    return { is: "failed", failure: { code: "agent_failed", message: `Run #${run.number} ${run.status}: ${said}` } };
  }
  const { schema } = z.object({ schema: z.unknown() }).safeParse(input).data ?? {};
  if (schema === undefined) return { is: "done", output: output ?? { summary, details, run: run.number } };
  const mismatch = findOutputMismatch(schema, output) ?? (output === undefined ? "there is none" : undefined);
  if (mismatch === undefined) return { is: "done", output };
  const message = `Run #${run.number} ended without output that fits: ${mismatch}`;
  return { is: "failed", failure: { code: "bad_output", message } };
}
