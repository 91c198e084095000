import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { SECOND_MS } from "../../core/instant.ts";
import type { Task } from "../agent.ts";
import { type Json, listAt, parseJson, valueAt } from "../json.ts";
import { isOlder } from "../version.ts";

/** The hook decides this much before its own time is over; after that Claude Code would go on without an answer. */
const HOOK_SPARE_S = 30;

/** Features by the first version that was seen to have them. */
const FIRST = { promptTool: [2, 0, 76], defer: [2, 1, 89] } as const;

/** Says whether this version can do that; an unknown version is a new one. */
export function canDo(what: keyof typeof FIRST, version: string | undefined): boolean {
  return !isOlder(version, FIRST[what]);
}

/** Versions that lose the result of a call that was put off if its turn has other calls: seen in 2.1.104 to 2.1.117. */
const LOSING = { first: [2, 1, 90], after: [2, 1, 120] } as const;

/** Says whether this version may show its model no result of a call that was put off. */
export function losesResults(version: string | undefined): boolean {
  return !isOlder(version, LOSING.first) && isOlder(version, LOSING.after);
}

/** Settings with our hook for questions beside what the user's own settings say; undefined when those cannot be read. */
export function makeSettings(task: Task, own: string | undefined): string | undefined {
  const settings = own === undefined ? {} : readOwn(task, own);
  if (!settings) return undefined;
  const hooks = valueAt(settings, "hooks");
  const before = [...listAt(hooks, "PreToolUse"), makeHook(task)];
  return JSON.stringify({ ...settings, hooks: { ...(typeof hooks === "object" && hooks), PreToolUse: before } });
}

function makeHook(task: Task): Json {
  const holdS = Math.ceil(task.liveWindowMs / SECOND_MS);
  const timeout = holdS + HOOK_SPARE_S;
  const command = [...task.askd, "hook", "claude", "--hold", `${holdS}s`, "--timeout", `${timeout}s`]
    .map(quote)
    .join(" ");
  return { matcher: "AskUserQuestion", hooks: [{ type: "command", command, timeout }] };
}

/** Settings are given as JSON or as a file. */
function readOwn(task: Task, own: string): Json | undefined {
  if (own.trimStart().startsWith("{")) return parseJson(own);
  try {
    return parseJson(readFileSync(resolve(task.dir, own), "utf8"));
  } catch {
    return undefined;
  }
}

/** One word for a shell. */
function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
