// Replies to `initialize` and `tools/list` of MCP before the program is loaded: some clients start an agent without
// the tools of a server that takes a second, and on a busy machine loading alone takes that long. What it replies was
// recorded when the package was built; everything it reads is kept for the program.
const fs = require("node:fs");
const path = require("node:path");
const { PassThrough } = require("node:stream");

const WITH_VALUE = new Set(["--tools", "--hold", "--run-file"]);
const MOST_BYTES = 1024 * 1024; // no client sends more before it has a reply
// Loading the program blocks everything: it begins when there is nothing more to reply, or nothing came for so long.
const FIRST_MS = 300;
const NEXT_MS = 50;

/** Replies, then calls `load` with what it has read; at once if the program has to see the command line first. */
exports.replyFirst = function replyFirst(process, load) {
  const { stdin, stdout } = process;
  const known = stdin.isTTY ? undefined : readReplies();
  const flags = process.argv.slice(3);
  const names = known && toolNames(flags, known);
  if (!names) return load();
  const answered = new Set();
  const kept = [];
  let [line, bytes] = ["", 0];
  const decoder = new TextDecoder();

  const hear = (chunk) => {
    kept.push(chunk);
    bytes += chunk.length;
    if (bytes > MOST_BYTES) stdin.pause();
    const lines = (line + decoder.decode(chunk, { stream: true })).split("\n");
    line = lines.pop();
    for (const each of lines) if (reply(each)) loadSoon(0);
  };
  /** Says whether the program has something to do. */
  const reply = (text) => {
    const message = parse(text);
    const result = message && resultOf(message);
    if (!result) return (isNeeded ||= message?.method !== "notifications/initialized");
    answered.add(message.id);
    if (message.method === "tools/list") noteListed(flags);
    stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id: message.id, result })}\n`);
    if (!isNeeded) loadSoon(NEXT_MS);
    return false;
  };
  let timer;
  const loadSoon = (ms) => {
    if (isLoading) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      isLoading = true;
      load({ takeInput, answered });
    }, ms);
  };
  let [isLoading, isNeeded] = [false, false];
  const resultOf = ({ id, method, params }) => {
    if (typeof id !== "string" && typeof id !== "number") return undefined;
    if (method === "initialize" && answered.size === 0) return initialized(params, known);
    const isList = method === "tools/list" && answered.size > 0 && params?.cursor === undefined;
    return isList ? { tools: names.map((name) => known.tools[name]) } : undefined;
  };

  const input = new PassThrough();
  const end = () => {
    // A client that only looked which tools there are has left: nothing is left to be done.
    if (answered.size > 0 && !isNeeded && line === "") clearTimeout(timer);
    else loadSoon(0);
  };
  stdin.on("data", hear);
  stdin.once("end", end);
  stdin.once("error", (error) => input.destroy(error));
  const takeInput = () => {
    stdin.off("data", hear);
    stdin.off("end", end);
    for (const chunk of kept.splice(0)) input.write(chunk);
    if (stdin.readableEnded) input.end();
    if (!input.writableEnded) stdin.pipe(input);
    return input;
  };
  loadSoon(FIRST_MS);
  return undefined;
};

function initialized(params, { initialize }) {
  if (typeof params?.protocolVersion !== "string" || !isObject(params.capabilities)) return undefined;
  if (typeof params.clientInfo?.name !== "string" || typeof params.clientInfo.version !== "string") return undefined;
  const [other] = initialize;
  return (initialize.find(({ version }) => version === params.protocolVersion) ?? other).result;
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The tools that the flags name; nothing for flags that only the program understands. */
function toolNames(flags, { offered, tools }) {
  let named;
  for (let index = 0; index < flags.length; index += 1) {
    const [flag, value] = flags[index].split(/=(.*)/s);
    if (flag === "--attended" && value === undefined) continue;
    if (!WITH_VALUE.has(flag)) return undefined;
    const given = value ?? flags[(index += 1)];
    if (given === undefined) return undefined;
    if (flag === "--tools") named = given.split(",").map((name) => name.trim());
  }
  const names = named ?? offered;
  if (!names.every((name) => Object.hasOwn(tools, name))) return undefined;
  return Object.keys(tools).filter((name) => names.includes(name)); // always in the order of the table
}

/** Tells the worker that the agent has the tools, if it waits to know it: it made the file. */
function noteListed(flags) {
  const at = flags.findIndex((flag) => flag === "--run-file");
  if (at < 0) return;
  try {
    fs.writeFileSync(`${flags[at + 1]}.tools`, "listed\n", { flag: "r+" });
  } catch {
    // nobody waits
  }
}

function parse(text) {
  try {
    const message = JSON.parse(text);
    return isObject(message) && message.jsonrpc === "2.0" ? message : undefined;
  } catch {
    return undefined; // the program says what is wrong with it
  }
}

function readReplies() {
  try {
    return JSON.parse(fs.readFileSync(path.join(__dirname, "..", "dist", "first-replies.json"), "utf8"));
  } catch {
    return undefined; // the program replies by itself
  }
}
