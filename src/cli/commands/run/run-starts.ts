import { findFileText } from "../../../agents/process/private-file.ts";
import { hasErrorCode } from "../../../core/error-code.ts";
import { machineName } from "../../../core/run/machine.ts";
import { epochFile, listEpochs, runDirOf } from "../../../agents/runner/run-files.ts";
import type { Run } from "../../../core/run/run.ts";
import type { Context } from "../../context.ts";
import type { ShowView } from "../inspect/show-view.ts";

/** One start of the agent and its exit code, from its files. */
interface Started {
  epoch: number;
  exitCode: number | null;
}

/** Reads what only the run's machine knows: its files, the starts of its agent, its worker. */
export async function readRunStarts(run: Run, context: Context): Promise<{ lines: ShowView["more"]; fields: object }> {
  const runDir = runDirOf(context.place.stateDir, run.id);
  const starts = run.host === (await context.host()) ? await readStarts(runDir) : undefined;
  const said = (starts ?? []).map(({ epoch, exitCode }) =>
    exitCode === null ? String(epoch) : `${epoch} (exit code ${exitCode})`,
  );
  return {
    lines: [
      ...(run.worker ? [["Worker", run.worker] as const] : []),
      ...(starts ? [["Files", runDir] as const] : [["Files", `on ${machineName(run.host)}`] as const]),
      ...(said.length > 0 ? [["Starts", said.join(", ")] as const] : []),
      ...(run.result?.details ? [["Details", run.result.details] as const] : []),
      ...(run.result?.issues ?? []).map((issue) => ["Issue", issue] as const),
    ],
    fields: { worker: run.worker ?? null, files: starts ? runDir : null, starts: starts ?? [] },
  };
}

/** The starts of the agent; undefined if this machine has no files of the run. */
async function readStarts(runDir: string): Promise<Started[] | undefined> {
  try {
    const epochs = await listEpochs(runDir, "out");
    return await Promise.all(epochs.map(async (epoch) => ({ epoch, exitCode: await readExit(runDir, epoch) })));
  } catch (error) {
    if (hasErrorCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** The exit code of the agent's process; null while it runs, or if it is unknown. */
async function readExit(runDir: string, epoch: number): Promise<number | null> {
  const text = await findFileText(epochFile(runDir, epoch, "exit"));
  const code = Number.parseInt(text ?? "", 10);
  return Number.isNaN(code) ? null : code;
}
