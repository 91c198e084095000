import { afterEach, beforeEach, expect, test } from "vitest";
import { COMMENTED, QUESTION, runStep, signedState, stateIn, endService } from "./action-step.ts";
import { GithubServer } from "./channels/github-server.ts";

let service: GithubServer;
const step = (inputs: Record<string, string> = QUESTION, over: Parameters<typeof runStep>[2] = {}) =>
  runStep(service, inputs, over);

beforeEach(async () => {
  service = await GithubServer.start();
});
afterEach(() => endService(service));

test("asks in a comment and ends; a workflow on the comment of somebody who may write finds the answer", async () => {
  const first = await step(QUESTION, { event: { ...COMMENTED, action: "labeled" } });
  expect(first).toMatchObject({ exit: 0, outputs: { state: "pending", answer: "" } });
  const [comment] = service.comments;
  expect(comment?.body).toContain("- [ ] **A) Add null check** (recommended)\n- [ ] **B) Initialize early**");
  expect(comment?.body).toMatch(/<!-- askd v1 state=[\w-]+\.[0-9a-f]{64} -->$/);
  await service.say("B\nit is cleaner", "stranger");
  await service.say("what about C?", "mika");
  expect((await step()).outputs).toMatchObject({ state: "pending" });
  await service.say("B\nit is cleaner", "mika");
  const attempt = (number: string) => ({ env: { GITHUB_RUN_ID: "77", GITHUB_RUN_ATTEMPT: number } });
  const last = await step(QUESTION, attempt("1"));
  expect(last).toMatchObject({
    exit: 0,
    outputs: { state: "answered", answer: "early", choice: "early", "answered-by": "@mika" },
  });
  expect(comment?.body).toContain("## ✅ Answered by @\u2060mika: early (it is cleaner)");
  expect((await step(QUESTION, attempt("2"))).outputs).toMatchObject({ state: "answered", answer: "early" });
  await service.say("thanks!", "mika");
  expect((await step()).outputs).toMatchObject({ state: "taken", answer: "early" });
  expect(service.comments.filter(({ body }) => body.includes("Question ID"))).toHaveLength(1);
});

