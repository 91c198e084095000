import { expect, test } from "vitest";
import { WorkflowDefinition } from "./definition.ts";

const STEP = { id: "one", tool: "shell", input: { argv: ["true"] } };

function problemsOf(definition: unknown): string[] {
  return (WorkflowDefinition.safeParse(definition).error?.issues ?? []).map(({ message }) => message);
}

test("a definition may have every part", () => {
  const definition: WorkflowDefinition = {
    name: "all",
    inputs: { version: { type: "string", required: true } },
    triggers: [
      { label_added: "auto-fix" },
      { schedule: "0 */6 * * *", timezone: "Europe/Berlin", missed: "skip" },
      { webhook: "deploy", condition: "trigger.body.ok", inputs: { version: "{{ trigger.body.version }}" } },
      { manual: true },
    ],
    steps: [
      { ...STEP, condition: "inputs.version != ''", output: "one", retry: 2, timeout: "10m", idempotent: true },
      { id: "ask", tool: "post_question", input: { question: "Go?" }, suspend: true, retry: { times: 1, delay: "1s" } },
      {
        id: "both",
        parallel: [
          { ...STEP, id: "left" },
          { id: "right", steps: [{ ...STEP, id: "inner" }] },
        ],
      },
      { ...STEP, id: "each", for_each: { in: "{{ one.files }}", as: "file", at_once: 4 } },
    ],
    on_resume: { inject: { answer: "{{ pendingQuestion.answer }}" }, goto: "both" },
    on_timeout: { tool: "update_github_issue", input: { addLabels: ["skipped"] } },
    on_failure: { steps: [{ ...STEP, id: "report" }] },
    concurrency: { key: "{{ issueNumber }}", when_busy: "skip" },
    max_running: 3,
    budget: { per_run: 2, per_day: 20 },
  };
  expect(WorkflowDefinition.parse(definition)).toEqual(definition);
});

test.each([
  [{ name: "a b", steps: [STEP] }, "write a name of letters, digits, - and _, at most 64 characters"],
  [{ name: "a", steps: [] }, "write at least one step"],
  [{ name: "a" }, "write a list of steps"],
  [{ name: "a", steps: [STEP], max_running: 0 }, "write a whole number from 1 to 1000"],
  [{ name: "a", steps: [STEP], budget: { per_run: -1 } }, "write an amount in US dollars, such as 5"],
  [{ name: "constructor", steps: [STEP] }, "this name is not allowed; write another one"],
])("a wrong definition gets a message that says what to write", (definition, message) => {
  expect(problemsOf(definition)).toEqual([message]);
});
