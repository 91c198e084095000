import {
  type FittedText,
  type QuestionMessage,
  choicesOf,
  countCharacters,
  cutText,
  fitText,
  sayHowToReply,
  sayOnlyDenied,
} from "../../core/channel/message.ts";
import type { Strength } from "../../core/people/actor.ts";
import { makeVisible } from "../../core/text/visible.ts";

/** Longer than anybody reads in a mail. */
const TEXT_CHARS = 20_000;
const SUBJECT_CHARS = 150;
const OPTION = /^([0-9]*[A-Z]{1,2})\) (.*)$/;

/** The subject of all mails about a question: the question, then the run. */
export function subjectOf({ title, about }: QuestionMessage): string {
  const question = cutText(makeVisible(title).replace(/\s+/g, " ").trim(), SUBJECT_CHARS, countCharacters).text;
  const run = cutText(makeVisible(about).replace(/\s+/g, " ").trim(), 60, countCharacters).text;
  return `${question} [${run}]`;
}

/** The text of a mail. An approval that does not fit can only be denied here, and says so. */
export function fitMail(message: QuestionMessage, strength: Strength | undefined): FittedText {
  const fit = (how: string) =>
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
  const elsewhere = `Answer with: askd answer ${message.shortId}`;
  if (strength === undefined) return elsewhere;
  if (message.risk === "high" && strength !== "person") return `A mail cannot answer this. ${elsewhere}`;
  const how = sayHowToReply(message);
  const hasOptions = message.items.some(({ options }) => options.length > 0);
  return hasOptions && how.startsWith("Reply with") ? `${how} A reason may follow below it.` : how;
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
  const paragraphs = text.split("\n\n");
  const body = paragraphs.map((paragraph, index) => {
    const lines = paragraph.split("\n");
    if (lines.every((line) => OPTION.test(line))) return optionRows(lines, link);
    if (index === 0) return `<p class="q">${lines.map(show).join("<br>")}</p>`;
    if (index === paragraphs.length - 1) return `<p class="end">${lines.map(show).join("<br>")}</p>`;
    return `<p class="text">${escapeHtml(paragraph)}</p>`;
  });
  return `<!doctype html><html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark"><style>${STYLE}</style></head><body><div class="mail">${body.join("")}</div></body></html>`;
}

/** No colour of text or background is set where the mail program's own will do: that is what works in dark mode. */
const STYLE = `:root{color-scheme:light dark;supported-color-schemes:light dark}
body{margin:0;padding:16px;font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,Helvetica,Arial,sans-serif}
.mail{max-width:640px}
.q{font-size:20px;line-height:1.35;font-weight:600;margin:0 0 16px;overflow-wrap:anywhere}
.text{white-space:pre-wrap;margin:0 0 16px;overflow-wrap:anywhere}
.options{margin:0 0 16px}
.option{display:block;margin:0 0 8px;padding:10px 14px;border:1px solid #8a8f98;border-radius:8px;color:inherit;text-decoration:none;overflow-wrap:anywhere}
.end{margin:24px 0 0;padding-top:12px;border-top:1px solid #8a8f98;font-size:14px;opacity:.85;overflow-wrap:anywhere}
a{color:inherit}`;

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
