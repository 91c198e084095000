import { afterEach, describe, expect, test } from "vitest";
import { McpScene } from "../../../test/mcp/scene.ts";
import { ROOMY } from "../../../test/scene.ts";
import { QuestionId } from "../../core/id.ts";
import { parseTools } from "./tool.ts";

const LEGACY = { way: "stdio", era: "legacy" } as const;
const MODERN = { way: "http", era: "modern" } as const;

let scene: McpScene;
const begin = (): McpScene => (scene = new McpScene());
afterEach(() => scene?.close());

describe.each([LEGACY, MODERN])("over $way in the $era era", (door) => {
  test("post_question says in which channels somebody is told, and why not in the others", async () => {
    const reach = [
      { name: "telegram", person: undefined, isPersonal: true },
      { name: "webhook", person: undefined, isPersonal: false },
    ];
    scene = new McpScene(undefined, { ...ROOMY, reach });
    const client = await scene.connect({ ...door, tools: parseTools("post_question") });
    const ask = { issueNumber: 123, question: "Deploy?", notifyVia: ["telegram", "webhook", "slack"] };
    const posted = await client.call("post_question", { ...ask, timeoutHours: 1, timeoutAction: "skip" });
    expect(posted.fields).toMatchObject({
      notificationsSent: ["webhook"],
      notificationsFailed: [
        { channel: "telegram", why: "nobody it is for has an address there" },
        { channel: "slack", why: "not configured" },
      ],
    });
    const { deliveries = [] } = await scene.waiting();
    expect(deliveries.map(({ channel }) => channel)).toEqual(["webhook"]);
    const { tools } = await client.listTools();
    expect(tools.find(({ name }) => name === "post_question")?.description).toContain(
      "notificationsSent names the channels for which a message was stored with the question",
    );
  });

  test("post_question returns at once in the words of workflows, and so do its companions", async () => {
    const tools = parseTools("check_answer,post_question,cancel_question");
    const client = await begin().connect({ ...door, tools });
    const posted = await client.call("post_question", {
      issueNumber: 123,
      question: "How should I fix it?",
      context: "The token expires early.",
      options: [
        { value: "A", label: "Extend it", description: "Simple" },
        { value: "B", label: "Refresh it", isDefault: true },
      ],
      notifyVia: ["github", "slack"],
      slackChannel: "#agents",
      slackMention: ["@ada"],
      emailRecipients: ["ada@example.com"],
      timeoutHours: 24,
      timeoutAction: "default",
      defaultAnswer: "B",
    });
    const question = await scene.waiting();
    expect(posted.fields).toEqual({
      questionId: question.id,
      workflowRunId: question.runId,
      status: "pending",
      notificationsSent: [],
      notificationsFailed: [
        { channel: "github", why: "not configured" },
        { channel: "slack", why: "not configured" },
        { channel: "slack", why: "the address is not allowed by the settings and was ignored" },
      ],
      timeoutAt: question.dueAt,
    });
    expect(JSON.parse(posted.text)).toEqual(posted.fields);
    expect(question).toMatchObject({ issue: { number: 123 }, onTimeout: { do: "default", answer: "B" } });
    const ref = { questionId: question.id };
    expect((await client.call("check_answer", ref)).fields).toEqual({ status: "pending" });
    await scene.answer(question.id, "B");
    const checked = await client.call("check_answer", ref);
    expect(checked.fields).toEqual({
      status: "answered",
      answer: "B",
      label: "Refresh it",
      answeredBy: "ada",
      answeredAt: expect.any(String),
    });
    await scene.given(question.id);
    expect((await client.call("cancel_question", ref)).fields).toEqual({ success: false, previousStatus: "answered" });
  });

  test("AskUser waits three minutes where the client bears it, and then tells the agent to proceed", async () => {
    const client = await begin().connect({ ...door, tools: parseTools("AskUser"), name: "codex-mcp-client" });
    const calling = client.call("AskUser", { question: "Drop the table?" });
    const question = await scene.waiting();
    expect(question).toMatchObject({ hold: { windowMs: 180_000, after: "proceed" } });
    await scene.answer(question.id, "No, rename it");
    expect((await calling).text).toContain("No, rename it");
    await scene.given(question.id);
    const silent = await client.call("AskUser", { question: "Drop the index?", timeout_seconds: 1 });
    expect(silent.text).toBe("No response received within 1 second — proceed using your best judgment.");
  });

  test("AskUserQuestion stops the session at once and never times out", async () => {
    const client = await begin().connect({ ...door, tools: parseTools("AskUserQuestion") });
    const questions = [
      {
        question: "Which cache?",
        header: "Cache",
        multiSelect: false,
        options: [{ label: "Redis", description: "x" }],
      },
      {
        question: "Which policies?",
        header: "Policy",
        multiSelect: true,
        options: [{ label: "TTL" }, { label: "LRU" }],
      },
    ];
    const stopped = await client.call("AskUserQuestion", { questions });
    const question = await scene.waiting();
    expect(stopped.fields).toEqual({
      status: "pending",
      question_id: question.id,
      stop_session: true,
      stop_reason: "waiting_for_user_input",
      message: stopped.text,
    });
    expect(question).toMatchObject({ onTimeout: { do: "wait" } });
    expect(question.dueAt).toBeUndefined();
    await scene.answer(question.id, "1A 2A,B");
    const again = await client.call("AskUserQuestion", { questions });
    expect(again.fields).toMatchObject({
      answers: { 1: { values: ["Redis"] }, 2: { values: ["TTL", "LRU"] } },
    });
  });
});

test.each([
  [
    "Claude Code",
    {
      questions: [
        { question: "Which?", header: "Cache", multiSelect: true, options: [{ label: "A", description: "a" }] },
      ],
    },
  ],
  [
    "Codex",
    {
      questions: [
        {
          id: "cache",
          header: "Cache",
          question: "Which?",
          isOther: true,
          isSecret: false,
          options: [{ label: "A (Recommended)", description: "a" }],
        },
      ],
    },
  ],
  ["Gemini", { questions: [{ question: "Which?", header: "Cache", type: "text", placeholder: "a word" }] }],
  [
    "OpenCode",
    {
      questions: [
        {
          question: "Which?",
          header: "Cache",
          multiple: true,
          custom: false,
          options: [{ label: "A", description: "a" }],
        },
      ],
    },
  ],
])("ask_human takes a question in the words of %s as it is", async (_, input) => {
  const client = await begin().connect(LEGACY);
  const { fields } = await client.call("ask_human", { ...input, timeout_seconds: 0.05 });
  expect(fields["status"]).toBe("pending");
  const read = await scene.engine.read(QuestionId.parse(fields["question_id"]));
  expect(read.content.items).toMatchObject([{ text: "Which?", header: "Cache" }]);
});

test("AskUser waits as long as --hold says", async () => {
  const deps = { ...begin().deps, holdMs: 1000 };
  const client = await scene.connect({ ...LEGACY, tools: parseTools("AskUser"), name: "codex-mcp-client", deps });
  const silent = await client.call("AskUser", { question: "Drop the index?" });
  expect(silent.text).toBe("No response received within 1 second — proceed using your best judgment.");
});

test("tools are listed in one order, whatever order they were chosen in", () => {
  expect(parseTools("AskUser, check_answer,ask_human")).toEqual(["ask_human", "check_answer", "AskUser"]);
  expect(() => parseTools("ask_humans")).toThrow('There is no tool "ask_humans"');
});
