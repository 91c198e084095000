import { LEAST_SHOWN, QuestionId, shortId, RunId } from "../core/id.ts";
import type { Question } from "../core/question/question.ts";
import { Refusal } from "../core/refusal.ts";
import type { Run } from "../core/run/run.ts";
import type { Engine } from "../engine/engine.ts";
import type { NameReference } from "../store/store.ts";
import { oneLine } from "./view/sanitise.ts";

const CANDIDATES = 6;

/** The question that an argument names, or the run with its pending or last question. */
type CommandTarget =
  | { named: "question"; question: Question }
  | { named: "run"; run: Run; questionId: QuestionId | undefined };

const MAX_CHARS = 2000;

/** One way to look up a name. A `short` may say which kind of thing it names. */
type Lookup =
  | { by: "question"; id: QuestionId }
  | { by: "run"; id: RunId }
  | { by: "only" }
  | (NameReference & { only?: "question" | "run" });

/** Finds the question or run that an argument names; refuses if there is none, or several. */
export async function getTarget(engine: Engine, text: string): Promise<CommandTarget> {
  for (const lookup of parseRef(text)) {
    const found = await find(engine, lookup);
    if (found.length > 1) throw ambiguous(text, found);
    if (found[0]) return found[0];
  }
  throw new Refusal("not_found", `There is no question or run "${oneLine(text)}"`, {
    hint: "List questions: askd list",
  });
}

/** The named run, or the run of the named question. */
export async function getRun(engine: Engine, text: string): Promise<Run> {
  const target = await getTarget(engine, text);
  if (target.named === "run") return target.run;
  const run = await engine.findRun(target.question.runId);
  if (!run) throw new Refusal("not_found", `The run of ${shortId(target.question.id)} no longer exists`);
  return run;
}

/** The named question, or the question of the named run. */
export async function getQuestionId(engine: Engine, text: string): Promise<QuestionId> {
  const target = await getTarget(engine, text);
  if (target.named === "question") return target.question.id;
  if (target.questionId) return target.questionId;
  throw new Refusal("not_pending", `Task ${target.run.number} has asked nothing`, {
    hint: `See it with: askd show ${target.run.number}`,
  });
}

async function find(engine: Engine, lookup: Lookup): Promise<CommandTarget[]> {
  switch (lookup.by) {
    case "question":
      return [{ named: "question", question: (await engine.read(lookup.id)).question }];
    case "run": {
      const run = await engine.findRun(lookup.id);
      return run ? [runTarget(run)] : [];
    }
    case "only":
      return findOnly(engine);
    default: {
      const { runs, questions } = await engine.lookUp(lookup, CANDIDATES);
      const only = "only" in lookup ? lookup.only : undefined;
      return [
        ...(only === "run" ? [] : questions.map((question): CommandTarget => ({ named: "question", question }))),
        ...(only === "question" ? [] : preferLive(runs).map(runTarget)),
      ];
    }
  }
}

async function findOnly(engine: Engine): Promise<CommandTarget[]> {
  const waiting = await engine.listQuestions({ status: "pending", order: "oldest", limit: CANDIDATES });
  if (waiting.length > 0) return waiting.map((question): CommandTarget => ({ named: "question", question }));
  throw new Refusal("not_found", "Nothing is waiting for you", { hint: "List questions: askd list" });
}

/** Run names repeat: prefers the run that waits. */
function preferLive(runs: readonly Run[]) {
  const waiting = runs.filter((run) => run.pendingId !== undefined);
  return waiting.length > 0 ? waiting : runs.slice(0, 1);
}

function runTarget(run: Run): CommandTarget {
  return { named: "run", run, questionId: run.pendingId ?? run.lastQuestionId };
}

function ambiguous(text: string, found: readonly CommandTarget[]) {
  const ids = found.map((target) => (target.named === "question" ? target.question.id : target.run.id));
  const names = found.map((target) =>
    target.named === "question"
      ? `${shortId(target.question.id, ids)} ${oneLine(target.question.title).slice(0, 60)}`
      : `#${target.run.number} ${oneLine(target.run.name)}`,
  );
  const what = text.trim() === "-" ? "More than one question is waiting" : `"${oneLine(text)}" is ambiguous`;
  return new Refusal("ambiguous_ref", what, { hint: `Use one of: ${names.join("; ")}` });
}

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
function pathName(address: string) {
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

function decode(text: string) {
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

/**
 * Look-ups by a prefix of the random part of an id; o, i and l are read as 0 and 1. Without `q-` it has as many characters
 * as askd shows, and a number is never one: a run that does not exist would be taken for another.
 */
function byShort(name: string): Lookup[] {
  const [, kind, prefix] = /^(?:([qr])[-_])?([0-9a-z]{1,16})$/i.exec(name) ?? [];
  if (!prefix) return [];
  if (!kind && (prefix.length < LEAST_SHOWN || /^\d+$/.test(prefix))) return [];
  const text = prefix.toLowerCase().replaceAll("o", "0").replace(/[il]/g, "1");
  if (!kind) return [{ by: "short", text }];
  return [{ by: "short", text, only: kind.toLowerCase() === "q" ? "question" : "run" }];
}
