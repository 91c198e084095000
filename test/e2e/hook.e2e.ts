import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { RunId } from "../../src/core/id.ts";
import { AGENT } from "../builders.ts";
import { AGENTS, type Box, type Start, claudeEnv, gemini, write } from "./agent.ts";
import { programFile } from "./install.ts";
import { Stage, promptOf } from "./stage.ts";

const CACHE = {
  question: "Which cache should I use?",
  header: "Cache",
  multiSelect: false,
  options: [
    { label: "Redis (Recommended)", description: "pub/sub" },
    { label: "Memcached", description: "simple" },
  ],
};
const EVICTION = {
  ...CACHE,
  question: "Which eviction?",
  header: "Eviction",
  multiSelect: true,
  options: [
    { label: "TTL", description: "by age" },
    { label: "LRU", description: "by use" },
    { label: "LFU", description: "by count" },
  ],
};
const FINAL = { say: "Final: {{result}}" };
const ask = (...questions: object[]) => ({ call: "AskUserQuestion", input: { questions } });

let stage: Stage;
beforeEach(() => {
  stage = new Stage();
});
afterEach(() => stage.close());

/** Claude Code as a person would start it, with our hook in its settings. */
function claude(args: readonly string[], hold: string, matcher = "AskUserQuestion") {
  return (box: Box, askd: readonly string[]): Start => {
    const command = [...askd, "hook", "claude", "--hold", hold].map((word) => `'${word}'`).join(" ");
    const hooks = [{ type: "command", command, timeout: 600 }];
    const settings = join(box.home, "askd-settings.json");
    write(settings, JSON.stringify({ hooks: { PreToolUse: [{ matcher, hooks }], PostToolUse: [{ matcher, hooks }] } }));
    const flags = ["--output-format", "stream-json", "--verbose", "--settings", settings];
    return {
      argv: [programFile("claude"), "-p", ...args, ...flags, "--permission-prompt-tool", "stdio"],
      env: { ...claudeEnv(box), ASKD_HOME: stage.askdHome },
    };
  };
}

function ofLast(output: string, type: string): Record<string, unknown> {
  const lines = output.split("\n").filter((line) => line.startsWith("{"));
  const events = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  return events.findLast((event) => event["type"] === type) ?? {};
}

/** Where askd keeps the files of a run. */
function runDir(id: RunId): string {
  return join(stage.askdHome, "state", "runs", id);
}

function until(status: string) {
  return stage.until(`the run is ${status}`, async () => {
    const run = await onlyRun();
    return run.status === status ? run : undefined;
  });
}

async function onlyRun() {
  const engine = await stage.engine();
  const [run, ...others] = await engine.listRuns({ order: "oldest", limit: 2 });
  expect(others).toEqual([]);
  return run!;
}

