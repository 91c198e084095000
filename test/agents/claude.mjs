// Stands in for Claude Code in print mode, as far as askd uses it: the same lines, the same transcript, the same hook.
// What it is to do comes in STAND_IN: { folder, workMs, dieAt, hookDies, questions, lingerMs }.
import { spawn } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";

const STREAM_CLOSED = "Tool permission request failed: AbortError: Stream closed";

const args = process.argv.slice(2);
if (args.includes("--version")) {
  process.stdout.write("2.1.325 (Claude Code)\n");
  process.exit(0);
}
const play = JSON.parse(process.env.STAND_IN ?? "{}");
const journal = join(play.folder, "journal");
const start = 1 + readJournal().filter(({ is }) => is === "start").length;
const resumed = option("--resume");
const session = resumed ?? option("--session-id") ?? randomUUID();
const project = join(process.env.HOME, ".claude", "projects", process.cwd().replaceAll("/", "-"));
const transcript = join(project, `${session}.jsonl`);
const prompt = readFileSync(0, "utf8");

note({ is: "start", ...findOthers() });
step("begin");
if (resumed !== undefined && !existsSync(transcript)) {
  print({
    type: "result",
    subtype: "error_during_execution",
    is_error: true,
    num_turns: 0,
    errors: [`No conversation found with session ID: ${session}`],
  });
  end(1);
}
mkdirSync(project, { recursive: true });
const marked = findMarked();
if (resumed !== undefined && marked === undefined && prompt === "") {
  writeSync(2, "Error: No deferred tool marker found in the resumed session. Provide a prompt to continue.\n");
  end(1);
}
if (marked !== undefined) await goOn(marked);
if (marked === undefined || prompt !== "") {
  record({ type: "queue-operation", operation: "enqueue", content: prompt });
  step("queued");
  record(user(prompt));
  step("prompted");
  init();
  step("init");
  if (mayAsk()) await ask();
  else await finish(`Told: ${prompt}`);
}
end(0);

/** Works a little, asks its next question and waits for what its hook says. */
async function ask() {
  say("I need input.");
  step("said");
  await work();
  const number = 1 + readCalls().length;
  const name = `${session}/${start}${number > 1 ? `/${number}` : ""}`;
  const callId = `toolu_${createHash("sha256").update(name).digest("hex").slice(0, 20)}`;
  const call = { type: "tool_use", id: callId, name: "AskUserQuestion", input: { questions: questionsFor(number) } };
  record(assistant(call));
  print(assistant(call));
  step("called");
  await decide(callId);
}

function questionsFor(number) {
  const options = [
    { label: "Redis", description: "pub/sub" },
    { label: "Memcached", description: "simple" },
  ];
  const part = number > 1 ? ` for part ${number}` : "";
  return [{ question: `Which cache should I use${part}?`, header: "Cache", multiSelect: false, options }];
}

/** The calls of its question tool, by its own record. */
function readCalls() {
  return readRecord()
    .flatMap(({ type, message }) => (type === "assistant" ? message.content : []))
    .filter(isCall);
}

function isCall({ type }) {
  return type === "tool_use";
}

function inputOf(callId) {
  return readCalls().find(({ id }) => id === callId).input;
}

/** A call that was put off: its hook is asked again before anything else happens. */
async function goOn(callId) {
  print({ type: "command_lifecycle", command_uuid: randomUUID(), state: "started" });
  step("resumed");
  await decide(callId);
}

async function decide(callId) {
  const said = await runHook(callId);
  step("hooked");
  if (said?.permissionDecision === "defer") {
    record({
      type: "attachment",
      attachment: { type: "hook_deferred_tool", toolUseID: callId, toolName: "AskUserQuestion" },
    });
    step("deferring");
    result({
      stop_reason: "tool_deferred",
      terminal_reason: "tool_deferred",
      result: "",
      deferred_tool_use: { id: callId, name: "AskUserQuestion", input: inputOf(callId) },
    });
    step("deferred");
    await sleep(play.lingerMs ?? 0);
    end(0);
  }
  const answers = said?.permissionDecision === "allow" ? said.updatedInput?.answers : undefined;
  if (said)
    record({
      type: "attachment",
      attachment: { type: "hook_success", toolUseID: callId, stdout: JSON.stringify(said) },
    });
  step("recording");
  const content = answers
    ? `Your questions have been answered: ${Object.entries(answers)
        .map(([asked, given]) => `"${asked}"="${given}"`)
        .join(", ")}. You can now continue with these answers in mind.`
    : (said?.permissionDecisionReason ?? STREAM_CLOSED);
  const shown = { type: "tool_result", content, tool_use_id: callId, ...(!answers && { is_error: true }) };
  record({ type: "user", message: { role: "user", content: [shown] } });
  step("recorded");
  print({ type: "user", message: { role: "user", content: [shown] }, parent_tool_use_id: null });
  step("shown");
  if (resumed !== undefined) init();
  if (mayAsk()) await ask();
  else await finish(content);
}

async function finish(text) {
  await work();
  say(`Final: ${text}`);
  step("final");
  result({ stop_reason: "end_turn", terminal_reason: "completed", result: `Final: ${text}` });
  step("reported");
}

/** A tool's shell has a session of its own and does not listen to SIGTERM. */
async function work() {
  const shell = spawn("/bin/sh", ["-c", 'trap "" TERM; sleep 600 & wait'], { detached: true, stdio: "ignore" });
  step("working");
  await sleep(play.workMs ?? 20);
  kill(shell.pid);
}

