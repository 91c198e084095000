import { describe, expect, test } from "vitest";
import { ADA, NOON, aQuestion, aRun, answered, anEvent } from "../../test/builders.ts";
import type { QuestionSnapshot } from "../core/changes.ts";
import type { Content } from "../core/question/content.ts";
import { QuestionId, RunId } from "../core/id.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS, later } from "../core/instant.ts";
import type { PendingQuestion } from "../core/question/question.ts";
import type { Run } from "../core/run/run.ts";
import { renderAudit, renderVerified } from "./commands/store/audit.ts";
import { viewCheck } from "../core/api/view.ts";
import { approvalContent } from "../core/question/approval.ts";
import { exitCodeOf, renderCheck } from "./commands/ask/check.ts";
import { renderAwaiting, renderList } from "./commands/inspect/list.ts";
import { renderShow } from "./commands/inspect/show-view.ts";
import { type StatusView, renderShortStatus, renderStatus } from "./commands/inspect/status-view.ts";
import { styleFor } from "./terminal/terminal.ts";
import { renderTree } from "./commands/inspect/tree.ts";

const plain = styleFor("off");
const now = later(NOON, 2 * HOUR_MS);
const ID = QuestionId.parse("q_01jcs7z0aa7k3fmn8pqrstvwxy");
const OTHER_ID = QuestionId.parse("q_01jcs7z0aa5c1amn8pqrstvwxy");

const cache: Content = {
  items: [
    {
      id: "store",
      text: "Should I use Redis or Memcached for the caching layer?",
      options: [
        { key: "A", value: "redis", label: "Redis", description: "adds redis:7", recommended: true },
        { key: "B", value: "memcached", label: "Memcached", description: "no new service" },
      ],
      multiple: false,
      allowText: true,
    },
  ],
  context: "Both are available in the project dependencies.",
};
const caching: Run = aRun({
  number: 42,
  name: "add-caching",
  status: "awaiting_input",
  startedAt: NOON,
  session: "abc123",
});
const pending: PendingQuestion = aQuestion({
  id: ID,
  title: cache.items[0]?.text ?? "",
  risk: "medium",
  confidence: 0.62,
  dueAt: later(now, 5 * HOUR_MS + 12 * MINUTE_MS),
  onTimeout: { do: "default", answer: "A" },
});
const waiting: QuestionSnapshot = { run: caching, question: pending, content: cache };

const auth: Content = {
  items: [
    {
      id: "q",
      text: "Should the API use JWT tokens or session cookies?",
      options: [],
      multiple: false,
      allowText: true,
    },
  ],
  context: "JWT is better for stateless APIs...",
};
const authRun = aRun({
  externalId: "tm-abc",
  name: "Implement user authentication",
  size: "medium",
  status: "awaiting_input",
});
const authQuestion = aQuestion({
  title: auth.items[0]?.text ?? "",
  dueAt: later(now, 22 * HOUR_MS),
  onTimeout: { do: "skip" },
});
const cloud: Content = {
  items: [{ id: "q", text: "Which cloud provider should we use?", options: [], multiple: false, allowText: true }],
};
const cloudRun = aRun({
  externalId: "tm-xyz",
  name: "Configure deployment",
  size: "small",
  priority: 1,
  status: "awaiting_input",
});
const cloudQuestion = aQuestion({
  askedAt: later(now, -30 * MINUTE_MS),
  claim: { by: { ...ADA, id: "lena" }, at: now },
});

function aStatus(over: Partial<StatusView> = {}): StatusView {
  return {
    now,
    program: "askd",
    machines: { now, known: [] },
    waiting: [],
    waitingTotal: over.waiting?.length ?? 0,
    mostShown: 100,
    rows: 50,
    agentTries: new Map(),
    answered: [],
    loggedOut: [],
    running: [],
    queued: [],
    failing: [],
    clocks: [],
    damage: [],
    outages: [],
    unreadable: [],
    failed: [],
    completed: [],
    cancelled: [],
    usage: new Map(),
    isFirstUse: false,
    ...over,
  };
}

