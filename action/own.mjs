// The comments of this action, among those of everybody else.
import { readState, writeMark } from "./state.mjs";

const STATE_START = "<!-- askd v1 state=";
/** How long the same comment may have been under way from another job. */
const RACE_MS = 15 * 60_000;

/** The account of the token; undefined for one of a program, whose comments say so themselves. */
export function findAccount(desk) {
  desk.account ??= desk.github.send("GET", "/user", { expected: [200, 403] });
  return desk.account.then(({ body }) => (body?.type === "User" ? body.login : undefined));
}

/**
 * The state of a question's comment, undefined for all other comments, "forged" if somebody changed it. A program's
 * comment is ours, and a person's if it was made with that person's token: a copy of one by anybody else is not.
 */
export async function readOwn(desk, { user, body }) {
  if (!user || !body?.includes(STATE_START)) return undefined;
  const state = readState(body, desk.key);
  if (state === undefined || user.type === "Bot") return state;
  const account = state === "forged" ? await findAccount(desk) : state.author;
  return account === user.login ? state : undefined;
}

/** The comment of a question in its issue, and the newest comment there; of comments since a time only. */
export async function findComment(desk, { issue, key, since }) {
  const { github, repo } = desk;
  const from = since === undefined ? undefined : new Date(Date.parse(since) - RACE_MS).toISOString();
  const query = from === undefined ? "" : `&since=${encodeURIComponent(from)}`;
  let [newest, isForged] = [0, false];
  for await (const comment of github.each(`/repos/${repo}/issues/${issue}/comments?per_page=100${query}`)) {
    newest = Math.max(newest, comment.id);
    const state = await readOwn(desk, comment);
    isForged ||= state === "forged";
    if (state === "forged" && !desk.isSweep)
      throw new Error(
        `Somebody changed the state of comment ${comment.id}, or ASKD_KEY is another one; delete the comment to ask again`,
      );
    if (state?.key === key && state.issue === issue && state.repo === repo) return { comment, state, newest };
  }
  return { newest, isForged };
}

/** Posts a comment unless it is there; of several jobs at the same time the first one's stays. */
export async function postOnce({ github, repo }, { issue, body, find }) {
  const found = await find();
  if (found) return found;
  const path = `/repos/${repo}/issues/${issue}/comments`;
  const { body: posted } = await github.send("POST", path, { body: { body }, expected: [201] });
  const first = await find(posted.created_at);
  if (!first || first.comment.id === posted.id) return undefined;
  const own = `/repos/${repo}/issues/comments/${posted.id}`;
  await github.send("DELETE", own, { expected: [204, 404] });
  return first;
}

/** Posts a comment that is no question, once by its name. */
export async function noteOnce(desk, { issue, name, text, since }) {
  const { github, repo, key } = desk;
  const mark = writeMark(name, key);
  const find = async () => {
    const path = `/repos/${repo}/issues/${issue}/comments?per_page=100&since=${encodeURIComponent(since)}`;
    for await (const comment of github.each(path)) if (comment.body?.includes(mark)) return { comment };
    return undefined;
  };
  await postOnce(desk, { issue, body: `${text}\n\n${mark}`, find });
}
