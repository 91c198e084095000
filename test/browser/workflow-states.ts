import { join } from "node:path";
import type { Page } from "playwright-core";
import { type Instant, instant } from "../../src/core/instant.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite.ts";
import { type Run, hasEnded } from "../../src/core/run/run.ts";
import { WorkflowStage } from "../workflow/stage.ts";
import type { WebStage } from "./stage.ts";
import type { State } from "./states.ts";

const MINUTE_MS = 60_000;

const RELEASE = `
name: release-approval
description: Checks a version, asks people to approve it, and tags it
triggers:
  - { schedule: "0 9 * * mon", timezone: Europe/Berlin }
  - { webhook: release }
steps:
  - id: verify
    parallel:
      - { id: tests, tool: shell, input: { argv: [npm, test] } }
      - { id: audit, tool: shell, input: { argv: [npm, audit] } }
      - id: sign_off
        steps:
          - { id: owner, tool: shell, input: { argv: [owners] }, output: owner }
    output: verified
  - { id: changes, tool: shell, input: { argv: [git, log] }, output: changes }
  - id: approve
    tool: post_question
    input:
      question: Release version 1.4.0 to everybody?
      options: [Release it, Do not release it]
      timeoutHours: 24
      timeoutAction: skip
    suspend: true
  - id: tag
    condition: answer == "Release it"
    tool: shell
    input: { argv: [git, tag, v1.4.0] }
  - { id: publish, tool: http, input: { url: "https://example.com/hook" }, timeout: 1m }
on_timeout:
  tool: shell
  input: { argv: [label, release-skipped] }
on_failure:
  steps:
    - { id: tell_somebody, tool: shell, input: { argv: [mail, "{{ error.message }}"] } }
`;

/** How far a run goes before it is looked at. */
type RunEnd = "asks" | "fails" | "times out";

/** A workflow that does its steps in the store of the server. */
async function onStore(stage: WebStage, end: RunEnd): Promise<WorkflowStage> {
  await stage.engine();
  const clock: { now?: () => Instant } = {};
  const store = await openSqliteStore(join(stage.home, "data", "askd.db"), {
    now: () => clock.now?.() ?? instant(Date.now()),
  });
  const workflow = new WorkflowStage({
    store,
    startMs: Date.now() - (end === "times out" ? 48 * 60 : 30) * MINUTE_MS,
    seed: `web${Math.random()}`,
    script: ({ argv }) => {
      if (argv[1] === "tag") return { exitCode: 128, stdout: "", stderr: "fatal: tag 'v1.4.0' already exists" };
      return { exitCode: 0, stdout: `${argv.join(" ")}: everything is fine\n${"a long line ".repeat(30)}`, stderr: "" };
    },
  });
  clock.now = () => workflow.now;
  return workflow;
}

/** Starts a run and waits with it at its question, or lets it end. */
async function startRun(stage: WebStage, end: RunEnd): Promise<Run> {
  const workflow = await onStore(stage, end);
  const run = await workflow.start(RELEASE);
  await workflow.pass(3 * MINUTE_MS);
  if (end === "fails") await workflow.answer(run, "Release it").then(() => workflow.pass(MINUTE_MS));
  if (end === "times out") {
    // The server may be the one who sees that time is over; the steps are done here in any case.
    await stage.until("the run has ended", async () => {
      await workflow.pass(60 * MINUTE_MS);
      return hasEnded(await workflow.run(run.id)) || undefined;
    });
  }
  await workflow.store.close();
  return run;
}

async function openRun(page: Page, stage: WebStage, end: RunEnd) {
  const run = await startRun(stage, end);
  await page.goto(`${stage.url}/r/${run.id}`);
}

/** The pages of workflows in the states that people meet. */
export const WORKFLOWS: readonly State[] = [
  { name: "workflows-first", open: (page, stage) => page.goto(`${stage.url}/workflows`) },
  { name: "workflow-run-asks", isTall: true, open: (page, stage) => openRun(page, stage, "asks") },
  {
    name: "workflow-run-details",
    isTall: true,
    open: async (page, stage) => {
      await openRun(page, stage, "asks");
      await page.click("#steps .fold > summary >> nth=0");
    },
  },
  { name: "workflow-run-failed", isTall: true, open: (page, stage) => openRun(page, stage, "fails") },
  { name: "workflow-run-skipped", isTall: true, open: (page, stage) => openRun(page, stage, "times out") },
  { name: "workflows", open: (page, stage) => page.goto(`${stage.url}/workflows`) },
  {
    name: "workflow",
    isTall: true,
    open: async (page, stage) => {
      await page.goto(`${stage.url}/workflows`);
      await page.click("#workflows a >> nth=0");
      await page.waitForSelector(".flow");
    },
  },
];
