import type { Case, Who } from "./access-case.ts";
import type { QuestionId } from "../src/core/id.ts";
import { confirmationWord } from "../src/core/question/risk.ts";
import type { Run } from "../src/core/run/run.ts";
import { OTHER_CHOICE, itemFieldNames } from "../src/web/parts/form-draft.ts";

/** The people of the list, by how they come. */
export const NAMES: Partial<Record<Who, string>> = { named: "ada", unnamed: "eve", admin: "root", link: "ada" };
export const OPTIONS = { question: "Deploy?", options: ["allow", "deny"] };

/** A question in a run of its own, made ready for one case. */
export interface PreparedCase {
  run: Run;
  id: QuestionId;
  /** Another run, whose agent has nothing to do with this one. */
  other: Run;
  /** A token that can be revoked. */
  tokenId?: string | undefined;
}

/** What somebody says: a choice, or words of their own that sound like it. */
export function wordsOf({ kind }: Case): string {
  return kind === "worded_approval" ? "fine by me" : "allow";
}

type Request = readonly [method: string, path: string, body?: object];
type Form = readonly [method: "GET" | "POST", path: string, fields?: Record<string, string>];

/** What a client sends. */
export function requestFor(one: Case, { id, run }: PreparedCase): Request {
  const { verb, who, kind } = one;
  const person = NAMES[who === "unnamed" ? who : "named"] ?? "";
  const question = `/questions/${id}`;
  const confirmed = kind === "confirmed";
  const requests: Partial<Record<Case["verb"], Request>> = {
    ask: ["POST", "/questions", { ...OPTIONS, run_id: run.id }],
    look: ["GET", question],
    take_outcome: ["POST", `${question}/given`, { witness: "test" }],
    answer: ["POST", `${question}/answer`, { answer: wordsOf(one), confirmed }],
    force: ["POST", `${question}/answer`, { answer: wordsOf(one), force: true, confirmed }],
    amend: ["POST", `${question}/amend`, { text: "not yet", confirmed }],
    cancel: ["POST", `${question}/cancel`],
    cancel_with_words: ["POST", `${question}/cancel`, { resume: "approved", confirmed }],
    extend: ["POST", `${question}/extend`, { by: "1h" }],
    snooze: ["POST", `${question}/snooze`, { until: "2099-01-01T00:00:00Z" }],
    assign: ["POST", `${question}/assign`, { to: ["lena"] }],
    comment: ["POST", `${question}/comment`, { text: "hm" }],
    link: ["POST", `${question}/links`, { person }],
    start_run: ["POST", "/runs", { name: "new", agent: "claude", host: "here" }],
    start_child_run: ["POST", "/runs", { name: "child", agent: "claude", host: "here" }],
    report_run: ["POST", `/runs/${run.id}/start`],
    cancel_run: ["POST", `/runs/${run.id}/cancel`],
    resume_run: ["POST", `/runs/${run.id}/resume`],
    take_over_run: ["POST", `/runs/${run.id}/resume`, { host: "elsewhere" }],
    see_all: ["GET", "/questions/count"],
    change_template: ["PUT", "/templates/fine", { text: "fine" }],
    make_token: ["POST", "/tokens", { scope: "agent", subject: "ci" }],
    manage_tokens: ["GET", "/tokens"],
    manage_people: ["PUT", "/people/noor", { groups: [] }],
    set_away: ["PUT", `/people/${person}/away`, { away: {} }],
    set_preferences: ["PUT", `/people/${person}/preferences`, { language: "de" }],
    maintain: ["GET", "/verify"],
  };
  return requests[verb] ?? ["POST", `${question}/${verb}`];
}

/** What somebody types. */
export function wordsFor(one: Case, { id, run }: PreparedCase): string[] {
  const { verb, who, kind } = one;
  const person = NAMES[who] ?? "ada";
  const yes = kind === "confirmed" ? ["--yes"] : [];
  const words: Partial<Record<Case["verb"], string[]>> = {
    answer: ["answer", id, wordsOf(one), ...yes],
    force: ["answer", id, wordsOf(one), "--force", ...yes],
    amend: ["amend", id, "not yet", ...yes],
    cancel_with_words: ["cancel", id, "--resume", "approved", ...yes],
    extend: ["extend", id, "1h"],
    snooze: ["snooze", id, "1h"],
    assign: ["assign", id, "lena"],
    comment: ["comment", id, "hm"],
    cancel_run: ["runs", "cancel", run.id],
    resume_run: ["runs", "resume", run.id],
    make_token: ["token", "create", "--scope", "agent", "--subject", "ci"],
    change_template: ["template", "add", `t${id.slice(-12)}`, "fine"],
    approve_workflow: ["workflow", "approve", "fine"],
    ask: ["ask", OPTIONS.question, ...OPTIONS.options.flatMap((option) => ["-o", option]), "--run", run.id],
    link: ["link", id, "--for", person],
    take_over_run: ["runs", "resume", run.id, "--elsewhere"],
    start_run: ["workflow", "run", "fine"],
    start_child_run: ["workflow", "run", "fine"],
    manage_tokens: ["token", "list"],
    manage_people: ["user", "add", run.id.slice(-20)],
    set_away: ["away"],
    set_preferences: ["user", "set", person, "--language", "de"],
    maintain: ["export", "--run", run.id],
  };
  return words[verb] ?? [verb, id];
}

/** The fields of a form in which somebody answers the item. */
export function choiceFor(one: Case): Record<string, string> {
  const { choice, text } = itemFieldNames(0);
  return one.kind === "worded_approval" ? { [choice]: OTHER_CHOICE, [text]: wordsOf(one) } : { [choice]: "0" };
}

/** What a browser sends. */
export function formFor(one: Case, { id, run, tokenId }: PreparedCase): Form {
  const { verb, who, kind } = one;
  const person = NAMES[who === "unnamed" ? who : "named"] ?? "";
  const word: Record<string, string> =
    kind === "confirmed" ? { word: confirmationWord(OPTIONS.question, run.name) } : {};
  const choice = choiceFor(one);
  const forms: Partial<Record<Case["verb"], Form>> = {
    look: ["GET", `/q/${id}`],
    answer: ["POST", `/q/${id}/answer`, { do: "answer", ...choice, ...word }],
    force: ["POST", `/q/${id}/answer`, { do: "answer", ...choice, force: "1", ...word }],
    amend: ["POST", `/q/${id}/amend`, { text: "not yet", ...word }],
    cancel: ["POST", `/q/${id}/stop`],
    extend: ["POST", `/q/${id}/extend`, { by: "1h" }],
    snooze: ["POST", `/q/${id}/snooze`, { for: "1h" }],
    assign: ["POST", `/q/${id}/assign`, { to: "lena" }],
    comment: ["POST", `/q/${id}/comment`, { text: "hm" }],
    cancel_run: ["POST", `/r/${run.number}/cancel`],
    resume_run: ["POST", `/r/${run.number}/resume`],
    ask: ["POST", "/test-question"],
    see_all: ["GET", "/"],
    change_template: ["POST", "/templates", { name: "fine", text: "fine" }],
    make_token: ["POST", "/settings/tokens", { scope: "agent", subject: "ci" }],
    manage_tokens: ["POST", `/settings/tokens/${tokenId ?? ""}/revoke`],
    manage_people: ["POST", "/settings/people", { id: run.id.slice(-20), groups: "" }],
    set_away: ["POST", `/settings/people/${person}/away`],
    set_preferences: ["POST", `/settings/people/${person}/preferences`, { language: "de" }],
  };
  return forms[verb] ?? ["POST", `/q/${id}/${verb}`];
}
