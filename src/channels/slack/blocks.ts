import type { Recipient } from "../../core/channel/channel.ts";
import type { SlackSettings } from "../../core/channel/channel-settings.ts";
import { sayOnlyDenied } from "../../core/channel/answer-elsewhere.ts";
import {
  type Choice,
  type QuestionMessage,
  choicesOf,
  cutText,
  fitText,
  sayHowToReply,
  sayUtc,
} from "../../core/channel/message.ts";
import { tellIn } from "../../core/channel/message-words.ts";
import { openLabel } from "../../core/channel/page-link.ts";
import { epochMs } from "../../core/instant.ts";
import { countEscaped, escapeText, harmless, splitSections } from "./mrkdwn.ts";

/** All blocks of a message together may have about 13,000 characters. */
const BODY_CHARS = 6_000;
const TEXT_CHARS = 3_000;
const HEADER_CHARS = 150;
const LABEL_CHARS = 75;
const CONFIRM_TITLE_CHARS = 100;
const CONFIRM_TEXT_CHARS = 300;
const CONFIRM_BUTTON_CHARS = 30;
/** Options that are buttons; one more fits into the menu, and from then on there is a list. */
const MOST_BUTTONS = 4;

/** A message of ours in Slack's words. */
export interface SlackMessage {
  text: string;
  blocks: unknown[];
}

/** Builds the message of a question: a card for people, and one text for notifications and screen readers. */
export function buildMessage(message: QuestionMessage, to: Recipient, settings: SlackSettings): SlackMessage {
  const { text: body, isWhole, hasHeader } = fitBody(message, settings);
  const blocks = [
    ...(hasHeader ? [{ type: "header", text: plain(message.title, HEADER_CHARS) }] : []),
    ...contextOf([...mentionLine(message, to, settings), escapeText(harmless(message.about))]),
    ...splitSections(body).map((text) => ({ type: "section", expand: true, text: mrkdwn(text) })),
    ...actionsOf(message, isWhole),
    ...contextOf([...message.notes.map((note) => escapeText(harmless(note))), ...endLines(message, isWhole)]),
  ];
  return { text: notificationText(message), blocks };
}

/** Says whether the message shows everything that decides an approval. */
export function isShownWhole(message: QuestionMessage, settings: SlackSettings): boolean {
  return fitBody(message, settings).isWhole;
}

/** The text between the heading and the buttons; a title that is too long for a heading is part of it. */
function fitBody(message: QuestionMessage, { hasContext }: SlackSettings) {
  const hasHeader = harmless(message.title).length <= HEADER_CHARS;
  const bare = { ...message, about: "", notes: [], deadline: undefined, link: undefined };
  const fitted = fitText(bare, {
    limit: BODY_CHARS,
    count: countEscaped,
    foreign: harmless,
    hasContext,
    hasTitle: !hasHeader,
    how: undefined,
  });
  return { ...fitted, hasHeader };
}

/** The form that questions have had in Slack from the beginning. */
function notificationText(message: QuestionMessage): string {
  const { language, issue, shortId, outcome, title, items, isOpen, timeout } = message;
  const heading = [
    tellIn(language, "chat.title"),
    ...(issue === undefined ? [] : [tellIn(language, "chat.issue", { number: issue })]),
  ].join(" - ");
  const [item, ...others] = items;
  const options = isOpen && item && others.length === 0 ? item.options : [];
  const command = `/answer ${shortId} ${options[0]?.key.toUpperCase() ?? "…"}`;
  const lines = [
    // News and digests are no question of an agent.
    ...(message.accepts.length === 0 ? [] : [heading]),
    ...(outcome === undefined ? [] : [escapeText(harmless(outcome))]),
    escapeText(harmless(title)),
    ...options.map(({ key, label, recommended }) =>
      escapeText(
        harmless(`• ${key.toUpperCase()}) ${label}${recommended ? ` ${tellIn(language, "recommended")}` : ""}`),
      ),
    ),
    ...(isOpen && message.accepts.length > 0 ? [tellIn(language, "chat.reply", { command })] : []),
    ...(timeout === undefined ? [] : [timeout]),
  ];
  return cutText(lines.join("\n"), TEXT_CHARS, (text) => text.length).text;
}

