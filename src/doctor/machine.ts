import { sayDuration } from "../core/text/duration.ts";
import { msBetween } from "../core/instant.ts";
import { type AwayMachine, type Machines, findAway } from "../core/run/machine.ts";
import { LIVE, type Run } from "../core/run/run.ts";
import { sayMany } from "../core/text/plural.ts";
import type { Engine } from "../engine/engine.ts";
import { readMachines } from "../engine/machines.ts";
import type { Finding } from "./finding.ts";

const MOST_RUNS = 500;

/** Runs that cannot go on because the machine that they belong to is away; this one is looked at by other checks. */
export async function checkMachines(
  engine: Pick<Engine, "listRuns" | "listMachines" | "now">,
  here: string | undefined,
): Promise<Finding[]> {
  const runs = await engine.listRuns({ statuses: LIVE, order: "oldest", limit: MOST_RUNS });
  const machines = await readMachines(engine, runs, here);
  const waiting = new Map<string, { away: AwayMachine; runs: [Run, ...Run[]] }>();
  for (const run of runs) {
    const away = findAway(run, machines);
    const found = away && waiting.get(away.id);
    if (found) found.runs.push(run);
    else if (away) waiting.set(away.id, { away, runs: [run] });
  }
  return [...waiting.values()].map((one) => describe(one, machines));
}

function describe({ away, runs }: { away: AwayMachine; runs: [Run, ...Run[]] }, { now }: Machines): Finding {
  const [first, ...others] = runs;
  const who = `#${first.number} ${first.name}${others.length > 0 ? ` and ${sayMany(others.length, "other run")}` : ""}`;
  const heard = away.heardAt ? `last heard of ${sayDuration(msBetween(away.heardAt, now))} ago` : "never heard of";
  return {
    ...{ code: "host_silent", area: "queue", level: "warning" },
    text: `${who} ${others.length > 0 ? "wait" : "waits"} for ${away.name}, ${heard}`,
    fix: `on ${away.name}: askd worker; or where the session is: askd runs resume ${first.number} --elsewhere`,
  };
}
