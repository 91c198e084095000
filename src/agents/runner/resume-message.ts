import { appendFile, open as openFile } from "node:fs/promises";
import { join } from "node:path";
import type { Read } from "../../core/changes.ts";
import { quoteBlock } from "../../core/text/foreign-text.ts";
import { type Told, tellHanded, tellOutcome } from "../../core/run/agent-message.ts";
import type { Run } from "../../core/run/run.ts";
import type { Agent, Resume } from "../agent.ts";
import { findText, replaceFile } from "../process/private-file.ts";
import { callOf } from "./handover-evidence.ts";
import { type Launch, epochFile, listEpochs } from "./run-files.ts";
import { Fingerprint, describeDifference, findDiffStat, findFingerprint } from "../workspace/working-tree.ts";

const TREE = "tree.json";
const DEFERRED = "deferred";
const LAST_WORDS_BYTES = 4096;
const NAMED_DIFFERENCES = 20;

/** Keeps how the working tree is now, when the agent is gone. */
export async function keepTree(runDir: string, dir: string): Promise<void> {
  const tree = await findFingerprint(dir);
  if (tree) await replaceFile(join(runDir, TREE), JSON.stringify(tree));
}

/** Keeps that the agent stopped at this call of its own question tool; earlier ones stay, whoever writes last. */
export async function keepDeferred(runDir: string, callId: string): Promise<void> {
  await appendFile(join(runDir, DEFERRED), `${callId}\n`, { mode: 0o600 });
}

/** How the agent is given what it is owed: as the result of the call that it stopped at, else by a message. */
export async function resumeBy(
  run: Run,
  { agent, launch, runDir }: { agent: Agent; launch: Launch; runDir: string },
  told: Told,
): Promise<Resume> {
  const { dir, env } = launch;
  const { session } = run;
  const kept = (await findText(join(runDir, DEFERRED)))?.split("\n") ?? [];
  for (const { question } of session === undefined ? [] : told.reads) {
    const callId = callOf(question, session);
    if (session === undefined || callId === undefined) continue;
    // With a message as well the agent would be told twice: it goes on from the call in any case.
    if ((await agent.isPutOff?.({ session, dir, env, callId })) ?? kept.includes(callId)) return { by: "call", callId };
  }
  const parts = told.reads.length > 0 ? [tellHanded(told)] : ["You were interrupted. Continue with the task."];
  const differences = await differencesIn(runDir, dir);
  if (differences.length > 0) {
    const named = differences.slice(0, NAMED_DIFFERENCES).map((one) => `- ${one}`);
    const more = differences.length > named.length ? [`- and ${differences.length - named.length} more`] : [];
    parts.push(["Since you stopped, the working tree was changed by somebody else:", ...named, ...more].join("\n"));
  }
  return { by: "message", text: parts.join("\n\n") };
}

/** The prompt for a new session in place of one that is gone: the task, what was asked and answered, how far it came. */
export async function retell(
  run: { prompt: string | undefined; dir: string; runDir: string },
  agent: Agent,
  history: readonly Read[],
  delimiter: string,
): Promise<string> {
  const said = await lastWords(run.runDir, agent);
  const diff = await findDiffStat(run.dir);
  return [
    "You were working on the task below. Your session is gone, so this is all that is known of what you did.",
    ...(run.prompt ? [`Your task, as it was given to you:\n${quoteBlock(run.prompt, delimiter)}`] : []),
    ...history.map((read) => tellOutcome(read, delimiter)),
    ...(said ? [`What you said last:\n${quoteBlock(said, delimiter)}`] : []),
    ...(diff ? [`What is changed in the working tree:\n${quoteBlock(diff, delimiter)}`] : []),
    "Look at what is there, then continue with the task.",
  ].join("\n\n");
}

async function differencesIn(runDir: string, dir: string): Promise<string[]> {
  const text = await findText(join(runDir, TREE));
  const before = text === undefined ? undefined : Fingerprint.safeParse(JSON.parse(text));
  const now = before?.success ? await findFingerprint(dir) : undefined;
  return before?.success && now ? describeDifference(before.data, now) : [];
}

/** The end of what the agent said in its latest start. */
async function lastWords(runDir: string, agent: Agent): Promise<string> {
  const epoch = (await listEpochs(runDir, "out")).at(-1);
  if (epoch === undefined) return "";
  const handle = await openFile(epochFile(runDir, epoch, "out"), "r");
  try {
    const { size } = await handle.stat();
    const length = Math.min(size, 64 * LAST_WORDS_BYTES);
    const { buffer } = await handle.read(Buffer.alloc(length), 0, length, size - length);
    const sights = buffer
      .toString("utf8")
      .split("\n")
      .flatMap((line) => agent.read(line));
    return sights
      .flatMap((sight) => (sight.kind === "text" ? [sight.text] : []))
      .join("")
      .slice(-LAST_WORDS_BYTES);
  } finally {
    await handle.close();
  }
}
