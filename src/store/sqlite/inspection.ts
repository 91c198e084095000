import { instant } from "../../core/instant.ts";
import type { StoreInspection } from "../inspection.ts";
import { compareVersion } from "../schema.ts";
import { Connection } from "./connection.ts";
import { asksForLog } from "./identity.ts";
import { findMissingRows } from "./mend-schema.ts";
import { SCHEMA, readMeta } from "./schema.ts";
import { readSqliteStore } from "./sqlite.ts";

/** Inspects the store in an existing file; if it is to be read only, without making an index of its log beside it. */
export async function inspectSqlite({
  file,
  isReadOnly = false,
}: {
  file: string;
  isReadOnly?: boolean;
}): Promise<StoreInspection> {
  const hasLog = isReadOnly && asksForLog(file) === true;
  const connection = await (isReadOnly ? Connection.lookUntouched(file) : Connection.look(file));
  try {
    return await connection.read(() => read(connection, { hasLog }));
  } catch (error) {
    connection.close();
    throw error;
  }
}

function read(connection: Connection, { hasLog }: { hasLog: boolean }): StoreInspection {
  const { database } = connection;
  const version = database.prepare<{ version: string }>("select sqlite_version() as version").get()?.version;
  const journal = database.prepare<{ journal_mode: string }>("pragma journal_mode").get()?.journal_mode;
  const missingRows = findMissingRows(database);
  const schema = missingRows.includes("meta") ? "missing" : compareVersion(readMeta(connection), SCHEMA);
  const isWal = hasLog || journal === "wal";
  return {
    keeper: `sqlite ${version}`,
    // The sync level belongs to a connection: every writer sets it to full and verifies it.
    durability: isWal ? "WAL, sync full" : `journal mode ${journal}`,
    // An empty file gets its mode with its tables.
    isDurable: isWal || schema === "missing",
    schema,
    missingRows,
    now: instant(Date.now()),
    store: schema === "current" ? readSqliteStore(connection) : undefined,
    close: () => {
      connection.close();
      return Promise.resolve();
    },
  };
}