/** Runs the hook of our settings as the real one does: by a shell, in a session of its own, JSON on its stdin. */
async function runHook(callId) {
  const settings = JSON.parse(readFileSync(option("--settings"), "utf8"));
  const { command, timeout } = settings.hooks.PreToolUse.find(({ matcher }) => matcher === "AskUserQuestion").hooks[0];
  const own = { CLAUDE_PID: String(process.pid), CLAUDE_CODE_SESSION_ATTENDED: "0", CLAUDE_CODE_ENTRYPOINT: "sdk-cli" };
  const hook = spawn("/bin/sh", ["-c", command], {
    detached: true,
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, ...own },
  });
  note({ is: "hook", hook: hook.pid });
  hook.stdin.on("error", () => undefined);
  hook.stdin.end(
    JSON.stringify({
      session_id: session,
      transcript_path: transcript,
      cwd: process.cwd(),
      permission_mode: "default",
      hook_event_name: "PreToolUse",
      tool_name: "AskUserQuestion",
      tool_use_id: callId,
      tool_input: inputOf(callId),
    }),
  );
  step("hooking");
  let output = "";
  hook.stdout.on("data", (some) => {
    output += some;
    if (mayDie("hook", "output")) kill(hook.pid);
  });
  const afterMs = Number(/^\d+(?=@)/.exec(play.hookDies ?? "")?.[0] ?? "NaN");
  if (afterMs >= 0) setTimeout(() => mayDie("hook", String(afterMs)) && kill(hook.pid), afterMs).unref();
  setTimeout(() => kill(hook.pid), timeout * 1000).unref();
  const code = await new Promise((resolve) => hook.on("close", resolve));
  if (code !== 0 || output.trim() === "") return undefined; // no opinion
  return JSON.parse(output).hookSpecificOutput;
}

/** Ends itself at the step that the play names, once. */
function step(name) {
  if (mayDie("die", name)) process.kill(process.pid, "SIGKILL");
}

function mayDie(what, name) {
  const wanted = what === "die" ? play.dieAt : play.hookDies;
  if (wanted !== `${name}@${start}`) return false;
  note({ is: what, name });
  return true;
}

/** Kills what was started in a session of its own, with all that it started. */
function kill(pid) {
  try {
    process.kill(-Number(pid), "SIGKILL");
  } catch {
    // gone by itself
  }
}

/** The call that was put off and has no result yet. */
function findMarked() {
  if (resumed === undefined) return undefined;
  const lines = readRecord();
  const put = lines.findLast(({ attachment }) => attachment?.type === "hook_deferred_tool")?.attachment.toolUseID;
  const isDone = lines.some(
    ({ message }) => Array.isArray(message?.content) && message.content.some((block) => block.tool_use_id === put),
  );
  return isDone ? undefined : put;
}

/** It asks until it was told as often as it has questions, as the result of a call or by a message after its task. */
function mayAsk() {
  const told = readRecord().filter(
    ({ type, message }) => type === "user" && !String(message.content).startsWith("You were interrupted"),
  );
  return told.length <= (play.questions ?? 1);
}

/** Other agents of this run that are alive, and what earlier ones left behind. */
function findOthers() {
  const { ASKD_RUN: run, ASKD_EPOCH: epoch } = process.env;
  const agents = readJournal()
    .filter(({ is, pid, born }) => is === "start" && born === bornOf(pid))
    .map(({ pid }) => pid);
  const left = [];
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    const env = environ(pid);
    if (env?.includes(`ASKD_RUN=${run}`) && !env.includes(`ASKD_EPOCH=${epoch}`)) left.push(Number(pid));
  }
  return { epoch: Number(epoch), born: bornOf(process.pid), agents, left };
}

function environ(pid) {
  try {
    return bornOf(pid) && readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
  } catch {
    return undefined;
  }
}

/** When a process was started; nothing for one that is gone. */
function bornOf(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "latin1")
      .replace(/^.*\) /s, "")
      .split(" ");
    return fields[0] === "Z" || fields[0] === "X" ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

function init() {
  print({
    type: "system",
    subtype: "init",
    cwd: process.cwd(),
    tools: ["AskUserQuestion", "Bash"],
    mcp_servers: [],
    model: "stand-in",
    claude_code_version: "2.1.325",
  });
}

function say(text) {
  record(assistant({ type: "text", text }));
  print(assistant({ type: "text", text }));
}

function result(more) {
  print({
    type: "result",
    subtype: "success",
    is_error: false,
    num_turns: 1,
    total_cost_usd: 0.001,
    modelUsage: {},
    permission_denials: [],
    ...more,
  });
}

function assistant(block) {
  return {
    type: "assistant",
    message: { role: "assistant", model: "stand-in", content: [block] },
    parent_tool_use_id: null,
  };
}

function user(text) {
  return { type: "user", message: { role: "user", content: text } };
}

function print(line) {
  writeSync(1, `${JSON.stringify({ ...line, session_id: session, uuid: randomUUID() })}\n`);
}

function record(line) {
  appendFileSync(transcript, `${JSON.stringify({ ...line, sessionId: session, uuid: randomUUID() })}\n`);
}

function readRecord() {
  return existsSync(transcript) ? parseLines(readFileSync(transcript, "utf8")) : [];
}

function note(line) {
  appendFileSync(journal, `${JSON.stringify({ ...line, pid: process.pid, start })}\n`);
}

function readJournal() {
  if (!existsSync(journal)) writeFileSync(journal, "", { flag: "a" });
  return parseLines(readFileSync(journal, "utf8"));
}

function parseLines(text) {
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

function option(name) {
  const at = args.indexOf(name);
  return at < 0 ? undefined : args[at + 1];
}

function end(code) {
  note({ is: "end", code });
  process.exit(code);
}
