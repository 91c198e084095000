import { z } from "zod";
import { Instant, MINUTE_MS, msBetween } from "../instant.ts";
import { type Run, hasEnded, isAgentAlive } from "./run.ts";

/** Host names cannot contain it, so the name can be read back from an id. */
const MARK = "~";
const LONGEST_NAME = 100;
/** A machine silent for this long counts as away: a live worker sends a heartbeat every few seconds. */
export const SILENT_MACHINE_MS = MINUTE_MS;

/** A machine with workers, as the store knows it. */
export const Machine = z.object({ id: z.string(), heardAt: Instant });
export type Machine = z.infer<typeof Machine>;

/** The known machines at one time. */
export interface KnownMachines {
  now: Instant;
  /** Undefined if unknown; then no machine counts as away. */
  known: readonly Machine[] | undefined;
  /** The viewer's own machine, which never counts as away. */
  here?: string | undefined;
}

/** The absent machine a run waits for, and when it was last heard from, if ever. */
export interface AwayMachine {
  id: string;
  name: string;
  heardAt: Instant | undefined;
}

/** `build-7~3fa91c`: permanent and readable. */
export function newMachineId(hostName: string, random: string): string {
  const plain = hostName.replaceAll(/[^\w.-]/g, "-").slice(0, LONGEST_NAME);
  return `${plain === "" ? "machine" : plain}${MARK}${random}`;
}

export function isMachineId(text: string): boolean {
  return /^[\w.-]{1,253}(~[0-9a-f]{1,64})?$/.test(text);
}

/** The display name of a machine. */
export function machineName(id: string): string {
  return id.split(MARK)[0] || id;
}

/** Says whether the next step of a run has to happen on its machine, without a person first. */
export function needsMachine(run: Run): boolean {
  if (run.giveBack !== "worker" || run.host === "") return false;
  if (run.status === "queued" || run.status === "resuming") return true;
  return run.status === "running" && run.worker !== undefined;
}

/** The run as it will be once answered. */
export function runAfterAnswer(run: Run): Run {
  const isParked = run.status === "awaiting_input" || run.status === "deferred";
  return isParked && run.pendingId !== undefined ? { ...run, status: "resuming", pendingId: undefined } : run;
}

/** The run as it will be once people have answered it, logged its agent in and resumed it. */
export function runAfterResume(run: Run): Run {
  return isAgentAlive(run) || hasEnded(run) ? run : { ...run, status: "resuming", pendingId: undefined };
}

/** Finds the absent machine that keeps a run waiting. */
export function findAwayMachine(run: Run, { now, known, here }: KnownMachines): AwayMachine | undefined {
  if (known === undefined || !needsMachine(run) || run.host === here) return undefined;
  const heardAt = known.find(({ id }) => id === run.host)?.heardAt;
  if (heardAt !== undefined && msBetween(heardAt, now) <= SILENT_MACHINE_MS) return undefined;
  return { id: run.host, name: machineName(run.host), heardAt };
}
