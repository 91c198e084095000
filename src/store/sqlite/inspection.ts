import { instant } from "../../core/instant.ts";
import { type Look, compareSchema } from "../inspection.ts";
import { Connection } from "./connection.ts";
import { SCHEMA, readMeta } from "./schema.ts";
import { readSqliteStore } from "./sqlite.ts";

/** Looks at the store in a file that is there. */
export async function lookAtSqlite(path: string): Promise<Look> {
  const connection = await Connection.look(path);
  try {
    return await connection.read(() => read(connection));
  } catch (error) {
    connection.close();
    throw error;
  }
}

function read(connection: Connection): Look {
  const { database } = connection;
  const version = database.prepare<{ version: string }>("select sqlite_version() as version").get()?.version;
  const journal = database.prepare<{ journal_mode: string }>("pragma journal_mode").get()?.journal_mode;
  const meta = readMeta(connection);
  const schema = compareSchema(meta && { schema: meta.schema, writable: meta.writable_by }, SCHEMA);
  const isWal = journal === "wal";
  return {
    keeper: `sqlite ${version}`,
    // How far a commit is synced belongs to a connection: every one that writes sets it to full and looks again.
    durability: isWal ? "WAL, sync full" : `journal mode ${journal}`,
    // A file in which nothing was kept yet gets its mode with its tables.
    isDurable: isWal || schema === "missing",
    schema,
    now: instant(Date.now()),
    store: schema === "current" ? readSqliteStore(connection) : undefined,
    close: () => {
      connection.close();
      return Promise.resolve();
    },
  };
}
