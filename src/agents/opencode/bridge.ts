import { randomBytes } from "node:crypto";
import { type Json, textAt } from "../json.ts";
import { OpencodeLines } from "./output.ts";
import { OpencodePlan } from "./serve.ts";
import { OpencodeServer } from "./server.ts";
import { runInstead } from "../process/replace-process.ts";
import { DELIMITER_BYTES, delimiterFrom } from "../../core/text/foreign-text.ts";
import { opencodeRequests } from "./server-request.ts";
import type { Instant } from "../../core/instant.ts";
import { EXIT_CODE } from "../../core/exit-code.ts";
import type { Bridge, BridgeHost } from "../bridge.ts";

const PROMPT_BYTES = 16 * 1024 * 1024;

/** Has OpenCode's server do one turn of a session, and asks people what it asks its client. */
export const bridge: Bridge = async (text, host) => {
  const plan = OpencodePlan.parse(JSON.parse(text));
  const prompt = await host.readPrompt(PROMPT_BYTES);
  const signal = host.interrupt();
  const server = await OpencodeServer.start(plan.server, plan.dir, host.env, signal).catch(String);
  if (signal.aborted) {
    if (typeof server !== "string") await server.stop();
    return EXIT_CODE.interrupted;
  }
  if (typeof server === "string") {
    host.complain(`opencode serve cannot be used (${server}); opencode run is started instead`);
    return runInstead(plan.fallback, prompt, { ...host, cwd: plan.dir, interrupt: () => signal });
  }
  try {
    return await new Turn({ server, plan, prompt, host, signal }).take();
  } finally {
    await server.stop();
  }
};

interface TurnDeps {
  server: OpencodeServer;
  plan: OpencodePlan;
  prompt: string;
  host: BridgeHost;
  signal: AbortSignal;
}

/** One turn of a session: from a message until the session is idle, or parked. */
class Turn {
  readonly #deps: TurnDeps;
  /** Ends what is being waited for: events, and people. */
  readonly #leave = new AbortController();
  #session = "";
  #lines: OpencodeLines | undefined;
  #isBusy = false;
  #exitCode = 0;
  /** One question of a run waits at a time; what a server asks in parallel is asked one after the other. */
  #asking: Promise<void> = Promise.resolve();
  #current: string | undefined;
  /** Requests that have a reply. */
  readonly #replied = new Set<string>();
  #failure: Error | undefined;
  /** Leave that a person gave while the agent was parked. It is told so, tries again, and is not asked for once more. */

  constructor(deps: TurnDeps) {
    this.#deps = deps;
    deps.signal.addEventListener("abort", () => this.#end(EXIT_CODE.interrupted), { once: true });
  }

  /** Takes the turn and returns the exit code. */
  async take(): Promise<number> {
    try {
      for await (const event of this.#deps.server.events(this.#leave.signal)) {
        if (!this.#lines) await this.#begin();
        this.#see(event);
      }
    } catch (error) {
      if (!this.#leave.signal.aborted) this.#fail(error);
    }
    if (!this.#leave.signal.aborted) this.#fail(new Error("OpenCode's server is gone"));
    await this.#asking;
    if (this.#failure === undefined) return this.#exitCode;
    throw this.#failure;
  }

  /** Begins when events are heard, so that none is missed. */
  async #begin(): Promise<void> {
    const { server, plan, prompt } = this.#deps;
    const made = plan.session ? undefined : await server.post("/session", plan.title ? { title: plan.title } : {});
    this.#session = plan.session ?? textAt(made, "id") ?? "";
    if (this.#session === "") throw new Error("OpenCode's server made no session");
    this.#lines = new OpencodeLines(this.#session);
    const message = { ...plan.message, parts: [{ type: "text", text: prompt }] };
    await server.post(`/session/${this.#session}/prompt_async`, message);
  }

  #see(event: Json): void {
    if (this.#leave.signal.aborted) return;
    const line = this.#lines?.read(event);
    if (line) {
      this.#deps.host.stdout.write(`${JSON.stringify(line)}\n`);
      this.#exitCode = line["type"] === "error" ? EXIT_CODE.error : 0; // it may try again, and succeed
    }
    switch (event["type"]) {
      case "question.asked":
      case "permission.asked":
        return this.#askInTurn(event, this.#deps.host.now());
      case "question.replied":
      case "question.rejected":
      case "permission.replied":
        return this.#seeReply(event, textAt(event, "properties", "requestID") ?? "");
      case "session.status":
      case "session.error":
      case "session.idle":
        return this.#seeStatus(event);
      default:
    }
  }

  /** Nobody but a person gives an answer or leave; what the agent itself tells its server is neither. */
  #seeReply(event: Json, requestId: string): void {
    if (this.#replied.has(requestId)) return;
    if (requestId === this.#current) return this.#leave.abort();
    // With one refusal the server refuses all that the session waits for.
    const isNo = event["type"] === "question.rejected" || textAt(event, "properties", "reply") === "reject";
    if (isNo) this.#replied.add(requestId);
    else this.#fail(new Error("Somebody else replied to what OpenCode asked"));
  }

  #seeStatus(event: Json): void {
    if (textAt(event, "properties", "sessionID") !== this.#session) return;
    if (event["type"] === "session.status") this.#isBusy ||= textAt(event, "properties", "status", "type") === "busy";
    else if (event["type"] === "session.idle" && this.#isBusy) this.#end(this.#exitCode);
    // A message that it cannot take, such as one to an agent that it does not know, leads to nothing more.
    else if (event["type"] === "session.error" && !this.#isBusy) this.#end(EXIT_CODE.error);
  }

  #askInTurn(event: Json, calledAt: Instant): void {
    this.#asking = this.#asking.then(() => this.#ask(event, calledAt)).catch((error: unknown) => this.#fail(error));
  }

  async #ask(event: Json, calledAt: Instant): Promise<void> {
    const id = textAt(event, "properties", "id") ?? "";
    const parsed = opencodeRequests.parse(event);
    if (this.#replied.has(id) || this.#leave.signal.aborted || parsed.is !== "call") return;
    this.#current = id;
    const { server, host } = this.#deps;
    const call = { ...parsed.call, isSubagent: parsed.call.session !== this.#session };
    const { signal } = this.#leave;
    const { reply, handed } = await host.decide({ client: opencodeRequests, call, calledAt, signal });
    const body = opencodeRequests.say(call, reply, delimiterFrom(randomBytes(DELIMITER_BYTES)));
    if (!body) return this.#park();
    this.#replied.add(id);
    await server.post(`/${call.is === "question" ? "question" : "permission"}/${id}/reply`, body);
    // The result of its own question tool shows in its lines; no line shows the rest.
    if (handed && (call.is !== "question" || call.isSubagent)) await host.given(handed.question.id);
  }

  /** Leaves the question open and ends the turn, so that the session can be resumed by a message. */
  async #park(): Promise<void> {
    const { server } = this.#deps;
    if (!this.#leave.signal.aborted) this.#end(0);
    // A server that is gone has no turn to be aborted.
    await server.post(`/session/${this.#session}/abort`, {}).catch(() => undefined);
  }

  #fail(error: unknown): void {
    this.#failure ??= error instanceof Error ? error : new Error(String(error));
    this.#leave.abort();
  }

  #end(exitCode: number): void {
    this.#exitCode = exitCode;
    this.#leave.abort();
  }
}
