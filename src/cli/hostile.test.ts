import { expect, test } from "vitest";
import {
  HOSTILE_TEXT,
  type HostilePlace,
  LONG_TEXTS,
  findUnsafe,
  hostilePlace,
  hostileScene,
} from "../../test/hostile.ts";
import { type } from "../../test/typed.ts";
import { COMMANDS } from "./command.ts";
import type { ProcessWorld } from "./process.ts";

/** No view of a megabyte takes longer; one that is not linear would take minutes. */
const LONGEST_MS = 20_000;

/** How each command is typed so that it prints what came from outside; or why it prints nothing of that kind. */
const CASES: Readonly<Record<string, ReadonlyArray<readonly string[]> | string>> = {
  status: [["status"], ["status", "--short"]],
  list: [["list"], ["list", "--awaiting"], ["list", "--mine"], ["list", "--sort", "due"]],
  show: [
    ["show", "1"],
    ["show", "2"],
    ["show", "3"],
    ["show", "4"],
    ["show", "1", "--diff", "--log", "--agent-view"],
    ["show", "3", "--agent-view"],
    ["show", "{text}"],
  ],
  answer: [
    ["answer", "1", ""],
    ["answer", "1", "1", "--dry-run"],
    ["answer", "1", "3"],
    ["answer", "1", "{text}", "-m", "{text}"],
    ["answer", "1", "1"],
    ["answer", "2", "{text}"],
    ["answer", "4", "1"],
    ["answer", "--force", "2", "B"],
  ],
  tree: [["tree"], ["tree", "--all"], ["tree", "1"]],
  diff: [
    ["diff", "1"],
    ["diff", "1", "--stat"],
    ["diff", "2"],
  ],
  logs: [
    ["logs", "1"],
    ["logs", "1", "--err"],
    ["logs", "2"],
  ],
  undo: [
    ["undo", "1"],
    ["undo", "3"],
  ],
  amend: [
    ["amend", "3", "{text}"],
    ["amend", "3", "no"],
    ["amend", "1", "{text}"],
  ],
  claim: [
    ["claim", "1"],
    ["claim", "3"],
    ["claim", "{text}"],
  ],
  release: [["release", "1"]],
  assign: [["assign", "1", "{text}"]],
  snooze: [
    ["snooze", "1", "1h"],
    ["snooze", "1", "{text}"],
  ],
  extend: [
    ["extend", "1", "1h"],
    ["extend", "1", "{text}"],
  ],
  comment: [
    ["comment", "1", "{text}"],
    ["comment", "1", "fine"],
  ],
  escalate: [["escalate", "1"]],
  open: [
    ["open", "1", "--print"],
    ["open", "{text}"],
  ],
  link: [
    ["link", "1", "--for", "{text}"],
    ["link", "{text}", "--for", "eve"],
  ],
  watch: [
    ["watch", "--since", "9999h", "--limit", "3"],
    ["watch", "--type", "{text}"],
    ["watch", "--after", "{text}"],
  ],
  run: "what its agent prints comes out byte by byte, as that is what was asked for",
  runs: [
    ["runs", "list"],
    ["runs", "show", "1"],
    ["runs", "show", "2"],
    ["runs", "cancel", "1"],
    ["runs", "{text}"],
  ],
  takeover: [
    ["takeover", "1"],
    ["takeover", "2"],
  ],
  worker: "says numbers of runs",
  ask: [
    ["ask", "{text}"],
    ["ask", "fine?", "--name", "{text}"],
    ["ask", "fine?", "-o", "{text}", "--recommend", "{text}"],
  ],
  check: [
    ["check", "1"],
    ["check", "2"],
    ["check", "3"],
    ["check", "4"],
  ],
  cancel: [
    ["cancel", "1", "-m", "{text}"],
    ["cancel", "1"],
  ],
  audit: [["audit"], ["audit", "1"], ["audit", "--verify"]],
  template: [
    ["template", "list"],
    ["template", "show", "{text}"],
    ["template", "add", "{text}", "{text}"],
  ],
  stats: [["stats"], ["stats", "--by", "repo"], ["stats", "--by", "agent"], ["stats", "--since", "{text}"]],
  export: "writes a file for programs, in JSON",
  import: [["import", "{text}"]],
  backup: "copies the store into a file",
  migrate: [["migrate", "--check"]],
  restore: [["restore", "{text}"]],
  config: [
    ["config", "list"],
    ["config", "get", "{text}"],
    ["config", "set", "{text}", "{text}"],
  ],
  completion: [
    ["completion", "bash"],
    ["completion", "{text}"],
  ],
  complete: "speaks to a shell, which has a test of its own",
  serve: [["serve", "--host", "{text}"]],
  service: [["service", "{text}"]],
  login: [["login"]],
  away: [
    ["away", "{text}"],
    ["away", "--delegate", "{text}"],
    ["away", "--person", "{text}"],
    ["away", "--person", "eve"],
  ],
  invite: [
    ["invite", "{text}"],
    ["invite", "eve"],
  ],
  auth: [["auth"]],
  user: [
    ["user", "list"],
    ["user", "show", "eve"],
    ["user", "show", "{text}"],
    ["user", "add", "{text}"],
  ],
  token: [
    ["token", "create", "--subject", "{text}"],
    ["token", "list"],
    ["token", "revoke", "{text}"],
  ],
  mcp: "speaks a protocol to a program",
  hook: "speaks a protocol to a program",
  bridge: "speaks a protocol to a program",
  next: [["next"], ["next", "--run", "{text}"]],
  init: [
    ["init", "--client", "{text}"],
    ["init", "--print", "{text}"],
    ["init", "--scope", "{text}"],
  ],
  "test-agent": "prints its own words",
  doctor: [["doctor", "--probe", "{text}"]],
  "probe-server": "speaks a protocol to a program",
  demo: "prints its own words",
  channels: [["channels"], ["channels", "{text}"]],
  setup: [
    ["setup", "{text}"],
    ["setup", "webhook", "{text}"],
    ["setup", "telegram", "--pair", "{text}"],
  ],
  test: [["test", "{text}"]],
  workflow: [
    ["workflow", "list"],
    ["workflow", "validate", "{text}"],
    ["workflow", "graph", "{text}"],
    ["workflow", "run", "{text}"],
    ["workflow", "show", "{text}"],
    ["workflow", "approve", "{text}"],
    ["workflow", "init", "{text}"],
  ],
  version: [["version"]],
};

