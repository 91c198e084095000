import type { Incoming } from "../json-rpc.ts";
import { textAt, valueAt } from "../json.ts";

/** Items that begin only when the model speaks. */
const SPOKEN = new Set(["agentMessage", "reasoning"]);

/** A reply to the agent, with the ids of its questions and answers. */
export interface CodexReply {
  result: object;
  ids: readonly string[];
}

/** A reply that the model has seen the effect of. */
export interface ShownReply extends CodexReply {
  callId: string;
}

interface CodexQuestion {
  threadId: string;
  callId: string;
  replied: CodexReply | undefined;
  isTaken: boolean;
  /** How many messages of the model have ended since it asked; the first is the one that it asked in. */
  replies: number;
}

/**
 * Finds out when the model was sent what came of a request. The app-server says only that it took our reply; the
 * model knows when it speaks again after its message in which it asked, or has come to the end of its turn.
 */
export class ShownWatch {
  readonly #asked = new Map<string | number, CodexQuestion>();

  asked(id: string | number, params: unknown): void {
    const threadId = textAt(params, "threadId") ?? "";
    const callId = textAt(params, "itemId") ?? "";
    this.#asked.set(id, { threadId, callId, replied: undefined, isTaken: false, replies: 0 });
  }

  replied(id: string | number, replied: CodexReply): void {
    const asked = this.#asked.get(id);
    if (asked) asked.replied = replied;
  }

  take({ method, params }: Incoming): ShownReply[] {
    const taken = method === "serverRequest/resolved" ? this.#asked.get(idAt(params)) : undefined;
    if (taken) taken.isTaken = true;
    const threadId = textAt(params, "threadId");
    const own = [...this.#asked].filter(([, asked]) => asked.threadId === threadId);
    if (method === "thread/tokenUsage/updated") for (const [, asked] of own) asked.replies += 1;
    const isSpoken = method === "item/started" && SPOKEN.has(textAt(params, "item", "type") ?? "");
    const isOver = method === "turn/completed" && textAt(params, "turn", "status") === "completed";
    const shown = own.filter(
      ([, { isTaken, replies }]) => isTaken && (isOver || replies > 1 || (isSpoken && replies > 0)),
    );
    for (const [id] of shown) this.#asked.delete(id);
    return shown.flatMap(([, { callId, replied }]) => (replied ? [{ callId, ...replied }] : []));
  }
}

function idAt(params: unknown): string | number {
  const id = valueAt(params, "requestId");
  return typeof id === "string" || typeof id === "number" ? id : "";
}
