import { type ChildProcess, spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";
import { GITHUB_TOKEN, type GithubServer } from "./channels/github-server.ts";
import { REPO } from "./channels/github-view.ts";

const ACTION = fileURLToPath(new URL("../action/ask.mjs", import.meta.url));
export const SHA = "0123456789abcdef0123456789abcdef01234567";
export const QUESTION = {
  question: "Which approach?",
  options: "check:Add null check (recommended)\nearly:Initialize early",
};
export const KEY = "a secret of the repository";

/** An event as GitHub publishes it: somebody commented on issue 123. */
export const COMMENTED = commentedEvent();

interface CommentedEvent {
  action: string;
  issue: { number: number };
  repository: { full_name: string };
}

function commentedEvent(): CommentedEvent {
  const file = createRequire(import.meta.url).resolve("@octokit/webhooks-examples/api.github.com/index.json");
  const events = JSON.parse(readFileSync(file, "utf8")) as Array<{ name: string; examples: CommentedEvent[] }>;
  const { examples = [] } = events.find(({ name }) => name === "issue_comment") ?? {};
  const created = examples.find(({ action, ...rest }) => action === "created" && !("installation" in rest));
  if (!created) throw new Error("there is no example of a comment");
  const { issue, repository } = created;
  return { ...created, issue: { ...issue, number: 123 }, repository: { ...repository, full_name: REPO } };
}

/** The hidden part of a comment with this state, signed with the key of these tests. */
export function signedState(state: object): string {
  const text = Buffer.from(JSON.stringify(state)).toString("base64url");
  return `<!-- askd v1 state=${text}.${createHmac("sha256", KEY).update(text).digest("hex")} -->`;
}

/** The message of a commit with this record, signed with the key of these tests. */
export function signedRecord(record: object): string {
  const text = Buffer.from(JSON.stringify(record)).toString("base64url");
  return `askd v1 ${text}.${createHmac("sha256", KEY).update(`record ${text}`).digest("hex")}`;
}

/** The state in a comment. */
export function stateIn(body: string): Record<string, unknown> {
  const [, text = ""] = /state=([\w-]+)\./.exec(body) ?? [];
  return JSON.parse(Buffer.from(text, "base64url").toString("utf8")) as Record<string, unknown>;
}

/** Changes the state in a comment of this action, with its signature. */
export function changeState(comment: { body: string } | undefined, change: object): void {
  if (!comment) throw new Error("there is no comment");
  const state = signedState({ ...stateIn(comment.body), ...change });
  comment.body = comment.body.replace(/<!-- askd v1 state=[\s\S]*-->$/, state);
}

const folder = mkdtempSync(join(tmpdir(), "askd-action-issue-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let steps = 0;

/** Runs the action as a runner does, with an event file. */
export async function runStep(
  service: GithubServer,
  inputs: Record<string, string>,
  {
    event = COMMENTED,
    env = {},
    onStart = () => undefined,
  }: { event?: object; env?: Record<string, string>; onStart?: (job: ChildProcess) => void } = {},
) {
  steps += 1;
  const [output = "", summary = "", file = ""] = ["output", "summary", "event"].map((name) =>
    join(folder, `${name}-${steps}`),
  );
  for (const each of [output, summary]) writeFileSync(each, "");
  writeFileSync(file, JSON.stringify(event));
  const given = Object.entries(inputs).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value]);
  const child = spawn(process.execPath, [ACTION], {
    env: {
      PATH: process.env["PATH"],
      INPUT_CHANNEL: "issue",
      GITHUB_API_URL: service.base,
      GITHUB_TOKEN,
      ASKD_GITHUB_WRITE_MS: "0",
      ASKD_KEY: KEY,
      GITHUB_SHA: SHA,
      GITHUB_OUTPUT: output,
      GITHUB_STEP_SUMMARY: summary,
      GITHUB_EVENT_PATH: file,
      GITHUB_REPOSITORY: REPO,
      GITHUB_RUN_ID: `9${steps}`,
      RUNNER_TEMP: folder,
      ...Object.fromEntries(given),
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onStart(child);
  let log = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (log += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (log += text));
  const exit = await new Promise<number | null>((resolve) => child.once("close", resolve));
  const outputs = Object.fromEntries(
    [...readFileSync(output, "utf8").matchAll(/^([\w-]+)<<(\S+)\n([\s\S]*?)\n\2$/gm)].map(([, name, , value]) => [
      name,
      value,
    ]),
  );
  return { exit, log, outputs: outputs as Record<string, string>, summary: readFileSync(summary, "utf8") };
}

/** Ends a service that in all of a test was asked nothing that GitHub would refuse. */
export async function endService(service: GithubServer): Promise<void> {
  await service.close();
  const [problem] = service.traffic.problems;
  if (problem !== undefined) throw new Error(problem);
}
