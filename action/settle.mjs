// A question that was asked: waiting, or closed once, by an answer or its deadline.
import { randomUUID } from "node:crypto";
import { findAnswer } from "./answer.mjs";
import { renderComment } from "./comment.mjs";
import { findRecord, keepRecord } from "./record.mjs";
import { writeState } from "./state.mjs";
import { leaveTraces } from "./timeout.mjs";

/** GitHub takes 65,536 characters. */
const MOST_CHARS = 65_000;

/** The question as it is now: still waiting, or closed by the first answer, or by its deadline. */
export async function settle(desk, { comment, state }) {
  if (state.status !== "pending") return claim(desk, state);
  const kept = await findRecord(desk, state.id, "closed");
  if (kept) return complete(desk, { comment, state }, kept);
  const answer = await findAnswer(desk, { comment, state });
  const isOver = state.dueAt !== undefined && Date.parse(state.dueAt) <= desk.nowMs;
  if (answer) return close(desk, { comment, state }, { status: "answered", ...answer });
  if (!isOver || state.onTimeout === "wait") return state;
  const at = new Date(desk.nowMs).toISOString();
  const given = state.onTimeout === "default" ? { answer: state.default, values: valuesOf(state, state.default) } : {};
  return close(desk, { comment, state }, { ...given, status: "timeout", policy: state.onTimeout, at });
}

function valuesOf({ options }, text) {
  const option = options.find(({ key, value, label }) => [key, value, label].includes(text));
  return option ? [option.value] : [];
}

/**
 * Closes a question once: the first record of its outcome holds, whatever the comment says. The traces and the comment
 * follow it, so a job that dies in between is completed by the next one.
 */
async function close(desk, { comment, state }, outcome) {
  const kept = await keepRecord(desk, state.id, "closed", outcome);
  return complete(desk, { comment, state }, kept);
}

async function complete(desk, { comment, state }, { status, answer, values, note, by, at, reply, policy }) {
  const closed = { ...state, status, answer, values, note, by, at, reply, policy };
  await leaveTraces(desk, { comment, state: closed });
  await write(desk, comment, closed);
  return desk.isSweep ? closed : claim(desk, closed);
}

/**
 * One step goes on with a closed question: the first that finds it closed, and in each later attempt of its workflow run
 * the first of the same job. The legs of a matrix share the name of their job, so every step has a name of its own.
 */
async function claim(desk, state) {
  if (state.isTaken) return { ...state, isTakenElsewhere: true };
  const { GITHUB_RUN_ID: run, GITHUB_JOB: job, GITHUB_RUN_ATTEMPT: attempt = "1" } = desk.env;
  if (!run) throw new Error("GITHUB_RUN_ID is not set; this action belongs into a workflow");
  const own = { by: [run, job].filter(Boolean).join("/"), attempt: Number(attempt), step: randomUUID() };
  const first = (await findRecord(desk, state.id, "taken")) ?? (await keepRecord(desk, state.id, "taken", own));
  const isAgain = first.by === own.by && first.attempt < own.attempt;
  const taken = isAgain ? await keepRecord(desk, state.id, `taken-${own.attempt}`, own) : first;
  return taken.step === own.step ? state : { ...state, isTakenElsewhere: true };
}

/** Writes a state into its comment. */
export async function write(desk, comment, state) {
  const { github, repo } = desk;
  const body = bodyOf(desk, state, comment.body);
  await github.send("PATCH", `/repos/${repo}/issues/comments/${comment.id}`, { body: { body } });
}

/** The text of a comment, in place of the one before. The context is only shown: the state does not repeat it. */
export function bodyOf({ key, clean }, state, before) {
  const kept = writeState({ ...state, context: undefined }, key);
  const shown = shownState(state, clean);
  const contextChars = MOST_CHARS - renderComment(shown).length - kept.length;
  return `${renderComment(shown, { before, contextChars })}\n${kept}`;
}

/** A state as people see it. The answer itself is kept as it was given: the job that goes on needs it. */
export function shownState(state, clean) {
  return { ...state, answer: clean(state.answer), note: clean(state.note) };
}
