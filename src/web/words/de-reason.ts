import type { enReason } from "./en-reason.ts";

/** Why a run ended or a question was withdrawn, in German. */
export const deReason: Readonly<Record<keyof typeof enReason, string>> = {
  "reason.none": "ohne Angabe",
  "reason.input_timeout": "niemand antwortete rechtzeitig",
  "reason.run_cancelled": "der Lauf wurde abgebrochen",
  "reason.withdrawn": "vom Agenten zurückgezogen",
  "reason.agent_error": "der Agent scheiterte",
  "reason.agent_killed": "der Agent wurde von außen beendet",
  "reason.tools_lost": "der Agent verlor seine Werkzeuge",
  "reason.worker_lost": "wie der Agent endete, ist nicht bekannt",
  "reason.not_logged_in":
    "der Agent ist nicht angemeldet; melden Sie ihn auf seinem Rechner an und setzen Sie den Lauf dann fort",
  "reason.start_failed": "der Agent ließ sich nicht starten",
  "reason.resume_failed": "der Agent nahm die Antwort nicht an",
  "reason.launch_lost": "womit er gestartet wurde, ist auf seinem Rechner nicht mehr da",
  "reason.callback_failed": "die Adresse für den Rückruf war nicht erreichbar",
  "reason.error_max_turns": "der Agent hat alle seine Züge verbraucht",
  "reason.error_during_execution": "der Agent scheiterte",

  "scope.agent": "Agent",
  "scope.human": "Person",
  "scope.admin": "Verwalter",
  "scope.login": "Anmeldung",
  "scope.link": "Antwortlink",
  "policy.confidence": "sicher genug",
  quoted: "„{text}“",
  "key.ctrl": "Strg",
  "tpl.bad": "Das lässt sich so nicht speichern: {fields}",
  "problem.internal": "Hier ist etwas schiefgegangen; es wurde aufgeschrieben.",
};
