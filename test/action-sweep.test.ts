import { afterEach, beforeEach, expect, test } from "vitest";
import { QUESTION, changeState, endService, runStep, signedRecord } from "./action-step.ts";
import { GithubServer } from "./channels/github-server.ts";

const OLD = "2020-01-01T00:00:00.000Z";
const OTHER = { ...QUESTION, question: "Which port?", issue: "7" };

let service: GithubServer;
const step = (inputs: Record<string, string> = QUESTION, over: Parameters<typeof runStep>[2] = {}) =>
  runStep(service, inputs, over);

beforeEach(async () => {
  service = await GithubServer.start();
});
afterEach(() => endService(service));

/** A scheduled look, and the requests that it made. */
async function sweep() {
  const before = service.limits.asked.length;
  const { exit, log, outputs } = await step({}, { event: { schedule: "0 * * * *" } });
  const requests = service.limits.asked.slice(before).map(({ name }) => name);
  return { exit, log, state: outputs["state"], requests };
}

/** Makes a question one that was asked long ago. */
function ageQuestion(id = "") {
  const commit = service.pulls.commits.get(service.refs.get(`refs/askd/${id}/asked`) ?? "");
  const [, text = ""] = /^askd v1 ([\w-]+)\./.exec(commit?.message ?? "") ?? [];
  const record = JSON.parse(Buffer.from(text, "base64url").toString("utf8")) as object;
  if (commit) commit.message = signedRecord({ ...record, askedAt: OLD });
}

test("a scheduled look reads the issues in which a question waits, and no others", async () => {
  await step();
  for (let count = 0; count < 2_050; count += 1) service.add("+1", "lena", 7);
  service.add("A", "mika");
  const { state, requests } = await sweep();
  expect(state).toBe("answered");
  expect(requests.filter((name) => name.includes("/issues/7/") || name.endsWith("/issues/comments"))).toEqual([]);
  expect(requests.length).toBeLessThan(20);
});

test("a week after a question was closed a scheduled look forgets it, once, and nobody goes on with it again", async () => {
  const { outputs } = await step();
  service.add("A", "mika");
  expect((await step()).outputs).toMatchObject({ state: "answered" });
  await sweep();
  expect(service.refs.size).toBe(3);
  changeState(service.comments[0], { at: OLD });
  expect((await sweep()).exit).toBe(0);
  expect([...service.refs.keys()]).toEqual([]);
  expect((await sweep()).requests).toEqual([`GET /repos/acme/api/git/matching-refs/askd/`]);
  expect((await step()).outputs).toMatchObject({
    state: "taken",
    answer: "check",
    "question-id": outputs["question-id"],
  });
});

test("an answer that nobody has gone on with for a week is forgotten by the look only, and still found", async () => {
  await step();
  service.add("A", "mika");
  await sweep();
  changeState(service.comments[0], { at: OLD });
  await sweep();
  expect([...service.refs.keys()]).toEqual([]);
  expect((await step()).outputs).toMatchObject({ state: "answered", answer: "check" });
  expect((await step()).outputs).toMatchObject({ state: "taken", answer: "check" });
});

test.each([
  ["whose comment was deleted", () => service.comments.splice(0, 1), 200],
  ["whose issue was moved to another repository", () => undefined, 404],
  ["whose issue was deleted", () => undefined, 410],
])("a question %s is forgotten, and holds no other", async (_name, lose, status) => {
  const { outputs } = await step();
  await step(OTHER, { event: {} });
  lose();
  service.add("A", "mika", 7);
  const gone = () => {
    if (status !== 200) service.limits.plan(/^GET .*\/issues\/123\/comments$/, { status, message: "planned" });
  };
  gone();
  expect(await sweep()).toMatchObject({ exit: 0, state: "answered" });
  expect([...service.refs.keys()]).toContain(`refs/askd/${outputs["question-id"]}/asked`);
  ageQuestion(outputs["question-id"]);
  gone();
  await sweep();
  expect([...service.refs.keys()].filter((ref) => ref.includes(`/${outputs["question-id"]}/`))).toEqual([]);
});

test("a question that came with its issue from another repository is left alone", async () => {
  await step({ ...QUESTION, timeout: "1s", "on-timeout": "skip" });
  changeState(service.comments[0], { repo: "acme/old", dueAt: OLD });
  expect((await sweep()).state).toBe("none");
  expect(service.labels.size).toBe(0);
});
