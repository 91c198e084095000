import { WorkflowDefinition } from "../../core/workflow/definition/definition.ts";
import { isDefinitionOf } from "../../core/workflow/definition/definition-hash.ts";
import { Refusal } from "../../core/refusal.ts";
import type { Store } from "../../store/store.ts";

const MOST_KEPT = 200;
const known = new WeakMap<Pick<Store, "findEntry">, Map<string, WorkflowDefinition>>();

/** The definition with this hash; refuses one that is lost or was changed in the store. */
export async function readDefinition(store: Pick<Store, "findEntry">, hash: string): Promise<WorkflowDefinition> {
  const found = await findDefinition(store, hash);
  if (found) return found;
  throw new Refusal(
    "not_permitted",
    `The definition ${hash} of a workflow is lost or was changed; nothing of it runs`,
    {
      hint: "Read the file of the workflow, then: askd workflow approve <name>",
    },
  );
}

/** The definition with this hash, which never changes; undefined if it is lost or was changed in the store. */
export async function findDefinition(
  store: Pick<Store, "findEntry">,
  hash: string,
): Promise<WorkflowDefinition | undefined> {
  const kept = known.get(store) ?? new Map<string, WorkflowDefinition>();
  known.set(store, kept);
  const found = kept.get(hash);
  if (found) return found;
  const entry = await store.findEntry("definition", hash);
  const body = entry?.body["definition"];
  if (!isDefinitionOf(hash, body)) return undefined;
  const definition = WorkflowDefinition.parse(body);
  if (kept.size >= MOST_KEPT) kept.clear();
  kept.set(hash, definition);
  return definition;
}
