import type { Sentence } from "./secret-sentence.ts";
import { findSecretNoun, isKindOfThing, wordSet } from "./secret-word.ts";

/** The context of a sentence. */
export interface SentenceContext {
  part: "text" | "option" | "context";
  hasOptions: boolean;
  /** The question names a secret, so "send it to me" may refer to it. */
  isNamed: boolean;
}

type Clause = readonly string[];

/** The maximum distance between a verb and its object, in words. */
const LONGEST_REACH = 10;
/** How much of a clause is looked at after a verb, so that a text full of verbs takes no longer than others. */
const LONGEST_CLAUSE = 40;
/** How long a line of a list is that only names something. */
const LONGEST_LISTED = 8;

const FILLERS = wordSet(
  `please pls plz kindly just also now hi hey hello ok okay so then and but or first next simply bitte und dann jetzt
  hallo doch mal kurz`,
);
const POLITE = wordSet("please pls plz kindly bitte");
const TO_ASKER = wordSet(
  "me us here below chat reply answer response message dm gimme mir uns hier hierher unten antwort",
);
const OF_READER = wordSet("your ur now dein deine deinen deiner ihr ihre ihren jetzt");
const NEGATIONS = wordSet("not never don't dont nicht nie niemals");
/** Places where a secret belongs. Askers may ask people to put it there. */
const STORES = wordSet(
  `.env env environment vault keychain keyring store manager settings page terminal dialog prompt browser dashboard
  github ci file secrets list header umgebung passwortmanager datei einstellungen tresor`,
);
/** Words after which a sentence is about something else than the secret itself. */
const TURNS = wordSet(
  `of to for in on at from about between before after without whether if when how where why who that once which ob wann
  wo warum wer wenn dass von vom aus mit zu im für ohne bescheid`,
);
const ASKS_ON = wordSet("what which how wie was welche welcher welches welchen welchem");
const VALUES = wordSet("value values content contents string wert inhalt");
const SECRET_FILES = wordSet(".env .netrc id_rsa .npmrc .pgpass kubeconfig");
const BEFORE_NOUN = wordSet(
  "the your our my a an real new right correct der die das den dein deine deinen ihr ihre ihren einen neuen me",
);

const GIVE = wordSet(
  `paste enter provide give gimme send share type tell supply post reveal reply answer respond hand state specify
  submit disclose dm input fill confirm telling giving sending sharing providing typing pasting entering posting
  schick schicke sende gib nenne nenn sag sage verrate poste teile teil antworte übermittle bestätige gibst schickst
  nennst sagst nennen teilen schicken senden geben`,
);
/** Verbs that hand something over only with "me" or "here". */
const GIVE_HERE = wordSet(
  `drop show upload insert copy read pass put forward write leave message email mail text add füge trag trage kopiere
  lies lass tippe tipp schreib schreibe stelle tragen stellen schreiben`,
);
/** German verbs at the end of their clause. */
const GIVE_LAST = wordSet(
  `schicken senden geben eingeben angeben durchgeben nennen mitteilen sagen verraten posten einfügen eintragen zusenden
  übermitteln zukommen bereitstellen stellen eintippen nachreichen schreiben haben bekommen`,
);
const GERMAN_PLURALS = wordSet("nennen teilen schicken senden geben tragen stellen schreiben");
const ABOUT_READER = wordSet("confirm bestätige");
/** Verbs that need no object to ask for one. */
const OBJECTLESS = wordSet("enter type paste provide send share supply tell know");
const BEFORE_PRONOUN = wordSet(
  `me us mir uns over in with bitte the den das your a an new right whole missing real correct fresh valid einen neuen
  what please`,
);
const PRONOUNS = wordSet(
  "it them one ones ihn es sie output result value values string wert inhalt following folgendes",
);
const AFTER_PRONOUN = wordSet("here below to over as in so please now via and then mir uns hier ein bitte mit is");

const ASKS_READER = wordSet(
  "can could would will kannst könntest können könnten würdest würden gibst schickst nennst sagst",
);
const READER = wordSet("you u du sie ihr");
const BEFORE_VERB = wordSet("mind be able to so kind as");
/** How questions about the work begin; the demands in them are proposals. */
const ABOUT_WORK = wordSet(
  `should shall do does did is are was were has have had may must will would can could how where when why who whose if
  soll sollen darf dürfen ist sind hast habe haben hat wird werden wo wann warum wer brauche brauchen kann können ob
  wenn whether after users`,
);
const NEEDS = wordSet("need require want lack missing brauche brauchen benötige benötigen");
const NEEDERS = wordSet("i we i'm we're am are i'd we'd i'll we'll will would ich wir");
const HAVE = wordSet("have get know see");

