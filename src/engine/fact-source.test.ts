import { describe, expect, test } from "vitest";
import { ADA, AGENT, IDS } from "../../test/builders.ts";
import { Scene, said } from "../../test/scene.ts";
import { SYSTEM } from "../core/people/actor.ts";
import { approvalAsk, approvalContent, fingerprintOf, isToolAllowed } from "../core/question/approval.ts";
import { findSameQuestion, isSameAsk, requireSamePayload } from "../core/question/ask.ts";
import { fillTemplate, listMatchingTemplates, putTemplate } from "../core/answer/template.ts";
import { viewQuestion, viewRun } from "../core/api/view.ts";
import type { RunInput } from "./engine.ts";

const FACTS = { agent: "claude", repo: "acme/api", labels: ["urgent"] };
const USE = { tool: "Bash", input: { command: "ls", timeout: 5 } };

describe("who vouches for what is known of a run", () => {
  test("nobody but the asker, where an agent says it", async () => {
    const scene = new Scene();
    const run = await scene.engine.createRun(FACTS, AGENT);
    expect(run.sources).toEqual({ agent: "asker", repo: "asker", labels: "asker" });
    expect(viewRun(run).sources).toEqual(run.sources);
    const read = await scene.engine.ask(scene.input(), AGENT, { run: FACTS });
    expect(read.run.sources).toEqual(run.sources);
    expect(viewQuestion(read).unverified).toEqual(["agent", "repo", "labels"]);
  });

  test("a person or the configuration, where one of them says it", async () => {
    const scene = new Scene();
    const said = { agent: "person", repo: "person", labels: "person" };
    expect((await scene.engine.createRun(FACTS, ADA)).sources).toEqual(said);
    expect((await scene.engine.createRun(FACTS, SYSTEM)).sources).toEqual(said);
  });

  test("askd, for what a program of ours saw itself", async () => {
    const scene = new Scene();
    const input: RunInput = { ...FACTS, measured: ["agent", "repo"] };
    expect((await scene.engine.createRun(input, AGENT)).sources).toEqual({
      agent: "measured",
      repo: "measured",
      labels: "asker",
    });
  });

  test("what a run does not have is not marked", async () => {
    const scene = new Scene();
    expect(viewQuestion(await scene.ask()).unverified).toEqual([]);
  });
});

describe("what only the asker says", () => {
  const template = { name: "go", text: "Push to {{repo}}.", match: { repo: "acme/*" } };

  test("brings no template to the front, and into nobody's words", async () => {
    const scene = new Scene();
    const at = { by: ADA, now: scene.now, rules: scene.rules, ids: IDS };
    const general = putTemplate(undefined, { name: "general", text: "Push to {{repo}}, {{agent}}." }, at);
    const labelled = putTemplate(undefined, { name: "labelled", text: "Yes.", match: { label: "urgent" } }, at);
    const templates = [putTemplate(undefined, template, at), general, labelled];
    const claimed = await scene.engine.ask(scene.input(), AGENT, { run: FACTS });
    expect(listMatchingTemplates(templates, claimed, scene.rules.limits)).toEqual([]);
    expect(() => fillTemplate(general, claimed)).toThrow("needs {{repo}}, which this question does not have");
    const { id: runId } = await scene.engine.createRun(FACTS, ADA);
    const known = await scene.engine.ask(scene.input(), AGENT, { runId });
    const offered = listMatchingTemplates(templates, known, scene.rules.limits);
    expect(offered.map(({ name }) => name)).toEqual(["go", "labelled", "general"]);
    expect(fillTemplate(general, known)).toEqual({ answer: "Push to acme/api, claude." });
  });

  test("makes no past answer one of the same repository", async () => {
    const scene = new Scene();
    const { id: runId } = await scene.engine.createRun(FACTS, ADA);
    const past = await scene.engine.ask(scene.input(), AGENT, { runId });
    await scene.engine.answer(past.question.id, said("1"), ADA);
    const claimed = await scene.engine.ask(scene.input(), AGENT, { run: FACTS });
    expect(await scene.engine.findSimilar(claimed.question.id, 3)).toMatchObject([{ isSameRepo: false }]);
  });

  test("is counted, and said to be only that", async () => {
    const scene = new Scene();
    const { id: runId } = await scene.engine.createRun(FACTS, ADA);
    await scene.engine.ask(scene.input(), AGENT, { runId });
    await scene.engine.ask(scene.input(), AGENT, { run: FACTS });
    await scene.pass(1);
    const { repos, agents } = await scene.engine.stats({});
    expect(repos).toMatchObject([{ name: "acme/api", asked: 2, unverified: 1 }]);
    expect(agents).toMatchObject([{ name: "claude", asked: 2, unverified: 1 }]);
  });
});

