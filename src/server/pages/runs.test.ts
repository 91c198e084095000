import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SYSTEM } from "../../core/people/actor.ts";
import { AnswerInput } from "../../core/answer/answer-input.ts";
import type { AtHand } from "../../web/card/card-view.ts";
import { AGENT } from "../../../test/builders.ts";
import { PageVisit } from "../../../test/page-visit.ts";

const BAD = '<script>alert("x")</script>';
const LENA = { scope: "human", id: "lena", channel: "slack", strength: "person" } as const;
const HERE: AtHand = {
  work: async () => ({
    stat: " a.ts | 1 +\n 1 file changed, 1 insertion(+)\n",
    diff: `+${BAD}\n${"+x\n".repeat(40_000)}`,
    untracked: ["new.ts"],
  }),
  takeover: async () => "cd /work && claude --resume abc",
  log: async (_run, from) => ({
    entries: [
      { kind: "call", text: `Edit ${BAD}` },
      { kind: "text", text: "token ghp_0123456789abcdefghijklmnopqrstuvwxyzAB and \u202e" },
    ],
    next: from === undefined ? "1.10.0" : "1.20.0",
    isCut: true,
  }),
};
let visit: PageVisit;

beforeEach(async () => {
  visit = await PageVisit.start({ atHand: HERE });
});
afterEach(() => visit.stop());

const scene = () => visit.at.scene;
const started = (over: Parameters<PageVisit["at"]["scene"]["startedRun"]>[0] = {}) => scene().startedRun(over);

async function asking(raw: Record<string, unknown> = {}) {
  const run = await started({ repo: "acme/api", branch: "feature/x" });
  const { question } = await scene().engine.ask(scene().input(raw), AGENT, { runId: run.id });
  await scene().engine.endRun(run.id, { status: "completed" }, SYSTEM);
  return { run, question };
}

test("a run whose question could not be read says so, in the list and on its page", async () => {
  const run = await started();
  const result = { status: "completed", mayHaveAsked: `<<ASK_HUMAN>> holds no valid JSON ${BAD}` } as const;
  await scene().engine.endRun(run.id, result, SYSTEM);
  expect((await visit.open("/runs")).html).toContain("May have asked");
  const { html } = await visit.open(`/r/${run.id}`);
  expect(html).toContain("may have asked something that askd could not read");
  expect(html).toContain("holds no valid JSON");
  expect(html).not.toContain(BAD);
});

test.each([
  ["its cost", { turns: 3, outputTokens: 12 }, ["3 turns", "cost unknown", "unknown in, 12 out"]],
  ["its turns", { costUsd: 0.5, inputTokens: 7 }, ["turns unknown", "$0.50", "7 in, unknown out"]],
])("pages say what is unknown of an agent that does not say %s", async (_, body, used) => {
  const { run, question } = await asking();
  await scene().store.commit({ entries: [{ kind: "usage", id: run.id, version: 0, body }] });
  const { html } = await visit.open(`/r/${run.id}`);
  for (const words of used) expect(html).toContain(words);
  for (const page of ["/runs", `/q/${question.id}`]) {
    const shown = (await visit.open(page)).html;
    for (const words of used.slice(0, 2)) expect(shown).toContain(words);
  }
});

