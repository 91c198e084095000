import { z } from "zod";
import { Instant, MINUTE_MS, msBetween } from "../instant.ts";
import { type Run, hasEnded, isAlive } from "./run.ts";

/** Host names have no such sign, so that the name can be read out of an id again. */
const MARK = "~";
const LONGEST_NAME = 100;
/** A machine that was not heard of for so long is said to be away: a living worker beats every few seconds. */
export const SILENT_MACHINE_MS = MINUTE_MS;

/** A machine whose workers start agents, as the store knows it. */
export const Machine = z.object({ id: z.string(), heardAt: Instant });
export type Machine = z.infer<typeof Machine>;

/** What is known of machines at a time. */
export interface Machines {
  now: Instant;
  /** Nothing where that could not be found out; then no machine is said to be away. */
  known: readonly Machine[] | undefined;
  /** A machine that is looked after by whoever looks, and never away to them. */
  here?: string | undefined;
}

/** The machine that a run waits for and that is away, with when it was last heard of, if it ever was. */
export interface AwayMachine {
  id: string;
  name: string;
  heardAt: Instant | undefined;
}

/** `build-7~3fa91c`: lasting, and still to be read. */
export function newMachineId(hostName: string, random: string): string {
  const plain = hostName.replaceAll(/[^\w.-]/g, "-").slice(0, LONGEST_NAME);
  return `${plain === "" ? "machine" : plain}${MARK}${random}`;
}

export function isMachineId(text: string): boolean {
  return /^[\w.-]{1,253}(~[0-9a-f]{1,64})?$/.test(text);
}

/** What people call a machine. */
export function machineName(id: string): string {
  return id.split(MARK)[0] || id;
}

/** Says whether the next thing that happens to a run has to happen on its machine, and not by a person first. */
export function needsMachine(run: Run): boolean {
  if (run.giveBack !== "worker" || run.host === "") return false;
  if (run.status === "queued" || run.status === "resuming") return true;
  return run.status === "running" && run.worker !== undefined;
}

/** The run as it is once it is answered, for what its machine has to do then. */
export function afterAnswer(run: Run): Run {
  const isParked = run.status === "awaiting_input" || run.status === "deferred";
  return isParked && run.pendingId !== undefined ? { ...run, status: "resuming", pendingId: undefined } : run;
}

/** The run as it is once people have done all that it waits for: answered it, logged its agent in, resumed it. */
export function onceResumed(run: Run): Run {
  return isAlive(run) || hasEnded(run) ? run : { ...run, status: "resuming", pendingId: undefined };
}

/** The machine that keeps a run waiting; undefined where none does. */
export function findAway(run: Run, { now, known, here }: Machines): AwayMachine | undefined {
  if (known === undefined || !needsMachine(run) || run.host === here) return undefined;
  const heardAt = known.find(({ id }) => id === run.host)?.heardAt;
  if (heardAt !== undefined && msBetween(heardAt, now) <= SILENT_MACHINE_MS) return undefined;
  return { id: run.host, name: machineName(run.host), heardAt };
}
