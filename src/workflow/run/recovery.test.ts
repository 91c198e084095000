import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { AGENT, ADA } from "../../../test/builders.ts";
import { overriding } from "../../../test/proof/overriding.ts";
import { said } from "../../../test/scene.ts";
import { WorkflowStage } from "../../../test/workflow/stage.ts";
import { MINUTE_MS, SECOND_MS } from "../../core/instant.ts";
import type { Store } from "../../store/store.ts";
import { exportStore } from "../../engine/trail/export.ts";
import { checkExport, importLines } from "../../engine/trail/import.ts";
import { readDefinition } from "./kept-definition.ts";

const done = { exitCode: 0, stdout: "", stderr: "" };
const ASKING = `
name: ask
steps:
  - { id: which, tool: post_question, input: { question: Which?, options: [Red, Blue] }, suspend: true, output: choice }
  - { id: paint, tool: shell, input: { argv: [paint, "{{ choice.answer }}"] } }
`;

/** A step whose process dies: the call never comes back, and another process goes on after the lease. */
async function interrupted(step: string) {
  const first = new WorkflowStage({ script: () => new Promise(() => undefined) });
  const workflow = await first.approve(`
name: once
steps: [{ id: pay, tool: shell, input: { argv: [pay] }${step} }]
on_failure: { tool: shell, input: { argv: [tell, "{{ error.code }}"] } }
`);
  const run = await first.workflows.start({ workflow, cause: { type: "manual" }, inputs: {} }, ADA);
  await first.engine.doDue(); // comes back while the step goes on
  const second = new WorkflowStage({ store: first.store, seed: "second" });
  first.skip(16 * SECOND_MS); // the store has this clock
  await second.pass(16 * SECOND_MS);
  return { first, second, run: await second.run(run.id) };
}

test("a shell step whose process died is not done again: the run fails, and says that its outcome is unknown", async () => {
  const { first, second, run } = await interrupted("");
  expect(run).toMatchObject({ status: "failed", reason: "step_unknown" });
  expect(first.ran).toEqual([["pay"]]);
  expect(second.ran).toEqual([["tell", "step_unknown"]]);
  expect((await second.engine.verify()).problems).toEqual([]);
});

test("a step that says it is idempotent is done again after its process died", async () => {
  const { second, run } = await interrupted(", idempotent: true");
  expect(run).toMatchObject({ status: "completed" });
  expect(second.ran).toEqual([["pay"]]);
  expect((await second.checkpoint(run)).steps["pay"]).toMatchObject({ status: "completed", attempt: 2 });
});

/** The lines of an export of everything that a stage has. */
async function exported(stage: WorkflowStage): Promise<string[]> {
  const lines: string[] = [];
  await exportStore(stage.store, { version: "1", hasSecrets: true }, async (text) => void lines.push(text));
  return lines;
}

test("a suspended run moves to another store with its checkpoint, and goes on there once its definition is approved", async () => {
  const stage = new WorkflowStage();
  const run = await stage.start(ASKING);
  const other = new WorkflowStage({ seed: "other" });
  expect(await importLines(other.store, Readable.from(await exported(stage)), ADA)).toMatchObject({
    runs: 1,
    conflicts: [],
  });
  expect((await other.engine.verify()).problems).toEqual([]);
  expect(await other.answer(run, "Blue")).toMatchObject({ status: "resuming" });
  expect(other.ran).toEqual([]);
  const job = (await other.store.listJobs(10)).find(({ key }) => key === `step:${run.id}`);
  expect(job?.failure?.why).toContain("askd workflow approve ask");
  await other.approve(ASKING);
  await other.pass(MINUTE_MS);
  expect(await other.run(run.id)).toMatchObject({ status: "completed" });
  expect(other.ran).toEqual([["paint", "Blue"]]);
  expect((await other.engine.verify()).problems).toEqual([]);
});

test("a run that moved goes on after a newer definition of its workflow was approved", async () => {
  const stage = new WorkflowStage();
  const run = await stage.start(ASKING);
  const other = new WorkflowStage({ seed: "other" });
  await importLines(other.store, Readable.from(await exported(stage)), ADA);
  await other.approve(ASKING);
  await other.approve(ASKING.replace("paint,", "print,"));
  expect(await other.answer(run, "Red")).toMatchObject({ status: "completed" });
  expect(other.ran).toEqual([["paint", "Red"]]);
});

