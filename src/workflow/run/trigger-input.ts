import { z } from "zod";
import type { WorkflowTrigger } from "../../core/workflow/definition/definition.ts";
import type { Scope } from "../../core/workflow/definition/evaluate.ts";
import { fillTemplate } from "../../core/workflow/definition/template.ts";

/** The inputs that a trigger gives to a run: what its definition names, and nothing else. */
export function fillInputs(trigger: WorkflowTrigger, scope: Scope): Record<string, unknown> {
  const inputs = "inputs" in trigger ? (trigger.inputs ?? {}) : {};
  return z.record(z.string(), z.unknown()).parse(fillTemplate(inputs, scope));
}
