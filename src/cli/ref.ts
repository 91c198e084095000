import { QuestionId, RunId } from "../core/id.ts";
import { Refusal } from "../core/refusal.ts";
import type { NameReference } from "../store/store.ts";

const MAX_CHARS = 2000;

/** One way to look up a name. A `short` may say which kind of thing it names. */
export type Lookup =
  | { by: "question"; id: QuestionId }
  | { by: "run"; id: RunId }
  | { by: "only" }
  | (NameReference & { only?: "question" | "run" });

/** Parses the name of a question or a run into look-ups to try in order. */
export function parseRef(text: string): Lookup[] {
  const name = text.trim();
  if (name === "" || name.length > MAX_CHARS) {
    throw new Refusal("bad_input", "An id cannot be empty", { hint: "See what is waiting: askd list" });
  }
  if (name === "-") return [{ by: "only" }];
  if (/^https?:\/\//i.test(name)) return parseRef(pathName(name));
  return [...byId(name), ...byNumber(name), ...byName(name), ...byShort(name)];
}

/** The part of a pasted address that names something: `/q/7k3f`, `/runs/42`, `/sessions/abc`. */
function pathName(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const found = /\/(q|questions|r|runs|sessions)\/([^/]+)/.exec(url?.pathname ?? "");
  if (!found?.[1] || !found[2]) {
    throw new Refusal("bad_input", "The address is not of a question or a run", {
      hint: "Paste one like http://127.0.0.1:4319/q/7k3f, or see: askd list",
    });
  }
  const name = decode(found[2]);
  const isQuestion = found[1] === "q" || found[1] === "questions";
  return isQuestion && /^[0-9a-z]+$/i.test(name) ? `q-${name}` : name;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a stray percent sign: look it up as typed
  }
}

function byId(name: string): Lookup[] {
  const question = QuestionId.safeParse(name.toLowerCase());
  if (question.success) return [{ by: "question", id: question.data }];
  const run = RunId.safeParse(name.toLowerCase());
  return run.success ? [{ by: "run", id: run.data }] : [];
}

function byNumber(name: string): Lookup[] {
  const digits = /^#?(\d{1,15})$/.exec(name)?.[1];
  return digits ? [{ by: "number", number: Number(digits) }] : [];
}

/** Look-ups by exact name. */
function byName(name: string): Lookup[] {
  if (/^#\d+$/.test(name) || /^q[-_]/i.test(name)) return [];
  return [
    { by: "external", text: name },
    { by: "name", text: name },
    { by: "session", text: name },
  ];
}

/** Look-ups by a prefix of the random part of an id; o, i and l are read as 0 and 1. */
function byShort(name: string): Lookup[] {
  const [, kind, prefix] = /^(?:([qr])[-_])?([0-9a-z]{1,16})$/i.exec(name) ?? [];
  if (!prefix) return [];
  const text = prefix.toLowerCase().replaceAll("o", "0").replace(/[il]/g, "1");
  if (!kind) return [{ by: "short", text }];
  return [{ by: "short", text, only: kind.toLowerCase() === "q" ? "question" : "run" }];
}
