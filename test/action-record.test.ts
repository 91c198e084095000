import { afterEach, beforeEach, expect, test } from "vitest";
import { SECOND_MS } from "../src/core/instant.ts";
import { COMMENTED, QUESTION, SHA, runStep, signedState, stateIn, endService } from "./action-step.ts";
import { GithubServer } from "./channels/github-server.ts";

const SCHEDULED = { event: { schedule: "0 * * * *" } };

let service: GithubServer;
const step = (inputs: Record<string, string> = QUESTION, over: Parameters<typeof runStep>[2] = {}) =>
  runStep(service, inputs, over);
const look = () => step({}, SCHEDULED);

beforeEach(async () => {
  service = await GithubServer.start();
});
afterEach(() => endService(service));

test("a pending state that somebody puts back is completed with the answer that was given, and never answered anew", async () => {
  const { outputs } = await step();
  const [comment] = service.comments;
  const pending = comment!.body;
  const first = service.add("A\nit is small", "mika");
  expect((await step()).outputs).toMatchObject({ state: "answered", answer: "check" });
  const closed = comment!.body;
  service.comments.splice(service.comments.indexOf(first), 1);
  service.add("B", "lena");
  for (const again of [() => step(), look, () => step()]) {
    await service.edit(comment!, pending, "lena");
    const { outputs: found } = await again();
    expect(found).toMatchObject({ answer: "check", "answered-by": "@mika", "question-id": outputs["question-id"] });
    expect(comment!.body).toBe(closed);
  }
  await service.edit(comment!, pending, "lena");
  expect((await step()).outputs).toMatchObject({ state: "taken", answer: "check" });
});

test("a pending state that is put back after the deadline leaves no second traces", async () => {
  const declared = { ...QUESTION, timeout: "1s", "on-timeout": "skip", "timeout-comment": "Skipped" };
  await step(declared);
  const [comment] = service.comments;
  const pending = comment!.body;
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  expect((await step(declared)).outputs).toMatchObject({ state: "timeout" });
  await service.edit(comment!, pending, "lena");
  service.add("A", "lena");
  expect((await step(declared)).outputs).toMatchObject({ state: "taken", answer: "" });
  expect(service.comments.filter(({ body }) => body.startsWith("Skipped"))).toHaveLength(1);
});

test("the workflow run that goes on with an answer is remembered outside of the comment", async () => {
  await step();
  const [comment] = service.comments;
  const pending = comment!.body;
  service.add("A", "mika");
  const attempt = (number: string) => ({ env: { GITHUB_RUN_ID: "77", GITHUB_RUN_ATTEMPT: number } });
  expect((await step(QUESTION, attempt("1"))).outputs).toMatchObject({ state: "answered" });
  await service.edit(comment!, pending, "lena");
  expect((await step()).outputs).toMatchObject({ state: "taken" });
  expect((await step(QUESTION, attempt("2"))).outputs).toMatchObject({ state: "answered", answer: "check" });
});

test("a question that was answered and whose comment is still pending holds nobody", async () => {
  await step();
  await step({ ...QUESTION, question: "Which port?", issue: "7" }, { event: {} });
  service.add("A", "mika");
  service.limits.plan(/^PATCH /, { status: 422, message: "planned" });
  expect(await step()).toMatchObject({ exit: 1, log: expect.stringContaining("planned") });
  service.add("B", "mika");
  service.add("B", "lena", 7);
  const startedMs = Date.now();
  await look();
  expect(Date.now() - startedMs).toBeLessThan(20_000);
  expect(service.comments[0]?.body).toContain("## ✅ Answered by @\u2060mika: check");
  expect(service.comments[1]?.body).toContain("## ✅ Answered by @\u2060lena: early");
});

test("a ref that the action did not make fails its question, and holds no other", async () => {
  const { outputs } = await step();
  await step({ ...QUESTION, question: "Which port?", issue: "7" }, { event: {} });
  service.refs.set(`refs/askd/${outputs["question-id"]}/closed`, SHA);
  service.add("A", "mika");
  service.add("B", "lena", 7);
  expect(await step()).toMatchObject({ exit: 1, log: expect.stringContaining("was not made by this action") });
  expect(await look()).toMatchObject({ exit: 1, log: expect.stringContaining("was not made by this action") });
  expect(service.comments[1]?.body).toContain("## ✅ Answered by @\u2060lena: early");
});

test("a state that is put into another comment takes no answers that were for other questions", async () => {
  await step({ ...QUESTION, key: "first" });
  const [first] = service.comments;
  service.add("A", "mika");
  await step({ ...QUESTION, key: "second" });
  const second = service.comments.at(-1);
  await service.edit(first!, second!.body, "lena");
  expect((await step({ ...QUESTION, key: "second" })).outputs).toMatchObject({ state: "pending" });
});

