import { isAlive } from "../agents/process/process-identity.ts";
import { hasLivingWorker, listWorkers } from "../agents/runner/worker-row.ts";
import type { Store } from "../store/store.ts";
import type { Finding } from "./finding.ts";
import type { Patient } from "./doctor-context.ts";

/** Who starts agents on this machine, and whether that is this version of askd. */
export async function checkWorker(
  store: Store,
  { host, version, isWorkerLocked }: Pick<Patient, "host" | "version" | "isWorkerLocked">,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const row of await listWorkers(store, host)) {
    if (row.version === undefined || row.version === version || !(await isAlive(row.process))) continue;
    findings.push({
      ...{ code: "worker_version", area: "queue", level: "warning" },
      text: `the worker (process ${row.process.pid}) is askd ${row.version}, this is ${version}`,
      fix: `kill ${row.process.pid} (agents go on), then askd worker`,
    });
  }
  if (await hasLivingWorker(store, host)) {
    findings.push({ code: "worker", area: "queue", level: "ok", text: "worker running" });
  } else if (await isWorkerLocked()) {
    findings.push({
      ...{ code: "worker_silent", area: "queue", level: "warning" },
      text: "the worker of this store is there and does nothing: it was stopped, or hangs",
      fix: "end it: askd service stop; the next command that needs a worker starts one",
    });
  }
  return findings;
}
