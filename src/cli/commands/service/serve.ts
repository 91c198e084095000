import { Refusal } from "../../../core/refusal.ts";
import { wrongUsage } from "../../arguments.ts";
import { lockFile } from "./background-worker.ts";
import type { Command } from "../../command.ts";
import type { Context, ServeRequest, Serving } from "../../context.ts";
import type { Flags, Values } from "../../flags.ts";
import { PORT } from "../../port.ts";

const flags = {
  port: { type: "string", value: "port", about: `Where to listen (${PORT}); 0 picks a free one` },
  "no-worker": { type: "boolean", about: "Leave what falls due to other processes" },
  host: { type: "string", value: "address", about: "Listen there too; needs --behind-proxy" },
  "behind-proxy": { type: "boolean", about: "Something before this server speaks TLS" },
  name: { type: "string", multiple: true, value: "host", about: "A name under which people call it" },
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
    // Others need not start a worker while this one is there; two of them would be waste, not an error.
    const unlock = isIdle ? undefined : await context.lock(lockFile(context));
    try {
      await untilStopped(serving, isIdle, signal);
    } finally {
      unlock?.();
      await serving.close();
    }
    return 0;
  },
};

async function untilStopped(serving: Serving, isIdle: boolean, signal: AbortSignal): Promise<void> {
  const stopped = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  await (isIdle ? stopped : Promise.race([stopped, serving.work()]));
}

/** What the flags say, else what is configured. */
function readRequest(given: Values<typeof flags>, { config }: Context): ServeRequest {
  const { port, host, names = [], behind_proxy: isBehindProxy = false } = config.values.server ?? {};
  const where = given.host ?? host;
  return {
    port: readPort(given.port) ?? port ?? PORT,
    ...(where !== undefined && { host: where }),
    names: given.name ?? names,
    isSecure: given["behind-proxy"] ?? isBehindProxy,
  };
}

/** Beyond this machine everything would travel in the clear, tokens included. */
function requireShielded({ host, names, isSecure }: ServeRequest): void {
  if (isSecure && names.length === 0) {
    throw new Refusal("bad_input", "A server behind a proxy has to know its name", {
      hint: "Add --name askd.example.com",
    });
  }
  if (host === undefined || isSecure) return;
  throw new Refusal("not_permitted", `Listening on ${host} would show everything to the network`, {
    hint: "Put a proxy with TLS before it and add --behind-proxy and --name",
  });
}

function readPort(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535 && text.trim() !== "") return port;
  throw new Refusal("bad_input", "--port takes a number from 0 to 65535");
}
