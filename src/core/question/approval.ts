import type { Read } from "../changes.ts";
import { hashText } from "./content.ts";
import { isVisibleLine, quoteLine } from "../text/foreign-text.ts";
import { type Outcome, findAnswer } from "./question.ts";
import { Refusal } from "../refusal.ts";

const MAX_DEPTH = 64;
const ALLOW = "allow";
const LONGEST_TOOL = 200;
const HEADER_CHARS = 30;

/** A tool that an agent wants to use, with exactly these arguments. */
export interface ToolUse {
  tool: string;
  input: unknown;
}

/** A tool use that somebody is asked to approve. */
export interface ToolAsk extends ToolUse {
  /** Why the agent wants it, in its own words. */
  reason?: string | undefined;
}

/** Asks whether a tool may be used with exactly these arguments. askd words the question, see `approvalWords`. */
export function approvalAsk({ tool, input, reason }: ToolAsk): Record<string, unknown> {
  return { kind: "approval", tool: { name: tool, input: sorted(input, 0), reason } };
}

/** The question about a tool use: people see all of its arguments, before anything that the agent says about them. */
export function approvalWords(use: ToolAsk): {
  question: string;
  header: string;
  options: Array<{ value: string; label: string }>;
  allowText: false;
  accepts: Outcome[];
  context: string;
} {
  const details = fenced(JSON.stringify(sorted(use.input, 0), null, 2) ?? "null");
  // A tool has the name that its server gave it.
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

/** The end of a long name, which tells tools of one server apart. */
function headerOf(name: string): string {
  const end = Array.from(name).slice(-HEADER_CHARS).join("");
  return isVisibleLine(end, HEADER_CHARS) ? end : "tool";
}

/** Names a tool with its arguments; the order in which a client writes them makes no difference. */
export function fingerprintOf({ tool, input }: ToolUse): string {
  return hashText(JSON.stringify([tool, sorted(input, 0)]));
}

/** Says whether a person allowed exactly this. Everything else is a no: silence, a policy, other arguments. */
export function isAllowed({ question }: Pick<Read, "question">, use: ToolUse): boolean {
  const answer = findAnswer(question);
  if (question.kind !== "approval" || question.fingerprint !== fingerprintOf(use)) return false;
  if (answer?.outcome !== "answer" || answer.policy !== undefined) return false;
  const given = Object.values(answer.items);
  return given.length > 0 && given.every(({ values, text }) => text === undefined && values.join() === ALLOW);
}

function sorted(value: unknown, depth: number): unknown {
  if (depth > MAX_DEPTH) throw new Refusal("too_large", `The arguments are nested deeper than ${MAX_DEPTH} levels`);
  if (Array.isArray(value)) return value.map((each) => sorted(each, depth + 1));
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([name, each]) => [name, sorted(each, depth + 1)]));
}

/** A fence that no argument can end. */
function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((ticks) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}json\n${text}\n${fence}`;
}
