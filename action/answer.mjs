// The answer to a question: a ticked box, or a comment after it, by somebody who may write to the repository.
import { cut } from "./comment.mjs";
import { findEdit } from "./edit.mjs";
import { noteOnce, readOwn } from "./own.mjs";
import { readAnswer, readTicks } from "./reply.mjs";
import { escaped, writeNotice } from "./runner.mjs";
import { isSigned } from "./state.mjs";

/** The comment of a closed question holds the answer, and GitHub takes 65,536 characters. */
const MOST_ANSWER_BYTES = 16_000;
/** What a note shows of an answer. */
const SAID_CHARS = 500;
const WRITING = new Set(["write", "admin"]);

const SEVERAL = "Several boxes are ticked; tick one, or reply with its letter.";
const NO_EDITOR = "GitHub does not say who ticked a box there. Please reply with its letter.";
const NO_AUTHOR = "GitHub does not say who edited your comment. Please write a new one.";
const NO_ACCESS = "Thank you. Only people with write access to this repository can answer.";
const LATE = "This question was closed: nobody answered in time";
const TOO_LONG = "Your answer is too long for the comment. Please write it in fewer words.";

/** The first answer of somebody who may write; others are told so once. */
export async function findAnswer(desk, { comment, state }) {
  const refused = new Map();
  const tick = await findTick(desk, { comment, state, refused });
  if (tick) return tick;
  const { github, repo, key } = desk;
  const path = `/repos/${repo}/issues/${state.issue}/comments?per_page=100&since=${encodeURIComponent(comment.created_at)}`;
  for await (const reply of github.each(path)) {
    const { id, user, body } = reply;
    if (isSigned(body, key)) {
      for (const name of refused.keys()) if (body.includes(`<!-- askd v1 ${name}.`)) refused.set(name, undefined);
      continue;
    }
    // A state that was put into an older comment takes no answers from before its question.
    const isAfter = id > Math.max(comment.id, state.after ?? 0);
    if (!isAfter || user?.type !== "User" || reply.performed_via_github_app) continue;
    const answer = readAnswer(body ?? "", state);
    if (!answer) continue;
    const author = await findAuthor(desk, { state, reply });
    if (author === undefined) return undefined; // the next look reads the comment again
    const { isNamed, ...said } = answer;
    if (isLate(state, author.at) && said.values.length === 0) continue; // people also talk
    const refusal = await findRefusal(desk, { state, reply, author, said, isNamed });
    if (!refusal) return { ...said, by: `@${author.login}`, at: author.at, reply: id };
    if (!refused.has(refusal.name)) refused.set(refusal.name, `@${author.login ?? user.login} ${refusal.why}`);
  }
  for (const [name, text] of refused) if (text !== undefined) await refuse(desk, { name, text, comment, state });
  return undefined;
}

/**
 * Who gave the answer in a comment: its author, or the person who edited the answer into it. Undefined if that is to be
 * asked again later. An edit in the second in which the comment was written shows in its edits only.
 */
async function findAuthor(desk, { state, reply }) {
  const edit = await findEdit(desk, reply, (text) => JSON.stringify(readAnswer(text, state)));
  if (edit === "unedited") return { login: reply.user.login, at: reply.created_at };
  if (edit === "unknown") writeNotice(`GitHub does not say at the moment who edited comment ${reply.id}`);
  return edit === "unknown" || edit === "changed" ? undefined : edit;
}

/** Why an answer does not count; undefined if it does. */
async function findRefusal(desk, { state, reply, author, said, isNamed }) {
  const name = (what) => `note=${state.id}/${what}`;
  if (author.login === undefined) return { name: name("author"), why: NO_AUTHOR };
  if (!(await mayWrite(desk, author.login))) return { name: name("people"), why: NO_ACCESS };
  if (isLate(state, author.at)) return { name: name("late"), why: LATE };
  if (isTooLong(said)) return { name: name(reply.id), why: TOO_LONG };
  const open = isNamed ? [] : await findOpen(desk, { issue: state.issue, reply });
  const ids = [...new Set([state.id, ...open])].toSorted((one, other) => one.localeCompare(other));
  if (ids.length === 1) return undefined;
  const commands = ids.map((id) => `\`/answer ${id} …\``).join(", ");
  return {
    name: `note=${ids[0]}/which`,
    why: `${ids.length} questions wait here. Say which one you answer: ${commands}`,
  };
}

