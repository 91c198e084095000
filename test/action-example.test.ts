import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { COMMENTED, KEY, endService, runStep } from "./action-step.ts";
import { GITHUB_TOKEN, GithubServer } from "./channels/github-server.ts";

const PAGE = fileURLToPath(new URL("../docs/github-action.md", import.meta.url));
const Step = z.strictObject({
  id: z.string().optional(),
  if: z.string().optional(),
  uses: z.string().optional(),
  run: z.string().optional(),
  with: z.record(z.string(), z.unknown()).optional(),
  env: z.record(z.string(), z.string()).optional(),
});
const Workflow = z.looseObject({
  jobs: z.record(
    z.string(),
    z.strictObject({ if: z.string().optional(), "runs-on": z.string(), steps: z.array(Step) }),
  ),
});

/** The examples of the page that ask in an issue: a question of the workflow, and one of an agent. */
const [OWN = "", AGENTS = ""] = [...readFileSync(PAGE, "utf8").matchAll(/^```yaml\n(on:[\s\S]*?)^```$/gm)]
  .map(([, text = ""]) => text)
  .filter((text) => text.includes("channel: issue"));

const folder = mkdtempSync(join(tmpdir(), "askd-action-example-"));
let service: GithubServer;
let runs = 0;

beforeEach(async () => {
  service = await GithubServer.start();
});
afterEach(() => endService(service));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Programs of the examples: each notes that it ran, and with which session. */
const PROGRAMS = {
  "agent.sh": `#!/bin/sh
echo "agent: $1" >> "$TRACE"
mkdir -p "$HOME/.claude/projects" && echo asked > "$HOME/.claude/projects/session.jsonl"
echo changed > a.txt
echo "question=Which approach?" >> "$GITHUB_OUTPUT"
`,
  "fix.sh": `#!/bin/sh
echo "fix: $APPROACH" >> "$TRACE"
`,
  claude: `#!/bin/sh
session=$(cat "$HOME/.claude/projects/session.jsonl" 2>/dev/null || echo none)
for text; do :; done
[ "$2" = --continue ] && how=continued || how=new
echo "claude: $how, session $session, a.txt $(cat a.txt)" >> "$TRACE"
printf %s "$text" > "$TRACE.message"
`,
};

interface Happened {
  name: "issues" | "issue_comment";
  event: object;
}

/** What happened to an issue with these labels. */
function happened(name: Happened["name"], labels: string[], number = 123): Happened {
  const issue = { ...COMMENTED.issue, number, labels: labels.map((label) => ({ name: label })) };
  return { name, event: { ...COMMENTED, action: name === "issues" ? "labeled" : "created", issue } };
}

/** Runs the jobs of a workflow on a machine of its own, as its text says; returns the programs that ran. */
async function play(text: string, { name, event }: Happened) {
  runs += 1;
  const home = join(folder, `home-${runs}`);
  const tree = join(folder, `tree-${runs}`);
  for (const each of [home, tree]) mkdirSync(each);
  const trace = join(home, "trace");
  for (const [file, program] of Object.entries(PROGRAMS)) {
    const place = join(file === "claude" ? home : tree, file);
    writeFileSync(place, program);
    chmodSync(place, 0o755);
  }
  const own = { HOME: home, GITHUB_WORKSPACE: tree, GITHUB_RUN_ID: `5${runs}`, TRACE: trace };
  const path = `${home}${delimiter}${process.env["PATH"]}`;
  commit(tree, own);
  for (const [job, { if: condition, steps }] of Object.entries(Workflow.parse(parse(text)).jobs)) {
    const known: Record<string, { outputs: Record<string, string> }> = {};
    const github = { event, event_name: name, token: GITHUB_TOKEN };
    const context = { github, secrets: { ASKD_KEY: KEY }, steps: known };
    if (!isMet(condition, context)) continue;
    for (const [index, step] of steps.entries()) {
      if (!isMet(step.if, context)) continue;
      const fill = (value: unknown) =>
        String(value).replace(/\$\{\{ ([\w.]+) \}\}/g, (_, path: string) => textAt(context, path));
      const filled = (values: object = {}) =>
        Object.fromEntries(Object.entries(values).map(([each, value]) => [each, fill(value)]));
      const env = { ...own, GITHUB_JOB: job, GITHUB_ACTION: `step${index}`, ...filled(step.env) };
      if (step.uses === "<owner>/<repo>@v1") {
        const { exit, log, outputs } = await runStep(service, filled(step.with), { event, env });
        expect({ exit, log: exit === 0 ? "" : log }).toEqual({ exit: 0, log: "" });
        known[step.id ?? ""] = { outputs };
      } else if (step.run !== undefined)
        known[step.id ?? ""] = { outputs: run(step.run, { ...env, PATH: path }, tree) };
    }
  }
  const ran = existsSync(trace) ? readFileSync(trace, "utf8").trim().split("\n") : [];
  return { ran, message: existsSync(`${trace}.message`) ? readFileSync(`${trace}.message`, "utf8") : "" };
}