function mentionLine({ isOpen, language }: QuestionMessage, to: Recipient, { mention }: SlackSettings): string[] {
  const accounts = [mention, ...(to.mention ?? [])].flatMap((name) =>
    name === undefined ? [] : (mentionOf(name) ?? []),
  );
  if (!isOpen || accounts.length === 0) return [];
  return [tellIn(language, "chat.for", { names: [...new Set(accounts)].join(" ") })];
}

/** A live mention of a configured person, group or everybody; undefined if the name is none. */
export function mentionOf(name: string): string | undefined {
  const plainName = name.trim().replace(/^@/, "");
  if (/^[UW][A-Z0-9]+$/.test(plainName)) return `<@${plainName}>`;
  if (/^S[A-Z0-9]+$/.test(plainName)) return `<!subteam^${plainName}>`;
  return /^(here|channel|everyone)$/.test(plainName) ? `<!${plainName}>` : undefined;
}

/** The deadline in the reader's own time, and how to answer. */
function endLines(message: QuestionMessage, isWhole: boolean): string[] {
  const { deadline, dueAt, isOpen, kind, link, language, shortId, items } = message;
  const time = dueAt === undefined ? "" : sayUtc(dueAt);
  const date = dueAt && `<!date^${Math.floor(epochMs(dueAt) / 1000)}^{date_short_pretty} {time}|${time}>`;
  const due = deadline === undefined ? [] : [escapeText(harmless(deadline)).replace(time, date ?? time)];
  const isDenied = kind === "approval" && !isWhole;
  const how = isDenied ? sayOnlyDenied(message) : sayHowToReply(message, "reply.thread");
  const hasSchema = items.some(({ schema }) => schema !== undefined);
  const command = hasSchema || isDenied || message.accepts.length === 0 ? [] : [`\`/answer ${shortId} …\``];
  return [
    ...due,
    ...(isOpen ? [[escapeText(how), ...command].join(" · ")] : []),
    ...(link === undefined ? [] : [`<${link}|${openLabel(link, language)}>`]),
  ];
}

/** Lines of small print; a block of them has at most ten. */
function contextOf(lines: readonly string[]) {
  const elements = lines.filter((line) => line.trim() !== "").map((line) => mrkdwn(line));
  return elements.length === 0 ? [] : [{ type: "context", elements: elements.slice(0, 10) }];
}

function actionsOf(message: QuestionMessage, isWhole: boolean): unknown[] {
  const { token, language, isSettling, isOpen } = message;
  const block = (elements: unknown[]) => [{ type: "actions", block_id: token, elements }];
  if (isSettling) {
    return block([{ type: "button", action_id: "undo", value: "/undo", text: plain(tellIn(language, "chat.undo")) }]);
  }
  if (!isOpen) return [];
  const choices = choicesOf(message, { isWhole, strength: "person" });
  const isList = choices.length > MOST_BUTTONS + 1;
  const buttons = isList ? [] : choices.slice(0, MOST_BUTTONS).map((choice) => choiceButton(message, choice));
  const inMenu = isList ? [] : choices.slice(MOST_BUTTONS);
  return block([
    ...buttons,
    ...(isList ? [choiceList(message, choices)] : []),
    ...writeButton(message, isWhole),
    ...moreMenu(message, inMenu),
  ]);
}

/** The menu for what has no button of its own. */
function moreMenu(message: QuestionMessage, choices: readonly Choice[]) {
  const options = [...choices.map(choiceOption), ...verbs(message)].slice(0, 5);
  if (options.length === 0) return [];
  return [{ type: "overflow", action_id: "more", options, ...(choices.length > 0 ? confirmOf(message) : {}) }];
}

