import { findNearest } from "../../text/nearest.ts";
import type { ToolStep, WorkflowDefinition, WorkflowHandler, WorkflowStep } from "./definition.ts";
import type { DefinitionProblem, ValuePath } from "./definition-problem.ts";
import { type Expression, type Path, formatPath, pathsIn } from "./expression.ts";
import { ExpressionProblem } from "./expression-token.ts";
import { LOCAL_NAMES, SCOPE_NAMES, TELLING_TOOLS } from "./scope-name.ts";
import { innerSteps, stepsOf } from "./step-tree.ts";
import { parseCondition, parseTemplate } from "./template.ts";

const MOST_PROBLEMS = 100;

/** Finds expressions that cannot be parsed, and names in them that have no value at that place; secrets if they are known. */
export function checkNames(definition: WorkflowDefinition, secrets?: readonly string[]): DefinitionProblem[] {
  const checker = new NameChecker(definition, secrets);
  checker.checkAll();
  return checker.problems.slice(0, MOST_PROBLEMS);
}

/** The names that expressions can use at one place. */
interface Names {
  known: ReadonlySet<string>;
  /** Secrets may be used: the value reaches neither people nor agents. */
  maySecret: boolean;
}

class NameChecker {
  readonly problems: DefinitionProblem[] = [];
  readonly #definition: WorkflowDefinition;
  /** The steps that set each output. */
  readonly #outputs: ReadonlyMap<string, string>;

  readonly #secrets: readonly string[] | undefined;