describe("the fingerprint of an approval", () => {
  test("is computed from the tool and its arguments, in whatever order they come", async () => {
    const scene = new Scene();
    const { question } = await scene.ask({
      kind: "approval",
      tool: { name: "Bash", input: { timeout: 5, command: "ls" } },
    });
    expect(question.fingerprint).toBe(fingerprintOf(USE));
  });

  test("is not taken from anybody", () => {
    const scene = new Scene();
    expect(() => scene.input({ kind: "approval", fingerprint: fingerprintOf(USE) })).toThrow(
      'fingerprint: askd computes it; give "tool" with its name and input instead',
    );
  });

  test("stands for a question that askd words: people read what they allow", async () => {
    const scene = new Scene();
    const ask = approvalAsk({ ...USE, reason: "```json\n{}\n```" });
    expect(() => scene.input({ ...ask, question: "May I list files?" })).toThrow("askd words the question");
    expect(() => scene.input({ ...ask, context: "Harmless" })).toThrow("askd words the question");
    expect(() => scene.input({ ...ask, kind: "question" })).toThrow("Only an approval is about a tool");
    const { content } = await scene.ask(ask);
    expect(content.items[0]?.text).toBe('May the agent use Bash to run "ls"?');
    expect(content.context).toMatch(/^```sh\nls\n```\n\n```\ntimeout: 5\n```\n\nThe agent says: /);
  });

  test("lets no approval in other words allow a tool", async () => {
    const scene = new Scene();
    const asked = await scene.ask({ kind: "approval", question: "Use Bash?", options: ["allow", "deny"] });
    const read = await scene.engine.answer(asked.question.id, said("allow"), ADA);
    expect(isToolAllowed(read, USE)).toBe(false);
  });

  test("tells a call apart from an approval that its agent words just like it", async () => {
    const scene = new Scene();
    const run = await scene.startedRun();
    const { allowText: _allowText, ...words } = approvalContent(USE, "medium");
    const own = scene.input({ kind: "approval", ...words, allow_text: false });
    const call = scene.input(approvalAsk(USE));
    expect(call.items).toEqual(own.items);
    const { question } = await scene.engine.ask(own, AGENT, { runId: run.id });
    expect(isSameAsk(question, own)).toBe(true);
    expect(isSameAsk(question, call)).toBe(false);
    expect(findSameQuestion([question], call)).toBeUndefined();
    expect(() => requireSamePayload(question, { ...call, key: "call" })).toThrow("was used for another question");
  });
});

test("an asker cannot lower the risk of an approval", async () => {
  const scene = new Scene();
  const { question } = await scene.ask({ ...approvalAsk(USE), risk: "low" });
  expect(question).toMatchObject({ risk: "medium", riskSource: "measured" });
});

test("a question that continues one of high risk is of high risk", async () => {
  const scene = new Scene();
  const run = await scene.startedRun();
  const first = await scene.engine.ask(scene.input({ risk: "high" }), AGENT, { runId: run.id });
  await scene.engine.answer(first.question.id, said("", { outcome: "clarify", note: "Why?", confirmed: true }), ADA);
  const next = await scene.engine.ask(scene.input({ question: "Is Redis fine?", risk: "low" }), AGENT, {
    runId: run.id,
  });
  expect(next.question).toMatchObject({ thread: first.question.id, risk: "high" });
});
