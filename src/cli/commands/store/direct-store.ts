import { existsSync, realpathSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import { requireAccess } from "../../../core/people/access.ts";
import { Refusal } from "../../../core/refusal.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { Store } from "../../../store/store.ts";
import { whoManages } from "../../actor.ts";
import type { Context } from "../../context.ts";

/** Opens the store itself for `work` and closes it; refuses if the store belongs to a server. */
export async function withDirectStore<Result>(
  context: Context,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const { store: place } = context.place;
  if (place.kind === "server") {
    throw new Refusal("bad_input", "The store belongs to the server; this command needs direct access", {
      hint: "Run this on the server's machine, without ASKD_URL",
    });
  }
  const store = await context.openStore(place);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Refuses to write over what is no file, and under a name that belongs to the store. */
export function requireTarget(file: string, { place: { store } }: Pick<Context, "place">): void {
  const own = store.kind === "sqlite" ? ["", "-wal", "-shm", "-journal"].map((end) => `${store.file}${end}`) : [];
  const found = statSync(file, { throwIfNoEntry: false });
  const what = own.some((each) => isSamePlace(each, file))
    ? "belongs to the store itself"
    : found && !found.isFile()
      ? "is no file"
      : undefined;
  if (what === undefined) return;
  throw new Refusal("bad_input", `${file} ${what}; nothing was changed`, { hint: "Name another file" });
}

/** Also of a file that is not there, by its folder. */
function isSamePlace(one: string, other: string): boolean {
  if (basename(one) !== basename(other))
    return existsSync(one) && existsSync(other) && realpathSync(one) === realpathSync(other);
  const folders = [dirname(one), dirname(other)];
  return folders.every((each) => existsSync(each)) && new Set(folders.map((each) => realpathSync(each))).size === 1;
}

/** Refuses an agent what copies or changes the whole store. The store is only opened if an agent's run may be around. */
export async function requireMaintainer(context: Context, { isStarting = false } = {}): Promise<void> {
  const open = () => context.engine({ isReading: true });
  const engine: Pick<Engine, "findRun" | "listRuns"> = {
    findRun: async (id) => (await open()).findRun(id),
    listRuns: async (filter) => (await open()).listRuns(filter),
  };
  // In a container that was started again, only a worker notices that the agents from before are gone.
  const around = isStarting ? { ...context, seesAllAbove: () => Promise.resolve(true) } : context;
  requireAccess("maintain", await whoManages(engine, around));
}

/**
 * Refuses an agent to be the server or the worker of the store: cancelling its run would have to end them. askd itself
 * starts both in a session of their own and without the run's variables, also when an agent's question needs them.
 */
export async function requireOutsideRun(context: Context): Promise<void> {
  if (context.isSessionLeader() && !context.env["ASKD_RUN"]) return;
  await requireMaintainer(context, { isStarting: true });
}
