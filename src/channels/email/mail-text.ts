import { sayAnswerElsewhere, sayOnlyDenied } from "../../core/channel/answer-elsewhere.ts";
import {
  type FittedText,
  type QuestionMessage,
  choicesOf,
  countCharacters,
  cutText,
  fitText,
  sayHowToReply,
} from "../../core/channel/message.ts";
import { tellIn } from "../../core/channel/message-words.ts";
import type { Strength } from "../../core/people/actor.ts";
import { makeVisible } from "../../core/text/visible.ts";

/** Longer than anybody reads in a mail. */
const TEXT_CHARS = 20_000;
const SUBJECT_CHARS = 150;
const OPTION = /^([0-9]*[A-Z]{1,2})\) (.*)$/;
/** A code block ends with as many backticks as it begins with: what it shows may contain fewer. */
const CODE = /^(`{3,})[\w+-]{0,20}\n([^]*?)\n\1$/gm;

/** The subject of all mails about a question: the question, then the run. */
export function subjectOf({ title, about }: QuestionMessage): string {
  const question = questionPart(title);
  const run = cutText(makeVisible(about).replace(/\s+/g, " ").trim(), 60, countCharacters).text;
  return `${question} [${run}]`;
}

/** Says whether this is the subject of our mails about a question; the run behind it may have another name by now. */
export function isSubjectOf(subject: string, { title }: QuestionMessage): boolean {
  return subject.toLowerCase().startsWith(`${questionPart(title)} [`.toLowerCase());
}

function questionPart(title: string) {
  return cutText(makeVisible(title).replace(/\s+/g, " ").trim(), SUBJECT_CHARS, countCharacters).text;
}

/** The text of a mail. An approval that does not fit can only be denied here, and says so. */
export function fitMail(message: QuestionMessage, strength: Strength | undefined): FittedText {
  const fit = (how: string | undefined) =>
    fitText(message, {
      limit: TEXT_CHARS,
      count: countCharacters,
      foreign: makeVisible,
      hasContext: true,
      hasTitle: true,
      how,
    });
  const whole = fit(sayHow(message, strength));
  if (whole.isWhole || message.kind !== "approval" || strength === undefined) return whole;
  return { ...fit(sayOnlyDenied(message)), isWhole: false };
}

function sayHow(message: QuestionMessage, strength: Strength | undefined) {
  const { language, items, risk } = message;
  const elsewhere = sayAnswerElsewhere(message, "how.command");
  if (strength === undefined) return elsewhere;
  if (risk === "high" && strength !== "person")
    return [tellIn(language, "mail.cannot"), elsewhere].filter((part) => part !== undefined).join(" ");
  const how = sayHowToReply(message);
  const hasOptions = items.some(({ options }) => options.length > 0);
  const isCommand = items.length === 1 && items[0]?.schema !== undefined;
  if (!hasOptions || isCommand) return how;
  // An example of a reply ends without a full stop, which people would type too.
  return `${how}${how.endsWith(".") ? " " : "\n"}${tellIn(language, "mail.reason")}`;
}

/** The lines that a mail about this question may have had; a reply that quotes them is recognised by them. */
export function sentLines(message: QuestionMessage, strength: Strength | undefined): string[] {
  const open = fitMail({ ...message, isOpen: true, outcome: undefined }, strength).text;
  const now = message.isOpen ? "" : fitMail(message, strength).text;
  return [...`${open}\n${now}`.split("\n"), subjectOf(message)];
}

/** The HTML of a mail: the same text, easier to look at, with its options as links that begin a reply. */
export function mailHtml(
  text: string,
  message: QuestionMessage,
  { replyTo, strength, isWhole }: { replyTo: string | undefined; strength: Strength | undefined; isWhole: boolean },
): string {
  const keys = new Set(choicesOf(message, { isWhole, strength }).map(({ key }) => key));
  const link = (key: string) =>
    replyTo !== undefined && keys.has(key)
      ? `mailto:${replyTo}?subject=${encodeURIComponent(`Re: ${subjectOf(message)}`)}&body=${encodeURIComponent(key)}`
      : undefined;
  const show = (line: string) => inline(line, message.link);
  const blocks = blocksOf(text);
  const body = blocks.map(({ block, isCode }, index) => {
    if (isCode) return `<pre class="code">${escapeHtml(block)}</pre>`;
    const lines = block.split("\n");
    if (lines.every((line) => OPTION.test(line))) return optionRows(lines, link);
    if (index === 0) return `<p class="q">${lines.map(show).join("<br>")}</p>`;
    if (index === blocks.length - 1) return `<p class="end">${lines.map(show).join("<br>")}</p>`;
    return `<p class="text">${escapeHtml(block)}</p>`;
  });
  return `<!doctype html><html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark"><style>${STYLE}</style></head><body><div class="mail">${body.join("")}</div></body></html>`;
}

/** No colour of text or background is set where the mail program's own will do: that is what works in dark mode. */
const STYLE = `:root{color-scheme:light dark;supported-color-schemes:light dark}
body{margin:0;padding:16px;font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,Helvetica,Arial,sans-serif}
.mail{max-width:640px}
.q{font-size:20px;line-height:1.35;font-weight:600;margin:0 0 16px;overflow-wrap:anywhere}
.text{white-space:pre-wrap;margin:0 0 16px;overflow-wrap:anywhere}
.code{font:14px/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre-wrap;margin:0 0 16px;padding:8px 14px;border-left:3px solid #8a8f98;overflow-wrap:anywhere}
.options{margin:0 0 16px}
.option{display:block;margin:0 0 8px;padding:10px 14px;border:1px solid #8a8f98;border-radius:8px;color:inherit;text-decoration:none;overflow-wrap:anywhere}
.end{margin:24px 0 0;padding-top:12px;border-top:1px solid #8a8f98;font-size:14px;opacity:.85;overflow-wrap:anywhere}
a{color:inherit}`;

interface MailBlock {
  block: string;
  isCode: boolean;
}

/** The paragraphs and code blocks of a text, in order. */
function blocksOf(text: string): MailBlock[] {
  // Between the texts are the backticks and the code.
  return text.split(CODE).flatMap((part, index): MailBlock[] => {
    if (index % 3 === 1) return [];
    if (index % 3 === 2) return [{ block: part, isCode: true }];
    const paragraphs = part.split("\n\n").map((paragraph) => paragraph.replace(/^\n+|\n+$/g, ""));
    return paragraphs.filter((paragraph) => paragraph !== "").map((block) => ({ block, isCode: false }));
  });
}

function optionRows(lines: readonly string[], link: (key: string) => string | undefined) {
  const rows = lines.map((line) => {
    const [, key = "", label = ""] = OPTION.exec(line) ?? [];
    const target = link(key);
    const words = `<b>${escapeHtml(key)})</b> ${escapeHtml(label)}`;
    return target === undefined
      ? `<div class="option">${words}</div>`
      : `<a class="option" href="${escapeHtml(target)}">${words}</a>`;
  });
  return `<div class="options">${rows.join("")}</div>`;
}

/** The only link is ours; an address that an agent wrote is text. */
function inline(text: string, link: string | undefined) {
  return text === link ? `<a href="${escapeHtml(text)}">${escapeHtml(text)}</a>` : escapeHtml(text);
}

function escapeHtml(text: string) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