test("every command is shown what is hostile, or says why it need not be", () => {
  expect(Object.keys(CASES).toSorted()).toEqual(Object.keys(COMMANDS).toSorted());
});

test("no command lets what is hostile reach a terminal", async () => {
  const problems: string[] = [];
  await lookAtAll(HOSTILE_TEXT, [], (at, name, { stdout, stderr }) => {
    for (const unsafe of [findUnsafe(stdout), findUnsafe(stderr)]) if (unsafe) problems.push(`${at}: ${unsafe}`);
    if (!isFree(name) && /^FORGED/m.test(`${stdout}\n${stderr}`)) problems.push(`${at}: a forged line`);
  });
  expect(problems).toEqual([]);
});

test("programs get what is hostile as it is, in JSON that any reader takes", async () => {
  const problems: string[] = [];
  await lookAtAll(HOSTILE_TEXT, ["--json"], (at, name, { stdout, stderr }) => {
    for (const unsafe of [findUnsafe(stdout), findUnsafe(stderr)]) if (unsafe) problems.push(`${at}: ${unsafe}`);
    const values = name === "watch" ? stdout.split("\n").filter(Boolean) : [stdout].filter(Boolean);
    const parsed = values.map((value): unknown => JSON.parse(value));
    const isWhole = parsed.length > 0 && parsed.every((value) => holds(value, HOSTILE_TEXT));
    const isMeant = TRUE_TEXT.some((typed) => at.startsWith(`${typed} --json`));
    if (isMeant && !isWhole) problems.push(`${at}: ${stderr.slice(0, 200)}`);
  });
  expect(problems).toEqual([]);
});

