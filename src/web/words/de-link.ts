import type { enLink } from "./en-link.ts";

/** The sentences of the page of an answer link in German. */
export const deLink: Readonly<Record<keyof typeof enLink, string>> = {
  "event.linked": "{name} erstellte einen Antwortlink",
  "link.as": "Sie antworten als {name}.",
  "link.personal":
    "Dieser Link gilt nur für {name} und nur für diese Frage. Wenn Sie das nicht sind, schließen Sie diese Seite.",
  "link.bad": "Dieser Link gilt nicht.",
  "link.badAbout": "Er wurde zurückgezogen oder nur zum Teil kopiert. Bitten Sie den Absender um einen neuen.",
  "link.yours": "Sie haben diese Frage beantwortet; der Link ist verbraucht.",
  "link.closed": "Diese Frage ist abgeschlossen; hier kann nicht mehr geantwortet werden.",
  "link.voted": "Sie wählten „{answer}“: {n} von {need}. Bis es entschieden ist, können Sie das hier ändern.",
  "link.kept": "Das haben Sie geschrieben; es wurde nicht gesendet:",
  "link.send": "Antworten",
  "link.sendWords": "Mit eigenen Worten antworten",
  "link.undo": "Sie können das noch {span} lang zurücknehmen.",
  "way.unproven": "{channel}, nicht belegt",
};
