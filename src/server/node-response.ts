import { ServerResponse } from "node:http";
import type { Context } from "hono";

/** The response object of Node's server below a reply; undefined without a connection. */
export function outgoingOf({ env }: Context): ServerResponse | undefined {
  const around: unknown = env;
  if (around === null || typeof around !== "object" || !("outgoing" in around)) return undefined;
  return around.outgoing instanceof ServerResponse ? around.outgoing : undefined;
}

/** Runs a function once the reply is sent; without a connection, at the end of this turn of the event loop. */
export function afterReply(outgoing: ServerResponse | undefined, done: () => void): void {
  if (!outgoing) setImmediate(done);
  else outgoing.once("close", () => outgoing.writableFinished && done());
}
