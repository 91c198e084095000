import { describe, expect, test } from "vitest";
import { type DoorDefaults, parseAsk } from "./ask-input.ts";
import { instant } from "../instant.ts";
import { DEFAULT_RULES } from "../rules.ts";

const DOOR: DoorDefaults = { via: "mcp" };

function parse(raw: unknown, door = DOOR) {
  return parseAsk(raw, door, DEFAULT_RULES, instant(0));
}

describe("the question shapes of the agents are taken as they are", () => {
  test("Claude: questions with header, options and multiSelect", () => {
    const { items } = parse({
      questions: [
        {
          question: "Which cache?",
          header: "Cache",
          multiSelect: false,
          options: [
            { label: "Redis", description: "pub/sub" },
            { label: "Memcached", description: "simple" },
          ],
        },
      ],
    });
    expect(items).toEqual([
      {
        id: "1",
        header: "Cache",
        text: "Which cache?",
        multiple: false,
        allowText: true,
        options: [
          { key: "A", value: "Redis", label: "Redis", description: "pub/sub" },
          { key: "B", value: "Memcached", label: "Memcached", description: "simple" },
        ],
      },
    ]);
  });

  test("Codex: ids, and a recommended option that says so in its label", () => {
    const { items } = parse({
      questions: [
        {
          id: "cache",
          header: "Cache",
          question: "Which?",
          isOther: true,
          isSecret: false,
          options: [
            { label: "Redis (Recommended)", description: "x" },
            { label: "None", description: "y" },
          ],
        },
      ],
    });
    expect(items[0]).toMatchObject({
      id: "cache",
      options: [{ label: "Redis", value: "Redis", recommended: true }, { label: "None" }],
    });
  });

  test("Gemini: types choice, text and yesno with a placeholder", () => {
    const { items } = parse({
      questions: [
        { question: "Go?", header: "Go", type: "yesno" },
        { question: "Name?", header: "Name", type: "text", placeholder: "a name" },
      ],
    });
    expect(items[0]?.options.map((option) => option.value)).toEqual(["yes", "no"]);
    expect(items[1]).toMatchObject({ options: [], allowText: true, placeholder: "a name" });
  });

  test("OpenCode: multiple and custom", () => {
    const { items } = parse({
      questions: [
        { question: "Which?", header: "W", multiple: true, custom: false, options: [{ label: "A1", description: "" }] },
      ],
    });
    expect(items[0]).toMatchObject({ multiple: true, allowText: false });
  });

  test("a marker in text: question, context and plain options", () => {
    const input = parse({
      question: "Redis or Memcached?",
      context: "Both are there.",
      options: ["Redis (recommended)", "Memcached", "Other"],
    });
    expect(input).toMatchObject({ context: "Both are there.", timeoutMs: 86_400_000, onTimeout: { do: "fail" } });
    expect(input.items[0]?.options.map((option) => [option.key, option.label, option.recommended])).toEqual([
      ["A", "Redis", true],
      ["B", "Memcached", undefined],
      ["C", "Other", undefined],
    ]);
  });

  test("post_question: all its fields", () => {
    const input = parse({
      issueNumber: 123,
      question: "Which approach?",
      options: [
        { value: "A", label: "Add null check", isDefault: true },
        { value: "B", label: "Initialize early" },
      ],
      notifyVia: ["github", "slack", "email"],
      timeoutHours: 24,
      timeoutAction: "default",
      slackChannel: "#agents",
      slackMention: ["U1"],
      emailRecipients: ["ada@example.org"],
    });
    expect(input).toMatchObject({
      issue: { number: 123 },
      timeoutMs: 86_400_000,
      onTimeout: { do: "default", answer: "A" },
      notify: [
        { channel: "github", address: "123" },
        { channel: "slack", address: "#agents", mention: ["U1"] },
        { channel: "email", address: "ada@example.org" },
      ],
    });
  });
});

