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
const FULL = "53300";
const TOO_SLOW = "57014";
const RETRY_AFTER_MS = SECOND_MS;

/** The parameter of a store's address with the address for LISTEN, which a pooler cannot pass on. */
const LISTEN = "listen";

/** The parts of a store's address: the database, and where notifications of it can be listened for. */
export function splitAddress(address: string): { url: string; listenUrl: string | undefined } {
  const url = new URL(address);
  const listenUrl = url.searchParams.get(LISTEN) ?? undefined;
  if (listenUrl === undefined) return { url: address, listenUrl };
  url.searchParams.delete(LISTEN);
  return { url: url.href, listenUrl };
}

/** The configuration of every connection to this address; bigints are read as numbers. */
export function connectionTo(address: string, { isPooled = false }: { isPooled?: boolean } = {}): pg.ClientConfig {
  const { url } = splitAddress(address);
  const { host } = readAddress(url);
  const isPlain = LOCAL_HOST.test(host) || /[?&]ssl(mode)?=/.test(url);
  return {
    connectionString: url,
    application_name: "askd",
    connectionTimeoutMillis: CONNECT_MS,
    // A pooler refuses it: the setting would stay with a connection that others get. The client's limit is left.
    ...(!isPooled && { statement_timeout: STATEMENT_MS }),
    query_timeout: REPLY_MS,
    keepAlive: true,
    ...(!isPlain && { ssl: true }),
    types: { getTypeParser: (oid: number, format) => (oid === INT8 ? Number : pg.types.getTypeParser(oid, format)) },
  };
}

/** The parts of an address as the library reads it, with the files that it names. */
function readAddress(url: string) {
  try {
    return new pg.Client(url);
  } catch (error) {
    if (!(error instanceof Error) || !("path" in error) || typeof error.path !== "string") throw error;
    throw new Refusal("bad_input", `The store's address names ${error.path}, which cannot be read.`, {
      hint: "Name the file of the CA, the certificate or the key: ?sslmode=verify-full&sslrootcert=<file>",
      cause: error,
    });
  }
}

/** Connects one client; the caller ends it. */
export async function connectClient(url: string): Promise<{ client: pg.Client; isPooled: boolean }> {
  try {
    return await connectAs(url, { isPooled: false });
  } catch (error) {
    if (!isPoolerRefusal(error)) throw error;
    return connectAs(url, { isPooled: true });
  }
}

async function connectAs(url: string, { isPooled }: { isPooled: boolean }) {
  const client = new pg.Client(connectionTo(url, { isPooled }));
  client.on("error", () => undefined); // the pending statement reports it
  try {
    await client.connect();
    return { client, isPooled: isPooled || (await findServerKind(client)).isPooled };
  } catch (error) {
    await client.end().catch(() => undefined); // it was never connected
    throw error;
  }
}

/**
 * The address of the server itself, for work that needs a connection of its own. In transaction mode a pooler gives the
 * settings of one client, such as pg_dump's empty search_path, to the next one.
 */
export async function getDirectUrl(address: string): Promise<string> {
  const { url, listenUrl = url } = splitAddress(address);
  const isPooled = await isBehindPooler(listenUrl);
  if (!isPooled) return listenUrl;
  throw new Refusal("bad_input", `PostgreSQL at ${placeOf(listenUrl)} is behind a pooler; nothing was changed`, {
    hint: "Add the server's own address to the store's: postgres://…?listen=postgres%3A%2F%2F… (docs/stores.md)",
  });
}

async function isBehindPooler(url: string) {
  try {
    const { client, isPooled } = await connectClient(url);
    await client.end();
    return isPooled;
  } catch (error) {
    throw explainPostgresError(url, error);
  }
}

/** Some connections are kept for superusers, and since PostgreSQL 16 for those who are granted them. */
const SERVER_KIND = `select pg_backend_pid() as pid, current_setting('max_connections')::int
  - current_setting('superuser_reserved_connections')::int
  - coalesce(current_setting('reserved_connections', true)::int, 0) as most`;

