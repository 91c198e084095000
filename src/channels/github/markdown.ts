import { neutraliseMentions } from "../../core/text/mention.ts";
import { makeVisible } from "../../core/text/visible.ts";

const JOINER = "\u2060"; // a word joiner: invisible, and GitHub continues no reference across it
const FENCE_START = /^ {0,3}(`{3,}|~{3,})[ \t]*([\w+#.-]{0,30})/;
const INLINE = /`([^`\n]+)`/g;
/** An address of an issue, pull request or discussion: GitHub would tell that issue of it. */
const REFERENCE = /https?:\/\/[^\s<>()`]{1,300}\/(?:issues|pull|discussions)\/\d{1,12}[^\s<>()`]{0,300}/g;

/** Writes foreign Markdown so that GitHub acts on nothing in it: code stays code, everything else is only text. */
export function foreignMarkdown(text: string): string {
  return splitCode(makeVisible(text))
    .map((part) => (part.language === undefined ? prose(part.text) : codeBlock(part.text, part.language)))
    .join("\n");
}

/** A part of a text: prose, or a block of code in a language. */
interface TextPart {
  text: string;
  language: string | undefined;
}

/** Splits a text at its code blocks. A block that nobody ends lasts to the end. */
function splitCode(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let lines: string[] = [];
  let open: { fence: string; language: string } | undefined;
  const flush = (language: string | undefined) => {
    if (lines.length > 0 || language !== undefined) parts.push({ text: lines.join("\n"), language });
    lines = [];
  };
  for (const line of text.split("\n")) {
    const [, fence, language = ""] = FENCE_START.exec(line) ?? [];
    if (open && isFenceEnd(line, open.fence)) {
      flush(open.language);
      open = undefined;
    } else if (!open && fence !== undefined) {
      flush(undefined);
      open = { fence, language };
    } else lines.push(line);
  }
  flush(open?.language);
  return parts;
}

function isFenceEnd(line: string, fence: string) {
  const said = line.trim();
  return said.length >= fence.length && said === said.charAt(0).repeat(said.length) && said.startsWith(fence);
}

/** One line of foreign text. */
export function foreignLine(text: string): string {
  return prose(makeVisible(text).replace(/\s+/g, " ").trim());
}

/** A block of code whose fence is longer than any inside it, so that nothing in it can end it. */
function codeBlock(code: string, language: string): string {
  const longest = Math.max(2, ...(code.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${code}\n${fence}`;
}

/** The number of code blocks in a text. */
export function countCode(text: string): number {
  return splitCode(text).filter(({ language }) => language !== undefined).length;
}

/** Text between code: bold, lists and inline code stay; links, images, HTML, headings and boxes do not work. */
function prose(text: string): string {
  const parts: string[] = [];
  let at = 0;
  for (const code of text.matchAll(INLINE)) {
    const [whole, inner = ""] = code;
    parts.push(plain(text.slice(at, code.index)), `\`${neutral(inner)}\``);
    at = code.index + whole.length;
  }
  return [...parts, plain(text.slice(at))].join("");
}

function plain(text: string): string {
  const parts: string[] = [];
  let at = 0;
  for (const reference of text.matchAll(REFERENCE)) {
    parts.push(escapeText(text.slice(at, reference.index)), `\`${reference[0]}\``);
    at = reference.index + reference[0].length;
  }
  return [...parts, escapeText(text.slice(at))].join("");
}

function escapeText(text: string): string {
  const escaped = text
    .replace(/[\\`]/g, "\\$&")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replace(/\](?=[(:[])/g, `]${JOINER}`)
    .replace(/^([ \t]*(?:[-+*]|\d+[.)])[ \t]+)\[(?=[ xX]\])/gm, "$1\\[")
    .replace(/^([ \t]*(?:[-+*>][ \t]{0,4}){0,6})(#{1,6}|~{3,}|[-=_*]{2,}(?=[ \t]*$))/gm, "$1\\$2");
  return neutral(escaped);
}

/** Mentions nobody and refers to no issue, in any of GitHub's forms. */
function neutral(text: string): string {
  return neutraliseMentions(text).replace(/\b(GH)-(?=\d)/gi, `$1-${JOINER}`);
}
