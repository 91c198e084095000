import { isDeepStrictEqual } from "node:util";
import { parse, stringify } from "yaml";
import { instant } from "../../../src/core/instant.ts";
import { hashDefinition } from "../../../src/core/workflow/definition/definition-hash.ts";
import { EvaluationProblem, evaluate } from "../../../src/core/workflow/definition/evaluate.ts";
import { parseExpression } from "../../../src/core/workflow/definition/expression.ts";
import { ExpressionProblem } from "../../../src/core/workflow/definition/expression-token.ts";
import { graphOf } from "../../../src/core/workflow/definition/graph.ts";
import { fillTemplate } from "../../../src/core/workflow/definition/template.ts";
import { ValueTooLarge } from "../../../src/core/workflow/definition/value-size.ts";
import { CronProblem, nextDue, parseCron } from "../../../src/core/workflow/trigger/cron.ts";
import { readWorkflow } from "../../../src/workflow/definition/read-workflow.ts";
import { Chance } from "../walk/chance.ts";
import { anyCron, anyDefinition, anyExpression, mutatedYaml, repeatedPiece, yamlNoise } from "./generate.ts";

const EXPECTED = [ExpressionProblem, EvaluationProblem, ValueTooLarge, CronProblem];
const SCOPE = { a: { b: [1, "x", { a: null }] }, one: "text", answer: 3, c: true };
const NOW = instant(Date.parse("2026-03-28T23:59:00Z"));
const ZONES = ["UTC", "Europe/Berlin", "America/Sao_Paulo", "Asia/Kathmandu"];

/** What came of the inputs. */
export interface FuzzResult {
  inputs: number;
  /** How many of the files were valid workflows: neither all nor none, or the generator is of no use. */
  valid: number;
  problems: string[];
  /** The most processor time that one input took. */
  slowestMs: number;
}

/** Reads generated and mutated definitions, expressions and schedules; none may crash, hang or reach a prototype. */
export function fuzzWorkflows(count: number, seed: number): FuzzResult {
  const chance = new Chance(seed);
  const result: FuzzResult = { inputs: 0, valid: 0, problems: [], slowestMs: 0 };
  for (let index = 0; index < count; index += 1) {
    const [name, make, check] = chance.pick(KINDS);
    const input = make(chance);
    const before = process.cpuUsage();
    const problem = findProblem(input, check, result, chance);
    const { user, system } = process.cpuUsage(before);
    result.slowestMs = Math.max(result.slowestMs, (user + system) / 1000);
    result.inputs += 1;
    if (problem !== undefined) result.problems.push(`${name} ${index} of seed ${seed}: ${problem}: ${show(input)}`);
  }
  if (Object.hasOwn(Object.prototype, "polluted")) result.problems.push("a prototype was changed");
  return result;
}

type Check = (input: string, result: FuzzResult, chance: Chance) => string | undefined;

const KINDS: ReadonlyArray<readonly [name: string, make: (chance: Chance) => string, check: Check]> = [
  ["definition", anyDefinition, checkFile],
  ["definition", anyDefinition, checkFile],
  ["mutated file", mutatedYaml, checkFile],
  ["mutated file", mutatedYaml, checkFile],
  ["noise", yamlNoise, checkFile],
  ["repeated piece", repeatedPiece, checkFile],
  ["expression", anyExpression, checkExpression],
  ["template", (chance) => `x {{ ${anyExpression(chance)} }} y {{ ${anyExpression(chance)} }}`, checkTemplate],
  ["schedule", anyCron, checkCron],
];

function findProblem(input: string, check: Check, result: FuzzResult, chance: Chance): string | undefined {
  try {
    return check(input, result, chance);
  } catch (error) {
    if (EXPECTED.some((kind) => error instanceof kind)) return undefined;
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  }
}

/** A file is either valid, or each mistake has a place in it. */
function checkFile(text: string, result: FuzzResult): string | undefined {
  const { definition, hash, problems } = readWorkflow(text, "w.yml");
  const lines = text.split("\n").length + 1;
  const isPlaced = problems.every(
    ({ line = 0, column = 0, message }) => line >= 1 && line <= lines && column >= 1 && message !== "",
  );
  if (!isPlaced) return `a problem without a place: ${JSON.stringify(problems)}`;
  const hasError = problems.some(({ level }) => level === "error");
  if (hasError === (definition !== undefined)) return "neither valid nor wrong";
  if (!definition) return undefined;
  result.valid += 1;
  graphOf(definition);
  const again = readWorkflow(stringify(definition), "w.yml");
  if (again.hash !== hash || hashDefinition(definition) !== hash) return "written again, it has another hash";
  // Our reader and the plain one agree about the data.
  const plain: unknown = parse(text, { merge: false });
  return isDeepStrictEqual(plain, definition) ? undefined : "the data differs from the file";
}

function checkExpression(text: string): string | undefined {
  return checkValue(evaluate(parseExpression(text), SCOPE));
}

function checkTemplate(text: string): string | undefined {
  return checkValue(fillTemplate({ a: [text] }, SCOPE));
}

/** A value is JSON: nothing of the program can be reached by it. */
function checkValue(value: unknown): string | undefined {
  if (typeof value === "function" || typeof value === "symbol") return "a value of the program";
  if (typeof value !== "object" || value === null) return undefined;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== Array.prototype) return "an object of the program";
  if (value === Object.prototype || value === Array.prototype) return "a prototype";
  return Object.values(value)
    .map(checkValue)
    .find((problem) => problem !== undefined);
}

function checkCron(text: string, _result: FuzzResult, chance: Chance): string | undefined {
  const cron = parseCron(text);
  const next = nextDue(cron, chance.pick(ZONES), NOW);
  return next !== undefined && next > NOW ? undefined : `the next time is ${next}`;
}

function show(input: string) {
  return JSON.stringify(input.slice(0, 400));
}