  constructor(definition: WorkflowDefinition, secrets: readonly string[] | undefined) {
    this.#definition = definition;
    this.#secrets = secrets;
    this.#outputs = new Map(
      stepsOf(definition).flatMap(({ step }) => (step.output === undefined ? [] : [[step.output, step.id]])),
    );
  }

  checkAll(): void {
    const { steps, on_resume, on_timeout, on_failure, concurrency, triggers } = this.#definition;
    const start = new Set<string>(Object.keys(SCOPE_NAMES));
    for (const [index, trigger] of (triggers ?? []).entries()) {
      const names = { known: start, maySecret: false };
      if ("webhook" in trigger) this.#checkCondition(trigger.condition, ["triggers", index, "condition"], names);
      if (!("manual" in trigger)) this.#checkValue(trigger.inputs, ["triggers", index, "inputs"], names);
    }
    const key = typeof concurrency === "object" ? concurrency.key : concurrency;
    const keyPath = typeof concurrency === "object" ? ["concurrency", "key"] : ["concurrency"];
    this.#checkValue(key, keyPath, { known: start, maySecret: false });
    const injected = Object.keys(on_resume?.inject ?? {});
    const known = this.#checkSteps(steps, ["steps"], new Set([...start, ...injected, ...this.#namesOfAnswer()]));
    const asked = new Set([...known, LOCAL_NAMES.question]);
    this.#checkValue(on_resume?.inject, ["on_resume", "inject"], { known: asked, maySecret: false });
    this.#checkHandler(on_timeout, ["on_timeout"], asked);
    this.#checkHandler(on_failure, ["on_failure"], new Set([...known, LOCAL_NAMES.error]));
  }

  /** After a question, every step sees it and its answer. */
  #namesOfAnswer(): string[] {
    const asks = stepsOf(this.#definition).some(({ step }) => "suspend" in step && step.suspend === true);
    return asks ? [LOCAL_NAMES.question, LOCAL_NAMES.answer] : [];
  }

  #checkHandler(handler: WorkflowHandler | undefined, path: ValuePath, known: ReadonlySet<string>) {
    if (!handler) return;
    if ("steps" in handler) this.#checkSteps(handler.steps, [...path, "steps"], known);
    else this.#checkInput(handler, path, known);
  }

  /** Checks steps that are done in order; returns the names that are known after them. */
  #checkSteps(steps: readonly WorkflowStep[], path: ValuePath, before: ReadonlySet<string>): ReadonlySet<string> {
    const known = new Set(before);
    for (const [index, step] of steps.entries()) {
      this.#checkStep(step, [...path, index], known);
      if (step.output !== undefined) known.add(step.output);
    }
    return known;
  }

  #checkStep(step: WorkflowStep, path: ValuePath, known: ReadonlySet<string>) {
    this.#checkCondition(step.condition, [...path, "condition"], { known, maySecret: false });
    const forEach = "for_each" in step ? step.for_each : undefined;
    this.#checkValue(forEach, [...path, "for_each"], { known, maySecret: false });
    const inside = forEach === undefined ? known : new Set([...known, itemName(forEach), LOCAL_NAMES.index]);
    if ("tool" in step) this.#checkInput(step, path, inside);
    const inner = innerSteps(step);
    if (inner?.key === "steps") this.#checkSteps(inner.steps, [...path, "steps"], inside);
    // Branches run at the same time, so none sees the outputs of another.
    for (const [index, branch] of inner?.key === "parallel" ? inner.steps.entries() : []) {
      this.#checkStep(branch, [...path, "parallel", index], inside);
    }
  }

  #checkInput({ tool, input }: Pick<ToolStep, "tool" | "input">, path: ValuePath, known: ReadonlySet<string>) {
    this.#checkValue(input, [...path, "input"], { known, maySecret: !TELLING_TOOLS.includes(tool) });
  }

  #checkCondition(condition: string | boolean | undefined, path: ValuePath, names: Names) {
    if (typeof condition !== "string") return;
    const start = condition.trimStart().startsWith("{{") ? condition.indexOf("{{") + 2 : 0;
    const [expression] = this.#parse(path, () => [parseCondition(condition)]);
    if (expression) this.#checkExpression(expression, path, start, names);
  }

  /** Checks every text in a value. */
  #checkValue(value: unknown, path: ValuePath, names: Names): void {
    if (this.problems.length >= MOST_PROBLEMS) return;
    if (typeof value === "string") {
      const parts = this.#parse(path, () => parseTemplate(value).filter((part) => typeof part !== "string"));
      for (const { expression, at } of parts) this.#checkExpression(expression, path, at, names);
    } else if (typeof value === "object" && value !== null) {
      for (const [key, member] of Object.entries(value)) {
        this.#checkValue(member, [...path, Array.isArray(value) ? Number(key) : key], names);
      }
    }
  }

  #parse<Part>(path: ValuePath, parse: () => Part[]): Part[] {
    try {
      return parse();
    } catch (cause) {
      if (!(cause instanceof ExpressionProblem)) throw cause;
      const message = `The expression is wrong: ${cause.message}`;
      this.problems.push({ level: "error", path, offset: cause.at, message });
      return [];
    }
  }

  #checkExpression(expression: Expression, path: ValuePath, offset: number, names: Names) {
    for (const named of pathsIn(expression)) {
      const problem = this.#findProblem(named, names);
      if (problem) this.problems.push({ level: "error", path, offset: offset + named.at, ...problem });
    }
  }

  #findProblem(named: Path, { known, maySecret }: Names): { message: string; hint?: string } | undefined {
    const { root, keys } = named;
    if (root === "secrets" && !maySecret) {
      return {
        message: `${formatPath(named)} must not be used here: people or agents would see it`,
        hint: "Secrets are for the input of http, shell and MCP tools",
      };
    }
    if (!known.has(root)) return this.#unknownName(root, known);
    if (root === "secrets") return this.#findSecretProblem(keys[0]);
    const declared = this.#definition.inputs ?? {};
    const [input] = keys;
    if (root !== "inputs" || typeof input !== "string" || Object.hasOwn(declared, input)) return undefined;
    const meant = findNearest(input, Object.keys(declared));
    return { message: `The workflow has no input ${input}`, ...(meant && { hint: `Did you mean inputs.${meant}?` }) };
  }

  #findSecretProblem(name: string | number | undefined) {
    if (name === undefined || this.#secrets === undefined || this.#secrets.includes(String(name))) return undefined;
    const meant = findNearest(String(name), this.#secrets);
    return {
      message: `workflows.secrets does not allow ${name}`,
      hint:
        meant === undefined
          ? `Allow it in your settings: [workflows] secrets = ["${name}"]`
          : `Did you mean secrets.${meant}?`,
    };
  }

  #unknownName(root: string, known: ReadonlySet<string>) {
    const setter = this.#outputs.get(root);
    if (setter !== undefined) {
      return { message: `${root} has no value here: it is the output of ${setter}, which is not done before` };
    }
    const meant = findNearest(root, [...known, ...this.#outputs.keys()]);
    const names = [...known].filter((name) => name !== "secrets").join(", ");
    return {
      message: `Nothing ever has the name ${root}`,
      hint: meant === undefined ? `There are: ${names}` : `Did you mean ${meant}?`,
    };
  }
}

function itemName(forEach: NonNullable<ToolStep["for_each"]>) {
  return typeof forEach === "object" && !Array.isArray(forEach) ? (forEach.as ?? "item") : "item";
}
