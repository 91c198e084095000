import { join } from "node:path";
import type { Context } from "../../context.ts";
import { pauseFor } from "../../terminal/pause.ts";

const LOOK_MS = 250;
const LOOKS = 4;
const NEVER = new AbortController().signal;

/** Said where nothing may go on in the background: the command that waits does the work itself. */
export function isServiceOff(env: Context["env"]): boolean {
  return Boolean(env["CI"]) || Boolean(env["ASKD_NO_SERVICE"]);
}

/** Has a worker of this user run on this machine: the one that is there, or a new one. */
export async function startService(context: Context): Promise<"running" | "started"> {
  if (isServiceOff(context.env) || (await isWorkerHere(context))) return "running";
  const { store } = context.place;
  const where = store.kind === "sqlite" ? `sqlite:${store.file}` : store.url;
  // A clean environment: what this one holds belongs to the caller, and every run has kept its own.
  const kept = ["HOME", "USER", "LOGNAME", "PATH", "LANG", "TMPDIR", "ASKD_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"];
  const names = [
    ...kept,
    "XDG_STATE_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_CACHE_HOME",
    "ASKD_CONFIG_DIR",
    "ASKD_CONFIG_SYSTEM",
  ];
  const env = Object.fromEntries(
    names.flatMap((name) => (context.env[name] === undefined ? [] : [[name, context.env[name] ?? ""]])),
  );
  await context.detach({
    argv: [...context.self, "--store", where, "worker", "--idle", "5m"],
    env,
    log: join(context.place.stateDir, "worker.log"),
  });
  return "started";
}

/**
 * Says whether a worker of this store runs on this machine: its heartbeat in the store decides. Whoever has the lock and
 * does not beat is about to, and is waited for; or it is stopped or hangs, and then somebody else has to do the work.
 */
export async function isWorkerHere(context: Context): Promise<boolean> {
  const host = await context.host();
  const { listWorkerRows, now } = await workersOf(context);
  const { hasLivingWorker } = await import("../../../agents/runner/worker-row.ts");
  for (let looks = 1; ; looks += 1) {
    if (await hasLivingWorker({ listEntries: listWorkerRows, now }, host)) return true;
    if (looks > LOOKS || !(await context.isLocked(lockFile(context)))) return false;
    await pauseFor(LOOK_MS, NEVER, context);
  }
}

async function workersOf(context: Context) {
  const engine = await context.engine({ isReading: true });
  return {
    listWorkerRows: async () => (await engine.listWorkerRows?.()) ?? [], // a server does the work of its own store
    now: () => engine.now(),
  };
}

/** The process of the worker of this store that goes on in the background, as it said itself. */
export async function findWorkerPid(context: Context): Promise<number | undefined> {
  const text = await context.readFile(pidFile(context)).catch(() => undefined); // a server does the work, or an older askd
  const { findIdentity } = await import("../../../agents/process/process-identity.ts");
  const [pid = "", ...born] = text?.trim().split(" ") ?? [];
  const found = /^[1-9]\d*$/.test(pid) ? await findIdentity(Number(pid)) : undefined;
  return found?.born === born.join(" ") ? found.pid : undefined;
}

/** Leaves word of this process beside the lock, for whoever wants it to end. */
export async function leavePid(context: Context): Promise<() => Promise<void>> {
  const file = pidFile(context);
  const { findIdentity } = await import("../../../agents/process/process-identity.ts");
  const { replaceFile } = await import("../../../agents/process/private-file.ts");
  const word = `${context.pid} ${(await findIdentity(context.pid))?.born ?? ""}\n`;
  await replaceFile(file, word);
  return async () => {
    // Another worker may have come meanwhile.
    const found = await context.readFile(file).catch(() => undefined); // somebody took it away
    if (found === word) await context.removeFile(file);
  };
}

function pidFile(context: Pick<Context, "place">): string {
  return `${lockFile(context)}.pid`;
}

/** Held by the worker of this store on this machine. */
export function lockFile({ place }: Pick<Context, "place">): string {
  const { store } = place;
  return store.kind === "sqlite" ? join(store.file, "..", "askd.lock") : join(place.runtimeDir, "askd.lock");
}
