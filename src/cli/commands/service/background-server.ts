import { join } from "node:path";
import { SECOND_MS } from "../../../core/instant.ts";
import { Refusal } from "../../../core/refusal.ts";
import type { Context } from "../../context.ts";
import { pauseFor } from "../../terminal/pause.ts";

const START_MS = 10 * SECOND_MS;
const LOOK_MS = 100;
const REPLY_MS = SECOND_MS;

/** Where the server of this place answers; undefined where none does, whatever file one left behind. */
export async function findAnswering(context: Context): Promise<string | undefined> {
  const found = await context.findServer();
  if (found === undefined || context.place.store.kind === "server") return found;
  return (await isUp(found)) ? found : undefined;
}

/** Starts a server that goes on by itself, and returns where it answers. */
export async function startServer(context: Context): Promise<string> {
  const log = join(context.place.stateDir, "serve.log");
  await context.detach({ argv: serveArgv(context), env: ownEnv(context), log });
  const started = await waitForServer(context);
  if (started !== undefined) return started;
  throw new Refusal("store_unreachable", `The server did not start; ${log} says why`, {
    hint: "Start it here and see: askd serve",
  });
}

/** Where the server answers that was just started; undefined where it takes too long. */
export async function waitForServer(context: Context): Promise<string | undefined> {
  const signal = context.interrupt();
  for (let waitedMs = 0; waitedMs < START_MS && !signal.aborted; waitedMs += LOOK_MS) {
    const started = await findAnswering(context);
    if (started !== undefined) return started;
    await pauseFor(LOOK_MS, signal, context);
  }
  return undefined;
}

/** Says whether somebody answers at that address: a server that was killed leaves its word behind. */
async function isUp(url: string): Promise<boolean> {
  try {
    await fetch(`${url}/health`, { signal: AbortSignal.timeout(REPLY_MS) });
    return true;
  } catch {
    return false; // nobody is there
  }
}

function serveArgv({ self, place }: Context): string[] {
  const { store } = place;
  const where = store.kind === "sqlite" ? `sqlite:${store.file}` : store.url;
  return [...self, "--store", where, "serve"];
}

/** Only what tells the server where things are. */
function ownEnv({ env }: Context): Record<string, string> {
  const names = ["HOME", "USER", "LOGNAME", "PATH", "LANG", "TMPDIR", "ASKD_HOME", "ASKD_CONFIG_DIR", "ASKD_PORT"];
  const xdg = ["CONFIG_HOME", "DATA_HOME", "STATE_HOME", "RUNTIME_DIR", "CACHE_HOME"].map((name) => `XDG_${name}`);
  return Object.fromEntries([...names, ...xdg].flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}
