// A question as a comment of an issue, with nothing to host: the comment holds its state, and the next workflow that runs
// this step reads the answer.
import { readFileSync } from "node:fs";
import { tellLate } from "./answer.mjs";
import { GitHub } from "./github.mjs";
import { readWait } from "./input.mjs";
import { findAccount, findComment, postOnce } from "./own.mjs";
import { lookedForState, wantedState } from "./question.mjs";
import { deleteRecord, keepRecord } from "./record.mjs";
import { redactorOf } from "./secret.mjs";
import { bodyOf, settle, shownState } from "./settle.mjs";
import { readKey } from "./state.mjs";
import { sweep } from "./sweep.mjs";
import { keepWork, restoreWork } from "./work.mjs";

/** GitHub takes 65,536 characters: the rest is for the context, the list of changed files and an answer. */
const MOST_QUESTION_CHARS = 24_000;

/** Asks, or finds what became of the question. Returns it in the words of the server's own API; a look may find none. */
export async function askInIssue(env, nowMs = Date.now()) {
  const key = readKey(env);
  const event = readEvent(env);
  requireOwn(event, env);
  requireNoWait(env);
  const clean = redactorOf(env);
  const desk = { github: new GitHub(env), repo: env.GITHUB_REPOSITORY, key, env, event, nowMs, clean };
  const issue = Number((env.INPUT_ISSUE ?? "").trim() || (event.issue?.number ?? event.pull_request?.number));
  const isLook = (env.INPUT_QUESTION ?? "").trim() === "";
  if (!Number.isInteger(issue) && isLook) return lookAtAll(desk);
  if (!Number.isInteger(issue)) throw new Error("This event belongs to no issue; name one in the input issue");
  const wanted = isLook ? lookedForState(env, issue) : wantedState(env, { issue, nowMs, clean });
  const found = await findComment(desk, wanted);
  if (!found.comment && isLook) return { url: addressOf(env, issue) };
  if (!found.comment) return { question: viewOf(await post(desk, wanted, found.newest)), url: addressOf(env, issue) };
  const state = await settle(desk, found);
  if (state.isTakenElsewhere) await tellLate(desk, { comment: found.comment, state: shownState(state, clean) });
  const url = addressOf(env, issue, found.comment.id);
  // Only the job that goes on with the answer takes up the work.
  const goesOn = state.status !== "pending" && !state.isTakenElsewhere;
  return { question: viewOf(state), url, resume: goesOn ? await restoreWork(desk, state) : undefined };
}

async function lookAtAll(desk) {
  const last = await sweep(desk);
  return { question: last && viewOf(last), url: "" };
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

/** A step that asks in an issue ends at once: the comment with the answer starts a workflow of its own. */
function requireNoWait({ INPUT_WAIT: wait = "" }) {
  if (readWait(wait.trim()) === 0) return;
  throw new Error(
    "The input wait needs a server: with channel issue no step waits. Remove it, and look for the answer",
  );
}

/** Asks, or returns what is asked already: of several jobs at the same time the first one's question stays. */
async function post(desk, wanted, after) {
  if (bodyOf(desk, { ...wanted, context: undefined }).length > MOST_QUESTION_CHARS)
    throw new Error("The question and its options are too long for a comment");
  const { id, issue, key, askedAt } = wanted;
  // First of all: a scheduled look finds what has this record, also the rest of a job that died while it asked.
  await keepRecord(desk, id, "asked", { issue, key, askedAt });
  const state = { ...wanted, after, author: await findAccount(desk), work: await keepWork(desk, wanted) };
  const find = async (since) => {
    if (since === undefined) return undefined; // looked for just now
    const found = await findComment(desk, { ...state, since });
    return found.comment && found;
  };
  const first = await postOnce(desk, { issue: state.issue, body: bodyOf(desk, state), find });
  if (!first) return state;
  // The same question is there twice if only GitHub's reply was lost.
  if (first.state.id === id) return first.state;
  for (const name of ["work", "asked"]) await deleteRecord(desk, id, name);
  return first.state;
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
