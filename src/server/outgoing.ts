import { ServerResponse } from "node:http";
import type { Context } from "hono";

/** What is written below a reply, as the server of Node gives it along; there is none without a connection. */
export function outgoingOf({ env }: Context): ServerResponse | undefined {
  const around: unknown = env;
  if (around === null || typeof around !== "object" || !("outgoing" in around)) return undefined;
  return around.outgoing instanceof ServerResponse ? around.outgoing : undefined;
}

/** Does something once the reply is out; without a connection below it that is when this turn of the loop is over. */
export function afterReply(outgoing: ServerResponse | undefined, done: () => void): void {
  if (!outgoing) setImmediate(done);
  else outgoing.once("close", () => outgoing.writableFinished && done());
}
