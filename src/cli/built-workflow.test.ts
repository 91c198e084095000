import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { BuiltScene } from "../../test/built.ts";
import { until } from "../../test/run-dir.ts";

/** Asks by a marker and ends; when it is started with the answer, it works by it and reports. */
const AGENT = `#!/bin/sh
if [ -z "$ASKD_ANSWER_FILE" ]; then
  cat > ../../../prompt.txt
  printf '<<ASK_HUMAN>>\\n{"question": "Which way?", "options": ["guard", "early"]}\\n<</ASK_HUMAN>>\\n'
  exit 0
fi
grep -o 'early' "$ASKD_ANSWER_FILE" | head -n 1 > fix.txt
printf '{"status": "completed", "summary": "Fixed.", "output": {"fixed": true}}\\n'
`;

const YAML = `name: fix
inputs: { what: { required: true } }
steps:
  - id: fix
    tool: agent
    input:
      agent: scripted
      prompt: "Fix this: {{ inputs.what }}"
      schema: { type: object, required: [fixed], properties: { fixed: { type: boolean } } }
    output: done
  - id: check
    tool: shell
    input: { argv: [cat, fix.txt] }
    output: checked
  - id: approve
    tool: post_question
    input: { question: "Take {{ checked.stdout }}?", options: [Take, Leave] }
    suspend: true
  - id: finish
    tool: shell
    input: { argv: [test, -e, ../../../go] }
`;

/** A project in git with the workflow, and the agent in the settings. */
function aProject(): BuiltScene {
  const at = new BuiltScene();
  const agent = at.program("agent.sh", AGENT);
  mkdirSync(join(at.home, "config"), { recursive: true });
  writeFileSync(join(at.home, "config", "config.toml"), `[agents.scripted]\nargv = ["${agent}"]\n`, { mode: 0o600 });
  const folder = join(at.project, ".askd", "workflows");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "fix.yml"), YAML);
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", ...args], { cwd: at.project });
  git("init", "--quiet", "--initial-branch=main");
  git("add", "--all");
  git("commit", "--quiet", "-m", "Begin");
  return at;
}

/** The output of `workflow show --json`, once the run has this status. */
async function untilStatus(at: BuiltScene, status: string): Promise<Record<string, unknown>> {
  let last = "";
  try {
    return await until(`the workflow is ${status}`, async () => {
      last = (await at.type("workflow", "show", "1", "--json")).stdout.toString();
      const state = JSON.parse(last) as Record<string, unknown>;
      return state["status"] === status ? state : undefined;
    });
  } catch (error) {
    throw new Error(`it says: ${last}`, { cause: error });
  }
}

test("a workflow runs by the built program: approved, its agent asks and is resumed, then cancelled, repeated, shown", async () => {
  const at = aProject();
  const refused = await at.type("workflow", "run", "fix", "--input", "what=cart");
  expect([refused.exit, refused.stderr]).toEqual([7, expect.stringContaining("askd workflow approve fix")]);
  expect((await at.type("workflow", "approve", "fix")).stdout.toString()).toContain("fix is approved");
  const started = await at.type("workflow", "run", "fix", "--input", "what=The cart is broken");
  expect([started.exit, started.stdout.toString()]).toEqual([0, "1\n"]);

  await until("the agent asks", async () =>
    (await at.type("list", "--awaiting", "--json")).stdout.toString().includes("Which way?"),
  );
  expect(readFileSync(join(at.project, "prompt.txt"), "utf8")).toContain('Fix this: "The cart is broken"');
  expect((await at.type("answer", "2", "early")).exit).toBe(0);

  const suspended = await untilStatus(at, "suspended");
  expect(suspended).toMatchObject({
    workflow: "fix",
    issueNumber: null,
    currentStep: "approve",
    checkpoint: {
      step: "approve",
      data: { done: { fixed: true }, checked: { stdout: "early\n" }, inputs: { what: "The cart is broken" } },
      pendingQuestionId: expect.stringMatching(/^q_/),
    },
    suspendedAt: expect.any(String),
    resumedAt: null,
  });
  const shown = (await at.type("workflow", "show", "1")).stdout.toString();
  expect(shown).toMatch(/✓ fix +agent +completed/);
  expect(shown).toContain("Take early");
  expect((await at.type("workflow", "retry", "1", "--from", "fix")).exit).toBe(6);

  expect((await at.type("answer", "1", "Take")).exit).toBe(0);
  const failed = await untilStatus(at, "failed");
  expect(failed).toMatchObject({ reason: "exit_code", currentStep: "finish", resumedAt: expect.any(String) });
  const history = failed["history"] as Array<{ type: string; step?: string }>;
  expect(history.map(({ type, step }) => (step === undefined ? type : `${type} ${step}`))).toEqual([
    "started",
    "step_completed fix",
    "step_completed check",
    "suspended",
    "resumed",
    "step_completed approve",
    "step_completed finish",
    "failed",
  ]);

  writeFileSync(join(at.project, "go"), "");
  const unknown = await at.type("workflow", "retry", "1", "--from", "finsh");
  expect([unknown.exit, unknown.stderr]).toEqual([2, expect.stringContaining("fix, check, approve, finish")]);
  expect((await at.type("workflow", "retry", "1", "--from", "finish")).exit).toBe(0);
  await untilStatus(at, "completed");
  const logs = (await at.type("workflow", "logs", "1")).stdout.toString();
  expect(logs).toMatch(/fix \(agent\): completed/);
  expect(logs).toContain("run     #2");

  const second = await at.type("workflow", "run", "fix", "--input", "what=mail");
  expect(second.exit).toBe(0);
  const number = second.stdout.toString().trim();
  expect((await at.type("workflow", "cancel", number, "-m", "not now")).exit).toBe(0);
  expect((await at.type("workflow", "cancel", number)).exit).toBe(6);
  const cancelled = JSON.parse((await at.type("workflow", "show", number, "--json")).stdout.toString()) as object;
  expect(cancelled).toMatchObject({ status: "cancelled", reason: "not now" });
  const trees = readdirSync(join(at.project, ".askd", "worktrees"));
  expect(trees.filter((name) => existsSync(join(at.project, ".askd", "worktrees", name, "fix.txt")))).toHaveLength(1);
}, 120_000);