/** Says whether a sentence asks its reader to hand over a secret. */
export function demandsSecret(sentence: Sentence, setting: SentenceContext): boolean {
  return sentence.clauses.some((clause, index) => {
    const next = sentence.clauses[index + 1]?.[0] ?? "";
    const isBegun = TURNS.has(next) || ASKS_ON.has(next);
    return demandsIn(clause, sentence, setting, isBegun) || needsSecret(clause, sentence, setting);
  });
}

/** Says whether a sentence asks for what the list after it names. */
export function demandsList(sentence: Sentence, part: SentenceContext["part"]): boolean {
  if (!sentence.isLabel || part === "option") return false;
  const named: SentenceContext = { part: "text", hasOptions: false, isNamed: true };
  const clause = sentence.clauses.at(-1) ?? [];
  return findNeed(clause) === clause.length - 1 || demandsIn(clause, sentence, named, false);
}

/** Says whether a line of a list only names a secret. */
export function listsSecret({ clauses, isGerman, isListed }: Sentence): boolean {
  const words = clauses.flat();
  return isListed && words.length <= LONGEST_LISTED && findSecret(words, { isGerman, mayBeWeak: false }) >= 0;
}

function demandsIn(clause: Clause, sentence: Sentence, setting: SentenceContext, isBegun: boolean) {
  const start = skipFillers(clause);
  const isRequest = isRequestAt(clause, start);
  if (clause.some((word) => NEGATIONS.has(word))) return false;
  if (ABOUT_WORK.has(clause[start] ?? "") && !isRequest) return false;
  const isPolite = isRequest || clause.some((word) => POLITE.has(word));
  for (let at = start; at < clause.length; at += 1) {
    if (!isDirected(clause, at, { start, isRequest, part: setting.part })) continue;
    const verb = clause[at] ?? "";
    const reach = reachOf(clause, at);
    const isToAsker = verb === "gimme" || reach.some((word) => TO_ASKER.has(word));
    if (!isFirm(verb, reach, { isSaid: isPolite || !sentence.isQuestion, isToAsker, isPolite, part: setting.part })) {
      continue;
    }
    const mayBeWeak = isToAsker || setting.isNamed;
    const place = findSecret(reach, { isGerman: sentence.isGerman, mayBeWeak });
    if (place >= 0 && (isToAsker || !isStored(reach.slice(place)))) return true;
    if (reach.some((word) => SECRET_FILES.has(word)) && reach.some((word) => VALUES.has(word))) return true;
    if (setting.isNamed && !isBegun && isPronounOnly(verb, reach, isToAsker)) return true;
  }
  return demandsLast(clause, sentence, setting, { isPolite, isBegun });
}

/** Says whether the verb at this place speaks to the reader. */
function isDirected(
  clause: Clause,
  at: number,
  { start, isRequest, part }: { start: number; isRequest: boolean; part: SentenceContext["part"] },
) {
  const word = clause[at] ?? "";
  const before = clause[at - 1] ?? "";
  if (word === "know") return before === "me" && clause[at - 2] === "let";
  if (HAVE.has(word)) return isRequest && at === start + 2;
  if (!GIVE.has(word) && !GIVE_HERE.has(word)) return false;
  // "Schicken wir …?" proposes something; "Schicken Sie …" asks for it.
  if (GERMAN_PLURALS.has(word)) return clause[at + 1] === "sie";
  if (at === start || FILLERS.has(before) || before === "by" || before === "mind") return true;
  const isAfterReader = READER.has(clause[at - 2] ?? "");
  if (isAfterReader && (before === "to" || ASKS_READER.has(before))) return true;
  if (before === "i'll" || (before === "will" && clause[at - 2] === "i")) return part === "option";
  if (!isRequest || at > start + LONGEST_REACH) return false;
  return clause.slice(start + 2, at).every((each) => FILLERS.has(each) || BEFORE_VERB.has(each));
}

function isFirm(
  verb: string,
  reach: Clause,
  said: { isSaid: boolean; isToAsker: boolean; isPolite: boolean; part: SentenceContext["part"] },
) {
  const isOfReader = reach.some((word) => OF_READER.has(word));
  if (ABOUT_READER.has(verb) && !isOfReader) return false;
  if (GIVE_HERE.has(verb) && !said.isToAsker) return false;
  if (said.part === "option") return said.isToAsker || isOfReader;
  if (said.part === "context") return said.isToAsker || said.isPolite;
  return said.isSaid || said.isToAsker;
}

/** The words that belong to a verb: up to the next verb that hands something over. */
function reachOf(clause: Clause, at: number): Clause {
  const rest = clause.slice(at + 1, at + 1 + LONGEST_CLAUSE);
  const next = rest.findIndex(
    (word, index) => FILLERS.has(rest[index - 1] ?? "") && (GIVE.has(word) || GIVE_HERE.has(word)),
  );
  return next > 0 ? rest.slice(0, next) : rest;
}

function isStored(words: Clause) {
  return words.some((word) => STORES.has(word));
}

