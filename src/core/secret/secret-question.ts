import type { Content, Item } from "../question/content.ts";
import {
  type SentenceContext,
  demandsList,
  demandsSecret,
  findSecret,
  listsSecret,
  skipFillers,
  turnsAt,
} from "./secret-demand.ts";
import { type Sentence, namesSecret, sentencesOf } from "./secret-sentence.ts";
import { findSecretNoun, isKindOfThing, isPassword, wordSet } from "./secret-word.ts";

const LONGEST_LABEL = 9;
const QUESTION_WORDS = wordSet("what which was wie welches welchen welche welcher welchem");
const IS = wordSet("is are was ist sind lautet lauten heißt steht");
const SUBJECTS = wordSet("i we ich wir");
const MODALS = wordSet("should shall do can must am soll sollen muss kann");
const USE = wordSet(
  `use enter type set put take configure write insert pass fill supposed log sign verwenden benutzen nehmen eintragen
  eingeben angeben nutzen anmelden einloggen`,
);
const ANSWERED = wordSet("it they es er sie");
const FOR_ASKER = /\b(?:for me|for us|für mich|für uns)$/u;
const AFTER_GERMAN_NOUN = wordSet("für von vom des der zum zur auf bei im in beim zu bitte");
/** Words with which a short line is no label of a field: "Rotate token?" proposes something. */
const NOT_IN_LABEL = wordSet(
  `add allow ask build cache change check copy create delete disable drop encrypt expire expose generate hash hide
  include invalidate issue keep log mask move need new no old print purge read redact refresh remove rename renew
  replace require reset return reuse revoke rotate same save send separate set share show skip store strip trim use
  validate verify which what any either whose or oder is are should does do has have can may will how where when why
  who tell give type enter provide only per via soll ist darf welche welcher welches wie was wo wer wem gehört kein ob
  max many first last by as that i we you wir ich brauchen brauche`,
);
const AFTER_LABEL = wordSet("for of please pls für von vom des bitte");
/** How the secrets of well-known services begin. */
const SECRET_SHAPE = /^(?:sk-|ghp_|gho_|github_pat_|xox[abp]-|glpat-|akia|eyj)/iu;

/** Says whether a question asks for a password, key or token, in time linear in its length. */
export function asksForSecret({ items, context = "" }: Pick<Content, "items" | "context">): boolean {
  const inContext: SentenceContext = { part: "context", hasOptions: true, isNamed: false };
  return items.some(asksInItem) || asksIn(sentencesOf(context, "context"), inContext);
}

function asksInItem({ text, header = "", options, placeholder = "" }: Item) {
  const hasOptions = options.length > 0;
  const isNamed = namesSecret(text) || namesSecret(header);
  const offers = options.flatMap(({ label, description = "" }) => [label, description]);
  return (
    asksIn(sentencesOf(text, "text"), { part: "text", hasOptions, isNamed }) ||
    [placeholder, ...offers].some((each) =>
      asksIn(sentencesOf(each, "text"), { part: "option", hasOptions, isNamed }),
    ) ||
    SECRET_SHAPE.test(placeholder) ||
    (/^(?:your|dein|ihr)/iu.test(placeholder) && namesSecret(placeholder))
  );
}

function asksIn(sentences: readonly Sentence[], setting: SentenceContext) {
  let isDemanded = false;
  for (const sentence of sentences) {
    if (isDemanded && listsSecret(sentence)) return true;
    isDemanded = sentence.isListed ? isDemanded : demandsList(sentence, setting.part);
    if (demandsSecret(sentence, setting) || (setting.part === "text" && inquiresSecret(sentence, setting))) return true;
  }
  return false;
}

/** Says whether a sentence asks for the value of a secret. With options it asks which one to take. */
function inquiresSecret(sentence: Sentence, setting: SentenceContext) {
  if (setting.hasOptions) return false;
  return sentence.clauses.some((clause) => inquiresIn(clause, sentence, setting)) || isField(sentence);
}

