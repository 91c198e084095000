import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ADA } from "../../../test/builders.ts";
import { WorkflowStage } from "../../../test/workflow/stage.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../core/instant.ts";
import type { IssueTracker, LabelAdded, TrackedIssue } from "../../core/workflow/issue-tracker.ts";

const REPO = "acme/shop";
const STEPS = `
steps: [{ id: look, tool: shell, input: { argv: [look, "{{ trigger.type }}", "{{ issueNumber || 'none' }}"] } }]
`;
const ASKING = `
steps: [{ id: ask, tool: post_question, input: { question: Go on? }, suspend: true }]
`;

/** Issues with labels, as a service has them. */
class Issues {
  readonly all = new Map<number, TrackedIssue & { added: LabelAdded | undefined }>();
  looks = 0;

  readonly tracker: IssueTracker = {
    repos: [REPO],
    listLabelled: (_repo, label) => {
      this.looks += 1;
      return Promise.resolve([...this.all.values()].filter(({ labels }) => labels.includes(label)));
    },
    findLabelAdded: ({ number }) => Promise.resolve(this.all.get(number)?.added),
    mayWrite: (_repo, login) => Promise.resolve(login !== "stranger"),
    readIssue: ({ number }) => Promise.resolve(this.#get(number)),
    comment: () => Promise.reject(new Error("nobody comments here")),
    changeIssue: () => Promise.reject(new Error("nobody changes issues here")),
    openPull: () => Promise.reject(new Error("nobody opens pull requests here")),
  };

  label(number: number, at: string, by = "ada"): void {
    const added = { by, at: `${at.slice(0, 19)}Z` };
    const issue = { repo: REPO, number, title: `Issue ${number}`, body: "", author: "eve", url: "" };
    this.all.set(number, { ...issue, labels: ["auto-fix"], updatedAt: added.at, added });
  }

  #get(number: number): TrackedIssue {
    const issue = this.all.get(number);
    if (!issue) throw new Error("there is no such issue");
    return issue;
  }
}

async function numbers(stage: WorkflowStage): Promise<Array<number | undefined>> {
  return (await stage.runs()).map(({ issue }) => issue?.number);
}

/** Why the triggers start nothing, as people see it. */
async function triggerFailure(stage: WorkflowStage): Promise<string | undefined> {
  return (await stage.store.listFailingJobs(10)).find(({ kind }) => kind === "trigger")?.failure?.why;
}

test("a schedule starts a run each time that it is due", async () => {
  const stage = new WorkflowStage();
  await stage.approveFile(`name: nightly\ntriggers: [{ schedule: "0 */6 * * *" }]${STEPS}`);
  await stage.pass(5 * HOUR_MS);
  expect(stage.ran).toEqual([]);
  await stage.pass(HOUR_MS);
  await stage.pass(6 * HOUR_MS);
  expect(stage.ran).toEqual([
    ["look", "schedule", "none"],
    ["look", "schedule", "none"],
  ]);
  expect(stage.failures).toEqual([]);
  expect((await stage.engine.verify()).problems).toEqual([]);
});

test.each([
  ["run_once", 1],
  ["skip", 0],
])("while askd was not there, a schedule with %s starts %d run in place of those it missed", async (missed, count) => {
  const stage = new WorkflowStage();
  await stage.approveFile(`name: nightly\ntriggers: [{ schedule: "0 * * * *", missed: ${missed} }]${STEPS}`);
  stage.skip(10 * HOUR_MS + 30 * MINUTE_MS);
  await stage.doDue();
  expect(await stage.runs()).toHaveLength(count);
  await stage.pass(30 * MINUTE_MS);
  expect(await stage.runs()).toHaveLength(count + 1);
});

test("a schedule passes its inputs on", async () => {
  const stage = new WorkflowStage();
  const trigger = '{ schedule: "0 * * * *", inputs: { depth: 3 } }';
  const step = '{ id: look, tool: shell, input: { argv: [look, "{{ inputs.depth }}"] } }';
  const inputs = "{ depth: { type: number, required: true } }";
  await stage.approveFile(`name: deep\ninputs: ${inputs}\ntriggers: [${trigger}]\nsteps: [${step}]`);
  await stage.pass(HOUR_MS);
  expect(stage.ran).toEqual([["look", "3"]]);
});

test("beside a label a schedule starts one run for each open issue with the label that has no live run", async () => {
  const issues = new Issues();
  const stage = new WorkflowStage({ tracker: issues.tracker });
  // They had the label before the workflow was approved, so only the schedule takes them.
  issues.label(1, "2026-01-01T11:00:00.000Z");
  issues.label(2, "2026-01-01T11:00:00.000Z");
  issues.label(3, "2026-01-01T11:00:00.000Z", "stranger");
  await stage.approveFile(`name: fix\ntriggers: [{ label_added: auto-fix }, { schedule: "0 * * * *" }]${ASKING}`);
  await stage.pass(2 * MINUTE_MS);
  expect(await numbers(stage)).toEqual([]);
  await stage.pass(58 * MINUTE_MS);
  expect(await numbers(stage)).toEqual([1, 2]);
  await stage.pass(HOUR_MS);
  expect(await numbers(stage)).toEqual([1, 2]);
  const [first] = await stage.runs();
  if (first) await stage.answer(first, "yes");
  await stage.pass(HOUR_MS);
  expect(await numbers(stage)).toEqual([1, 2, 1]);
  expect(stage.failures).toEqual([]);
  expect((await stage.engine.verify()).problems).toEqual([]);
});

