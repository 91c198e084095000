// A scripted agent without a record of its own: it does what its plan says, over all its starts, and writes down in a
// file of its own every message and answer that it was given. `walker.mjs <plan> <notes> <askd …>`
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, readFileSync, writeSync } from "node:fs";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";

const LONG_MS = 600_000;
const [planFile, notesFile, ...askd] = process.argv.slice(2);
const plan = JSON.parse(readFileSync(planFile, "utf8"));
const before = readNotes();
const start = 1 + before.filter(({ is }) => is === "start").length;
const epoch = Number(process.env.ASKD_EPOCH);
if (plan.isDeaf) process.on("SIGTERM", () => note({ is: "deaf" }));

note({ is: "start", born: bornOf(process.pid), alive: before.filter(isAliveStart).map(({ pid }) => pid) });
print(`This is start ${start}.`);
mayDie("unread");
const message = readFileSync(0, "utf8");
if (message !== "") hear({ via: "message", text: message, file: readAnswerFile() });
mayDie("told");
await sleep(plan.workMs);
for (let question = nextQuestion(); question; question = nextQuestion()) await ask(question);
const isAgain = before.some(({ is }) => is === "done");
note({ is: "done" });
const end = typeof plan.end === "string" && isAgain ? 0 : plan.end; // whoever died at its end once comes to it now
await leaveForSure(end); // nobody stops an agent that has asked all

/** The follow-up of a question that a person asked back about, else the next one of the plan. */
function nextQuestion() {
  const notes = readNotes();
  const asked = new Set(notes.filter(({ is }) => is === "asking").map(({ tag }) => tag));
  const back = notes.findLast(({ is }) => is === "told");
  const about = back && /asks back/.test(back.text) ? plan.questions.find(({ tag }) => isAbout(back, tag)) : undefined;
  const again = about && followUp(about, asked);
  return again ?? plan.questions.find(({ tag }) => !asked.has(tag));
}

function isAbout({ text, tag: told }, tag) {
  const [news] = text.split("Answered before in this run");
  return told === undefined ? new RegExp(`\\b${tag}(\\.\\d)?\\?`).test(news) : told.replace(/\.\d$/, "") === tag;
}

/** The same again under a name of its own, at most twice. */
function followUp(question, asked) {
  for (const tag of [`${question.tag}.1`, `${question.tag}.2`]) {
    if (asked.has(tag)) continue;
    const text = JSON.stringify(question).replaceAll(question.tag, tag);
    return JSON.parse(text);
  }
  return undefined;
}

async function ask(question) {
  note({ is: "asking", tag: question.tag, door: question.door });
  const isAnswered = await { marker, result, ask: askAndGo, wait, mcp }[question.door](question);
  if (isAnswered) return;
  if (question.isPushy) await push(question);
  if (question.isSly) await answerItself(question);
  await sleep(question.lingerMs);
  // Nor one that asked without waiting: it may go on with something else.
  await (question.door === "ask" ? leaveForSure : leave)(question.leave);
}

function marker({ tag, ask: asked }) {
  print(`I need to know.\n<<ASK_HUMAN>> ${JSON.stringify(asked)} <</ASK_HUMAN>>`);
  note({ is: "asked", tag });
  return false;
}

async function result({ tag, ask: asked }) {
  print(JSON.stringify({ status: "needs_input", ...asked }));
  note({ is: "asked", tag });
  await leave(0);
}

async function askAndGo({ tag, ask: asked }) {
  const { code, stdout, stderr } = await type(["ask", "--input", "-"], JSON.stringify(asked));
  note({ is: "asked", tag, exit: code, stderr });
  if (code === 0) note({ is: "id", tag, id: stdout.trim() });
  return false;
}

