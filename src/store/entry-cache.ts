import type { Entry } from "../core/changes.ts";
import type { RowVersion } from "./question-cache.ts";

const MOST_ENTRIES = 5_000;
/** Kinds that are listed often and change rarely. */
const LISTED: ReadonlySet<Entry["kind"]> = new Set(["person", "token", "template"]);

/**
 * Caches entries that pages list whole: an unchanged entry is neither fetched nor parsed again. It stays the same
 * object, so that derived data can be cached by it; nobody changes it.
 */
export class EntryCache {
  readonly #entries = new Map<string, Entry>();

  isFor(kind: Entry["kind"]): boolean {
    return LISTED.has(kind);
  }

  /** The ids whose entries must be fetched. */
  missing(kind: Entry["kind"], names: readonly RowVersion[]): string[] {
    return names.filter((name) => !this.#find(kind, name)).map(({ id }) => id);
  }

  /** The entries of these versions; `fetched` are the missing ones. */
  take(kind: Entry["kind"], names: readonly RowVersion[], fetched: readonly Entry[]): Entry[] {
    const fresh = new Map(fetched.map((entry) => [entry.id, entry]));
    const taken = names.flatMap((name) => fresh.get(name.id) ?? this.#find(kind, name) ?? []);
    if (this.#entries.size + fetched.length > MOST_ENTRIES) this.#entries.clear();
    for (const entry of fetched.slice(0, MOST_ENTRIES)) this.#entries.set(`${kind} ${entry.id}`, entry);
    return taken;
  }

  #find(kind: Entry["kind"], { id, version }: RowVersion) {
    const known = this.#entries.get(`${kind} ${id}`);
    return known?.version === version ? known : undefined;
  }
}