test("a label is found by looking alone, once, and again when it is put there anew", async () => {
  const issues = new Issues();
  const stage = new WorkflowStage({ tracker: issues.tracker });
  await stage.approveFile(`name: fix\ntriggers: [{ label_added: auto-fix }]${STEPS}`);
  await stage.pass(MINUTE_MS);
  issues.label(7, stage.now);
  for (let look = 0; look < 3; look += 1) await stage.pass(MINUTE_MS);
  expect(issues.looks).toBeGreaterThanOrEqual(3);
  expect(stage.ran).toEqual([["look", "label_added", "7"]]);
  stage.skip(10 * SECOND_MS);
  issues.label(7, stage.now);
  await stage.pass(MINUTE_MS);
  expect(await numbers(stage)).toEqual([7, 7]);
});

test("a label of somebody who may not write starts nothing", async () => {
  const issues = new Issues();
  const stage = new WorkflowStage({ tracker: issues.tracker });
  await stage.approveFile(`name: fix\ntriggers: [{ label_added: auto-fix }]${STEPS}`);
  stage.skip(MINUTE_MS);
  issues.label(7, stage.now, "stranger");
  await stage.pass(2 * MINUTE_MS);
  expect(await stage.runs()).toEqual([]);
});

test("a file that was changed since it was approved starts nothing, until it is approved again", async () => {
  const stage = new WorkflowStage();
  const yaml = `name: nightly\ntriggers: [{ schedule: "0 * * * *" }]${STEPS}`;
  const { file, dir } = await stage.approveFile(yaml);
  const changed = yaml.replace("[look,", "[other,");
  writeFileSync(file, changed);
  await stage.pass(HOUR_MS);
  expect(await stage.runs()).toEqual([]);
  expect(await triggerFailure(stage)).toContain("changed or removed since it was approved");
  expect(await triggerFailure(stage)).toContain("askd workflow approve nightly");
  await stage.approve(changed, { dir, file });
  await stage.pass(HOUR_MS);
  expect(stage.ran).toEqual([["other", "schedule", "none"]]);
});

test.each([
  ["an expression that fails", "lower(issueNumber)", "lower takes a text"],
  ["a value that is not allowed", "'y'", "note"],
])("%s in the inputs of one issue keeps no other issue from its run, and is said", async (_name, value, why) => {
  const issues = new Issues();
  const stage = new WorkflowStage({ tracker: issues.tracker });
  const trigger = `{ label_added: auto-fix, inputs: { note: "{{ issueNumber == 7 && ${value} || 'x' }}" } }`;
  await stage.approveFile(
    `name: fix\ninputs: { note: { type: string, options: [x] } }\ntriggers: [${trigger}]${STEPS}`,
  );
  stage.skip(SECOND_MS);
  issues.label(7, stage.now);
  issues.label(8, stage.now);
  await stage.pass(MINUTE_MS);
  expect(await numbers(stage)).toEqual([8]);
  issues.label(9, stage.now);
  issues.all.delete(8);
  stage.skip(SECOND_MS);
  issues.label(7, stage.now);
  await stage.pass(MINUTE_MS);
  expect(await numbers(stage)).toEqual([8, 9]);
  expect(stage.failures).toEqual([]);
  expect(await triggerFailure(stage)).toMatch(
    new RegExp(`The trigger label_added could start no run for acme/shop#7: .*${why}`),
  );
});

test("a service that does not reply is asked again, and nothing is lost", async () => {
  const issues = new Issues();
  let isAway = true;
  const listLabelled: IssueTracker["listLabelled"] = (repo, label) =>
    isAway ? Promise.reject(new Error("away")) : issues.tracker.listLabelled(repo, label);
  const stage = new WorkflowStage({ tracker: { ...issues.tracker, listLabelled } });
  await stage.approveFile(`name: fix\ntriggers: [{ label_added: auto-fix }]${STEPS}`);
  stage.skip(SECOND_MS);
  issues.label(7, stage.now);
  await stage.pass(MINUTE_MS);
  expect(stage.failures.length).toBeGreaterThan(0);
  isAway = false;
  await stage.pass(HOUR_MS);
  expect(stage.ran).toEqual([["look", "label_added", "7"]]);
});

test("runs that somebody starts by hand for an issue keep the triggers from a second one", async () => {
  const issues = new Issues();
  const stage = new WorkflowStage({ tracker: issues.tracker });
  const workflow = await stage.approveFile(`name: fix\ntriggers: [{ label_added: auto-fix }]${ASKING}`);
  stage.skip(SECOND_MS);
  issues.label(7, stage.now);
  const issue = { repo: REPO, number: 7 };
  await stage.workflows.start({ workflow, cause: { type: "manual" }, inputs: {}, issue }, ADA);
  await stage.pass(2 * MINUTE_MS);
  expect(await numbers(stage)).toEqual([7]);
});
