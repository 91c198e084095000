import type { QuestionSnapshot } from "../changes.ts";
import { hashText } from "./content.ts";
import { isVisibleLine, quoteLine } from "../text/foreign-text.ts";
import { type Outcome, findAnswer } from "./question.ts";
import { Refusal } from "../refusal.ts";

const MAX_DEPTH = 64;
const ALLOW = "allow";
const LONGEST_TOOL = 200;
const HEADER_CHARS = 30;

/** A tool use an agent wants, with its exact arguments. */
export interface ToolUse {
  tool: string;
  input: unknown;
}

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
  const details = fenceCode(JSON.stringify(sortKeys(use.input, 0), null, 2) ?? "null");
  // The server chose the name of the tool, so it is foreign text.
  const name = isVisibleLine(use.tool, LONGEST_TOOL) ? use.tool : quoteLine(use.tool);
  return {
    question: `May the agent use ${name}?`,
    header: headerOf(name),
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

function sortKeys(value: unknown, depth: number): unknown {
  if (depth > MAX_DEPTH) throw new Refusal("too_large", `The arguments are nested deeper than ${MAX_DEPTH} levels`);
  if (Array.isArray(value)) return value.map((each) => sortKeys(each, depth + 1));
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([name, each]) => [name, sortKeys(each, depth + 1)]));
}

/** A code fence longer than any in the text. */
function fenceCode(text: string) {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((ticks) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}json\n${text}\n${fence}`;
}