/** The place of a secret that words name before they turn to something else; less than 0 if they name none. */
export function findSecret(words: Clause, options: { isGerman: boolean; mayBeWeak: boolean }): number {
  for (let place = 0; place < Math.min(words.length, LONGEST_REACH); place += 1) {
    if (turnsAt(words, place)) return -1;
    const noun = findSecretNoun(words, place, options.isGerman);
    const isNamed =
      noun === "strong" || (noun === "weak" && options.mayBeWeak && BEFORE_NOUN.has(words[place - 1] ?? ""));
    if (isNamed) return words.at(-1) === "for" ? -1 : place;
  }
  return -1;
}

/** Says whether the sentence turns to another subject at this word; "fill in" and "the value of" do not. */
export function turnsAt(words: Clause, place: number): boolean {
  const word = words[place] ?? "";
  if (place === 0 && (word === "in" || word === "mit")) return false;
  return TURNS.has(word) && !VALUES.has(words[place - 1] ?? "");
}

/** `me a new one`, `it here`, or no object at all. */
function isPronounOnly(verb: string, words: Clause, isToAsker: boolean) {
  const place = words.findIndex((word) => !BEFORE_PRONOUN.has(word) && !TO_ASKER.has(word));
  if (place < 0) return OBJECTLESS.has(verb) && (isToAsker || words.length === 0);
  if (!PRONOUNS.has(words[place] ?? "")) return false;
  const next = words[place + 1];
  return (next === undefined || AFTER_PRONOUN.has(next)) && (isToAsker || !isStored(words.slice(place)));
}

/** `Bitte das Passwort schicken`, `Token hier einfügen` */
function demandsLast(
  clause: Clause,
  { isGerman }: Sentence,
  { part, isNamed }: SentenceContext,
  { isPolite, isBegun }: { isPolite: boolean; isBegun: boolean },
) {
  const at = clause.findLastIndex((word) => GIVE_LAST.has(word));
  if (at < 0 || clause[at + 1] === "wir" || clause[at + 1] === "sie") return false;
  const words = clause.slice(0, at);
  const isHere = words.some((word) => TO_ASKER.has(word));
  if (words.includes("bescheid") || (!isHere && isStored(words))) return false;
  if (part === "text" ? !isPolite && !isHere : !isHere) return false;
  const nouns = words.map((_, place) => findSecretNoun(words, place, isGerman));
  if (nouns.includes("strong") || (nouns.includes("weak") && isHere)) return true;
  return isNamed && !isBegun && words.length <= 4;
}

function needsSecret(clause: Clause, { isGerman, isQuestion }: Sentence, { part, hasOptions }: SentenceContext) {
  if (part !== "text" || hasOptions || isQuestion || ABOUT_WORK.has(clause[0] ?? "")) return false;
  const at = findNeed(clause);
  if (at < 0 || clause.some((word) => NEGATIONS.has(word))) return false;
  const after = clause[at + 1] ?? "";
  const skipped = after === "to" && HAVE.has(clause[at + 2] ?? "") ? 2 : NEEDERS.has(after) ? 1 : 0;
  const object = clause.slice(at + 1 + skipped);
  const place = findSecret(object, { isGerman, mayBeWeak: false });
  if (place < 0 || (object[place + 1] === "to" && object[place + 2] === "be")) return false;
  return BEFORE_NOUN.has(object[0] ?? "") || !isKindOfThing(object[place] ?? "");
}

/** The place where somebody says that they need something; less than 0 if nobody does. */
function findNeed(clause: Clause) {
  return clause.findIndex((word, at) => {
    const before = clause[at - 1] ?? "";
    if (word === "like") return before === "i'd" || before === "we'd";
    if (word === "fehlt" || word === "fehlen") return before === "mir" || before === "uns";
    if (!NEEDS.has(word)) return false;
    return (at === 0 && word === "need") || NEEDERS.has(before) || (at > 0 && clause[at + 1] === "ich");
  });
}

function isRequestAt(clause: Clause, start: number) {
  const [opener = "", subject = "", verb = ""] = clause.slice(start, start + 3);
  if (ASKS_READER.has(opener) && READER.has(subject)) return true;
  if (["can", "could", "may"].includes(opener) && ["i", "we"].includes(subject)) return HAVE.has(verb);
  if (!["darf", "kann", "könnte"].includes(opener) || subject !== "ich") return false;
  return ["haben", "bekommen"].includes(clause.at(-1) ?? "");
}

/** The place of the first word that is not a greeting, "please" or "and". */
export function skipFillers(clause: Clause): number {
  const begin = clause[0] === "if" && (clause[1] === "so" || clause[1] === "yes") ? 2 : 0;
  const place = clause.findIndex((word, index) => index >= begin && !FILLERS.has(word));
  return place < 0 ? clause.length : place;
}
