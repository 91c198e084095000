import type { Instant } from "../../core/instant.ts";
import { Refusal } from "../../core/refusal.ts";
import { type Backup, writeBackup } from "../backup-file.ts";
import { runClientProgram } from "./client-program.ts";
import { splitAddress } from "./connect.ts";
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
  // A pooler hands connections out per transaction, and a dump needs one to itself.
  const { url, listenUrl = url } = splitAddress(address);
  if ((await findSchema(listenUrl)).schema === 0) {
    throw new Refusal("not_found", "There is no store in that database", {
      hint: "See where it is: askd status --verbose",
    });
  }
  const of = { url: listenUrl, failure: "The database could not be backed up", hint: "See what is wrong: askd doctor" };
  const write = async (draft: string) => {
    await runClientProgram({ ...of, name: "pg_dump", argv: ["--format=custom", `--file=${draft}`] });
    await runClientProgram({ ...of, name: "pg_restore", argv: ["--list", draft] });
  };
  return writeBackup({ ...input, write });
}