describe("timeouts", () => {
  test.each([
    [{ timeout: "3m" }, 180_000],
    [{ timeout: 90 }, 90_000],
    [{ timeoutHours: 2 }, 7_200_000],
    [{ expires_at: "1970-01-01T00:01:00Z" }, 60_000],
  ])("are read from %j", (raw, timeoutMs) => {
    expect(parse({ question: "Go?", ...raw })).toMatchObject({ timeoutMs });
  });

  test("wait has none", () => {
    expect(parse({ question: "Go?", on_timeout: "wait", timeout: "1h" }).timeoutMs).toBeUndefined();
  });

  test("action objects keep their parameters", () => {
    expect(parse({ question: "Go?", timeoutAction: { type: "skip", addLabel: "auto-fix-skip" } }).onTimeout).toEqual({
      do: "skip",
      addLabel: "auto-fix-skip",
    });
    expect(
      parse({ question: "Go?", timeoutAction: { type: "escalate", notifyChannel: "#ops", assignTo: "lena" } })
        .onTimeout,
    ).toEqual({
      do: "escalate",
      steps: [{ afterMs: DEFAULT_RULES.timeoutMs, to: ["lena"], channels: ["#ops"] }],
      notifyChannel: "#ops",
      assignTo: "lena",
    });
  });

  test.each([
    [{ escalate: ["lena"] }, /there is no field "escalate"; write a policy/],
    [{ policy: "skip" }, /there is no field "policy"/],
    [{ type: "skip", adLabel: "x" }, /there is no field "adLabel"/],
    [{ addLabel: "x" }, /name the policy in "type"/],
    ["sikp", /use wait, proceed, skip/],
    [7, /write a policy/],
    [{ type: "escalate", steps: [{ after: "1h", too: ["lena"] }] }, /there is no field "too"/],
    [{ type: "escalate", steps: [{ after: "0s", to: ["lena"] }] }, /how long these people have/],
    [{ type: "escalate", steps: [{ after: "1h" }] }, /name people in "to"/],
    [{ type: "escalate", steps: [] }, /steps/],
    [{ type: "skip", then: "fail" }, /"then" belongs to on_timeout "escalate"/],
    ["escalate", /names nobody to escalate to/],
    [{ type: "escalate" }, /names nobody to escalate to/],
  ])("a policy that could not be carried out is refused: %j", (policy, why) => {
    expect(() => parse({ question: "Go?", on_timeout: policy })).toThrow(why);
    expect(() => parse({ question: "Go?", timeoutAction: policy })).toThrow(why);
  });

  test("fields that are not known are refused in timeout_params too", () => {
    expect(() => parse({ question: "Go?", timeout_params: { add_labels: "x" } })).toThrow(/no field "addLabels"/);
  });

  test("a bare escalate takes the configured steps", () => {
    const escalation = { steps: [{ afterMs: 60_000, to: ["ops"], channels: [] }], then: "skip" as const };
    const rules = { ...DEFAULT_RULES, escalation };
    const { onTimeout } = parseAsk({ question: "Go?", on_timeout: "escalate" }, { via: "mcp" }, rules, instant(0));
    expect(onTimeout).toMatchObject({ do: "escalate", ...escalation });
  });

  test("an escalation does not end in silence that approves", () => {
    const policy = { type: "escalate", steps: [{ after: "1h", to: ["lena"] }], then: "proceed" };
    expect(() => parse({ question: "Run rm?", kind: "approval", on_timeout: policy })).toThrow(/given by silence/);
  });

  test("default without an answer or a recommendation is refused when it is asked", () => {
    expect(() => parse({ question: "Go?", options: ["Yes", "No"], on_timeout: "default" })).toThrow(
      /needs a default_answer/,
    );
  });

  test.each(["proceed", "default"])("an approval is never given by silence: %s", (what) => {
    expect(() => parse({ question: "Run rm?", kind: "approval", on_timeout: what, default_answer: "allow" })).toThrow(
      /cannot be given by silence/,
    );
  });
});

