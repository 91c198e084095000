import { appendFile, open as openFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { QuestionSnapshot } from "../../core/changes.ts";
import { quoteBlock } from "../../core/text/foreign-text.ts";
import { type AgentMessageInput, handoverMessage, historyMessage, knownMessage } from "../../core/run/agent-message.ts";
import type { Run } from "../../core/run/run.ts";
import type { Agent, Resume } from "../agent.ts";
import { findFileText, replacePrivateFile } from "../process/private-file.ts";
import { findAskCall } from "./handover-evidence.ts";
import { type Launch, epochFile, listEpochs } from "./run-files.ts";
import { describeUnasked } from "./missed-question.ts";
import { TreeFingerprint, describeDifference, findDiffStat, findTreeFingerprint } from "../workspace/working-tree.ts";

const TREE = "tree.json";
/** Further news for the hook that answers the call at which the agent stopped. */
const TREE_NOTE = "tree-note";
const DEFERRED = "deferred";
const LAST_WORDS_BYTES = 4096;
const NAMED_DIFFERENCES = 20;

/** Stores the fingerprint of the working tree when the agent has ended. */
export async function saveTreeFingerprint(runDir: string, dir: string): Promise<void> {
  const tree = await findTreeFingerprint(dir);
  if (tree) await replacePrivateFile(join(runDir, TREE), JSON.stringify(tree));
}

/** Stores that the agent stopped at this call of its own question tool; earlier ones stay. */
export async function saveDeferredCall(runDir: string, callId: string): Promise<void> {
  await appendFile(join(runDir, DEFERRED), `${callId}\n`, { mode: 0o600 });
}

/**
 * Decides how owed outcomes reach the agent: as the result of the call it stopped at, else by a message. `known`
 * repeats to an agent without a session what it may have lost.
 */
export async function buildResume(
  run: Run,
  { agent, launch, runDir }: { agent: Agent; launch: Launch; runDir: string },
  { known = [], ...told }: AgentMessageInput & { known?: readonly QuestionSnapshot[] },
): Promise<Resume> {
  const { dir, env } = launch;
  const { session } = run;
  const kept = (await findFileText(join(runDir, DEFERRED)))?.split("\n") ?? [];
  for (const { question } of session === undefined ? [] : told.reads) {
    const callId = findAskCall(question, session);
    if (session === undefined || callId === undefined) continue;
    if (!((await agent.isPutOff?.({ session, dir, env, callId })) ?? kept.includes(callId))) continue;
    // A message as well would hand the outcome over twice: the agent continues from the call.
    const notes = [...(await describeUnasked(runDir)), ...(await describeTreeChange(runDir, dir))];
    await replacePrivateFile(join(runDir, TREE_NOTE), notes.join("\n\n"));
    return { by: "call", callId };
  }
  const parts = told.reads.length > 0 ? [handoverMessage(told)] : ["You were interrupted. Continue with the task."];
  const notes = [...(await describeUnasked(runDir)), ...(await describeTreeChange(runDir, dir))];
  return {
    by: "message",
    text: [...parts, ...knownMessage({ delimiter: told.delimiter, reads: known }), ...notes].join("\n\n"),
  };
}

/** Takes the note about the working tree that the next answered call carries; each start has at most one. */
export async function takeTreeNote(runDir: string): Promise<string | undefined> {
  const note = await findFileText(join(runDir, TREE_NOTE));
  if (!note) return undefined;
  await rm(join(runDir, TREE_NOTE), { force: true });
  return note;
}

/** Describes the changes of the working tree since the agent stopped, if there are any. */
async function describeTreeChange(runDir: string, dir: string): Promise<string[]> {
  const differences = await differencesIn(runDir, dir);
  if (differences.length === 0) return [];
  const named = differences.slice(0, NAMED_DIFFERENCES).map((one) => `- ${one}`);
  const more = differences.length > named.length ? [`- and ${differences.length - named.length} more`] : [];
  return [["Since you stopped, the working tree was changed by somebody else:", ...named, ...more].join("\n")];
}

/** The prompt of a new session in place of a lost one: the task, questions and answers, and its progress. */
export async function restartPrompt(
  run: { prompt: string | undefined; dir: string; runDir: string },
  agent: Agent,
  history: readonly QuestionSnapshot[],
  delimiter: string,
): Promise<string> {
  const said = await lastWords(run.runDir, agent);
  const diff = await findDiffStat(run.dir);
  return [
    "You were working on the task below. Your session is gone, so this is all that is known of what you did.",
    ...(run.prompt ? [`Your task, as it was given to you:\n${quoteBlock(run.prompt, delimiter)}`] : []),
    ...historyMessage({ delimiter, reads: history }),
    ...(await describeUnasked(run.runDir)),
    ...(said ? [`What you said last:\n${quoteBlock(said, delimiter)}`] : []),
    ...(diff ? [`What is changed in the working tree:\n${quoteBlock(diff, delimiter)}`] : []),
    "Look at what is there, then continue with the task.",
  ].join("\n\n");
}

async function differencesIn(runDir: string, dir: string): Promise<string[]> {
  const text = await findFileText(join(runDir, TREE));
  const before = text === undefined ? undefined : TreeFingerprint.safeParse(JSON.parse(text));
  const now = before?.success ? await findTreeFingerprint(dir) : undefined;
  return before?.success && now ? describeDifference(before.data, now) : [];
}

/** The end of the agent's text in its latest epoch. */
async function lastWords(runDir: string, agent: Agent): Promise<string> {
  const epoch = (await listEpochs(runDir, "out")).at(-1);
  if (epoch === undefined) return "";
  const handle = await openFile(epochFile(runDir, epoch, "out"), "r");
  try {
    const { size } = await handle.stat();
    const length = Math.min(size, 64 * LAST_WORDS_BYTES);
    const { buffer } = await handle.read(Buffer.alloc(length), 0, length, size - length);
    const events = buffer
      .toString("utf8")
      .split("\n")
      .flatMap((line) => agent.read(line));
    return events
      .flatMap((event) => (event.kind === "text" ? [event.text] : []))
      .join("")
      .slice(-LAST_WORDS_BYTES);
  } finally {
    await handle.close();
  }
}
