import pg from "pg";
import { Refusal } from "../core/refusal.ts";

const CONNECT_MS = 5_000;
const STATEMENT_MS = 15_000;
/** The server ends a statement first; this ends it when the server is no longer there to do so. */
const REPLY_MS = STATEMENT_MS + 5_000;
const INT8 = 20;
const LOCAL_HOST = /^(\/.*|localhost|127\..*|::1|\[::1\])$/;

/** SQLSTATE classes in which the server says that it is not there for us, not that the statement is wrong. */
const AWAY = /^(08|57P0|53300|28|3D000)/;

/** How every connection to this address is made; numbers come as numbers. */
export function connectionTo(url: string): pg.ClientConfig {
  const { host } = new pg.Client(url);
  const isPlain = LOCAL_HOST.test(host) || /[?&]ssl(mode)?=/.test(url);
  return {
    connectionString: url,
    application_name: "askd",
    connectionTimeoutMillis: CONNECT_MS,
    statement_timeout: STATEMENT_MS,
    query_timeout: REPLY_MS,
    keepAlive: true,
    ...(!isPlain && { ssl: true }),
    types: { getTypeParser: (oid: number, format) => (oid === INT8 ? Number : pg.types.getTypeParser(oid, format)) },
  };
}

/** Says whether the connection or the server failed, and not the statement. */
export function isAway(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return AWAY.test(error.code ?? "");
  if (!(error instanceof Error)) return false;
  if ("code" in error && typeof error.code === "string" && /^E[A-Z_]+$/.test(error.code)) return true;
  return /terminated|timeout|timed out|not queryable|closed/i.test(error.message);
}

/** Says in one line, without the password, what is wrong with the way to the database. */
export function unreachable(url: string, error: unknown): Refusal {
  const { host, port, user, database } = new pg.Client(url);
  const place = host.startsWith("/") ? host : `${host}:${port}`;
  const code = error instanceof pg.DatabaseError ? (error.code ?? "") : "";
  if (code.startsWith("28")) {
    return new Refusal("store_unreachable", `PostgreSQL at ${place} does not let user "${user}" in.`, {
      hint: "Check user and password in the store's address.",
      cause: error,
    });
  }
  if (code === "3D000") {
    return new Refusal("store_unreachable", `PostgreSQL at ${place} has no database "${database}".`, {
      hint: `Make it with: createdb ${database}`,
      cause: error,
    });
  }
  return new Refusal("store_unreachable", `No PostgreSQL can be reached at ${place}.`, {
    hint: "Start it, or check the store's address.",
    cause: error,
  });
}

/** A commit was sent and its reply was lost. */
export function unknownOutcome(error: unknown): Refusal {
  return new Refusal("store_unreachable", "The connection to PostgreSQL broke during a write; it may have been kept.", {
    hint: "Do the same again: what was kept is not written twice.",
    cause: error,
  });
}
