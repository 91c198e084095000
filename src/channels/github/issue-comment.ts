import { sayOnlyDenied } from "../../core/channel/answer-elsewhere.ts";
import { type QuestionMessage, choicesOf, cutText, sayHowToReply, sayUtc } from "../../core/channel/message.ts";
import { tellIn } from "../../core/channel/message-words.ts";
import { openLabel } from "../../core/channel/page-link.ts";
import type { Item, Option } from "../../core/question/content.ts";
import { countCode, foreignLine, foreignMarkdown } from "./markdown.ts";
import { sayThen, word } from "./words.ts";

/** GitHub takes 65,536 characters; the parts below stay under it together. */
const QUESTION_CHARS = 20_000;
const OPTIONS_CHARS = 15_000;
const CONTEXT_CHARS = 20_000;

/** Every comment of ours, and of the action, ends with such a line: none is ever taken for a reply. */
const MARK = "<!-- askd v1";
const LAST_LINE =
  /\n<!-- askd v1 (?:note|(?:q|timeout)=q_[0-9a-z]{26}|step=[^<>\n]+|(?:state|note|timeout)=\S+\.[0-9a-f]{64}) -->\s*$/;
const ANY_MARK = /<!--\s*askd v1[\s\S]*?-->/g;
const QUESTION_MARK = /<!-- askd v1 q=(q_[0-9a-z]{26}) -->\s*$/;
const BOX = /^- \[([ xX])\] \*\*([A-Z]{1,3})\) /;
const OPTIONS = "### Options";

export interface CommentOptions {
  /** `summary` leaves the context out: everybody who sees the repository sees a comment. */
  visibility: "summary" | "full";
  /** Accounts and teams that a question mentions, such as acme/ops; only settings name them. */
  mention: readonly string[];
}

/** The comment of a question, in Markdown. */
export function questionComment(message: QuestionMessage, options: CommentOptions): { body: string; isWhole: boolean } {
  const parts = { question: fitQuestion(message), options: fitOptions(message), context: fitContext(message, options) };
  const isWhole = !message.isRedacted && !Object.values(parts).some(({ isCut }) => isCut);
  const body = message.isOpen ? openComment(message, parts, { ...options, isWhole }) : closedComment(message, parts);
  return { body: `${body}\n\n${footer(message)}\n<!-- askd v1 q=${message.questionId} -->`, isWhole };
}

interface FittedPart {
  text: string;
  isCut: boolean;
}
type CommentParts = Record<"question" | "options" | "context", FittedPart>;

function openComment(
  message: QuestionMessage,
  parts: CommentParts,
  { mention, isWhole }: CommentOptions & { isWhole: boolean },
): string {
  const { language, notes } = message;
  return [
    "## 🤖 Agent Question",
    [...(mention.length > 0 ? [mention.map((name) => `@${name}`).join(" ")] : []), word(language, "intro")].join(" "),
    ...(notes.length > 0 ? [notes.map(foreignLine).join("  \n")] : []),
    `### Question\n${parts.question.text}`,
    ...(hasOptions(message) ? [`${OPTIONS}\n${tickable(message, parts.options.text, isWhole)}`] : []),
    ...(parts.context.text === "" ? [] : [`### Context\n${parts.context.text}`]),
    `### How to Respond\n${howToRespond(message, isWhole)}`,
    `### Timeout\n${sayTimeout(message)}`,
  ].join("\n\n");
}

/** The outcome first; the question as it was is folded. */
function closedComment(message: QuestionMessage, parts: CommentParts): string {
  const { outcome, title, language } = message;
  const folded = [
    ...(parts.question.text === "" ? [] : [`### Question\n${parts.question.text}`]),
    ...(hasOptions(message) ? [`${OPTIONS}\n${parts.options.text}`] : []),
    ...(parts.context.text === "" ? [] : [`### Context\n${parts.context.text}`]),
  ];
  return [
    `## ${foreignLine(outcome ?? `🤖 ${title}`)}`,
    ...(folded.length === 0
      ? []
      : [`<details><summary>${word(language, "question")}</summary>\n\n${folded.join("\n\n")}\n\n</details>`]),
  ].join("\n\n");
}

function hasOptions({ items }: QuestionMessage) {
  return items.some(({ options }) => options.length > 0);
}

function fitQuestion({ items }: QuestionMessage): FittedPart {
  const render = (text: string) => (text.includes("\n") ? foreignMarkdown(text) : `**${foreignLine(text)}**`);
  const room = Math.floor(QUESTION_CHARS / Math.max(1, items.length));
  return joinParts(
    items.map((item) => fit(nameItem(item, items.length), room, render)),
    "\n\n",
  );
}

function nameItem({ header, id, text }: Item, count: number) {
  return count === 1 ? text : `${header ?? id}: ${text}`;
}

function fitOptions({ items, language }: QuestionMessage): FittedPart {
  const count = items.reduce((sum, { options }) => sum + options.length, 0);
  const room = Math.floor(OPTIONS_CHARS / Math.max(1, count));
  const lines = items.flatMap((item, index) => {
    const number = items.length === 1 ? "" : String(index + 1);
    return item.options.map((option) =>
      optionLine(option, { number, room, recommended: tellIn(language, "recommended") }),
    );
  });
  return joinParts(lines, "\n");
}

function optionLine(
  { key, label, description, recommended: isRecommended }: Option,
  { number, room, recommended }: { number: string; room: number; recommended: string },
): FittedPart {
  const name = fit(label, Math.floor(room / 2), foreignLine);
  const about = fit(description ?? "", Math.floor(room / 2), foreignLine);
  const mark = isRecommended ? ` ${recommended}` : "";
  const text = `- **${number}${key.toUpperCase()}) ${name.text}**${mark}${about.text === "" ? "" : ` - ${about.text}`}`;
  return { text, isCut: name.isCut || about.isCut };
}

