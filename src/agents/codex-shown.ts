import type { Incoming } from "./json-rpc.ts";
import { textAt, valueAt } from "./json.ts";

/** What begins only when the model speaks. */
const SPOKEN = new Set(["agentMessage", "reasoning"]);

/** A result of the agent's own tool that its model was sent. */
export interface ShownResult {
  callId: string;
  result: object;
}

interface Asked {
  callId: string;
  result: object | undefined;
  isTaken: boolean;
  /** How many replies of the model have ended since it asked; the first is the one that it asked in. */
  replies: number;
}

/**
 * Finds out when the model was sent what its question tool got. The app-server says only that it took a reply; the
 * model has it when it speaks again after the reply in which it asked.
 */
export class ShownWatch {
  readonly #asked = new Map<string | number, Asked>();

  asked(id: string | number, callId: string): void {
    this.#asked.set(id, { callId, result: undefined, isTaken: false, replies: 0 });
  }

  replied(id: string | number, result: object): void {
    const asked = this.#asked.get(id);
    if (asked) asked.result = result;
  }

  take({ method, params }: Incoming): ShownResult[] {
    const taken = method === "serverRequest/resolved" ? this.#asked.get(idAt(params)) : undefined;
    if (taken) taken.isTaken = true;
    if (method === "thread/tokenUsage/updated") for (const asked of this.#asked.values()) asked.replies += 1;
    const isSpoken = method === "item/started" && SPOKEN.has(textAt(params, "item", "type") ?? "");
    const shown = [...this.#asked].filter(
      ([, { isTaken, replies }]) => isTaken && (replies > 1 || (isSpoken && replies > 0)),
    );
    for (const [id] of shown) this.#asked.delete(id);
    return shown.flatMap(([, { callId, result }]) => (result ? [{ callId, result }] : []));
  }
}

function idAt(params: unknown): string | number {
  const id = valueAt(params, "requestId");
  return typeof id === "string" || typeof id === "number" ? id : "";
}