describe("claude", () => {
  test("gets the answer of a person as the result of its own question tool, and the run knows its session", async () => {
    const { ended } = await stage.launch(claude([promptOf([ask(CACHE), FINAL])], "60s"));
    const { id } = await stage.waiting();
    const run = await onlyRun();
    expect(run).toMatchObject({ agent: "claude", giveBack: "worker", seen: { isAttended: false } });
    await stage.type("answer", id, "1");
    const { exitCode, output } = await ended;
    expect(exitCode === 0 ? "it ended well" : output).toBe("it ended well");
    expect(stage.results().join("\n")).toContain(
      'Your questions have been answered: "Which cache should I use?"="Redis (Recommended)"',
    );
    expect(stage.told()).toMatch(/A person answered your question\. Answered by \S+ \(cli\) at .* Recorded as a_/);
    expect(run.session).toBe(ofLast(output, "result")["session_id"]);
    expect(run.dir).toMatch(/repo$/);
    expect((await (await stage.engine()).read(id)).question).toMatchObject({ handover: { state: "given" } });
    expect(await onlyRun()).toMatchObject({ status: "completed" });
  });

  test("is parked when nobody answers, and goes on days later with the genuine result of its call", async () => {
    const parked = await (await stage.launch(claude([promptOf([ask(CACHE), FINAL])], "1s"))).ended;
    expect(ofLast(parked.output, "result")).toMatchObject({ stop_reason: "tool_deferred" });
    const { id } = await stage.waiting();
    const { session = "", status } = await onlyRun();
    expect(status).toBe("awaiting_input");
    expect(stage.results()).toEqual([]);

    // Still nobody: nothing is asked twice, and the model is not asked at all.
    const again = await (await stage.launch(claude(["--resume", session], "1s"))).ended;
    expect(ofLast(again.output, "result")).toMatchObject({ stop_reason: "tool_deferred" });
    expect((await stage.waiting()).id).toBe(id);

    await stage.type("answer", id, "Memcached");
    const resumed = await (await stage.launch(claude(["--resume", session], "1s"))).ended;
    expect(resumed.exitCode === 0 ? "it ended well" : resumed.output).toBe("it ended well");
    expect(stage.results()).toEqual([expect.stringContaining('"Which cache should I use?"="Memcached"')]);
    const { question } = await (await stage.engine()).read(id);
    expect(question).toMatchObject({ status: "answered", handover: { state: "given" } });
    expect((await (await stage.engine()).verify()).problems).toEqual([]);
  });

  test("started by a person with a key of theirs is resumed by a worker that has none, with all of its options", async () => {
    const own = ["--permission-mode", "acceptEdits", "--model", "claude-haiku-4-5", "--add-dir", stage.root];
    const parked = await (await stage.launch(claude([promptOf([ask(CACHE), FINAL]), ...own], "1s"))).ended;
    expect(ofLast(parked.output, "result")).toMatchObject({ stop_reason: "tool_deferred" });
    await stage.work();
    await stage.type("answer", (await stage.waiting()).id, "Memcached");
    const run = await until("completed");
    expect(stage.results()).toEqual([expect.stringContaining('"Which cache should I use?"="Memcached"')]);
    const resumed = readFileSync(join(runDir(run.id), "1.out"), "utf8");
    expect(ofLast(resumed, "system")).toMatchObject({ permissionMode: "acceptEdits", model: "claude-haiku-4-5" });
    expect(run).toMatchObject({ epoch: 1, session: ofLast(parked.output, "result")["session_id"] });
  });

  test("that is not logged in when it is resumed waits for a login with its answer, and goes on then", async () => {
    await (
      await stage.launch(claude([promptOf([ask(CACHE), FINAL])], "1s"))
    ).ended;
    const { id } = await stage.waiting();
    const kept = join(runDir((await onlyRun()).id), "env.json");
    const text = readFileSync(kept, "utf8");
    writeFileSync(kept, text.replace('"ANTHROPIC_API_KEY":"dummy-key",', ""));
    await stage.work();
    await stage.type("answer", id, "Memcached");
    expect(await until("blocked")).toMatchObject({ reason: "not_logged_in", epoch: 1 });
    expect(await stage.type("status")).toMatch(
      /^NOT LOGGED IN:\n {2}#1 .*\(Claude Code\)\n {6}Log in to Claude Code on/m,
    );
    expect(await stage.type("show", id)).toMatch(/^Summary: Not logged in/m);
    writeFileSync(kept, text);
    await stage.type("runs", "resume", "1");
    expect(await until("completed")).toMatchObject({ epoch: 2 });
    expect(stage.results()).toEqual([expect.stringContaining('"Which cache should I use?"="Memcached"')]);
    expect((await (await stage.engine()).verify()).problems).toEqual([]);
  });

  test("gets several choices, free text and a note as they were given", async () => {
    const { ended } = await stage.launch(claude([promptOf([ask(EVICTION, CACHE), FINAL])], "60s"));
    const { id } = await stage.waiting();
    await stage.type("answer", id, "-c", "1=A,B", "-c", "2=the one we run already", "-m", "not in production");
    await ended;
    const told = stage.results().join("\n");
    expect(told).toContain('"Which eviction?"="TTL, LRU"');
    expect(told).toContain("notes: not in production");
    expect(told).toContain('"Which cache should I use?"="the one we run already"');
  });

  test("that asks twice in one turn keeps one question and is told to ask the other again", async () => {
    const steps = [{ calls: [ask(CACHE), ask(EVICTION)] }, FINAL];
    const { ended } = await stage.launch(claude([promptOf(steps)], "2s"));
    const { output } = await ended;
    expect(ofLast(output, "result")).toMatchObject({ stop_reason: "tool_deferred" });
    const { id, title } = await stage.waiting();
    const { session = "" } = await onlyRun();
    await stage.type("answer", id, "1");
    await (
      await stage.launch(claude(["--resume", session], "2s"))
    ).ended;
    const told = stage.results().join("\n");
    expect(told).toContain(`"${title}"="${title === CACHE.question ? "Redis (Recommended)" : "TTL"}"`);
    expect(told).toContain("Ask this one again once that is answered.");
  });

  test("that was taken over is parked at once and changes nothing", async () => {
    const engine = await stage.engine();
    const run = await startedRun("claude");
    await engine.startRun(run.id, AGENT);
    const env = { ASKD_RUN: run.id, ASKD_EPOCH: String(run.epoch) };
    const { output } = await (await stage.launch(claude([promptOf([ask(CACHE), FINAL])], "60s"), env)).ended;
    expect(ofLast(output, "result")).toMatchObject({ stop_reason: "tool_deferred" });
    expect(await engine.listQuestions({ order: "oldest", limit: 1 })).toEqual([]);
    expect(await engine.findRun(run.id)).toMatchObject({ asked: 0, status: "running" });
  });

  test("of a run that askd started has the answer on its way, and its call being over shows that it arrived", async () => {
    const engine = await stage.engine();
    const run = await startedRun("claude");
    const env = { ASKD_RUN: run.id, ASKD_EPOCH: String(run.epoch) };
    const { ended } = await stage.launch(claude([promptOf([ask(CACHE), FINAL])], "60s"), env);
    const { id } = await stage.waiting();
    await stage.type("answer", id, "1");
    await ended;
    const types = (await engine.readChain(run.id)).map(({ event }) => event.type);
    expect(types.slice(-3)).toEqual(["question.answered", "question.handing", "question.given"]);
  });

  test("uses a tool only after a person allowed exactly that, and parks until then", async () => {
    const touch = { call: "Bash", input: { command: "touch allowed", description: "make a file" } };
    const parked = await (await stage.launch(claude([promptOf([touch, FINAL])], "1s", "Bash"))).ended;
    expect(ofLast(parked.output, "result")).toMatchObject({ stop_reason: "tool_deferred" });
    const { id, kind, fingerprint } = await stage.waiting();
    expect(kind).toBe("approval");
    expect(fingerprint).toMatch(/^[0-9a-f]{64}$/);
    const { session = "", dir = "" } = await onlyRun();
    await stage.type("answer", id, "allow");
    const resumed = await (await stage.launch(claude(["--resume", session], "1s", "Bash"))).ended;
    expect(resumed.exitCode === 0 ? "it ended well" : resumed.output).toBe("it ended well");
    expect(stage.results().join("\n")).not.toContain("error");
    expect(() => writeFileSync(join(dir, "allowed"), "", { flag: "wx" })).toThrow("EEXIST");
  });

  test("whose hook cannot keep a question hears so, and does not take silence for an answer", async () => {
    mkdirSync(join(stage.askdHome, "data", "askd.db"), { recursive: true });
    const { ended } = await stage.launch(claude([promptOf([ask(CACHE), FINAL])], "1s"));
    const { output } = await ended;
    expect(stage.results().join("\n")).toContain("askd: this question could not be kept");
    expect(output).not.toContain("    at ");
  });
});

