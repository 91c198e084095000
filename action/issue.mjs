// A question as a comment of an issue, with nothing to host: the comment holds its state, and the next workflow that runs
// this step reads the answer.
import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { findAnswer, tellLate } from "./answer.mjs";
import { renderComment } from "./comment.mjs";
import { GitHub } from "./github.mjs";
import { readInputs } from "./input.mjs";
import { findAccount, findComment, postOnce, readOwn } from "./own.mjs";
import { findRecord, keepRecord } from "./record.mjs";
import { writeNotice } from "./runner.mjs";
import { readKey, writeState } from "./state.mjs";
import { leaveTraces } from "./timeout.mjs";
import { forgetWork, keepWork, restoreWork } from "./work.mjs";

const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const USUAL_MS = UNIT_MS.d;
/** How long the work of a closed question is kept: its workflow may be run again. */
const KEPT_MS = 7 * UNIT_MS.d;
/** GitHub takes 65,536 characters: the rest is for the context, the list of changed files and an answer. */
const MOST_CHARS = 24_000;

/** Asks, or finds what became of the question. Returns it in the words of the server's own API; a look may find none. */
export async function askInIssue(env, nowMs = Date.now()) {
  const key = readKey(env);
  const event = readEvent(env);
  requireOwn(event, env);
  const desk = { github: new GitHub(env), repo: env.GITHUB_REPOSITORY, key, env, event, nowMs };
  const issue = Number((env.INPUT_ISSUE ?? "").trim() || (event.issue?.number ?? event.pull_request?.number));
  const isLook = (env.INPUT_QUESTION ?? "").trim() === "";
  if (!Number.isInteger(issue) && isLook) return sweep(desk);
  if (!Number.isInteger(issue)) throw new Error("This event belongs to no issue; name one in the input issue");
  const wanted = isLook ? lookedForState(env, issue) : wantedState(env, issue, nowMs);
  const found = await findComment(desk, wanted);
  if (!found.comment && isLook) return { url: addressOf(env, issue) };
  if (!found.comment) return { question: viewOf(await post(desk, wanted, found.newest)), url: addressOf(env, issue) };
  const state = await settle(desk, found);
  if (state.isTakenElsewhere) await tellLate(desk, { comment: found.comment, state });
  const url = addressOf(env, issue, found.comment.id);
  // Only the job that goes on with the answer takes up the work.
  const goesOn = state.status !== "pending" && !state.isTakenElsewhere;
  return { question: viewOf(state), url, resume: goesOn ? await restoreWork(desk, state) : undefined };
}

/**
 * Looks at every question of the repository that waits: takes answers, and ends what is too old. A question that cannot be
 * looked at holds no other.
 */
async function sweep(desk) {
  const { github, repo } = desk;
  const known = new Set();
  const problems = [];
  let last;
  // Oldest first: a comment that is written meanwhile comes after the page that is read.
  for await (const comment of github.each(`/repos/${repo}/issues/comments?sort=created&direction=asc&per_page=100`)) {
    try {
      const state = await readOwn(desk, comment);
      if (state === "forged") {
        writeNotice(`Comment ${comment.id}: somebody changed its state, or ASKD_KEY is another one`);
        continue;
      }
      // The same question twice is left by a job that died while it asked: the first one counts.
      if (state === undefined || known.has(state.key)) continue;
      known.add(state.key);
      if (state.status === "pending") last = await settle({ ...desk, isSweep: true }, { comment, state });
      else if (isForgettable(desk, comment, state)) await forgetWork(desk, state);
    } catch (error) {
      problems.push(`Comment ${comment.id}: ${error.message}`);
    }
  }
  if (problems.length > 0) throw new Error(problems.join("\n"));
  return { question: last && viewOf(last), url: "" };
}

function isForgettable({ nowMs }, { updated_at: updatedAt }, { work }) {
  return work?.blob !== undefined && Date.parse(updatedAt) < nowMs - KEPT_MS;
}

function readEvent({ GITHUB_EVENT_PATH: file }) {
  return file ? JSON.parse(readFileSync(file, "utf8")) : {};
}

/** What a fork brings is not ours: neither its question nor its answer. */
function requireOwn({ pull_request: pull, repository }, { GITHUB_REPOSITORY: repo }) {
  const head = pull?.head?.repo?.full_name;
  if ((head !== undefined && head !== repo) || (repository && repository.full_name !== repo)) {
    throw new Error("This event comes from a fork; it can neither ask nor answer");
  }
}

/** The question that a step without one looks for: a program may have asked it, in its own words. */
function lookedForState({ INPUT_KEY: name = "", GITHUB_REPOSITORY: repo }, issue) {
  if (name.trim() === "") throw new Error("Set the input question to ask, or key to look for a question of this issue");
  return { key: keyOf(issue, name.trim()), repo, issue };
}

