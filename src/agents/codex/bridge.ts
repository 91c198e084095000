import { type ChildProcess, spawn } from "node:child_process";
import { SHOWN } from "./app-server-output.ts";
import { CodexPlan } from "./app-server.ts";
import { ShownWatch } from "./shown-reply.ts";
import { type Incoming, JsonRpc } from "../json-rpc.ts";
import { textAt } from "../json.ts";
import { SECOND_MS } from "../../core/instant.ts";
import type { Bridge, BridgeHost } from "../bridge.ts";
import { runInstead } from "../process/replace-process.ts";
import { CodexRequests } from "./bridge-requests.ts";

const PROMPT_BYTES = 16 * 1024 * 1024;
/** How long the server may take to end a turn, or itself, when it was told to. */
const GRACE_MS = 5 * SECOND_MS;

/** Has Codex do one turn as a server whose client we are; where that cannot be, as `codex exec`. */
export const bridge: Bridge = async (text, host) => {
  const plan = CodexPlan.parse(JSON.parse(text));
  const prompt = await host.readPrompt(PROMPT_BYTES);
  const client = new CodexClient(plan, host);
  try {
    await client.open();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    await client.close();
    print(host, "warning", { message: `The app-server cannot be used (${why}); codex exec is started instead` });
    return runInstead(plan.fallback, prompt, host);
  }
  try {
    return await client.run(prompt);
  } finally {
    await client.close();
  }
};

class CodexClient {
  readonly #plan: CodexPlan;
  readonly #host: BridgeHost;
  readonly #server: ChildProcess;
  readonly #gone: Promise<void>;
  readonly #rpc: JsonRpc;
  readonly #requests: CodexRequests;
  readonly #shown = new ShownWatch();
  readonly #stop = new AbortController();
  readonly #ended: Promise<number>;
  #end: (exitCode: number) => void = () => undefined;
  #threadId: string | undefined;
  #turnId: string | undefined;

  constructor(plan: CodexPlan, host: BridgeHost) {
    this.#plan = plan;
    this.#host = host;
    this.#ended = new Promise((resolve) => (this.#end = resolve));
    const [program = "", ...args] = plan.server;
    const { cwd, env } = host;
    const server = spawn(program, args, { cwd, env, stdio: ["pipe", "pipe", "inherit"] });
    this.#server = server;
    this.#gone = endOf(server).then(() => this.#stop.abort());
    this.#rpc = new JsonRpc({ input: server.stdout, output: server.stdin }, (message) => this.#take(message));
    const interrupt = host.interrupt();
    interrupt.addEventListener("abort", () => this.#stop.abort(), { once: true });
    this.#requests = new CodexRequests({
      host,
      rpc: this.#rpc,
      stop: this.#stop.signal,
      replied: (id, replied) => this.#shown.replied(id, replied),
      park: () => this.#park(),
    });
  }

  /** Comes to where a turn can begin. */
  async open(): Promise<void> {
    const clientInfo = { name: "askd", title: "askd", version: this.#host.version };
    await this.#rpc.request("initialize", { clientInfo, capabilities: { experimentalApi: true } });
    this.#rpc.notify("initialized");
    const { session, thread } = this.#plan;
    const begun =
      session === undefined
        ? await this.#rpc.request("thread/start", thread)
        : await this.#rpc.request("thread/resume", { ...thread, threadId: session });
    const threadId = textAt(begun, "thread", "id");
    if (threadId === undefined) throw new Error("it began no thread");
    this.#threadId = threadId;
    print(this.#host, "thread/started", { thread: { id: threadId } });
  }

  /** Does one turn and returns the exit code; what is in hand when it has to stop is brought to its end first. */
  async run(prompt: string): Promise<number> {
    const threadId = this.#threadId ?? "";
    this.#requests.open(threadId);
    const begun = await this.#rpc.request("turn/start", { threadId, input: [{ type: "text", text: prompt }] });
    this.#turnId = textAt(begun, "turn", "id");
    const stopped = new Promise<void>((resolve) => {
      if (this.#stop.signal.aborted) resolve();
      this.#stop.signal.addEventListener("abort", () => resolve(), { once: true });
    });
    const exitCode = await Promise.race([this.#ended, stopped]);
    await this.#requests.settle();
    return exitCode ?? 1;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#server.stdin?.end();
    if (await within(this.#gone, GRACE_MS)) return;
    this.#server.kill("SIGKILL");
    await within(this.#gone, GRACE_MS);
  }

  #take(message: Incoming): void {
    const { method, params, id } = message;
    const threadId = textAt(params, "threadId") ?? textAt(params, "thread", "id");
    const isOurs = threadId === undefined || this.#threadId === undefined || threadId === this.#threadId;
    // Pieces of what comes whole later, and what its helpers do, are not for the run's log.
    if (isOurs && !/delta$/i.test(method)) print(this.#host, method, params);
    if (id !== undefined) {
      this.#shown.asked(id, params);
      this.#requests.take({ ...message, id });
      return;
    }
    this.#requests.notice(message);
    for (const shown of this.#shown.take(message)) print(this.#host, SHOWN, shown);
    if (isOurs && method === "turn/completed") this.#end(textAt(params, "turn", "status") === "failed" ? 1 : 0);
  }

  /** The call cannot be kept alive without its process: the turn ends here, and the answer comes as a message. */
  async #park(): Promise<void> {
    const { threadId, turnId } = { threadId: this.#threadId, turnId: this.#turnId };
    const interrupted = this.#rpc.request("turn/interrupt", { threadId, turnId }).then(
      () => this.#ended,
      () => undefined, // it has ended by itself
    );
    await within(interrupted, GRACE_MS);
    this.#end(0);
  }
}

function print({ stdout }: BridgeHost, method: string, params: unknown): void {
  stdout.write(`${JSON.stringify({ method, params })}\n`);
}

function endOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once("error", () => resolve()); // it could not be started
    child.once("close", () => resolve());
  });
}

/** Says whether it came in that time. */
async function within(wanted: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => (timer = setTimeout(() => resolve(false), ms)));
  const came = await Promise.race([wanted.then(() => true as const), late]);
  clearTimeout(timer);
  return came;
}
