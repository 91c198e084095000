import type { ServerResponse } from "node:http";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { Refusal } from "../../core/refusal.ts";
import type { SignedIn } from "../credential.ts";
import { SAFE_HEADERS } from "../guard.ts";
import { sayProblem } from "../problem.ts";
import type { Reply } from "../reply.ts";
import type { Slots } from "../slots.ts";

/**
 * Replies that come late. The way by which their request came in ends at once, so that of each only its connection
 * is kept, and not what stood before the route.
 */
export class HeldRequests {
  readonly #waiting = new Set<AbortController>();
  readonly #stopping: AbortSignal;
  readonly #slots: Slots;
  readonly #onBug: (error: unknown) => void;

  constructor(stopping: AbortSignal, slots: Slots, onBug: (error: unknown) => void) {
    this.#stopping = stopping;
    this.#slots = slots;
    this.#onBug = onBug;
    // One listener for all: a signal looks through every listener it has when one more comes or goes.
    stopping.addEventListener("abort", () => {
      for (const controller of this.#waiting) controller.abort();
    });
  }

  /** Replies what `wait` brings to the bearer of a token; its signal aborts when the caller is gone, the token ends or the server is about to stop. */
  reply(
    outgoing: ServerResponse,
    { tokenId, whenEnded }: { tokenId: string; whenEnded: SignedIn["Variables"]["whenEnded"] },
    wait: (signal: AbortSignal) => Promise<Reply>,
  ): Response {
    const free = this.#slots.take(tokenId);
    const controller = new AbortController();
    if (this.#stopping.aborted) controller.abort();
    this.#waiting.add(controller);
    const leave = whenEnded(() => {
      controller.abort(new Refusal("sign_in", "This token was revoked or has expired meanwhile"));
    });
    outgoing.once("close", () => {
      free();
      leave();
      this.#waiting.delete(controller);
      if (!outgoing.writableFinished) controller.abort();
    });
    wait(controller.signal)
      .catch((error: unknown) => sayProblem(error, this.#onBug))
      .then((reply) => send(outgoing, reply))
      .catch(this.#onBug);
    return RESPONSE_ALREADY_SENT;
  }
}

function send(outgoing: ServerResponse, { status, headers, body }: Reply): void {
  if (outgoing.destroyed) return;
  outgoing.writeHead(status, { ...SAFE_HEADERS, ...headers, "Content-Length": Buffer.byteLength(body) });
  outgoing.end(body);
}