/** Waits on the command line; whatever came of it, but that it is still open, lets the agent go on. */
async function wait({ tag, ask: asked, waitMs, isJson }) {
  const flags = isJson ? ["--json=id,status,answer,answers,outcome,note,policy,reason"] : [];
  const input = JSON.stringify(asked);
  const { code, stdout, stderr } = await type(["ask", "--input", "-", "--wait", `${waitMs}ms`, ...flags], input);
  note({ is: "asked", tag, exit: code, stderr });
  const isTold = [0, 9, 10, 12].includes(code);
  const back = isJson && isTold && JSON.parse(stdout).outcome === "clarify" ? "A person asks back. " : "";
  const corrections = stderr.split("\n").filter((line) => line.startsWith("correction by "));
  if (isTold) hear({ via: "wait", tag, exit: code, text: [`${back}${stdout}`, ...corrections].join("\n") });
  return isTold;
}

async function mcp({ tag, ask: asked, waitMs }) {
  const { Client, StdioClientTransport } = await loadClient();
  const client = new Client({ name: "walker", version: "1" });
  const [command, ...args] = [...askd, "mcp"];
  await client.connect(new StdioClientTransport({ command, args, env: { ...process.env }, stderr: "inherit" }));
  const input = { ...asked, timeout_seconds: waitMs / 1000 };
  const replied = await client.callTool({ name: "ask_human", arguments: input });
  const { status } = replied.structuredContent ?? {};
  note({ is: "asked", tag, exit: replied.isError ? 6 : 0, stderr: replied.isError ? replied.content[0].text : "" });
  const isTold = status !== "pending" && status !== "refused";
  if (isTold) hear({ via: "mcp", tag, text: replied.content[0].text });
  await client.close();
  return isTold;
}

async function loadClient() {
  const [{ Client }, { StdioClientTransport }] = await Promise.all([
    import("@modelcontextprotocol/client"),
    import("@modelcontextprotocol/client/stdio"),
  ]);
  return { Client, StdioClientTransport };
}

/** An agent that does not stop is refused as long as its question waits. */
async function push({ tag }) {
  const { code, stdout } = await type(["ask", `And what else about ${tag}+?`, "--timeout", "1h"], "");
  note({ is: "pushed", tag, exit: code, id: stdout.trim() });
}

async function answerItself({ tag }) {
  const { code } = await type(["answer", process.env.ASKD_RUN, "because I say so"], "");
  note({ is: "answered itself", tag, exit: code });
}

function type(words, input) {
  const [program, ...first] = askd;
  const child = spawn(program, [...first, ...words], { stdio: ["pipe", "pipe", "pipe"] });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
  child.stdin.on("error", () => undefined);
  child.stdin.end(input);
  return new Promise((resolve) =>
    child.on("close", (code, signal) => resolve({ code: code ?? signal, stdout, stderr: stderr.slice(-500) })),
  );
}

function hear(told) {
  note({ is: "told", ...told });
}

async function leave(how) {
  if (how === "never") await sleep(LONG_MS);
  if (typeof how === "string") process.kill(process.pid, how);
  if (typeof how === "string") await sleep(LONG_MS); // who is deaf is stopped
  note({ is: "end", code: how });
  process.exit(how);
}

/** Leaves also if it hears no signal that can be ignored. */
function leaveForSure(how) {
  return leave(how === "SIGTERM" && plan.isDeaf ? "SIGKILL" : how);
}

function readAnswerFile() {
  const file = process.env.ASKD_ANSWER_FILE;
  return file === undefined ? undefined : readFileSync(file, "utf8");
}

function mayDie(when) {
  if (plan.dies?.start === start && plan.dies.when === when) process.kill(process.pid, "SIGKILL");
}

function print(text) {
  writeSync(1, `${text}\n`);
}

function note(line) {
  const own = { at: Date.now(), run: process.env.ASKD_RUN, pid: process.pid, start, epoch };
  appendFileSync(notesFile, `${JSON.stringify({ ...line, ...own })}\n`);
}

function readNotes() {
  const text = existsSync(notesFile) ? readFileSync(notesFile, "utf8") : "";
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

function isAliveStart({ is, pid, born }) {
  return is === "start" && born === bornOf(pid);
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
