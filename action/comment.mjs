// The comment of a question; nothing that the workflow or a person wrote becomes markup.
import { escaped } from "./runner.mjs";

const THEN = {
  skip: "skip this issue",
  fail: "fail",
  proceed: "proceed by its own judgment",
  defer: "set this issue aside",
  wait: "keep waiting",
};

/** What a comment shows of a long text; all of it together stays below the 65,536 characters that GitHub takes. */
const CONTEXT_CHARS = 20_000;
const ANSWER_CHARS = 8_000;

export function renderComment(state) {
  return state.status === "pending" ? renderOpen(state) : renderClosed(state);
}

function renderOpen(state) {
  const { id, text, options, context, dueAt } = state;
  const keys = options.map(({ key }) => `\`${key}\``).join(", ");
  const how =
    options.length === 0
      ? "Reply with your answer."
      : `Reply with ${keys} (a reason below it is passed on), tick a box, or write \`/answer ${id} …\`.`;
  return [
    "## 🤖 Agent Question\n",
    "The automated workflow needs your input to proceed.\n",
    `### Question\n**${escaped(text)}**\n`,
    ...(options.length === 0
      ? []
      : [`### Options\n${options.map((option) => `- [ ] ${optionOf(option)}`).join("\n")}\n`]),
    ...(context ? [`### Context\n${cut(context, CONTEXT_CHARS)}\n`] : []),
    `### How to Respond\n${how}\n`,
    `### Timeout\n${dueAt ? `If nobody answers by **${sayTime(dueAt)}**, the workflow will **${thenOf(state)}**.` : "There is no deadline."}\n`,
    footer(state),
  ].join("\n");
}

function renderClosed(state) {
  const { text, options } = state;
  const listed = options.map((option) => `- ${optionOf(option)}`).join("\n");
  return [
    `## ${outcomeOf(state)}\n`,
    `<details><summary>The question</summary>\n\n### Question\n**${escaped(text)}**\n\n${listed}\n\n</details>\n`,
    footer(state),
  ].join("\n");
}

function outcomeOf({ status, by, answer, note, policy }) {
  if (status === "answered")
    return `✅ Answered by ${escaped(by)}: ${cut(answer, ANSWER_CHARS)}${note ? ` (${cut(note, ANSWER_CHARS)})` : ""}`;
  if (answer !== undefined) return `⌛ Nobody answered in time, so ${escaped(answer)} applies`;
  return `⌛ Nobody answered in time: ${escaped(policy)}`;
}

function optionOf({ key, label, isRecommended }) {
  return `**${key}) ${escaped(label)}**${isRecommended ? " (recommended)" : ""}`;
}

function thenOf({ onTimeout, default: answer, effects }) {
  if (onTimeout === "default") return `use “${escaped(answer)}”`;
  return onTimeout === "escalate" ? `assign this issue to ${escaped(effects.assign)} and fail` : THEN[onTimeout];
}

function footer({ id, key }) {
  return `---\n*Workflow Run: \`${key.slice(0, 8)}\` · Question ID: \`${id}\`*`;
}

/** A text so short that it fits once it is escaped. */
export function cut(text, limit) {
  if (escaped(text).length <= limit) return escaped(text);
  let kept = text.slice(0, limit);
  while (escaped(kept).length > limit) kept = kept.slice(0, Math.floor(kept.length * 0.9));
  return `${escaped(kept.replace(/[\ud800-\udbff]$/, ""))}…`;
}

function sayTime(at) {
  return `${at.slice(0, 10)} ${at.slice(11, 16)} UTC`;
}
