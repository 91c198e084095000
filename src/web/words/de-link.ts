import type { enLink } from "./en-link.ts";

/** Messages of the answer link page, in German. */
export const deLink: Readonly<Record<keyof typeof enLink, string>> = {
  "event.linked": "{name} hat einen Antwortlink erstellt",
  "link.as": "Sie antworten als {name}.",
  "link.personal":
    "Dieser Link gilt nur für {name} und nur für diese Frage. Wenn Sie das nicht sind, schließen Sie diese Seite.",
  "link.bad": "Dieser Link funktioniert nicht.",
  "link.badAbout": "Er wurde widerrufen oder nicht vollständig kopiert. Bitten Sie den Absender um einen neuen.",
  "link.yours": "Sie haben diese Frage beantwortet; dieser Link kann nicht noch einmal verwendet werden.",
  "link.closed": "Diese Frage ist abgeschlossen und kann nicht mehr beantwortet werden.",
  "link.voted": "Sie haben „{answer}“ gewählt: {n} von {need}. Bis zur Entscheidung können Sie das hier ändern.",
  "link.kept": "Ihr Text wurde nicht gesendet:",
  "link.send": "Antworten",
  "link.sendWords": "Eigene Antwort senden",
  "link.undo": "Sie können das noch {span} lang rückgängig machen.",
  "way.unproven": "{channel}, nicht nachgewiesen",
};
