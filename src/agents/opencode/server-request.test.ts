import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ADA, AGENT } from "../../../test/builders.ts";
import { MCP, Scene, said } from "../../../test/scene.ts";
import type { AnswerInput } from "../../core/answer/answer-input.ts";
import type { QuestionSnapshot } from "../../core/changes.ts";
import { type HookCall, replyTo, replyUnanswered } from "../../core/door/hook.ts";
import { opencodeRequests } from "./server-request.ts";

const FOLDER = join("test", "fixtures", "agents", "opencode-serve-1.18.33");

/** The one event of a recording that asks something. */
function recorded(name: string, type: string): HookCall {
  const events = readFileSync(join(FOLDER, name), "utf8").split("\n\n").filter(Boolean);
  const parsed = events.map((text) => opencodeRequests.parse(JSON.parse(text.slice("data: ".length))));
  const calls = parsed.flatMap((event) => (event.is === "call" ? [event.call] : []));
  expect(calls.map(({ event }) => event)).toEqual([type]);
  return calls[0]!;
}

const question = recorded("events-question.sse", "question.asked");
const permission = recorded("events-permission.sse", "permission.asked");

async function answered(call: HookCall, input: AnswerInput): Promise<QuestionSnapshot> {
  const scene = new Scene();
  const { question: asked } = await scene.ask(
    { ...call.ask, question: call.ask["question"], options: call.ask["options"] },
    MCP,
  );
  return scene.engine.answer(asked.id, input, ADA);
}

const say = (call: HookCall, read: QuestionSnapshot) => opencodeRequests.say(call, replyTo(call, read), "answer-x");

test("its question is named by session and call, in the words of the model", () => {
  expect(question).toMatchObject({
    is: "question",
    key: expect.stringMatching(/^ses_\w+:call_\w+$/),
    ask: {
      questions: [
        { question: "Which?", header: "H" },
        { question: "Many?", multiple: true },
      ],
    },
  });
});

test("every item gets its own list of labels or words, the first one also who answered", async () => {
  const items = { "1": { values: [], text: "neither" }, "2": { values: ["A", "B"] } };
  const read = await answered(question, said("", { answer: undefined, items, note: "for now" }));
  const told = expect.stringMatching(/^\(Question q_\w+: A person answered your question\. .* Recorded as a_\w+\.\)$/);
  expect(say(question, read)).toEqual({
    answers: [
      ["neither", '(note: "for now")', told],
      ["A", "B"],
    ],
  });
});

test("a choice that is left to it, or asked back about, is told in place of each answer", async () => {
  const decide = await answered(question, said("", { outcome: "decide" }));
  expect(say(question, decide)).toMatchObject({
    answers: [[expect.stringContaining("You decide"), expect.anything()], [expect.stringContaining("You decide")]],
  });
});

test("a refusal is told as what it is, and the turn goes on", () => {
  const body = opencodeRequests.say(question, { do: "deny", why: "It asks for a secret." }, "answer-x");
  expect(body).toEqual({ answers: [["(no answer) It asks for a secret."], []] });
});

test("leave is given once, for exactly what was asked, or refused with the reason", async () => {
  expect(permission).toMatchObject({
    is: "approval",
    tool: "bash",
    key: expect.stringMatching(/^ses_\w+:per_\w+$/),
    input: { patterns: ["env", "grep OPENCODE", "echo hi"], command: "env | grep OPENCODE; echo hi" },
  });
  expect(say(permission, await answered(permission, said("allow", { confirmed: true })))).toEqual({ reply: "once" });
  const denied = say(permission, await answered(permission, said("deny", { note: "not here" })));
  expect(denied).toEqual({ reply: "reject", message: expect.stringMatching(/^Not allowed by ada .*not here/) });
});

test("a call that nobody decides in time gets no reply, as its agent is parked", async () => {
  const scene = new Scene();
  const { id: runId } = await scene.startedRun({ agent: "opencode-serve" });
  const input = scene.input({ ...question.ask, question: undefined, options: undefined }, MCP);
  const read = await scene.engine.ask(input, { ...AGENT, runId }, { runId });
  const reply = replyUnanswered(question, read, { park: opencodeRequests.mayPark, isAttended: false });
  expect(reply).toMatchObject({ do: "park" });
  expect(opencodeRequests.say(question, reply, "answer-x")).toBeUndefined();
});
