// A question as a comment of an issue, with nothing to host: the comment holds its state, and the next workflow that runs
// this step reads the answer.
import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { GitHub } from "./github.mjs";
import { readInputs } from "./input.mjs";
import { readAnswer, readTicks } from "./reply.mjs";
import { renderComment } from "./comment.mjs";
import { readKey, readState, writeState } from "./state.mjs";
import { leaveTraces } from "./timeout.mjs";
import { forgetWork, keepWork, restoreWork } from "./work.mjs";

const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const USUAL_MS = UNIT_MS.d;
/** How long a job that has won may take to write its outcome. */
const TAKEOVER_MS = 90_000;
const LOOK_MS = 1_000;
/** How long the work of a closed question is kept: its workflow may be run again. */
const KEPT_MS = 7 * UNIT_MS.d;
const MOST_CLOSERS = 5;
const WRITING = new Set(["write", "admin"]);
const EDITS = `query($id: ID!) {
  node(id: $id) {
    ... on IssueComment {
      body
      userContentEdits(first: 20) { nodes { editedAt diff editor { login kind: __typename } } }
    }
  }
}`;

/** Asks, or finds what became of the question. Returns it in the words of the server's own API. */
export async function askInIssue(env, nowMs = Date.now()) {
  const key = readKey(env);
  const event = readEvent(env);
  requireOwn(event, env);
  const desk = { github: new GitHub(env), repo: env.GITHUB_REPOSITORY, key, env, nowMs };
  const issue = Number((env.INPUT_ISSUE ?? "").trim() || (event.issue?.number ?? event.pull_request?.number));
  if (!Number.isInteger(issue) && (env.INPUT_QUESTION ?? "").trim() === "") return sweep(desk);
  if (!Number.isInteger(issue)) throw new Error("This event belongs to no issue; name one in the input issue");
  const wanted = wantedState(env, issue, nowMs);
  const found = await findComment(desk, issue, wanted.key);
  if (!found) return { question: viewOf(await post(desk, wanted)), url: addressOf(env, issue) };
  const state = await settle(desk, found);
  const url = addressOf(env, issue, found.comment.id);
  // Only the job that goes on with the answer takes up the work.
  const goesOn = state.status !== "pending" && !state.isTakenElsewhere;
  return { question: viewOf(state), url, resume: goesOn ? await restoreWork(desk, state) : undefined };
}

