import { body } from "./dom.ts";

/** An answer that the server has not confirmed. */
export interface UnsentAnswer {
  action: string;
  fields: Array<[name: string, value: string]>;
  at: number;
}

const LONGEST_MS = 7 * 86_400_000;
const ANSWER = /^\/q\/[^/]+\/answer$/;

/** True if the request is an answer, which is kept until the server has confirmed it. */
export function isAnswer(action: string): boolean {
  return ANSWER.test(action);
}

/** Keeps an answer in the browser before it is sent: it survives a closed page. The last one for a question counts. */
export function keepUnsent(action: string, fields: URLSearchParams): void {
  const others = listUnsent().filter((each) => each.action !== action);
  write([...others, { action, fields: [...fields], at: Date.now() }]);
}

/** Forgets an answer that the server has replied to. */
export function dropUnsent(action: string): void {
  write(listUnsent().filter((each) => each.action !== action));
}

/** The answers that this person gave in this browser and that the server has not confirmed, oldest first. */
export function listUnsent(): UnsentAnswer[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(storageKey()) ?? "[]");
    return Array.isArray(kept) ? kept.filter(isUnsent) : [];
  } catch {
    return []; // not one of our entries
  }
}

function isUnsent(entry: unknown): entry is UnsentAnswer {
  if (entry === null || typeof entry !== "object" || !("action" in entry && "fields" in entry && "at" in entry))
    return false;
  const isRecent = Date.now() - Number(entry.at) < LONGEST_MS;
  return isRecent && isAnswer(String(entry.action)) && Array.isArray(entry.fields);
}

/** Another person who signs in to the same browser never sends it. */
function storageKey() {
  return `askd:outbox:${body.dataset["me"] ?? ""}`;
}

function write(entries: readonly UnsentAnswer[]) {
  try {
    if (entries.length === 0) localStorage.removeItem(storageKey());
    else localStorage.setItem(storageKey(), JSON.stringify(entries));
  } catch {
    // Storage is full or disabled; the open page still sends it.
  }
}
