import { emailChannel } from "../../src/channels/email/email.ts";
import { readIncoming } from "../../src/channels/email/incoming-mail.ts";
import type { Channel, InboundBatch, Reply } from "../../src/core/channel/channel.ts";
import { SYSTEM } from "../../src/core/people/actor.ts";
import { parseDelivery } from "../../src/core/channel/delivery/delivery.ts";
import { ROOMY, Scene } from "../scene.ts";
import { OUTBOUND } from "./loopback-server.ts";
import { MAIL_SETTINGS } from "./mail-settings.ts";

const OWN = { local: "answers", domain: "askd.test" };
const SERVER = "mx.askd.test";
const BATCH = 200;
const SETTINGS = { ...MAIL_SETTINGS, authserv: SERVER };
const RECEIVED = `Received: from x by ${SERVER} (Postfix) with ESMTPS id 1; Mon, 16 Nov 2026 15:12:09 +0000`;
/** The server's own line, in which the sender's address speaks of a hand-over to a mailbox. */
const SPOKEN = `Received: from x by ${SERVER} with ESMTPS (Exim 4.96) (envelope-from <"x with LMTP y"@evil.test>) id 1; Mon, 16 Nov 2026 15:12:09 +0000`;
const PASS = `Authentication-Results: ${SERVER}; dmarc=pass header.from=people.test`;

interface Tokens {
  mika: string;
  lena: string;
}

/**
 * Brings forged and mutated mails to a question that two people have; returns how many were accepted, and the control.
 * Below high risk a mail that the server says nothing of proves that its sender has the token, so only the others come.
 */
