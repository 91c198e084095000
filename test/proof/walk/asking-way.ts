import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { QuestionId } from "../../../src/core/id.ts";
import { type AskingWay, type Got, readId } from "./asker.ts";
import type { Chance } from "./chance.ts";
import { type Reply, isObject } from "./reply.ts";
import type { Stage } from "./stage.ts";

const CALL_MS = 30_000;

/** Over REST, for a session or for each ask alone. */
export function restWay(stage: Stage, tag: string, chance: Chance): AskingWay {
  const isSession = chance.is(0.6);
  const run = isSession ? { run: { session: `session-${tag}`, agent: "script", name: tag } } : {};
  const holdMs = chance.is(0.5) ? chance.pick([500, 1_500]) : undefined;
  const send = (method: "GET" | "POST", path: string, body?: object, key?: string) =>
    stage.request({ method, path: `/api/v1/questions${path}`, ...(body && { body }), ...(key && { key }) }, "agent");
  const end = async (id: QuestionId, got: Got): Promise<Got> => {
    if (got.isOpen && chance.is(0.5)) return got; // it never comes back to say that it has gone
    await send("POST", `/${id}/${got.isOpen ? "end-hold" : "hand-over"}`, got.isOpen ? { why: "window" } : {});
    if (!got.isOpen) await send("POST", `/${id}/given`, { witness: "script" });
    return got;
  };
  return {
    name: `REST${isSession ? " session" : ""}${holdMs === undefined ? "" : " with hold"}`,
    isSession,
    async ask(name, ask) {
      const body = { ...ask, ...run, ...(holdMs !== undefined && { hold: `${holdMs}ms` }) };
      const got = readRest(await send("POST", "", body, name));
      if (!got?.isOpen || holdMs === undefined || !got.id) return got;
      const until = encodeURIComponent(new Date(Date.now() + holdMs).toISOString());
      const waited = readRest(await send("GET", `/${got.id}/wait?until=${until}`));
      return waited && end(got.id, waited);
    },
    look: async (id) => readRest(await send("GET", `/${id}`)),
    withdraw: async (id) => (await send("POST", `/${id}/cancel`, { reason: "not needed" })).is === "done",
    close: () => Promise.resolve(),
  };
}

function readRest(reply: Reply): Got | undefined {
  if (reply.is === "unknown") return undefined;
  if (reply.is !== "done") return { id: undefined, isOpen: false, text: "", refused: reply.words };
  const { id, status } = isObject(reply.body) ? reply.body : {};
  return { id: readId(id), isOpen: status === "pending", text: JSON.stringify(reply.body) };
}

/** By commands outside of any run. */
export function cliWay(stage: Stage, chance: Chance): AskingWay {
  const isWaiting = chance.is(0.6);
  const read = (exit: number | string, stdout: string, stderr: string): Got | undefined => {
    if (exit === 3 || typeof exit === "string") return undefined;
    const body: unknown = stdout === "" ? {} : JSON.parse(stdout);
    const id = isObject(body) ? readId(body["id"]) : undefined;
    const isKnown = [0, 8, 9, 10, 12].includes(exit);
    const isOpen = isObject(body) && body["status"] === "pending";
    return { id, isOpen: isOpen || exit === 8, text: stdout, ...(!isKnown && { refused: stderr }) };
  };
  const fields = "status,answer,answers,outcome,note,policy,reason,amendments,corrections";
  return {
    name: `askd ask${isWaiting ? " --wait" : ""}`,
    isSession: false,
    async ask(name, ask) {
      const wait = isWaiting ? ["--wait", "800ms"] : [];
      const words = ["ask", "--input", "-", `--json=id,${fields}`, ...wait];
      const { exit, stdout, stderr } = await stage.type(words, { input: JSON.stringify({ ...ask, key: name }) });
      if (exit !== 8) return read(exit, stdout, stderr);
      // Where nothing is printed the same key finds the question.
      const again = await stage.type(words.slice(0, 4), { input: JSON.stringify({ ...ask, key: name }) });
      return read(again.exit, again.stdout, again.stderr);
    },
    async look(id) {
      const question = await stage.store.findQuestion(id);
      if (question?.status === "pending") return { id, isOpen: true, text: "" };
      const { exit, stdout, stderr } = await stage.type(["check", id, `--json=${fields}`]);
      const got = read(exit, stdout, stderr);
      return got && { ...got, id };
    },
    close: () => Promise.resolve(),
  };
}

/** By the tools of MCP: over HTTP without a name or with a thread of its own, or over stdio. */
export function mcpWay(stage: Stage, tag: string, chance: Chance): AskingWay {
  const kind = chance.weighted({ nameless: 4, thread: 4, stdio: 0.4 });
  let client: Client | undefined;
  const connect = async (): Promise<Client> => {
    const made = new Client(
      { name: kind === "thread" ? "codex-walk" : "walk", version: "1" },
      kind === "stdio" ? {} : { versionNegotiation: { mode: { pin: "2026-07-28" } } },
    );
    await made.connect(kind === "stdio" ? stdio(stage) : http(stage));
    return made;
  };
  const call = async (name: string, input: object, callId: string): Promise<Got | undefined> => {
    try {
      client ??= await connect();
      const meta = kind === "thread" ? { _meta: { threadId: `thread-${tag}`, callId } } : {};
      const result = await client.callTool({ name, arguments: { ...input }, ...meta }, { timeout: CALL_MS });
      return readTool(result);
    } catch {
      await client?.close().catch(() => undefined);
      client = undefined; // the server is away: the next call connects anew
      return undefined;
    }
  };
  return {
    name: `MCP ${kind}`,
    isSession: true,
    ask: (name, ask) => call("ask_human", { ...ask, timeout_seconds: chance.pick([0.2, 1]) }, name),
    look: (id) => call("check_answer", { question_id: id, timeout_seconds: chance.pick([0, 1]) }, `look-${id}`),
    withdraw: async (id) =>
      (await call("cancel_question", { question_id: id }, `cancel-${id}`))?.text.includes('"success":true') ?? false,
    close: async () => client?.close(),
  };
}

function http(stage: Stage): StreamableHTTPClientTransport {
  const headers = { Authorization: `Bearer ${stage.tokens.get("agent") ?? ""}` };
  return new StreamableHTTPClientTransport(new URL(`${stage.url}/mcp`), { requestInit: { headers } });
}

function stdio(stage: Stage): StdioClientTransport {
  const [command, ...args] = [...stage.askd, "mcp"];
  const env = Object.fromEntries(Object.entries(stage.env).flatMap(([name, value]) => (value ? [[name, value]] : [])));
  return new StdioClientTransport({ command, args, env, cwd: stage.dir, stderr: "ignore" });
}

function readTool(result: unknown): Got {
  const { content, structuredContent, isError } = result as {
    content: Array<{ text?: string }>;
    structuredContent?: Record<string, unknown>;
    isError?: boolean;
  }; // the library has checked it
  const text = content[0]?.text ?? "";
  const { status, question_id: id } = structuredContent ?? {};
  return { id: readId(id), isOpen: status === "pending", text, ...(isError && { refused: text }) };
}

/** Says which way an asker takes. */
export function chooseWay(stage: Stage, tag: string, chance: Chance): AskingWay {
  const kind = chance.weighted({ rest: 6, mcp: 5, cli: 0.4 });
  if (kind === "rest") return restWay(stage, tag, chance);
  return kind === "mcp" ? mcpWay(stage, tag, chance) : cliWay(stage, chance);
}
