import { randomBytes, randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { engineOn } from "../../../src/app.ts";
import type { QuestionId } from "../../../src/core/id.ts";
import { SYSTEM } from "../../../src/core/people/actor.ts";
import { parseAsk } from "../../../src/core/question/ask-input.ts";
import type { Rules } from "../../../src/core/rules.ts";
import type { LocalEngine } from "../../../src/engine/local-engine.ts";
import type { Store } from "../../../src/store/store.ts";
import { ADA, AGENT } from "../../builders.ts";
import { MCP, ROOMY, said } from "../../scene.ts";
import { type Database, openStore, withPlace } from "../place.ts";
import { InboundService, type TakenMessage, ntfyLine, replyUpdate, tapUpdate } from "./inbound.ts";
import { REACH, UNLIMITED } from "./reach-task.ts";

const MIKA = 77;
const LENA = 78;
const STRANGER = 666;
/** Questions of each channel: the first ones stay open, the last ones are closed before anything is forged. */
const QUESTIONS = 12;
const CLOSED = 4;
const BOUND_MS = 3 * 3_600_000;
const RULES: Rules = { ...ROOMY, reach: [REACH.telegram, REACH.ntfy], personChannel: true, attention: UNLIMITED };
const WORDS = [
  "",
  " ",
  "AA",
  "C",
  "Z",
  "1",
  "Redis",
  "yes",
  "\u0000",
  "\u202eA",
  "Ａ",
  "А",
  "x".repeat(40),
  "{}",
  "A\nB",
];

export interface Forged {
  /** How many were brought, by kind. */
  brought: Record<string, number>;
  problems: string[];
}

/** One thing that a service brings and that nobody did. */
type Inbound = { update: Record<string, unknown> } | { line: string };

/** A message of ours, with the channel that it is in. */
type Known = TakenMessage & { channel: "telegram" | "ntfy"; isClosed: boolean };

/** Brings so many altered, invented and repeated replies; not one of them may change a question. */
export function forge(database: Database, count: number): Promise<Forged> {
  return withPlace(database, async (place) => {
    const store = await openStore(place);
    const service = new InboundService();
    const queue = { updates: [] as unknown[], lines: [] as string[] };
    const failures: string[] = [];
    const engine = engineOn(store, {
      rules: RULES,
      openChannel: service.open(queue),
      onFailure: (job, error) => void failures.push(`${job.key}: ${String(error)}`),
      onChannelFailure: (channel, error) => void failures.push(`${channel}: ${String(error)}`),
    });
    try {
      await engine.putPerson({ id: "mika", version: 0, groups: [], telegram: String(MIKA) }, SYSTEM);
      const ids = await askAll(engine, store);
      void engine.work();
      await until(() => service.telegram.size + service.ntfy.length === 2 * QUESTIONS);
      const known = await closeSome(engine, service, ids);
      await until(async () => (await lookAll(engine, ids)).every(({ isIdle }) => isIdle));
      const before = await lookAll(engine, ids);
      const brought = await bring(known, queue, count);
      await until(() => queue.updates.length + queue.lines.length === 0);
      const problems = await checkTaken({ engine, service, known, queue, ids, before });
      return { brought, problems: [...problems, ...failures] };
    } finally {
      await engine.stop();
    }
  });
}

async function askAll(engine: LocalEngine, store: Store): Promise<QuestionId[]> {
  const ids: QuestionId[] = [];
  for (let n = 0; n < 2 * QUESTIONS; n += 1) {
    const notify = [{ channel: n < QUESTIONS ? "telegram" : "ntfy" }];
    const raw = { question: `Case ${n}: Redis or Memcached?`, options: ["Redis", "Memcached"], notify, timeout: "9d" };
    ids.push((await engine.ask(parseAsk(raw, MCP, RULES, await store.now()), AGENT)).question.id);
  }
  return ids;
}

/** Some questions are answered before: their replies are old ones. */
async function closeSome(engine: LocalEngine, service: InboundService, ids: readonly QuestionId[]): Promise<Known[]> {
  const known = [
    ...[...service.telegram.values()].map((taken) => ({ ...taken, channel: "telegram" as const })),
    ...service.ntfy.map((taken) => ({ ...taken, channel: "ntfy" as const })),
  ].map((taken) => ({ ...taken, isClosed: numberOf(taken) % QUESTIONS >= QUESTIONS - CLOSED }));
  for (const taken of known.filter(({ isClosed }) => isClosed))
    await engine.answer(ids[numberOf(taken)]!, said("1"), ADA);
  return known;
}

function numberOf({ text }: TakenMessage) {
  return Number(/Case (\d+)/.exec(text)?.[1]);
}

/** Everything of a question that a reply could change; late replies are written down and change nothing. */
async function lookAll(engine: LocalEngine, ids: readonly QuestionId[]) {
  return Promise.all(
    ids.map(async (id) => {
      const { question, run } = await engine.read(id);
      const events = (await engine.readChain(run.id)).filter(({ event }) => event.type !== "question.late_reply");
      const [delivery] = await engine.listDeliveries(id);
      const isIdle = delivery?.state === (question.status === "pending" ? "sent" : "closed");
      return { isIdle, seen: JSON.stringify([question, events.map(({ event }) => event.type)]) };
    }),
  );
}

async function bring(
  known: readonly Known[],
  queue: { updates: unknown[]; lines: string[] },
  count: number,
): Promise<Record<string, number>> {
  const brought: Record<string, number> = {};
  const kinds = Object.entries(KINDS);
  for (let n = 0; n < count; n += 1) {
    const [name, make] = kinds[n % kinds.length]!;
    const inbound = make(n, known);
    if ("update" in inbound) queue.updates.push(inbound.update);
    else queue.lines.push(inbound.line);
    brought[name] = (brought[name] ?? 0) + 1;
    // Memory stays small however many there are.
    while (queue.updates.length + queue.lines.length > 2_000) await sleep(5);
  }
  return brought;
}

type Maker = (n: number, known: readonly Known[]) => Inbound;

const KINDS: Readonly<Record<string, Maker>> = {
  "Telegram: somebody else presses the button": (n, known) =>
    tap(n, chance([STRANGER, LENA, -MIKA, 0]), pressOf(known, "telegram")),
  "Telegram: an altered token": (n, known) => tap(n, MIKA, `${altered(tokenOf(known, "telegram"))}:A`),
  "Telegram: an invented token": (n) => tap(n, MIKA, `${randomBytes(12).toString("hex")}:A`),
  "Telegram: the data is cut": (n, known) => {
    const data = pressOf(known, "telegram");
    return tap(n, MIKA, data.slice(0, randomInt(data.length)));
  },
  "Telegram: the data is extended": (n, known) =>
    tap(n, MIKA, `${openOf(known, "telegram").buttons[0] ?? ""}${chance(["A", "x", ":A", " ", "0", "\n"])}`),
  "Telegram: a choice that no button has": (n, known) =>
    tap(
      n,
      MIKA,
      `${tokenOf(
        known.filter(({ isClosed }) => !isClosed),
        "telegram",
      )}:${chance(WORDS)}`,
    ),
  "Telegram: the token of another channel": (n, known) => tap(n, MIKA, `${tokenOf(known, "ntfy")}:A`),
  "Telegram: an old press again": (n, known) => tap(n % 50, MIKA, closedOf(known, "telegram").buttons[0] ?? ""),
  "Telegram: a reply in a group": (n, known) =>
    reply(n, { from: MIKA, chat: -100_123, type: "group", to: openOf(known, "telegram").message, text: "A" }),
  "Telegram: a reply of somebody else": (n, known) =>
    reply(n, { from: chance([STRANGER, LENA]), to: openOf(known, "telegram").message, text: "A" }),
  "Telegram: a reply with a wrong chat": (n, known) =>
    reply(n, { from: STRANGER, chat: MIKA, to: openOf(known, "telegram").message, text: "A" }),
  "Telegram: a reply to no message of ours": (n) =>
    reply(n, { from: MIKA, to: 1_000_000 + randomInt(1_000_000), text: "A" }),
  "ntfy: an altered token": (n, known) => line(n, `${altered(tokenOf(known, "ntfy"))} A`),
  "ntfy: an invented token": (n) => line(n, `${randomBytes(12).toString("hex")} A`),
  "ntfy: the body is cut": (n, known) => {
    const data = pressOf(known, "ntfy");
    return line(n, data.slice(0, randomInt(data.length)));
  },
  "ntfy: the body is extended": (n, known) =>
    line(n, `${openOf(known, "ntfy").buttons[0] ?? ""}${chance(["A", "x", " A", " 0"])}`),
  "ntfy: a choice that no button has": (n, known) =>
    line(
      n,
      `${tokenOf(
        known.filter(({ isClosed }) => !isClosed),
        "ntfy",
      )} ${chance(WORDS)}`,
    ),
  "ntfy: the token of another channel": (n, known) => line(n, `${tokenOf(known, "telegram")} A`),
  "ntfy: an old press again": (n, known) => ({
    line: ntfyLine(`old${n % 50}`, closedOf(known, "ntfy").buttons[0] ?? ""),
  }),
};

/** The listener still takes a true reply of every open question, and nothing before it was taken. */
async function checkTaken(at: {
  engine: LocalEngine;
  service: InboundService;
  known: readonly Known[];
  queue: { updates: unknown[]; lines: string[] };
  ids: readonly QuestionId[];
  before: ReadonlyArray<{ seen: string }>;
}): Promise<string[]> {
  const { engine, known, queue, ids, before } = at;
  await sleep(500);
  const after = await lookAll(engine, ids);
  const changed = ids.filter((_, index) => after[index]?.seen !== before[index]?.seen);
  const open = known.filter(({ isClosed }) => !isClosed);
  for (const [index, { channel, buttons }] of open.entries()) {
    if (channel === "telegram") queue.updates.push(tapUpdate(900_000_000 + index, MIKA, buttons[0] ?? ""));
    else queue.lines.push(ntfyLine(`true${index}`, buttons[0] ?? ""));
  }
  const isAnswered = async () =>
    (await Promise.all(ids.map((id) => engine.read(id)))).every(({ question }) => question.status === "answered");
  const isHeard = await until(isAnswered, 60_000).then(
    () => true,
    () => false,
  );
  return [
    ...changed.map((id) => `${id} was changed by something that nobody did`),
    ...(isHeard ? [] : ["a true reply was not taken afterwards"]),
    ...(await engine.verify()).problems,
  ];
}

function tap(n: number, from: number, data: string): Inbound {
  return { update: tapUpdate(1_000 + n, from, data) };
}

function reply(n: number, message: Parameters<typeof replyUpdate>[1]): Inbound {
  return { update: replyUpdate(1_000 + n, message) };
}

function line(n: number, message: string): Inbound {
  return { line: ntfyLine(`forged${n}`, message) };
}

function openOf(known: readonly Known[], channel: Known["channel"]): Known {
  return chance(known.filter((each) => each.channel === channel && !each.isClosed));
}

function closedOf(known: readonly Known[], channel: Known["channel"]): Known {
  return chance(known.filter((each) => each.channel === channel && each.isClosed));
}

function pressOf(known: readonly Known[], channel: Known["channel"]): string {
  return openOf(known, channel).buttons[0] ?? "";
}

function tokenOf(known: readonly Known[], channel: Known["channel"]): string {
  return pressOf(known, channel).split(/[: ]/)[0] ?? "";
}

/** The same text with one character changed, left out, doubled or in the other case. */
function altered(token: string): string {
  const at = randomInt(token.length);
  const [head, one, tail] = [token.slice(0, at), token.charAt(at), token.slice(at + 1)];
  const other = one === one.toUpperCase() ? one.toLowerCase() : one.toUpperCase();
  const made = chance([
    `${head}${String.fromCharCode(one.charCodeAt(0) ^ (1 << randomInt(5)))}${tail}`,
    `${head}${tail}`,
    `${head}${one}${one}${tail}`,
    `${head}${other}${tail}`,
    `${token}=`,
  ]);
  return made === token ? `${token}x` : made;
}

function chance<Value>(values: readonly Value[]): Value {
  return values[randomInt(values.length)]!;
}

async function until(isSo: () => boolean | Promise<boolean>, boundMs = BOUND_MS): Promise<void> {
  const end = performance.now() + boundMs;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error("it takes too long");
    await sleep(10);
  }
}
