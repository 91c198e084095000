import { setTimeout as sleep } from "node:timers/promises";
import { engineOn } from "../../../src/app.ts";
import type { QuestionId } from "../../../src/core/id.ts";
import { SYSTEM } from "../../../src/core/people/actor.ts";
import { parseAsk } from "../../../src/core/question/ask-input.ts";
import type { Rules } from "../../../src/core/rules.ts";
import type { LocalEngine } from "../../../src/engine/local-engine.ts";
import type { Store } from "../../../src/store/store.ts";
import { AGENT } from "../../builders.ts";
import { MCP, ROOMY } from "../../scene.ts";
import { type Database, openStore, withPlace } from "../place.ts";
import { InboundService, asOtherListener, ntfyLine, replyUpdate, tapUpdate } from "./inbound.ts";
import { REACH, UNLIMITED } from "./reach-task.ts";

const MIKA = 77;
const ASKED_AT_ONCE = 50;
/** Every so-manieth question goes to ntfy, whose cursor is saved after each reply. */
const NTFY_EVERY = 10;
const BOUND_MS = 3 * 3_600_000;
const RULES: Rules = {
  ...ROOMY,
  reach: [REACH.telegram, REACH.ntfy],
  personChannel: true,
  attention: UNLIMITED,
  limits: { ...ROOMY.limits, pending: 100_000 },
};

export interface Shuffled {
  actions: number;
  /** How often an act was brought to a listener. */
  deliveries: number;
  answers: number;
  problems: string[];
}

/** One act of a person: how it is brought, and the answer that it gives. */
interface Act {
  channel: "telegram" | "ntfy";
  body: Record<string, unknown> | string;
  id: QuestionId;
  value: string;
}

/** People answer so many questions; each act is brought many times, in any order, to two listeners at once. */
export function shuffle(database: Database, actions: number, times: number): Promise<Shuffled> {
  return withPlace(database, async (place) => {
    const store = await openStore(place);
    const service = new InboundService();
    const failures: string[] = [];
    const queues = [1, 2].map(() => ({ updates: [] as unknown[], lines: [] as string[] }));
    const engines = queues.map((queue, index) =>
      engineOn(index === 0 ? store : asOtherListener(store), {
        rules: RULES,
        openChannel: service.open(queue),
        onFailure: (job, error) => void failures.push(`${job.key}: ${String(error)}`),
        onChannelFailure: (channel, error) => void failures.push(`${channel}: ${String(error)}`),
      }),
    );
    const [engine] = engines;
    if (!engine) throw new Error("there is no engine");
    try {
      await engine.putPerson({ id: "mika", version: 0, groups: [], telegram: String(MIKA) }, SYSTEM);
      const ids = await askAll(engine, store, actions);
      for (const each of engines) void each.work();
      await until(() => service.telegram.size + service.ntfy.length >= actions);
      const acts = actsOf(service, ids);
      const brought = mix(acts.flatMap((act) => Array.from({ length: times }, () => act)));
      for (const [index, { body }] of brought.entries()) {
        const queue = queues[index % queues.length];
        if (typeof body === "string") queue?.lines.push(body);
        else queue?.updates.push(body);
      }
      await until(() => queues.every(({ updates, lines }) => updates.length + lines.length === 0));
      const { answers, problems } = await check(engine, acts);
      return { actions: acts.length, deliveries: brought.length, answers, problems: [...problems, ...failures] };
    } finally {
      // The first one closes the store.
      for (const each of engines.toReversed()) await each.stop();
    }
  });
}

async function askAll(engine: LocalEngine, store: Store, count: number): Promise<QuestionId[]> {
  const ids: QuestionId[] = [];
  const now = await store.now();
  const askOne = async (n: number) => {
    const notify = [{ channel: n % NTFY_EVERY === 0 ? "ntfy" : "telegram" }];
    const raw = { question: `Case ${n}: Redis or Memcached?`, options: ["Redis", "Memcached"], notify, timeout: "9d" };
    ids[n] = (await engine.ask(parseAsk(raw, MCP, RULES, now), AGENT)).question.id;
  };
  for (let first = 0; first < count; first += ASKED_AT_ONCE) {
    const numbers = Array.from({ length: Math.min(ASKED_AT_ONCE, count - first) }, (_, index) => first + index);
    await Promise.all(numbers.map(askOne));
  }
  return ids;
}

/** Some press a button, some reply in words; each takes the one or the other option. */
function actsOf(service: InboundService, ids: readonly QuestionId[]): Act[] {
  const messages = [
    ...[...service.telegram.values()].map((taken) => ({ ...taken, channel: "telegram" as const })),
    ...service.ntfy.map((taken) => ({ ...taken, channel: "ntfy" as const })),
  ];
  return messages.map(({ channel, text, message, buttons }) => {
    const n = Number(/Case (\d+)/.exec(text)?.[1]);
    const id = ids[n];
    if (!id) throw new Error(`nothing like this was asked: ${text}`);
    const choice = n % 2;
    const value = ["Redis", "Memcached"][choice] ?? "";
    const data = buttons[choice] ?? "";
    if (channel === "ntfy") return { channel, id, value, body: ntfyLine(`act${n}`, data) };
    const isTap = n % 3 > 0;
    const body = isTap ? tapUpdate(n, MIKA, data) : replyUpdate(n, { from: MIKA, to: message, text: value });
    return { channel, id, value, body };
  });
}

/** Every question was answered once, by the person, with what the person chose. */
async function check(engine: LocalEngine, acts: readonly Act[]): Promise<{ answers: number; problems: string[] }> {
  const problems: string[] = [];
  let answers = 0;
  for (const { id, value, channel } of acts) {
    // The last act may still be on its way into the store.
    await until(async () => (await engine.read(id)).question.status !== "pending", 30_000).catch(() => undefined);
    const { question, run } = await engine.read(id);
    const events = (await engine.readChain(run.id)).filter(({ event }) => event.type === "question.answered");
    answers += events.length;
    if (question.status !== "answered" || events.length !== 1)
      problems.push(`${id} is ${question.status}, with ${events.length} answers`);
    else if (question.answer.by.id !== "mika" || question.answer.by.channel !== channel)
      problems.push(`${id} was answered by ${question.answer.by.id} in ${question.answer.by.channel}`);
    else if (JSON.stringify(question.answer.items["1"]?.values) !== JSON.stringify([value]))
      problems.push(`${id} was answered with ${JSON.stringify(question.answer.items)}, not ${value}`);
  }
  problems.push(...(await engine.verify()).problems);
  return { answers, problems };
}

async function until(isSo: () => boolean | Promise<boolean>, boundMs = BOUND_MS): Promise<void> {
  const end = performance.now() + boundMs;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error("it takes too long");
    await sleep(20);
  }
}

/** The same in an order of chance. */
function mix<Value>(values: readonly Value[]): Value[] {
  return values
    .map((value) => ({ value, place: Math.random() }))
    .sort((one, other) => one.place - other.place)
    .map(({ value }) => value);
}