/** The questions of an issue that waited when a comment was written, as far as they are closed by now or not. */
async function findOpen(desk, { issue, reply }) {
  const known = new Map();
  for await (const comment of desk.github.each(`/repos/${desk.repo}/issues/${issue}/comments?per_page=100`)) {
    if (comment.id > reply.id) break;
    const state = await readOwn(desk, comment);
    if (state?.repo === desk.repo && state.issue === issue && !known.has(state.key)) known.set(state.key, state);
  }
  return [...known.values()].filter((state) => isOpenAt(state, reply)).map(({ id }) => id);
}

function isOpenAt(state, { id, created_at: saidAt }) {
  const { status, reply, at } = state;
  if (status === "pending") return !isLate(state, saidAt);
  return reply === undefined ? Date.parse(at) >= Date.parse(saidAt) : reply >= id;
}

/** After the deadline there is no answer, whether or not a job has run since; GitHub's times have whole seconds. */
function isLate({ dueAt, onTimeout }, saidAt) {
  return dueAt !== undefined && onTimeout !== "wait" && Date.parse(saidAt) > Date.parse(dueAt);
}

function isTooLong({ answer, note = "" }) {
  return Buffer.byteLength(JSON.stringify(answer + note)) > MOST_ANSWER_BYTES;
}

/** Says why a comment is no answer; a reply that cannot be posted must not keep the question from the next answer. */
async function refuse(desk, { name, text, comment, state }) {
  try {
    await noteOnce(desk, { issue: state.issue, name, text, since: comment.created_at });
  } catch (error) {
    writeNotice(`A comment could not be replied to with ${JSON.stringify(text)}: ${error.message}`);
  }
}

/** A tick counts for the person who set it; if GitHub names nobody, it does not count. */
async function findTick(desk, { comment, state, refused }) {
  const ticks = readTicks(comment.body, state);
  const refuse = (name, text) => void refused.set(`note=${state.id}/${name}`, text);
  if (ticks.length > 1) refuse("ticks", SEVERAL);
  if (ticks.length !== 1) return undefined;
  const edit = await findEdit(desk, comment, (text) =>
    readTicks(text, state)
      .map(({ key }) => key)
      .join(),
  );
  if (edit === "changed") return undefined; // the next look brings the comment as it is by now
  const { login, at } = edit; // without a login also if GitHub does not know of an edit
  if (login === undefined) return refuse("editor", NO_EDITOR);
  if (!(await mayWrite(desk, login))) return refuse("people", `@${login} ${NO_ACCESS}`);
  if (isLate(state, at)) return refuse("late", `@${login} ${LATE}`);
  const [{ value }] = ticks;
  return { answer: value, values: [value], by: `@${login}`, at };
}

/** Tells the author of the event's comment that it comes after the answer, once per question. */
export async function tellLate(desk, { comment, state }) {
  const { comment: said, action } = desk.event;
  const isNew = action === "created" && said?.user?.type === "User" && !said.performed_via_github_app;
  if (!isNew || said.id <= comment.id || said.id === state.reply || isSigned(said.body, desk.key)) return;
  const answer = readAnswer(said.body ?? "", state);
  if (!answer || answer.values.length === 0 || !(await mayWrite(desk, said.user.login))) return;
  const open = answer.isNamed ? [] : await findOpen(desk, { issue: state.issue, reply: said });
  if (open.some((id) => id !== state.id)) return; // it is about that one
  const outcome =
    state.status === "answered"
      ? `This question was already answered by ${escaped(state.by)}: ${cut(state.answer, SAID_CHARS)}`
      : LATE;
  await refuse(desk, {
    name: `note=${state.id}/late`,
    text: `@${said.user.login} ${outcome}`,
    comment,
    state,
  });
}

async function mayWrite(desk, login) {
  const { github, repo } = desk;
  const path = `/repos/${repo}/collaborators/${encodeURIComponent(login)}/permission`;
  desk.rights ??= new Map();
  if (!desk.rights.has(login)) desk.rights.set(login, await github.send("GET", path, { expected: [200, 404] }));
  const { status, body } = desk.rights.get(login);
  return status === 200 && WRITING.has(body.permission);
}
