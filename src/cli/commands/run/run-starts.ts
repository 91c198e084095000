import { findText } from "../../../agents/process/private-file.ts";
import { isCode } from "../../../core/error-code.ts";
import { machineName } from "../../../core/run/machine.ts";
import { epochFile, listEpochs, runDirOf } from "../../../agents/runner/run-files.ts";
import type { Run } from "../../../core/run/run.ts";
import type { Context } from "../../context.ts";
import type { ShowView } from "../inspect/show-view.ts";

/** One start of the agent and how it ended, as the files say. */
interface Started {
  epoch: number;
  exitCode: number | null;
}

/** What only the machine of the run knows: where its files are, how often its agent was started, who follows it. */
export async function readFiles(run: Run, context: Context): Promise<{ lines: ShowView["more"]; fields: object }> {
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

/** Nothing where this machine has no files of the run. */
async function readStarts(runDir: string): Promise<Started[] | undefined> {
  try {
    const epochs = await listEpochs(runDir, "out");
    return await Promise.all(epochs.map(async (epoch) => ({ epoch, exitCode: await readExit(runDir, epoch) })));
  } catch (error) {
    if (isCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** What the agent's process ended with; nothing while it runs, or when nobody saw it end. */
async function readExit(runDir: string, epoch: number): Promise<number | null> {
  const text = await findText(epochFile(runDir, epoch, "exit"));
  const code = Number.parseInt(text ?? "", 10);
  return Number.isNaN(code) ? null : code;
}
