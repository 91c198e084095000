import { engineOn } from "../../src/app.ts";
import { SYSTEM } from "../../src/core/people/actor.ts";
import { approvalAsk } from "../../src/core/question/approval.ts";
import { ALLOW_RUN } from "../../src/core/question/run-permission.ts";
import { parseAsk } from "../../src/core/question/ask-input.ts";
import { Refusal } from "../../src/core/refusal.ts";
import { later } from "../../src/core/instant.ts";
import type { LocalEngine } from "../../src/engine/local-engine.ts";
import { Archiver } from "../../src/engine/trail/archiver.ts";
import { StatsCache } from "../../src/engine/stats/stats-cache.ts";
import type { Store } from "../../src/store/store.ts";
import { ADA, AGENT } from "../builders.ts";
import { Board } from "../channels/board-channel.ts";
import { MCP, ROOMY, SCRIPT, said } from "../scene.ts";
import { fillWithWorkflow } from "./tamper-workflow.ts";

const LENA = { ...ADA, id: "lena" };
const HOUR_MS = 3_600_000;
const SHORTEST_TIMEOUT_MS = 1_100;
const SMALL_BLOCK = 10;
const REFUSED_TRIES = 3;

/** Fills a store with questions in every state, and seals its trail twice. */
export async function fillStore(store: Store): Promise<void> {
  const board = new Board();
  const engine = engineOn(store, { rules: ROOMY, openChannel: board.open });
  await engine.doDue();
  await askAndAnswer(engine);
  await engine.seal();
  await archiveAll(store);
  await runAndResume(engine);
  await knowPeople(engine);
  await permitForRun(engine);
  await new Promise((resolve) => setTimeout(resolve, SHORTEST_TIMEOUT_MS));
  await engine.doDue();
  await tellPeople(store, board);
  await fillWithWorkflow(store);
  await new StatsCache(store, SMALL_BLOCK).takeIn();
  await engine.seal();
}

/** Moves all lines that may be into the archive, sealed or not, in small pages. */
export async function archiveUnsealed(store: Store): Promise<void> {
  while ((await store.indexWords(100)) > 0);
  const limit = { upTo: await store.findFeedEnd(), olderThan: later(await store.now(), 24 * HOUR_MS), lines: 6 };
  while ((await store.archive(limit)) > 0);
}

/** Moves what is sealed into the archive. */
async function archiveAll(store: Store): Promise<void> {
  while ((await store.indexWords(SMALL_BLOCK)) > 0);
  const archiver = new Archiver(store, 0, SMALL_BLOCK);
  let pages = 0;
  while (await archiver.archiveMore()) pages += 1;
  if (pages === 0) throw new Error("nothing was archived");
}

/** Questions whose messages are out, closed, refused by the channel for good, and not sent yet. */
async function tellPeople(store: Store, board: Board): Promise<void> {
  const rules = { ...ROOMY, reach: [{ name: "board", person: undefined, isPersonal: false }] };
  const engine = engineOn(store, { rules, openChannel: board.open });
  await ask(engine, { question: "Which queue?" });
  const answered = await ask(engine, { question: "Which log?" });
  await engine.doDue();
  await engine.answer(answered.id, said("1"), ADA);
  await engine.doDue();
  board.failures.push({ ok: false, why: "no such board", isFinal: true });
  await ask(engine, { question: "Which board?" });
  await engine.doDue();
  await ask(engine, { question: "Which day?" });
  if (board.messages.size < 2) throw new Error(`${board.messages.size} messages were sent`);
}

async function ask(engine: LocalEngine, raw: Record<string, unknown> = {}, door = SCRIPT) {
  const asked = { question: "Redis or Memcached?", options: ["Redis", "Memcached"], ...raw };
  return (await engine.ask(parseAsk(asked, door, ROOMY, await engine.now()), AGENT)).question;
}