test("of two jobs at the same time one goes on with the answer, and one only hears of it", async () => {
  await step();
  await service.say("A", "mika");
  const both = await Promise.all([step(), step()]);
  const states = both.map(({ outputs }) => outputs["state"] ?? "").sort();
  expect(states).toEqual(["answered", "taken"]);
  const names = [...service.refs.keys()].map((ref) => ref.replace(/^refs\/askd\/q-[0-9a-f]+\//, ""));
  expect(names).toEqual(["asked", "closed", "taken"]);
});

test("of the jobs of one workflow run one goes on with the answer, and its next attempt again", async () => {
  await step();
  await service.say("A", "mika");
  // The legs of a matrix, or a workflow that is called twice, are the same job of the same run.
  const leg = (attempt: string) =>
    step(QUESTION, { env: { GITHUB_RUN_ID: "77", GITHUB_JOB: "fix", GITHUB_RUN_ATTEMPT: attempt } });
  for (const attempt of ["1", "2", "3"]) {
    const both = await Promise.all([leg(attempt), leg(attempt)]);
    expect(both.map(({ outputs }) => outputs["state"] ?? "").sort()).toEqual(["answered", "taken"]);
  }
  expect((await leg("1")).outputs).toMatchObject({ state: "taken" });
  const other = { GITHUB_RUN_ID: "77", GITHUB_JOB: "other", GITHUB_RUN_ATTEMPT: "4" };
  expect((await step(QUESTION, { env: other })).outputs).toMatchObject({ state: "taken", answer: "check" });
});

test("the first of two comments wins, also if it is edited or deleted afterwards", async () => {
  await step();
  const first = service.add("A", "mika");
  service.add("B", "lena");
  expect((await step()).outputs).toMatchObject({ answer: "check", "answered-by": "@mika" });
  await service.edit(first, "B", "mika");
  expect((await step()).outputs).toMatchObject({ answer: "check", "answered-by": "@mika" });
  service.comments.splice(service.comments.indexOf(first), 1);
  expect((await step()).outputs).toMatchObject({ answer: "check", "answered-by": "@mika" });
});

test("if the job that won died before it wrote the outcome, one of the next goes on", async () => {
  await step();
  service.add("A", "mika");
  service.limits.plan(/^PATCH /, { status: 422, message: "planned" });
  expect(await step()).toMatchObject({ exit: 1, log: expect.stringContaining("planned") });
  const both = await Promise.all([step(), step()]);
  expect(both.map((each) => each.outputs["state"] ?? "").sort()).toEqual(["answered", "taken"]);
});

test("a ticked box counts for its editor, and not without one", async () => {
  await step();
  const [comment] = service.comments;
  service.hidesEditors = true;
  await service.tick(comment!, "- [ ] **A) Add null check**", "mika");
  expect((await step()).outputs).toMatchObject({ state: "pending" });
  service.hidesEditors = false;
  await service.edit(comment!, comment!.body.replace("- [x] **A)", "- [ ] **A)"), "mika");
  await service.tick(comment!, "- [ ] **B) Initialize early**", "mika");
  expect((await step()).outputs).toMatchObject({ state: "answered", answer: "early", "answered-by": "@mika" });
});

test("a state that somebody changed is refused, and so is one that a person copied", async () => {
  await step();
  const [comment] = service.comments;
  service.add(comment!.body, "mika");
  expect((await step()).outputs).toMatchObject({ state: "pending" });
  const [, text = ""] = /state=([\w-]+)\./.exec(comment!.body) ?? [];
  const state = JSON.parse(Buffer.from(text, "base64url").toString("utf8")) as object;
  const forged = Buffer.from(JSON.stringify({ ...state, status: "answered", answer: "early" })).toString("base64url");
  await service.edit(comment!, comment!.body.replace(text, forged), "mika");
  expect(await step()).toMatchObject({ exit: 1, log: expect.stringContaining("Somebody changed the state") });
});

test("a step without a question looks for the one of its key, and never asks", async () => {
  const look = (key: string) => step({ key });
  expect(await look("approach")).toMatchObject({ exit: 0, outputs: { state: "none", answer: "", "question-id": "" } });
  expect(await look("")).toMatchObject({ exit: 1, log: expect.stringContaining("or key to look for a question") });
  expect(service.comments).toEqual([]);
  await step({ ...QUESTION, key: "approach" });
  expect((await look("approach")).outputs).toMatchObject({ state: "pending" });
  expect((await look("other")).outputs).toMatchObject({ state: "none" });
  service.add("B", "mika");
  expect((await look("approach")).outputs).toMatchObject({
    state: "answered",
    answer: "early",
    "answered-by": "@mika",
  });
});

test.each([
  ["a question", { ...QUESTION, wait: "8s" }],
  ["a look", { key: "approach", wait: "true" }],
  ["a wait that is no duration", { ...QUESTION, wait: "soon" }],
])("%s that is to wait is refused: no step waits in an issue", async (_name, inputs) => {
  expect(await step(inputs)).toMatchObject({ exit: 1, log: expect.stringContaining("The input wait ") });
  expect(service.comments).toEqual([]);
});

test("a step that is told not to wait asks in an issue", async () => {
  expect((await step({ ...QUESTION, wait: "false" })).outputs).toMatchObject({ state: "pending" });
});

test.each([
  [
    "a fork's pull request",
    { event: { pull_request: { number: 123, head: { repo: { full_name: "evil/api" } } } } },
    "comes from a fork",
  ],
  ["no secret", { env: { ASKD_KEY: "" } }, "Workflows of forks have no secrets"],
  ["an event without an issue", { event: {} }, "belongs to no issue"],
])("%s gives no answer and asks nothing", async (_name, over, why) => {
  expect(await step(QUESTION, over)).toMatchObject({ exit: 1, log: expect.stringContaining(why) });
  expect(service.comments).toEqual([]);
});

test("a scheduled workflow ends what nobody answered, with its label, and takes answers that no event brought", async () => {
  await step({ ...QUESTION, timeout: "1s", "on-timeout": "skip" });
  await step({ ...QUESTION, question: "Which port?", issue: "7" }, { event: {} });
  service.add("A", "mika", 7);
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  expect((await step({}, { event: { schedule: "0 * * * *" } })).exit).toBe(0);
  expect(service.labels.get(123)).toEqual(["auto-fix-skip"]);
  expect(service.comments[0]?.body).toContain("## ⌛ Nobody answered in time: skip");
  expect(service.comments[1]?.body).toContain("## ✅ Answered by @\u2060mika: check");
  const found = await Promise.all([0, 1].map(() => step({ ...QUESTION, question: "Which port?", issue: "7" })));
  expect(found.map(({ outputs }) => outputs["state"] ?? "").sort()).toEqual(["answered", "taken"]);
});

test("nobody answered: the default applies, or the step fails", async () => {
  await step({ ...QUESTION, timeout: "1s", default: "early" });
  await step({ ...QUESTION, timeout: "1s", key: "other" });
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  expect(await step({ ...QUESTION, timeout: "1s", default: "early" })).toMatchObject({
    exit: 0,
    outputs: { state: "timeout", answer: "early", choice: "early" },
  });
  expect(await step({ ...QUESTION, timeout: "1s", key: "other" })).toMatchObject({
    exit: 1,
    outputs: { state: "timeout" },
  });
  expect(service.labels.get(123)).toEqual(["auto-fix-failed"]);
});

test("nobody answered: the issue gets the label, comment and assignee that the step declares, each once", async () => {
  const declared = {
    ...QUESTION,
    timeout: "1s",
    "on-timeout": "skip",
    "timeout-label": "needs-human",
    "timeout-comment": "Skipped, @all",
    "timeout-assign": "@lena",
  };
  const { outputs } = await step(declared);
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  // A job wrote the comment of the deadline, and died before the rest.
  service.limits.plan(/^PATCH /, { status: 422, message: "planned" });
  expect(await step(declared)).toMatchObject({ exit: 1, log: expect.stringContaining("planned") });
  expect((await step(declared)).outputs).toMatchObject({ state: "timeout" });
  expect((await step(declared)).outputs).toMatchObject({ state: "taken" });
  expect(service.labels.get(123)).toEqual(["needs-human"]);
  expect(service.assignees.get(123)).toEqual(["lena"]);
  const notes = service.comments.filter(({ body }) => body.includes(`timeout=${outputs["question-id"]}.`));
  expect(notes.map(({ body }) => body.split("\n")[0])).toEqual(["Skipped, @\u2060all"]);
});

test("a state of another version is refused, and nothing is asked again", async () => {
  await step();
  const [comment] = service.comments;
  const body = comment!.body.replace(
    /<!-- askd v1 state=[\s\S]*-->$/,
    signedState({ ...stateIn(comment!.body), v: 2 }),
  );
  await service.edit(comment!, body, "mika");
  expect(await step()).toMatchObject({ exit: 1, log: expect.stringContaining("of version 2") });
  expect(service.comments).toHaveLength(1);
});

test("a comment that is edited before a job reads it says what it says now; a deleted one says nothing", async () => {
  await step();
  const gone = service.add("A", "mika");
  service.comments.splice(service.comments.indexOf(gone), 1);
  expect((await step(QUESTION, { event: { ...COMMENTED, action: "deleted" } })).outputs).toMatchObject({
    state: "pending",
  });
  const comment = service.add("A", "mika");
  await service.edit(comment, "B", "mika");
  expect((await step(QUESTION, { event: { ...COMMENTED, action: "edited" } })).outputs).toMatchObject({
    state: "answered",
    answer: "early",
  });
});

test("two comments race: the two jobs that they start agree on the first one, and one goes on with it", async () => {
  await step();
  service.add("B", "lena");
  service.add("A", "mika");
  const both = await Promise.all([step(), step()]);
  expect(both.map(({ outputs }) => outputs["state"] ?? "").sort()).toEqual(["answered", "taken"]);
  for (const { outputs } of both) expect(outputs).toMatchObject({ answer: "early", "answered-by": "@lena" });
});
