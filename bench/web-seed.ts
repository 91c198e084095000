import { engineOn } from "../src/app.ts";
import type { Actor } from "../src/core/actor.ts";
import { AnswerInput } from "../src/core/answer-input.ts";
import { parseAsk } from "../src/core/ask-input.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, instant } from "../src/core/instant.ts";
import { DEFAULT_LIMITS, DEFAULT_RULES, type Rules } from "../src/core/rules.ts";
import type { LocalEngine } from "../src/engine/local.ts";
import type { Store } from "../src/store/store.ts";

const MANY = 10_000_000;
const TOGETHER = 128;
const SPAN_MS = 6.5 * DAY_MS;
const PEOPLE = ["mika", "lena", "noor", "sam", "eva"];
const CHANNELS = ["web", "slack", "cli", "github"];
const AGENTS = ["claude", "codex", "gemini", "opencode"];
const ANSWERED = AnswerInput.parse({ answer: "1" });

/** Rules without limits that a benchmark would meet. */
export const ROOMY: Rules = {
  ...DEFAULT_RULES,
  limits: { ...DEFAULT_LIMITS, pending: MANY, asksPerMinute: MANY, asksPerRun: MANY, repliesPerMinute: MANY },
};

/** Fills a store: this many closed questions over almost a week, and these that wait now. */
export async function seed(store: Store, { closed, pending }: { closed: number; pending: number }): Promise<void> {
  const endMs = Date.now();
  let clockMs = endMs - SPAN_MS;
  const engine = engineOn(store, { rules: ROOMY, nowMs: () => clockMs });
  for (let first = 0; first < closed; first += TOGETHER) {
    const batch = Array.from({ length: Math.min(TOGETHER, closed - first) }, (_, index) => first + index);
    clockMs = endMs - SPAN_MS + (first / closed) * (SPAN_MS - DAY_MS / 12);
    const ids = await Promise.all(batch.map(async (index) => ask(engine, clockMs, index, { timeout: "2h" })));
    clockMs += ((first / TOGETHER) % 50) * MINUTE_MS + 7_000;
    await Promise.all(ids.map((id, place) => close(engine, id, first + place)));
  }
  for (let first = 0; first < pending; first += TOGETHER) {
    const batch = Array.from({ length: Math.min(TOGETHER, pending - first) }, (_, index) => closed + first + index);
    clockMs = endMs - 4 * HOUR_MS * (1 - first / pending) - MINUTE_MS;
    await Promise.all(batch.map((index) => ask(engine, clockMs, index, { timeout: "5h" })));
  }
}

async function ask(engine: LocalEngine, nowMs: number, index: number, more: object) {
  const raw = {
    question: `Redis or Memcached for cache ${index} of the service that renders the pages?`,
    options: [{ label: "Redis", description: "Adds a service.", recommended: true }, "Memcached"],
    context: "Both are in the project's dependencies. ".repeat(8),
    ...more,
  };
  const input = parseAsk(raw, { via: "mcp" }, ROOMY, instant(nowMs));
  const agent = AGENTS[index % AGENTS.length] ?? "";
  const by: Actor = { scope: "agent", id: agent, channel: "mcp", strength: "none" };
  const run = { name: `cache-${index}`, agent, repo: `acme/api-${index % 20}`, giveBack: "poll" as const };
  return (await engine.ask(input, by, { run })).question.id;
}

async function close(engine: LocalEngine, id: Awaited<ReturnType<typeof ask>>, index: number): Promise<void> {
  const by: Actor = {
    ...{ scope: "human", id: PEOPLE[index % PEOPLE.length] ?? "", strength: "local" },
    channel: CHANNELS[index % CHANNELS.length] ?? "",
  };
  if (index % 25 === 0) await engine.cancel(id, { reason: "not needed" }, by);
  else await engine.answer(id, ANSWERED, by);
}
