import { engineOn } from "../src/app.ts";
import { type Actor, SYSTEM } from "../src/core/people/actor.ts";
import { AnswerInput } from "../src/core/answer/answer-input.ts";
import { parseAsk } from "../src/core/question/ask-input.ts";
import type { QuestionId, RunId } from "../src/core/id.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, instant, later } from "../src/core/instant.ts";
import { Person } from "../src/core/people/person.ts";
import { DEFAULT_LIMITS, DEFAULT_RULES, type Rules } from "../src/core/rules.ts";
import { TemplateInput } from "../src/core/answer/template.ts";
import type { LocalEngine } from "../src/engine/local-engine.ts";
import type { Store } from "../src/store/store.ts";

const MANY = 10_000_000;
const TOGETHER = 128;
const SPAN_MS = 6.5 * DAY_MS;
const PEOPLE = ["mika", "lena", "noor", "sam", "eva"];
const CHANNELS = ["web", "slack", "cli", "github"];
const AGENTS = ["claude", "codex", "gemini", "opencode"];
const THINGS = [
  "cache",
  "queue",
  "index",
  "session store",
  "rate limit",
  "search",
  "upload",
  "report",
  "login",
  "export",
];
const PLACES = ["checkout", "billing", "catalogue", "warehouse", "newsletter", "dashboard", "gateway", "importer"];
const ANSWERED = AnswerInput.parse({ answer: "1" });

/** Rules without limits that a benchmark would meet. */
export const ROOMY: Rules = {
  ...DEFAULT_RULES,
  limits: { ...DEFAULT_LIMITS, pending: MANY, asksPerMinute: MANY, asksPerRun: MANY, repliesPerMinute: MANY },
};

interface SeedOptions {
  closed: number;
  pending: number;
  areTaken?: boolean;
  /** Called after each round with how many are closed. */
  onClosed?: (count: number) => Promise<void>;
}

interface Asked {
  id: QuestionId;
  runId: RunId;
}

/**
 * Fills a store: this many closed questions over almost a week, and these that wait now; five of four runs' worth. The
 * agents may have taken their answers, which ends their runs.
 */
export async function seed(store: Store, { closed, pending, areTaken = false, onClosed }: SeedOptions): Promise<void> {
  const endMs = Date.now();
  let clockMs = endMs - SPAN_MS;
  const engine = engineOn(store, { rules: ROOMY, nowMs: () => clockMs });
  let before: Asked[] = [];
  for (let first = 0; first < closed; first += TOGETHER) {
    const batch = Array.from({ length: Math.min(TOGETHER, closed - first) }, (_, index) => first + index);
    clockMs = endMs - SPAN_MS + (first / closed) * (SPAN_MS - DAY_MS / 12);
    const asked = await Promise.all(
      batch.map((index, place) => {
        const runId = index % 5 === 0 ? before[place]?.runId : undefined; // every fifth is asked by a run that asked before
        return ask(engine, clockMs, index, { timeout: "2h", ...(runId && { runId }) });
      }),
    );
    clockMs += ((first / TOGETHER) % 50) * MINUTE_MS + 7_000;
    await Promise.all(asked.map(({ id }, place) => close(engine, id, first + place)));
    if (areTaken) await Promise.all(asked.map(({ id }) => take(engine, id)));
    before = asked;
    await onClosed?.(first + batch.length);
  }
  for (let first = 0; first < pending; first += TOGETHER) {
    const batch = Array.from({ length: Math.min(TOGETHER, pending - first) }, (_, index) => closed + first + index);
    clockMs = endMs - 4 * HOUR_MS * (1 - first / pending) - MINUTE_MS;
    await Promise.all(batch.map((index) => ask(engine, clockMs, index, { timeout: "5h" })));
  }
}

/** Adds what the pages of settings list: people, templates, and sessions of which most are over. */
export async function seedLists(store: Store, { each }: { each: number }): Promise<void> {
  const engine = engineOn(store, { rules: ROOMY });
  const now = await engine.now();
  for (let index = 0; index < each; index += 1) {
    const person = {
      id: `person-${index}`,
      version: 0,
      email: `p${index}@example.org`,
      groups: [`team-${index % 20}`],
    };
    await engine.putPerson(Person.parse(person), SYSTEM);
    const expiresAt = later(now, index % 4 === 0 ? DAY_MS : -DAY_MS);
    await engine.issueToken({ scope: "human", subject: `person-${index}`, expiresAt }, SYSTEM);
  }
  for (let index = 0; index < Math.min(each, 400); index += 1) {
    const input = { name: `reply-${index}`, text: `Take number ${index}, as we agreed.` };
    await engine.putTemplate(TemplateInput.parse(input), SYSTEM);
  }
}

async function ask(engine: LocalEngine, nowMs: number, index: number, more: { timeout: string; runId?: RunId }) {
  const { runId, timeout } = more;
  const thing = THINGS[index % THINGS.length] ?? "";
  const place = PLACES[Math.floor(index / THINGS.length) % PLACES.length] ?? "";
  const raw = {
    question: `Redis or Memcached for the ${thing} of ${place} ${index}, which renders the pages?`,
    options: [{ label: "Redis", description: "Adds a service.", recommended: true }, "Memcached"],
    context: "Both are in the project's dependencies. ".repeat(8),
    timeout,
  };
  const input = parseAsk(raw, { via: "mcp" }, ROOMY, instant(nowMs));
  const agent = AGENTS[index % AGENTS.length] ?? "";
  const by: Actor = { scope: "agent", id: agent, channel: "mcp", strength: "none" };
  const run = { name: `cache-${index}`, agent, repo: `acme/api-${index % 20}`, giveBack: "poll" as const };
  const asked = await engine.ask(input, by, runId ? { runId } : { run });
  return { id: asked.question.id, runId: asked.run.id };
}

async function close(engine: LocalEngine, id: QuestionId, index: number): Promise<void> {
  const by: Actor = {
    scope: "human",
    id: PEOPLE[index % PEOPLE.length] ?? "",
    strength: "local",
    channel: CHANNELS[index % CHANNELS.length] ?? "",
  };
  if (index % 25 === 0) await engine.cancel(id, { reason: "not needed" }, by);
  else await engine.answer(id, ANSWERED, by);
}

/** The agent reads its answer. */
async function take(engine: LocalEngine, id: QuestionId): Promise<void> {
  const { question } = await engine.handOver(id);
  if (question.status !== "cancelled") await engine.given(id, "rest");
}
