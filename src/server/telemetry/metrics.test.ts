import { afterEach, beforeEach, expect, test } from "vitest";
import { ADA, AGENT, NOON, anEvent } from "../../../test/builders.ts";
import { pendingOf, said } from "../../../test/scene.ts";
import { ServedScene } from "../../../test/served.ts";
import { Histogram, Series, MetricsTally } from "./metrics-tally.ts";

const HOUR = 3_600_000;

let at: ServedScene;
let token: string;
beforeEach(async () => {
  at = await ServedScene.start();
  token = await at.token();
});
afterEach(() => at.stop());

async function scrape(): Promise<Record<string, number>> {
  const { body } = await at.send("GET", "/metrics", { token });
  const lines = String(body["text"]).split("\n");
  const values = lines.filter((line) => line !== "" && !line.startsWith("#"));
  return Object.fromEntries(values.map((line): [string, number] => [line.split(" ")[0]!, Number(line.split(" ")[1])]));
}

/** The difference between two scrapes, once every event is counted. */
async function moved(work: () => Promise<unknown>): Promise<Record<string, number>> {
  const before = await scrape();
  await work();
  await counted();
  const after = await scrape();
  const names = Object.keys(after).filter((name) => !name.includes("_bucket") && after[name] !== (before[name] ?? 0));
  return Object.fromEntries(names.map((name) => [name, (after[name] ?? 0) - (before[name] ?? 0)]));
}

/** Waits until the tail has told of everything that is in the feed. */
async function counted(): Promise<void> {
  const end = await at.scene.store.findFeedEnd();
  while (at.served.live.tail.cursor !== end) await new Promise((resolve) => setTimeout(resolve, 1));
}

async function asking(raw: Record<string, unknown> = {}) {
  const run = await at.scene.startedRun();
  const asked = await at.scene.engine.ask(at.scene.input(raw), AGENT, { runId: run.id });
  return { run, question: pendingOf(asked) };
}

test("an ask counts as posted and pending", async () => {
  expect(await moved(() => asking())).toEqual({ askd_questions_posted_total: 1, askd_questions_pending: 1 });
});

test("an answer counts by who gave it, with the time it took", async () => {
  const { question } = await asking();
  await at.scene.pass(HOUR);
  expect(await moved(() => at.scene.engine.answer(question.id, said("1"), ADA))).toEqual({
    'askd_questions_answered_total{by="human"}': 1,
    askd_questions_pending: -1,
    askd_answer_latency_seconds_sum: 3600,
    askd_answer_latency_seconds_count: 1,
  });
});

test("a timeout counts by what was done then", async () => {
  await asking({ timeout: "1h", on_timeout: "skip" });
  expect(await moved(() => at.scene.pass(HOUR))).toEqual({
    'askd_questions_timed_out_total{action="skip"}': 1,
    askd_questions_pending: -1,
    askd_jobs_due: 1, // the agent that still lives is to be stopped, and nobody here can
  });
});

test("a park, and a resume with the time between them", async () => {
  const { run, question } = await asking();
  const { engine } = at.scene;
  const parked = await moved(() => engine.endRun(run.id, { status: "completed" }, AGENT));
  expect(parked).toEqual({ askd_runs_suspended_total: 1 });
  await at.scene.pass(HOUR);
  await engine.answer(question.id, said("1"), ADA);
  expect(await moved(() => engine.startRun(run.id, AGENT))).toEqual({
    askd_runs_resumed_total: 1,
    askd_jobs_due: -1,
    askd_run_suspension_seconds_sum: 3600,
    askd_run_suspension_seconds_count: 1,
  });
});

test("a cancelled question", async () => {
  const { question } = await asking();
  expect(await moved(() => at.scene.engine.cancel(question.id, {}, ADA))).toMatchObject({
    askd_questions_cancelled_total: 1,
    askd_questions_pending: -1,
  });
});

