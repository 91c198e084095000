import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { MINUTE_MS, SECOND_MS } from "../../core/instant.ts";
import { type Json, parseJson, MAX_LINE_CHARS } from "../json.ts";

/** A first start reads some hundred megabytes. */
const UP_MS = MINUTE_MS;
const REQUEST_MS = MINUTE_MS;
const GRACE_MS = 5 * SECOND_MS;
const USER = "opencode";
const LISTENS = /listening on (http:\/\/\S+)/;

type Env = Readonly<Record<string, string | undefined>>;

/** One `opencode serve` of ours, which only we can speak to. */
export class OpencodeServer {
  readonly #child: ChildProcess;
  readonly #url: string;
  readonly #headers: Record<string, string>;

  private constructor(child: ChildProcess, url: string, password: string) {
    this.#child = child;
    this.#url = url;
    const authorization = `Basic ${Buffer.from(`${USER}:${password}`).toString("base64")}`;
    this.#headers = { authorization, "content-type": "application/json" };
  }

  /** Starts it and waits until it listens; what does not come up is ended again, and an error. */
  static async start(argv: readonly string[], dir: string, env: Env, signal: AbortSignal): Promise<OpencodeServer> {
    const [program = "", ...args] = argv;
    const password = randomBytes(24).toString("base64url");
    const own = { OPENCODE_SERVER_USERNAME: USER, OPENCODE_SERVER_PASSWORD: password };
    const child = spawn(program, args, { cwd: dir, env: { ...env, ...own }, stdio: ["ignore", "pipe", "inherit"] });
    try {
      return new OpencodeServer(child, await urlOf(child, signal), password);
    } catch (error) {
      await end(child);
      throw error;
    }
  }

  /** Sends a request and returns the object that comes back, if one does. */
  async post(path: string, body: object): Promise<Json | undefined> {
    const { response, text } = await this.#send(path, body);
    if (!response.ok) throw new Error(`OpenCode's server says ${response.status} to ${path}: ${text.slice(0, 500)}`);
    return parseJson(text);
  }

  /** All that happens from now on, until the server is gone. The first event says that it has begun. */
  async *events(signal: AbortSignal): AsyncGenerator<Json> {
    const response = await fetch(`${this.#url}/event`, { headers: this.#headers, signal });
    if (!response.ok || !response.body) throw new Error(`OpenCode's server says ${response.status} to /event`);
    const decoder = new TextDecoder();
    let rest = "";
    // Streams are typed for any kind of chunk; a body gives bytes.
    for await (const bytes of response.body as AsyncIterable<Uint8Array>) {
      const parts = (rest + decoder.decode(bytes, { stream: true })).split("\n\n");
      rest = parts.pop() ?? "";
      if (rest.length > 2 * MAX_LINE_CHARS) throw new Error("OpenCode's server sends an event without end");
      for (const part of parts) {
        const event = parseJson(part.replace(/^data: ?/, ""));
        if (event) yield event;
      }
    }
  }

  /** Ends it, by force if it does not go by itself. */
  stop(): Promise<void> {
    return end(this.#child);
  }

  async #send(path: string, body: object): Promise<{ response: Response; text: string }> {
    const response = await fetch(`${this.#url}${path}`, {
      method: "POST",
      headers: this.#headers,
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(REQUEST_MS),
    });
    return { response, text: await response.text() };
  }
}

function urlOf(child: ChildProcess, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`it did not listen within ${UP_MS / SECOND_MS} s`)), UP_MS);
    const leave = (act: () => void) => (): void => {
      clearTimeout(late);
      act();
    };
    child.once("error", (error) => leave(() => reject(error))());
    child.once("exit", (code) => leave(() => reject(new Error(`it ended with exit code ${code}`)))());
    signal.addEventListener(
      "abort",
      leave(() => reject(new Error("interrupted"))),
      { once: true },
    );
    if (!child.stdout) return;
    // Read to the end, so that it can always write.
    createInterface({ input: child.stdout }).on("line", (line) => {
      const url = LISTENS.exec(line)?.[1];
      if (url !== undefined) leave(() => resolve(url))();
    });
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGTERM");
  const isLate = await Promise.race([gone.then(() => false), sleep(GRACE_MS, true, { ref: false })]);
  if (!isLate) return;
  child.kill("SIGKILL");
  await gone;
}
