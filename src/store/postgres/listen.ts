import pg from "pg";
import { Instant } from "../../core/instant.ts";
import { changeOf } from "../change-listeners.ts";
import { connectionTo } from "./connect.ts";
import type { PreparedCommit } from "../prepare.ts";
import type { StoreChange } from "../store.ts";

/** PostgreSQL's own limit is 8,000 bytes. */
const NOTICE_BYTES = 7900;

const FIRST_RETRY_MS = 50;
const LAST_RETRY_MS = 5_000;
/** How often a silent connection is checked: a connection cut silently raises no error. */
const CHECK_MS = 15_000;

/** The change to report when it is unknown what changed. */
export const EVERYTHING: StoreChange = { questions: new Set(), dueAt: undefined, all: true };

interface ListenDeps {
  url: string;
  /** This process in notifications: its own changes were reported already. */
  origin: string;
  tell(change: StoreChange): void;
}

/** Listens to commits of other nodes, on a connection of its own that reconnects when it breaks. */
export class PostgresListener {
  readonly #deps: ListenDeps;
  #client: pg.Client | undefined;
  #retryTimer: NodeJS.Timeout | undefined;
  #checkTimer: NodeJS.Timeout | undefined;
  #retryMs = FIRST_RETRY_MS;
  #isClosed = false;
  #connecting: Promise<void> | undefined;

  constructor(deps: ListenDeps) {
    this.#deps = deps;
  }

  /** Starts listening, if it does not already. */
  start(): void {
    if (this.#isClosed || this.#client) return;
    const client = new pg.Client(connectionTo(this.#deps.url));
    this.#client = client;
    client.on("notification", ({ payload }) => this.#hear(payload ?? ""));
    client.on("error", () => this.#lose(client));
    client.on("end", () => this.#lose(client));
    this.#connecting = this.#connect(client);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#retryTimer);
    clearInterval(this.#checkTimer);
    await this.#connecting;
    await this.#client?.end();
  }

  async #connect(client: pg.Client) {
    try {
      await client.connect();
      await client.query("listen askd");
      this.#retryMs = FIRST_RETRY_MS;
      if (!this.#isClosed) this.#checkTimer = setInterval(() => this.#check(client), CHECK_MS);
      // Commits from before the connection was made were missed.
      this.#deps.tell(EVERYTHING);
    } catch {
      // The database is unavailable: commits report that, and this connection is retried.
      this.#lose(client);
    }
  }

  #hear(notice: string) {
    const { origin, change } = decodeNotice(notice);
    if (origin !== this.#deps.origin) this.#deps.tell(change);
  }

  #check(client: pg.Client) {
    client.query("select").catch(() => this.#lose(client));
  }

  #lose(client: pg.Client) {
    if (this.#client !== client) return;
    this.#client = undefined;
    clearInterval(this.#checkTimer);
    client.end().catch(() => undefined);
    if (this.#isClosed) return;
    this.#retryTimer = setTimeout(() => this.start(), this.#retryMs);
    this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS);
  }
}

/** Encodes the notification of a batch for other nodes; one that is too long means "read everything". */
export function encodeNotice(origin: string, batch: readonly PreparedCommit[]): string {
  const change = changeOf(batch);
  const notice = [origin, change.dueAt ?? "", ...change.questions].join(" ");
  return Buffer.byteLength(notice) <= NOTICE_BYTES ? notice : origin;
}

/** Decodes the origin and the change of a notification. */
function decodeNotice(notice: string): { origin: string; change: StoreChange } {
  const [origin = "", dueAt, ...questions] = notice.split(" ");
  if (dueAt === undefined) return { origin, change: EVERYTHING };
  const due = Instant.safeParse(dueAt);
  return { origin, change: { questions: new Set(questions), dueAt: due.success ? due.data : undefined } };
}
