import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { RunId } from "../../core/id.ts";
import { Refusal } from "../../core/refusal.ts";
import { quoteShellWord } from "../../core/text/shell-word.ts";
import type { Store } from "../../store/store.ts";
import { findAgentProcess } from "../process/process.ts";
import { findFileText, replacePrivateFile } from "../process/private-file.ts";
import { Launch, findKeptLaunch, listEpochs, makeRunDir, runDirOf, saveLaunch } from "./run-files.ts";

/** One line of the file beside a backup. */
const KeptLaunch = z.object({ run_id: RunId, launch: Launch });

type KeptLaunch = z.infer<typeof KeptLaunch>;

const PAGE = 200;

/** The file beside a backup with the launch records of this machine's runs. */
export function launchesBeside(backup: string): string {
  return `${backup}.runs`;
}

/** Writes the launch records of this machine beside a backup, so that its runs can be started again; counts them. */
export async function backUpLaunches(stateDir: string, backup: string): Promise<number> {
  const lines: string[] = [];
  for (const runId of await listRunIds(stateDir)) {
    // A broken record starts nothing; doctor reports it.
    const launch = await findKeptLaunch(runDirOf(stateDir, runId)).catch(() => undefined);
    if (launch) lines.push(JSON.stringify({ run_id: runId, launch }));
  }
  if (lines.length > 0) await replacePrivateFile(launchesBeside(backup), `${lines.join("\n")}\n`);
  return lines.length;
}

/** Puts launch records of a backup back where this machine no longer has them; counts them. */
export async function restoreLaunches(backup: string, stateDir: string): Promise<number> {
  const text = (await findFileText(launchesBeside(backup))) ?? ""; // older backups and others have none
  const kept = parseKept(launchesBeside(backup), text);
  let count = 0;
  for (const { run_id: runId, launch } of kept) {
    count += Number(await saveLaunch(await makeRunDir(stateDir, runId), launch));
  }
  return count;
}

function parseKept(file: string, text: string): KeptLaunch[] {
  try {
    const lines = text.split("\n").filter((line) => line !== "");
    return lines.map((line) => KeptLaunch.parse(JSON.parse(line)));
  } catch (cause) {
    throw new Refusal("bad_input", `${file} is damaged; nothing was changed`, {
      hint: `Move it away to restore without launch records: mv ${quoteShellWord(file)} ${quoteShellWord(`${file}.damaged`)}`,
      cause,
    });
  }
}

/**
 * Refuses while an agent is alive that was started after a restored store's last start of its run: nothing would hand
 * it its answers, and the next start would work beside it. Files of such starts stay; the next start gets a later epoch.
 */
export async function requireLaterStartsEnded(stateDir: string, store: Pick<Store, "readRuns">): Promise<void> {
  const ids = await listRunIds(stateDir);
  for (let from = 0; from < ids.length; from += PAGE) {
    for (const run of await store.readRuns(ids.slice(from, from + PAGE))) {
      const runDir = runDirOf(stateDir, run.id);
      const later = (await listEpochs(runDir, "pid")).filter((epoch) => epoch > run.epoch);
      for (const epoch of later) await requireEnded(runDir, epoch, run.name);
    }
  }
}

async function requireEnded(runDir: string, epoch: number, name: string) {
  const agent = await findAgentProcess(runDir, epoch);
  if (agent.state !== "alive") return;
  const { pid } = agent.identity;
  throw new Refusal("store_unusable", `The agent of ${name} is still running (process ${pid}); nothing was changed`, {
    hint: `Let it end, or end it: kill -- -${pid}. Then restore again.`,
  });
}

async function listRunIds(stateDir: string): Promise<RunId[]> {
  const folder = join(stateDir, "runs");
  const isThere = await lstat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
  const names = isThere ? await readdir(folder) : [];
  return names.flatMap((name) => {
    const id = RunId.safeParse(name);
    return id.success ? [id.data] : [];
  });
}
