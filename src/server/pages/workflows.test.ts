import { afterEach, beforeEach, expect, test } from "vitest";
import { PageVisit } from "../../../test/page-visit.ts";
import { HOUR_MS } from "../../core/instant.ts";
import { WorkflowStage } from "../../../test/workflow/stage.ts";

const BAD = "<script>alert(1)</script>";
const RELEASE = `
name: release
description: "Releases ${BAD}"
triggers: [{ schedule: "0 9 * * mon", timezone: Europe/Berlin }]
steps:
  - id: verify
    parallel:
      - { id: tests, tool: shell, input: { argv: [test] } }
      - { id: lint, tool: shell, input: { argv: [lint] } }
    output: verified
  - { id: notes, tool: shell, input: { argv: [notes, "${BAD}"] }, output: notes }
  - id: approve
    tool: post_question
    input: { question: "Release it ${BAD}?", options: [Yes, No], timeoutHours: 24, timeoutAction: skip }
    suspend: true
  - { id: tag, tool: shell, condition: answer == "Yes", input: { argv: [tag] } }
  - { id: publish, tool: shell, input: { argv: [publish] } }
on_timeout: { tool: shell, input: { argv: [note] } }
`;

let visit: PageVisit;
let stage: WorkflowStage;

beforeEach(async () => {
  visit = await PageVisit.start();
  stage = new WorkflowStage({
    store: visit.at.scene.store,
    script: ({ argv }) => {
      if (argv[0] === "tag") return { exitCode: 1, stdout: "", stderr: `the tag is there ${BAD}` };
      return { exitCode: 0, stdout: `token ghp_0123456789abcdefghijklmnopqrstuvwxyzAB ${BAD}`, stderr: "" };
    },
  });
});
afterEach(() => visit.stop());

test("the list says how to begin, then shows what is approved and how many runs are live", async () => {
  expect((await visit.open("/workflows")).html).toContain("askd workflow init");
  expect((await visit.open("/runs")).html).not.toContain('href="/workflows"');
  await stage.start(RELEASE);
  const { html } = await visit.open("/workflows");
  expect(html).toContain("release");
  expect(html).toContain("schedule 0 9 * * mon Europe/Berlin");
  expect(html).toContain("1 live run");
  expect(html).toContain("approved by ada");
  expect(html).not.toContain(BAD);
  expect((await visit.open("/runs")).html).toContain('href="/workflows"');
});

test("the list and the workflow say why triggers start nothing", async () => {
  const hourly = RELEASE.replace("0 9 * * mon", "0 * * * *");
  const { id } = await stage.approve(hourly); // there is no such file
  visit.at.scene.skip(HOUR_MS);
  await stage.pass(HOUR_MS);
  for (const path of ["/workflows", `/workflows/${id}`]) {
    expect((await visit.open(path)).html).toMatch(
      /Its file was changed or removed since it was approved[^<]*: askd workflow approve release/,
    );
    const { html } = await visit.open(path, { "accept-language": "de" });
    expect(html).toMatch(
      /Seine Datei wurde nach der Freigabe geändert oder entfernt[^<]*: askd workflow approve release/,
    );
    expect(html).not.toContain("was changed");
  }
});

test("the list says why a trigger could not start a run, in the reader's language", async () => {
  await stage.approveFile(
    'name: hourly\ninputs: { count: { type: number } }\ntriggers: [{ schedule: "0 * * * *", inputs: { count: many } }]\n' +
      "steps: [{ id: one, tool: shell, input: { argv: [one] } }]\n",
  );
  visit.at.scene.skip(HOUR_MS);
  await stage.pass(HOUR_MS);
  expect((await visit.open("/workflows")).html).toContain("A trigger could not start a run. The trigger schedule");
  const { html } = await visit.open("/workflows", { "accept-language": "de" });
  expect(html).toContain("Ein Auslöser konnte keinen Lauf starten. Meldung: The trigger schedule");
});

test("a workflow is a picture of its steps with where each live run stands", async () => {
  const run = await stage.start(RELEASE);
  const [workflow] = await stage.workflows.list();
  const { html } = await visit.open(`/workflows/${workflow?.id}`);
  const box = boxOf(html, "approve");
  expect(box).toContain("asks a person and waits");
  expect(box).toContain(`Here: <a href="/r/${run.id}">#${run.number}</a>`);
  expect(boxOf(html, "notes")).not.toContain("Here:");
  expect(html).toContain("If nobody answers");
  expect(html).toMatch(/<ol class="lanes"><li>.*tests.*<li>.*lint/s);
  expect(html).not.toContain(BAD);
  expect((await visit.open("/workflows/nothing")).status).toBe(404);
});

test("a run shows what each step got and gave, how long it took, and its question at its place", async () => {
  const run = await stage.start(RELEASE);
  const before = await visit.open(`/r/${run.id}`);
  expect(boxOf(before.html, "verify")).toMatch(/Done.*took.*Its runs:.*#\d.*#\d/s);
  expect(boxOf(before.html, "lint")).toContain("Done");
  expect(boxOf(before.html, "notes")).toContain("Input and output of notes");
  expect(boxOf(before.html, "approve")).toMatch(/Waits for an answer.*The question: <a href="\/q\/q_\w+">Release it/s);
  expect(boxOf(before.html, "tag")).toContain("not yet");
  expect(before.html).toContain("Run of the workflow");
  expect(before.html).not.toContain("ghp_0123456789");
  expect(before.html).not.toContain("If nobody answers");
  expect(before.html).not.toContain(BAD);

  await stage.answer(run, "Yes");
  const after = await visit.open(`/r/${run.id}`);
  expect(boxOf(after.html, "approve")).toContain("Done");
  expect(boxOf(after.html, "tag")).toMatch(/Failed.*the tag is there/s);
  expect(boxOf(after.html, "publish")).toContain("not done");
  expect(after.html).toContain("askd workflow retry");
  expect(after.html).not.toContain(BAD);
});

test("the run of a branch shows its own part", async () => {
  const run = await stage.start(RELEASE);
  const [tests] = await stage.children(run);
  const { html } = await visit.open(`/r/${tests?.id}`);
  expect(boxOf(html, "tests")).toContain("Done");
  expect(html).toContain("It does one part of a step of another run.");
  expect(html).not.toContain("<b>approve</b>");
});

test("the pages speak German", async () => {
  const run = await stage.start(RELEASE);
  const german = { cookie: "askd_language=de", "accept-language": "de" };
  expect((await visit.open(`/r/${run.id}`, german)).html).toContain("Wartet auf eine Antwort");
  expect((await visit.open("/workflows", german)).html).toContain("1 offener Lauf");
});

/** The box of a step, up to the name of the next one. */
function boxOf(html: string, id: string): string {
  const [, after = ""] = html.split(`<b>${id}</b>`);
  return after.split(/<b>\w+<\/b>|<p class="flow-end">/)[0] ?? "";
}
