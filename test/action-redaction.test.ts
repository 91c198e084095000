import { execFileSync } from "node:child_process";
import { createServer } from "node:http";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { COMMENTED, KEY, QUESTION, endService, runStep, stateIn } from "./action-step.ts";
import { GITHUB_TOKEN, GithubServer } from "./channels/github-server.ts";

const PASSWORD = "Tr0ub4dor&3 zebra";
const GITHUB_FORM = "ghp_Ab3dEf6hIj9lMn2pQr5tUv8xYz1cDe4gHi7k";
const AWS_FORM = "AKIAZ7QWERTY2UIOPASD";
const SECRET = { env: { DB_PASSWORD: PASSWORD } };
const folder = mkdtempSync(join(tmpdir(), "askd-action-redaction-"));

let service: GithubServer;
const step = (inputs: Record<string, string>, over: Parameters<typeof runStep>[2] = {}) =>
  runStep(service, inputs, over);

beforeEach(async () => {
  service = await GithubServer.start();
});
afterEach(() => endService(service));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The ways in which a value is written in logs and files. */
const formsOf = (value: string) => [
  value,
  Buffer.from(value).toString("base64"),
  Buffer.from(value).toString("hex"),
  encodeURIComponent(value),
  JSON.stringify(value).slice(1, -1),
];

/** What GitHub keeps of this action: its comments and records, with what is signed in them, and no escapes of Markdown. */
function published(): string {
  const comments = service.comments.map(({ body }) => `${body}\n${JSON.stringify(stateIn(body))}`);
  const records = [...service.pulls.commits.values()].map(({ message }) => {
    const [, text = ""] = /^askd v1 ([\w-]+)\./.exec(message) ?? [];
    return Buffer.from(text, "base64url").toString("utf8");
  });
  return [...comments, ...records].join("\n").replaceAll("\u2060", "").replaceAll("\\", "");
}

test.each([
  ["the token of the job", GITHUB_TOKEN],
  ["the key that signs", KEY],
  ["a secret by its name", PASSWORD],
  ["a key of GitHub", GITHUB_FORM],
  ["a key of AWS", AWS_FORM],
])("%s is nowhere in what the action posts", async (_name, secret) => {
  const forms = [GITHUB_FORM, AWS_FORM].includes(secret) ? [secret] : formsOf(secret);
  const said = forms.map((form) => `see ${form} here`).join("\n");
  const { exit, log } = await step(
    {
      question: `Which one?\n${said}`,
      options: `go:Go ahead\n  ${forms.join(" or ")}\nstop:Stop`,
      context: `${said}\n\`\`\`\n${said}\n\`\`\``,
      "on-timeout": "skip",
      "timeout-comment": said,
    },
    SECRET,
  );
  expect({ exit, log }).toMatchObject({ exit: 0, log: expect.stringContaining("waits for a person") });
  expect(published()).toContain("Which one?");
  expect(published()).toContain("[redacted]");
  for (const form of forms.map((each) => each.replaceAll("\\", ""))) {
    expect(published()).not.toContain(form);
    expect(log).not.toContain(form);
  }
});

test("an answer with a secret reaches the job as it is, and what the action writes about it shows none", async () => {
  await step(QUESTION);
  service.add(`/answer Use ${GITHUB_FORM}`, "mika");
  const { log, outputs } = await step(QUESTION);
  expect(outputs).toMatchObject({ state: "answered", answer: `Use ${GITHUB_FORM}` });
  expect(log).not.toContain(GITHUB_FORM);
  const late = service.add("B", "mika");
  const comment = { ...late, user: { login: "mika", type: "User" } };
  await step(QUESTION, { event: { ...COMMENTED, comment } });
  const own = service.comments.map(({ body }) => body.replaceAll("\\", "")).filter((body) => body.includes("askd v1"));
  expect(own).toEqual([
    expect.stringContaining("Answered by @\u2060mika: Use [redacted]"),
    expect.stringContaining("already answered by @\u2060mika: Use [redacted]"),
  ]);
});

test.each([
  [{ options: `go:Go ahead\nuse ${GITHUB_FORM}` }, "Option B"],
  [{ options: `go:Log in as ${PASSWORD}` }, "Option A"],
  [{ options: "", default: PASSWORD }, "The input default"],
  [{ "on-timeout": "skip", "timeout-label": AWS_FORM }, "The input timeout-label"],
])("a text that must stay as it is may hold no secret: %j", async (inputs, where) => {
  const { exit, log } = await step({ ...QUESTION, ...inputs }, SECRET);
  expect({ exit, log }).toMatchObject({ exit: 1, log: expect.stringContaining(`${where} contains a secret`) });
  for (const secret of [GITHUB_FORM, PASSWORD, AWS_FORM]) expect(log).not.toContain(secret);
  expect(service.comments).toEqual([]);
});

test("the key of a question is no secret, and a secret that changes asks nothing anew", async () => {
  const asked = (token: string) =>
    step({ question: `Use ${token} for approach-two?`, key: "approach-two" }, { env: { API_TOKEN: token } });
  await asked("first-Zq83kfLw92mPx7");
  await asked("other-Hs72bvQn41rTy6");
  expect(service.comments).toHaveLength(1);
  expect(stateIn(service.comments[0]?.body ?? "")).toMatchObject({ text: "Use [redacted] for approach-two?" });
});

test("a server learns what it must not show, and the page of the run and the log show none of it", async () => {
  const asked: string[] = [];
  const question = { title: `Use ${GITHUB_FORM}?`, items: [{ id: "1", options: [{ key: "A", label: PASSWORD }] }] };
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      asked.push(body);
      response.end(JSON.stringify({ ...question, id: "q_1", short_id: "q-1", status: "pending", on_timeout: {} }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const env = { ...SECRET.env, INPUT_CHANNEL: "", ASKD_URL: `http://127.0.0.1:${port}`, ASKD_TOKEN: "askd_token_1" };
  const { exit, log, summary } = await step({ question: question.title, options: PASSWORD }, { env });
  server.close();
  expect(exit).toBe(0);
  expect(JSON.parse(asked[0] ?? "")).toMatchObject({ secrets: [GITHUB_TOKEN, KEY, "askd_token_1", PASSWORD] });
  expect(log).toContain('q-1 "Use [redacted]?" waits');
  expect(summary.replaceAll("\\", "")).toContain("### Use [redacted]?\n\n- **A** [redacted]\n");
});

test("the action redacts as askd does", () => {
  const file = join(folder, "redact.mjs");
  writeFileSync(file, "");
  execFileSync(process.execPath, ["scripts/redactor.mjs", file]);
  expect(readFileSync("action/redact.mjs", "utf8")).toBe(readFileSync(file, "utf8")); // if not: npm run redactor
});
