import { findNearest } from "../../text/nearest.ts";
import { isTimeZone } from "../../time-zone.ts";
import { CronProblem, parseCron } from "../trigger/cron.ts";
import type { ToolStep, WorkflowDefinition, WorkflowTrigger } from "./definition.ts";
import type { DefinitionProblem, ValuePath } from "./definition-problem.ts";
import { checkNames } from "./check-names.ts";
import { fitsInput } from "./inputs.ts";
import { type PlacedStep, stepsOf } from "./step-tree.ts";

const MOST_STEPS_IN_ALL = 200;
const MOST_NESTED = 4;
const ASKING_TOOL = "post_question";
/** The agent of a step that names none. */
export const DEFAULT_AGENT = "claude";

/** The tools that a workflow can call. */
export interface KnownTools {
  names: readonly string[];
  /** There may be others: MCP servers were not asked for theirs. */
  mayHaveMore: boolean;
  /** The settings have no MCP server here; those of the machine that runs the workflow may have one. */
  isWithoutServers?: boolean;
  /** The agents whose cost is known, so that a budget can be kept; undefined if that is not checked. */
  limitedAgents?: readonly string[];
  /** The keys that the inputs of some of them may have; others are not checked. */
  inputKeys?: Readonly<Record<string, readonly string[]>>;
  /** The secrets that the settings allow; undefined if that is not checked. */
  secrets?: readonly string[];
}

/** Finds the mistakes that the shape of a definition does not show. Nothing is executed. */
export function checkDefinition(definition: WorkflowDefinition, tools?: KnownTools): DefinitionProblem[] {
  const steps = stepsOf(definition);
  return [
    ...checkIds(steps),
    ...checkNesting(steps),
    ...steps.flatMap((placed) => checkSuspend(placed)),
    ...(tools ? toolCalls(definition, steps).flatMap((call) => checkTool(call, tools)) : []),
    ...(tools?.inputKeys ? checkInputKeys(toolCalls(definition, steps), tools.inputKeys) : []),
    ...(tools?.limitedAgents ? checkBudgets(definition, steps, tools.limitedAgents) : []),
    ...checkResume(definition, steps),
    ...checkInputs(definition),
    ...(definition.triggers ?? []).flatMap((trigger, index) => checkTrigger(definition, trigger, ["triggers", index])),
    ...checkNames(definition, tools?.secrets),
  ];
}

function checkIds(steps: readonly PlacedStep[]): DefinitionProblem[] {
  const seen = new Set<string>();
  return steps.flatMap(({ step: { id }, path }) => {
    if (!seen.has(id)) {
      seen.add(id);
      return [];
    }
    return [error([...path, "id"], `There are two steps with the id ${id}`, "Give one of them another id")];
  });
}

function checkNesting(steps: readonly PlacedStep[]): DefinitionProblem[] {
  const [beyond] = steps.slice(MOST_STEPS_IN_ALL);
  const deep = steps.find(({ within }) => within.length > MOST_NESTED);
  return [
    ...(beyond ? [error(beyond.path, `A workflow has at most ${MOST_STEPS_IN_ALL} steps in all`)] : []),
    ...(deep ? [error(deep.path, `Steps are nested at most ${MOST_NESTED} deep`)] : []),
  ];
}

function checkSuspend({ step, path, isInHandler }: PlacedStep): DefinitionProblem[] {
  if (!("suspend" in step) || !step.suspend) return [];
  const at = [...path, "suspend"];
  if (isInHandler) return [error(at, "A step of on_timeout or on_failure cannot wait for an answer", "Remove suspend")];
  if (step.tool !== ASKING_TOOL) {
    return [error(at, `Only ${ASKING_TOOL} can suspend a run; ${step.tool} asks nobody`, "Remove suspend")];
  }
  return [];
}

interface ToolPlace {
  tool: string;
  path: ValuePath;
  input: ToolStep["input"];
}

function toolCalls({ on_timeout, on_failure }: WorkflowDefinition, steps: readonly PlacedStep[]): ToolPlace[] {
  const handlers = Object.entries({ on_timeout, on_failure });
  return [
    ...steps.flatMap(({ step, path }) =>
      "tool" in step ? [{ tool: step.tool, path: [...path, "tool"], input: step.input }] : [],
    ),
    ...handlers.flatMap(([name, handler]) =>
      handler && "tool" in handler ? [{ tool: handler.tool, path: [name, "tool"], input: handler.input }] : [],
    ),
  ];
}

/** A key that a tool does not know would fail its step, after the steps before it are done. */
function checkInputKeys(
  calls: readonly ToolPlace[],
  known: Readonly<Record<string, readonly string[]>>,
): DefinitionProblem[] {
  return calls.flatMap(({ tool, path, input = {} }) => {
    const keys = Object.hasOwn(known, tool) ? known[tool] : undefined;
    const unknown = keys ? Object.keys(input).filter((key) => !keys.includes(key)) : [];
    return unknown.map((key) => {
      const meant = findNearest(key, keys ?? []);
      const hint = meant === undefined ? `There are: ${(keys ?? []).join(", ")}` : `Did you mean ${meant}?`;
      const place = [...path.slice(0, -1), "input", key];
      return { ...error(place, `The input of ${tool} has no ${key}`, hint), isKey: true };
    });
  });
}