describe("bad input", () => {
  test.each([
    [{}, /no question/],
    [{ question: "   " }, /no text/],
    [{ question: "x".repeat(16_385) }, /16385 bytes/],
    [{ question: "q", context: "x".repeat(65_537) }, /65537 bytes/],
    [{ question: "q", options: Array.from({ length: 51 }, (_, index) => `o${index}`) }, /51 options/],
    [{ questions: Array.from({ length: 11 }, () => ({ question: "q" })) }, /at most 10/],
    [{ question: "q", options: ["a", "a"] }, /Two options have the value "a"/],
    [{ question: "q", options: [""] }, /no label/],
    [{ question: "a\u001b[2J" }, /control character/],
    [{ question: "q", timeout: "soon" }, /not a duration/],
    [{ question: 7 }, /question/],
    ["nothing", /cannot be read/],
    [{ question: "q", schema: { type: "object", properties: { a: { type: "object" } } } }, /schema/],
  ])("is refused with a reason: %#", (raw, message) => {
    expect(() => parse(raw)).toThrow(message);
  });

  test.each([
    [{ aprovals: { need: 2 } }, '"aprovals"', 'Write "approvals"'],
    [{ riks: "high" }, '"riks"', 'Write "risk"'],
    [{ on_timout: "skip" }, '"on_timout"', 'Write "on_timeout"'],
    [{ approvals: { needs: 2 } }, '"needs" in "approvals"', 'Write "need"'],
    [
      { kind: "approval", question: undefined, tool: { name: "Bash", input: {}, reson: "x" } },
      '"reson" in "tool"',
      "reason",
    ],
    [{ options: [{ label: "a", recomended: true }] }, '"recomended" in "options"', 'Write "recommended"'],
    [{ question: undefined, items: [{ text: "q", alow_text: false }] }, '"alow_text" in "items"', "allow_text"],
    [{ colour: "red" }, '"colour"', "docs/ask.md"],
  ])("a field that nobody reads is refused with the name that was meant: %j", (more, named, hint) => {
    const refused = {
      message: expect.stringContaining(`there is no field ${named}`),
      hint: expect.stringContaining(hint),
    };
    expect(() => parse({ question: "q", ...more })).toThrow(expect.objectContaining(refused));
  });

  test("other programs add fields of their own to their shapes, but a mistyped protection is refused there too", () => {
    const foreign = { via: "hook", isForeign: true };
    const questions = [{ question: "q", header: "h", options: [{ label: "a", icon: "x" }], isHidden: false }];
    expect(parse({ questions, metadata: { source: "x" }, answers: {} }, foreign).items).toHaveLength(1);
    for (const mistyped of ["aprovals", "riks", "on_timout", "alowText"]) {
      expect(() => parse({ questions, [mistyped]: "x" }, foreign)).toThrow(`there is no field "${mistyped}"`);
    }
  });

  test("nested without end is refused, not a crash", () => {
    let deep: unknown = "x";
    for (let level = 0; level < 10_000; level += 1) deep = [deep];
    expect(() => parse({ question: deep })).toThrow(/nested deeper/);
  });

  test.each([
    "What is the database password?",
    "Please paste your API key here.",
    "Enter the access token for npm",
    "What's your ssh key?",
  ])("a question for a secret is refused: %s", (question) => {
    expect(() => parse({ question })).toThrow(/password, key or token/);
  });

  test.each([
    "Should the API use JWT tokens or session cookies?",
    "What is the API key rotation interval?",
    "Which password hashing should I use?",
    "How many tokens may a request use?",
    "Where should the token cache live?",
  ])("a question about secrets is not: %s", (question) => {
    expect(parse({ question }).items[0]?.text).toBe(question);
  });

  test("what is configured for silence counts as far as it can, and what is declared is refused if it cannot", () => {
    const policyOf = (raw: object, onTimeout: "proceed" | "default") =>
      parseAsk({ question: "q", ...raw }, DOOR, { ...DEFAULT_RULES, onTimeout }, instant(0)).onTimeout.do;
    expect(policyOf({}, "proceed")).toBe("proceed");
    expect(policyOf({ kind: "approval" }, "proceed")).toBe("fail");
    expect(policyOf({}, "default")).toBe("fail");
    expect(policyOf({ options: ["Redis (recommended)", "Memcached"] }, "default")).toBe("default");
    expect(policyOf({ default_answer: "Redis" }, "default")).toBe("default");
    expect(() => policyOf({ kind: "approval", on_timeout: "proceed" }, "proceed")).toThrow(/silence/);
  });

  test("colours in a log do not keep it from being context", () => {
    expect(parse({ question: "q", context: "\u001b[31mfailed\u001b[0m" }).context).toBe("\\x1b[31mfailed\\x1b[0m");
  });
});
