import { isProcessAlive } from "../agents/process/process-identity.ts";
import { hasLivingWorker, listLiveWorkers } from "../agents/runner/worker-row.ts";
import type { Store } from "../store/store.ts";
import type { Finding } from "./finding.ts";
import type { DoctorContext } from "./doctor-context.ts";
import { formatDuration } from "../core/text/duration.ts";
import { msBetween } from "../core/instant.ts";
import { type AwayMachine, type KnownMachines, findAwayMachine } from "../core/run/machine.ts";
import { LIVE_STATUSES, type Run } from "../core/run/run.ts";
import { pluralize } from "../core/text/plural.ts";
import type { Engine } from "../engine/engine.ts";
import { readMachines } from "../engine/machines.ts";
import { adviseElsewhere } from "./waiting-run.ts";

/** Checks the worker of this machine and its version. */
export async function checkWorker(
  store: Store,
  { host, version, isWorkerLocked }: Pick<DoctorContext, "host" | "version" | "isWorkerLocked">,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const row of await listLiveWorkers(store, host)) {
    if (row.version === undefined || row.version === version || !(await isProcessAlive(row.process))) continue;
    findings.push({
      code: "worker_version",
      area: "queue",
      level: "warning",
      text: `the worker (process ${row.process.pid}) is askd ${row.version}, this is ${version}`,
      fix: `kill ${row.process.pid} (agents continue), then askd worker`,
    });
  }
  if (await hasLivingWorker(store, host)) {
    findings.push({ code: "worker", area: "queue", level: "ok", text: "worker running" });
  } else if (await isWorkerLocked()) {
    findings.push({
      code: "worker_silent",
      area: "queue",
      level: "warning",
      text: "the worker of this store does not respond: it was stopped, or hangs",
      fix: "end it: askd service stop; the next command that needs a worker starts one",
    });
  }
  return findings;
}

const MOST_RUNS = 500;

/** Checks for runs that cannot continue because their machine is away; other checks cover this machine. */
export async function checkMachines(
  engine: Pick<Engine, "listRuns" | "listMachines" | "now">,
  here: string | undefined,
): Promise<Finding[]> {
  const runs = await engine.listRuns({ statuses: LIVE_STATUSES, order: "oldest", limit: MOST_RUNS });
  const machines = await readMachines(engine, runs, here);
  const waiting = new Map<string, { away: AwayMachine; runs: [Run, ...Run[]] }>();
  for (const run of runs) {
    const away = findAwayMachine(run, machines);
    const found = away && waiting.get(away.id);
    if (found) found.runs.push(run);
    else if (away) waiting.set(away.id, { away, runs: [run] });
  }
  return [...waiting.values()].map((one) => describeAwayMachine(one, machines));
}

function describeAwayMachine(
  { away, runs }: { away: AwayMachine; runs: [Run, ...Run[]] },
  { now }: KnownMachines,
): Finding {
  const [first, ...others] = runs;
  const who = `#${first.number} ${first.name}${others.length > 0 ? ` and ${pluralize(others.length, "other run")}` : ""}`;
  const heard = away.heardAt ? `last heard of ${formatDuration(msBetween(away.heardAt, now))} ago` : "never heard of";
  return {
    code: "host_silent",
    area: "queue",
    level: "warning",
    text: `${who} ${others.length > 0 ? "wait" : "waits"} for ${away.name}, ${heard}`,
    fix: adviseElsewhere({ ...first, host: away.id }),
  };
}
