import { z } from "zod";
import { parseDuration } from "../../text/duration.ts";
import { SECOND_MS } from "../../instant.ts";
import { FORBIDDEN_NAMES } from "./expression.ts";

// The definition is kept as it was written: nothing is filled in or converted, so that its hash stays the same when a
// default changes. Every message states the expected value: people see nothing else.

const MOST_STEPS = 100;
const MOST_BRANCHES = 20;
const MOST_ITEMS_AT_ONCE = 20;
const MOST_ATTEMPTS = 20;
const MOST_RUNNING = 1_000;
const LONGEST_TEXT = 64_000;
const LONGEST_NAME = 64;

const NAME_ERROR = `write a name of letters, digits, - and _, at most ${LONGEST_NAME} characters`;

/** The name of a workflow, step, output or input. */
export const WorkflowName = z
  .string(NAME_ERROR)
  .regex(new RegExp(`^[A-Za-z_][\\w-]{0,${LONGEST_NAME - 1}}$`), NAME_ERROR)
  .refine((name) => !FORBIDDEN_NAMES.includes(name), "this name is not allowed; write another one");

const TOOL_ERROR = "write the name of a tool, such as post_question, or server.tool for a tool of an MCP server";
const ToolName = z
  .string(TOOL_ERROR)
  .regex(/^[A-Za-z_][\w./:-]{0,127}$/, TOOL_ERROR)
  .describe("The tool that does the step: one of askd, or a tool of an MCP server in [mcp_servers].");

const Text = (what: string) => {
  const error = `write ${what}, at most ${LONGEST_TEXT} characters`;
  return z.string(error).min(1, error).max(LONGEST_TEXT, error);
};

const Duration = (least: number) => {
  const error = 'write a duration, such as "90s", "10m" or "2h"';
  return z.string(error).refine((text) => isDuration(text, least), error);
};

const Count = (least: number, most: number) => {
  const error = `write a whole number from ${least} to ${most}`;
  return z.int(error).min(least, error).max(most, error);
};

/** Any JSON value; every text in it may contain `{{ }}`. The reader limits its depth and size. */
const Value = z.unknown();

const Members = (what: string) => z.record(WorkflowName, Value, `write a mapping of ${what}`);

const Condition = z
  .union([Text("an expression"), z.boolean()], "write an expression, such as analysis.confidence < 80")
  .describe("The step is skipped if this is false; its output is then undefined.");

export const WorkflowInput = z.strictObject(
  {
    type: z
      .enum(["string", "number", "boolean", "list"], "write string, number, boolean or list")
      .optional()
      .describe("The type of the value; string if left out."),
    description: Text("one sentence").optional(),
    required: z.boolean("write true or false").optional(),
    default: Value.optional().describe("The value if none is given."),
    options: z
      .array(Text("a text"), "write a list of texts")
      .min(1)
      .max(50)
      .optional()
      .describe("The allowed values of a text."),
  },
  "write a mapping, such as { type: string, required: true }",
);
export type WorkflowInput = z.infer<typeof WorkflowInput>;

const TriggerInputs = Members("inputs").optional().describe("The inputs of the run, with {{ trigger.… }} in them.");

const LabelTrigger = z.strictObject({
  label_added: Text("the name of a label").describe("An issue gets this label."),
  inputs: TriggerInputs,
});
const ScheduleTrigger = z.strictObject({
  schedule: Text("five fields, such as 0 */6 * * *").describe("A cron expression with five fields."),
  timezone: Text("a time zone, such as Europe/Berlin").optional().describe("The time zone; UTC if left out."),
  missed: z
    .enum(["run_once", "skip"], "write run_once or skip")
    .optional()
    .describe("Times missed while askd was not running: one run in their place, or none. run_once if left out."),
  inputs: TriggerInputs,
});
const WebhookTrigger = z.strictObject({
  webhook: WorkflowName.describe("The name in the address of the webhook."),
  condition: Condition.optional().describe("The webhook starts a run only if this is true; trigger.body is what came."),
  inputs: TriggerInputs,
});
const ManualTrigger = z.strictObject({ manual: z.literal(true, "write true") });

/** A cause that starts a run. `askd workflow run` starts one in any case. */
export const WorkflowTrigger = z.union([LabelTrigger, ScheduleTrigger, WebhookTrigger, ManualTrigger]);
export type WorkflowTrigger = z.infer<typeof WorkflowTrigger>;

const Retry = z
  .union(
    [
      Count(0, MOST_ATTEMPTS),
      z.strictObject({
        times: Count(0, MOST_ATTEMPTS).describe("How often the step is tried again after it failed."),
        delay: Duration(0).optional().describe("The wait before the first retry; 10s if left out."),
        backoff: z
          .enum(["constant", "exponential"], "write constant or exponential")
          .optional()
          .describe("Whether each wait is twice as long as the one before; exponential if left out."),
        max_delay: Duration(0).optional().describe("The longest wait; 10m if left out."),
      }),
    ],
    "write how often to try again, such as 3 or { times: 3, delay: 30s }",
  )
  .describe("What happens if the step fails; without it, it is not tried again.");