/** Looks at every question of the repository that waits: takes answers, and ends what is too old. */
async function sweep(desk) {
  const { github, repo, key } = desk;
  let last;
  // Oldest first: a comment that is written meanwhile comes after the page that is read.
  for await (const comment of github.each(`/repos/${repo}/issues/comments?sort=created&direction=asc&per_page=100`)) {
    const state = isOurs(comment) ? readState(comment.body, key) : undefined;
    if (state === undefined || state === "forged") continue;
    if (state.status !== "pending") {
      if (state.work?.blob && Date.parse(comment.updated_at) < desk.nowMs - KEPT_MS) await forgetWork(desk, state);
      continue;
    }
    last = await settle({ ...desk, isSweep: true }, { comment, state });
  }
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
    key: createHash("sha256").update(`${issue}\n${name}`).digest("hex").slice(0, 32),
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

async function findComment({ github, repo, key }, issue, wanted) {
  for await (const comment of github.each(`/repos/${repo}/issues/${issue}/comments?per_page=100`)) {
    if (!isOurs(comment)) continue;
    const state = readState(comment.body, key);
    if (state === "forged")
      throw new Error(`Somebody changed the state of comment ${comment.id}; delete it to ask again`);
    if (state?.key === wanted && state.issue === issue && state.repo === repo) return { comment, state };
  }
  return undefined;
}

/** Only a program posts our comments: a person's copy of one counts for nothing. */
function isOurs({ user, body }) {
  return user?.type === "Bot" && (body ?? "").includes("<!-- askd v1 state=");
}

async function post(desk, asked) {
  const { github, repo, key } = desk;
  const state = { ...asked, work: await keepWork(desk, asked) };
  const body = `${renderComment(state)}\n${writeState(state, key)}`;
  await github.send("POST", `/repos/${repo}/issues/${state.issue}/comments`, { body: { body }, expected: [201] });
  return state;
}

/** The question as it is now: still waiting, or closed by the first answer, or by its deadline. */
async function settle(desk, { comment, state }) {
  if (state.status !== "pending") return claim(desk, { comment, state });
  const answer = await findAnswer(desk, { comment, state });
  const isOver = state.dueAt !== undefined && Date.parse(state.dueAt) <= desk.nowMs;
  if (answer) return close(desk, { comment, state }, { ...state, status: "answered", ...answer });
  if (!isOver || state.onTimeout === "wait") return state;
  const given = state.onTimeout === "default" ? { answer: state.default, values: valuesOf(state, state.default) } : {};
  return close(desk, { comment, state }, { ...state, status: "timeout", policy: state.onTimeout, ...given });
}

function valuesOf({ options }, text) {
  const option = options.find(({ key, value, label }) => [key, value, label].includes(text));
  return option ? [option.value] : [];
}

/** The first answer of somebody who may write: a ticked box, or a comment after the question. */
async function findAnswer(desk, { comment, state }) {
  const { github, repo } = desk;
  const path = `/repos/${repo}/issues/${state.issue}/comments?per_page=100&since=${encodeURIComponent(comment.created_at)}`;
  const tick = await findTick(desk, comment, state);
  if (tick) return tick;
  for await (const reply of github.each(path)) {
    if (reply.id <= comment.id || reply.user?.type !== "User" || reply.performed_via_github_app) continue;
    const said = readAnswer(reply.body ?? "", state);
    if (said && (await mayWrite(desk, reply.user.login)))
      return { ...said, by: `@${reply.user.login}`, at: reply.created_at };
  }
  return undefined;
}

/** A tick counts for the person who edited the comment; if GitHub names nobody, it does not count. */
async function findTick(desk, comment, state) {
  const ticks = readTicks(comment.body, state);
  if (ticks.length !== 1) return undefined;
  const { node } = await desk.github.query(EDITS, { id: comment.node_id });
  const edits = (node?.userContentEdits?.nodes ?? []).filter(Boolean);
  const newestFirst = edits.toSorted((one, other) => other.editedAt.localeCompare(one.editedAt));
  // Edits of the same second are told apart by what they left behind.
  const edit = newestFirst.find(({ diff }) => diff === comment.body) ?? newestFirst[0];
  if (!node || node.body !== comment.body || edit?.editor?.kind !== "User") return undefined;
  if (!(await mayWrite(desk, edit.editor.login))) return undefined;
  const [{ value }] = ticks;
  return { answer: value, values: [value], by: `@${edit.editor.login}`, at: edit.editedAt };
}

async function mayWrite({ github, repo }, login) {
  const path = `/repos/${repo}/collaborators/${encodeURIComponent(login)}/permission`;
  const { status, body } = await github.send("GET", path, { expected: [200, 404] });
  return status === 200 && WRITING.has(body.permission);
}

/**
 * Closes a question once. Of several jobs at the same time the one that makes the ref wins: GitHub makes a ref once. The
 * others find the outcome that the winner wrote. If it wrote none, it died, and the next ref decides who goes on.
 */
async function close(desk, { comment, state }, closed) {
  for (let count = 1; count <= MOST_CLOSERS; count += 1) {
    if (await makeRef(desk, `${state.id}/closed-${count}`)) {
      const won = { ...closed, ...(desk.isSweep ? {} : { run: desk.env.GITHUB_RUN_ID }) };
      await leaveTraces(desk, won);
      await write(desk, comment, won);
      return won;
    }
    const outcome = await waitForOutcome(desk, comment);
    if (outcome) return desk.isSweep ? outcome : claim(desk, { comment, state: outcome });
  }
  throw new Error(`${state.id} could not be closed`);
}

/** A closed question is gone on with by one workflow run: the one that closed it, or the first that finds it closed. */
async function claim(desk, { comment, state }) {
  const run = desk.env.GITHUB_RUN_ID;
  if (state.run === run) return state;
  if (state.run !== undefined || !(await makeRef(desk, `${state.id}/taken`)))
    return { ...state, isTakenElsewhere: true };
  const taken = { ...state, run };
  await write(desk, comment, taken);
  return taken;
}

/** Makes a ref; false if it is there already. */
async function makeRef({ github, repo, env }, name) {
  const sha = env.GITHUB_SHA;
  if (!sha) throw new Error("GITHUB_SHA is not set; this action belongs into a workflow");
  const body = { ref: `refs/askd/${name}`, sha };
  return (await github.send("POST", `/repos/${repo}/git/refs`, { body, expected: [201, 422] })).status === 201;
}

async function write({ github, repo, key }, comment, state) {
  const body = `${renderComment(state)}\n${writeState(state, key)}`;
  await github.send("PATCH", `/repos/${repo}/issues/comments/${comment.id}`, { body: { body } });
}

/** The outcome that another job is about to write; undefined if it does not. */
async function waitForOutcome({ github, repo, key, env }, comment) {
  const limitMs = Number(env.ASKD_TAKEOVER_MS ?? TAKEOVER_MS);
  for (let waitedMs = 0; waitedMs <= limitMs; waitedMs += LOOK_MS) {
    const { body } = await github.send("GET", `/repos/${repo}/issues/comments/${comment.id}`);
    const now = readState(body.body, key);
    if (now === undefined || now === "forged") throw new Error(`Somebody changed the state of comment ${comment.id}`);
    if (now.status !== "pending") return now;
    await pause(LOOK_MS);
  }
  return undefined;
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
