import { stringify } from "yaml";
import { STARTERS } from "../../../src/workflow/starter/starters.ts";
import type { Chance } from "../walk/chance.ts";

const NAMES = ["a", "b", "analysis", "answer", "one", "two", "constructor", "__proto__", "toString", "a b", "", "ü"];
const TOOLS = ["shell", "post_question", "agent", "http", "github_create_pr", "shel", "server.tool", "", "a b"];
const TEXTS = [
  "plain",
  "{{ analysis.confidence }}",
  "{{ a || b }} and {{ c['d'] }}",
  "{{ unclosed",
  "}}",
  "{{ a.__proto__.b }}",
  "{{ ''.constructor }}",
  "{{ length(a) > 3 && !b }}",
  "{{ 1 + 1 }}",
  "{{ '}}' }}",
  "\u0000\u2028\u202e",
  "0 */6 * * *",
  "* * 31 2 *",
  "10m",
  "!tag",
  "&anchor",
  "*alias",
  "- - -",
  ": :",
  "| >",
];
const TOKENS = ["a", ".", "[", "]", "(", ")", "!", "&&", "||", "==", "<", ">=", "'", '"', "\\", "1", "-1.5e3", "null"];
const MORE_TOKENS = [
  "true",
  "length(",
  "contains(",
  "default(",
  "json(",
  ",",
  " ",
  "__proto__",
  "constructor",
  "{{",
  "}}",
];
/** Keys of the values that expressions see, and of the prototypes behind them. */
const KEYS = ["b", "b[1]", "b[2].a", "length", "toString", "valueOf", "hasOwnProperty", "map"];
const CRON_PARTS = [
  "*",
  "1",
  "59",
  "60",
  "*/5",
  "1-5",
  "5-1",
  "mon",
  "jan",
  "sun-sat",
  "1,2",
  "/",
  "-",
  ",",
  "7",
  "1/2",
];
/** Pieces of YAML that change what is around them. */
const YAML_PIECES = [
  ..."[]{}:,-?|>&*!%@`\"'#\n\t ".split(""),
  "---\n",
  "...\n",
  "<<: *a\n",
  "&a ",
  "*a",
  "!!js/function 'x' ",
  "? ",
  "%YAML 1.1\n",
  "\r\n",
  "\u0085",
  "\ufeff",
  "__proto__: 1\n",
  "constructor: {}\n",
  "[[[[[[[[[[",
  "{a: {a: {a: ",
  "  - id: x\n",
  "goto: analyze\n",
  "suspend: true\n",
];

/** Any value that YAML can hold, in places where it does not belong. */
function anyValue(chance: Chance, depth = 0): unknown {
  const kind = chance.between(0, depth > 5 ? 4 : 7);
  if (kind === 0) return chance.pick(TEXTS);
  if (kind === 1) return chance.pick([0, 1, -1, 3.5, 1e21, 1e-7, 2 ** 53]);
  if (kind === 2) return chance.pick([true, false, null]);
  if (kind <= 4) return chance.pick(NAMES);
  if (kind === 5) return Array.from({ length: chance.between(0, 3) }, () => anyValue(chance, depth + 1));
  return Object.fromEntries(
    Array.from({ length: chance.between(0, 3) }, () => [chance.pick(NAMES), anyValue(chance, depth + 1)]),
  );
}

/** Mostly the value that belongs there, sometimes any other one. */
function mostly(chance: Chance, right: () => unknown): unknown {
  return chance.is(1 / 25) ? anyValue(chance) : right();
}

function anyStep(chance: Chance, depth: number): Record<string, unknown> {
  const step: Record<string, unknown> = { id: mostly(chance, () => `s${chance.between(0, 39)}`) };
  const kind = chance.between(0, depth > 3 ? 7 : 11);
  const inner = () => Array.from({ length: chance.between(1, 3) }, () => anyStep(chance, depth + 1));
  if (kind < 8) step["tool"] = mostly(chance, () => chance.pick(TOOLS.slice(0, 5)));
  else if (kind < 10) step["parallel"] = mostly(chance, inner);
  else step["steps"] = mostly(chance, inner);
  const more: Record<string, () => unknown> = {
    input: () => ({ argv: [chance.pick(TEXTS), chance.pick(TEXTS)] }),
    condition: () => chance.pick(["a < 3", "true", "one || two", "inputs.a == 'x'", "{{ a }}", true]),
    output: () => chance.pick(["one", "two", "a"]),
    suspend: () => chance.is(1 / 2),
    retry: () => chance.pick([1, { times: 2, delay: "1s" }]),
    timeout: () => chance.pick(["10m", "2h"]),
    for_each: () => chance.pick(["{{ one }}", [1, 2], { in: "{{ two }}", as: "file", at_once: 2 }]),
    idempotent: () => true,
  };
  for (const [key, make] of Object.entries(more)) if (chance.is(1 / 4)) step[key] = mostly(chance, make);
  if (chance.is(1 / 40)) step[chance.pick(NAMES)] = anyValue(chance);
  return step;
}

