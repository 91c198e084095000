import type { Instant } from "../core/instant.ts";
import type { Store } from "./store.ts";

/** What a store says of itself when it is looked at, before anything about it is changed. */
export interface Look {
  /** The program that keeps it: `sqlite 3.50.4`. */
  keeper: string;
  /** How it keeps what was acknowledged: `WAL`, or what a database server says of `synchronous_commit`. */
  durability: string;
  isDurable: boolean;
  /** How its tables compare with what this program knows. */
  schema: "missing" | "older" | "current" | "newer";
  /** Its own time. */
  now: Instant;
  /** Another program's transaction that has been open for long and keeps the feed from going on. */
  heldBy?: { pid: number; ms: number };
  /** Its rows, where this program can read them. */
  store: Store | undefined;
  close(): Promise<void>;
}

/** Compares the schema of a store with the one that a program knows. */
export function compareSchema(meta: { schema: number; writable: number } | undefined, known: number): Look["schema"] {
  if (!meta) return "missing";
  if (meta.writable > known) return "newer";
  return meta.schema < known ? "older" : "current";
}