describe("the list of runs", () => {
  test("says where to begin when nothing ever ran", async () => {
    expect((await visit.open("/runs")).html).toContain("No agent has run yet");
  });

  test("shows what waits, where and for how long, and filters by state", async () => {
    const { question } = await asking();
    const failed = await started({ name: "deploy" });
    await scene().engine.endRun(failed.id, { status: "failed", reason: "agent_error" }, SYSTEM);
    await scene().pass(120_000);
    const { html } = await visit.open("/runs");
    for (const words of ["Waiting for Input", "add-caching", "acme/api", "feature/x", question.title, "waiting 2m"])
      expect(html).toContain(words);
    expect((await visit.open("/runs?state=failed")).html).toMatch(/deploy/);
    expect((await visit.open("/runs?state=failed")).html).not.toContain("add-caching");
    expect((await visit.open("/runs?state=waiting")).html).not.toContain("deploy");
  });

  test("has the parts of a run below it, and names the parent where it is elsewhere", async () => {
    const parent = await started({ name: "payments" });
    await started({ name: "auth", parentId: parent.id });
    expect((await visit.open("/runs")).html).toMatch(/payments[^]*<ul class="runs">[^]*auth/);
    await scene().engine.endRun(parent.id, { status: "completed" }, SYSTEM);
    expect((await visit.open("/runs?state=working")).html).toMatch(/part of <a[^>]*>#1 payments/);
  });

  test("goes on page by page", async () => {
    for (let index = 0; index < 45; index += 1) await started({ name: `run-${index}` });
    const { html } = await visit.open("/runs");
    const next = /href="(\/runs\?after=r_\w+)"/.exec(html)?.[1] ?? "";
    const second = (await visit.open(next)).html;
    const names = [html, second].map((page) => [...page.matchAll(/#\d+ run-\d+/g)].map(([name]) => name));
    expect(names.map(({ length }) => length)).toEqual([40, 5]);
    expect(new Set(names.flat()).size).toBe(45);
    expect(second).not.toContain(">Older<");
  });
});

describe("a run that waits", () => {
  test("has the question with everything to answer it above its log", async () => {
    const { run, question } = await asking();
    const { html } = await visit.open(`/r/${run.id}`);
    expect(html).toMatch(new RegExp(`action="/q/${question.id}/answer"[^]*id="log"`));
    expect(html).toContain("Waiting for Input");
    expect(html).toContain("cd /work &amp;&amp; claude --resume abc");
  });

  test("is answered from its page, which is where one stays", async () => {
    const { run, question } = await asking();
    const referer = `${visit.at.url}/r/${run.id}`;
    const got = await visit.post(`/q/${question.id}/answer`, { do: "answer", "i.0": "0" }, { referer });
    expect(got.location).toBe(`/r/${run.id}`);
    const elsewhere = { referer: "https://evil.example/r/x" };
    expect((await visit.post(`/q/${question.id}/undo`, {}, elsewhere)).location).toBe(`/q/${question.id}`);
  });

  test("has no question once it is closed, and says how long it waited", async () => {
    const { run, question } = await asking();
    await scene().pass(3_600_000);
    await scene().engine.answer(question.id, AnswerInput.parse({ answer: "Redis" }), LENA);
    await scene().pass(3_600_000);
    const { html } = await visit.open(`/r/${run.id}`);
    expect(html).not.toContain('id="answer"');
    expect(html).toContain("Waited for people: 1h of 2h");
    expect(html).toContain("answer from lena accepted: “Redis”");
    expect(html).toContain("waited 1h");
  });
});

describe("a run", () => {
  test.each(["42 is not there", "r_00000000000000000000000000", "zzzz"])("named %j is not found", async (name) => {
    expect((await visit.open(`/r/${encodeURIComponent(name)}`)).status).toBe(404);
  });

  test("is found by every name that the command line takes", async () => {
    const { run, question } = await asking();
    const other = await started({ name: "other", externalId: "tm-abc", session: "s-1" });
    for (const name of ["1", "#1", "add-caching", `r-${run.id.slice(12, 20)}`, run.id.slice(12), question.id])
      expect((await visit.open(`/r/${encodeURIComponent(name)}`)).location).toBe(`/r/${run.id}`);
    for (const name of ["tm-abc", "s-1", "other"])
      expect((await visit.open(`/r/${name}`)).location).toBe(`/r/${other.id}`);
  });

  test("is resumed by a button after an answer that was only stored", async () => {
    const { run, question } = await asking();
    await scene().engine.answer(question.id, AnswerInput.parse({ answer: "Redis", resume: false }), LENA);
    expect((await visit.open("/runs")).html).toContain(`action="/r/${run.id}/resume"`);
    expect((await visit.post(`/r/${run.id}/resume`, {})).location).toBe(`/r/${run.id}`);
    expect((await scene().engine.findRun(run.id))?.status).toBe("resuming");
    expect((await visit.open(`/r/${run.id}`)).html).not.toContain("/resume");
    const again = await visit.post(`/r/${run.id}/cancel`, {});
    expect(again.location).toBe(`/r/${run.id}`);
    const late = await visit.post(`/r/${run.id}/resume`, {});
    expect([late.status, late.html.includes("is not waiting for input (cancelled)")]).toEqual([409, true]);
  });

  test("whose answer only a person can bring says so, with what to type, and is not said to work", async () => {
    const session = { agent: "gemini", host: "here", giveBack: "poll", session: "mcp:0c87", dir: "/work" } as const;
    const { run, question } = await scene().engine.ask(scene().input(), AGENT, { run: session });
    const card = () => visit.open(`/q/${question.id}`);
    await scene().engine.answer(question.id, AnswerInput.parse({ answer: "Redis", undoMs: 5000 }), LENA);
    expect((await card()).html).toMatch(/Final in 5s\./);
    await scene().pass(5000);
    for (const { html } of [await visit.open(`/r/${run.id}`), await card()]) {
      expect(html).toContain("answered, waiting for you");
      expect(html).toMatch(/<code id="go-on">cd \/work &amp;&amp; claude --resume abc<\/code>/);
      expect(html).not.toMatch(/mcp:0c87|resuming/);
    }
    expect((await visit.open("/runs?state=waiting")).html).toContain("answered, waiting for you");
    expect((await visit.open("/runs?state=working")).html).not.toContain(run.name);
    const german = await visit.open(`/r/${run.id}`, { "accept-language": "de" });
    expect(german.html).toContain("beantwortet, wartet auf Sie");
  });

  test("shows what changed as text, and cuts it where it is long", async () => {
    const { run } = await asking();
    const { html } = await visit.open(`/r/${run.id}/work`);
    expect(html).toContain("+&lt;script&gt;");
    expect(html).toContain(`See all of it with: askd diff ${run.number}`);
    expect(html).toContain("2 files, +1 −0"); // the one that is new is among them
    expect(html.length).toBeLessThan(1_000_000);
  });

  test("shows its log as text without secrets, and what came since then", async () => {
    const { run } = await asking();
    const { html } = await visit.open(`/r/${run.id}`);
    expect(html).toContain("Edit &lt;script&gt;");
    expect(html).not.toContain("ghp_0123");
    expect(html).toContain("\\u202e");
    const part = await visit.open(`/r/${run.id}/log?from=1.10.0`);
    expect(part.html).toMatch(/^<div id="log"[^>]*data-next="1.20.0"/);
  });

  test("on another machine says where its log is", async () => {
    await visit.stop();
    visit = await PageVisit.start();
    const { run } = await asking();
    expect((await visit.open(`/r/${run.id}`)).html).toContain("The log is on here. Read it there with: askd logs 1");
  });

  test("that askd did not start has no log here, and says so", async () => {
    await visit.stop();
    visit = await PageVisit.start();
    const { run } = await scene().ask({}, { via: "api" });
    const { html } = await visit.open(`/r/${run.id}`);
    expect(html).toContain("This agent was not started by askd, so its log is not here.");
    expect(html).not.toContain("The log is on");
  });

  test("that works says how long so far, and one that has ended how long it took", async () => {
    const run = await started();
    await scene().pass(11_000);
    expect((await visit.open(`/r/${run.id}`)).html).toContain("For 11s so far");
    await scene().engine.endRun(run.id, { status: "completed" }, SYSTEM);
    expect((await visit.open(`/r/${run.id}`)).html).toContain("Took 11s");
  });

  test("and everything that anybody wrote about it is text on every page", async () => {
    const over = {
      name: BAD,
      repo: BAD,
      branch: BAD,
      agent: BAD,
      externalId: BAD,
      session: BAD,
      dir: BAD,
      labels: [BAD],
    };
    const run = await started(over);
    await started({ name: "part", parentId: run.id });
    const raw = { question: `Really? ${BAD}`, context: BAD, options: [{ label: BAD, description: BAD }, "b"] };
    const { question } = await scene().engine.ask(scene().input(raw), AGENT, { runId: run.id });
    await scene().engine.putTemplate({ name: "bad", text: BAD, match: { repo: BAD } }, LENA);
    await scene().engine.putPerson({ id: "eve", version: 0, name: BAD, email: BAD, groups: [BAD] }, SYSTEM);
    const pages = ["/runs", `/r/${run.id}`, "/activity", "/templates", "/settings/people", "/channels"];
    const open = [`/templates?edit=bad&try=bad&on=${question.id}`, `/activity?run=${encodeURIComponent(BAD)}`];
    for (const path of [...pages, ...open]) expect((await visit.open(path)).html).not.toContain("<script>");
    await scene().engine.answer(question.id, AnswerInput.parse({ answer: BAD, note: BAD }), LENA);
    await scene().engine.endRun(run.id, { status: "failed", reason: BAD, summary: BAD, issues: [BAD] }, SYSTEM);
    await scene()
      .engine.cancelRun(run.id, LENA, BAD)
      .catch(() => undefined);
    for (const path of pages) expect((await visit.open(path)).html).not.toContain("<script>");
  });

  test("that failed says why and what can be done, before its log", async () => {
    const run = await started({ name: "deploy" });
    const result = { status: "failed", reason: "agent_error", summary: "The API said 529." } as const;
    await scene().engine.endRun(run.id, result, SYSTEM);
    const { html } = await visit.open(`/r/${run.id}`);
    expect(html).toMatch(/Run #1 failed: the agent failed\.[^]*The API said 529\.[^]*claude --resume abc[^]*id="log"/);
    expect(html.split("claude --resume abc")).toHaveLength(2);
    expect(html).not.toContain("Reason:");
    await visit.stop();
    visit = await PageVisit.start();
    const other = await started({ name: "deploy" });
    await scene().engine.endRun(other.id, result, SYSTEM);
    expect((await visit.open(`/r/${other.id}`)).html).toMatch(/start it again with askd run[^]*>askd logs 1</);
  });

  test("that failed for want of an answer leads to where it can still be given", async () => {
    const { run, question } = await asking({ timeout: "1h", on_timeout: "fail" });
    await scene().pass(2 * 3_600_000);
    expect((await visit.open(`/r/${run.id}`)).html).toMatch(
      new RegExp(`Run #1 failed: nobody answered in time.[^]*still accepts an answer. <a href="/q/${question.id}"`),
    );
  });

  test("that is done says what came of it above its log, once, and has no empty facts", async () => {
    const done = async (summary: string, session: string): Promise<string> => {
      const run = await started({ session });
      await scene().engine.endRun(run.id, { status: "completed", summary }, SYSTEM);
      return (await visit.open(`/r/${run.id}`)).html;
    };
    const html = await done("32 tests are green.", "");
    expect(html).toMatch(/The agent’s summary[^]*32 tests are green[^]*id="log"/);
    expect(html).not.toContain("<dt>Session</dt>");
    expect(await done(`Edit ${BAD}`, "s-1")).not.toContain("The agent’s summary");
  });

  test("starts once, whatever is written down of it meanwhile", async () => {
    const { engine } = scene();
    const run = await started();
    await engine.startRun(run.id, AGENT);
    expect((await engine.readChain(run.id)).filter(({ event }) => event.type === "run.started")).toHaveLength(2);
    expect((await visit.open(`/r/${run.id}`)).html.split("run started")).toHaveLength(2);
  });

  test("is not changed by opening an address", async () => {
    const { run } = await asking();
    for (const verb of ["resume", "cancel"]) expect((await visit.open(`/r/${run.id}/${verb}`)).status).toBe(404);
    expect((await scene().engine.findRun(run.id))?.status).toBe("awaiting_input");
  });
});
