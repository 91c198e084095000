import { afterEach, beforeEach, expect, test } from "vitest";
import { COMMENTED, QUESTION, changeState, endService, runStep } from "./action-step.ts";
import { GithubServer } from "./channels/github-server.ts";

const LONG_AGO = "2020-01-01T00:00:00Z";
const SKIP = { ...QUESTION, "on-timeout": "skip" };

let service: GithubServer;
const step = (inputs: Record<string, string> = QUESTION, over: Parameters<typeof runStep>[2] = {}) =>
  runStep(service, inputs, over);
const notes = () =>
  service.comments.filter(({ body }) => body.includes("note=")).map(({ body }) => body.split("\n")[0]);
const passDeadline = () => changeState(service.comments[0], { dueAt: LONG_AGO });

beforeEach(async () => {
  service = await GithubServer.start();
});
afterEach(() => endService(service));

test.each([
  [
    { "on-timeout": "defualt" },
    'The input on-timeout is "defualt"; it takes fail, skip, proceed, default, wait, defer',
  ],
  [{ "on-timeout": "default", options: "A\nB" }, "needs the input default or a recommended option"],
  [{ default: "later" }, 'The input default is "later", which is none of the options'],
  [{ default: "check", "on-timeout": "skip" }, 'The input default is for on-timeout default, and on-timeout is "skip"'],
  [{ "on-timeout": "escalate" }, "needs the input timeout-assign"],
])("a question that says %j about silence is not asked, and the step says why", async (inputs, why) => {
  expect(await step({ ...QUESTION, ...inputs })).toMatchObject({ exit: 1, log: expect.stringContaining(why) });
  expect(service.comments).toEqual([]);
});

test.each([
  [{ "on-timeout": "default" }, "use “check”", "check"],
  [{ default: "B" }, "use “early”", "early"],
  [{ default: "2" }, "use “early”", "early"],
  [{ default: "add null check" }, "use “check”", "check"],
  [{ "on-timeout": "default", default: "Initialize early" }, "use “early”", "early"],
])("a question that says %j about silence gets that answer", async (inputs, shown, answer) => {
  await step({ ...QUESTION, ...inputs });
  expect(service.comments[0]?.body).toContain(`the workflow will **${shown}**`);
  passDeadline();
  const { exit, log, outputs } = await step({ ...QUESTION, ...inputs });
  expect({ exit, outputs }).toMatchObject({ exit: 0, outputs: { state: "timeout", answer, choice: answer } });
  expect(log).toContain(`Nobody answered ${outputs["question-id"]} "Which approach?" in time, so "${answer}" applies.`);
  expect(log).not.toContain("null");
});

test("a question that escalates names and assigns the person, and fails the step", async () => {
  const declared = { ...QUESTION, "on-timeout": "escalate", "timeout-assign": "@lena" };
  await step(declared);
  expect(service.comments[0]?.body).toContain("the workflow will **assign this issue to lena and fail**");
  passDeadline();
  expect(await step(declared)).toMatchObject({ exit: 1, outputs: { state: "timeout", answer: "" } });
  expect(service.assignees.get(123)).toEqual(["lena"]);
});

test("a comment after the deadline is no answer, even if no job has run since, and is told so once", async () => {
  await step(SKIP);
  passDeadline();
  const comment = service.add("A", "mika");
  const event = { ...COMMENTED, comment: { ...comment, user: { login: "mika", type: "User" } } };
  expect((await step(SKIP, { event })).outputs).toMatchObject({ state: "timeout", answer: "" });
  expect((await step(SKIP, { event })).outputs).toMatchObject({ state: "taken", answer: "" });
  expect(notes()).toEqual(["@mika This question was closed: nobody answered in time"]);
});

test("a comment before the deadline is an answer, whenever a job reads it; an edit or a tick after it is not", async () => {
  await step(SKIP);
  passDeadline();
  const talk = service.add("hm", "lena");
  talk.createdAt = "2019-12-31T23:59:00Z";
  await service.edit(talk, "A", "lena");
  await service.tick(service.comments[0]!, "- [ ] **A) Add null check**", "lena");
  const comment = service.add("B", "mika");
  Object.assign(comment, { createdAt: "2019-12-31T23:59:59Z", updatedAt: "2019-12-31T23:59:59Z" });
  Object.assign(service.comments[0] ?? {}, { createdAt: "2019-12-31T00:00:00Z" });
  expect((await step(SKIP)).outputs).toMatchObject({ state: "answered", answer: "early", "answered-by": "@mika" });
});

test("a question that keeps waiting takes an answer after its deadline", async () => {
  await step({ ...QUESTION, "on-timeout": "wait" });
  passDeadline();
  expect((await step()).outputs).toMatchObject({ state: "pending" });
  service.add("A", "mika");
  expect((await step()).outputs).toMatchObject({ state: "answered", answer: "check" });
});
