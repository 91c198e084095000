import type { Sdk } from "./caller.ts";
import { LISTED, OPTIONS, listed } from "./server.ts";

/**
 * Replies to the first requests of a client, which do not depend on the store: `bin/first-replies.cjs` sends them before
 * the program is loaded. The server itself makes them when the package is built, for every version of the protocol that
 * begins with `initialize`.
 */
export interface FirstReplies {
  /** The result of `initialize` by the version that the client asks for; the first one for any other version. */
  initialize: Array<{ version: string; result: unknown }>;
  /** Each tool as `tools/list` shows it. */
  tools: Record<string, unknown>;
  /** The tools that are offered where none are named. */
  offered: readonly string[];
}

/** Records the first replies of a server of this version. */
export async function recordFirstReplies(
  sdk: Sdk,
  { version, offered }: { version: string; offered: readonly string[] },
): Promise<FirstReplies> {
  const ask = async (protocolVersion: string): Promise<unknown> => {
    const [ours, theirs] = sdk.InMemoryTransport.createLinkedPair();
    const server = new sdk.Server({ name: "askd", title: "askd", version }, OPTIONS);
    const replied = new Promise<unknown>((resolve) => {
      // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport is no event target
      theirs.onmessage = (message) => resolve("result" in message ? message.result : undefined);
    });
    await server.connect(ours);
    await theirs.start();
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: "build", version } };
    await theirs.send({ jsonrpc: sdk.JSONRPC_VERSION, id: 1, method: "initialize", params });
    const result = await replied;
    await server.close();
    return result;
  };
  const versions = [sdk.LATEST_PROTOCOL_VERSION, ...sdk.SUPPORTED_PROTOCOL_VERSIONS];
  return {
    initialize: await Promise.all(versions.map(async (each) => ({ version: each, result: await ask(each) }))),
    tools: Object.fromEntries(LISTED.map((name) => [name, listed(name)])),
    offered,
  };
}