test("a question that was asked twice at the same time is one comment", async () => {
  const both = await Promise.all([step(), step()]);
  expect(both.map(({ exit }) => exit)).toEqual([0, 0]);
  expect(service.comments).toHaveLength(1);
  expect(new Set(both.map(({ outputs }) => outputs["question-id"])).size).toBe(1);
  const { body } = service.comments[0]!;
  // The second comment of a job that died before it looked again.
  service.add(
    body.replace(/<!-- askd v1 state=[\s\S]*-->$/, signedState({ ...stateIn(body), id: "q-0011223344" })),
    "askd[bot]",
  );
  service.add("A", "mika");
  await look();
  expect(service.comments[0]?.body).toContain("## ✅ Answered");
  expect(service.comments[1]?.body).not.toContain("## ✅ Answered");
});

test("with a person's token the action knows its own comments, and the person may answer", async () => {
  service.account = "mika";
  const declared = { ...QUESTION, timeout: "1s", "on-timeout": "skip", "timeout-comment": "Skipped" };
  await step(declared);
  await step({ question: "Which name?", key: "name" });
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  await look();
  expect((await step(declared)).outputs).toMatchObject({ state: "timeout" });
  expect((await step({ question: "Which name?", key: "name" })).outputs).toMatchObject({ state: "pending" });
  // GitHub dates comments by the second, and one from the second in which another question closed may answer that.
  await new Promise((resolve) => setTimeout(resolve, SECOND_MS - (Date.now() % SECOND_MS)));
  service.add("Redis", "mika");
  expect((await step({ question: "Which name?", key: "name" })).outputs).toMatchObject({
    state: "answered",
    answer: "Redis",
    "answered-by": "@mika",
  });
  expect(service.comments.filter(({ body }) => body.includes("Question ID"))).toHaveLength(2);
});

test("with a person's token a state that somebody changed is refused, and a copy by anybody else counts for nothing", async () => {
  service.account = "mika";
  await step();
  const [comment] = service.comments;
  service.comments.unshift({ ...comment!, id: comment!.id - 1, login: "lena", edits: [], reactions: [] });
  service.add(comment!.body, "lena");
  expect((await step()).outputs).toMatchObject({ state: "pending" });
  const changed = comment!.body.replace(/state=(.{6})/, "state=AAAAAA");
  await service.edit(comment!, changed, "lena");
  expect(await step()).toMatchObject({ exit: 1, log: expect.stringContaining("Somebody changed the state") });
});

test("an answer that holds a mark of ours counts without it", async () => {
  await step({ question: "Which name?" });
  service.add("Redis <!-- askd v1 note --> it is", "mika");
  const { outputs } = await step({ question: "Which name?" });
  expect(outputs).toMatchObject({ state: "answered", answer: "Redis  it is" });
});

test("an answer that is too long for the comment is refused with a reply, and the question waits", async () => {
  await step({ question: "Which name?" });
  service.add("x".repeat(20_000), "mika");
  for (let count = 0; count < 2; count += 1)
    expect((await step({ question: "Which name?" })).outputs).toMatchObject({ state: "pending" });
  const notes = service.comments.filter(({ body }) => body.includes("is too long"));
  expect(notes.map(({ body }) => body.split("\n")[0])).toEqual([expect.stringContaining("@mika")]);
  service.add("&".repeat(5_000), "mika");
  expect((await step({ question: "Which name?" })).outputs).toMatchObject({ state: "answered" });
});

test("a question that is too long for a comment says so; a long context is cut", async () => {
  expect(await step({ question: "Which?", context: "&".repeat(50_000) })).toMatchObject({ exit: 0 });
  expect(await step({ question: "x".repeat(50_000) })).toMatchObject({
    exit: 1,
    log: expect.stringContaining("too long for a comment"),
  });
});

test("who may not write is told so once per question, and nothing of theirs counts", async () => {
  await step();
  for (const login of ["reader", "stranger", "reader"]) service.add("A", login);
  service.add("I have the same problem", "stranger");
  for (let count = 0; count < 2; count += 1) expect((await step()).outputs).toMatchObject({ state: "pending" });
  const notes = service.comments.filter(({ body }) => body.includes("write access"));
  expect(notes).toHaveLength(1);
  expect(notes[0]?.body).toContain("@reader Thank you.");
});

