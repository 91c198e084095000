import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { ADA } from "../../../test/builders.ts";
import { MCP, Scene, said } from "../../../test/scene.ts";
import type { AnswerInput } from "../../core/answer/answer-input.ts";
import { codexAppRequests } from "./app-server-request.ts";
import { type HookCall, replyTo } from "../../core/door/hook.ts";

const Line = z.looseObject({
  to: z.string(),
  method: z.string().optional(),
  id: z.number().optional(),
  params: z.unknown().optional(),
  result: z.unknown().optional(),
});

const linesOf = (name: string) =>
  readFileSync(join("test", "fixtures", "agents", "codex-appserver-0.166.0", `${name}.ndjson`), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => Line.parse(JSON.parse(line)));

/** The request that the app-server made in a recording, with the item that it is about. */
function requestIn(name: string): unknown {
  const lines = linesOf(name);
  const request = lines.find(({ to, method, id }) => to === "client" && method !== undefined && id !== undefined);
  const About = z.looseObject({ itemId: z.string().optional(), item: z.looseObject({ id: z.string() }).optional() });
  const { itemId } = About.parse(request?.params);
  const started = lines.filter(({ method }) => method === "item/started").map(({ params }) => About.parse(params).item);
  return { ...request, item: started.find((item) => item?.id === itemId) };
}

function callIn(name: string): HookCall {
  const event = codexAppRequests.parse(requestIn(name));
  if (event.is !== "call") throw new Error(`${name} holds no request`);
  return event.call;
}

async function resultOf(call: HookCall, answer: string, over: Partial<AnswerInput> = {}) {
  const scene = new Scene();
  const asked = await scene.ask({ options: undefined, question: undefined, ...call.ask }, MCP);
  const read = await scene.engine.answer(asked.question.id, said(answer, over), ADA);
  return codexAppRequests.say(call, replyTo(call, read), "answer-x");
}

test("a question is named by its thread and call, and answered in the model's own words", async () => {
  const call = callIn("request-user-input-default-mode");
  expect(call).toMatchObject({
    is: "question",
    session: "01a1e09d-d04c-78e3-82bc-993eadcdf158",
    key: "01a1e09d-d04c-78e3-82bc-993eadcdf158:call_mwi7llyc0002",
  });
  expect(await resultOf(call, "redis", { note: "use db 3" })).toEqual({
    answers: {
      cache: {
        answers: [
          "Redis (Recommended)",
          'user_note: Note: "use db 3"',
          expect.stringMatching(/^user_note: Question q_\w+: .* Answered by ada .* Recorded as a_\w+\.$/),
        ],
      },
    },
  });
  expect(await resultOf(call, "Valkey")).toMatchObject({
    answers: { cache: { answers: ["Valkey", expect.anything()] } },
  });
});

test("a question that gets no answer gets the reason, and one that is parked gets nothing", () => {
  const call = callIn("request-user-input-plan-mode");
  expect(codexAppRequests.say(call, { do: "deny", why: "Not now." }, "x")).toEqual({
    answers: { cache: { answers: ["user_note: Not now."] } },
  });
  expect(codexAppRequests.say(call, { do: "park", why: "later" }, "x")).toBeUndefined();
});

test.each([
  ["command-approval", "a command", { command: "/bin/bash -lc 'echo done > made.txt'", cwd: "/repo" }],
  [
    "file-change-approval",
    "a file change",
    { changes: [{ path: "/repo/x.txt", kind: { type: "add" }, diff: "hi\n" }] },
  ],
])("%s asks a person, who sees all that is to be done", async (name, tool, input) => {
  const call = callIn(name);
  expect(call).toMatchObject({ is: "approval", tool, input });
  expect(await resultOf(call, "allow")).toEqual({ decision: "accept" });
  expect(await resultOf(call, "deny")).toEqual({ decision: "decline" });
});

test("a change that nobody can see is not asked about", () => {
  const request = requestIn("file-change-approval");
  expect(() => codexAppRequests.parse({ ...z.looseObject({}).parse(request), item: undefined })).toThrow(
    /cannot be read/,
  );
});

test("more permissions are given as they were asked for, for one turn", async () => {
  const permissions = { network: { enabled: true } };
  const params = { threadId: "t", turnId: "u", itemId: "i", cwd: "/repo", permissions, reason: "To fetch." };
  const event = codexAppRequests.parse({ method: "item/permissions/requestApproval", params });
  if (event.is !== "call") throw new Error("it is no call");
  expect(await resultOf(event.call, "allow")).toEqual({ permissions, scope: "turn" });
  expect(await resultOf(event.call, "deny")).toEqual({ permissions: {}, scope: "turn" });
});

test("a form is filled in, and one without fields asks for leave", async () => {
  const call = callIn("elicitation");
  expect(call).toMatchObject({ is: "form", tool: "asker" });
  expect(await resultOf(call, "blue")).toEqual({ action: "accept", content: { color: "blue" } });
  expect(codexAppRequests.say(call, { do: "pass" }, "x")).toEqual({ action: "cancel", content: null });
  const params = {
    threadId: "t",
    serverName: "db",
    mode: "form",
    message: "Drop it?",
    requestedSchema: { type: "object" },
  };
  const event = codexAppRequests.parse({ method: "mcpServer/elicitation/request", params });
  if (event.is !== "call") throw new Error("it is no call");
  expect(event.call).toMatchObject({ is: "approval", tool: "db", input: { message: "Drop it?" } });
  expect(await resultOf(event.call, "allow")).toEqual({ action: "accept", content: {} });
  expect(await resultOf(event.call, "deny")).toEqual({ action: "decline", content: null });
});

test("what only a person at the program could do is left alone", () => {
  const params = { threadId: "t", serverName: "db", mode: "url", message: "", url: "http://example.com" };
  expect(codexAppRequests.parse({ method: "mcpServer/elicitation/request", params })).toEqual({ is: "other" });
  expect(codexAppRequests.parse({ method: "account/chatgptAuthTokens/refresh", params: {} })).toEqual({ is: "other" });
});