/** Puts a box before each option that one tick can choose. */
function tickable(message: QuestionMessage, lines: string, isWhole: boolean) {
  const keys = new Set(choicesOf(message, { isWhole, strength: "person" }).map(({ key }) => key));
  return lines
    .split("\n")
    .map((line) => (keys.has(/^- \*\*([A-Z]{1,3})\) /.exec(line)?.[1] ?? "") ? `- [ ]${line.slice(1)}` : line))
    .join("\n");
}

/** An approval's context is what it approves: it is always shown, and never folded while somebody has to decide. */
function fitContext(message: QuestionMessage, { visibility }: CommentOptions): FittedPart {
  const { context = "", kind, language, link } = message;
  if (context.trim() === "") return { text: "", isCut: false };
  if (kind === "approval") return fit(context, CONTEXT_CHARS, foreignMarkdown);
  const open = link === undefined ? "" : ` [${openLabel(link, language)}](${link})`;
  if (visibility === "summary") {
    const words = context.split(/\s+/).filter((part) => part !== "").length;
    return { text: `*${word(language, "hidden", { words, blocks: countCode(context) })}*${open}`, isCut: false };
  }
  const shown = fit(context, CONTEXT_CHARS, foreignMarkdown);
  const rest = shown.isCut ? `\n\n*${word(language, "hidden.cut")}*${open}` : "";
  const text = `<details><summary>${word(language, "context")}</summary>\n\n${shown.text}${rest}\n\n</details>`;
  return { text, isCut: shown.isCut };
}

function howToRespond(message: QuestionMessage, isWhole: boolean): string {
  const { language, shortId: id, kind, allowText } = message;
  if (kind === "approval" && !isWhole) return sayOnlyDenied(message);
  const choices = choicesOf(message, { isWhole, strength: "person" });
  if (choices.length === 0) return `${sayHowToReply(message)} ${word(language, "command", { id })}`;
  const keys = choices.map(({ key }) => `\`${key}\``);
  const named = keys.length <= 5 ? keys.join(", ") : `${keys[0]} – ${keys.at(-1)}`;
  const [first, second] = pairOf(message) ?? [];
  const ways = [
    word(language, "keys", { keys: named }),
    word(language, "tick"),
    ...(first === undefined || second === undefined ? [] : [word(language, "react", { first, second })]),
    ...(allowText ? [word(language, "own")] : []),
  ];
  return `${ways.join(", ")}. ${word(language, "command", { id })}`;
}

/** The keys of the two options that a thumb up or down can mean; undefined if there are not exactly two. */
export function pairOf({ items: [item, ...others] }: QuestionMessage): [up: string, down: string] | undefined {
  const [first, second, ...more] = item?.options ?? [];
  const isPair = first && second && more.length === 0 && others.length === 0;
  if (!isPair || item?.multiple || item?.schema !== undefined) return undefined;
  return [first.key.toUpperCase(), second.key.toUpperCase()];
}

/** Says whether a comment of ours shows two options, so that a thumb may answer it. */
export function offersPair(body: string): boolean {
  return body.split("\n").filter((line) => BOX.test(line)).length === 2;
}

function sayTimeout({ dueAt, onIssue, language }: QuestionMessage): string {
  const silence = onIssue?.silence;
  if (dueAt === undefined || !silence) return word(language, "never");
  const then = sayThen(language, silence.policy, silence.answer && foreignLine(silence.answer));
  return word(language, "deadline", { time: sayUtc(dueAt), then });
}

function footer({ about, shortId: id, link, language }: QuestionMessage): string {
  const run = foreignLine(about.replaceAll("`", "'")).replaceAll("\\", "");
  const open = link === undefined ? "" : ` · [${openLabel(link, language)}](${link})`;
  return `---\n*Workflow Run: \`${run}\` · Question ID: \`${id}\`${open}*`;
}

/** Cuts a text so that what is left of it fits once it is rendered. */
function fit(text: string, limit: number, render: (text: string) => string): FittedPart {
  const { text: kept, isCut } = cutText(text, limit, (part) => render(part).length);
  return { text: kept === "" ? "" : render(kept), isCut };
}

function joinParts(parts: readonly FittedPart[], between: string): FittedPart {
  return { text: parts.map(({ text }) => text).join(between), isCut: parts.some(({ isCut }) => isCut) };
}

/** A comment of ours that is no question: a response or a reminder. */
export function noteComment(text: string): string {
  return `${text}\n\n${MARK} note -->`;
}

/** Says whether a comment is one of ours, or a copy of one. */
export function isOurs(body: string): boolean {
  return LAST_LINE.test(body.replaceAll("\r\n", "\n"));
}

/** The words of a person without what looks like a mark of ours: it means nothing in them. */
export function withoutMarks(body: string): string {
  return body.replace(ANY_MARK, "");
}

/** The question that a comment is about, by its hidden mark. */
export function markedQuestion(body: string): string | undefined {
  return QUESTION_MARK.exec(body)?.[1];
}

/** The keys of the options whose boxes are ticked. */
export function tickedKeys(body: string): string[] {
  const lines = body.replaceAll("\r\n", "\n").split("\n");
  const start = lines.indexOf(OPTIONS);
  if (start < 0) return [];
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => line.startsWith("### "));
  return rest.slice(0, end < 0 ? undefined : end).flatMap((line) => {
    const [, box, key] = BOX.exec(line) ?? [];
    return key !== undefined && box !== " " ? [key] : [];
  });
}