describe("status", () => {
  test("says of every job that fails whose it is, how often, why, when it is tried again and what to type", () => {
    const failing = [
      {
        ...({ key: "resume:r_1", kind: "resume", tries: 6, why: "the disk is full\u001b[2J" } as const),
        failedAt: later(now, -3_000),
        nextAt: later(now, 4_000),
        run: { id: "r_1", number: 42, name: "add-caching" },
      },
      { key: "seal", kind: "seal", tries: 1, why: "busy", failedAt: now, nextAt: later(now, 60_000) } as const,
    ];
    expect(renderStatus(aStatus({ failing }), plain)).toBe(
      `Nothing is waiting for you.
FAILING:
  #42 add-caching: resume failed 6 times, 3s ago: the disk is full\\x1b[2J; next try in 4s. Look: askd doctor
  seal failed once, just now: busy; next try in 1m. Look: askd doctor
`,
    );
  });

  test("shows a run whose agent has to be logged in among those that wait for a person", () => {
    const run = aRun({ number: 6, name: "add-caching", status: "blocked", reason: "not_logged_in" });
    const line = "Log in to Claude Code on here, then: askd runs resume 6";
    expect(renderStatus(aStatus({ loggedOut: [{ run, wayOn: { line } }] }), styleFor("off"))).toBe(
      `NOT LOGGED IN:\n  #6 add-caching (Claude Code)\n      ${line}\n`,
    );
  });

  test("says that a clock jumped, and what that does to deadlines", () => {
    const at = later(now, -3 * MINUTE_MS);
    const clocks = [
      { machine: "atlas", aheadMs: 24 * 60 * MINUTE_MS, at, doubtedUntil: later(now, 7 * MINUTE_MS) },
      { machine: "build\u001b[2J", aheadMs: -60 * MINUTE_MS, at },
    ];
    expect(renderStatus(aStatus({ clocks }), plain)).toBe(`Nothing is waiting for you.
CLOCK:
  3m ago the clock of atlas jumped ahead by 1d: deadlines that became due by it wait 7m more. Look: askd doctor
  3m ago the clock of build\\x1b[2J was put back by 1h: deadlines may fire at the wrong time. Look: askd doctor
`);
  });

  test("shows what waits, what runs and what is done", () => {
    const running = [aRun({ number: 43, name: "fix-auth-bug" })];
    const completed = [aRun({ number: 41, name: "update-deps", status: "completed" })];
    expect(renderStatus(aStatus({ waiting: [waiting], running, completed }), plain)).toBe(`WAITING FOR INPUT:
  #42 add-caching (waiting 2h)
      Q: Should I use Redis or Memcached for the caching layer?
      1 Redis (recommended)  2 Memcached  3 Other
      Due in 5h 12m, then uses "Redis"
      Run: askd answer 42 "Redis"

RUNNING:
  #43 fix-auth-bug

COMPLETED TODAY:
  #41 update-deps ✓

1 waiting, 1 running, 1 done. Next: askd next
`);
  });

  test("cuts a question that is too long for a list, and says where all of it is", () => {
    const item = waiting.content.items[0];
    if (!item) throw new Error("there is no item");
    const long = { ...item, text: "x".repeat(6_000), options: [] };
    const read = { ...waiting, content: { ...waiting.content, items: [long] } };
    const shown = renderStatus(aStatus({ waiting: [read] }), plain);
    expect(shown.length).toBeLessThan(700);
    expect(shown).toContain(`      Q: ${"x".repeat(299)}…\n      All of it: askd show 42\n`);
  });

  test("names the channels that have failed for a while, whose and why", () => {
    const outages = [
      { channel: "telegram", person: "ada", since: later(now, -12 * MINUTE_MS), why: "status 503\u001b[2J" },
      { channel: "webhook", since: later(now, -60 * MINUTE_MS), why: "not reachable" },
    ];
    expect(renderStatus(aStatus({ outages }), plain)).toBe(`Nothing is waiting for you.
CHANNELS THAT FAIL:
  Telegram (ada) failing for 12m: status 503\\x1b[2J. Try: askd test telegram
  webhook failing for 1h: not reachable. Try: askd test webhook
`);
  });

  test("says when nothing waits, and what to try on first use", () => {
    expect(renderStatus(aStatus({ running: [aRun({ number: 43, name: "fix-auth-bug" })] }), plain)).toBe(
      "Nothing is waiting for you.\nRUNNING:\n  #43 fix-auth-bug\n",
    );
    expect(renderStatus(aStatus({ isFirstUse: true }), plain)).toBe('No runs yet. Try: askd run -- claude -p "…"\n');
  });

  test("shows a held question as one of a running run", () => {
    const hold = { until: later(now, 140 * SECOND_MS), after: "park" as const, windowMs: 180 * SECOND_MS };
    const held = { ...waiting, run: aRun({ number: 42, name: "add-caching" }), question: { ...pending, hold } };
    expect(renderStatus(aStatus({ waiting: [held] }), plain)).toContain(
      "  #42 add-caching running (waiting for input, held 40s)\n",
    );
  });

  test("says how to answer a run that failed for want of an answer", () => {
    const question = {
      ...pending,
      status: "timeout",
      timedOutAt: NOON,
      policy: "fail",
      handover: { state: "owed" },
    } as const;
    const run = aRun({
      number: 40,
      name: "bump",
      status: "failed",
      reason: "input_timeout",
      endedAt: NOON,
      lastQuestionId: ID,
    });
    const view = aStatus({ failed: [{ run, last: { run, question, content: cache } }] });
    expect(renderStatus(view, plain)).toContain(`FAILED TODAY:
  #40 bump ✗ failed (input_timeout) 2h ago
      Q: Should I use Redis or Memcached for the caching layer?
      Answer anyway and resume: askd answer --force 40 "Redis"
`);
  });

  test("fits a prompt in its short form", () => {
    expect(renderShortStatus(aStatus({ waiting: [waiting], running: [caching] }))).toBe("?1 ▶1\n");
  });

  test("names the command of an approval, and suggests nothing at high risk", () => {
    const { question: text, options } = approvalContent({ tool: "Bash", input: { command: "rm -rf /" } }, "high");
    const choices = options.map((option, index) => ({ ...option, key: "AB".charAt(index) }));
    const content = { items: [{ id: "q1", text, options: choices, multiple: false, allowText: false }] };
    const question = { ...pending, title: text, kind: "approval", risk: "high" } as const;
    const page = renderStatus(aStatus({ waiting: [{ ...waiting, question, content }] }), plain);
    expect(page).toContain('Q: May the agent use Bash to run "rm -rf /"?');
    expect(page).toMatch(/Run: askd answer q-\w+ "your response"/);
    const now = question.askedAt;
    expect(renderList({ now, width: 120, questions: [{ ...waiting, question, content }] }, plain)).toContain(
      "rm -rf /",
    );
  });

  test("makes what an agent wrote harmless, also where it is to be copied", () => {
    const evil = {
      ...cache,
      items: [{ ...cache.items[0]!, options: [{ key: "A", value: "x", label: 'a"$(rm)\x1b[2J' }] }],
    };
    const page = renderStatus(aStatus({ waiting: [{ ...waiting, content: evil }] }), plain);
    expect(page).not.toContain("\x1b");
    expect(page).toContain(`Run: askd answer 42 'a"$(rm)\\x1b[2J'`);
  });
});

