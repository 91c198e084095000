import { z } from "zod";
import { Instant } from "../core/instant.ts";
import { type Machine, type KnownMachines, needsMachine } from "../core/run/machine.ts";
import { Refusal } from "../core/refusal.ts";
import type { Run } from "../core/run/run.ts";
import type { Store } from "../store/store.ts";
import type { Engine } from "./engine.ts";

/** The part of a worker's row that describes its machine. */
const Beat = z.looseObject({ host: z.string(), beatAt: Instant });

/** The machines that workers have been on, with when each was last heard of. */
export async function listMachines(store: Pick<Store, "listEntries">): Promise<Machine[]> {
  const heard = new Map<string, Instant>();
  for (const { body } of await store.listEntries("worker")) {
    const { data } = Beat.safeParse(body);
    if (data && (heard.get(data.host) ?? "") < data.beatAt) heard.set(data.host, data.beatAt);
  }
  return [...heard].map(([id, heardAt]) => ({ id, heardAt }));
}

/** Reads the machines that these runs wait for; reads nothing if no run waits for one. */
export async function readMachines(
  engine: Pick<Engine, "listMachines" | "now">,
  runs: readonly Run[],
  here?: string,
): Promise<KnownMachines> {
  const isWaiting = runs.some((run) => needsMachine(run) && run.host !== here);
  const known = isWaiting ? await listKnown(engine) : [];
  return { now: await engine.now(), known, here };
}

/** No machines if the caller may not list them or the server is too old to know them. */
async function listKnown(engine: Pick<Engine, "listMachines">) {
  try {
    return await engine.listMachines();
  } catch (error) {
    if (error instanceof Refusal && (error.code === "not_permitted" || error.code === "not_found")) return undefined;
    throw error;
  }
}
