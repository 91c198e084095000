import {
  ATTRIBUTION_END,
  ATTRIBUTION_START,
  BANNER,
  CLOSING,
  DISCLAIMER,
  FOOTER,
  GREETING,
  HAS_ADDRESS,
  HAS_DATE,
  HEADER_LINE,
  NOTES_HEADER,
  SAYS_WROTE,
  SEE_BELOW,
  SEPARATOR,
} from "./reply-words.ts";

const MOST_LINES = 2_000;
const MOST_LINE_CHARS = 2_000;
/** How many lines the sentence before a quotation may take. */
const ATTRIBUTION_LINES = 4;
const ATTRIBUTION_CHARS = 300;
const HEADER_LINES = 10;
/** A signature is short: a closing word earlier in a mail belongs to the text. */
const SIGNATURE_LINES = 12;
const SIGNATURE_LINE_CHARS = 90;
/** A line of that many characters that is part of what we sent is a quotation even where it was wrapped anew. */
const WRAPPED_CHARS = 24;

export interface ReplyBody {
  /** The text of the mail, as it came. */
  text: string;
  /** The name that the sender's program gives; people also write it below their mails. */
  senderName?: string | undefined;
  /** The lines of the mail that is answered. */
  sent?: readonly string[] | undefined;
}

type LineKind = "own" | "quoted" | "blank";

interface Line {
  text: string;
  kind: LineKind;
}

/**
 * The words that a person wrote in a mail: without what it quotes, attributions, header blocks, signatures, disclaimers
 * and the footers of phones. Lines that we sent ourselves are known, however the mail program marks them.
 */
export function extractReply({ text, senderName, sent = [] }: ReplyBody): string {
  const lines = splitLines(text);
  const isSent = sentMatcher(sent);
  const marked = markQuotes(lines, isSent);
  const [top, rest] = splitAtQuote(marked);
  const above = cleanReply(top, senderName);
  if (above !== "" && !SEE_BELOW.test(above) && !isGreeting(above)) return above;
  const below = cleanReply(
    rest.filter(({ kind }) => kind !== "quoted"),
    senderName,
  );
  return below === "" ? (isGreeting(above) ? "" : above) : below;
}

/** A greeting alone; with an answer on a line below it, it is more than that. */
function isGreeting(text: string) {
  return !text.includes("\n") && GREETING.test(text);
}

function splitLines(text: string): string[] {
  return text
    .replace(/\r\n?/g, "\n")
    .replace(/[\u200b-\u200f\u202a-\u202e\u2060\ufeff]/g, "")
    .replace(/[\u00a0\u2000-\u200a\u202f\u3000]/g, " ")
    .split("\n", MOST_LINES)
    .map((line) => line.slice(0, MOST_LINE_CHARS));
}

/** Says whether a line is one that we sent, also where it was wrapped anew; with the line before it, also a short rest. */
type SentMatcher = (line: string, before?: string) => boolean;

function sentMatcher(sent: readonly string[]): SentMatcher {
  const known = new Set(sent.map(plainLine).filter((line) => line !== ""));
  const whole = sent.map(plainLine).join(" ");
  return (line, before) => {
    const plain = plainLine(line);
    if (plain === "") return false;
    if (known.has(plain) || (plain.length >= WRAPPED_CHARS && whole.includes(plain))) return true;
    const joined = `${plainLine(before ?? "")} ${plain}`;
    return before !== undefined && joined.length >= WRAPPED_CHARS && whole.includes(joined);
  };
}

