import { WorkflowDefinition } from "../../core/workflow/definition/definition.ts";
import { hashDefinition } from "../../core/workflow/definition/definition-hash.ts";
import { Refusal } from "../../core/refusal.ts";
import type { Store } from "../../store/store.ts";

const MOST_KEPT = 200;
const known = new WeakMap<Pick<Store, "findEntry">, Map<string, WorkflowDefinition>>();

/** Says whether a stored definition is the one that its hash names. */
export function isDefinitionOf(hash: string, body: unknown): boolean {
  return typeof body === "object" && body !== null && hashDefinition({ ...body }) === hash;
}

/** The definition with this hash, which never changes. */
export async function readDefinition(store: Pick<Store, "findEntry">, hash: string): Promise<WorkflowDefinition> {
  const kept = known.get(store) ?? new Map<string, WorkflowDefinition>();
  known.set(store, kept);
  const found = kept.get(hash);
  if (found) return found;
  const entry = await store.findEntry("definition", hash);
  if (!entry) throw new Refusal("not_found", `The definition ${hash} of a workflow is missing`);
  const { definition: body } = entry.body;
  if (!isDefinitionOf(hash, body)) {
    throw new Refusal("not_permitted", `The definition ${hash} of a workflow was changed; nothing of it runs`, {
      hint: "Read the file of the workflow, then: askd workflow approve <name>",
    });
  }
  const definition = WorkflowDefinition.parse(body);
  if (kept.size >= MOST_KEPT) kept.clear();
  kept.set(hash, definition);
  return definition;
}