function commit(cwd: string, env: Record<string, string>) {
  writeFileSync(join(cwd, "a.txt"), "as it was\n");
  const options = { cwd, env: { PATH: process.env["PATH"], ...env }, stdio: "pipe" } as const;
  execFileSync("git", ["init", "-q"], options);
  execFileSync("git", ["add", "."], options);
  const author = ["-c", "user.name=ada", "-c", "user.email=ada@example.com"];
  execFileSync("git", [...author, "commit", "-qm", "first"], options);
}

function run(script: string, env: Record<string, string>, cwd: string) {
  const file = join(cwd, ".git", "output");
  writeFileSync(file, "");
  execFileSync("bash", ["-ec", script], { cwd, env: { ...env, GITHUB_OUTPUT: file }, stdio: "pipe" });
  const lines = readFileSync(file, "utf8").split("\n");
  return Object.fromEntries(
    lines.map((line): [string, string] => [line.replace(/=.*/, ""), line.replace(/^[^=]*=/, "")]),
  );
}

/** A condition as GitHub reads it, in the forms that the page uses. */
function isMet(condition: string | undefined, context: object): boolean {
  if (condition === undefined) return true;
  return condition.split(" && ").every((part) => {
    const [, list, item] = /^contains\(([\w.*]+), '([^']*)'\)$/.exec(part) ?? [];
    if (list !== undefined) return [find(context, list)].flat().includes(item);
    const [, path = part, wanted] = /^([\w.]+) == '([^']*)'$/.exec(part) ?? [];
    if (!/^[\w.]+$/.test(path)) throw new Error(`this test cannot read the condition ${part}`);
    return wanted === undefined ? Boolean(find(context, path)) : find(context, path) === wanted;
  });
}

function textAt(context: object, path: string): string {
  const found = find(context, path);
  return typeof found === "string" ? found : "";
}

function find(context: unknown, path: string): unknown {
  let found = context;
  for (const name of path.split(".")) {
    if (name === "*") continue;
    const read = (value: unknown) => (value as Record<string, unknown> | undefined)?.[name];
    found = Array.isArray(found) ? found.map(read) : read(found);
  }
  return found;
}

const questions = () => service.comments.filter(({ body }) => body.includes("Question ID"));

test.each([
  ["its own question", () => OWN],
  ["the question of an agent", () => AGENTS],
])("the example with %s asks only in the issues that it is for, whoever comments elsewhere", async (_name, example) => {
  const others = [
    happened("issue_comment", [], 8),
    happened("issue_comment", ["bug"], 9),
    happened("issues", ["bug"], 9),
  ];
  for (const other of others) expect((await play(example(), other)).ran).toEqual([]);
  expect(questions()).toEqual([]);
  await play(example(), happened("issues", ["bug", "auto-fix"]));
  expect(questions()).toHaveLength(1);
});

test("the example with its own question goes on once with the answer", async () => {
  await play(OWN, happened("issues", ["auto-fix"]));
  service.add("me too", "stranger");
  expect((await play(OWN, happened("issue_comment", ["auto-fix"]))).ran).toEqual([]);
  service.add("B", "mika");
  expect((await play(OWN, happened("issue_comment", ["auto-fix"]))).ran).toEqual(["fix: early"]);
  expect((await play(OWN, happened("issue_comment", ["auto-fix"]))).ran).toEqual([]);
  expect(questions()).toHaveLength(1);
});

test("the example with an agent runs it once, and resumes its session with the answer and its changes", async () => {
  const asked = await play(AGENTS, happened("issues", ["auto-fix"]));
  expect(asked.ran).toEqual(["agent: Fix the null reference"]);
  for (const name of ["issues", "issue_comment"] as const)
    expect((await play(AGENTS, happened(name, ["auto-fix"]))).ran).toEqual([]);
  service.add("Add a null check", "mika");
  const { ran, message } = await play(AGENTS, happened("issue_comment", ["auto-fix"]));
  expect(ran).toEqual(["claude: continued, session asked, a.txt changed"]);
  expect(message).toBe('You asked: "Which approach?"\nAnswer by @mika: "Add a null check"');
  expect((await play(AGENTS, happened("issue_comment", ["auto-fix"]))).ran).toEqual([]);
  expect(questions()).toHaveLength(1);
});

test("the example with an agent starts a new session with the answer if the first one is lost", async () => {
  await play(AGENTS, happened("issues", ["auto-fix"]));
  service.pulls.blobs.clear();
  service.add("Add a null check", "mika");
  const { ran, message } = await play(AGENTS, happened("issue_comment", ["auto-fix"]));
  expect(ran).toEqual(["claude: new, session none, a.txt as it was"]);
  for (const part of ["The task: Fix the null reference", '"Which approach?"', '"Add a null check"', "a.txt"])
    expect(message).toContain(part);
});
