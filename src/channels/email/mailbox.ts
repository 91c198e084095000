import type { ImapFlow as ImapClient } from "imapflow";
import type { MailServerSettings } from "../../core/channel/channel-settings.ts";

/** How often the mailbox is looked at where the server does not tell of new mail. */
const LOOK_MS = 30_000;
const BATCH = 50;
/** Without a place to go on from, mail of this time is read: nobody answers older questions. */
const BACK_MS = 14 * 24 * 60 * 60 * 1000;
const MOST_MAIL_BYTES = 1_000_000;

/** A place in a mailbox: its uids are valid for as long as its validity stays the same. */
interface MailboxCursor {
  validity: string;
  next: number;
}

export interface MailBatch {
  cursor: string;
  mails: readonly Uint8Array[];
}

export interface MailboxOptions {
  cursor: string | undefined;
  signal: AbortSignal;
  nowMs: () => number;
  /** Says by its headers whether a mail is worth reading. */
  isWanted: (headers: string) => boolean;
}

/**
 * Brings new mail of the inbox, each once from the cursor on, and changes nothing there. The first batch is empty: the
 * inbox is open. If the server gave new uids to
 * everything, the mail of the last days comes again. It ends with an error when the connection is lost.
 */
export async function* readMailbox(server: MailServerSettings, options: MailboxOptions): AsyncGenerator<MailBatch> {
  const { signal, nowMs, isWanted } = options;
  const imap = await connect(server);
  const wake = wakerOf(imap, signal);
  try {
    const mailbox = await imap.mailboxOpen("INBOX", { readOnly: true });
    const validity = String(mailbox.uidValidity);
    const known = parseCursor(options.cursor);
    let next = known?.validity === validity ? known.next : await firstRecent(imap, nowMs() - BACK_MS);
    yield { cursor: `${validity}:${next}`, mails: [] };
    while (!signal.aborted) {
      const arrived = wake.next();
      for await (const batch of readFrom(imap, next, isWanted)) {
        next = batch.next;
        yield { cursor: `${validity}:${next}`, mails: batch.mails };
        if (signal.aborted) return;
      }
      // By itself the library begins to idle only after 15 s of silence. What idling ends with is seen at the next command.
      void imap.idle().catch(() => undefined);
      await arrived;
      if (!imap.usable && !signal.aborted) throw new Error("the mail server closed the connection");
    }
  } finally {
    wake.stop();
    imap.close();
  }
}

/** Signs in and opens the inbox. */
export async function verifyMailbox(server: MailServerSettings): Promise<void> {
  const imap = await connect(server);
  try {
    await imap.mailboxOpen("INBOX", { readOnly: true });
  } finally {
    imap.close();
  }
}

async function connect({ host, port, tls, user, readPassword, readCa }: MailServerSettings): Promise<ImapClient> {
  const { ImapFlow } = await import("imapflow");
  const ca = readCa();
  const imap = new ImapFlow({
    host,
    port,
    secure: tls === "implicit",
    doSTARTTLS: tls === "starttls" ? true : undefined,
    auth: { user, pass: readPassword() },
    tls: { minVersion: "TLSv1.2", ...(ca === undefined ? {} : { ca }) },
    logger: false,
    disableAutoIdle: true,
    maxIdleTime: 5 * 60_000,
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 6 * 60_000,
  });
  imap.on("error", () => undefined); // the command that fails next says so
  try {
    await imap.connect();
  } catch (error) {
    imap.close();
    throw new Error(`${host}:${port}: ${sayFailure(error)}`, { cause: error });
  }
  return imap;
}

function sayFailure(error: unknown) {
  if (!(error instanceof Error)) return String(error);
  if ("authenticationFailed" in error && error.authenticationFailed)
    return "the mail server refuses the user name or password";
  return "code" in error ? `not reachable (${String(error.code)})` : error.message;
}

function parseCursor(text: string | undefined): MailboxCursor | undefined {
  const [, validity, next] = /^(\d+):(\d+)$/.exec(text ?? "") ?? [];
  return validity === undefined ? undefined : { validity, next: Number(next) };
}

async function firstRecent(imap: ImapClient, sinceMs: number): Promise<number> {
  const uids = await imap.search({ since: new Date(sinceMs) }, { uid: true });
  if (!uids) throw new Error("the mail server did not search");
  return uids.length === 0 ? mailboxNext(imap) : Math.min(...uids);
}

function mailboxNext(imap: ImapClient): number {
  return imap.mailbox === false ? 1 : imap.mailbox.uidNext;
}

/** Reads the mail from a uid on: headers first, and the whole only of those that are wanted. */
async function* readFrom(imap: ImapClient, from: number, isWanted: MailboxOptions["isWanted"]) {
  const uids = await imap.search({ uid: `${from}:*` }, { uid: true });
  if (!uids) throw new Error("the mail server did not search");
  // A range to the end always has the newest mail, also if its uid is smaller.
  const fresh = uids.filter((uid) => uid >= from).toSorted((one, other) => one - other);
  for (let at = 0; at < fresh.length; at += BATCH) {
    const some = fresh.slice(at, at + BATCH);
    const wanted: number[] = [];
    for await (const { uid, headers } of imap.fetch(some.join(","), { uid: true, headers: true }, { uid: true })) {
      if (headers && isWanted(headers.toString("latin1"))) wanted.push(uid);
    }
    const mails: Uint8Array[] = [];
    if (wanted.length > 0) {
      const query = { uid: true, source: { maxLength: MOST_MAIL_BYTES } };
      for await (const { source } of imap.fetch(wanted.join(","), query, { uid: true })) if (source) mails.push(source);
    }
    yield { next: (some.at(-1) ?? from) + 1, mails };
  }
}

/** Wakes whoever waits: when mail arrives, when the connection ends, when it is time to look, and at the end. */
function wakerOf(imap: ImapClient, signal: AbortSignal) {
  let wake: () => void = () => undefined;
  const ring = () => wake();
  imap.on("exists", ring);
  imap.on("close", ring);
  imap.on("error", ring);
  signal.addEventListener("abort", ring, { once: true });
  return {
    next: () =>
      new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, LOOK_MS);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
        if (signal.aborted) wake();
      }),
    stop: () => {
      ring();
      signal.removeEventListener("abort", ring);
    },
  };
}