test.each(Object.entries(LONG_TEXTS))("%s is shown in a time that grows with its length only", async (_, text) => {
  const place = await hostilePlace(text);
  const scene = await hostileScene(text, place);
  const problems: string[] = [];
  for (const argv of LONG_CASES) {
    for (const more of [[], ["--json"]]) {
      const { stdout, stderr } = await look(scene, [...argv, ...more], "terminal", text, place);
      const unsafe = findUnsafe(stdout) ?? findUnsafe(stderr);
      if (unsafe) problems.push(`${argv.join(" ")}: ${unsafe}`);
    }
  }
  expect(problems).toEqual([]);
});

/** Commands that show a great part of what is kept. */
const LONG_CASES = [
  ["status"],
  ["list"],
  ["list", "--awaiting"],
  ["tree"],
  ["runs", "list"],
  ["audit"],
  ["check", "1"],
  ["logs", "1"],
  ["show", "1", "--diff", "--log", "--agent-view"],
  ["watch", "--since", "9999h", "--limit", "2"],
  ["claim", "1"],
  ["answer", "1", "1"],
];

type Look = (at: string, name: string, printed: { stdout: string; stderr: string }) => void;

/** Types every case of every command that can, on a terminal and not. */
async function lookAtAll(text: string, more: readonly string[], onLook: Look): Promise<void> {
  const place = await hostilePlace(text);
  for (const [name, cases] of Object.entries(CASES)) {
    const hasFields = (await COMMANDS[name]?.load())?.command.fields !== undefined;
    if (typeof cases === "string" || (more.length > 0 && !hasFields)) continue;
    const scene = await hostileScene(text, place);
    for (const argv of cases) {
      for (const terminal of ["terminal", "pipe"] as const) {
        const words = [...argv.map((word) => word.replaceAll("{text}", () => text)), ...more];
        const printed = await look(scene, words, terminal, text, place);
        onLook(`${[...argv, ...more].join(" ")} on a ${terminal}`, name, printed);
      }
    }
  }
}

/** Commands whose JSON carries what was asked. */
const TRUE_TEXT = ["status", "list", "show 1", "show 3", "runs list", "tree --all", "check 3", "audit"];

/** The log is the agent's own words, line by line; so are a patch and what the agent is told. */
function isFree(name: string): boolean {
  return ["logs", "diff", "show", "answer"].includes(name);
}

async function look(
  scene: Parameters<typeof type>[0],
  argv: readonly string[],
  terminal: "terminal" | "pipe",
  text: string,
  { home, tree }: HostilePlace,
): Promise<{ stdout: string; stderr: string }> {
  const printed = { stdout: "", stderr: "" };
  const to = (name: "stdout" | "stderr") => ({
    isTty: terminal === "terminal",
    columns: 80,
    // The bell is ours where it comes alone.
    write: (words: string) => void (printed[name] += words === "\x07" ? "" : words),
  });
  const interrupted = AbortSignal.abort();
  const over: Partial<ProcessWorld> = {
    stdout: to("stdout"),
    stderr: to("stderr"),
    cwd: tree,
    env: { ASKD_HOME: home },
    user: text.slice(0, 64),
    interrupt: () => (argv.includes("--limit") ? new AbortController().signal : interrupted),
    findServer: () => Promise.resolve(undefined),
  };
  const start = performance.now();
  await type(scene, argv, over);
  expect(performance.now() - start).toBeLessThan(LONGEST_MS);
  return printed;
}

function holds(value: unknown, text: string): boolean {
  if (typeof value === "string") return value.includes(text);
  if (value === null || typeof value !== "object") return false;
  return Object.values(value).some((each) => holds(each, text));
}
