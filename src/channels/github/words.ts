import type { TimeoutPolicy } from "../../core/question/timeout-policy.ts";
import { type Language, fillIn } from "../../core/text/language.ts";

/** The sentences of a comment. Its headings are the same in every language: people and programs look for them. */
const en = {
  intro: "The automated workflow needs your input to proceed.",
  context: "Why, and what is known",
  hidden: "Not shown here: {words} words, {blocks} code blocks.",
  "hidden.cut": "The rest is too long for a comment.",
  keys: "Reply with {keys} (a reason below it is passed on)",
  tick: "tick a box",
  react: "react with 👍 for {first} or 👎 for {second}",
  own: "or write your own answer",
  or: "or",
  command: "With several questions here: `/answer {id} …`",
  deadline: "If nobody answers by **{time}**, the workflow will **{then}**.",
  "then.wait": "keep waiting",
  "then.proceed": "proceed by its own judgment",
  "then.skip": "skip this issue",
  "then.default": "use “{answer}”",
  "then.escalate": "escalate",
  "then.fail": "fail",
  "then.defer": "set this issue aside",
  never: "There is no deadline.",
  question: "The question",
};
type Word = keyof typeof en;

const de: Readonly<Record<Word, string>> = {
  intro: "Der automatische Ablauf braucht Ihre Antwort.",
  context: "Warum, und was bekannt ist",
  hidden: "Hier nicht gezeigt: {words} Wörter, {blocks} Blöcke mit Code.",
  "hidden.cut": "Der Rest ist für einen Kommentar zu lang.",
  keys: "Antworten Sie mit {keys} (eine Begründung darunter wird weitergegeben)",
  tick: "haken Sie ein Kästchen an",
  react: "reagieren Sie mit 👍 für {first} oder 👎 für {second}",
  own: "oder schreiben Sie Ihre eigene Antwort",
  or: "oder",
  command: "Bei mehreren Fragen hier: `/answer {id} …`",
  deadline: "Bis **{time}**. Danach gilt: Der Lauf {then}.",
  "then.wait": "wartet weiter",
  "then.proceed": "entscheidet selbst",
  "then.skip": "wird übersprungen",
  "then.default": "nimmt „{answer}“",
  "then.escalate": "eskaliert",
  "then.fail": "schlägt fehl",
  "then.defer": "wird aufgeschoben",
  never: "Es gibt keine Frist.",
  question: "Die Frage",
};

const WORDS: Readonly<Record<Language, Readonly<Record<Word, string>>>> = { en, de };

/** A sentence of a comment in the language of its readers. */
export function word(language: Language, name: Word, values: Readonly<Record<string, string | number>> = {}): string {
  return fillIn(WORDS[language][name], values);
}

/** The consequence of silence for the workflow. */
export function sayThen(language: Language, policy: TimeoutPolicy, answer: string | undefined): string {
  return word(language, `then.${policy}`, { answer: answer ?? "" });
}
