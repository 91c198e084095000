import { engineOn } from "../src/app.ts";
import type { Actor } from "../src/core/people/actor.ts";
import { AnswerInput } from "../src/core/answer/answer-input.ts";
import { parseAsk } from "../src/core/question/ask-input.ts";
import { isHandingOver } from "../src/core/question/question.ts";
import { later } from "../src/core/instant.ts";
import { DEFAULT_LIMITS, DEFAULT_RULES, type Rules } from "../src/core/rules.ts";
import type { LocalEngine } from "../src/engine/local-engine.ts";
import type { Store } from "../src/store/store.ts";
import type { Subject } from "./loop.ts";

const AGENT: Actor = { scope: "agent", id: "bench", channel: "bench", strength: "none" };
const ADA: Actor = { scope: "human", id: "ada", channel: "cli", strength: "local" };
const ASKED = {
  options: ["Redis (recommended)", "Memcached"],
  context: "x".repeat(250),
  hold: "3m",
};
const ANSWERED = AnswerInput.parse({ answer: "1" });

/** An engine as the product runs it, without limits that a benchmark would meet. */
export function benchEngine(store: Store): LocalEngine {
  const rules: Rules = { ...DEFAULT_RULES, limits: { ...DEFAULT_LIMITS, pending: 1_000_000 } };
  return engineOn(store, { rules });
}

/**
 * The whole product path: validation, matching, trail with hash chain, jobs, version guards.
 * Two commits: the ask, and the answer, which also says that the waiting caller hands it over.
 */
export function askd(store: Store): Subject {
  const engine = benchEngine(store);
  let asked = 0;
  return {
    name: "askd: ask, answer, hand over",
    async cycle() {
      const now = await engine.now();
      asked += 1;
      const raw = { ...ASKED, question: `Redis or Memcached for cache ${asked}?` };
      const { question } = await engine.ask(parseAsk(raw, { via: "mcp" }, DEFAULT_RULES, now), AGENT);
      let seenAt = 0;
      const seen = engine.wait(question.id, { until: later(now, 180_000), takes: true }).then((read) => {
        seenAt = performance.now();
        return read;
      });
      const answeredAt = performance.now();
      await engine.answer(question.id, ANSWERED, ADA);
      const { question: outcome, run } = await seen;
      if (!isHandingOver(outcome, run.epoch)) await engine.handOver(question.id);
      return { wakeMs: seenAt - answeredAt };
    },
    close: () => engine.stop(),
  };
}