test.each(["nothing", "an ended run"])("a live run that moved keeps its issue where %s was before", async (what) => {
  const stage = new WorkflowStage();
  const issue = { repo: "acme/shop", number: 7 };
  await stage.start(ASKING, { issue });
  const other = new WorkflowStage({ seed: "other" });
  const workflow = await other.approve(ASKING);
  const start = () => other.workflows.start({ workflow, cause: { type: "manual" }, inputs: {}, issue }, ADA);
  if (what !== "nothing") await other.engine.cancelRun((await start()).id, ADA);
  const lines = Readable.from(await exported(stage));
  expect(await importLines(other.store, lines, ADA)).toMatchObject({ runs: 1, conflicts: [] });
  await expect(start()).rejects.toThrow("is live for this issue");
  expect((await other.engine.verify()).problems).toEqual([]);
});

test("a live run that moves leaves an issue to the run that has it already", async () => {
  const stage = new WorkflowStage();
  const issue = { repo: "acme/shop", number: 7 };
  await stage.start(ASKING, { issue });
  const other = new WorkflowStage({ seed: "other" });
  const here = await other.start(ASKING, { issue });
  const lines = Readable.from(await exported(stage));
  expect(await importLines(other.store, lines, ADA)).toMatchObject({ runs: 1, conflicts: [] });
  const row = await other.store.findEntry("trigger", "live ask acme/shop#7");
  expect(row?.body["runId"]).toBe(here.id);
});