function choiceButton(message: QuestionMessage, choice: Choice) {
  const { key, label, value } = choice;
  const isRecommended = message.items[0]?.options.find((option) => option.value === value)?.recommended === true;
  const isDenial = message.kind === "approval" && message.denials.has(value);
  const style = isDenial ? { style: "danger" } : isRecommended ? { style: "primary" } : {};
  return {
    type: "button",
    action_id: `choose:${key}`,
    value: key,
    text: plain(`${key}) ${label}`),
    accessibility_label: plain(sayChoice(message, choice, isRecommended)).text,
    ...style,
    ...confirmOf(message, `${key}) ${label}`),
  };
}

/** A button as a screen reader says it; its colour says nothing there. */
function sayChoice({ language }: QuestionMessage, { key, label }: Choice, isRecommended: boolean) {
  const recommended = isRecommended ? ` ${tellIn(language, "recommended")}` : "";
  return `${tellIn(language, "chat.answer", { key })}${recommended}: ${label}`;
}

/** A list for more options than buttons would be readable for. A question has at most as many as it may have. */
function choiceList(message: QuestionMessage, choices: readonly Choice[]) {
  return {
    type: "static_select",
    action_id: "choose",
    placeholder: plain(tellIn(message.language, "chat.choose")),
    options: choices.slice(0, 100).map(choiceOption),
    ...confirmOf(message),
  };
}

function choiceOption({ key, label }: Choice) {
  return { text: plain(`${key}) ${label}`), value: key };
}

/** High risk is asked about once more before it counts. */
function confirmOf({ risk, language, title }: QuestionMessage, choice?: string) {
  if (risk !== "high") return {};
  const text = choice === undefined ? title : `${title}\n→ ${choice}`;
  return {
    confirm: {
      title: plain(tellIn(language, "chat.sure"), CONFIRM_TITLE_CHARS),
      text: plain(text, CONFIRM_TEXT_CHARS),
      confirm: plain(tellIn(language, "chat.yes"), CONFIRM_BUTTON_CHARS),
      deny: plain(tellIn(language, "chat.cancel"), CONFIRM_BUTTON_CHARS),
    },
  };
}

/** Opens a form: for words of one's own, several items, or several choices. */
function writeButton({ items, language, kind, allowText }: QuestionMessage, isWhole: boolean) {
  const [first, ...others] = items;
  const needsForm = others.length > 0 || first?.multiple === true;
  const hasSchema = items.some(({ schema }) => schema !== undefined);
  const isOffered = (needsForm || allowText) && !hasSchema && (kind !== "approval" || isWhole);
  const text = plain(tellIn(language, needsForm ? "chat.form" : "chat.write"));
  return isOffered ? [{ type: "button", action_id: "form:answer", value: "answer", text }] : [];
}

/** Verbs beside answering. */
function verbs({ accepts, language, kind }: QuestionMessage) {
  // A digest lists questions, and accepts nothing itself.
  if (accepts.length === 0) return [];
  const may = (outcome: "decide" | "clarify") => accepts.includes(outcome);
  return [
    { text: plain(tellIn(language, "claim")), value: "/claim" },
    ...(may("clarify") ? [{ text: plain(tellIn(language, "chat.clarify")), value: "form:clarify" }] : []),
    ...(may("decide") && kind !== "approval"
      ? [{ text: plain(tellIn(language, "chat.decide")), value: "/decide" }]
      : []),
    { text: plain(tellIn(language, "chat.snooze")), value: "/snooze" },
  ];
}

/** Text that Slack shows as it is. */
export function plain(text: string, limit = LABEL_CHARS) {
  const fitted = cutText(harmless(text).replace(/\n{3,}/g, "\n\n"), limit, (part) => part.length).text;
  return { type: "plain_text", text: fitted.trim() === "" ? "…" : fitted, emoji: false };
}

export function mrkdwn(text: string) {
  return { type: "mrkdwn", text, verbatim: true };
}