/** The call of a tool, as steps and handlers have it. */
const ToolCall = z.strictObject({
  tool: ToolName,
  input: z
    .record(z.string().max(128), Value, "write a mapping of values")
    .optional()
    .describe("The input of the tool; texts may contain {{ }}."),
  retry: Retry.optional(),
  timeout: Duration(SECOND_MS).optional().describe("How long one try may take, such as 10m."),
  idempotent: z
    .boolean("write true or false")
    .optional()
    .describe("The tool may be called again if askd stopped in between and does not know how the call ended."),
});

const StepBase = z.strictObject({
  id: WorkflowName.describe("The name of the step; each step has its own."),
  condition: Condition.optional(),
  output: WorkflowName.optional().describe("The name by which later steps read the result."),
});

const ForEach = z
  .union(
    [
      Text("one {{ }} that is a list"),
      z.array(Value).max(1_000),
      z.strictObject({
        in: z.union([Text("one {{ }} that is a list"), z.array(Value).max(1_000)]),
        as: WorkflowName.optional().describe("The name of the current item; item if left out."),
        at_once: Count(1, MOST_ITEMS_AT_ONCE)
          .optional()
          .describe("How many items are worked on at the same time; 1 if left out."),
      }),
    ],
    'write a list, or { in: "{{ files }}", as: file, at_once: 4 }',
  )
  .describe("The step is done once for each item; the result is the list of results.");

/** A step that calls a tool. */
export const ToolStep = StepBase.extend(ToolCall.shape).extend({
  for_each: ForEach.optional(),
  suspend: z
    .boolean("write true or false")
    .optional()
    .describe("The run waits here until the question is closed; it uses nothing meanwhile."),
});
export type ToolStep = z.infer<typeof ToolStep>;

/** A step that does several steps at the same time, each as a run of its own, so that each may ask. */
export const ParallelStep = StepBase.extend({
  get parallel() {
    return z
      .array(WorkflowStep, "write a list of steps")
      .min(1, "write at least one step")
      .max(MOST_BRANCHES, `write at most ${MOST_BRANCHES} steps`)
      .describe("Steps that are done at the same time. The result has one entry per step, by its id.");
  },
});
export type ParallelStep = z.infer<typeof ParallelStep>;

/** A step made of steps that are done in order, for one branch or for each item. */
export const GroupStep = StepBase.extend({
  for_each: ForEach.optional(),
  get steps() {
    return Steps.describe("Steps that are done in order. The result has one entry per output of these steps.");
  },
});
export type GroupStep = z.infer<typeof GroupStep>;

export const WorkflowStep: z.ZodType<ToolStep | ParallelStep | GroupStep> = z.lazy(() =>
  z.union([ToolStep, ParallelStep, GroupStep]),
);
export type WorkflowStep = ToolStep | ParallelStep | GroupStep;

const Steps = z
  .array(WorkflowStep, "write a list of steps")
  .min(1, "write at least one step")
  .max(MOST_STEPS, `write at most ${MOST_STEPS} steps`);

/** The reaction to a timeout or failure: one tool call, or steps. None of them may wait for an answer. */
export const WorkflowHandler = z.union([ToolCall, z.strictObject({ steps: Steps })]);
export type WorkflowHandler = z.infer<typeof WorkflowHandler>;

const Usd = z
  .number("write an amount in US dollars, such as 5")
  .positive("write an amount in US dollars, such as 5")
  .max(1_000_000, "write an amount in US dollars, such as 5");

/** A workflow, as its file says it. */
export const WorkflowDefinition = z.strictObject(
  {
    name: WorkflowName.describe("The name of the workflow; each file has its own."),
    description: Text("one sentence").optional(),
    inputs: z.record(WorkflowName, WorkflowInput, "write a mapping of inputs").optional(),
    triggers: z.array(WorkflowTrigger, "write a list of triggers").max(20).optional(),
    steps: Steps,
    on_resume: z
      .strictObject({
        inject: Members("values").optional().describe("Names that later steps can read, with {{ pendingQuestion.… }}."),
        goto: WorkflowName.optional().describe("The step to go on with; the next one if left out."),
      })
      .optional()
      .describe("What happens when a question of a step with suspend: true is answered."),
    on_timeout: WorkflowHandler.optional().describe("What is done when a question times out with the action skip."),
    on_failure: WorkflowHandler.optional().describe("What is done when a run fails; {{ error.message }} says why."),
    concurrency: z
      .union(
        [
          Text("a key, such as {{ issueNumber }}"),
          z.strictObject({
            key: Text("a key, such as {{ issueNumber }}"),
            when_busy: z
              .enum(["wait", "skip", "cancel"], "write wait, skip or cancel")
              .optional()
              .describe("A run with the same key is live: wait for it, do not start, or cancel it. wait if left out."),
          }),
        ],
        "write a key, such as {{ issueNumber }}",
      )
      .optional()
      .describe("Of the runs with the same key only one is live."),
    max_running: Count(1, MOST_RUNNING).optional().describe("How many runs of this workflow may be live; others wait."),
    budget: z
      .strictObject({ per_run: Usd.optional(), per_day: Usd.optional() }, "write a mapping, such as { per_run: 5 }")
      .optional()
      .describe("The most that the agents of a run, and of all runs of a day, may cost in US dollars."),
  },
  "write a mapping with name and steps",
);
export type WorkflowDefinition = z.infer<typeof WorkflowDefinition>;

/** Says whether a duration can be read and is at least that long. */
function isDuration(text: string, leastMs: number) {
  try {
    return parseDuration(text) >= leastMs;
  } catch {
    return false;
  }
}
