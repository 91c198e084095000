import { randomBytes } from "node:crypto";
import type { BridgeHost } from "../bridge.ts";
import type { CodexReply } from "./shown-reply.ts";
import type { Incoming, JsonRpc } from "../json-rpc.ts";
import { textAt, valueAt } from "../json.ts";
import type { QuestionSnapshot } from "../../core/changes.ts";
import { DELIMITER_BYTES, delimiterFrom } from "../../core/text/foreign-text.ts";
import { codexAppRequests } from "./app-server-request.ts";
import type { HookCall } from "../../core/door/hook.ts";
import type { Instant } from "../../core/instant.ts";
import { findAnswer } from "../../core/question/question.ts";

type Request = Incoming & { id: string | number };

export interface RequestDeps {
  host: BridgeHost;
  rpc: JsonRpc;
  /** Aborts when nothing can be waited for any more. */
  stop: AbortSignal;
  /** Hears what a request was replied. */
  replied(id: string | number, replied: CodexReply): void;
  /** Nobody answered in time: the agent is to be stopped where it is. */
  park(): Promise<void>;
}

/** Asks people what Codex asks its client, one thing after the other: a run has one open question. */
export class CodexRequests {
  readonly #deps: RequestDeps;
  readonly #open = new Map<string | number, AbortController>();
  /** Items that have begun; what is to be changed in files stands only there. */
  readonly #items = new Map<string, unknown>();
  #threadId = "";
  #queue: Promise<void> = Promise.resolve();
  #isParked = false;

  constructor(deps: RequestDeps) {
    this.#deps = deps;
  }

  /** Names the thread that the run is about; others belong to helpers of its agent. */
  open(threadId: string): void {
    this.#threadId = threadId;
  }

  take(request: Request): void {
    const abort = new AbortController();
    this.#open.set(request.id, abort);
    const calledAt = this.#deps.host.now();
    this.#queue = this.#queue.then(() => this.#answer(request, calledAt, abort.signal));
  }

  notice({ method, params }: Incoming): void {
    const itemId = textAt(params, "item", "id");
    if (method === "item/started" && itemId !== undefined) this.#items.set(itemId, valueAt(params, "item"));
    if (method === "item/completed" && itemId !== undefined) this.#items.delete(itemId);
    const requestId = valueAt(params, "requestId");
    if (method !== "serverRequest/resolved" || (typeof requestId !== "string" && typeof requestId !== "number")) return;
    // Nobody waits for our reply any more.
    this.#open.get(requestId)?.abort();
  }

  /** Waits until what is in hand is written down. */
  async settle(): Promise<void> {
    await this.#queue;
  }

  async #answer(request: Request, calledAt: Instant, signal: AbortSignal): Promise<void> {
    const { rpc, stop } = this.#deps;
    const { id, method, params } = request;
    if (this.#isParked || stop.aborted) return;
    const call = this.#parse(request);
    if (!call) return rpc.refuse(id, `Nobody here can answer ${method}`);
    const isSubagent = textAt(params, "threadId") !== this.#threadId;
    const { reply, handed } = await this.#decide({ ...call, isSubagent }, calledAt, AbortSignal.any([signal, stop]));
    this.#open.delete(id);
    const result = codexAppRequests.say(call, reply, delimiterFrom(randomBytes(DELIMITER_BYTES)));
    if (!result) {
      this.#isParked = true;
      await this.#deps.park();
      return;
    }
    this.#deps.replied(id, { result, ids: handed ? idsOf(handed) : [] });
    rpc.reply(id, result);
  }

  #parse({ method, params }: Request): HookCall | undefined {
    try {
      const event = codexAppRequests.parse({ method, params, item: this.#items.get(textAt(params, "itemId") ?? "") });
      return event.is === "call" ? event.call : undefined;
    } catch (error) {
      this.#complain(error);
      return undefined;
    }
  }

  async #decide(call: HookCall, calledAt: Instant, signal: AbortSignal): ReturnType<BridgeHost["decide"]> {
    try {
      return await this.#deps.host.decide({ client: codexAppRequests, call, calledAt, signal });
    } catch (error) {
      const why = this.#complain(error);
      return { reply: { do: "deny", why: `This ${call.is} could not be kept: ${why}. Stop and report this.` } };
    }
  }

  #complain(error: unknown): string {
    return this.#deps.host.complain(error instanceof Error ? error.message : String(error));
  }
}

/** The names by which it is known later what was handed over. */
function idsOf({ question }: QuestionSnapshot): string[] {
  const answer = findAnswer(question);
  return [question.id, ...(answer ? [answer.id] : []), ...question.amendments.map(({ id }) => id)];
}
