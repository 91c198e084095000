import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import type { Task } from "../agent.ts";
import { AGENTS } from "../agents.ts";
import { chooseWay, findAgentOf } from "../registry.ts";
import { CodexPlan, codexApp } from "./app-server.ts";
import { ShownWatch } from "./shown-reply.ts";
import { codex } from "./codex.ts";
import { type Incoming, JsonRpc } from "../json-rpc.ts";
import { numberAt, parseJson, textAt, valueAt } from "../json.ts";
import { OutputState } from "../runner/output-state.ts";

const ROOT = join("test", "fixtures", "agents", "codex-appserver-0.166.0");
const linesOf = (name: string) =>
  readFileSync(join(ROOT, `${name}.ndjson`), "utf8")
    .trimEnd()
    .split("\n");
const toClient = (name: string) => linesOf(name).filter((line) => textAt(parseJson(line), "to") === "client");

function readAll(lines: readonly string[]): OutputState {
  const reading = new OutputState();
  for (const line of lines) reading.take(codexApp.read(line));
  reading.end();
  return reading;
}

describe("what the app-server says", () => {
  test.each([
    ["request-user-input-default-mode", "01a1e09d-d04c-78e3-82bc-993eadcdf158", /^Final: \{"answers"/, 570, 187],
    ["request-user-input-no-flag", "01a1e09d-d401-7712-894f-7a7933d24a91", /unavailable in Default mode$/, 560, 177],
    ["elicitation", "01a1e09d-d5f1-75a3-8867-f85444c0b119", /"color":"blue"/, 409, 107],
  ])("is read as what it is: %s", (name, session, words, inputTokens, outputTokens) => {
    const reading = readAll(toClient(name));
    expect(reading).toMatchObject({ session, ended: { status: "completed" } });
    expect(reading.lastWords).toMatch(words);
    expect(reading.usage).toMatchObject([{ since: "session", inputTokens, outputTokens }]);
  });

  test("of a turn that was interrupted is no end, and of one that failed is its reason", () => {
    const end = (turn: object) => readAll([JSON.stringify({ method: "turn/completed", params: { turn } })]).ended;
    expect(end({ status: "interrupted", error: null })).toBeUndefined();
    expect(end({ status: "failed", error: { message: "no quota" } })).toEqual({
      status: "failed",
      reason: "agent_error",
      summary: "no quota",
    });
  });

  test("bears lines that are cut or twisted, and those of exec", () => {
    const lines = readdirSync(ROOT).flatMap((name) => linesOf(name.replace(/\.ndjson$/, "")));
    const cut = lines.map((line) => line.slice(0, line.length / 2));
    const twisted = lines.map((line) => line.replace(/"(params|item|turn|thread|tokenUsage)":/g, '"$1":7,"x":'));
    for (const line of [...lines, ...cut, ...twisted]) expect(Array.isArray(codexApp.read(line))).toBe(true);
    const exec = '{"type":"thread.started","thread_id":"t-1"}';
    expect(codexApp.read(exec)).toEqual(codex.read(exec));
  });
});

/** When the watch says that a reply was seen, by the number of the line in the recording. */
function shownAt(name: string, without: RegExp = /^$/): number[] {
  const watch = new ShownWatch();
  return linesOf(name).flatMap((text, index) => {
    const line = parseJson(text);
    const [method, id] = [textAt(line, "method"), numberAt(line, "id")];
    if (textAt(line, "to") === "server" && method === undefined) {
      watch.replied(id ?? -1, { result: {}, ids: ["q_1"] });
      return [];
    }
    if (method === undefined || textAt(line, "to") === "server" || without.test(method)) return [];
    if (id !== undefined) watch.asked(id, valueAt(line, "params"));
    return watch.take({ method, params: valueAt(line, "params") }).map(() => index + 1);
  });
}

describe("that the model was sent a reply", () => {
  test("is known when it speaks after the message in which it asked", () => {
    const lines = linesOf("request-user-input-default-mode");
    const [at = 0, ...more] = shownAt("request-user-input-default-mode");
    expect(more).toEqual([]);
    expect(lines[at - 1]).toMatch(/"item\/started".*"agentMessage","id":"msg_mwi7llzf0004"/);
  });

  test("is known at the end of its turn where nothing is counted", () => {
    const lines = linesOf("elicitation");
    const [at = 0] = shownAt("elicitation", /tokenUsage/);
    expect(lines[at - 1]).toMatch(/"turn\/completed"/);
  });

  test("is not believed before the app-server took the reply", () => {
    expect(shownAt("request-user-input-default-mode", /serverRequest/)).toEqual([]);
  });
});

function aTask(args: readonly string[], over: Partial<Task> = {}): Task {
  const parsed = codex.parseArgs(args);
  return {
    runId: "r_1",
    epoch: 1,
    startDir: "/runs/1",
    dir: "/repo",
    program: "/bin/codex",
    env: {},
    args: parsed.args,
    prompt: parsed.prompt,
    version: "0.166.0",
    askd: ["node", "/opt/askd"],
    token: undefined,
    promptTool: undefined,
    resumeWith: undefined,
    liveWindowMs: 90_000,
    maxTurns: undefined,
    budgetUsd: undefined,
    ...over,
  };
}

function planIn({ files }: { files: ReadonlyArray<{ name: string; text: string }> }): CodexPlan {
  return CodexPlan.parse(JSON.parse(files.find(({ name }) => name === "codex-app.json")?.text ?? ""));
}

describe("a command line of codex exec", () => {
  test("becomes a server, a thread and a prompt", () => {
    const typed = ["-c", "a=1", "exec", "-m", "gpt-5.2", "--sandbox=read-only", "-C", "/else", "--json", "Do it."];
    const start = codexApp.start(aTask(typed));
    expect(start).toMatchObject({ stdin: "Do it.", prints: "lines" });
    expect(start.argv.slice(0, 6)).toEqual(["node", "/opt/askd", "bridge", "codex", "--hold", "90s"]);
    const plan = planIn(start);
    expect(plan.server.slice(0, 4)).toEqual(["/bin/codex", "app-server", "-c", "a=1"]);
    expect(plan.thread).toEqual({ model: "gpt-5.2", sandbox: "read-only", cwd: "/else" });
    expect(plan.session).toBeUndefined();
    expect(plan.fallback).toEqual(codex.start(aTask(typed)).argv);
  });

  test("that resumes a thread, resumes it", () => {
    expect(planIn(codexApp.start(aTask(["exec", "resume", "t-1", "Go on."]))).session).toBe("t-1");
    const how = { by: "message", text: "Redis." } as const;
    const start = codexApp.resume({ ...aTask(["exec", "Do it."]), session: "t-2" }, how);
    expect(start).toMatchObject({ stdin: "Redis.", session: "t-2" });
    expect(planIn(start)).toMatchObject({ session: "t-2", thread: { cwd: "/repo" } });
  });

  test("asks nobody where it says so", () => {
    const { thread } = planIn(codexApp.start(aTask(["exec", "--dangerously-bypass-approvals-and-sandbox", "Do it."])));
    expect(thread).toEqual({ cwd: "/repo", approvalPolicy: "never", sandbox: "danger-full-access" });
  });

  test.each([
    [["exec", "--output-schema", "s.json", "Do it."], {}, "only exec knows --output-schema"],
    [["exec", "Do it."], { version: "0.99.3" }, "Codex 0.99.3 is older than 0.166.0"],
    [["exec", "resume", "--last", "Go on."], {}, "only exec knows what it is told to do"],
    [["exec", "review", "Look."], {}, "only exec knows what it is told to do"],
    [["exec"], {}, "only exec knows what it is told to do"],
  ])("%j stays as it is where the app-server cannot do it", (typed, over, why) => {
    const start = codexApp.start(aTask(typed, over));
    const exec = codex.start(aTask(typed, over));
    expect(start).toEqual({ ...exec, added: [...exec.added, `exec in place of the app-server: ${why}`] });
  });

  test.each([["0.166.1"], ["0.167.0-alpha.2"], ["1.0.0"], [undefined]])("of version %s is new enough", (version) => {
    expect(codexApp.start(aTask(["exec", "Do it."], { version })).argv).toContain("bridge");
  });

  test("is one for the app-server only where that was chosen", () => {
    expect(findAgentOf(AGENTS, "/usr/bin/codex")).toBe(codex);
    expect(chooseWay(AGENTS, codex, {})).toBe(codex);
    expect(chooseWay(AGENTS, codex, { ASKD_CODEX: "app-server" })).toBe(codexApp);
  });
});

describe("JSON-RPC", () => {
  function connect() {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const incoming: Incoming[] = [];
    const rpc = new JsonRpc({ input, output }, (message) => void incoming.push(message));
    const sent = () => String(output.read() ?? "").trim();
    return { input, rpc, incoming, sent };
  }

  test("brings each reply to its request, and all else to the listener", async () => {
    const { input, rpc, incoming, sent } = connect();
    const [first, second] = [rpc.request("a", {}), rpc.request("b", {})];
    expect(sent()).toBe('{"id":1,"method":"a","params":{}}\n{"id":2,"method":"b","params":{}}');
    input.write(
      'words\n{"id":2,"result":{"x":2}}\n{"method":"m","id":0,"params":7}\n{"id":1,"error":{"message":"no"}}\n',
    );
    await expect(first).rejects.toThrow("a: no");
    expect(await second).toEqual({ x: 2 });
    expect(incoming).toEqual([{ method: "m", id: 0, params: 7 }]);
  });

  test("fails what waits when the program ends", async () => {
    const { input, rpc } = connect();
    const waiting = rpc.request("a", {});
    input.end();
    await expect(waiting).rejects.toThrow("a: the program has ended");
    await expect(rpc.request("b", {})).rejects.toThrow("b: the program has ended");
  });
});
