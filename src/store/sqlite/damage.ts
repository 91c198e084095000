import { Refusal } from "../../core/refusal.ts";
import type { Connection } from "./connection.ts";

/** A file of this size is looked through in some 30 ms; a larger one only by who asks for all of it. */
const QUICK_BYTES = 32 * 1024 * 1024;
/** How much of the damage is told. */
const MOST_TOLD = 20;

/** What SQLite finds wrong with the file, in its words; nothing where it is whole. */
export async function findDamage(connection: Connection, how: "quick_check" | "integrity_check"): Promise<string[]> {
  try {
    const rows = await connection.read(() =>
      connection.database.prepare<Record<string, string>>(`pragma ${how}(${MOST_TOLD})`).all(),
    );
    // Some versions put all of it into one row, below a headline.
    const found = rows.flatMap((row) => (row[how] ?? "").split("\n")).filter((line) => !/^\*\*\*|^$/.test(line));
    return found.join() === "ok" ? [] : found;
  } catch (error) {
    // So damaged that it cannot even be looked through.
    if (!(error instanceof Refusal)) throw error;
    return [error.cause instanceof Error ? error.cause.message : error.message];
  }
}

/** The same where it takes no time to speak of. */
export async function findQuickDamage(connection: Connection): Promise<string[]> {
  const read = (name: string): number =>
    connection.database.prepare<Record<string, number>>(`pragma ${name}`).get()?.[name] ?? 0;
  const bytes = await connection.read(() => read("page_count") * read("page_size"));
  return bytes > QUICK_BYTES ? [] : findDamage(connection, "quick_check");
}