/** The other end: whether a pooler is in between, and how many connections the server has for ordinary users. */
export async function findServerKind(client: pg.ClientBase): Promise<{ isPooled: boolean; mostConnections: number }> {
  // A pooler makes up the process id that it greets with; the real one is that of the server.
  const greeted = "processID" in client ? client.processID : undefined;
  const { rows } = await client.query<{ pid: number; most: number }>(SERVER_KIND);
  const { pid, most = 0 } = rows[0] ?? {};
  return { isPooled: greeted !== pid, mostConnections: most };
}

/** Says whether a pooler refused a parameter that a server takes. */
export function isPoolerRefusal(error: unknown): boolean {
  return error instanceof Error && /unsupported startup parameter/i.test(error.message);
}

/** Says whether the server ended a statement that took too long; repeating it would take as long again. */
export function isTooSlow(error: unknown): boolean {
  return codeOf(error) === TOO_SLOW;
}

/** Says whether the server has no connection left for anybody, this role or this database. */
export function isFull(error: unknown): boolean {
  return codeOf(error) === FULL;
}

/** The refusal when all connections of this process were in use for too long. */
export function busyRefusal(url: string, cause: unknown): Refusal {
  return new Refusal("store_unreachable", `PostgreSQL at ${placeOf(url)} is too slow: no connection became free.`, {
    hint: "Try again; if it stays so, see what it does: pg_stat_activity",
    cause,
    retryAfterMs: RETRY_AFTER_MS,
  });
}

/** Errors of TLS that persist until somebody changes an address or a certificate. */
const CERTIFICATE = /SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET)|CERT_|ALTNAME/;
const NO_TLS = /does not support SSL/i;

/** The refusal for a server whose certificate this machine does not accept; undefined for other errors. */
function tlsRefusal(url: string, error: unknown): Refusal | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = "code" in error ? String(error.code) : "";
  if (NO_TLS.test(error.message)) {
    return new Refusal("store_unreachable", `PostgreSQL at ${placeOf(url)} offers no TLS.`, {
      hint: "Turn it on there (ssl = on), or, in a network that you trust, add ?sslmode=disable to the address.",
      cause: error,
    });
  }
  if (!CERTIFICATE.test(code)) return undefined;
  const why = { CERT_HAS_EXPIRED: "has expired", ERR_TLS_CERT_ALTNAME_INVALID: "is for another host" }[code];
  const said = why ?? "is not from a CA that this machine trusts";
  return new Refusal("store_unreachable", `The certificate of PostgreSQL at ${placeOf(url)} ${said}.`, {
    hint: "Name its CA in the address: ?sslmode=verify-full&sslrootcert=<file>. To encrypt without checking who answers: ?sslmode=no-verify",
    cause: error,
  });
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
  const tls = tlsRefusal(url, error);
  if (tls) return tls;
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
  if (code === TOO_SLOW)
    return [
      "took too long; another program may hold a lock.",
      "Try again; if it stays so, see which program that is: askd doctor",
    ];
  if (code === FULL)
    return [
      "is full: it has no connection left.",
      "Try again, end other programs that use it, or raise its max_connections.",
    ];
  return [undefined, "Start it, or check the store's address."];
}

function describeFault(code: string): [said: string, hint: string] | undefined {
  switch (code) {
    case "53100":
      return ["has a full disk; nothing was written.", "Free some space there; askd then continues."];
    case "53200":
    case "53400":
      return ["has not enough memory for it; nothing was written.", "Give it more; askd then continues."];
    case "25006":
      return ["takes no writes: it is a standby, or set to read-only.", "Name the primary in the store's address."];
    case "42501":
      return [
        "does not permit this user to create the tables of the store.",
        "Let its owner run: grant create on schema public to <user>; or give askd a database of its own: createdb askd",
      ];
    case "3F000":
      return [
        "has no schema for the tables: search_path names none that exists.",
        "Set it: alter role <user> set search_path = public",
      ];
    case "58030":
      return ["could not read or write its files.", "Check its disk, then try again."];
    case "XX001":
    case "XX002":
      return ["found damage in its files.", "Restore a backup: see docs/backup.md"];
    default:
      return undefined;
  }
}

/** The host and port of an address, for people. */
export function placeOf(url: string): string {
  const { host, port } = new pg.Client(url);
  return host.startsWith("/") ? host : `${host}:${port}`;
}

function codeOf(error: unknown) {
  return error instanceof pg.DatabaseError ? (error.code ?? "") : "";
}