/** A line without quotation marks, emphasis, link targets and spaces. */
function plainLine(line: string) {
  return line
    .replace(/^[\s>|]+/, "")
    .replace(/^\w{1,12}>+\s*/, "")
    .replace(/<(?:https?|mailto):[^>\s]*>/gi, "")
    .replace(/[*_`]/g, "")
    .replace(/\s+/g, " ")
    .trim()
    .toLowerCase();
}

function markQuotes(lines: readonly string[], isSent: SentMatcher): Line[] {
  const marked = lines.map((text): Line => ({ text, kind: kindOf(text) }));
  markSentRuns(marked, isSent);
  markAttributions(marked);
  const end = marked.findIndex((_, index) => isHeaderBlock(marked, index));
  if (end >= 0) for (const line of marked.slice(end)) line.kind = "quoted";
  return marked;
}

function kindOf(text: string): LineKind {
  if (text.trim() === "") return "blank";
  // Some programs put the name of the sender before the mark: "askd> ".
  return /^\s{0,3}(?:>|\|\s|\w{1,12}>+\s*$)/.test(text) ? "quoted" : "own";
}

/** Two lines in a row that we sent are quoted; one alone may be the answer, such as the line of an option. */
function markSentRuns(lines: Line[], isSent: SentMatcher) {
  const filled = lines.filter(({ kind }) => kind !== "blank");
  const ours = filled.map(({ text }, index) => isSent(text, filled[index - 1]?.text));
  filled.forEach((line, index) => {
    if (!ours[index]) return;
    if (
      ours[index - 1] ||
      ours[index + 1] ||
      filled[index + 1]?.kind === "quoted" ||
      filled[index - 1]?.kind === "quoted"
    )
      line.kind = "quoted";
  });
}

/** Marks the sentence before a quotation ("On Monday, askd wrote:"), which programs wrap as they like. */
function markAttributions(lines: Line[]) {
  for (let index = 0; index < lines.length; index += 1) {
    const length = attributionLength(lines, index);
    for (const line of lines.slice(index, index + length)) line.kind = "quoted";
  }
}

function attributionLength(lines: readonly Line[], start: number): number {
  const first = lines[start];
  if (!first || first.kind === "blank" || !mayStart(first.text)) return 0;
  let joined = "";
  for (let length = 1; length <= ATTRIBUTION_LINES; length += 1) {
    const line = lines[start + length - 1];
    if (!line || line.kind === "blank") return 0;
    joined = `${joined} ${line.text.replace(/^[\s>|]+/, "")}`.trim();
    if (joined.length > ATTRIBUTION_CHARS) return 0;
    if (isAttribution(joined, followsQuote(lines, start + length))) return length;
  }
  return 0;
}

function mayStart(text: string) {
  return ATTRIBUTION_START.test(text) || (SAYS_WROTE.test(text) && /[:：]\s*$/.test(text)) || HAS_ADDRESS.test(text);
}

/** Says whether a quotation follows, or nothing at all: an attribution announces one. */
function followsQuote(lines: readonly Line[], index: number): boolean {
  const next = lines.slice(index).find(({ kind }) => kind !== "blank");
  return next === undefined || next.kind === "quoted";
}

function isAttribution(text: string, isFollowed: boolean): boolean {
  if (!ATTRIBUTION_END.test(text)) return false;
  const signs = [HAS_DATE.test(text), HAS_ADDRESS.test(text), SAYS_WROTE.test(text)].filter(Boolean).length;
  return signs >= 2 || (signs === 1 && isFollowed && /[:：]\s*$/.test(text));
}

/** A line such as "-----Original Message-----", or three headers in a row. */
function isHeaderBlock(lines: readonly Line[], index: number): boolean {
  const line = lines[index];
  if (!line || line.kind === "blank") return false;
  if (NOTES_HEADER.test(line.text)) return true;
  if (SEPARATOR.test(line.text)) {
    const next = lines.slice(index + 1).filter(({ kind }) => kind !== "blank");
    // A line of dashes alone may belong to the text; a quoted mail or its headers follow a separator.
    if (/\p{L}/u.test(line.text)) return true;
    return next.length > 0 && (next[0]?.kind === "quoted" || HEADER_LINE.test(next[0]?.text ?? ""));
  }
  if (!HEADER_LINE.test(line.text)) return false;
  const block = lines.slice(index, index + HEADER_LINES).filter(({ kind }) => kind !== "blank");
  const heads = block.filter(({ text }) => HEADER_LINE.test(text));
  const isProven = heads.some(({ text }) => HAS_ADDRESS.test(text) || HAS_DATE.test(text));
  return heads.length >= 3 && isProven;
}

/** The lines before the first quotation, and those from it on. */
function splitAtQuote(lines: readonly Line[]): [Line[], Line[]] {
  const at = lines.findIndex(({ kind }) => kind === "quoted");
  return at < 0 ? [[...lines], []] : [lines.slice(0, at), lines.slice(at)];
}

/** Cuts what stands around the words: banners above them; signatures, disclaimers and footers below. */
function cleanReply(lines: readonly Line[], senderName: string | undefined): string {
  const kept = dropBanners(lines.map(({ text }) => text.trimEnd()));
  const end = kept.findIndex((line, index) => isEndOfReply(kept, line, index, senderName));
  const cut = (end < 0 ? kept : kept.slice(0, end)).join("\n");
  return cut
    .replace(/\n{3,}/g, "\n\n")
    .replace(/^\s*\n/, "")
    .trim();
}

function dropBanners(lines: readonly string[]): string[] {
  const from = lines.findIndex((line) => line.trim() !== "" && !BANNER.test(line));
  return from < 0 ? [] : lines.slice(from);
}

function isEndOfReply(lines: readonly string[], line: string, index: number, senderName: string | undefined): boolean {
  if (line.trim() === "") return false;
  if (/^\s*(?:--|—|–|-- )\s*$/.test(line) || /^\s*_{3,}\s*$/.test(line)) return true;
  const isFirst = lines.slice(0, index).every((before) => before.trim() === "");
  const startsParagraph = index === 0 || lines[index - 1]?.trim() === "";
  if (FOOTER.test(line) && (startsParagraph || isLastParagraph(lines, index))) return !isFirst || isAlone(lines, index);
  if (DISCLAIMER.test(line) && startsParagraph) return !isFirst;
  if (isFirst) return false;
  const rest = lines.slice(index).filter((each) => each.trim() !== "");
  const isShort = isSignatureLike(rest);
  if (CLOSING.test(line)) return isShort;
  return isName(line, senderName) && isShort;
}

/** Nothing but this line: a mail that says nothing. */
function isAlone(lines: readonly string[], index: number) {
  return lines.slice(index + 1).every((line) => line.trim() === "" || DISCLAIMER.test(line));
}

function isLastParagraph(lines: readonly string[], index: number) {
  return lines.slice(index + 1).every((line) => line.trim() === "");
}

/** Few short lines to the end, apart from footers and disclaimers. */
function isSignatureLike(rest: readonly string[]) {
  const end = rest.findIndex((line) => DISCLAIMER.test(line) || FOOTER.test(line) || /^\s*(?:--|—)\s*$/.test(line));
  const signature = end < 0 ? rest : rest.slice(0, end);
  return signature.length <= SIGNATURE_LINES && signature.every((line) => line.length <= SIGNATURE_LINE_CHARS);
}

/** The sender's name, or the first part of it, alone on a line, perhaps after a dash. */
function isName(line: string, senderName: string | undefined) {
  const said = plainName(line);
  const name = plainName(senderName ?? "");
  if (said === "" || name === "") return false;
  const parts = name.split(" ");
  const initials = parts.map((part) => part[0] ?? "").join("");
  return (
    said === name ||
    parts.includes(said) ||
    (said === initials && initials.length > 1) ||
    said === [...parts].reverse().join(" ")
  );
}

function plainName(text: string) {
  return text
    .normalize("NFKC")
    .replace(/^[\s\-–—~/*_]+|[\s.,!*_]+$/g, "")
    .replace(/[",]/g, " ")
    .replace(/\s+/g, " ")
    .trim()
    .toLowerCase();
}
