import type { RefusalFactName, RefusalFacts } from "../refusal-fact.ts";
import { type TrailMismatch, describeTrailMismatch } from "../trail/trail-mismatch.ts";
import type { Refusal, RefusalCode } from "../refusal.ts";
import { deRefusal } from "./de-refusal.ts";
import type { Language } from "./language.ts";

/** All texts of refusals in one language; the English ones are in core. */
export interface RefusalCatalogue {
  facts: Readonly<Record<RefusalFactName, string>>;
  /** For refusals without a fact. */
  codes: Readonly<Record<RefusalCode, string>>;
  /** Translations of values that come from a fixed list. */
  words: {
    what: Readonly<Record<RefusalFacts["too_long"]["what"], string>>;
    must: Readonly<Record<RefusalFacts["mismatch"]["must"], string>>;
    then: Readonly<Record<RefusalFacts["timed_out"]["then"], string>>;
    question: Readonly<Record<RefusalFacts["uncorrectable"]["question"], string>>;
  };
  /** How a typed answer without fields is called, and one of its fields. */
  whole: string;
  field: string;
  flaws: Readonly<Record<TrailMismatch["is"], string>>;
}

const CATALOGUES: Readonly<Record<Exclude<Language, "en">, RefusalCatalogue>> = { de: deRefusal };

/** The reader of a sentence: their language, and how spans and states are called where it is shown. */
export interface Speaker {
  language: Language;
  span(ms: number): string;
  status(name: string): string;
}
type Values = Readonly<Record<string, unknown>>;

/** A refusal in the reader's language: what is the case and what to do next. */
export function sayRefusal(reader: Speaker, refusal: Refusal): string {
  const { message, hint, fact, code, retryAfterMs = 0 } = refusal;
  if (reader.language === "en") {
    const said = sentence(message);
    return hint === undefined ? said : `${said.replace(/[^.!?…]$/, "$&.")} ${sentence(hint)}`;
  }
  const { facts, codes } = CATALOGUES[reader.language];
  return fact ? fill(reader, facts[fact.is], { ...fact }) : fill(reader, codes[code], { retryMs: retryAfterMs });
}

/** Punctuates a text of core for a page; commands stay as they are typed. */
function sentence(text: string): string {
  if (/\baskd \w|--\w/.test(text)) return text;
  const quoted = text.replace(/"([^"]*)"/g, "“$1”");
  return /[.!?…]$/.test(quoted) ? quoted : `${quoted}.`;
}

/** A mismatch of the audit trail in the reader's language. */
export function sayTrailMismatch(reader: Speaker, flaw: TrailMismatch): string {
  return reader.language === "en"
    ? describeTrailMismatch(flaw)
    : fill(reader, CATALOGUES[reader.language].flaws[flaw.is], { ...flaw });
}

function fill(reader: Speaker, pattern: string, values: Values): string {
  return pattern.replace(/\{(\w+)\}/g, (_, name: string) => sayValue(reader, name, values));
}

/** Formats a value for a sentence; its name says of what kind it is. */
function sayValue(reader: Speaker, name: string, values: Values): string {
  const value = values[name];
  if (typeof value === "number") return name.endsWith("Ms") ? reader.span(value) : String(value);
  if (Array.isArray(value)) return value.join(", ");
  const text = typeof value === "string" ? value : "";
  if (name === "status" || name === "told") return reader.status(text);
  if (reader.language === "en") return text;
  const { words, whole, field } = CATALOGUES[reader.language];
  if (name === "place") return values["field"] === undefined ? whole : fill(reader, field, values);
  const few: Readonly<Record<string, Readonly<Record<string, string>>>> = words;
  const known = Object.hasOwn(few, name) ? few[name] : undefined;
  return known && Object.hasOwn(known, text) ? fill(reader, known[text] ?? "", values) : text;
}