async function askAndAnswer(engine: LocalEngine): Promise<void> {
  const taken = await ask(engine, { question: "Which editor?", context: "The old one is gone." });
  await engine.answer(taken.id, said("2"), ADA);
  await engine.handOver(taken.id);
  await engine.given(taken.id, "rest");
  const answered = await ask(engine, { question: "Which cache?", context: "Both run already." });
  await engine.answer(answered.id, said("1", { note: "for pub/sub", key: "once-1" }), ADA);
  await engine.amend(answered.id, "Use the cluster", ADA);
  const discussed = await ask(engine, { question: "Which name?", timeout: "2h" });
  await engine.claim(discussed.id, ADA, { key: "once-2" });
  await engine.comment(discussed.id, "Short, please", LENA);
  await engine.extend(discussed.id, HOUR_MS, ADA);
  await engine.snooze(discussed.id, later(await engine.now(), HOUR_MS / 2), ADA);
  const approval = await ask(engine, {
    question: "Deploy?",
    kind: "approval",
    options: ["Approve", "Deny"],
    approvals: { need: 2, from: ["ada", "lena"], veto: false },
  });
  await engine.answer(approval.id, said("1"), ADA);
  const cancelled = await ask(engine, { question: "Which port?" });
  await engine.cancel(cancelled.id, { reason: "not needed" }, ADA);
  for (let tries = 0; tries < REFUSED_TRIES; tries += 1)
    await engine.answer(discussed.id, said("mine"), AGENT).catch(requireRefusal);
  await ask(engine, { question: "Which region?", timeout: "1s", on_timeout: "skip" });
}

function requireRefusal(error: unknown): void {
  if (!(error instanceof Refusal)) throw error;
}

async function runAndResume(engine: LocalEngine): Promise<void> {
  const callback = { url: "https://example.com/x", secret: `whsec_${Buffer.alloc(24, 7).toString("base64")}` };
  const input = (raw: Record<string, unknown>, at: Awaited<ReturnType<LocalEngine["now"]>>) =>
    parseAsk({ question: "Go on?", options: ["Yes", "No"], ...raw }, MCP, ROOMY, at);
  const now = await engine.now();
  await engine.ask(input({ timeout: "3h" }, now), AGENT, { run: { callback } });
  const run = await engine.createRun(
    { name: "add-caching", agent: "claude", host: "here", giveBack: "worker" as const, session: "s1" },
    AGENT,
  );
  await engine.startRun(run.id, AGENT);
  const held = await engine.ask(input({ hold: "1h" }, now), AGENT, { runId: run.id, askedAs: "asker" });
  await engine.endHold(held.question.id, "gone");
  await engine.endRun(run.id, { status: "completed" }, AGENT);
  await engine.answer(held.question.id, said("1"), ADA);
  const child = await engine.createRun(
    { name: "child", agent: "claude", host: "here", giveBack: "worker", parentId: run.id },
    AGENT,
  );
  await engine.cancelRun(child.id, ADA, "not needed");
}

/** A permission for the rest of a run, and a call that it has answered. */
async function permitForRun(engine: LocalEngine): Promise<void> {
  const run = await engine.createRun({ name: "permitted", agent: "claude", host: "here", giveBack: "poll" }, AGENT);
  await engine.startRun(run.id, AGENT);
  const hook = { via: "hook", holdMs: HOUR_MS } as const;
  for (const key of ["call-1", "call-2"]) {
    const raw = { ...approvalAsk({ tool: "Bash", input: { command: "npm test" } }), key };
    const { question } = await engine.ask(parseAsk(raw, hook, ROOMY, await engine.now()), AGENT, { runId: run.id });
    if (question.status === "pending") await engine.answer(question.id, said(ALLOW_RUN), ADA);
    await engine.handOver(question.id);
    await engine.given(question.id, "hook");
  }
  const { permissions = [], permitted } = (await engine.findRun(run.id)) ?? {};
  if (permissions.length !== 1 || permitted !== 1) throw new Error("the permission was not used");
}

async function knowPeople(engine: LocalEngine): Promise<void> {
  await engine.putPerson({ id: "ada", version: 0, groups: ["ops"], email: "ada@example.com" }, SYSTEM);
  await engine.putPerson({ id: "lena", version: 0, groups: [] }, SYSTEM);
  await engine.setAway("lena", { until: later(await engine.now(), HOUR_MS), delegate: "ada" }, LENA);
  await engine.issueToken({ scope: "agent", subject: "ci" }, SYSTEM);
  const { token } = await engine.issueToken({ scope: "human", subject: "lena" }, SYSTEM);
  await engine.revokeToken(token.id, SYSTEM);
  await engine.putTemplate({ name: "yes", text: "Yes, go on." }, ADA);
  const [waiting] = await engine.listQuestions({ status: "pending", order: "oldest", limit: 1 });
  if (waiting) await engine.issueLink(waiting.id, "ada", SYSTEM);
}
