import { z } from "zod";
import { OutcomeId, QuestionId } from "../id.ts";
import { Instant } from "../instant.ts";
import { makeVisible } from "../text/visible.ts";
import { hashText } from "./content.ts";
import type { Answer, Approvals, Question } from "./question.ts";
import { type ToolUse, findShellCommand, isEdit, sortKeys } from "./tool-use.ts";

/** The values of the options that allow a tool use. */
export const ALLOW = "allow";
export const ALLOW_RUN = "allow-run";
export const ALLOW_PREFIX = "allow-prefix";
export const ALLOW_CHANGED = "allow-changed";

/** A run keeps this many permissions; the oldest ones end first. */
const MOST_PERMISSIONS = 100;
const MOST_PREFIX_WORDS = 3;
/** Arguments of a shell tool that do not change what its command does. */
const HARMLESS: ReadonlySet<string> = new Set(["description", "timeout"]);
const PLAIN_WORD = /^[A-Za-z0-9][\w.:@+-]*$/;
/** Separates commands, redirects, expands or escapes. Signs in quotes count too: nothing here parses a shell. */
const SHELL_SIGN = /[;&|<>`$()\\\r\n]/;
/** Programs that run what their arguments name: a prefix of theirs would allow anything. */
const RUNNERS: ReadonlySet<string> = new Set(
  (
    "sudo doas su env xargs sh bash zsh dash fish ksh eval exec command builtin time nohup nice timeout watch ssh " +
    "python python3 node deno bun perl ruby php npx uvx bunx pnpx find docker podman kubectl nsenter chroot"
  ).split(" "),
);

/** The scope of a permission for the rest of a run. */
export const PermissionScope = z.object({
  /** Names the tool and its arguments, without those that change nothing. */
  call: z.string(),
  /** The words that a command may begin with; people see them in the option. */
  prefix: z.string().optional(),
  /** Names the tool and the arguments beside the command that begins so. */
  around: z.string().optional(),
});
export type PermissionScope = z.infer<typeof PermissionScope>;

/** A permission that a person gave for the rest of a run. */
export const RunPermission = z.object({
  questionId: QuestionId,
  answerId: OutcomeId,
  at: Instant,
  scope: PermissionScope,
  /** The people who had to agree: a question that needs others is asked. */
  approvals: z.string(),
});
export type RunPermission = z.infer<typeof RunPermission>;

/** The scope of a tool use; undefined for an edit, which cannot be made twice. */
export function permissionScope(use: ToolUse): PermissionScope | undefined {
  if (isEdit(use.input)) return undefined;
  const command = findShellCommand(use);
  if (command === undefined) return { call: hashCall(use.tool, use.input) };
  const others = Object.entries(use.input ?? {}).filter(([name]) => !HARMLESS.has(name));
  const around = others.filter(([name]) => name !== command.argument);
  const prefix = prefixOf(command.text);
  return {
    call: hashCall(use.tool, Object.fromEntries(others)),
    around: hashCall(use.tool, Object.fromEntries(around)),
    prefix,
  };
}

/** Finds the permission of a run that covers this tool use; none at high risk. */
export function findPermission(
  permissions: readonly RunPermission[] = [],
  use: ToolUse,
  { risk, approvals }: Pick<Question, "risk" | "approvals">,
): RunPermission | undefined {
  if (risk === "high" || permissions.length === 0) return undefined;
  const wanted = permissionScope(use);
  const command = findShellCommand(use)?.text ?? "";
  return permissions.findLast(({ scope, approvals: needed }) => {
    if (!wanted || needed !== sayApprovals(approvals)) return false;
    if (scope.prefix === undefined) return scope.call === wanted.call;
    return scope.around === wanted.around && beginsWith(command, scope.prefix);
  });
}

/** The permissions of a run after an answer: with one more if the answer is for the rest of the run. */
export function withPermission(
  permissions: readonly RunPermission[] | undefined,
  { id, permits, approvals }: Pick<Question, "id" | "permits" | "approvals">,
  { id: answerId, at, items }: Answer,
): RunPermission[] | undefined {
  const values = Object.values(items).flatMap((item) => item.values);
  const scope = values.includes(ALLOW_RUN)
    ? permits && { call: permits.call }
    : values.includes(ALLOW_PREFIX)
      ? permits
      : undefined;
  if (!scope) return permissions && [...permissions];
  const given = { questionId: id, answerId, at, scope, approvals: sayApprovals(approvals) };
  return [...(permissions ?? []), given].slice(-MOST_PERMISSIONS);
}

/** Says whether a command begins with these whole words and has no sign of the shell after them. */
function beginsWith(command: string, prefix: string) {
  if (!command.startsWith(prefix)) return false;
  const rest = command.slice(prefix.length);
  if (rest === "") return true;
  return rest.startsWith(" ") && !SHELL_SIGN.test(rest) && makeVisible(rest) === rest;
}

/** The words that say what a command does: its program with what that is to do, at least two. */
function prefixOf(command: string): string | undefined {
  const words = command.split(" ");
  const end = words.findIndex((word) => !PLAIN_WORD.test(word));
  const plain = words.slice(0, Math.min(end < 0 ? words.length : end, MOST_PREFIX_WORDS));
  const prefix = plain.join(" ");
  if (plain.length < 2 || RUNNERS.has(plain[0] ?? "")) return undefined;
  return beginsWith(command, prefix) ? prefix : undefined;
}

function sayApprovals({ need, from, veto }: Approvals) {
  return JSON.stringify([need, from.toSorted(), veto]);
}

function hashCall(tool: string, input: unknown) {
  return hashText(JSON.stringify([tool, sortKeys(input)]));
}