function wantedState(env, issue, nowMs) {
  const { body } = readInputs({ GITHUB_RUN_ID: "issue", ...env });
  const [item] = body.items;
  const options = item.options.map((option, index) => {
    const { value, label } = typeof option === "string" ? { value: option, label: option } : option;
    const isRecommended = /\(recommended\)\s*$/i.test(label);
    const plain = (text) => text.replace(/\s*\(recommended\)\s*$/i, "");
    return { key: String.fromCharCode(65 + index), value: plain(value), label: plain(label), isRecommended };
  });
  if (options.length > 26) throw new Error("There are more than 26 options");
  const timeoutMs = readTimeout(body.timeout);
  const name = (env.INPUT_KEY ?? "").trim() || item.text;
  return {
    id: `q-${randomBytes(5).toString("hex")}`,
    key: keyOf(issue, name),
    repo: env.GITHUB_REPOSITORY,
    issue,
    text: item.text,
    context: body.context,
    options,
    onTimeout: body.on_timeout ?? "fail",
    default: body.default_answer,
    effects: effectsOf(body.timeout_params),
    askedAt: new Date(nowMs).toISOString(),
    dueAt: timeoutMs === undefined ? undefined : new Date(nowMs + timeoutMs).toISOString(),
    status: "pending",
  };
}

function keyOf(issue, name) {
  return createHash("sha256").update(`${issue}\n${name}`).digest("hex").slice(0, 32);
}

function effectsOf({ add_label: label, comment, assign_to: assign } = {}) {
  return { label, comment, assign: assign?.replace(/^@/, "") };
}

function readTimeout(text) {
  if (text === undefined) return USUAL_MS;
  if (text === "never") return undefined;
  const [, count, unit] = /^(\d+)\s*([smhd])$/.exec(text) ?? [];
  if (count === undefined)
    throw new Error(`The input timeout is no duration such as 30m, 24h or 7d: ${JSON.stringify(text)}`);
  return Number(count) * UNIT_MS[unit];
}

/** Asks, or returns what is asked already: of several jobs at the same time the first one's question stays. */
async function post(desk, wanted, after) {
  if (bodyOf(desk, { ...wanted, context: undefined }).length > MOST_CHARS)
    throw new Error("The question and its options are too long for a comment");
  const state = { ...wanted, after, author: await findAccount(desk), work: await keepWork(desk, wanted) };
  const find = async (since) => {
    if (since === undefined) return undefined; // looked for just now
    const found = await findComment(desk, { ...state, since });
    return found.comment && found;
  };
  const first = await postOnce(desk, { issue: state.issue, body: bodyOf(desk, state), find });
  if (!first) return state;
  // The same question is there twice if only GitHub's reply was lost.
  if (state.work?.blob && first.state.id !== state.id) await forgetWork(desk, state);
  return first.state;
}

/** The question as it is now: still waiting, or closed by the first answer, or by its deadline. */
async function settle(desk, { comment, state }) {
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

/** A closed question is gone on with by one job, in all attempts of its workflow run: the first that finds it closed. */
async function claim(desk, state) {
  const { GITHUB_RUN_ID: run, GITHUB_JOB: job } = desk.env;
  if (!run) throw new Error("GITHUB_RUN_ID is not set; this action belongs into a workflow");
  const by = [run, job].filter(Boolean).join("/");
  const taken = (await findRecord(desk, state.id, "taken")) ?? (await keepRecord(desk, state.id, "taken", { by }));
  return taken.by === by ? state : { ...state, isTakenElsewhere: true };
}

async function write(desk, comment, state) {
  const { github, repo } = desk;
  const body = bodyOf(desk, state);
  await github.send("PATCH", `/repos/${repo}/issues/comments/${comment.id}`, { body: { body } });
}

/** The context is only shown: the state does not repeat it. */
function bodyOf({ key }, state) {
  return `${renderComment(state)}\n${writeState({ ...state, context: undefined }, key)}`;
}

function addressOf({ GITHUB_SERVER_URL: server = "https://github.com", GITHUB_REPOSITORY: repo }, issue, comment) {
  return `${server}/${repo}/issues/${issue}${comment === undefined ? "" : `#issuecomment-${comment}`}`;
}

/** The question in the words of the server's API, which the rest of the action speaks. */
function viewOf(state) {
  const { id, text, options, status, answer, values = [], by, dueAt, onTimeout, policy, isTakenElsewhere } = state;
  return {
    id,
    short_id: id,
    title: text,
    status: isTakenElsewhere ? "taken" : status,
    items: [
      {
        id: "1",
        options: options.map(({ key, label, isRecommended }) => ({ key, label, recommended: isRecommended })),
      },
    ],
    answers: answer === undefined ? undefined : { 1: { values } },
    answer: answer ?? null,
    answered_by: by ?? null,
    due_at: dueAt,
    on_timeout: { do: onTimeout },
    policy,
  };
}