test("a caller that waits, and one that reads live events", async () => {
  const { question } = await asking();
  const held = fetch(`${at.url}/api/v1/questions/${question.id}/wait`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const live = await fetch(`${at.url}/api/v1/events`, {
    headers: { authorization: `Bearer ${token}`, accept: "text/event-stream" },
  });
  while ((await scrape())["askd_holds"] !== 1) await new Promise((resolve) => setTimeout(resolve, 1));
  expect(await scrape()).toMatchObject({ askd_holds: 1, askd_sse_clients: 1, askd_feed_lag_seconds: 0 });
  await live.body?.cancel();
  await at.scene.engine.answer(question.id, said("1"), ADA);
  await held;
});

test("questions that pile up raise an alert, which is written down", async () => {
  const lines: unknown[] = [];
  await at.stop();
  const rules = { ...at.scene.rules, alerts: { ...at.scene.rules.alerts, pendingQuestions: 1 } };
  at = await ServedScene.start({ rules, log: (level, event, fields) => void lines.push([level, event, fields]) });
  token = await at.token();
  await asking();
  expect(await scrape()).toMatchObject({ 'askd_alert{name="pending"}': 0 });
  await asking();
  while ((await scrape())['askd_alert{name="pending"}'] !== 1) await new Promise((resolve) => setTimeout(resolve, 5));
  await counted();
  expect(await scrape()).toMatchObject({ 'askd_alerts_total{name="pending"}': 1 });
  expect(lines.filter((line) => JSON.stringify(line).includes("alert"))).toEqual([
    ["warn", "alert", { name: "pending", value: 2 }],
  ]);
});

test("the page is for people, in the text format", async () => {
  expect((await at.send("GET", "/metrics")).status).toBe(401);
  const agent = await at.token({ scope: "agent", subject: "ci" });
  expect((await at.send("GET", "/metrics", { token: agent })).status).toBe(403);
  const { headers, body } = await at.send("GET", "/metrics", { token });
  expect(headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  expect(String(body["text"])).toMatch(/^(# (HELP|TYPE) askd_\w+ .+\n|askd_\w+(\{.*\})? [\d.e+-]+\n)+$/);
});

test("notifications count by channel and outcome, answers also by policy and by rule", () => {
  const tally = new MetricsTally();
  const of = (detail: Record<string, unknown>) => ({ at: NOON, detail });
  tally.count(anEvent({ type: "question.notified", ...of({ channel: "slack" }) }));
  tally.count(anEvent({ type: "question.delivery_failed", ...of({ channel: "email" }) }));
  tally.count(anEvent({ type: "question.delivery_failed", ...of({ reason: "run_cancelled" }) }));
  tally.count(anEvent({ type: "question.answered", ...of({ policy: "confidence", waited_ms: 0 }) }));
  tally.count(anEvent({ type: "question.answered", ...of({ policy: "rule:caches", waited_ms: 0 }) }));
  const text = tally.write();
  expect(text).toContain('askd_notifications_total{channel="slack",outcome="sent"} 1\n');
  expect(text).toContain('askd_notifications_total{channel="email",outcome="failed"} 1\n');
  expect(text).toContain('askd_questions_answered_total{by="policy"} 1\n');
  expect(text).toContain('askd_questions_answered_total{by="rule"} 1\n');
});

test("labels are escaped, and too many of them are counted together", () => {
  const series = new Series("counter", "askd_test_total", "A test.");
  series.add({ channel: 'a"b\\c\nd' });
  for (let n = 0; n < 500; n += 1) series.add({ channel: `channel ${n}` });
  expect(series.write()).toContain('askd_test_total{channel="a\\"b\\\\c\\nd"} 1\n');
  expect(series.write()).toContain('askd_test_total{channel="other"} 401\n');
});

test("each bucket counts what took at most that long", () => {
  const histogram = new Histogram("askd_test_seconds", "A test.", [1, 10]);
  for (const seconds of [0.5, 1, 5, 60]) histogram.observe(seconds);
  const values = histogram.write().match(/ \d+(\.\d+)?$/gm);
  expect(values?.map(Number)).toEqual([2, 3, 4, 66.5, 4]);
});
