import { userInfo } from "node:os";
import type { QuestionId, RunId } from "../../../src/core/id.ts";
import type { Outcome } from "../../../src/core/question/question.ts";
import type { Person } from "./plan.ts";
import type { Request, Way } from "./stage.ts";

/** What somebody says to a question. */
export interface Said {
  outcome: Outcome;
  /** Chosen options by their values, and words of the person's own. */
  values: string[];
  text: string | undefined;
  note: string | undefined;
  force: boolean;
  confirmed: boolean;
  resume: boolean;
  undoMs: number;
}

interface By {
  by: Person;
  way: Way;
}

/** One thing that a person does to a question. */
export type QuestionDeed = By & { id: QuestionId } & (
    | { do: "answer"; said: Said }
    | { do: "undo" | "claim" | "release" | "escalate" }
    | { do: "snooze" | "extend"; ms: number }
    | { do: "comment"; text: string }
    | { do: "assign"; to: Person }
    | { do: "amend"; text: string; resume: boolean; confirmed: boolean }
    | { do: "cancel"; words: string | undefined; confirmed: boolean }
  );

/** One thing that a person does to a run. */
export type RunDeed = By & { runId: RunId } & ({ do: "cancel run" } | { do: "resume run" });

export type Deed = QuestionDeed | RunDeed;

const USER = userInfo().username;

/** Who it is in the eyes of the product: who types on the store is the user of this machine. */
export function whoDoes({ by, way }: By): string {
  return way === "cli" ? USER : by;
}

/** What is said by the door that it is said through: one choice that is typed is read as a word. */
export function saidThrough({ way, said }: QuestionDeed & { do: "answer" }): Said {
  const [only, ...others] = said.values;
  const isTyped = way !== "rest" && said.outcome === "answer" && only !== undefined && others.length === 0;
  return isTyped && said.text === undefined ? { ...said, values: [], text: only } : said;
}

/** The deed as a request to the server. */
export function requestFor(deed: Deed): Request {
  const post = (path: string, body: object = {}): Request => ({ method: "POST", path: `/api/v1${path}`, body });
  if ("runId" in deed) {
    const at = `/runs/${deed.runId}`;
    return deed.do === "cancel run" ? post(`${at}/cancel`, { reason: "not needed" }) : post(`${at}/resume`);
  }
  const at = `/questions/${deed.id}`;
  switch (deed.do) {
    case "answer":
      return post(`${at}/answer`, bodyOf(deed.said));
    case "snooze":
      return post(`${at}/snooze`, { until: new Date(Date.now() + deed.ms).toISOString() });
    case "extend":
      return post(`${at}/extend`, { by: `${deed.ms}ms` });
    case "comment":
      return post(`${at}/comment`, { text: deed.text });
    case "assign":
      return post(`${at}/assign`, { to: [deed.to] });
    case "amend":
      return post(`${at}/amend`, { text: deed.text, resume: deed.resume, confirmed: deed.confirmed });
    case "cancel":
      return post(`${at}/cancel`, {
        ...(deed.words === undefined ? { reason: "not needed" } : { resume: deed.words }),
        confirmed: deed.confirmed,
      });
    default:
      return post(`${at}/${deed.do}`);
  }
}

function bodyOf({ outcome, values, text, note, force, confirmed, resume, undoMs }: Said): object {
  const isChosen = values.length > 0;
  const said = isChosen ? { items: { "1": { values, text } } } : { answer: text ?? "" };
  return {
    outcome,
    note,
    force,
    confirmed,
    resume,
    ...(outcome === "answer" && said),
    ...(undoMs > 0 && { undo_window: `${undoMs}ms` }),
  };
}

/** The deed as it is typed. */
export function wordsFor(deed: Deed): string[] {
  if ("runId" in deed)
    return deed.do === "cancel run"
      ? ["runs", "cancel", deed.runId, "-m", "not needed"]
      : ["runs", "resume", deed.runId];
  switch (deed.do) {
    case "answer":
      return ["answer", deed.id, ...flagsOf(deed.said)];
    case "snooze":
      return ["snooze", deed.id, `${Math.ceil(deed.ms / 1000)}s`];
    case "extend":
      return ["extend", deed.id, `${deed.ms}ms`];
    case "comment":
      return ["comment", deed.id, deed.text];
    case "assign":
      return ["assign", deed.id, deed.to];
    case "amend":
      return ["amend", deed.id, deed.text, ...(deed.resume ? ["--resume"] : []), ...yesOf(deed)];
    case "cancel":
      return [
        "cancel",
        deed.id,
        ...yesOf(deed),
        ...(deed.words === undefined ? ["-m", "not needed"] : ["--resume", deed.words]),
      ];
    default:
      return [deed.do, deed.id];
  }
}

function yesOf({ confirmed }: { confirmed: boolean }): string[] {
  return confirmed ? ["--yes"] : [];
}

function flagsOf({ outcome, values, text, note, force, confirmed, resume, undoMs }: Said): string[] {
  return [
    ...(outcome === "decide" ? ["--decide"] : []),
    ...(outcome === "clarify" ? ["--clarify", note ?? ""] : []),
    ...values.flatMap((value) => ["-c", value]),
    ...(outcome === "answer" && values.length === 0 ? [text ?? ""] : []),
    ...(outcome !== "clarify" && note !== undefined ? ["-m", note] : []),
    ...(force ? ["--force"] : []),
    ...(confirmed ? ["--yes"] : []),
    ...(resume ? [] : ["--no-resume"]),
    ...(undoMs > 0 ? ["--undo-window", `${undoMs}ms`] : []),
  ];
}
