import type { QuestionSnapshot } from "../changes.ts";
import { type Content, hashText } from "./content.ts";
import { isVisibleLine } from "../text/foreign-text.ts";
import { type Answer, type Outcome, findAnswer } from "./question.ts";
import { Refusal } from "../refusal.ts";
import { type ToolUse, describeToolUse, toolName } from "./tool-use.ts";

const MAX_DEPTH = 64;
const ALLOW = "allow";
const HEADER_CHARS = 30;

/** A tool use that needs approval. */
export interface ToolAsk extends ToolUse {
  /** The agent's own reason. */
  reason?: string | undefined;
}

/** Builds the ask for a tool use with exactly these arguments; `approvalContent` words the question. */
export function approvalAsk({ tool, input, reason }: ToolAsk): Record<string, unknown> {
  return { kind: "approval", tool: { name: tool, input: sortKeys(input, 0), reason } };
}

/** The question about a tool use: people see all arguments before anything the agent says about them. */
export function approvalContent(use: ToolAsk): {
  question: string;
  header: string;
  options: Array<{ value: string; label: string }>;
  allowText: false;
  accepts: Outcome[];
  context: string;
} {
  const { title, details } = describeToolUse({ tool: use.tool, input: sortKeys(use.input, 0) });
  return {
    question: title,
    header: headerOf(toolName(use.tool)),
    options: [
      { value: ALLOW, label: "Allow" },
      { value: "deny", label: "Deny" },
    ],
    allowText: false,
    accepts: ["answer", "clarify"],
    context: use.reason ? `${details}\n\nThe agent says: ${use.reason}` : details,
  };
}

/** The end of a long name: it tells tools of one server apart. */
function headerOf(name: string) {
  const end = Array.from(name).slice(-HEADER_CHARS).join("");
  return isVisibleLine(end, HEADER_CHARS) ? end : "tool";
}

/** Hashes a tool with its arguments, independent of key order. */
export function fingerprintOf({ tool, input }: ToolUse): string {
  return hashText(JSON.stringify([tool, sortKeys(input, 0)]));
}

/** Says whether a person allowed exactly this tool use. Silence, a policy or other arguments do not. */
export function isToolAllowed({ question }: Pick<QuestionSnapshot, "question">, use: ToolUse): boolean {
  const answer = findAnswer(question);
  if (question.kind !== "approval" || question.fingerprint !== fingerprintOf(use)) return false;
  if (answer?.outcome !== "answer" || answer.policy !== undefined) return false;
  const given = Object.values(answer.items);
  return given.length > 0 && given.every(({ values, text }) => text === undefined && values.join() === ALLOW);
}

const APPROVING: ReadonlySet<string> = new Set([ALLOW, "approve", "yes"]);

/** Says whether an approval was answered with anything but its consent. */
export function isDenied({ question, content }: Pick<QuestionSnapshot, "question" | "content">): boolean {
  const answer = findAnswer(question);
  return question.kind === "approval" && answer?.outcome === "answer" && isDenial(content, answer.items);
}

/**
 * Says whether these values deny an approval. Options of the asker's own consent by an approving word among them;
 * without one the first option does.
 */
export function isDenial({ items }: Content, given: Answer["items"]): boolean {
  return items.some(({ id, options }) => {
    const words = options.filter(({ value }) => APPROVING.has(value.toLowerCase()));
    const consents = (words.length > 0 ? words : options.slice(0, 1)).map(({ value }) => value);
    const { values = [] } = given[id] ?? {};
    return values.length === 0 || values.some((value) => !consents.includes(value));
  });
}

function sortKeys(value: unknown, depth: number): unknown {
  if (depth > MAX_DEPTH) throw new Refusal("too_large", `The arguments are nested deeper than ${MAX_DEPTH} levels`);
  if (Array.isArray(value)) return value.map((each) => sortKeys(each, depth + 1));
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([name, each]) => [name, sortKeys(each, depth + 1)]));
}
