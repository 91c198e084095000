import type { enReason } from "./en-reason.ts";

/** Reasons stored with runs and questions, scopes and other short words, in German. */
export const deReason: Readonly<Record<keyof typeof enReason, string>> = {
  "reason.none": "ohne Angabe",
  "reason.input_timeout": "niemand hat rechtzeitig geantwortet",
  "reason.run_cancelled": "der Lauf wurde abgebrochen",
  "reason.withdrawn": "zurückgezogen",
  "reason.agent_error": "der Agent ist fehlgeschlagen",
  "reason.agent_killed": "der Agentenprozess wurde beendet",
  "reason.tools_lost": "der Agent hat seine Tools verloren",
  "reason.worker_lost": "es ist unbekannt, wie der Agent endete",
  "reason.not_logged_in":
    "der Agent ist nicht angemeldet; melden Sie ihn auf seinem Rechner an und setzen Sie den Lauf dann fort",
  "reason.start_failed": "der Agent konnte nicht gestartet werden",
  "reason.resume_failed": "der Agent hat die Antwort nicht angenommen",
  "reason.launch_lost": "sein Startbefehl fehlt auf seinem Rechner",
  "reason.callback_failed": "die Callback-Adresse war nicht erreichbar",
  "reason.error_max_turns": "der Agent hat sein Rundenlimit erreicht",
  "reason.error_during_execution": "der Agent ist fehlgeschlagen",

  "scope.agent": "Agent",
  "scope.human": "Person",
  "scope.admin": "Admin",
  "scope.login": "Anmeldung",
  "scope.link": "Antwortlink",
  "policy.confidence": "Konfidenz",
  quoted: "„{text}“",
  "key.ctrl": "Strg",
  "tpl.bad": "Nicht gespeichert. Prüfen Sie diese Felder: {fields}",
  "problem.internal": "Ein interner Fehler ist aufgetreten. Die Details stehen im Server-Log.",
};
