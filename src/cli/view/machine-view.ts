import type { Instant } from "../../core/instant.ts";
import { type AwayMachine, type Machines, afterAnswer, findAway, needsMachine } from "../../core/run/machine.ts";
import type { Pending } from "../../core/question/question.ts";
import type { Run } from "../../core/run/run.ts";
import type { Engine } from "../../engine/engine.ts";
import { readMachines } from "../../engine/machines.ts";
import type { Context } from "../context.ts";
import { oneLine } from "./sanitise.ts";
import { sayAgo } from "./relative-time.ts";
import { refOf, sayRun } from "../wording.ts";

/** What is known of the machines that these runs wait for, or will. Whoever types on one sees to it that it works. */
export async function machinesFor(
  engine: Pick<Engine, "listMachines" | "now">,
  runs: readonly Run[],
  { place, host }: Pick<Context, "place" | "host">,
): Promise<Machines> {
  const waiting = runs.map(afterAnswer).filter(needsMachine);
  const here = waiting.length === 0 || place.store.kind === "server" ? undefined : await host();
  return readMachines(engine, waiting, here);
}

/** `waits for build-7, last heard of 3h ago` */
export function sayAway(away: AwayMachine, now: Instant): string {
  return `waits for ${oneLine(away.name)}, ${sayHeard(away, now)}`;
}

/** The state of a run, and the machine that it waits for. */
export function sayState(run: Run, pending: Pending | undefined, machines: Machines): string {
  const away = findAway(run, machines);
  const said = sayRun(run, pending, machines.now);
  return away ? `${said}, ${sayAway(away, machines.now)}` : said;
}

/** What is so, and the ways out, each on a line. */
export function awayLines(run: Run, away: AwayMachine, now: Instant, program: string): string[] {
  const name = oneLine(away.name);
  return [
    `${refOf(run)} goes on when ${name} is back (${sayHeard(away, now)})`,
    `Bring it back: on ${name}, type ${program} worker`,
    `Or go on on another machine with this store: ${program} runs resume ${run.number} --elsewhere`,
    `Or give it up: ${program} runs cancel ${run.number}`,
  ];
}

/** The same for a run that is or will be waiting for its machine; nothing where it is not. */
export function findAwayLines(run: Run, machines: Machines, program: string): string[] | undefined {
  const away = findAway(afterAnswer(run), machines);
  return away && awayLines(run, away, machines.now, program);
}

function sayHeard({ heardAt }: AwayMachine, now: Instant): string {
  return heardAt === undefined ? "never heard of" : `last heard of ${sayAgo(heardAt, now)}`;
}