test.each([
  [
    "a definition that is not the one of its hash",
    (text: string) => text.replace('["paint"', '["steal"'),
    "definition",
  ],
  [
    "a step that any machine could take",
    (text: string) => text.replace(/("kind":"step"[^}]*?),"host":"here"/, "$1"),
    "job",
  ],
  ["a job of another run", (text: string) => text.replace(/("kind":"step"[^}]*?"runId":"r_)./, "$1z"), "job"],
  [
    "a checkpoint of another run",
    (text: string) => text.replace(/("kind":"checkpoint","id":"r_)./, "$1z"),
    "checkpoint",
  ],
])("an export with %s is refused", async (_name, forge, what) => {
  const stage = new WorkflowStage();
  const workflow = await stage.approve(ASKING);
  await stage.workflows.start({ workflow, cause: { type: "manual" }, inputs: {} }, ADA);
  const lines = await exported(stage);
  const forged = lines.map(forge);
  expect(forged).not.toEqual(lines);
  await expect(checkExport(Readable.from(forged))).rejects.toThrow(what);
});

test("a definition that was planted under another hash is not run", async () => {
  const stage = new WorkflowStage();
  const run = await stage.start(ASKING);
  const hash = run.workflow?.definition ?? "";
  const entry = await stage.store.findEntry("definition", hash);
  const planted = JSON.parse(JSON.stringify(entry?.body).replace('["paint"', '["steal"')) as Record<string, unknown>;
  const other = new WorkflowStage({ seed: "other" });
  await other.store.commit({ entries: [{ kind: "definition", id: hash, version: 0, body: planted }] });
  const workflow = await other.approve(ASKING);
  await expect(other.workflows.start({ workflow, cause: { type: "manual" }, inputs: {} }, ADA)).resolves.toBeDefined();
  await expect(readDefinition(other.store, hash)).resolves.toMatchObject({
    steps: [{}, { input: { argv: ["paint", "{{ choice.answer }}"] } }],
  });
});

test("an export in which the checkpoint of a run was changed is refused", async () => {
  const stage = new WorkflowStage();
  await stage.start(ASKING);
  const lines = await exported(stage);
  const edited = lines.map((line) => line.replaceAll(/"pendingQuestionId":"q_\w+",/g, ""));
  expect(edited).not.toEqual(lines);
  await expect(checkExport(Readable.from(edited))).rejects.toThrow(/checkpoint r_\w+ is not as its trail tells/);
});

test("cancelling a run cancels the branches that it waits for and their questions", async () => {
  const stage = new WorkflowStage();
  const run = await stage.start(`
name: branches
steps:
  - id: both
    parallel:
      - { id: one, tool: post_question, input: { question: One? }, suspend: true }
      - { id: two, tool: post_question, input: { question: Two? }, suspend: true }
`);
  expect((await stage.children(run)).map(({ status }) => status)).toEqual(["awaiting_input", "awaiting_input"]);
  await stage.engine.cancelRun(run.id, ADA);
  await stage.doDue();
  expect((await stage.children(run)).map(({ status }) => status)).toEqual(["cancelled", "cancelled"]);
  expect(await stage.engine.countQuestions("pending")).toBe(0);
  expect((await stage.engine.verify()).problems).toEqual([]);
});

test("a run whose checkpoint cannot be read fails when it is to go on, and the workflow that waits for it goes on", async () => {
  const stage = new WorkflowStage();
  const run = await stage.start(`
name: branches
steps:
  - id: both
    parallel:
      - { id: one, tool: post_question, input: { question: One? }, suspend: true }
on_failure: { tool: shell, input: { argv: [tell, "{{ error.code }}"] } }
`);
  const [child] = await stage.children(run);
  const { store } = stage;
  const findEntry = store.findEntry.bind(store);
  store.findEntry = async (kind, id) => (kind === "checkpoint" && id === child!.id ? undefined : findEntry(kind, id));
  expect(await stage.answer(child!, "Blue")).toMatchObject({ status: "failed", reason: "row_damaged" });
  expect(await stage.run(run.id)).toMatchObject({ status: "failed" });
  expect(stage.ran).toEqual([["tell", "branch_failed"]]);
  expect((await stage.engine.verify()).problems).toEqual([]);
});

test.each([
  ["is lost", undefined],
  ["was changed", { name: "ask", steps: [{ id: "other", tool: "shell" }] }],
])("a run whose definition %s fails and says what to do; approved again, it can be repeated", async (_, definition) => {
  const stage = new WorkflowStage();
  const { store } = stage;
  const { id } = await stage.start(ASKING);
  let isBroken = true;
  const findEntry: Store["findEntry"] = async (kind, name) => {
    const entry = await store.findEntry(kind, name);
    if (kind !== "definition" || !isBroken || !entry) return entry;
    return definition && { ...entry, body: { definition } };
  };
  // Another process, which has not read the definition before.
  const later = new WorkflowStage({ store: overriding(store, { findEntry }), seed: "later" });
  const failed = await later.answer({ id }, "Blue");
  expect(failed).toMatchObject({ status: "failed", reason: "row_damaged" });
  expect(failed.result?.summary).toMatch(/definition of its workflow.*: askd workflow approve ask/);
  expect(later.failures).toEqual([]);
  isBroken = false; // as after the approval
  await later.workflows.retry(id, undefined, ADA);
  await later.doDue();
  expect(await later.run(id)).toMatchObject({ status: "awaiting_input" });
});

test("an answer after the deadline takes a skipped run up where it asked", async () => {
  const stage = new WorkflowStage();
  const yaml = ASKING.replace("options: [Red, Blue]", "options: [Red, Blue], timeoutHours: 1, timeoutAction: skip");
  const run = await stage.start(yaml);
  await stage.pass(2 * 3600 * SECOND_MS);
  const skipped = await stage.run(run.id);
  expect(skipped.status).toBe("skipped");
  const { lastQuestionId } = skipped;
  if (lastQuestionId === undefined) throw new Error("it asked nothing");
  await stage.engine.answer(lastQuestionId, { ...said("Red"), force: true }, ADA);
  await stage.doDue();
  expect(await stage.run(run.id)).toMatchObject({ status: "completed" });
  expect(stage.ran).toEqual([["paint", "Red"]]);
});

test("an agent cannot approve a workflow, nor what it asks for", async () => {
  const stage = new WorkflowStage();
  const approved = await stage.approve(ASKING);
  const { definition: _definition, ...input } = { ...approved };
  const definition = await readDefinition(stage.store, approved.definition);
  await expect(stage.workflows.approve({ ...input, definition: "other" }, definition, AGENT)).rejects.toThrow(
    "An agent cannot approve a workflow",
  );
  await expect(stage.workflows.getApproved(approved, "other")).rejects.toThrow("was changed since it was approved");
});

test("an issue has one live run of a workflow, however many start it at the same time", async () => {
  const stage = new WorkflowStage();
  const workflow = await stage.approve(ASKING);
  const start = () =>
    stage.workflows.start(
      { workflow, cause: { type: "manual" }, inputs: {}, issue: { repo: "acme/shop", number: 7 } },
      ADA,
    );
  const all = await Promise.allSettled([start(), start(), start()]);
  expect(all.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected", "rejected"]);
  expect(await stage.store.listRuns({ order: "oldest", limit: 10 })).toHaveLength(1);
});

test("a secret reaches the program and nothing that is kept", async () => {
  const secret = "s3cr3t-value-0123456789";
  const seen: string[] = [];
  const stage = new WorkflowStage({
    secrets: { KEY: secret },
    script: ({ env }) => {
      seen.push(env["KEY"] ?? "");
      return { ...done, stdout: `the key is ${env["KEY"] ?? ""}` };
    },
  });
  const run = await stage.start(`
name: secret
steps:
  - { id: use, tool: shell, input: { argv: [use], env: { KEY: "{{ secrets.KEY }}" } }, output: used }
`);
  expect(run.status).toBe("completed");
  expect(seen).toEqual([secret]);
  const kept = JSON.stringify([await stage.checkpoint(run), await stage.engine.readChain(run.id)]);
  expect(kept).toContain("[redacted]");
  expect(kept).not.toContain(secret);
});

test("a secret that a failing program prints is not kept, shown or told", async () => {
  const secret = "s3cr3t-value-0123456789";
  const stage = new WorkflowStage({
    secrets: { KEY: secret },
    script: ({ argv }) =>
      argv[0] === "use" ? { exitCode: 1, stdout: `with ${secret}\n`, stderr: `no entry for ${secret}\n` } : done,
  });
  const run = await stage.start(`
name: secret
steps:
  - { id: use, tool: shell, input: { argv: [use, "{{ secrets.KEY }}"] } }
on_failure: { tool: shell, input: { argv: [tell, "{{ error.message }}", "{{ error.output }}"] } }
`);
  expect(run.status).toBe("failed");
  const kept = JSON.stringify([
    run,
    await stage.checkpoint(run),
    await stage.engine.readChain(run.id),
    stage.ran.slice(1),
  ]);
  expect(kept).toContain("no entry for [redacted]");
  expect(kept).not.toContain(secret);
});

test("a failed program keeps the end of its output, line by line", async () => {
  const lines = Array.from({ length: 500 }, (_, index) => `test ${index} passed`);
  const stage = new WorkflowStage({
    script: () => ({ exitCode: 1, stdout: [...lines, "test 500 failed", ""].join("\n"), stderr: "npm warn old\n" }),
  });
  const run = await stage.start("name: once\nsteps: [{ id: check, tool: shell, input: { argv: [npm, test] } }]");
  const { failure } = (await stage.checkpoint(run)).steps["check"] ?? {};
  expect(failure?.message).toBe("The program ended with exit code 1: npm warn old");
  expect(failure?.output).toMatch(/^test \d+ passed\n/);
  expect(failure?.output).toMatch(/\ntest 499 passed\ntest 500 failed\nnpm warn old$/);
});

test("of the runs of a workflow only so many are live, and older ones go first", async () => {
  const stage = new WorkflowStage();
  const workflow = await stage.approve(`max_running: 1${ASKING}`);
  const start = () => stage.workflows.start({ workflow, cause: { type: "manual" }, inputs: {} }, ADA);
  const [one, two] = [await start(), await start()];
  await stage.doDue();
  expect([(await stage.run(one.id)).status, (await stage.run(two.id)).status]).toEqual(["awaiting_input", "queued"]);
  await stage.answer(one, "Red");
  await stage.pass(2 * SECOND_MS);
  expect([(await stage.run(one.id)).status, (await stage.run(two.id)).status]).toEqual(["completed", "awaiting_input"]);
});
