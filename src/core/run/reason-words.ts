import type { Language } from "../text/language.ts";

const en = {
  "reason.none": "no reason given",
  "reason.input_timeout": "nobody answered in time",
  "reason.run_cancelled": "the run was cancelled",
  "reason.withdrawn": "withdrawn",
  "reason.agent_error": "the agent failed",
  "reason.agent_killed": "the agent process was killed",
  "reason.tools_lost": "the agent lost its tools",
  "reason.worker_lost": "how the agent ended is unknown",
  "reason.api_error": "the model’s API did not work",
  "reason.usage_limit": "the usage limit of the agent’s account is reached",
  "reason.not_logged_in": "the agent is not logged in; log it in on its machine, then resume the run",
  "reason.start_failed": "the agent could not be started",
  "reason.resume_failed": "the agent did not accept the answer",
  "reason.launch_lost": "its start command is missing on its machine",
  "reason.callback_failed": "the callback address could not be reached",
  "reason.error_max_turns": "the agent reached its turn limit",
  "reason.error_during_execution": "the agent failed",
  "reason.step_failed": "a step failed",
  "reason.step_timeout": "a step took too long",
  "reason.step_unknown": "the worker stopped during a step, and how the step ended is unknown",
  "reason.exit_code": "a program failed",
  "reason.http_status": "a request was refused",
  "reason.tool_failed": "a tool failed",
  "reason.unknown_tool": "a step names a tool that is not there",
  "reason.ambiguous_tool": "several servers have the tool of a step",
  "reason.not_connected": "an MCP server did not start",
  "reason.agent_failed": "the agent of a step failed",
  "reason.bad_output": "the agent of a step did not report what it should",
  "reason.branch_failed": "a branch failed",
  "reason.bad_expression": "an expression met a value it cannot use",
  "reason.budget_used": "the budget is used up",
  "reason.nothing_changed": "nothing was changed",
  "reason.low_confidence": "the agent was too unsure",
  "reason.row_damaged": "a part of it was damaged in the store",
} as const;
type ReasonKey = keyof typeof en;

const de: Readonly<Record<ReasonKey, string>> = {
  "reason.none": "ohne Angabe",
  "reason.input_timeout": "niemand hat rechtzeitig geantwortet",
  "reason.run_cancelled": "der Lauf wurde abgebrochen",
  "reason.withdrawn": "zurückgezogen",
  "reason.agent_error": "der Agent ist fehlgeschlagen",
  "reason.agent_killed": "der Agentenprozess wurde beendet",
  "reason.tools_lost": "der Agent hat seine Tools verloren",
  "reason.worker_lost": "es ist unbekannt, wie der Agent endete",
  "reason.api_error": "die API des Modells hat nicht funktioniert",
  "reason.usage_limit": "das Nutzungslimit des Agentenkontos ist erreicht",
  "reason.not_logged_in":
    "der Agent ist nicht angemeldet; melden Sie ihn auf seinem Rechner an und setzen Sie den Lauf dann fort",
  "reason.start_failed": "der Agent konnte nicht gestartet werden",
  "reason.resume_failed": "der Agent hat die Antwort nicht angenommen",
  "reason.launch_lost": "sein Startbefehl fehlt auf seinem Rechner",
  "reason.callback_failed": "die Callback-Adresse war nicht erreichbar",
  "reason.error_max_turns": "der Agent hat sein Rundenlimit erreicht",
  "reason.error_during_execution": "der Agent ist fehlgeschlagen",
  "reason.step_failed": "ein Schritt ist gescheitert",
  "reason.step_timeout": "ein Schritt hat zu lange gedauert",
  "reason.step_unknown": "der Prozess endete während eines Schritts, und es ist unbekannt, wie der Schritt endete",
  "reason.exit_code": "ein Programm ist gescheitert",
  "reason.http_status": "eine Anfrage wurde abgelehnt",
  "reason.tool_failed": "ein Werkzeug ist gescheitert",
  "reason.unknown_tool": "ein Schritt nennt ein Werkzeug, das es nicht gibt",
  "reason.ambiguous_tool": "mehrere Server haben das Werkzeug eines Schritts",
  "reason.not_connected": "ein MCP-Server ist nicht gestartet",
  "reason.agent_failed": "der Agent eines Schritts ist gescheitert",
  "reason.bad_output": "der Agent eines Schritts hat nicht gemeldet, was er sollte",
  "reason.branch_failed": "ein Zweig ist gescheitert",
  "reason.bad_expression": "ein Ausdruck traf auf einen Wert, mit dem er nichts anfangen kann",
  "reason.budget_used": "das Budget ist aufgebraucht",
  "reason.nothing_changed": "nichts wurde geändert",
  "reason.low_confidence": "der Agent war zu unsicher",
  "reason.row_damaged": "ein Teil davon war im Speicher beschädigt",
};

/** Why questions and runs ended, for the reasons that askd writes itself. */
export const REASONS = { en, de } as const;

/** A reason in words; one that somebody wrote stays as it is. */
export function sayReason(language: Language, reason: string): string {
  const words: Readonly<Record<string, string>> = REASONS[language];
  return words[`reason.${reason}`] ?? reason;
}
