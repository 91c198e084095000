import { hashText } from "../../question/content.ts";
import { sortKeys } from "../../question/tool-use.ts";
import type { WorkflowDefinition } from "./definition.ts";

/**
 * The hash that a person approves and a run is pinned to. It changes with everything that a run could do differently, and
 * not with comments, the order of keys or the layout of the file.
 */
export function hashDefinition(definition: WorkflowDefinition | Readonly<Record<string, unknown>>): string {
  return hashText(JSON.stringify(sortKeys(definition)));
}

/** Says whether a stored definition is the one that its hash names. */
export function isDefinitionOf(hash: string, body: unknown): boolean {
  return typeof body === "object" && body !== null && hashDefinition({ ...body }) === hash;
}
