import { expect, test } from "vitest";
import { WorkflowStage } from "../../../test/workflow/stage.ts";
import { HOUR_MS } from "../../core/instant.ts";

const done = (value: unknown) => ({ exitCode: 0, stdout: JSON.stringify(value), stderr: "" });

const ASKING = `
name: fix
steps:
  - id: analyze
    tool: shell
    input: { argv: [analyze] }
    output: analysis
  - id: check_confidence
    condition: analysis.json.confidence < 80
    tool: post_question
    input:
      question: "{{ analysis.json.question }}"
      options: "{{ analysis.json.options }}"
      timeoutHours: 24
      timeoutAction: skip
    suspend: true
  - id: apply_fix
    tool: shell
    input: { argv: [fix, "{{ answer || analysis.json.fallback }}"] }
on_resume:
  inject: { answer: "{{ pendingQuestion.answer }}" }
  goto: apply_fix
on_timeout:
  tool: shell
  input: { argv: [label, auto-fix-skip] }
`;

function analysing(confidence: number) {
  const options = [
    { value: "guard", label: "Add a guard" },
    { value: "early", label: "Initialise early" },
  ];
  return new WorkflowStage({
    script: ({ argv }) =>
      done(argv[0] === "analyze" ? { confidence, question: "Which way?", options, fallback: "none" } : {}),
  });
}

test("a confident run asks nobody and goes on with the fallback", async () => {
  const stage = analysing(90);
  const run = await stage.start(ASKING);
  expect(run).toMatchObject({ status: "completed", asked: 0 });
  expect(stage.ran).toEqual([["analyze"], ["fix", "none"]]);
  expect((await stage.engine.verify()).problems).toEqual([]);
});

test("a run that asks costs nothing until its answer comes, then goes on from there and repeats nothing", async () => {
  const stage = analysing(62);
  const run = await stage.start(ASKING);
  expect(run).toMatchObject({ status: "awaiting_input" });
  expect((await stage.store.listJobs(10)).map(({ kind }) => kind).filter((kind) => kind !== "seal")).toEqual([
    "remind",
  ]);
  const after = await stage.answer(run, "B");
  expect(after).toMatchObject({ status: "completed", owes: [] });
  expect(stage.ran).toEqual([["analyze"], ["fix", "early"]]);
  expect(await stage.events(run)).toEqual([
    "run.queued",
    "run.started",
    "workflow.step_completed",
    "question.asked",
    "run.parked",
    "question.answered",
    "run.resuming",
    "question.given",
    "run.resumed",
    "workflow.step_completed",
    "workflow.step_completed",
    "run.completed",
  ]);
  expect((await stage.engine.verify()).problems).toEqual([]);
});

test("a question that nobody answers does the steps of on_timeout, and the run ends skipped", async () => {
  const stage = analysing(62);
  const run = await stage.start(ASKING);
  await stage.pass(25 * HOUR_MS);
  expect(await stage.run(run.id)).toMatchObject({ status: "skipped", reason: "input_timeout" });
  expect(stage.ran).toEqual([["analyze"], ["label", "auto-fix-skip"]]);
  expect((await stage.engine.verify()).problems).toEqual([]);
});

test("branches of a parallel step are runs of their own, each may ask, and the step has all their outputs", async () => {
  const stage = new WorkflowStage({ script: ({ argv }) => done({ did: argv[0] }) });
  const run = await stage.start(`
name: both
steps:
  - id: work
    output: results
    parallel:
      - { id: lint, tool: shell, input: { argv: [lint] }, output: lint }
      - id: ask
        steps:
          - { id: which, tool: post_question, input: { question: Which?, options: [Red, Blue] }, suspend: true, output: choice }
          - { id: paint, tool: shell, input: { argv: [paint, "{{ choice.answer }}"] }, output: painted }
  - { id: report, tool: shell, input: { argv: [report, "{{ results.lint.json.did }}", "{{ results.ask.choice.answer }}"] } }
`);
  expect(run).toMatchObject({ status: "running", workflow: { isWaiting: true } });
  const [lint, ask] = await stage.children(run);
  expect(lint).toMatchObject({ status: "completed" });
  expect(ask).toMatchObject({ status: "awaiting_input" });
  await stage.answer({ id: ask?.id ?? run.id }, "Blue");
  expect(await stage.run(run.id)).toMatchObject({ status: "completed" });
  expect(stage.ran).toEqual([["lint"], ["paint", "Blue"], ["report", "lint", "Blue"]]);
  expect((await stage.engine.verify()).problems).toEqual([]);
});

test("a step is done for each item of a list, one after the other or several at a time", async () => {
  const stage = new WorkflowStage({ script: ({ argv }) => done(argv[1]) });
  const run = await stage.start(`
name: each
inputs: { files: { type: list, default: [a, b, c] } }
steps:
  - { id: one, tool: shell, for_each: "{{ inputs.files }}", input: { argv: [one, "{{ item }}"] }, output: first }
  - id: two
    for_each: { in: "{{ inputs.files }}", as: file, at_once: 2 }
    steps: [{ id: inner, tool: shell, input: { argv: [two, "{{ file }}"] }, output: name }]
    output: second
  - { id: last, tool: shell, input: { argv: [last, "{{ json(second) }}", "{{ length(first) }}"] } }
`);
  expect(await stage.run(run.id)).toMatchObject({ status: "completed" });
  const inner = ["a", "b", "c"].map((file) => ({ name: { exitCode: 0, stdout: `"${file}"`, stderr: "", json: file } }));
  expect(stage.ran.at(-1)).toEqual(["last", JSON.stringify(inner), "3"]);
  expect((await stage.engine.verify()).problems).toEqual([]);
});

test("a step that fails is tried again as often as it says; then on_failure runs and the run fails with its reason", async () => {
  const stage = new WorkflowStage({
    script: ({ argv }) => ({ exitCode: argv[0] === "break" ? 2 : 0, stdout: "", stderr: "no luck" }),
  });
  const run = await stage.start(`
name: failing
steps: [{ id: break, tool: shell, input: { argv: [break] }, retry: { times: 2, delay: 10s } }]
on_failure: { tool: shell, input: { argv: [tell, "{{ error.code }}"] } }
`);
  expect(run).toMatchObject({ status: "running" });
  await stage.pass(10_000);
  await stage.pass(20_000);
  expect(await stage.run(run.id)).toMatchObject({ status: "failed", reason: "exit_code" });
  expect(stage.ran).toEqual([["break"], ["break"], ["break"], ["tell", "exit_code"]]);
  const again = await stage.workflows.retry(run.id, undefined, {
    scope: "human",
    id: "ada",
    channel: "cli",
    strength: "local",
  });
  expect(again.status).toBe("resuming");
  await stage.doDue();
  expect(stage.ran).toHaveLength(5);
  expect((await stage.engine.verify()).problems).toEqual([]);
});