test("what an agent writes mentions nobody and refers to no issue", async () => {
  await step({ question: "Ask @lena, @acme/ops, #12, acme/api#3, GH-7 or https://github.com/acme/api/issues/7" });
  const J = "\u2060";
  expect(service.comments[0]?.body).toContain(
    `**Ask @${J}lena, @${J}acme/ops, \\#${J}12, acme/api\\#${J}3, GH\\-${J}7 or https\\:${J}//github\\.com/acme/api/issues/7**`,
  );
});

test("an issue whose comment was deleted is asked anew, and an answer to the first comment does not count", async () => {
  const { outputs } = await step();
  const { body } = service.comments[0]!;
  service.add("A", "mika");
  service.comments.shift();
  const second = await step();
  expect(second.outputs).toMatchObject({ state: "pending" });
  expect(second.outputs["question-id"]).not.toBe(outputs["question-id"]);
  // The first comment made anew is another one of the same question.
  service.add(body, "askd[bot]");
  service.add("B", "lena");
  expect((await step()).outputs).toMatchObject({
    state: "answered",
    answer: "early",
    "question-id": second.outputs["question-id"],
  });
});

test("a tick counts for the person who set it, whoever edited the comment afterwards", async () => {
  await step();
  const [comment] = service.comments;
  await service.tick(comment!, "- [ ] **B) Initialize early**", "mika");
  await service.edit(comment!, comment!.body.replace("your input", "your own input"), "lena");
  expect((await step()).outputs).toMatchObject({ answer: "early", "answered-by": "@mika" });
});

test("ticks that are no answer are told so once", async () => {
  await step();
  const [comment] = service.comments;
  await service.edit(comment!, comment!.body.replaceAll("- [ ]", "- [x]"), "mika");
  for (let count = 0; count < 2; count += 1) expect((await step()).outputs).toMatchObject({ state: "pending" });
  service.hidesEditors = true;
  await service.edit(comment!, comment!.body.replace("- [x] **A", "- [ ] **A"), "mika");
  for (let count = 0; count < 2; count += 1) expect((await step()).outputs).toMatchObject({ state: "pending" });
  const notes = service.comments.slice(1).map(({ body }) => body.split("\n")[0]);
  expect(notes).toEqual([expect.stringContaining("Several boxes"), expect.stringContaining("GitHub does not say who")]);
});

test("an option that comes after the answer is told so once, by the workflow that its comment starts; the answer is not", async () => {
  await step();
  const winner = service.add("A", "mika");
  await step(QUESTION, { event: commented(winner) });
  const [late, talk, again] = [service.add("B", "lena"), service.add("thanks", "lena"), service.add("B", "mika")];
  for (const comment of [winner, talk, service.add("B", "stranger"), late, again, late])
    expect((await step(QUESTION, { event: commented(comment) })).outputs).toMatchObject({ state: "taken" });
  const notes = service.comments.filter(({ body }) => body.includes("already answered"));
  expect(notes.map(({ body }) => body.split("\n")[0])).toEqual([
    "@lena This question was already answered by @\u2060mika: check",
  ]);
});

test("with two questions in one issue a bare answer is asked back about, once, and never taken for both", async () => {
  const [one, two] = [
    { ...QUESTION, key: "one" },
    { ...QUESTION, key: "two" },
  ];
  const first = (await step(one)).outputs["question-id"];
  await step(two);
  const bare = service.add("A", "mika");
  for (const each of [one, two, one])
    expect((await step(each, { event: commented(bare) })).outputs).toMatchObject({ state: "pending" });
  await look();
  const notes = () =>
    service.comments.filter(({ body }) => body.includes("note=")).map(({ body }) => body.split("\n")[0]);
  expect(notes()).toEqual([
    expect.stringMatching(/^@mika 2 questions wait here.*`\/answer q-\w+ …`, `\/answer q-\w+ …`$/),
  ]);
  service.add(`/answer ${first} B`, "mika");
  expect((await step(two)).outputs).toMatchObject({ state: "pending" });
  expect((await step(one)).outputs).toMatchObject({ state: "answered", answer: "early" });
  const last = service.add("1", "lena");
  expect((await step(one, { event: commented(last) })).outputs).toMatchObject({ state: "taken", answer: "early" });
  expect((await step(two, { event: commented(last) })).outputs).toMatchObject({
    state: "answered",
    answer: "check",
    "answered-by": "@lena",
  });
  expect((await step(one, { event: commented(last) })).outputs).toMatchObject({ state: "taken" });
  expect(notes()).toHaveLength(1);
});

/** The event of a comment, as GitHub posts it. */
function commented({ id, body, login, createdAt }: Record<"body" | "login" | "createdAt", string> & { id: number }) {
  return { ...COMMENTED, comment: { id, body, created_at: createdAt, user: { login, type: "User" } } };
}
