import type { FactName, Facts } from "../../core/refusal-fact.ts";
import { type Flaw, sayFlaw } from "../../core/trail/trail-mismatch.ts";
import type { Refusal, RefusalCode } from "../../core/refusal.ts";
import { RunStatus } from "../../core/run/run.ts";
import { deRefusal } from "./de-refusal.ts";
import { type Reader, tell, tellSpan } from "../parts/reader.ts";
import type { Language } from "./words.ts";

/** What a language needs to say of refusals; English is what core says itself. */
export interface RefusalCatalogue {
  facts: Readonly<Record<FactName, string>>;
  /** For those that say no more than their code. */
  codes: Readonly<Record<RefusalCode, string>>;
  /** Parts of sentences that are one of a few. */
  words: {
    what: Readonly<Record<Facts["too_long"]["what"], string>>;
    must: Readonly<Record<Facts["mismatch"]["must"], string>>;
    then: Readonly<Record<Facts["timed_out"]["then"], string>>;
    question: Readonly<Record<Facts["uncorrectable"]["question"], string>>;
  };
  /** What a typed answer is called that has no fields, and one of its fields otherwise. */
  whole: string;
  field: string;
  flaws: Readonly<Record<Flaw["is"], string>>;
}

const CATALOGUES: Readonly<Record<Exclude<Language, "en">, RefusalCatalogue>> = { de: deRefusal };

type Speaker = Pick<Reader, "language">;
type Values = Readonly<Record<string, unknown>>;

/** Why something was refused, in the reader's words: what is so, and what to do next. */
export function refusalWords(reader: Speaker, refusal: Refusal): string {
  const { message, hint, fact, code, retryAfterMs = 0 } = refusal;
  if (reader.language === "en") {
    const said = sentence(message);
    return hint === undefined ? said : `${said.replace(/[^.!?…]$/, "$&.")} ${sentence(hint)}`;
  }
  const { facts, codes } = CATALOGUES[reader.language];
  return fact ? fill(reader, facts[fact.is], { ...fact }) : fill(reader, codes[code], { retryMs: retryAfterMs });
}

/** What core says, as it is written on a page; what is typed into a terminal stays as it is. */
function sentence(text: string): string {
  if (/\baskd \w|--\w/.test(text)) return text;
  const quoted = text.replace(/"([^"]*)"/g, "“$1”");
  return /[.!?…]$/.test(quoted) ? quoted : `${quoted}.`;
}

/** What is wrong with the trail, in the reader's words. */
export function flawWords(reader: Speaker, flaw: Flaw): string {
  return reader.language === "en"
    ? sayFlaw(flaw)
    : fill(reader, CATALOGUES[reader.language].flaws[flaw.is], { ...flaw });
}

function fill(reader: Speaker, pattern: string, values: Values): string {
  return pattern.replace(/\{(\w+)\}/g, (_, name: string) => sayValue(reader, name, values));
}

/** A value as it stands in a sentence; its name says what it is. */
function sayValue(reader: Speaker, name: string, values: Values): string {
  const value = values[name];
  if (typeof value === "number") return name.endsWith("Ms") ? tellSpan(reader, value, 2) : String(value);
  if (Array.isArray(value)) return value.join(", ");
  const text = typeof value === "string" ? value : "";
  if (name === "status" || name === "told") return statusWords(reader, text);
  if (reader.language === "en") return text;
  const { words, whole, field } = CATALOGUES[reader.language];
  if (name === "place") return values["field"] === undefined ? whole : fill(reader, field, values);
  const few: Readonly<Record<string, Readonly<Record<string, string>>>> = words;
  const known = Object.hasOwn(few, name) ? few[name] : undefined;
  return known && Object.hasOwn(known, text) ? fill(reader, known[text] ?? "", values) : text;
}

/** The state of a run or a question. */
function statusWords(reader: Speaker, text: string): string {
  const run = RunStatus.safeParse(text);
  if (run.success) return tell(reader, `state.${run.data}`);
  return text === "pending" || text === "answered" || text === "timeout" ? tell(reader, `status.${text}`) : text;
}
