import { MINUTE_MS } from "../core/instant.ts";
import { parseDuration } from "../core/text/duration.ts";
import type { Path } from "./key.ts";

/**
 * What the file of a project may set. It comes with a repository that anybody may have written, so it names no
 * program, no address, no store, no person and no secret, takes no limit away, and never makes an answer of silence, nor of a time in which nobody can answer.
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
export function refuseInProject(path: Path, value: unknown): string | undefined {
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

/** Nobody can answer that fast, so any policy would be the answer. What is no duration is told of elsewhere. */
function isTooShort(value: unknown): boolean {
  try {
    return typeof value === "string" && parseDuration(value) < MINUTE_MS;
  } catch {
    return false;
  }
}
