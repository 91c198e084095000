import { MINUTE_MS } from "../core/instant.ts";
import { parseDuration } from "../core/text/duration.ts";
import type { KeyPath } from "../edit/table.ts";

/**
 * The keys a project's file may set. Anybody may have written the repository, so it names no program, address, store,
 * person or secret, lifts no limit, and never lets silence, or a time too short to answer in, become an answer.
 */
const PROJECT_KEYS: readonly string[] = [
  "questions.live_window",
  "questions.timeout",
  "questions.on_timeout",
  "questions.max_per_run",
  "answers.undo_window.cli",
  "notifications.terminal_bell",
  "notifications.macos_notification",
];
const SILENCE_ANSWERS: readonly unknown[] = ["proceed", "default"];

/** Why a project's file may not say this; nothing if it may. */
export function refuseInProject(path: KeyPath, value: unknown): string | undefined {
  const key = path.join(".");
  if (!PROJECT_KEYS.includes(key)) return `A project may not set ${key}`;
  if (key === "questions.on_timeout" && SILENCE_ANSWERS.includes(value)) {
    return `A project may not make silence an answer: ${key} = "${String(value)}"`;
  }
  if (key === "questions.timeout" && isTooShort(value)) {
    return `A project may not leave people less than a minute: ${key} = "${String(value)}"`;
  }
  return undefined;
}

/**
 * Says whether a timeout is too short to answer in, so that the policy would always decide. Invalid durations are
 * reported elsewhere.
 */
function isTooShort(value: unknown) {
  try {
    return typeof value === "string" && parseDuration(value) < MINUTE_MS;
  } catch {
    return false;
  }
}
