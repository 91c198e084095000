import { findSchemaMismatch, describeSchemaMismatch } from "./answer-schema.ts";
import type { AnswerInput } from "./answer-input.ts";
import { type Content, type Item, type Option, offersOther } from "../question/content.ts";
import { quoteLine } from "../text/foreign-text.ts";
import { findNearest } from "../text/nearest.ts";
import { requirePlain } from "../text/plain-text.ts";
import type { Answer } from "../question/question.ts";
import { ALLOW, ALLOW_CHANGED } from "../question/run-permission.ts";
import { Refusal } from "../refusal.ts";
import type { Limits } from "../rules.ts";

/** Shorter names have no typing mistakes that are not another word. */
const LEAST_NEAR = 4;

type MatchedItems = Answer["items"];
type MatchedItem = MatchedItems[string];

/** Matches a reply to every item, or refuses it with what does not fit. */
export function matchAnswer(
  content: Content,
  input: Pick<AnswerInput, "items" | "answer" | "verbatim" | "template">,
  limits: Limits,
): MatchedItems {
  const isMeant = input.verbatim === true || input.template !== undefined;
  const spoken = input.items ?? splitText(content.items, input.answer ?? "");
  const matched: MatchedItems = {};
  for (const [name, given] of Object.entries(spoken)) {
    const item = findItem(content.items, name);
    if (!item) {
      const names = content.items.map((each) => each.header ?? each.id);
      throw new Refusal("bad_input", `There is no item ${quoteLine(name)}; the items are ${names.join(", ")}`, {
        fact: { is: "no_item", name, names },
      });
    }
    const answered = matchItem(item, given, limits);
    if (!isMeant) requireNotMistyped(item, answered);
    matched[item.id] = answered;
  }
  const missing = content.items.filter((item) => !Object.hasOwn(matched, item.id));
  if (missing.length > 0) {
    const names = missing.map((item) => item.header ?? item.text);
    throw new Refusal("missing_items", `Not answered yet: ${names.join("; ")}`, {
      fact: { is: "missing_items", names },
      hint: "Answer all of them at once, like: 1A 2B, or one line each: header: value",
    });
  }
  return matched;
}

/** Formats an answer in one line. */
export function answerText(content: Content, items: MatchedItems): string {
  const texts = content.items.map((item) => itemText(item, items[item.id]));
  if (content.items.length === 1) return texts[0] ?? "";
  return content.items.map((item, index) => `${item.header ?? item.text}: ${texts[index] ?? ""}`).join("; ");
}

/** Formats the answer to one item: the labels of the chosen options and the free text. */
export function itemText(item: Item, matched: MatchedItem | undefined): string {
  if (!matched) return "";
  const labels = matched.values.map((value) => item.options.find((option) => option.value === value)?.label ?? value);
  return [
    ...(labels.length > 0 ? [labels.join(", ")] : []),
    ...(matched.text === undefined ? [] : [matched.text]),
  ].join(" — ");
}