/** A budget, of a step or of the workflow, is for agents whose cost is known. */
function checkBudgets(
  definition: WorkflowDefinition,
  steps: readonly PlacedStep[],
  limited: readonly string[],
): DefinitionProblem[] {
  return steps.flatMap(({ step, path }) => {
    if (!("tool" in step) || step.tool !== "agent") return [];
    const { agent = DEFAULT_AGENT, budget } = step.input ?? {};
    const isKept = typeof agent !== "string" || agent.includes("{{") || limited.includes(agent);
    if (isKept || (budget === undefined && definition.budget === undefined)) return [];
    const at = budget === undefined ? ["budget"] : [...path, "input", "budget"];
    const message = `A budget cannot be kept: what the agent ${agent} costs is not known`;
    return [error(at, message, `Leave it out, or use one of: ${limited.join(", ")}`)];
  });
}

/** The tools that a definition calls and that are not among these. */
export function listUnknownTools(definition: WorkflowDefinition, names: readonly string[]): string[] {
  const called = toolCalls(definition, stepsOf(definition)).map(({ tool }) => tool);
  return [...new Set(called)].filter((tool) => !names.includes(tool));
}

function checkTool({ tool, path }: ToolPlace, known: KnownTools): DefinitionProblem[] {
  const { names, mayHaveMore, isWithoutServers } = known;
  if (names.includes(tool)) return [];
  const meant = findNearest(tool, names);
  const hint = meant === undefined ? `There are: ${names.join(", ")}` : `Did you mean ${meant}?`;
  if (!mayHaveMore) return [error(path, `There is no tool ${tool}`, hint)];
  if (isWithoutServers) {
    const message = `there is no tool ${tool} in askd, and the settings have no MCP server that could have it`;
    const add = "Add the server that has it to the settings: [mcp_servers.<name>]";
    return [{ level: "warning", path, message, hint: meant === undefined ? add : hint }];
  }
  if (meant === undefined) return [];
  return [{ level: "warning", path, message: `there is no tool ${tool} in askd; an MCP server must have it`, hint }];
}

/** A question must not lead back to itself: each answer would ask again. */
function checkResume({ steps, on_resume }: WorkflowDefinition, all: readonly PlacedStep[]): DefinitionProblem[] {
  if (!on_resume) return [];
  if (!all.some(({ step }) => "suspend" in step && step.suspend === true)) {
    const message = "No step has suspend: true, so on_resume never happens";
    return [{ level: "warning", path: ["on_resume"], isKey: true, message }];
  }
  const { goto } = on_resume;
  if (goto === undefined) return [];
  const path = ["on_resume", "goto"];
  const target = steps.findIndex(({ id }) => id === goto);
  if (target < 0)
    return [
      unknownGoto(
        goto,
        steps.map(({ id }) => id),
        all,
      ),
    ];
  const asking = steps.findLast((step, index) => index >= target && "suspend" in step && step.suspend === true);
  if (!asking) return [];
  return [
    error(
      path,
      `goto ${goto} leads back to the question of ${asking.id}, which would be asked for ever`,
      `Name a step after ${asking.id}`,
    ),
  ];
}

function unknownGoto(goto: string, ids: readonly string[], all: readonly PlacedStep[]) {
  const path = ["on_resume", "goto"];
  if (all.some(({ step }) => step.id === goto)) {
    return error(path, `goto cannot lead into another step; ${goto} is inside one`, "Name a step of the outer list");
  }
  const meant = findNearest(goto, ids);
  const hint = meant === undefined ? `There are: ${ids.join(", ")}` : `Did you mean ${meant}?`;
  return error(path, `There is no step ${goto}`, hint);
}

function checkInputs({ inputs }: WorkflowDefinition): DefinitionProblem[] {
  return Object.entries(inputs ?? {}).flatMap(([name, input]) => {
    const { type = "string", default: value, options } = input;
    if (options && type !== "string") return [error(["inputs", name, "options"], "Only a string has options")];
    if (value === undefined || fitsInput(value, input)) return [];
    const expected = options ? `one of: ${options.join(", ")}` : `a ${type}`;
    return [error(["inputs", name, "default"], `The default of ${name} must be ${expected}`)];
  });
}

function checkTrigger(
  { inputs = {} }: WorkflowDefinition,
  trigger: WorkflowTrigger,
  path: ValuePath,
): DefinitionProblem[] {
  if ("manual" in trigger) return [];
  const given = trigger.inputs ?? {};
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(inputs, name));
  const missing = Object.entries(inputs)
    .filter(([name, input]) => input.required && input.default === undefined && !Object.hasOwn(given, name))
    .map(([name]) => name);
  return [
    ...("schedule" in trigger ? checkSchedule(trigger, path) : []),
    ...unknown.map((name) => {
      const meant = findNearest(name, Object.keys(inputs));
      const hint = meant === undefined ? undefined : `Did you mean ${meant}?`;
      return { ...error([...path, "inputs", name], `The workflow has no input ${name}`, hint), isKey: true };
    }),
    ...missing.map((name) =>
      error(path, `A run started by this has no value for the input ${name}`, `Add inputs: { ${name}: … } here`),
    ),
  ];
}

function checkSchedule(
  { schedule, timezone }: Extract<WorkflowTrigger, { schedule: string }>,
  path: ValuePath,
): DefinitionProblem[] {
  const problems: DefinitionProblem[] = [];
  try {
    parseCron(schedule);
  } catch (cause) {
    if (!(cause instanceof CronProblem)) throw cause;
    problems.push(error([...path, "schedule"], upperFirst(cause.message), 'Write it like "0 */6 * * *"'));
  }
  if (timezone !== undefined && !isTimeZone(timezone)) {
    problems.push(error([...path, "timezone"], `There is no time zone ${timezone}`, "Write it like Europe/Berlin"));
  }
  return problems;
}

function upperFirst(text: string) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function error(path: ValuePath, message: string, hint?: string): DefinitionProblem {
  return { level: "error", path, message, ...(hint !== undefined && { hint }) };
}
