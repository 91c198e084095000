import { z } from "zod";
import { RunId } from "../id.ts";

/** The usage of a run over all its starts, as far as its agent says. */
export const UsageRow = z.object({
  turns: z.number().optional(),
  costUsd: z.number().optional(),
  inputTokens: z.number().optional(),
  outputTokens: z.number().optional(),
});
export type UsageRow = z.infer<typeof UsageRow>;

/** All tokens that were counted. */
export function countTokens({ inputTokens = 0, outputTokens = 0 }: UsageRow): number {
  return inputTokens + outputTokens;
}

/** Usage with its run. */
export const RunUsage = UsageRow.extend({ runId: RunId });
export type RunUsage = z.infer<typeof RunUsage>;

/** The wire format of usage: null is unknown. */
export const UsageView = z.object({
  turns: z.number().nullable(),
  cost_usd: z.number().nullable(),
  input_tokens: z.number().nullable(),
  output_tokens: z.number().nullable(),
});
export type UsageView = z.infer<typeof UsageView>;

export const USAGE_FIELDS: readonly string[] = Object.keys(UsageView.shape);

export function viewUsage(usage: UsageRow | undefined): UsageView {
  return {
    turns: usage?.turns ?? null,
    cost_usd: usage?.costUsd ?? null,
    input_tokens: usage?.inputTokens ?? null,
    output_tokens: usage?.outputTokens ?? null,
  };
}
