import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const ASKD = join(ROOT, "bin", "askd");
const home = mkdtempSync(join(tmpdir(), "askd-action-"));
const children: ChildProcess[] = [];
let url = "";
let token = "";
let runs = 0;

/** What a step gave: how it ended, what it printed, its outputs, and its card. */
interface Step {
  exit: number | null;
  log: string;
  outputs: Record<string, string>;
  summary: string;
}

function start(argv: readonly string[], env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, argv, {
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.push(child);
  const told = { text: "" };
  const printed = new Promise<string>((resolve) => {
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      told.text += text;
      if (told.text.includes("\n")) resolve(told.text.trim());
    });
  });
  child.stderr.resume();
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  return { child, told, printed, ended };
}

/** Types a command of askd at the server. */
async function type(...argv: string[]): Promise<string> {
  const { ended, told } = start([ASKD, ...argv], { ASKD_HOME: home });
  expect(await ended).toBe(0);
  return told.text.trim();
}

beforeAll(async () => {
  url = await start([ASKD, "serve", "--port", "0"], { ASKD_HOME: home }).printed;
  token = await type("token", "create", "--scope", "agent", "--subject", "ci");
});
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(home, { recursive: true, force: true });
});

/** Starts the action as a runner does: inputs and the place of the job in its environment, files for what it tells. */
function startStep(inputs: Record<string, string>, env: Record<string, string> = {}) {
  runs += 1;
  const [output, summary] = [join(home, `output-${runs}`), join(home, `summary-${runs}`)];
  for (const file of [output, summary]) writeFileSync(file, "");
  const given = Object.entries(inputs).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value]);
  const { ended, told } = start([join(ROOT, "action", "ask.mjs")], {
    ASKD_URL: url,
    ASKD_TOKEN: token,
    GITHUB_OUTPUT: output,
    GITHUB_STEP_SUMMARY: summary,
    GITHUB_REPOSITORY: "acme/api",
    GITHUB_RUN_ID: `9${runs}`,
    GITHUB_JOB: "deploy",
    GITHUB_ACTION: "ask",
    GITHUB_RUN_ATTEMPT: "1",
    GITHUB_REF_NAME: "main",
    ...Object.fromEntries(given),
    ...env,
  });
  return ended.then((exit): Step => {
    const outputs = parseOutputs(readFileSync(output, "utf8"));
    return { exit, log: told.text, outputs, summary: readFileSync(summary, "utf8") };
  });
}

/** Reads the file as the runner does: name, delimiter, lines until the delimiter stands alone. */
function parseOutputs(text: string): Record<string, string> {
  const outputs: Record<string, string> = {};
  const lines = text.split("\n");
  for (let at = 0; at < lines.length - 1;) {
    const [, name = "", delimiter = ""] = /^([\w-]+)<<(.+)$/.exec(lines[at] ?? "") ?? [];
    const end = lines.indexOf(delimiter, at + 1);
    if (name === "" || end < 0) throw new Error(`no output in line ${at}: ${lines[at]}`);
    outputs[name] = lines.slice(at + 1, end).join("\n");
    at = end + 1;
  }
  return outputs;
}

async function shown(id: string): Promise<unknown> {
  return JSON.parse(await type("show", id, "--json"));
}

/** A step that has the answer has taken it: nothing runs any more. That is written down after the reply. */
async function expectCompleted(id: string): Promise<void> {
  await expect.poll(() => shown(id), { timeout: 30_000 }).toMatchObject({ status: "completed" });
}

const QUESTION = { question: "Deploy to production?", options: "go:Go ahead (recommended)\nstop:Stop\nLater" };

