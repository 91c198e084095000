import type { DecisionContext } from "../core/changes.ts";
import { requireCallback } from "../core/question/callback.ts";
import type { Content } from "../core/question/content.ts";
import { hashText } from "../core/question/content.ts";
import { sourcesOf } from "../core/trail/fact-source.ts";
import { requireVisibleLine } from "../core/text/foreign-text.ts";
import { requirePlain } from "../core/text/plain-text.ts";
import { ONE_ASK_PREFIX, type Run } from "../core/run/run.ts";
import { INVISIBLE_CHARACTERS } from "../core/text/visible.ts";
import type { RunInput } from "./engine.ts";
import { requireCallable } from "./outbound/public-address.ts";

const NAME_WORDS = 4;
const NAME_CHARS = 40;
const LONGEST_PLACE_BYTES = 800;

/** A run that has done nothing yet. */
export function newRun(input: RunInput, at: DecisionContext, options: { implicit: boolean }): Run {
  if (input.callback) {
    requireCallback(input.callback);
    requireCallable(input.callback.url, { allowLoopback: at.rules.callbackLoopback });
  }
  requireNames(input);
  // Every field is named, also those that come later: adding one to a copy costs more than all the rest of a decision.
  return {
    id: input.id ?? at.ids.run(),
    version: 0,
    number: 0,
    name: input.name ?? "run",
    externalId: input.externalId,
    status: "queued",
    reason: undefined,
    agent: input.agent ?? "none",
    host: input.host ?? "",
    session: input.session,
    dir: input.dir,
    repo: input.repo,
    branch: input.branch,
    labels: input.labels ?? [],
    sources: sourcesOf(input.measured ?? [], at.by),
    priority: input.priority ?? 2,
    size: input.size,
    parentId: input.parentId ?? at.by.runId, // what an agent starts is part of its run
    workflow: input.workflow,
    waitedForBy: input.waitedForBy,
    giveBack: input.callback ? "callback" : (input.giveBack ?? "poll"),
    callback: input.callback,
    implicit: options.implicit,
    epoch: 0,
    seen: undefined,
    starts: 0,
    isContinued: false,
    owes: [],
    asked: 0,
    askedAt: [],
    createdAt: at.now,
    issue: input.issue,
    worker: undefined,
    pendingId: undefined,
    lastQuestionId: undefined,
    clarifying: undefined,
    whenParked: undefined,
    startedAt: undefined,
    parkedAt: undefined,
    endedAt: undefined,
    result: undefined,
  };
}

/** Names that people and agents read are one visible line; measured values stay as they are. */
function requireNames(input: RunInput) {
  if (input.name !== undefined) requireVisibleLine(input.name, "the name of a run");
  if (input.externalId !== undefined) requireVisibleLine(input.externalId, "an external id");
  if (input.agent !== undefined) requireVisibleLine(input.agent, "the name of an agent");
  if (input.size !== undefined) requireVisibleLine(input.size, "a size");
  for (const label of input.labels ?? []) requireVisibleLine(label, "a label");
  for (const text of [input.session, input.dir, input.repo, input.branch]) {
    if (text !== undefined) requirePlain(text, LONGEST_PLACE_BYTES, "name");
  }
}

/** A run that is made by an ask: for the session that it names, else for this ask only, found again by its key. */
export function runForAsk(input: RunInput, items: Content["items"], key: string | undefined, at: DecisionContext): Run {
  const session =
    input.session ?? (key === undefined ? undefined : `${ONE_ASK_PREFIX}${hashText(`${at.by.id}\n${key}`)}`);
  const name = input.name ?? nameFrom(items[0]?.text ?? "");
  return newRun({ ...input, name, session }, at, { implicit: true });
}

/** `redis-or-memcached-for` from "Redis or Memcached for the caching layer?" */
export function nameFrom(text: string): string {
  const words =
    text
      .replace(INVISIBLE_CHARACTERS, "")
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.slice(0, NAME_WORDS).join("-").slice(0, NAME_CHARS) || "question";
}
