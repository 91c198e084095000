// A question as a comment of an issue, with nothing to host: the comment holds its state, and the next workflow that runs
// this step reads the answer.
import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { tellLate } from "./answer.mjs";
import { GitHub } from "./github.mjs";
import { readInputs } from "./input.mjs";
import { findAccount, findComment, postOnce } from "./own.mjs";
import { deleteRecord, keepRecord } from "./record.mjs";
import { bodyOf, settle } from "./settle.mjs";
import { readKey } from "./state.mjs";
import { sweep } from "./sweep.mjs";
import { keepWork, restoreWork } from "./work.mjs";

const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const USUAL_MS = UNIT_MS.d;
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
  if (!Number.isInteger(issue) && isLook) return lookAtAll(desk);
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