describe("the action", () => {
  test("posts its question and goes on; an attempt after the answer finds it", async () => {
    const run = { GITHUB_RUN_ID: "1001" };
    const first = await startStep(QUESTION, run);
    expect(first).toMatchObject({ exit: 0, outputs: { state: "pending", answer: "", choice: "", "answered-by": "" } });
    const { "question-id": id = "", url: address } = first.outputs;
    expect(address).toMatch(new RegExp(`^${url}/q/q-\\w+$`));
    expect(first.log).toMatch(/^::notice title=askd::q-\w+ "Deploy to production\?" waits for a person/);
    expect(first.summary).toContain("### Deploy to production?");
    expect(first.summary).toContain("- **A** Go ahead (recommended)\n- **B** Stop\n- **C** Later\n");
    expect(first.summary).toMatch(/Waiting for an answer until \S+, then: fail\./);

    const again = await startStep(QUESTION, { ...run, GITHUB_RUN_ATTEMPT: "2" });
    expect(again.outputs).toMatchObject({ state: "pending", "question-id": id });
    await type("answer", id, "stop");
    const last = await startStep(QUESTION, { ...run, GITHUB_RUN_ATTEMPT: "3" });
    expect(last).toMatchObject({ exit: 0, outputs: { state: "answered", answer: "stop", choice: "stop" } });
    expect(last.outputs).toMatchObject({ "question-id": id, "answered-by": expect.stringMatching(/./) });
    expect(last.summary).toContain("**stop**, answered by ");

    expect(await shown(id)).toMatchObject({ repo: "acme/api", branch: "main" });
    await expectCompleted(id);
  });

  test("waits where it is told to, and takes the answer", async () => {
    const run = { GITHUB_RUN_ID: "1002" };
    const { outputs } = await startStep(QUESTION, run);
    const waiting = startStep({ ...QUESTION, wait: "5m" }, run);
    await type("answer", outputs["question-id"] ?? "", "My own words");
    expect(await waiting).toMatchObject({
      exit: 0,
      outputs: { state: "answered", answer: "My own words", choice: "" },
    });
    await expectCompleted(outputs["question-id"] ?? "");
  });

  test("ends its waiting with the question still open", async () => {
    const step = await startStep({ ...QUESTION, wait: "1s" });
    expect(step).toMatchObject({ exit: 0, outputs: { state: "pending" } });
  });

  test("uses the default when nobody answers in time, and says so", async () => {
    const step = await startStep({ ...QUESTION, default: "stop", timeout: "1s", wait: "1m" });
    expect(step).toMatchObject({ exit: 0, outputs: { state: "timeout", answer: "stop", choice: "stop" } });
    expect(step.summary).toContain("Nobody answered in time, so **stop** applies.");
  });

  test.each([
    ["Go ahead", "go"],
    ["2", "stop"],
    ["later", "Later"],
  ])("takes the default %s for the option that it means", async (given, choice) => {
    const step = await startStep({ ...QUESTION, default: given, timeout: "1s", wait: "1m" });
    expect(step).toMatchObject({ exit: 0, outputs: { state: "timeout", answer: choice, choice } });
  });

  test("applies a default in own words where there are no options", async () => {
    const step = await startStep({ question: "Which name?", default: "askd", timeout: "1s", wait: "1m" });
    expect(step).toMatchObject({ exit: 0, outputs: { state: "timeout", answer: "askd", choice: "" } });
  });

  test.each([
    { policy: "fail", exit: 1, says: "::error" },
    { policy: "skip", exit: 0, says: "::notice" },
  ])("ends with $exit when nobody answered and $policy was declared", async ({ policy, exit, says }) => {
    const step = await startStep({ ...QUESTION, "on-timeout": policy, timeout: "1s", wait: "1m" });
    expect(step).toMatchObject({ exit, outputs: { state: "timeout", answer: "" } });
    expect(step.log).toContain(`${says} title=askd::Nobody answered q-`);
  });

  test("fails when the question was cancelled", async () => {
    const run = { GITHUB_RUN_ID: "1003" };
    const { outputs } = await startStep(QUESTION, run);
    await type("cancel", outputs["question-id"] ?? "", "-m", "not today");
    expect(await startStep(QUESTION, run)).toMatchObject({ exit: 1, outputs: { state: "cancelled" } });
  });

  test("asks one question for each key of one step", async () => {
    const run = { GITHUB_RUN_ID: "1004" };
    const ids = await Promise.all(["eu", "us", "eu"].map((key) => startStep({ ...QUESTION, key }, run)));
    const [eu, us, again] = ids.map(({ outputs }) => outputs["question-id"]);
    expect(eu).toBe(again);
    expect(us).not.toBe(eu);
  });

  test("lets no answer set another output, run a command of the runner, or become markup", async () => {
    const run = { GITHUB_RUN_ID: "1005" };
    const evil =
      "ok\nEOF\nstate<<EOF\nhacked\nEOF\n::set-env name=PATH::/evil\n<img src=x>[click](javascript:1) **bold**";
    const question = { question: "Write\n# what\n::error::you <b>want</b>" };
    const { outputs } = await startStep(question, run);
    const file = join(home, "evil.txt");
    writeFileSync(file, evil);
    await type("answer", outputs["question-id"] ?? "", "-F", file);
    const step = await startStep(question, run);
    expect(step.outputs).toMatchObject({ state: "answered", answer: evil, choice: "" });
    expect(Object.keys(step.outputs).sort()).toEqual([
      "answer",
      "answered-by",
      "choice",
      "question-id",
      "state",
      "url",
    ]);
    expect(step.log.trim().split("\n")).toHaveLength(1);
    expect(step.log).toMatch(/^::notice title=askd::/);
    expect(step.summary).not.toMatch(/<(img|b)\b|^# |\*\*bold|[^\\]\]\(javascript/m);
  });

  test.each([
    ["a wrong token", { ASKD_TOKEN: "askd_no" }, /^::error title=askd::The server says: /],
    ["no token", { ASKD_TOKEN: "" }, /Set ASKD_URL and ASKD_TOKEN/],
    ["an address in the clear", { ASKD_URL: "http://askd.example.com" }, /in the clear; use https/],
    ["no workflow around it", { GITHUB_RUN_ID: "" }, /GITHUB_RUN_ID is not set/],
    ["no question", { INPUT_QUESTION: " " }, /The input question is empty/],
    ["a wait that is no duration", { INPUT_WAIT: "soon" }, /wait is no duration/],
    [
      "a default that is no option",
      { INPUT_DEFAULT: "nope" },
      /The input default is "nope", which is none of the options/,
    ],
    [
      "a default that would never apply",
      { INPUT_DEFAULT: "stop", "INPUT_ON-TIMEOUT": "skip" },
      /The input default is for on-timeout default, and on-timeout is "skip"/,
    ],
    ["a policy that there is not", { "INPUT_ON-TIMEOUT": "shrug" }, /The server says: /],
  ])("fails with %s and says why", async (_, env, says) => {
    const step = await startStep(QUESTION, env);
    expect(step).toMatchObject({ exit: 1, outputs: {}, summary: "" });
    expect(step.log).toMatch(says);
    expect(step.log).not.toContain(token);
  });

  test("fails when no server is there, after some tries", async () => {
    const step = await startStep(QUESTION, { ASKD_URL: "http://127.0.0.1:9" });
    expect(step.exit).toBe(1);
    expect(step.log).toContain("The server http://127.0.0.1:9 cannot be reached (");
  });
});

test("action.yml names what the script reads and writes", () => {
  const Named = z.record(z.string(), z.looseObject({ description: z.string() }));
  const Action = z.looseObject({
    inputs: Named,
    outputs: Named,
    runs: z.object({ using: z.string(), main: z.string() }),
  });
  const { inputs, outputs, runs: how } = Action.parse(parse(readFileSync(join(ROOT, "action.yml"), "utf8")));
  const scripts = ["ask", "input", "issue", "work"].map((name) =>
    readFileSync(join(ROOT, "action", `${name}.mjs`), "utf8"),
  );
  const [ask = "", input = "", ...others] = scripts;
  const read = [
    ...[...input.matchAll(/\binput\("([\w-]+)"\)/g)].map(([, name]) => name),
    ...[...[ask, ...others].join("").matchAll(/\bINPUT_([A-Z]+)\b/g)].map(([, name]) => name?.toLowerCase()),
  ];
  expect(new Set(read)).toEqual(new Set(Object.keys(inputs)));
  expect(Object.keys(outputs)).toEqual([
    "answer",
    "choice",
    "answered-by",
    "state",
    "question-id",
    "session",
    "message",
    "url",
  ]);
  expect(how).toEqual({ using: "node24", main: "action/ask.mjs" });
});