test("claude without a hook is held by our permission prompt tool, for its questions and for its tools", async () => {
  const touch = { call: "Bash", input: { command: "touch allowed", description: "make a file" } };
  const build = (box: Box, askd: readonly string[]): Start => {
    const [command, ...args] = [...askd, "mcp", "--tools", "approve"];
    const server = { type: "stdio", command, args, env: { ASKD_HOME: stage.askdHome } };
    const config = JSON.stringify({ mcpServers: { askd: server } });
    const flags = ["--output-format", "stream-json", "--verbose", "--mcp-config", config, "--strict-mcp-config"];
    const prompt = promptOf([ask(CACHE), touch, FINAL]);
    const argv = [programFile("claude"), "-p", prompt, ...flags, "--permission-prompt-tool", "mcp__askd__approve"];
    return { argv, env: claudeEnv(box) };
  };
  const { ended } = await stage.launch(build);
  const first = await stage.waiting();
  await stage.type("answer", first.id, "2");
  const second = await stage.waiting();
  expect(second).toMatchObject({
    kind: "approval",
    title: expect.stringMatching(/^May the agent use Bash to run ".+"\?$/),
  });
  await stage.type("answer", second.id, "deny", "-m", "not here");
  const { exitCode, output } = await ended;
  expect(exitCode === 0 ? "it ended well" : output).toBe("it ended well");
  const told = stage.results().join("\n");
  expect(told).toContain('"Which cache should I use?"="Memcached"');
  expect(told).toContain("not here");
});

