import type { Entry } from "../core/changes.ts";
import type { RowName } from "./question-cache.ts";

const MOST_ENTRIES = 5_000;
/** Kinds that are listed whole, again and again, and change seldom. */
const LISTED: ReadonlySet<Entry["kind"]> = new Set(["person", "token", "template"]);

/**
 * Keeps entries that pages list whole: one that has not changed is neither fetched nor parsed again. It is the same
 * object then, so that whoever reads more into it can remember that as well; nobody changes it.
 */
export class EntryReader {
  readonly #entries = new Map<string, Entry>();

  isFor(kind: Entry["kind"]): boolean {
    return LISTED.has(kind);
  }

  /** Those of the names whose entries have to be fetched. */
  missing(kind: Entry["kind"], names: readonly RowName[]): string[] {
    return names.filter((name) => !this.#find(kind, name)).map(({ id }) => id);
  }

  /** The entries of these names, of which those that were missing are given now. */
  take(kind: Entry["kind"], names: readonly RowName[], fetched: readonly Entry[]): Entry[] {
    const fresh = new Map(fetched.map((entry) => [entry.id, entry]));
    const taken = names.flatMap((name) => fresh.get(name.id) ?? this.#find(kind, name) ?? []);
    if (this.#entries.size + fetched.length > MOST_ENTRIES) this.#entries.clear();
    for (const entry of fetched.slice(0, MOST_ENTRIES)) this.#entries.set(`${kind} ${entry.id}`, entry);
    return taken;
  }

  #find(kind: Entry["kind"], { id, version }: RowName): Entry | undefined {
    const known = this.#entries.get(`${kind} ${id}`);
    return known?.version === version ? known : undefined;
  }
}
