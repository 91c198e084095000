import { Refusal } from "../../../core/refusal.ts";
import { wrongUsage } from "../../arguments.ts";
import { workerLockFile } from "./background-worker.ts";
import type { Command } from "../../command.ts";
import type { Context, ServeRequest, ServingHandle } from "../../context.ts";
import type { Flags, Values } from "../../flags.ts";
import { DEFAULT_PORT } from "./background-server.ts";

const flags = {
  port: { type: "string", value: "port", about: `Where to listen (${DEFAULT_PORT}); 0 picks a free one` },
  "no-worker": { type: "boolean", about: "Do not run due jobs; another process does" },
  host: { type: "string", value: "address", about: "Also listen on this address; needs --behind-proxy" },
  "behind-proxy": { type: "boolean", about: "A proxy in front of this server terminates TLS" },
  name: { type: "string", multiple: true, value: "host", about: "A host name of this server; can be repeated" },
} as const satisfies Flags;

export const command: Command<typeof flags> = {
  usage: "serve [--port 4319] [--no-worker]",
  flags,
  isForAllProjects: true,
  examples: ["askd serve", "askd serve --host 0.0.0.0 --behind-proxy --name askd.example.com"],
  async run(args, context) {
    if (args.positionals.length > 0) throw wrongUsage("serve takes no arguments", command.usage);
    const request = readRequest(args.flags, context);
    requireShielded(request);
    const signal = context.interrupt();
    const serving = await context.serve(request);
    context.stdout.write(`${serving.url}\n`);
    if (!context.isQuiet) context.stderr.write(`Sign in with: ${context.program} login\n`);
    const isIdle = args.flags["no-worker"] ?? false;
    // The lock tells others not to start a worker; two workers are wasteful, but not an error.
    const unlock = isIdle ? undefined : await context.lock(workerLockFile(context));
    try {
      await untilStopped(serving, isIdle, signal);
    } finally {
      unlock?.();
      await serving.close();
    }
    return 0;
  },
};

async function untilStopped(serving: ServingHandle, isIdle: boolean, signal: AbortSignal): Promise<void> {
  const stopped = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  await (isIdle ? stopped : Promise.race([stopped, serving.work()]));
}

/** The flags, else the settings. */
function readRequest(given: Values<typeof flags>, { config }: Context): ServeRequest {
  const { port, host, names = [], behind_proxy: isBehindProxy = false } = config.values.server ?? {};
  const where = given.host ?? host;
  return {
    port: readPort(given.port) ?? port ?? DEFAULT_PORT,
    host: where,
    names: given.name ?? names,
    isSecure: given["behind-proxy"] ?? isBehindProxy,
  };
}

/** Refuses to listen beyond this machine without TLS: tokens would be sent in the clear. */
function requireShielded({ host, names, isSecure }: ServeRequest): void {
  if (isSecure && names.length === 0) {
    throw new Refusal("bad_input", "A server behind a proxy needs its host name", {
      hint: "Add --name askd.example.com",
    });
  }
  if (host === undefined || isSecure) return;
  throw new Refusal("not_permitted", `Listening on ${host} would expose everything to the network`, {
    hint: "Put a TLS proxy in front of it and add --behind-proxy and --name",
  });
}

function readPort(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535 && text.trim() !== "") return port;
  throw new Refusal("bad_input", "--port takes a number from 0 to 65535");
}
