import { Refusal } from "../../core/refusal.ts";
import type { Connection } from "./connection.ts";

/** A file of this size is checked in about 30 ms; larger ones only on request. */
const QUICK_BYTES = 32 * 1024 * 1024;
/** The maximum number of reported damages. */
const MOST_TOLD = 20;

/** Lists the damage SQLite finds in the file, in its words. */
export async function findDamage(connection: Connection, how: "quick_check" | "integrity_check"): Promise<string[]> {
  try {
    const rows = await connection.read(() =>
      connection.database.prepare<Record<string, string>>(`pragma ${how}(${MOST_TOLD})`).all(),
    );
    // Some versions report everything in one row, below a headline.
    const found = rows.flatMap((row) => (row[how] ?? "").split("\n")).filter((line) => !/^\*\*\*|^$/.test(line));
    return found.join() === "ok" ? [] : found;
  } catch (error) {
    // Too damaged even to be checked.
    if (!(error instanceof Refusal)) throw error;
    return [error.cause instanceof Error ? error.cause.message : error.message];
  }
}

/** Like `findDamage`, for files small enough to check quickly. */
export async function findQuickDamage(connection: Connection): Promise<string[]> {
  const read = (name: string) =>
    connection.database.prepare<Record<string, number>>(`pragma ${name}`).get()?.[name] ?? 0;
  const bytes = await connection.read(() => read("page_count") * read("page_size"));
  return bytes > QUICK_BYTES ? [] : findDamage(connection, "quick_check");
}