describe("show", () => {
  const base = { now, ahead: () => 0, width: 80, program: "askd", run: caching };

  test("shows the run, its question and how to answer", () => {
    expect(renderShow({ ...base, questions: [waiting] }, plain)).toBe(`Task #42: add-caching
Status: awaiting_input
Started: 2h ago
Agent: Claude Code, session abc123

PENDING QUESTION (asked 2h ago):  q-7k3f
  Should I use Redis or Memcached for the caching layer?

  Context:
  Both are available in the project dependencies.

  Suggested options:
    1. Redis (recommended)   adds redis:7
    2. Memcached             no new service
    3. Other

  Agent leans Redis, 62%. Medium risk.
  Due Thu 19:12 (in 5h 12m), then uses "Redis".

  Answer with: askd answer 42 "your response"
`);
  });

  test("shows who answered what before", () => {
    const before = { ...answered({ ...pending, id: OTHER_ID }), title: "Which queue?" };
    const answer = { ...before.answer, items: { store: { values: ["redis"] } }, note: "keep it small" };
    const page = renderShow({ ...base, questions: [{ question: { ...before, answer }, content: cache }] }, plain);
    expect(page).toContain(`HISTORY:
  q-5c1a  Which queue?
          Redis (keep it small), by ada (cli) 2h ago
`);
  });
});

describe("list", () => {
  const questions = [
    { run: authRun, question: authQuestion, content: auth },
    { run: cloudRun, question: cloudQuestion, content: cloud },
  ];

  test("of what waits keeps the layout of the task manager", () => {
    expect(renderAwaiting({ now, width: 80, questions }, plain)).toBe(`Awaiting Human Input:

tm-abc   P2  medium  Implement user authentication
         ❓ Should the API use JWT tokens or session cookies?
         Context: JWT is better for stateless APIs...
         Asked: 2 hours ago · due in 22h, then skips

tm-xyz   P1  small   Configure deployment
         ❓ Which cloud provider should we use?
         Asked: 30 minutes ago · claimed by lena
`);
  });

  test("of everything has one line for each question", () => {
    const all = [waiting, { ...waiting, question: answered({ ...pending, id: OTHER_ID }) }];
    expect(renderList({ now, width: 80, questions: all }, plain)).toBe(
      `q-7k3f  pending   #42  2h ago  Should I use Redis or Memcached for the caching…
q-5c1a  answered  #42  2h ago  Should I use Redis or Memcached for the caching…
`,
    );
  });
});