/** The YAML of a definition that is right in most places. */
export function anyDefinition(chance: Chance): string {
  const definition: Record<string, unknown> = {
    name: mostly(chance, () => "w"),
    steps: mostly(chance, () => Array.from({ length: chance.between(1, 5) }, () => anyStep(chance, 0))),
  };
  const more: Record<string, () => unknown> = {
    inputs: () => ({ a: { type: "string", default: "x" }, b: { type: "number" } }),
    triggers: () => [{ label_added: "x" }, { schedule: chance.pick(["0 * * * *", "61 * * * *"]), timezone: "UTC" }],
    on_resume: () => ({ inject: { answer: "{{ pendingQuestion.answer }}" }, goto: `s${chance.between(0, 39)}` }),
    on_timeout: () => ({ tool: "shell" }),
    on_failure: () => ({ steps: [anyStep(chance, 3)] }),
    concurrency: () => chance.pick(["{{ issueNumber }}", { key: "a", when_busy: "skip" }]),
    max_running: () => 3,
    budget: () => ({ per_run: 1 }),
  };
  for (const [key, make] of Object.entries(more)) if (chance.is(1 / 3)) definition[key] = mostly(chance, make);
  return stringify(definition, { aliasDuplicateObjects: false });
}

/** The YAML of a starting point with a few pieces removed, doubled, swapped or put in. */
export function mutatedYaml(chance: Chance): string {
  let text = chance.pick(Object.values(STARTERS)).text;
  for (let left = chance.between(1, 6); left > 0; left -= 1) {
    const at = chance.between(0, text.length);
    const end = Math.min(text.length, at + chance.between(0, 19));
    const kind = chance.between(0, 3);
    if (kind === 0) text = text.slice(0, at) + text.slice(end);
    else if (kind === 1) text = text.slice(0, end) + text.slice(at);
    else if (kind === 2) text = text.slice(0, at) + String.fromCodePoint(chance.between(0, 0x2ff)) + text.slice(at);
    else text = text.slice(0, at) + chance.pick(YAML_PIECES) + text.slice(at);
  }
  return text;
}

/** Pieces of YAML in any order: mostly nonsense. */
export function yamlNoise(chance: Chance): string {
  const pieces = [...YAML_PIECES, "name: w\n", "steps:\n", "a: ", "b", "  ", "\n"];
  return Array.from({ length: chance.between(1, 200) }, () => chance.pick(pieces)).join("");
}

/** One short piece very often: what is slow or deep shows itself. */
export function repeatedPiece(chance: Chance): string {
  const piece = chance.pick([...YAML_PIECES, "a: &a [*a]\n", "- ", "a:\n  ", "{{ ", "'\\'", "name: w\n", "- {"]);
  const length = chance.pick([100, 1_000, 8_000]);
  return chance.pick(["", "name: w\nsteps:\n", 'a: "']) + piece.repeat(Math.ceil(length / piece.length));
}

/** An expression: half of the time words in any order, else one that can be parsed. */
export function anyExpression(chance: Chance): string {
  if (chance.is(1 / 2)) return rightExpression(chance, 0);
  const tokens = [...TOKENS, ...MORE_TOKENS];
  return Array.from({ length: chance.between(0, 19) }, () => chance.pick(tokens)).join(chance.pick(["", " "]));
}

function rightExpression(chance: Chance, depth: number): string {
  const inner = () => rightExpression(chance, depth + 1);
  const kind = chance.between(0, depth > 2 ? 2 : 8);
  if (kind < 2) return ["a", ...Array.from({ length: chance.between(0, 2) }, () => chance.pick(KEYS))].join(".");
  if (kind === 2) return chance.pick(["one", "answer", "c", "toString", "valueOf", "1", "'x'", "null"]);
  if (kind < 5) return `${inner()} ${chance.pick(["==", "!=", "<", "&&", "||", "||"])} ${inner()}`;
  if (kind === 5) return `!${inner()}`;
  if (kind === 6) return `(${inner()})`;
  return kind === 7 ? `default(${inner()}, ${inner()})` : `json(${inner()})`;
}

export function anyCron(chance: Chance): string {
  const field = () => Array.from({ length: chance.between(1, 2) }, () => chance.pick(CRON_PARTS)).join("");
  return Array.from({ length: chance.is(1 / 20) ? chance.between(0, 8) : 5 }, field).join(" ");
}
