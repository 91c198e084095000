import type { enBatch } from "./en-batch.ts";

/** The sentences of answering several questions at once in German. */
export const deBatch: Readonly<Record<keyof typeof enBatch, string>> = {
  "batch.title": "Mehrere beantworten",
  "batch.about": "Haken Sie an, was dieselbe Antwort bekommt. Dieselbe Frage mehrerer Läufe steht nur einmal da.",
  "batch.risky": "Hohes Risiko, Freigaben und was mehrere entscheiden, wird einzeln beantwortet.",
  "batch.none": "Es wartet nichts, was zusammen beantwortet werden könnte.",
  "batch.runs": "{n} Läufe: {names}",
  "batch.answer": "Die Antwort: ein Buchstabe, eine Option beim Namen oder Worte",
  "batch.template": "Oder eine vorbereitete Antwort",
  "batch.note": "Notiz für die Agenten",
  "batch.check": "Zeigen, was geschähe",
  "batch.missing": "Haken Sie mindestens eine Frage an, und schreiben oder wählen Sie eine Antwort.",
  "batch.confirm": "Das wird beantwortet",
  "batch.refused": "Das nicht",
  "batch.send": "{n} beantworten",
  "batch.back": "Ändern",
  "batch.done": "{n} beantwortet, {failed} nicht",
  "batch.not": "Nicht beantwortet; nichts wurde geändert:",
  "batch.text": "Was Sie geschrieben haben",
};
