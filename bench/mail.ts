import { setTimeout as sleep } from "node:timers/promises";
import { ImapFlow } from "imapflow";
import { engineOn, openChannels } from "../src/app.ts";
import { SYSTEM } from "../src/core/people/actor.ts";
import { parseAsk } from "../src/core/question/ask-input.ts";
import { openSqliteStore } from "../src/store/sqlite/sqlite.ts";
import { AGENT } from "../test/builders.ts";
import { stopSharedMailServer } from "../test/channels/mail-counterpart.ts";
import { mailSettings } from "../test/channels/mail-server.ts";
import { overriding } from "../test/proof/overriding.ts";
import { withPlace } from "../test/proof/place.ts";
import { startMail } from "../test/proof/reach/mail-service.ts";
import { type Mailbox, UNLIMITED, reachRules } from "../test/proof/reach/reach-task.ts";
import type { ReachService } from "../test/proof/reach/service.ts";
import { MCP } from "../test/scene.ts";

// npm run bench:mail -- <replies>
// From the moment at which the mail server accepts a reply to the commit of the answer. The floor of the same run is a
// bare client that idles on the same mailbox: by then the server has told of the mail.
const COUNT = Number(process.argv[2] ?? 100);
const WARM = 5;
const GOAL_MS = 2_000;
const BOUND_MS = 60_000;
const RULES = { ...reachRules("email"), attention: UNLIMITED };

const service = await startMail();
const told: number[] = [];
const committed: number[] = [];
try {
  await withPlace("sqlite", ({ address }) => measure(address, service));
} finally {
  await stopSharedMailServer();
}
console.log(`${COUNT} replies one by one; Postfix and Dovecot on loopback with TLS; SQLite, WAL, FULL`);
console.table([
  { "from SMTP acceptance": "a bare client is told of the mail", ...percentiles(told) },
  { "from SMTP acceptance": "the answer is committed", ...percentiles(committed) },
]);
console.log(`accepted to committed: p95 ${at(committed, 0.95).toFixed(0)} ms (goal ${GOAL_MS} ms)`);

async function measure(address: string, { mailbox, email, grab, shown }: ReachService): Promise<void> {
  if (!mailbox || !grab) throw new Error("there is no mailbox");
  let answeredMs = 0;
  const kept = await openSqliteStore(address);
  const store = overriding(kept, {
    commit: async (changes) => {
      const result = await kept.commit(changes);
      if (changes.events?.some(({ type }) => type === "question.answered")) answeredMs = performance.now();
      return result;
    },
  });
  const engine = engineOn(store, { rules: RULES, openChannel: openChannels({ email: mailSettings(mailbox) }, RULES) });
  const bare = await idleOn(mailbox);
  try {
    await engine.putPerson({ id: "mika", version: 0, groups: [], email }, SYSTEM);
    void engine.work();
    for (let n = 0; n < COUNT + WARM; n += 1) {
      const mark = `M${n}mark`;
      const raw = { question: `${mark} Redis or Memcached?`, options: ["Redis", "Memcached"], timeout: "9d" };
      await engine.ask(parseAsk(raw, MCP, RULES, await store.now()), AGENT);
      await until(() => shown(mark).length === 1);
      answeredMs = bare.toldMs = 0;
      await grab(mark)();
      const acceptedMs = performance.now();
      await until(() => answeredMs > 0 && bare.toldMs > 0);
      if (n < WARM) continue;
      told.push(Math.max(0, bare.toldMs - acceptedMs));
      committed.push(Math.max(0, answeredMs - acceptedMs));
    }
  } finally {
    await bare.close();
    await engine.stop();
  }
}

/** A client that does nothing but wait for mail. */
async function idleOn({ user, ports, ca }: Mailbox) {
  const { host, port, readPassword } = mailSettings({ user, ports, ca }).imap;
  const auth = { user, pass: readPassword() };
  const imap = new ImapFlow({ host, port, secure: true, auth, tls: { ca }, logger: false });
  await imap.connect();
  await imap.mailboxOpen("INBOX", { readOnly: true });
  const client = { toldMs: 0, close: () => imap.logout() };
  imap.on("exists", () => (client.toldMs = performance.now()));
  void imap.idle();
  return client;
}

async function until(isSo: () => boolean): Promise<void> {
  for (const end = performance.now() + BOUND_MS; !isSo(); await sleep(2)) {
    if (performance.now() > end) throw new Error("it takes too long");
  }
}

function percentiles(values: readonly number[]) {
  return { "p50 ms": at(values, 0.5).toFixed(0), "p95 ms": at(values, 0.95).toFixed(0) };
}

function at(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
