import { describe, expect, test } from "vitest";
import { formatProblem } from "../../core/text/file-problem.ts";
import { AUTOFIX } from "../starter/autofix.ts";
import { readWorkflow } from "./read-workflow.ts";

const TOOLS = { names: ["post_question", "shell", "http", "agent", "github_create_pr"], mayHaveMore: false };

/** The problems of a file as a person reads them. */
function problemsOf(text: string, tools?: typeof TOOLS): string[] {
  return readWorkflow(text, "w.yml", tools).problems.map(
    (problem) => `${formatProblem(problem)}${problem.hint === undefined ? "" : ` | ${problem.hint}`}`,
  );
}

const lines = (...each: string[]) => `${each.join("\n")}\n`;

/** A workflow of which only the steps matter. */
const withSteps = (...steps: string[]) => lines("name: w", "steps:", ...steps);
const STEP = "  - { id: one, tool: shell, input: { argv: [ls] } }";

describe("the example of the design document", () => {
  test("is read unchanged", () => {
    const { definition, problems } = readWorkflow(AUTOFIX, "autofix.yml");
    expect(problems).toEqual([]);
    expect(definition?.triggers).toEqual([{ label_added: "auto-fix" }, { schedule: "0 */6 * * *" }]);
    expect(definition?.steps.map(({ id }) => id)).toEqual([
      "analyze",
      "check_confidence",
      "apply_fix",
      "run_checks",
      "create_pr",
    ]);
    expect(definition?.steps[1]).toMatchObject({ condition: "analysis.confidence < 80", suspend: true });
    expect(definition?.on_timeout).toMatchObject({
      tool: "update_github_issue",
      input: { addLabels: ["auto-fix-skip"] },
    });
  });

  test("has a hash that changes with its meaning and not with its layout", () => {
    const hashOf = (text: string) => readWorkflow(text, "a.yml").hash;
    const hash = hashOf(AUTOFIX);
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(
      hashOf(AUTOFIX.replaceAll(/ *#.*$/gm, "").replace("[github, slack]", "\n        - github\n        - slack")),
    ).toBe(hash);
    expect(hashOf(AUTOFIX.replace("< 80", "< 8"))).not.toBe(hash);
    expect(hashOf(AUTOFIX.replace("timeoutHours: 24", "timeoutHours: '24'"))).not.toBe(hash);
  });
});

describe("a mistake is named with its place and what to write", () => {
  test.each([
    ["nothing", "", ["w.yml:1:1: The file is empty"]],
    ["a list", "- a\n", ["w.yml:1:1: Write a mapping with name and steps"]],
    ["no steps", "name: w\n", ["w.yml:1:1: steps is missing; write a list of steps"]],
    [
      "a mistyped key",
      lines("name: w", "steps:", STEP, "trigers: []"),
      ["w.yml:4:1: There is no key trigers here | Did you mean triggers?"],
    ],
    [
      "a mistyped key of a step",
      withSteps("  - id: one", "    tool: shell", "    conditon: true"),
      ["w.yml:5:5: There is no key conditon here | Did you mean condition?"],
    ],
    [
      "a mistyped tool key",
      withSteps("  - id: one", "    tol: shell"),
      ["w.yml:4:5: There is no key tol here | Did you mean tool?"],
    ],
    [
      "a mistyped key beside other mistakes",
      withSteps(
        "  - { id: one, tol: shell, outptu: said, input: { argv: [echo, '{{ inptus.x }}'] } }",
        "  - { id: one, tool: shell, bogus: 1, input: { argv: ['{{ said.stdout }}'] } }",
      ),
      [
        "w.yml:3:16: There is no key tol here | Did you mean tool?",
        "w.yml:3:28: There is no key outptu here | Did you mean output?",
        "w.yml:3:68: Nothing ever has the name inptus | Did you mean inputs?",
        "w.yml:4:11: There are two steps with the id one | Give one of them another id",
        "w.yml:4:29: There is no key bogus here | There are: id, condition, output, tool, input, retry, timeout, idempotent, for_each, suspend",
      ],
    ],
    ["a step that does nothing", withSteps("  - id: one"), ["w.yml:3:5: This needs tool, parallel or steps"]],
    [
      "a step without an id",
      withSteps("  - tool: shell"),
      ["w.yml:3:5: id is missing; write a name of letters, digits, - and _, at most 64 characters"],
    ],
    [
      "a wrong inner step",
      withSteps("  - id: both", "    parallel:", "      - id: a", "        tol: x"),
      ["w.yml:6:9: There is no key tol here | Did you mean tool?"],
    ],
    [
      "a wrong trigger",
      lines("name: w", "triggers:", "  - label_aded: x", "steps:", STEP),
      ["w.yml:3:5: There is no key label_aded here | Did you mean label_added?"],
    ],
    [
      "a wrong type",
      lines("name: w", "triggers:", "  - label_added: [x]", "steps:", STEP),
      ["w.yml:3:18: label_added: write the name of a label, at most 64000 characters"],
    ],
    [
      "a wrong retry",
      withSteps("  - id: one", "    tool: shell", "    retry: often"),
      ["w.yml:5:12: retry: write how often to try again, such as 3 or { times: 3, delay: 30s }"],
    ],
    [
      "a wrong part of retry",
      withSteps("  - id: one", "    tool: shell", "    retry: { times: 3, dealy: 1s }"),
      ["w.yml:5:24: There is no key dealy here | Did you mean delay?"],
    ],
    [
      "a wrong duration",
      withSteps("  - id: one", "    tool: shell", "    timeout: soon"),
      ['w.yml:5:14: timeout: write a duration, such as "90s", "10m" or "2h"'],
    ],
    [
      "a wrong budget",
      lines("name: w", "budget: { per_run: free }", "steps:", STEP),
      ["w.yml:2:20: per_run: write an amount in US dollars, such as 5"],
    ],
    [
      "a wrong handler",
      lines("name: w", "steps:", STEP, "on_failure:", "  input: {}"),
      ["w.yml:5:3: This needs tool or steps"],
    ],
    [
      "a broken indentation",
      lines("name: w", "steps:", "  - id: one", "   tool: shell"),
      ["w.yml:4:1: Sequence item without - indicator"],
    ],
    ["two keys of a name", lines("name: w", "name: v", "steps:", STEP), ["w.yml:2:1: The key name is there twice"]],
    [
      "two documents",
      lines("name: w", "---", "name: v"),
      ["w.yml:2:1: A file holds one workflow; remove the second document"],
    ],
    [
      "a schedule",
      lines("name: w", "triggers:", "  - schedule: 0 0 31 2 *", "    timezone: Mars/Olympus", "steps:", STEP),
      [
        'w.yml:3:15: No such month has a day 31 | Write it like "0 */6 * * *"',
        "w.yml:4:15: There is no time zone Mars/Olympus | Write it like Europe/Berlin",
      ],
    ],
  ])("%s", (_case, text, problems) => {
    expect(problemsOf(text)).toEqual(problems);
  });

  test("a tool that does not exist", () => {
    const text = withSteps("  - { id: one, tool: shel }", "  - { id: two, tool: analyze_issue }");
    expect(problemsOf(text, TOOLS)).toEqual([
      "w.yml:3:22: There is no tool shel | Did you mean shell?",
      "w.yml:4:22: There is no tool analyze_issue | There are: post_question, shell, http, agent, github_create_pr",
    ]);
    expect(problemsOf(text)).toEqual([]);
    const { problems, definition } = readWorkflow(text, "w.yml", { ...TOOLS, mayHaveMore: true });
    expect(problems).toMatchObject([{ level: "warning", line: 3, hint: "Did you mean shell?" }]);
    expect(definition).toBeDefined();
  });
});

describe("steps and goto", () => {
  const ASK = "  - { id: ask, tool: post_question, input: { question: Go? }, suspend: true }";

  test.each([
    [
      "two steps with one id",
      withSteps(STEP, STEP),
      ["w.yml:4:11: There are two steps with the id one | Give one of them another id"],
    ],
    [
      "an id that a branch has",
      withSteps(STEP, "  - { id: both, parallel: [{ id: one, tool: shell }] }"),
      ["w.yml:4:34: There are two steps with the id one | Give one of them another id"],
    ],
    [
      "an unknown step in goto",
      lines("name: w", "steps:", ASK, STEP, "on_resume: { goto: onee }"),
      ["w.yml:5:20: There is no step onee | Did you mean one?"],
    ],
    [
      "a goto into a branch",
      lines(
        "name: w",
        "steps:",
        ASK,
        "  - { id: both, parallel: [{ id: inner, tool: shell }] }",
        "on_resume: { goto: inner }",
      ),
      ["w.yml:5:20: goto cannot lead into another step; inner is inside one | Name a step of the outer list"],
    ],
    [
      "a cyclic goto",
      lines("name: w", "steps:", STEP, ASK, "on_resume: { goto: one }"),
      ["w.yml:5:20: goto one leads back to the question of ask, which would be asked for ever | Name a step after ask"],
    ],
    [
      "a goto to the question itself",
      lines("name: w", "steps:", ASK, "on_resume: { goto: ask }"),
      ["w.yml:4:20: goto ask leads back to the question of ask, which would be asked for ever | Name a step after ask"],
    ],
    [
      "on_resume without a question",
      lines("name: w", "steps:", STEP, "on_resume: { goto: one }"),
      ["w.yml:4:1: No step has suspend: true, so on_resume never happens"],
    ],
    [
      "a tool that cannot suspend",
      withSteps("  - { id: one, tool: shell, suspend: true }"),
      ["w.yml:3:38: Only post_question can suspend a run; shell asks nobody | Remove suspend"],
    ],
    [
      "a handler that would wait",
      lines("name: w", "steps:", STEP, "on_failure: { steps: [{ id: a, tool: post_question, suspend: true }] }"),
      ["w.yml:4:62: A step of on_timeout or on_failure cannot wait for an answer | Remove suspend"],
    ],
  ])("%s", (_case, text, problems) => {
    expect(problemsOf(text)).toEqual(problems);
  });
});

describe("names in expressions", () => {
  const echo = (id: string, text: string, more = "") =>
    `  - { id: ${id}, tool: shell, input: { argv: ["${text}"] }${more} }`;

  test.each([
    [
      "a name that nothing has",
      withSteps(echo("a", "hi {{ analisys.x }}", ", output: analysis"), echo("b", "{{ analisys }}")),
      [
        "w.yml:3:50: Nothing ever has the name analisys | Did you mean analysis?",
        "w.yml:4:47: Nothing ever has the name analisys | Did you mean analysis?",
      ],
    ],
    [
      "an output of a later step",
      withSteps(echo("a", "{{ two }}"), echo("b", "x", ", output: two")),
      ["w.yml:3:47: two has no value here: it is the output of b, which is not done before"],
    ],
    [
      "an output of another branch",
      withSteps(
        "  - id: both",
        "    parallel:",
        "      - { id: a, tool: shell, output: left }",
        "      - { id: b, tool: shell, condition: left }",
      ),
      ["w.yml:6:42: left has no value here: it is the output of a, which is not done before"],
    ],
    [
      "an input that is not declared",
      lines("name: w", "inputs: { version: {} }", "steps:", echo("a", "{{ inputs.verison }}")),
      ["w.yml:4:47: The workflow has no input verison | Did you mean inputs.version?"],
    ],
    [
      "a wrong expression",
      withSteps(echo("a", "{{ 1 + 2 }}")),
      ["w.yml:3:49: The expression is wrong: the character + means nothing here"],
    ],
    [
      "a prototype",
      withSteps(echo("a", "{{ inputs.__proto__ }}")),
      ["w.yml:3:54: The expression is wrong: the name __proto__ is not allowed"],
    ],
    [
      "a question outside of on_resume",
      withSteps(echo("a", "{{ pendingQuestion.answer }}")),
      [
        "w.yml:3:47: Nothing ever has the name pendingQuestion | There are: inputs, issueNumber, issue, repo, run, trigger",
      ],
    ],
    [
      "a secret that people would see",
      withSteps("  - { id: a, tool: post_question, input: { question: '{{ secrets.key }}' } }"),
      [
        "w.yml:3:58: secrets.key must not be used here: people or agents would see it | Secrets are for the input of http, shell and MCP tools",
      ],
    ],
    [
      "a condition in braces",
      withSteps("  - { id: a, tool: shell, condition: '{{ nope }}' }"),
      ["w.yml:3:42: Nothing ever has the name nope | There are: inputs, issueNumber, issue, repo, run, trigger"],
    ],
    [
      "a block of text",
      withSteps(
        "  - id: a",
        "    tool: agent",
        "    input:",
        "      prompt: |",
        "        Do this:",
        "        fix {{ nope }} now",
      ),
      ["w.yml:8:16: Nothing ever has the name nope | There are: inputs, issueNumber, issue, repo, run, trigger"],
    ],
    [
      "an item",
      withSteps(echo("a", "{{ file }} {{ index }} {{ item }}", ", for_each: { in: [1], as: file }")),
      [
        "w.yml:3:70: Nothing ever has the name item | There are: inputs, issueNumber, issue, repo, run, trigger, file, index",
      ],
    ],
    [
      "an input that no trigger gives",
      lines("name: w", "inputs: { version: { required: true } }", "triggers:", "  - label_added: x", "steps:", STEP),
      ["w.yml:4:5: A run started by this has no value for the input version | Add inputs: { version: … } here"],
    ],
    [
      "a default of another type",
      lines("name: w", "inputs: { n: { type: number, default: many } }", "steps:", STEP),
      ["w.yml:2:39: The default of n must be a number"],
    ],
  ])("%s", (_case, text, problems) => {
    expect(problemsOf(text)).toEqual(problems);
  });

  test("that have values are accepted", () => {
    const text = lines(
      "name: w",
      "inputs: { version: {} }",
      "steps:",
      echo("a", "{{ inputs.version }} {{ secrets.TOKEN }} {{ issue.title }}", ", output: one"),
      "  - id: each",
      "    for_each: '{{ one.files }}'",
      "    steps:",
      echo("b", "{{ item }} {{ index }} {{ one }}", ", output: two").replace("  -", "    -"),
      echo("c", "{{ two }}").replace("  -", "    -"),
      "  - { id: ask, tool: post_question, input: { question: Go? }, suspend: true, output: asked }",
      echo("d", "{{ answer || asked.answer }}"),
      "on_resume: { inject: { answer: '{{ pendingQuestion.answer }}' } }",
      "on_failure: { tool: shell, input: { argv: ['{{ error.message }}', '{{ one }}'] } }",
    );
    expect(problemsOf(text)).toEqual([]);
  });
});

describe("YAML is plain data within limits", () => {
  const bomb = lines(
    "a: &a [x,x,x,x,x,x,x,x,x]",
    ...["b", "c", "d", "e", "f", "g", "h", "i"].map((name, index) => {
      const before = "abcdefghi"[index];
      return `${name}: &${name} [${Array.from({ length: 9 }, () => `*${before}`).join(",")}]`;
    }),
  );

  test.each([
    ["an alias bomb", bomb, "The file has more than 20000 values"],
    ["an alias that contains itself", "a: &a [*a, *a]\n", "The file is nested deeper than 64 levels"],
    ["many aliases", `a: &a 1\nb: [${"*a,".repeat(101)}]\n`, "The file has more than 100 aliases"],
    [
      "large aliases",
      `a: &a ${"x".repeat(100_000)}\nb: [${"*a,".repeat(20)}]\n`,
      "The file has more than 1000000 characters in all",
    ],
    ["deep lists", "[".repeat(20_000), "The file is nested deeper than 64 levels"],
    [
      "deep mappings",
      Array.from({ length: 100 }, (_, index) => `${" ".repeat(index)}a:`).join("\n"),
      "The file is nested deeper than 64 levels",
    ],
    ["a large file", `name: ${"x".repeat(300_000)}`, "The file has 300006 bytes; at most 262144"],
    ["a tag", "name: !js w\n", "Unresolved tag: !js"],
    ["a tag of YAML", "name: !!str w\n", "Tags such as !name are not allowed"],
    ["a prototype as key", "name: w\n__proto__: { polluted: 1 }\n", "The key __proto__ is not allowed"],
    ["a constructor as key", "name: w\nsteps: [{ constructor: 1 }]\n", "The key constructor is not allowed"],
    ["nothing as key", "name: w\n: 1\n", "A key is a plain text"],
    ["a list as key", "? [a]\n: 1\n", "A key is a plain text"],
    ["a directive", "%YAML 1.1\n---\nname: w\n", "A workflow needs no % line; remove it"],
    ["a number that JSON does not have", "name: .inf\n", "This number is not finite"],
    ["an alias of nothing", "name: *nothing\n", "There is no anchor &nothing before this"],
  ])("%s is refused", (_case, text, message) => {
    const { problems, definition } = readWorkflow(text, "w.yml");
    expect(problems.map((problem) => problem.message)).toEqual([expect.stringContaining(message)]);
    expect(definition).toBeUndefined();
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  test("an alias that is used a few times is fine", () => {
    const text = lines(
      "name: w",
      "steps:",
      "  - { id: a, tool: shell, retry: &often { times: 3 } }",
      "  - { id: b, tool: shell, retry: *often }",
    );
    expect(readWorkflow(text, "w.yml").definition?.steps[1]).toMatchObject({ retry: { times: 3 } });
  });
});