test("codex gets the answer of a person to its own question tool", async () => {
  const steps = [{ call: "request_user_input", input: { questions: [{ id: "cache", ...CACHE }] } }, FINAL];
  const build = (box: Box, askd: readonly string[]): Start => {
    const door = { kind: "stdio", argv: [...askd, "mcp"], env: { ASKD_HOME: stage.askdHome } } as const;
    const start = AGENTS.codex(box, door, promptOf(steps));
    const command = [...askd, "hook", "codex"].map((word) => `'${word}'`).join(" ");
    const hook = ['matcher = "request_user_input"', "[[hooks.PreToolUse.hooks]]", 'type = "command"', "timeout = 60"];
    const lines = ["[[hooks.PreToolUse]]", ...hook, `command = ${JSON.stringify(command)}`];
    appendFileSync(join(box.home, ".codex", "config.toml"), `${lines.join("\n")}\n`);
    const [file = "", exec = "", ...args] = start.argv;
    const flags = ["--dangerously-bypass-hook-trust", "--enable", "default_mode_request_user_input"];
    return { argv: [file, exec, ...flags, ...args], env: { ...start.env, ASKD_HOME: stage.askdHome } };
  };
  const { ended } = await stage.launch(build);
  const { id } = await stage.waiting();
  await stage.type("answer", id, "2");
  await ended;
  expect(stage.results().join("\n")).toMatch(/Answer:\s+<answer-\w+>\s+Memcached/);
  expect(await onlyRun()).toMatchObject({ agent: "codex", giveBack: "poll", status: "completed" });
});

test("gemini stops in the middle of its call when nobody answers, and the question is kept", async () => {
  const engine = await stage.engine();
  const run = await startedRun("gemini");
  const steps = [{ call: "mcp_askd_ask_human", input: { question: "Redis or Memcached?" } }, FINAL];
  const build = (box: Box, askd: readonly string[]): Start => {
    const command = [...askd, "hook", "gemini", "--hold", "1s"].map((word) => `'${word}'`).join(" ");
    const hooks = { BeforeTool: [{ matcher: ".*ask_human", hooks: [{ type: "command", command, timeout: 60_000 }] }] };
    const door = { kind: "stdio", argv: [...askd, "mcp"], env: { ASKD_HOME: stage.askdHome } } as const;
    const start = gemini(box, door, promptOf(steps), { hooks });
    return { ...start, env: { ...start.env, ASKD_HOME: stage.askdHome } };
  };
  const { ended } = await stage.launch(build, { ASKD_RUN: run.id, ASKD_EPOCH: String(run.epoch) });
  const { exitCode, output } = await ended;
  expect(exitCode === 0 ? "it ended well" : output).toBe("it ended well");
  const { id, title } = await stage.waiting();
  expect(title).toBe("Redis or Memcached?");
  expect(output).toContain(`Your question is kept as ${id}`);
  expect(output).toContain("stop_execution");
  expect(output).not.toContain('"content":"Final:');
  expect(await engine.findRun(run.id)).toMatchObject({ pendingId: id });
});

async function startedRun(agent: string): Promise<{ id: RunId; epoch: number }> {
  const engine = await stage.engine();
  const run = await engine.createRun({ name: "add-caching", agent, giveBack: "worker" }, AGENT);
  return engine.startRun(run.id, AGENT);
}