export async function bringForged(
  count: number,
  seed: number,
  risk: "medium" | "high" = "high",
): Promise<{ brought: number; read: number; accepted: number; control: string }> {
  const inbox: InboundBatch[] = [];
  const channel = channelOf(inbox);
  const reach = [{ name: "email", person: undefined, isPersonal: true }];
  const limits = { ...ROOMY.limits, repliesPerMinute: 10 * count }; // what is refused must not be refused for its number
  const scene = new Scene({
    rules: { reach, personChannel: true, limits },
    openChannel: () => Promise.resolve(channel),
  });
  for (const id of ["mika", "lena"])
    await scene.engine.putPerson({ id, version: 0, groups: [], email: `${id}@people.test` }, SYSTEM);
  const { question } = await scene.ask({ risk, timeout: "100d" });
  await scene.pass(0);
  const rows = (await scene.store.listEntries("delivery", question.id)).map(parseDelivery);
  const tokenOf = (person: string) => rows.find((row) => row.person === person)?.token ?? "";
  const tokens = { mika: tokenOf("mika"), lena: tokenOf("lena") };
  const random = randomFrom(seed);
  let read = 0;
  for (let done = 0; done < count; done += BATCH) {
    const mails = Array.from({ length: Math.min(BATCH, count - done) }, (_, index) =>
      forge(done + index, tokens, { random, risk }),
    );
    const replies = await repliesOf(mails);
    read += replies.length;
    inbox.push({ cursor: String(done), replies, pairings: [] });
  }
  const genuine = mail({ from: "mika@people.test", token: tokens.mika, above: [PASS], id: "genuine" });
  const working = scene.engine.work();
  const statusOf = async () => (await scene.engine.read(question.id)).question;
  while (inbox.length > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  await new Promise((resolve) => setTimeout(resolve, 200));
  const forged = await statusOf();
  const accepted = forged.status === "pending" ? forged.votes.length : 1;
  inbox.push({ cursor: "end", replies: await repliesOf([genuine]), pairings: [] });
  for (let waited = 0; waited < 500 && (await statusOf()).status === "pending"; waited += 1)
    await new Promise((resolve) => setTimeout(resolve, 20));
  const control = (await statusOf()).status;
  await scene.engine.stop();
  await working;
  return { brought: count, read, accepted, control };
}

/** The channel with a mailbox in memory: only how mail comes and goes is ours, not how it is read. */
function channelOf(inbox: InboundBatch[]): Channel {
  return {
    ...emailChannel(SETTINGS, OUTBOUND),
    send: () => Promise.resolve({ ok: true }),
    remind: () => Promise.resolve({ ok: true }),
    respond: () => Promise.resolve({ ok: true }),
    async *listen(_cursor, signal) {
      while (!signal.aborted) {
        const next = inbox[0];
        if (next) {
          yield next;
          inbox.shift();
        } else await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
  };
}

async function repliesOf(mails: readonly string[]): Promise<Reply[]> {
  const read = await Promise.all(mails.map((raw) => readIncoming(raw, { ...SETTINGS, own: OWN })));
  return read.flatMap((each) => (each.kind === "reply" ? [each.reply] : []));
}

interface Parts {
  from: string;
  token: string;
  /** Lines that the server wrote. */
  above?: readonly string[];
  /** Lines that the sender wrote. */
  below?: readonly string[];
  to?: string;
  id: string;
}

function mail({ from, token, above = [], below = [], to = `answers+${token}@askd.test`, id }: Parts) {
  const head = [...above, RECEIVED, ...below, `From: ${from}`, `To: ${to}`, `Subject: Re: x`, `Message-ID: <${id}@x>`];
  return `${head.join("\r\n")}\r\n\r\nA\r\n`;
}

/** A mail that must not be accepted; the kinds take turns. */
function forge(
  index: number,
  { mika, lena }: Tokens,
  { random, risk }: { random: () => number; risk: "medium" | "high" },
): string {
  const id = `forged.${index}`;
  const from = "mika@people.test";
  const unproven: Array<() => string> = [
    () => mail({ from, token: mika, below: [PASS], id }),
    () => mail({ from, token: mika, below: [RECEIVED, PASS, RECEIVED], id }),
    () => mail({ from, token: mika, above: [SPOKEN, PASS], id }),
    () => mail({ from, token: mika, above: [mutateIn(PASS, SERVER, random)], id }),
    () => mail({ from, token: mika, above: [PASS.replace("people.test", "evil.test")], id }),
    () => mail({ from, token: mika, above: [`Authentication-Results: ${SERVER}; spf=none (${PASS})`], id }),
  ];
  const kinds: Array<() => string> = [
    ...(risk === "high" ? unproven : []),
    () => mail({ from, token: mutate(mika, random), above: [PASS], id }),
    () => mail({ from, token: lena, above: [PASS], id }),
    () => mail({ from: "lena@people.test", token: mika, above: [PASS], id }),
    () => mail({ from: `stranger${index}@people.test`, token: mika, above: [PASS], id }),
    () => mail({ from, token: mika, above: [PASS.replace("pass", "fail")], below: [PASS], id }),
    () => mail({ from: `"mika@people.test" <evil@evil.test>`, token: mika, above: [PASS], id }),
    () => mail({ from: `${from}\r\nFrom: evil@evil.test`, token: mika, above: [PASS], id }),
    () => mail({ from, token: mika, above: [`Authentication-Results: ${SERVER}; spf=fail; dkim=fail`], id }),
    () => mail({ from: `${from}, evil@evil.test`, token: mika, above: [PASS], id }),
    () => mail({ from, token: mika, above: [PASS], to: `answers+${mika}${hexDigit(random)}@askd.test`, id }),
    () => mail({ from, token: mika, above: [PASS], to: `answers+${mika.slice(1)}@askd.test`, id }),
    () => mail({ from, token: mika, above: [PASS], to: `answers+${mika}@askd.test.evil.test`, id }),
    () => mail({ from, token: mika, above: [PASS], to: `answers+${mika}@evil.test`, id }),
    () => mail({ from, token: mika, above: [PASS], below: ["Auto-Submitted: auto-replied"], id }),
    () => mail({ from, token: mika, above: ["Return-Path: <>", PASS], id }),
    () => mail({ from, token: mika, above: [PASS], to: `answers+${mika}@askd.test, answers+${lena}@askd.test`, id }),
  ];
  return kinds[index % kinds.length]?.() ?? "";
}

function mutate(token: string, random: () => number): string {
  const at = Math.floor(random() * token.length);
  const other = ((Number.parseInt(token.charAt(at), 16) + 1 + Math.floor(random() * 15)) % 16).toString(16);
  return `${token.slice(0, at)}${other}${token.slice(at + 1)}`;
}

/** The line with one letter of a word in it changed. */
function mutateIn(line: string, word: string, random: () => number): string {
  const at = line.indexOf(word) + Math.floor(random() * word.length);
  const letter = line.charAt(at) === "q" ? "z" : "q";
  return `${line.slice(0, at)}${letter}${line.slice(at + 1)}`;
}

function hexDigit(random: () => number) {
  return Math.floor(random() * 16).toString(16);
}

/** Numbers that are the same for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
