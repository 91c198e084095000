import { afterEach, beforeEach, expect, test } from "vitest";
import { AnswerInput } from "../../core/answer/answer-input.ts";
import { PageVisit } from "../../../test/page-visit.ts";

const LENA = { scope: "human", id: "lena", channel: "slack", strength: "person" } as const;
let visit: PageVisit;

beforeEach(async () => {
  visit = await PageVisit.start();
});
afterEach(() => visit.stop());

const rowsOf = (html: string) => [...html.matchAll(/<p title="([\w.]+)">/g)].map(([, type]) => type);

test("of somebody who has done nothing there is nothing", async () => {
  expect(rowsOf((await visit.open("/activity?person=lena")).html)).toEqual([]);
});

test("events are listed newest first, with who, through what, and of which run", async () => {
  const { question, run } = await visit.at.scene.ask();
  await visit.at.scene.engine.answer(question.id, AnswerInput.parse({ answer: "Redis" }), LENA);
  const { html } = await visit.open("/activity");
  const types = rowsOf(html);
  expect(types.indexOf("question.answered")).toBeLessThan(types.indexOf("question.asked"));
  expect(html).toContain("answer from lena accepted");
  expect(html).toContain("lena (slack)");
  expect(html).toContain(`href="/r/${run.id}"`);
  expect(html).toContain(`<a href="/q/${question.id}">${question.title}</a>`);
});

test.each([
  ["en", "agent of run", "attempt by agent of run"],
  ["de", "Agent von Lauf", "Versuch von Agent von Lauf"],
])("what an agent tries is not shown as an act of this machine's user, in %s", async (language, agent, tried) => {
  const { scene } = visit.at;
  const run = await scene.startedRun();
  // The question of another run: the agent is named by its own.
  const { question } = await scene.ask({ question: "Whose?" });
  const by = { scope: "agent", id: "root", channel: "cli", strength: "none", runId: run.id } as const;
  await expect(scene.engine.answer(question.id, AnswerInput.parse({ answer: "1" }), by)).rejects.toMatchObject({
    code: "not_permitted",
  });
  const { html } = await visit.open("/activity?kind=question.refused", { "accept-language": language });
  expect(rowsOf(html)).toEqual(["question.refused"]);
  expect(html).toContain(`${agent} #${run.number} (cli)`);
  expect(html).toContain(`${tried} #${run.number}`);
  expect(html).not.toContain("root (cli)");
});

test("kinds of events are called by words, in the reader's language, in the filter too", async () => {
  await visit.at.scene.ask();
  const { html } = await visit.open("/activity", { "accept-language": "de" });
  expect(html).toContain('<option value="question.asked">gestellt von …</option>');
  expect(html.replace(/="[^"]*"/g, "")).not.toMatch(/(question|run)\.[a-z_]+/);
});

test("pages go on without a gap and without repeating anything", async () => {
  for (let index = 0; index < 40; index += 1) await visit.at.scene.ask({ question: `Question ${index}?` });
  // So many that wait are told of a moment later; the feed stands still after that.
  const types = async () => (await visit.at.scene.store.readFeed("", 1_000)).map(({ event }) => event.type);
  await expect.poll(types, { timeout: 20_000 }).toContain("alert.pending");
  const seen: string[] = [];
  let path: string | undefined = "/activity";
  while (path !== undefined) {
    const { html } = await visit.open(path);
    seen.push(...[...html.matchAll(/<li><time datetime="[^"]+"[^]*?<\/li>/g)].map(([row]) => row));
    path = /href="(\/activity\?before=[^"]+)"/.exec(html)?.[1];
  }
  const all = (await types()).filter((type) => !/^(token|person)\./.test(type)); // only an admin sees those
  expect(seen).toHaveLength(all.length);
});

test("the trail is filtered by run, kind and person", async () => {
  const [one] = [await visit.at.scene.ask({ question: "One?" }), await visit.at.scene.ask({ question: "Two?" })];
  await visit.at.scene.engine.claim(one.question.id, LENA);
  expect(rowsOf((await visit.open("/activity?kind=question.asked")).html)).toEqual([
    "question.asked",
    "question.asked",
  ]);
  expect(rowsOf((await visit.open("/activity?person=lena")).html)).toEqual(["question.claimed"]);
  const ofOne = (await visit.open(`/activity?run=${one.run.number}`)).html;
  expect(new Set([...ofOne.matchAll(/href="\/r\/(r_\w+)"/g)].map(([, id]) => id))).toEqual(new Set([one.run.id]));
  const nowhere = (await visit.open("/activity?run=nowhere")).html;
  expect(nowhere).toContain("There is no run “nowhere”.");
  const none = (await visit.open("/activity?person=nobody")).html;
  expect(none).toMatch(/No match among these \d+ events/);
  for (const html of [nowhere, none]) expect(html).toContain('<a href="/activity">Show all events</a>');
  expect((await visit.open("/activity?person=%3Cscript%3E")).html).not.toContain("<script>");
  expect((await visit.open("/activity?before=nonsense")).status).toBe(200);
});

test("a button says whether the trail is whole, and an address does not", async () => {
  await visit.at.scene.ask();
  expect((await visit.post("/activity/verify", {})).html).toContain("Nothing is missing or changed: 1 runs");
  expect((await visit.open("/activity/verify")).status).toBe(404);
});