/** Matches an answer as `matchAnswer` does; undefined if it does not fit. */
export function findMatch(...answer: Parameters<typeof matchAnswer>): MatchedItems | undefined {
  try {
    return matchAnswer(...answer);
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

/** Lists the options in one line: `1 Redis, 2 Memcached`. */
export function describeOptions(item: Item): string {
  return numbered(item).join(", ");
}

function numbered(item: Item) {
  return item.options.map((option, index) => `${index + 1} ${option.label}`);
}

function matchItem(item: Item, given: MatchedItem, limits: Limits): MatchedItem {
  const values = given.values.map((value) => value.trim()).filter((value) => value !== "");
  const words = given.text?.trim() || undefined;
  // Chosen values must be options; without options they count as free text.
  const isFree = item.options.length === 0;
  const said = isFree ? [...values, ...(words === undefined ? [] : [words])].join(", ") || undefined : words;
  if (said !== undefined) requirePlain(said, limits.answerBytes, "answer");
  if (isFree || values.length === 0) {
    if (said === undefined) throw emptyAnswer(item);
    return item.schema ? matchTyped(item, said) : matchText(item, said);
  }
  if (said !== undefined && values.join() === ALLOW_CHANGED && item.change === undefined) throw noChange();
  const chosen = matchSeveral(item, values);
  if (chosen.values.join() === ALLOW_CHANGED) return matchChange(item, said);
  if (said === undefined) return chosen;
  if (!item.allowText) throw noSuchOption(item, said);
  return { ...chosen, text: said };
}

/** A changed command; the one that was asked for, unchanged, is a plain consent. */
function matchChange({ change }: Item, said: string | undefined): MatchedItem {
  if (said === undefined) {
    throw new Refusal("empty_answer", "The changed command is missing", {
      hint: 'Write it: askd answer <id> --command "…"',
    });
  }
  return change?.trim() === said ? { values: [ALLOW] } : { values: [ALLOW_CHANGED], text: said };
}

function noChange() {
  return new Refusal("no_such_option", "The agent cannot take a changed command; nothing was allowed", {
    hint: "Allow it as it is, or deny it and say in the note what to run instead: askd answer <id> deny -m <text>",
  });
}

function matchTyped(item: Item, said: string): MatchedItem {
  const mismatch = item.schema && findSchemaMismatch(item.schema, said);
  if (mismatch) {
    const fact = { is: "mismatch" as const, ...mismatch };
    throw new Refusal("answer_mismatch", `The answer does not fit: ${describeSchemaMismatch(mismatch)}`, { fact });
  }
  return { values: [], text: said };
}

function matchText(item: Item, said: string): MatchedItem {
  const option = matchOption(item, said);
  if (option?.value === ALLOW_CHANGED) return matchChange(item, undefined);
  if (option) return { values: [option.value] };
  const several = item.multiple ? matchList(item, said) : undefined;
  if (several) return { values: several.map((each) => each.value) };
  if (!item.allowText) throw noSuchOption(item, said);
  return { values: [], text: said };
}

function matchSeveral(item: Item, values: readonly string[]): MatchedItem {
  if (!item.multiple && values.length > 1) {
    throw new Refusal("bad_input", `Only one choice is possible: ${describeOptions(item)}`, {
      fact: { is: "one_choice", options: numbered(item) },
    });
  }
  const options = values.map((value) => {
    const option = matchOption(item, value);
    if (!option) throw noSuchOption(item, value);
    return option;
  });
  return { values: distinct(options).map((option) => option.value) };
}

/** Finds the option that a word names by key, value or label. Ambiguous words are refused, not guessed. */
function matchOption(item: Item, said: string): Option | undefined {
  const word = said.toLowerCase();
  const byKey = item.options.filter((option, index) => option.key.toLowerCase() === word || String(index + 1) === word);
  const exact = item.options.filter((option) => option.value === said || option.label === said);
  const byName = item.options.filter(
    (option) => option.value.toLowerCase() === word || option.label.toLowerCase() === word,
  );
  const found = distinct([...byKey, ...(exact.length > 0 ? exact : byName)]);
  if (found.length > 1) {
    const names = found.map((option) => `${option.key}) ${option.label}`);
    const both = names.join(" and ");
    throw new Refusal(
      "ambiguous_answer",
      `${quoteLine(said)} could mean ${both}; write the whole label or the letter`,
      {
        fact: { is: "ambiguous", said, names },
      },
    );
  }
  return found[0] ?? findVerdict(item, word);
}

const YES: ReadonlySet<string> = new Set(["yes", "y", "ja", "allow", "approve"]);
const NO: ReadonlySet<string> = new Set(["no", "n", "nein", "deny"]);

/** Takes a plain yes or no for the options of an approval, whichever word they have for consent. */
function findVerdict({ options }: Item, word: string): Option | undefined {
  const yes = options.find(({ value }) => value === "allow" || value === "approve");
  const no = options.find(({ value }) => value === "deny");
  if (!yes || !no) return undefined;
  return YES.has(word) ? yes : NO.has(word) ? no : undefined;
}

/** `1,3`, `A, B`, `TTL, LRU` or a JSON array; a label that contains commas wins over its parts. */
function matchList(item: Item, said: string): Option[] | undefined {
  const parts = jsonList(said) ?? said.split(",").map((part) => part.trim());
  const found: Option[] = [];
  for (let start = 0; start < parts.length;) {
    const taken = longestMatch(item, parts, start);
    if (!taken) return undefined;
    found.push(taken.option);
    start = taken.end;
  }
  return distinct(found);
}

function longestMatch(
  item: Item,
  parts: readonly string[],
  start: number,
): { option: Option; end: number } | undefined {
  const most = Math.max(...item.options.map((option) => option.label.split(",").length));
  for (let end = Math.min(parts.length, start + most); end > start; end -= 1) {
    const option = matchOption(item, parts.slice(start, end).join(", "));
    if (option) return { option, end };
  }
  return undefined;
}

function jsonList(said: string) {
  if (!said.startsWith("[")) return undefined;
  try {
    const list: unknown = JSON.parse(said);
    return Array.isArray(list) && list.every((part) => typeof part === "string") ? list : undefined;
  } catch {
    return undefined; // not JSON: it is read as words
  }
}

/** Splits an answer to several items: `1A 2B,C`, or one line each: `header: value`. */
function splitText(items: readonly Item[], text: string): Record<string, MatchedItem> {
  const only = items[0];
  if (items.length === 1 && only) return { [only.id]: { values: [], text } };
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  if (lines.length === 0) throw new Refusal("empty_answer", "Response cannot be empty", { hint: SEVERAL });
  const named = lines.map((line) => /^\s*([^:]{1,60}?)\s*:\s*(.+)$/.exec(line));
  const pairs = named.every((match) => match)
    ? named
    : text
        .trim()
        .split(/\s+/)
        .map((word) => /^(\d{1,2})[:=]?(.+)$/.exec(word));
  if (!pairs.every((match) => match)) {
    throw new Refusal(
      "bad_input",
      `This question has ${items.length} items, and the answer does not say which part is for which`,
      { hint: SEVERAL, fact: { is: "which_item", count: items.length } },
    );
  }
  return Object.fromEntries(pairs.map((match) => [match?.[1] ?? "", { values: [], text: match?.[2] ?? "" }]));
}

const SEVERAL = "Write 1A 2B, or one line for each item: header: value";

function findItem(items: readonly Item[], name: string): Item | undefined {
  const word = name.trim().toLowerCase();
  return (
    items.find((item) => item.id === name) ??
    items.find((_, index) => String(index + 1) === word) ??
    items.find((item) => item.header?.toLowerCase() === word || item.text.toLowerCase() === word)
  );
}

function emptyAnswer(item: Item) {
  const choose = item.options.length > 0 ? `Choose 1-${item.options.length}` : undefined;
  const write = item.allowText ? "write text" : undefined;
  const hint = [choose, write].filter((part) => part !== undefined).join(", or ");
  return new Refusal("empty_answer", "Response cannot be empty", {
    hint: hint.charAt(0).toUpperCase() + hint.slice(1),
  });
}

function noSuchOption(item: Item, said: string) {
  const shown = said.length > 80 ? `${said.slice(0, 79)}…` : said;
  return new Refusal("no_such_option", `${quoteLine(said, 80)} is not one of the options`, {
    hint: `Choose one of: ${describeOptions(item)}`,
    fact: { is: "no_such_option", said: shown, options: numbered(item) },
  });
}

/**
 * Refuses words that are probably a mistyped or shortened option, and numbers that no option has: they would be a free
 * answer that nobody meant. Every way to answer passes here.
 */
function requireNotMistyped(item: Item, { values, text }: MatchedItem) {
  if (values.length > 0 || text === undefined || item.options.length === 0) return;
  requireOptionNumber(item, text);
  const meant = findNearOption(item, text);
  if (!meant) return;
  throw new Refusal(
    "no_such_option",
    `${quoteLine(text, 80)} is not one of the options; did you mean ${quoteLine(meant.label, 80)}?`,
    {
      hint: `Choose one of: ${describeOptions(item)}. If these are your own words: askd answer <id> -m <text>`,
      fact: { is: "no_such_option", said: text, options: numbered(item) },
    },
  );
}

/** The number after the last option is that of "Other", which needs a text. */
function requireOptionNumber(item: Item, text: string) {
  if (!/^\d+$/.test(text)) return;
  const number = Number(text);
  const isOther = number === item.options.length + 1 && offersOther(item);
  const hint = `Choose one of: ${describeOptions(item)}. If ${text} is the answer: askd answer <id> -m ${text}; over the API with "verbatim": true`;
  const fact = { is: "no_such_option" as const, said: text, options: numbered(item) };
  if (isOther) {
    throw new Refusal("empty_answer", `Option ${text} needs an answer in your own words`, { hint, fact });
  }
  // Where options begin with numbers themselves, another number is another answer.
  if (item.options.some(({ value, label }) => /^\d/.test(value) || /^\d/.test(label))) return;
  throw new Refusal("no_such_option", `There is no option ${text}; choose ${describeOptions(item)}`, { hint, fact });
}

function findNearOption(item: Item, text: string): Option | undefined {
  const word = text.toLowerCase();
  return item.options.find(({ value, label }) =>
    [value, label].some((name) => {
      const known = name.toLowerCase();
      // Another number is another answer, and most short words are near each other.
      if (digitsOf(word) !== digitsOf(known)) return false;
      return known.length >= LEAST_NEAR && findNearest(word, [known]) !== undefined;
    }),
  );
}

function digitsOf(text: string) {
  return text.replaceAll(/\D/g, "");
}

function distinct(options: readonly Option[]): Option[] {
  return [...new Set(options)];
}
