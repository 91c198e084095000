import type { Instant } from "../../core/instant.ts";
import { Refusal } from "../../core/refusal.ts";
import { type Backup, writeBackup } from "../backup-file.ts";
import { runClientProgram } from "./client-program.ts";
import { getDirectUrl } from "./connect.ts";
import { findSchema } from "./migrate.ts";

export interface DumpInput {
  address: string;
  target: string;
  at: Instant;
  /** Writes what belongs to it, before it gets its name. */
  prepare?: (() => Promise<unknown>) | undefined;
}

/** Writes a dump of the store's database while others may write; its list of contents is read before it gets its name. */
export async function dumpPostgres({ address, ...input }: DumpInput): Promise<Backup> {
  if ((await findSchema(await getDirectUrl(address))).schema === 0) {
    throw new Refusal("not_found", "There is no store in that database", {
      hint: "See where it is: askd status --verbose",
    });
  }
  return dumpDatabase({ address, ...input });
}

/** Writes a dump of a database, whatever is in it. */
export async function dumpDatabase({ address, ...input }: DumpInput): Promise<Backup> {
  const url = await getDirectUrl(address);
  const of = { url, failure: "The database could not be backed up", hint: "See what is wrong: askd doctor" };
  const write = async (draft: string) => {
    await runClientProgram({ ...of, name: "pg_dump", argv: ["--format=custom", `--file=${draft}`] });
    await runClientProgram({ ...of, name: "pg_restore", argv: ["--list", draft] });
  };
  return writeBackup({ ...input, write });
}
