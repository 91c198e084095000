import type { QuestionSnapshot } from "../changes.ts";
import { type Content, type Option, hashText } from "./content.ts";
import { isVisibleLine } from "../text/foreign-text.ts";
import { type Answer, type Outcome, findAnswer } from "./question.ts";
import { Refusal } from "../refusal.ts";
import type { Risk } from "./risk.ts";
import { ALLOW, ALLOW_CHANGED, ALLOW_PREFIX, ALLOW_RUN, permissionScope } from "./run-permission.ts";
import {
  type ToolUse,
  type ToolUseInFile,
  describeToolUse,
  findCommandText,
  findShellCommand,
  sortKeys,
  toolName,
} from "./tool-use.ts";

const HEADER_CHARS = 30;

/** A tool use that needs approval. */
export interface ToolAsk extends ToolUseInFile {
  /** The agent's own reason. */
  reason?: string | undefined;
  /** The asker can run another command than the one it asks for. */
  takesChange?: boolean | undefined;
}

/** Builds the ask for a tool use with exactly these arguments; `approvalContent` words the question. */
export function approvalAsk({ tool, input, reason, takesChange, file }: ToolAsk): Record<string, unknown> {
  return { kind: "approval", tool: { name: tool, input: sortKeys(input), reason, takes_change: takesChange, file } };
}

/** The question about a tool use: people see all arguments before anything the agent says about them. */
export function approvalContent(
  use: ToolAsk,
  risk: Risk,
): {
  question: string;
  header: string;
  options: Array<{ value: string; label: string }>;
  allowText: false;
  accepts: Outcome[];
  context: string;
} {
  const { title, details } = describeToolUse({ ...use, input: sortKeys(use.input) });
  return {
    question: title,
    header: headerOf(toolName(use.tool)),
    options: [
      { value: ALLOW, label: "Allow" },
      { value: "deny", label: "Deny" },
      ...(risk === "high" ? [] : runOptions(use)),
      ...(changeableCommand(use) === undefined ? [] : [{ value: ALLOW_CHANGED, label: "Allow with a change" }]),
    ],
    allowText: false,
    accepts: ["answer", "clarify"],
    context: use.reason ? `${details}\n\nThe agent says: ${use.reason}` : details,
  };
}

/** The options that allow the same again. Nothing but these words is allowed, so the prefix stands in its label. */
function runOptions(use: ToolUse) {
  const scope = permissionScope(use);
  if (!scope) return [];
  const what = findShellCommand(use) ? "command" : "call";
  const same = { value: ALLOW_RUN, label: `Allow exactly this ${what} for the rest of this run` };
  if (scope.prefix === undefined) return [same];
  const label = `Allow commands that begin with "${scope.prefix}" for the rest of this run`;
  return [same, { value: ALLOW_PREFIX, label }];
}

/** The command that a person may change before it is allowed; undefined if the asker cannot take another one. */
export function changeableCommand(use: ToolAsk): string | undefined {
  return use.takesChange ? findCommandText(use.input)?.text : undefined;
}

/** The end of a long name: it tells tools of one server apart. */
function headerOf(name: string) {
  const end = Array.from(name).slice(-HEADER_CHARS).join("");
  return isVisibleLine(end, HEADER_CHARS) ? end : "tool";
}

/** Hashes a tool with its arguments, independent of key order. */
export function fingerprintOf({ tool, input }: ToolUse): string {
  return hashText(JSON.stringify([tool, sortKeys(input)]));
}

const ALLOWING: ReadonlySet<string> = new Set([ALLOW, ALLOW_RUN, ALLOW_PREFIX, ALLOW_CHANGED]);

/** Says whether an answer about a tool allows it. */
export function isAllowing({ outcome, items }: Answer): boolean {
  const given = Object.values(items);
  return (
    outcome === "answer" &&
    given.length > 0 &&
    given.every(
      ({ values, text }) => ALLOWING.has(values.join()) && (text !== undefined) === (values.join() === ALLOW_CHANGED),
    )
  );
}

/** Says whether a person allowed exactly this tool use. Silence, a policy or other arguments do not. */
export function isToolAllowed({ question }: Pick<QuestionSnapshot, "question">, use: ToolUse): boolean {
  const answer = findAnswer(question);
  if (question.kind !== "approval" || question.fingerprint !== fingerprintOf(use)) return false;
  if (answer === undefined || (answer.policy !== undefined && answer.allowedBy === undefined)) return false;
  return isAllowing(answer);
}

/** The command that a person allowed in place of the one that was asked for. */
export function findChangedCommand(answer: Answer): string | undefined {
  return Object.values(answer.items).find(({ values }) => values.join() === ALLOW_CHANGED)?.text;
}

/** The arguments with which an allowed tool use runs: with the command that the person changed. */
export function allowedInput({ question }: Pick<QuestionSnapshot, "question">, input: unknown): unknown {
  const answer = findAnswer(question);
  const changed = answer && findChangedCommand(answer);
  const asked = findCommandText(input);
  if (changed === undefined || !asked || typeof input !== "object") return input;
  return { ...input, [asked.argument]: changed };
}

/** The words by which a value or label begins that consents, or that does not. */
const CONSENT = /^(?:yes|approved?|allow(?:-\w+)?|accept|confirm|ok|okay|proceed|go ahead)\b/i;
const NO_CONSENT = /^(?:no|not|deny|denied|reject|refuse|decline|cancel|stop|abort|never|don['’]t|do not)\b/i;

/** Reads the verdict of an option of an approval: yes, no, both, or nothing that everybody reads alike. */
function readVerdict({ value, label }: Pick<Option, "value" | "label">): "yes" | "no" | "both" | "neither" {
  const isNo = NO_CONSENT.test(value) || NO_CONSENT.test(label);
  const isYes = CONSENT.test(value) || CONSENT.test(label);
  if (isYes) return isNo ? "both" : "yes";
  return isNo ? "no" : "neither";
}

/** Refuses an approval whose own options leave open which of them consents. */
export function requireConsentOption(options: readonly Pick<Option, "value" | "label">[]): void {
  const unclear = options.find((option) => readVerdict(option) === "both");
  const hint = "Name them like: -o approve:Deploy -o deny:Wait";
  if (unclear)
    throw new Refusal("bad_input", `The option ${unclear.value}:${unclear.label} says yes and no; nothing was asked`, {
      hint,
    });
  if (options.some((option) => readVerdict(option) === "yes")) return;
  throw new Refusal("bad_input", "No option of this approval says yes, so nobody could consent; nothing was asked", {
    hint: `The value or label of one must begin with yes, approve, allow, ok or proceed. ${hint}`,
  });
}

/** Says whether an approval was answered with anything but its consent. */
export function isDenied({ question, content }: Pick<QuestionSnapshot, "question" | "content">): boolean {
  const answer = findAnswer(question);
  return question.kind === "approval" && answer?.outcome === "answer" && isDenial(content, answer.items);
}

/** Says whether these values deny an approval; each choice that does not say yes denies it. */
export function isDenial({ items }: Content, given: Answer["items"]): boolean {
  return items.some(({ id, options }) => {
    const consents = options.filter((option) => readVerdict(option) === "yes").map(({ value }) => value);
    const { values = [] } = given[id] ?? {};
    return values.length === 0 || values.some((value) => !consents.includes(value));
  });
}
