import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { z } from "zod";
import { SECOND_MS } from "../core/instant.ts";

const BOUND_MS = 20 * SECOND_MS;
/** How long a server may take to end after its input closes. */
const END_MS = 2 * SECOND_MS;
const MOST_STDERR_CHARS = 16_000;
const EXCERPT_LINES = 3;
const EXCERPT_CHARS = 300;
const PROTOCOL = "2025-11-25";

/** How a client starts a server. */
export interface ServerStart {
  argv: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
}

/** The result of a handshake. `why` contains foreign text. */
export type Handshake =
  | { ok: true; ms: number; name: string; version: string; tools: string[] }
  | { ok: false; why: string };

const Hello = z.object({ serverInfo: z.object({ name: z.string(), version: z.string() }) });
const Tools = z.object({ tools: z.array(z.object({ name: z.string() })) });
const Reply = z.object({
  id: z.number(),
  result: z.unknown().optional(),
  error: z.object({ message: z.string() }).optional(),
});

/** Starts an MCP server as a client would, initializes it, lists its tools, and ends it. */
export async function shakeHands(start: ServerStart, boundMs: number = BOUND_MS): Promise<Handshake> {
  const startedAt = performance.now();
  const server = new Conversation(start, boundMs);
  try {
    const hello = Hello.parse(
      await server.request("initialize", {
        protocolVersion: PROTOCOL,
        capabilities: {},
        clientInfo: { name: "askd-doctor", version: "1" },
      }),
    );
    server.notify("notifications/initialized");
    const { tools } = Tools.parse(await server.request("tools/list", {}));
    const ms = performance.now() - startedAt;
    return { ok: true, ms, ...hello.serverInfo, tools: tools.map(({ name }) => name) };
  } catch (error) {
    if (error instanceof z.ZodError) return { ok: false, why: "it does not speak MCP" };
    return { ok: false, why: error instanceof Error ? error.message : String(error) };
  } finally {
    await server.end();
  }
}

/** A conversation with a server over stdio, within a time limit. */
class Conversation {
  readonly #child: ChildProcess;
  readonly #over: Promise<never>;
  readonly #waiting = new Map<number, { take(result: unknown): void; fail(error: Error): void }>();
  readonly #gone: Promise<void>;
  #stderr = "";
  #lastId = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor({ argv, env, cwd }: ServerStart, boundMs: number) {
    const [program = "", ...args] = argv;
    const child = spawn(program, args, { cwd, env: { ...env }, stdio: ["pipe", "pipe", "pipe"] });
    this.#child = child;
    child.stdin.on("error", () => undefined); // the end of the process reports it
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-MOST_STDERR_CHARS);
    });
    createInterface({ input: child.stdout }).on("line", (line) => this.#take(line));
    this.#gone = new Promise((resolve) => {
      child.once("close", () => resolve());
      child.once("error", () => resolve());
    });
    this.#over = new Promise<never>((_resolve, reject) => {
      child.once("error", (error: NodeJS.ErrnoException) =>
        reject(new Error(`${program} cannot be started (${error.code})`)),
      );
      child.once("close", (code, signal) => reject(new Error(this.#sayEnd(code, signal))));
      this.#timer = setTimeout(() => reject(new Error(`no reply in ${Math.round(boundMs / SECOND_MS)} s`)), boundMs);
    });
    this.#over.catch(() => undefined); // it ends after we are done, too
  }

  async request(method: string, params: object): Promise<unknown> {
    const id = (this.#lastId += 1);
    const reply = new Promise<unknown>((take, fail) => this.#waiting.set(id, { take, fail }));
    this.#write({ id, method, params });
    return Promise.race([reply, this.#over]);
  }

  notify(method: string): void {
    this.#write({ method });
  }

  /** Ends the server as a client would: closes its input, then kills it if it does not end. */
  async end(): Promise<void> {
    clearTimeout(this.#timer);
    this.#child.stdin?.end();
    const kill = setTimeout(() => this.#child.kill("SIGKILL"), END_MS);
    await this.#gone;
    clearTimeout(kill);
  }

  #write(message: object): void {
    this.#child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  #take(line: string): void {
    const reply = Reply.safeParse(parse(line));
    if (!reply.success) return; // notifications, or words
    const waiting = this.#waiting.get(reply.data.id);
    if (reply.data.error) waiting?.fail(new Error(`it refused: ${reply.data.error.message}`));
    else waiting?.take(reply.data.result);
  }

  #sayEnd(code: number | null, signal: NodeJS.Signals | null): string {
    const words = this.#stderr
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== "")
      // The first lines usually say why; the rest is the stack.
      .slice(0, EXCERPT_LINES)
      .join(" / ")
      .slice(0, EXCERPT_CHARS);
    return `it ended with ${signal ?? `exit code ${code}`}${words === "" ? "" : `: ${words}`}`;
  }
}

function parse(line: string): unknown {
  try {
    const raw: unknown = JSON.parse(line);
    return raw;
  } catch {
    return undefined; // programs print words between their lines
  }
}
