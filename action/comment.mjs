// The comment of a question; nothing that the workflow or a person wrote becomes markup.
import { foreignMarkdown } from "./markdown.mjs";
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
const CONTEXT = "### Context\n";
/** The lines that follow the context, of an open question and of a closed one. */
const CONTEXT_ENDS = ["### How to Respond", "</details>"];

/** The comment of a question; a closed one shows the context of the comment before, if there is room for so many. */
export function renderComment(state, { before = "", contextChars = 0 } = {}) {
  if (state.status === "pending") return renderOpen(state);
  const context = findContext(before);
  return renderClosed(state, context.length > contextChars ? "" : context);
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
    ...(context ? [`${CONTEXT}${cutMarkdown(context)}\n`] : []),
    `### How to Respond\n${how}\n`,
    `### Timeout\n${dueAt ? `If nobody answers by **${sayTime(dueAt)}**, the workflow will **${thenOf(state)}**.` : "There is no deadline."}\n`,
    footer(state),
  ].join("\n");
}

function renderClosed(state, context) {
  const { text, options } = state;
  const listed = options.map((option) => `- ${optionOf(option)}`).join("\n");
  return [
    `## ${outcomeOf(state)}\n`,
    `<details><summary>The question</summary>\n\n### Question\n**${escaped(text)}**\n`,
    ...(options.length === 0 ? [] : [`### Options\n${listed}\n`]),
    ...(context === "" ? [] : [`${CONTEXT}${context}\n`]),
    "</details>\n",
    footer(state),
  ].join("\n");
}

/** The context that a comment shows, as it is there. */
function findContext(body) {
  const text = body.replaceAll("\r\n", "\n"); // the page of GitHub writes them so
  const start = text.indexOf(`\n${CONTEXT}`);
  const end = Math.max(...CONTEXT_ENDS.map((line) => text.lastIndexOf(`\n\n${line}\n`)));
  return start < 0 || end < start ? "" : text.slice(start + 1 + CONTEXT.length, end);
}

function outcomeOf({ status, by, answer, note, policy }) {
  if (status === "answered")
    return `✅ Answered by ${escaped(by)}: ${cut(answer, ANSWER_CHARS)}${note ? ` (${cut(note, ANSWER_CHARS)})` : ""}`;
  if (answer !== undefined) return `⌛ Nobody answered in time, so ${escaped(answer)} applies`;
  return `⌛ Nobody answered in time: ${escaped(policy)}`;
}

function optionOf({ key, label, description, isRecommended }) {
  const more = description ? ` - ${escaped(description)}` : "";
  return `**${key}) ${escaped(label)}**${isRecommended ? " (recommended)" : ""}${more}`;
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
  const kept = keepStart(text, { limit, render: escaped });
  return kept === text ? escaped(text) : `${escaped(kept)}…`;
}

function cutMarkdown(text) {
  const kept = keepStart(text, { limit: CONTEXT_CHARS, render: foreignMarkdown });
  return kept === text ? foreignMarkdown(text) : `${foreignMarkdown(kept)}\n…`;
}

function keepStart(text, { limit, render }) {
  if (render(text).length <= limit) return text;
  let kept = text.slice(0, limit);
  while (render(kept).length > limit) kept = kept.slice(0, Math.floor(kept.length * 0.9));
  return kept.replace(/[\ud800-\udbff]$/, "");
}

function sayTime(at) {
  return `${at.slice(0, 10)} ${at.slice(11, 16)} UTC`;
}
