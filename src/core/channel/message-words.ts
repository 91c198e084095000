import { type Language, fillIn } from "../text/language.ts";

/** The words of messages to people. `{name}` is a placeholder. */
const en = {
  recommended: "(recommended)",
  open: "Open",
  claim: "I'm on it",
  question: "Agent question",
  "question.of": "Question of run {about}",
  closed: "Question closed",
  test: "This is a test: questions of your agents come this way.",
  reminder: "🔔 Reminder {n}: {title}",

  reply: "Reply",
  "reply.tap": "Tap, or reply to this message",
  "how.items": "{reply} with all answers, like: 1A 2B",
  "how.command": "Answer with: askd answer {id}",
  "how.also": "Or answer with: askd answer {id}",
  "how.words": "{reply} with your answer.",
  "how.keys": "{reply} with {keys}.",
  "how.keys.words": "{reply} with {keys}, or in your own words.",
  "how.denied": "Not all of it is shown here: reply with {keys} to deny it, or allow it with: askd answer {id}",
  several: "(several: A,B)",
  to: "{first} to {last}",

  settling: "⏳ {who} has just answered: {answer}",
  answered: "✅ Answered by {who}: {answer}",
  "answered.policy": "✅ Answered by policy {policy}: {answer}",
  "answered.late": "✅ Answered late by {who}: {answer}",
  timeout: "⌛ Nobody answered in time; the run {then}.",
  assigned: "For {name} now.",
  cancelled: "🚫 Cancelled by {who}: {reason}",
  decide: "you decide",
  clarify: "asked back: {note}",
  votes: "({n} of {need})",
  veto: "(veto)",

  "note.risk": "⚠️ High risk",
  "note.claim": "👀 {name} is on it",
  "note.escalated": "⤴️ Escalated",
  "note.escalated.to": "⤴️ Escalated to {names}",
  "note.away": "🏖 {person} is away; {delegate} gets it too",
  "note.votes": "🗳 {n} of {need} have voted",
  deadline: "⏰ By {time}, then it {then}.",
  "then.wait": "keeps waiting",
  "then.proceed": "goes on by its own judgment",
  "then.skip": "skips",
  "then.default": 'uses "{answer}"',
  "then.escalate": "escalates",
  "then.fail": "fails",
  "then.defer": "is set aside",

  paired: "You are paired as {name}. Questions of your agents come here.",
  claimed: "It is yours; reminders stop.",
  snoozed: "Snoozed for {span}; the deadline stays.",
  counted: "Thank you, your answer counts.",
  thanks: "Thank you.",
  voted: "Your vote counts: {n} of {need}.",
};
export type MessageWord = keyof typeof en;

const de: Readonly<Record<MessageWord, string>> = {
  recommended: "(empfohlen)",
  open: "Öffnen",
  claim: "Ich mache das",
  question: "Frage eines Agenten",
  "question.of": "Frage von Lauf {about}",
  closed: "Frage geschlossen",
  test: "Dies ist ein Test: So erreichen Sie die Fragen Ihrer Agenten.",
  reminder: "🔔 Erinnerung {n}: {title}",

  reply: "Antworten Sie",
  "reply.tap": "Tippen Sie, oder antworten Sie auf diese Nachricht",
  "how.items": "{reply} mit allen Antworten, etwa: 1A 2B",
  "how.command": "Antworten Sie mit: askd answer {id}",
  "how.also": "Oder antworten Sie mit: askd answer {id}",
  "how.words": "{reply} mit Ihrer Antwort.",
  "how.keys": "{reply} mit {keys}.",
  "how.keys.words": "{reply} mit {keys} oder in eigenen Worten.",
  "how.denied": "Hier ist nicht alles zu sehen: Lehnen Sie mit {keys} ab, oder erlauben Sie es mit: askd answer {id}",
  several: "(mehrere: A,B)",
  to: "{first} bis {last}",

  settling: "⏳ {who} hat gerade geantwortet: {answer}",
  answered: "✅ Beantwortet von {who}: {answer}",
  "answered.policy": "✅ Beantwortet nach der Regel {policy}: {answer}",
  "answered.late": "✅ Nachträglich beantwortet von {who}: {answer}",
  timeout: "⌛ Niemand hat rechtzeitig geantwortet; der Lauf {then}.",
  assigned: "Jetzt für {name}.",
  cancelled: "🚫 Zurückgezogen von {who}: {reason}",
  decide: "der Agent entscheidet",
  clarify: "Rückfrage: {note}",
  votes: "({n} von {need})",
  veto: "(Veto)",

  "note.risk": "⚠️ Hohes Risiko",
  "note.claim": "👀 {name} kümmert sich darum",
  "note.escalated": "⤴️ Eskaliert",
  "note.escalated.to": "⤴️ Eskaliert an {names}",
  "note.away": "🏖 {person} ist abwesend; auch {delegate} bekommt die Frage",
  "note.votes": "🗳 {n} von {need} haben abgestimmt",
  deadline: "⏰ Bis {time}. Danach gilt: Der Lauf {then}.",
  "then.wait": "wartet weiter",
  "then.proceed": "entscheidet selbst",
  "then.skip": "überspringt das",
  "then.default": "nimmt „{answer}“",
  "then.escalate": "eskaliert",
  "then.fail": "schlägt fehl",
  "then.defer": "wird zurückgestellt",

  paired: "Sie sind als {name} gekoppelt. Fragen Ihrer Agenten kommen hierher.",
  claimed: "Die Frage gehört Ihnen; es gibt keine Erinnerungen mehr.",
  snoozed: "Zurückgestellt für {span}; die Frist bleibt.",
  counted: "Danke, Ihre Antwort zählt.",
  thanks: "Danke.",
  voted: "Ihre Stimme zählt: {n} von {need}.",
};

const WORDS: Readonly<Record<Language, Readonly<Record<MessageWord, string>>>> = { en, de };

/** A text of a message in the language of its reader. */
export function tellIn(
  language: Language,
  word: MessageWord,
  values: Readonly<Record<string, string | number>> = {},
): string {
  return fillIn(WORDS[language][word], values);
}
