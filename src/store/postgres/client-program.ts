import { execFile } from "node:child_process";
import { promisify } from "node:util";
import pg from "pg";
import { hasErrorCode } from "../../core/error-code.ts";
import { Refusal } from "../../core/refusal.ts";

const MOST_OUTPUT_BYTES = 1024 * 1024;
const MOST_SAID = 300;

/** One of PostgreSQL's own programs, and what to say if it fails. */
interface ClientProgram {
  name: "pg_dump" | "pg_restore";
  url: string;
  argv: readonly string[];
  failure: string;
  hint: string;
}

/** Runs one of PostgreSQL's own programs on a database; the password never is among its arguments. */
export async function runClientProgram({ name, url, argv, failure, hint }: ClientProgram): Promise<void> {
  try {
    await promisify(execFile)(name, argv, { env: environmentFor(url), maxBuffer: MOST_OUTPUT_BYTES });
  } catch (error) {
    if (hasErrorCode(error, "ENOENT")) {
      throw new Refusal("not_found", `There is no ${name} on the path; nothing was changed`, {
        hint: "Install PostgreSQL's client programs, of the server's version or newer",
        cause: error,
      });
    }
    const said = error instanceof Error && "stderr" in error ? String(error.stderr).trim() : String(error);
    throw new Refusal("bad_input", `${failure}: ${said.slice(0, MOST_SAID)}`, { hint, cause: error });
  }
}

function environmentFor(url: string) {
  const { host, port, user, password, database } = new pg.Client(url);
  const { searchParams: given } = new URL(url);
  return {
    PATH: process.env["PATH"],
    PGHOST: host,
    PGPORT: String(port),
    PGUSER: user,
    PGPASSWORD: password ?? undefined,
    PGDATABASE: database,
    PGSSLMODE: given.get("sslmode") ?? undefined,
    PGSSLROOTCERT: given.get("sslrootcert") ?? undefined,
  };
}
