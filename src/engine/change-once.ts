import type { Actor } from "../core/people/actor.ts";
import type { DecisionContext, Changes, Entry, QuestionSnapshot } from "../core/changes.ts";
import type { QuestionId } from "../core/id.ts";
import { type IdempotentChange, idempotencyEntry, requireSameChange } from "../core/trail/idempotency.ts";
import { Refusal } from "../core/refusal.ts";
import type { Store } from "../store/store.ts";
import type { Done } from "./engine.ts";

type Decide = (read: QuestionSnapshot, at: DecisionContext) => Changes;

interface OnceDeps {
  store: Pick<Store, "findEntry">;
  read(id: QuestionId): Promise<QuestionSnapshot>;
  change(id: QuestionId, by: Actor, decide: Decide): Promise<QuestionSnapshot>;
}

/** A change of a question, by its name and what it says. */
export interface NamedChange extends IdempotentChange {
  id: QuestionId;
  by: Actor;
  change: readonly unknown[];
}

/** Changes a question once, however often a change of that key is sent. */
export async function changeOnce(deps: OnceDeps, named: NamedChange, decide: Decide): Promise<Done> {
  const { id, by, key, change } = named;
  if (key === undefined) return { ...(await deps.change(id, by, decide)), isNew: true };
  const entry = idempotencyEntry({ key, questionId: id, by }, change);
  if (await wasTaken(deps, entry)) return { ...(await deps.read(id)), isNew: false };
  try {
    const read = await deps.change(id, by, (before, at) => {
      const changes = decide(before, at);
      return { ...changes, entries: [...(changes.entries ?? []), entry] };
    });
    return { ...read, isNew: true };
  } catch (error) {
    // It came a second time while the first was under way.
    if (!(error instanceof Refusal) || !(await wasTaken(deps, entry))) throw error;
    return { ...(await deps.read(id)), isNew: false };
  }
}

async function wasTaken({ store }: OnceDeps, entry: Entry): Promise<boolean> {
  const before = await store.findEntry(entry.kind, entry.id);
  if (before) requireSameChange(before, entry);
  return before !== undefined;
}
