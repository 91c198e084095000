import { join } from "node:path";
import { findIdentity, isProcessAlive } from "../../../agents/process/process-identity.ts";
import { SECOND_MS } from "../../../core/instant.ts";
import { Refusal } from "../../../core/refusal.ts";
import { findWord } from "../../../server/local-token.ts";
import type { Context, ServeRequest, ServingHandle } from "../../context.ts";
import { Interrupted } from "../../terminal/interrupted.ts";
import { pauseFor } from "../../terminal/pause.ts";
import { wrongUsage } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import { saySignIn } from "../../sign-in-link.ts";
import { requireOutsideRun } from "../store/direct-store.ts";
import type { Flags, Values } from "../../flags.ts";
import { backgroundEnv } from "./background-env.ts";
import { workerLockFile } from "../../paths.ts";
import { STOP_MS } from "./worker.ts";

/** Where a server listens unless a port is given. */
export const DEFAULT_PORT = 4319;
const START_MS = 10 * SECOND_MS;
const START_POLL_MS = 100;
/** A server lets requests finish for a while. */
const END_MS = 15 * SECOND_MS;
const END_POLL_MS = 50;
const REPLY_MS = SECOND_MS;

const flags = {
  port: { type: "string", value: "port", about: `Where to listen (${DEFAULT_PORT}); 0 picks a free one` },
  "no-worker": { type: "boolean", about: "Do not run due jobs; another process does" },
  host: { type: "string", value: "address", about: "Also listen on this address; needs --behind-proxy" },
  "behind-proxy": { type: "boolean", about: "A proxy in front of this server terminates TLS" },
  name: { type: "string", multiple: true, value: "host", about: "A host name of this server; can be repeated" },
} as const satisfies Flags;

/** The address of the running server; undefined if none responds, whatever its file says. */
export async function findRunningServer(context: Context): Promise<string | undefined> {
  const found = await context.findServer();
  if (found === undefined || context.place.store.kind === "server") return found;
  return (await isUp(found)) ? found : undefined;
}

/** Starts a background server and returns its address. */
export async function startServer(context: Context): Promise<string> {
  const log = join(context.place.stateDir, "serve.log");
  await context.detach({ argv: serveArgv(context), env: backgroundEnv(context, ["ASKD_PORT"]), log });
  const started = await waitForServer(context);
  if (started !== undefined) return started;
  throw new Refusal("store_unreachable", `The server did not start; ${log} says why`, {
    hint: "Start it in the foreground: askd serve",
  });
}

/** The address of a server that was just started; undefined if it takes too long. */
export async function waitForServer(context: Context): Promise<string | undefined> {
  const signal = context.interrupt();
  for (let waitedMs = 0; waitedMs < START_MS && !signal.aborted; waitedMs += START_POLL_MS) {
    const started = await findRunningServer(context);
    if (started !== undefined) return started;
    await pauseFor(START_POLL_MS, signal, context);
  }
  if (signal.aborted) throw new Interrupted();
  return undefined;
}

/** The process id of the running server; a stale file does not count. */
export async function findServerPid(context: Context): Promise<number | undefined> {
  const word = await findWord(context.place.runtimeDir);
  if (word === undefined || (await findRunningServer(context)) !== word.url) return undefined;
  return (await findIdentity(word.pid)) ? word.pid : undefined;
}

/** Stops a process and waits until it has ended. */
export async function stopProcess(pid: number, context: Context): Promise<void> {
  const process = await findIdentity(pid);
  if (!process || !context.tellToEnd(pid)) return;
  const signal = context.interrupt();
  for (let waitedMs = 0; waitedMs < END_MS && !signal.aborted; waitedMs += END_POLL_MS) {
    if (!(await isProcessAlive(process))) return;
    await pauseFor(END_POLL_MS, signal, context);
  }
  if (signal.aborted) throw new Interrupted();
  throw new Refusal("store_unreachable", `Process ${pid} did not stop after SIGTERM`, {
    hint: `Kill it: kill -9 ${pid}`,
  });
}

/** Says whether a server responds at the address: a killed one leaves its file behind. */
async function isUp(url: string) {
  try {
    await fetch(`${url}/health`, { signal: AbortSignal.timeout(REPLY_MS) });
    return true;
  } catch {
    return false; // no server there
  }
}

function serveArgv({ self, place }: Context) {
  const { store } = place;
  const where = store.kind === "sqlite" ? `sqlite:${store.file}` : store.url;
  return [...self, "--store", where, "serve"];
}

export const command: Command<typeof flags> = {
  usage: "serve [--port 4319] [--no-worker]",
  flags,
  isForAllProjects: true,
  examples: ["askd serve", "askd serve --host 0.0.0.0 --behind-proxy --name askd.example.com"],
  async run(args, context) {
    if (args.positionals.length > 0) throw wrongUsage("serve takes no arguments", command.usage);
    const request = readRequest(args.flags, context);
    requireShielded(request);
    await requireOutsideRun(context);
    const signal = context.interrupt([], STOP_MS);
    const serving = await context.serve(request);
    context.stdout.write(`${serving.url}\n`);
    if (!context.isQuiet) context.stderr.write(`Sign in with: ${context.program} open\n`);
    await saySignIn(findOwnAddress(serving, request, context), "/", serving.engine, context);
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

/** The address that the browser of this user takes: a server behind a proxy refuses any other than that of the proxy. */
function findOwnAddress({ url }: ServingHandle, { isSecure, names }: ServeRequest, { rules }: Context) {
  return isSecure ? (rules.publicUrl?.replace(/\/+$/, "") ?? `https://${names[0]}`) : url;
}

async function untilStopped(serving: ServingHandle, isIdle: boolean, signal: AbortSignal) {
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
function requireShielded({ host, names, isSecure }: ServeRequest) {
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

function readPort(text: string | undefined) {
  if (text === undefined) return undefined;
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535 && text.trim() !== "") return port;
  throw new Refusal("bad_input", "--port takes a number from 0 to 65535");
}
