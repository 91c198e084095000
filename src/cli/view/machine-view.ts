import type { Instant } from "../../core/instant.ts";
import {
  type AwayMachine,
  type KnownMachines,
  runAfterAnswer,
  findAwayMachine,
  needsMachine,
} from "../../core/run/machine.ts";
import type { PendingQuestion } from "../../core/question/question.ts";
import type { Run } from "../../core/run/run.ts";
import type { Engine } from "../../engine/engine.ts";
import { readMachines } from "../../engine/machines.ts";
import type { Context } from "../context.ts";
import { oneLine } from "./sanitise.ts";
import { sayAgo } from "./relative-time.ts";
import { refOf, sayRun } from "./run-text.ts";

/** The state of the machines that these runs wait for. This machine counts as present: the command starts its worker. */
export async function machinesFor(
  engine: Pick<Engine, "listMachines" | "now">,
  runs: readonly Run[],
  { place, host }: Pick<Context, "place" | "host">,
): Promise<KnownMachines> {
  const waiting = runs.map(runAfterAnswer).filter(needsMachine);
  const here = waiting.length === 0 || place.store.kind === "server" ? undefined : await host();
  return readMachines(engine, waiting, here);
}

/** `waits for build-7, last heard of 3h ago` */
export function sayAway(away: AwayMachine, now: Instant): string {
  return `waits for ${oneLine(away.name)}, ${sayHeard(away, now)}`;
}

/** The status of a run, with the machine that it waits for. */
export function sayState(run: Run, pending: PendingQuestion | undefined, machines: KnownMachines): string {
  const away = findAwayMachine(run, machines);
  const said = sayRun(run, pending, machines.now);
  return away ? `${said}, ${sayAway(away, machines.now)}` : said;
}

/** The problem and the ways to continue, each on a line. */
export function awayLines(run: Run, away: AwayMachine, now: Instant, program: string): string[] {
  const name = oneLine(away.name);
  const approved = run.workflow
    ? `, where its workflow is approved (${program} workflow approve ${oneLine(run.workflow.name)})`
    : "";
  return [
    `${refOf(run)} continues when ${name} is back (${sayHeard(away, now)})`,
    `Bring it back: run ${program} worker on ${name}`,
    `Or continue on another machine with this store${approved}: ${program} runs resume ${run.number} --elsewhere`,
    `Or cancel it: ${program} runs cancel ${run.number}`,
  ];
}

/** The same for a run that waits for its machine; undefined for others. */
export function findAwayLines(run: Run, machines: KnownMachines, program: string): string[] | undefined {
  const away = findAwayMachine(runAfterAnswer(run), machines);
  return away && awayLines(run, away, machines.now, program);
}

function sayHeard({ heardAt }: AwayMachine, now: Instant) {
  return heardAt === undefined ? "never heard of" : `last heard of ${sayAgo(heardAt, now)}`;
}
