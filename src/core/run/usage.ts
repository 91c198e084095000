import { z } from "zod";
import { RunId } from "../id.ts";

/** The usage of a run over all its starts. */
export const UsageRow = z.object({
  turns: z.number(),
  costUsd: z.number(),
  inputTokens: z.number(),
  outputTokens: z.number(),
});
export type UsageRow = z.infer<typeof UsageRow>;

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
