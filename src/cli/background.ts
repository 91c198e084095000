import { join } from "node:path";
import type { Context } from "./context.ts";

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

/** Says whether a worker of this store runs on this machine. */
export function isWorkerHere(context: Context): Promise<boolean> {
  return context.isLocked(lockFile(context));
}

/** The process of the worker that has the lock of this store, as it said itself. */
export async function findWorkerPid(context: Context): Promise<number | undefined> {
  if (!(await isWorkerHere(context))) return undefined;
  const text = await context.readFile(pidFile(context)).catch(() => undefined); // a server does the work, or an older askd
  const { findIdentity } = await import("../agents/process-identity.ts");
  const [pid = "", ...born] = text?.trim().split(" ") ?? [];
  const found = /^[1-9]\d*$/.test(pid) ? await findIdentity(Number(pid)) : undefined;
  return found?.born === born.join(" ") ? found.pid : undefined;
}

/** Leaves word of this process beside the lock, for whoever wants it to end. */
export async function leavePid(context: Context): Promise<() => Promise<void>> {
  const file = pidFile(context);
  const { findIdentity } = await import("../agents/process-identity.ts");
  const { replaceFile } = await import("../agents/private-file.ts");
  await replaceFile(file, `${context.pid} ${(await findIdentity(context.pid))?.born ?? ""}\n`);
  return async () => void (await context.removeFile(file));
}

function pidFile(context: Pick<Context, "place">): string {
  return `${lockFile(context)}.pid`;
}

/** Held by the worker of this store on this machine. */
export function lockFile({ place }: Pick<Context, "place">): string {
  const { store } = place;
  return store.kind === "sqlite" ? join(store.file, "..", "askd.lock") : join(place.runtimeDir, "askd.lock");
}
