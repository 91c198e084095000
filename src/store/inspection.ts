import type { Instant } from "../core/instant.ts";
import type { Store } from "./store.ts";

/** The state of a store as inspected, without changing it. */
export interface StoreInspection {
  /** The database and its version: `sqlite 3.50.4`. */
  keeper: string;
  /** Its durability setting: `WAL`, or the value of `synchronous_commit`. */
  durability: string;
  isDurable: boolean;
  /** Its schema, compared with the one this program knows. */
  schema: "missing" | "older" | "current" | "newer";
  /** The server takes no writes: it is a standby, or set to read-only. */
  isReadOnly?: boolean;
  /** Rows of its own that it has lost, by name. */
  missingRows: readonly string[];
  /** Its own time. */
  now: Instant;
  /** A long-open transaction of another program that blocks the feed. */
  heldBy?: { pid: number; ms: number };
  /** A session that keeps others from writing to the store, or to one of its tables. */
  lockedBy?: { pid: number; program: string; table: string | undefined; ms: number } | undefined;
  /** A pooler in front of the database, and whether another address is given for LISTEN. */
  pooler?: { canListen: boolean } | undefined;
  /** Its rows, if this program can read them. */
  store: Store | undefined;
  close(): Promise<void>;
}