test("the tree shows subtasks with their states and questions", () => {
  const task = (externalId: string, name: string): Run => aRun({ externalId, name, status: "queued" });
  const leaf = (run: Run) => ({ run, pending: undefined, children: [] });
  const asking = { run: authRun, pending: { question: authQuestion, content: auth }, children: [] };
  const children = [
    asking,
    leaf(task("tm-def", "Implement payment API")),
    leaf(task("tm-ghi", "Write integration tests")),
  ];
  const root = { ...leaf(task("tm-xyz", "Design payment system")), children };
  expect(renderTree([root], { now, known: [], here: "here" }, "askd")).toBe(`tm-xyz [open] Design payment system
├── tm-abc [awaiting_input] ❓ Implement user authentication
│   └── Question: Should the API use JWT tokens or session cookies?  (2h, due in 22h)
├── tm-def [open] Implement payment API
└── tm-ghi [open] Write integration tests
`);
});

describe("audit", () => {
  test("has one line for each event", () => {
    const event = anEvent({
      runId: RunId.parse("r_01jcs7z0aa9m2xmn8pqrstvwxy"),
      questionId: ID,
      type: "question.answered",
      from: "pending",
      to: "answered",
      by: ADA,
    });
    expect(renderAudit([{ event, n: 1, hash: "", cursor: "", body: "" }], () => 0)).toBe(
      "2026-01-01 12:00:00  q-7k3f  question.answered  ada (cli)  pending → answered\n",
    );
  });

  test("says whether the trail is whole", () => {
    const counts = { runs: 2, events: 9, seals: 1 };
    expect(renderVerified({ ...counts, problems: [] }, "")).toBe(
      "✓ 2 runs, 9 events, 1 seal: nothing is missing and nothing was changed\n",
    );
    expect(renderVerified({ ...counts, problems: ["event 3 is missing"] }, "Restore a backup")).toContain(
      "\n  event 3 is missing\nRestore a backup\n",
    );
  });
});

describe("check", () => {
  test("tells a script only the state while the question waits", () => {
    expect(viewCheck(waiting)).toEqual({ status: "pending" });
    expect(exitCodeOf(waiting)).toBe(8);
    expect(renderCheck(waiting, now)).toBe('pending\n  asked 2h ago, due in 5h 12m, then uses "Redis"\n');
  });

  test("shows a timeout and the answer that was forced afterwards", () => {
    const { answer } = answered(pending);
    const given = { ...answer, items: { store: { values: ["redis"] } } };
    const closed = {
      ...pending,
      status: "timeout",
      timedOutAt: NOON,
      policy: "fail",
      handover: { state: "owed" },
    } as const;
    const forced = { ...closed, forced: { answer: given, handover: { state: "owed" } as const } };
    expect(exitCodeOf({ ...waiting, question: closed })).toBe(9);
    expect(exitCodeOf({ ...waiting, question: forced })).toBe(0);
    expect(viewCheck({ ...waiting, question: forced })).toMatchObject({
      status: "timeout",
      answer: "redis",
      forced: true,
    });
    expect(renderCheck({ ...waiting, question: forced }, now)).toBe(
      "timeout\n  2h ago, policy: fail\n  answer: Redis, by ada (cli) 2h ago\n",
    );
  });

  test("has an exit code of its own for what was skipped or cancelled", () => {
    const closed = {
      ...pending,
      status: "timeout",
      timedOutAt: NOON,
      policy: "skip",
      handover: { state: "owed" },
    } as const;
    expect(exitCodeOf({ ...waiting, question: closed })).toBe(10);
  });

  test.each([
    [["approve", "deny"], "approve", 0],
    [["approve", "deny"], "deny", 12],
    [["no", "yes"], "yes", 0],
    [["no", "yes"], "no", 12],
    [["go ahead", "stop"], "go ahead", 0],
    [["go ahead", "stop"], "stop", 12],
    [["red", "blue"], "red", 12],
  ])("of the choices %j of an approval, %s exits with %i", (values, chosen, code) => {
    const options = values.map((value, index) => ({ key: String(index), value, label: value }));
    const content = { items: [{ id: "q1", text: "Deploy?", options, multiple: false, allowText: false }] };
    const { answer, ...given } = answered({ ...pending, kind: "approval" });
    const question = { ...given, answer: { ...answer, items: { q1: { values: [chosen] } } } };
    expect(exitCodeOf({ question, content })).toBe(code);
  });
});
