import { engineOn } from "../../../src/app.ts";
import { parseAsk } from "../../../src/core/question/ask-input.ts";
import type { QuestionId } from "../../../src/core/id.ts";
import type { LocalEngine } from "../../../src/engine/local-engine.ts";
import type { Store } from "../../../src/store/store.ts";
import { ADA, AGENT } from "../../builders.ts";
import { MCP, ROOMY, SCRIPT, said } from "../../scene.ts";
import { fillStore } from "../tamper-fill.ts";

/** How long an answer settles, and how soon a question is due: nobody does jobs before the store has moved. */
const SETTLING_MS = 600_000;
const SHORT = "2s";

/** Fills a store with questions in every state; returns one that times out soon. */
export async function fillWithEveryState(store: Store): Promise<QuestionId> {
  await fillStore(store);
  const engine = engineOn(store, { rules: ROOMY });
  const forced = await ask(engine, { question: "Which zone?", timeout: "1s", on_timeout: "skip" });
  await untilTimedOut(engine, forced.id);
  await engine.answer(forced.id, said("1", { force: true }), ADA);
  const settling = await ask(engine, { question: "Which shard?", timeout: "3h" });
  await engine.answer(settling.id, said("1", { undoMs: SETTLING_MS }), ADA);
  const run = await engine.createRun(
    { name: "held", agent: "claude", host: "here", giveBack: "worker", session: "held" },
    AGENT,
  );
  await engine.startRun(run.id, AGENT);
  const held = parseAsk({ question: "Hold on?", options: ["Yes", "No"], hold: "2h" }, MCP, ROOMY, await engine.now());
  await engine.ask(held, AGENT, { runId: run.id });
  const short = await ask(engine, { question: "Which minute?", timeout: SHORT, on_timeout: "skip" });
  await engine.seal();
  return short.id;
}

/** Does due jobs until the question has timed out. */
export async function untilTimedOut(engine: LocalEngine, id: QuestionId): Promise<void> {
  for (;;) {
    await engine.doDue();
    if ((await engine.read(id)).question.status === "timeout") return;
    await new Promise((wake) => setTimeout(wake, 50));
  }
}

async function ask(engine: LocalEngine, raw: Record<string, unknown>) {
  const asked = { options: ["Redis", "Memcached"], ...raw };
  return (await engine.ask(parseAsk(asked, SCRIPT, ROOMY, await engine.now()), AGENT)).question;
}
