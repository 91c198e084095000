import pg from "pg";
import { SECOND_MS } from "../../core/instant.ts";
import { Refusal } from "../../core/refusal.ts";

const CONNECT_MS = 5_000;
const STATEMENT_MS = 15_000;
/** A client-side limit for when the server is gone; otherwise the server ends the statement first. */
const REPLY_MS = STATEMENT_MS + 5_000;
const INT8 = 20;
const LOCAL_HOST = /^(\/.*|localhost|127\..*|::1|\[::1\])$/;

/**
 * SQLSTATE classes for an unavailable server, not a wrong statement: no connection, shutting down or starting up, ended
 * by an administrator or a timeout, no slot left, access denied, no such database.
 */
const AWAY = /^(08|57P0|57014|53300|28|3D000)/;
/** Classes that persist until somebody changes something: access, missing databases. */
const LASTING = /^(28|3D000)/;
const RETRY_AFTER_MS = SECOND_MS;

/** The configuration of every connection to this address; bigints are read as numbers. */
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

/** Says whether the connection or the server failed rather than the statement. */
export function isConnectionError(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return AWAY.test(codeOf(error));
  if (!(error instanceof Error)) return false;
  if ("code" in error && typeof error.code === "string" && /^E[A-Z_]+$/.test(error.code)) return true;
  return /terminated|timeout|timed out|not queryable|closed/i.test(error.message);
}

/** Turns an error of an unavailable or faulty database into a refusal; returns any other error unchanged. */
export function explainPostgresError(url: string, error: unknown): unknown {
  if (isConnectionError(error)) return unreachableRefusal(url, error);
  const what = describeFault(codeOf(error));
  if (what === undefined) return error;
  const [said, hint] = what;
  return new Refusal("store_unusable", `PostgreSQL at ${placeOf(url)} ${said}`, {
    hint,
    cause: error,
    retryAfterMs: RETRY_AFTER_MS,
  });
}

/** The refusal for an unreachable database, without the password. */
function unreachableRefusal(url: string, error: unknown) {
  const { user, database } = new pg.Client(url);
  const place = placeOf(url);
  const code = codeOf(error);
  const [said, hint] = describeAbsence(code, { user, database });
  const message = said === undefined ? `No PostgreSQL can be reached at ${place}.` : `PostgreSQL at ${place} ${said}`;
  return new Refusal("store_unreachable", message, {
    hint,
    cause: error,
    retryAfterMs: LASTING.test(code) ? undefined : RETRY_AFTER_MS,
  });
}

/** The refusal for a commit whose reply was lost. */
export function unknownOutcomeRefusal(error: unknown): Refusal {
  return new Refusal(
    "store_unreachable",
    "The connection to PostgreSQL broke during a write, which may or may not have been stored.",
    {
      hint: "Repeat it: a stored change is not written twice.",
      cause: error,
      retryAfterMs: RETRY_AFTER_MS,
    },
  );
}

function describeAbsence(
  code: string,
  { user, database }: { user: string | undefined; database: string | undefined },
): [said: string | undefined, hint: string] {
  if (code.startsWith("28"))
    return [`does not let user "${user}" in.`, "Check user and password in the store's address."];
  if (code === "3D000") return [`has no database "${database}".`, `Make it with: createdb ${database}`];
  if (code.startsWith("57P0")) return ["is shutting down or starting up.", "Try again in a moment."];
  if (code === "57014") return ["took too long.", "Try again; if it stays so, see what it does: pg_stat_activity"];
  if (code === "53300") return ["has no connection left.", "Try again, or raise its max_connections."];
  return [undefined, "Start it, or check the store's address."];
}

function describeFault(code: string): [said: string, hint: string] | undefined {
  switch (code) {
    case "53100":
      return ["has a full disk; nothing was written.", "Free some space there; askd goes on by itself."];
    case "53200":
    case "53400":
      return ["has not enough memory for it; nothing was written.", "Give it more; askd goes on by itself."];
    case "25006":
      return ["takes no writes: it is a standby, or set to read-only.", "Name the primary in the store's address."];
    case "58030":
      return ["could not read or write its files.", "Check its disk, then try again."];
    case "XX001":
    case "XX002":
      return ["found damage in its files.", "Restore a backup: see docs/backup.md"];
    default:
      return undefined;
  }
}

function placeOf(url: string) {
  const { host, port } = new pg.Client(url);
  return host.startsWith("/") ? host : `${host}:${port}`;
}

function codeOf(error: unknown) {
  return error instanceof pg.DatabaseError ? (error.code ?? "") : "";
}
