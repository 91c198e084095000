import { rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { quoteLine } from "../../core/text/foreign-text.ts";
import { findFileText, replacePrivateFile } from "../process/private-file.ts";

const UNASKED = "unasked";

/** Stores the agent's questions that nobody was asked, because another one waited; replaces those stored before. */
export async function saveUnasked(runDir: string, questions: readonly string[]): Promise<void> {
  if (questions.length === 0) return rm(join(runDir, UNASKED), { force: true });
  return replacePrivateFile(join(runDir, UNASKED), JSON.stringify(questions));
}

/** Reads the questions that nobody was asked and the agent was not told of. */
export async function readUnasked(runDir: string): Promise<string[]> {
  const text = await findFileText(join(runDir, UNASKED));
  return text === undefined ? [] : z.array(z.string()).parse(JSON.parse(text));
}

/** Tells the agent which of its questions nobody was asked. */
export async function describeUnasked(runDir: string): Promise<string[]> {
  const questions = await readUnasked(runDir);
  if (questions.length === 0) return [];
  const named = questions.map((question) => `- ${quoteLine(question)}`);
  return [
    ["You asked several questions at once. Nobody was asked these:", ...named].join("\n"),
    "If you still need them answered, ask them again, one at a time.",
  ];
}