function inquiresIn(clause: readonly string[], { isGerman }: Sentence, { isNamed }: SentenceContext) {
  const said = clause.slice(skipFillers(clause));
  const words = said[0] === "with" || said[0] === "mit" ? said.slice(1) : said;
  const [first = "", second = "", third = ""] = words;
  const strong = { isGerman, mayBeWeak: false };
  if (first === "value" || first === "wert") return findSecret(words, strong) >= 0;
  if (first === "what's" || first === "whats") return isValueOf(words.slice(1), isGerman, isNamed);
  if (!QUESTION_WORDS.has(first)) return isThereOne(words, isGerman);
  if (second === "heißt" && !words.some(isPassword)) return isNamed && ANSWERED.has(third) && words.length === 3;
  if (IS.has(second)) return isValueOf(words.slice(2), isGerman, isNamed);
  if (second === "value" || second === "wert") return words.some((_, place) => isSecret(words, place, isGerman));
  if (MODALS.has(second) && SUBJECTS.has(third)) return isToBeUsed(words.slice(3), isGerman, isNamed);
  if (second === "should" && words.at(-1) === "be") {
    return isNamed && (third === "it" || findSecret(words.slice(2, -1), strong) >= 0);
  }
  return isWhichToUse(words, isGerman);
}

/** `the password of the server`, or `it` where a secret was named. */
function isValueOf(given: readonly string[], isGerman: boolean, isNamed: boolean) {
  const words = given[0] === "bei" ? given.slice(1) : given;
  if (isNamed && ANSWERED.has(words[0] ?? "") && words.length === 1) return true;
  if (isNamed && /^the (?:new|right|correct) one$/u.test(words.join(" "))) return true;
  if (words[0] === "in")
    return words.some((word) => word.includes("_") && findSecretNoun([word], 0, false) === "strong");
  const place = findSecret(words, { isGerman, mayBeWeak: isNamed });
  if (place < 0 || isKindOfThing(words[place] ?? "")) return false;
  // "Wie ist das Passwort gehasht?" asks about something else.
  const next = words[place + 1];
  return !isGerman || next === undefined || AFTER_GERMAN_NOUN.has(next);
}

/** `do you have a token for me`, `is there a password I should use` */
function isThereOne(words: readonly string[], isGerman: boolean) {
  const [first = "", second = ""] = words;
  const isAsked = ["do you", "have you", "hast du", "haben sie", "is there", "gibt es"].includes(`${first} ${second}`);
  if (!isAsked) return false;
  const place = words.findIndex((_, index) => isSecret(words, index, isGerman));
  if (place < 0) return false;
  return FOR_ASKER.test(words.join(" ")) || (first === "is" && SUBJECTS.has(words[place + 1] ?? ""));
}

/** `set OPENAI_API_KEY to`, or `type there` where a secret was named. */
function isToBeUsed(words: readonly string[], isGerman: boolean, isNamed: boolean) {
  const [verb = "", ...rest] = words;
  const options = { isGerman, mayBeWeak: false };
  if (isGerman) return words.some((word) => USE.has(word)) && findSecret(words.slice(1), options) >= 0;
  if (!USE.has(verb)) return false;
  if (isNamed && ["", "there", "in there"].includes(rest.join(" "))) return true;
  return findSecret(["for", "as", "in", "into"].includes(rest[0] ?? "") ? rest.slice(1) : rest, options) >= 0;
}

/** `which password does the user have`, `welches Passwort soll ich verwenden` */
function isWhichToUse(words: readonly string[], isGerman: boolean) {
  const place = words.findIndex((_, index) => isSecret(words, index, isGerman));
  if (place < 1 || place > 4 || isKindOfThing(words[place] ?? "")) return false;
  if (words.some((_, index) => index > 0 && index < place && turnsAt(words, index))) return false;
  const [verb = "", subject = "", ...rest] = words.slice(place + 1);
  if (MODALS.has(verb) && SUBJECTS.has(subject)) return rest.some((word) => USE.has(word));
  if (verb === "did" || verb === "do" || verb === "have") return subject === "you";
  if (verb === "does") return rest.at(-1) === "have";
  if (verb === "hat" || verb === "hast") return true;
  return isPassword(words[place] ?? "") && ["was", "unlocks", "opens", "works"].includes(verb);
}

/** A line that is only the name of a secret, like the label of a field: "DB password?", "Token:". */
function isField({ clauses, isGerman, isQuestion, isLabel }: Sentence) {
  const words = clauses.flat();
  const isPolite = words.some((word) => /^(?:please|pls|bitte)$/u.test(word));
  const place = words.findIndex((_, index) => isSecret(words, index, isGerman));
  if (place < 0 || place > 3 || words.length > LONGEST_LABEL || isKindOfThing(words[place] ?? "")) return false;
  if (words.some((word) => NOT_IN_LABEL.has(word))) return false;
  const next = words[place + 1];
  return (next === undefined || AFTER_LABEL.has(next)) && (isQuestion || isLabel || isPolite || words.length === 1);
}

function isSecret(words: readonly string[], place: number, isGerman: boolean) {
  return findSecretNoun(words, place, isGerman) === "strong";
}
