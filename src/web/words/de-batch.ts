import type { enBatch } from "./en-batch.ts";

/** Messages of batch answers, the palette and the list, in German. */
export const deBatch: Readonly<Record<keyof typeof enBatch, string>> = {
  "batch.title": "Mehrere beantworten",
  "batch.about":
    "Wählen Sie die Fragen aus, die dieselbe Antwort bekommen. Dieselbe Frage mehrerer Läufe steht nur einmal in der Liste.",
  "batch.risky":
    "Fragen mit hohem Risiko, Freigaben und Fragen, die mehrere Personen brauchen, werden einzeln beantwortet.",
  "batch.none": "Keine wartende Frage kann gemeinsam mit anderen beantwortet werden.",
  "batch.runs": "{n} Läufe: {names}",
  "batch.answer": "Dieselbe Antwort für alle",
  "batch.words": "Option oder eigene Antwort",
  "batch.template": "Vorlage: {name}",
  "batch.partial": "Angezeigt werden nur Optionen, die alle anbieten; manche bieten mehr an.",
  "batch.differ":
    "Ihre Optionen unterscheiden sich. Schreiben Sie eine Antwort, die zu allen passt, oder verwenden Sie eine Vorlage.",
  "batch.wordless":
    "Ihre Optionen unterscheiden sich, und {n} davon lassen nichts anderes zu. Beantworten Sie diese einzeln.",
  "batch.wordless.one":
    "Ihre Optionen unterscheiden sich, und eine davon lässt nichts anderes zu. Beantworten Sie diese einzeln.",
  "batch.note": "Notiz an die Agenten",
  "batch.check": "Vorschau",
  "batch.missing": "Wählen Sie mindestens eine Frage aus, und wählen oder schreiben Sie dann eine Antwort.",
  "batch.confirm": "Diese Fragen werden beantwortet",
  "batch.refused": "Diese Fragen werden nicht beantwortet",
  "batch.send": "{n} beantworten",
  "batch.sendWith": "{n} mit „{answer}“ beantworten",
  "batch.back": "Ändern",
  "batch.allDone": "{n} beantwortet",
  "batch.done": "{n} beantwortet, {failed} nicht",
  "batch.not": "Nicht beantwortet, nichts wurde geändert:",
  "batch.text": "Ihr Text",
  "batch.undo": "Alle rückgängig machen",
  "batch.undone": "{n} rückgängig gemacht. Die Agenten haben nichts erhalten.",
  "batch.inbox": "Zur Inbox",
  "batch.selected": "{n} ausgewählt",
  "batch.selectAll": "Alle",
  "batch.clear": "Keine",
  "batch.single": "Diese Frage kann nur einzeln beantwortet werden.",
  "keys.tick": "für eine gemeinsame Antwort auswählen",
  "keys.range": "Auswahl erweitern",
  "keys.palette": "Befehlspalette",
  "palette.about": "Frage, Seite oder Befehl",
  "palette.run": "Lauf #{n} öffnen",
  "palette.find": "Fragen nach „{text}“ durchsuchen",
  "row.runs": "{n} Läufe",
  "row.tick": "„{title}“ auswählen",
  "batch.same.one": "Auch Lauf {names} beantworten, der dieselbe Frage stellt.",
  "batch.same": "Auch {n} weitere Läufe beantworten, die dieselbe Frage stellen: {names}",
  "batch.same.more": "und {n} weitere",
  "batch.same.more.one": "und ein weiterer",
};
