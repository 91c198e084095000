import type { z } from "zod";
import { StepError } from "./tool.ts";

/** The input of a step, parsed; a wrong one fails the step with the first problem. */
export function parseInput<Schema extends z.ZodType>(
  schema: Schema,
  input: Readonly<Record<string, unknown>>,
  tool: string,
): z.infer<Schema> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = issue && issue.path.length > 0 ? `${issue.path.join(".")}: ` : "";
  throw new StepError("bad_input", `The input of ${tool} is wrong: ${place}${issue?.message ?? "unknown"}`);
}
