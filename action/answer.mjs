// The answer to a question: a ticked box, or a comment after it, by somebody who may write to the repository.
import { noteOnce } from "./own.mjs";
import { readAnswer, readTicks } from "./reply.mjs";
import { writeNotice } from "./runner.mjs";
import { isSigned } from "./state.mjs";

/** The comment of a closed question holds the answer, and GitHub takes 65,536 characters. */
const MOST_ANSWER_BYTES = 16_000;
const WRITING = new Set(["write", "admin"]);
const EDITS = `query($id: ID!) {
  node(id: $id) {
    ... on IssueComment {
      body
      userContentEdits(first: 20) { nodes { editedAt diff editor { login kind: __typename } } }
    }
  }
}`;

const NO_ACCESS = "Thank you. Only people with write access to this repository can answer.";
const TOO_LONG = "Your answer is too long for the comment. Please write it in fewer words.";

/** The first answer of somebody who may write; others are told so once. */
export async function findAnswer(desk, { comment, state }) {
  const tick = await findTick(desk, comment, state);
  if (tick) return tick;
  const { github, repo, key } = desk;
  const path = `/repos/${repo}/issues/${state.issue}/comments?per_page=100&since=${encodeURIComponent(comment.created_at)}`;
  const refused = new Map();
  for await (const reply of github.each(path)) {
    const { id, user, body } = reply;
    if (isSigned(body, key)) {
      for (const name of refused.keys()) if (body.includes(`<!-- askd v1 ${name}.`)) refused.set(name, undefined);
      continue;
    }
    // A state that was put into an older comment takes no answers from before its question.
    const isAfter = id > Math.max(comment.id, state.after ?? 0);
    if (!isAfter || user?.type !== "User" || reply.performed_via_github_app) continue;
    const said = readAnswer(body ?? "", state);
    if (!said) continue;
    const isAllowed = await mayWrite(desk, user.login);
    if (isAllowed && !isTooLong(said)) return { ...said, by: `@${user.login}`, at: reply.created_at };
    const name = `note=${state.id}/${isAllowed ? id : "people"}`;
    if (!refused.has(name)) refused.set(name, `@${user.login} ${isAllowed ? TOO_LONG : NO_ACCESS}`);
  }
  for (const [name, text] of refused) if (text !== undefined) await refuse(desk, { name, text, comment, state });
  return undefined;
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

async function mayWrite(desk, login) {
  const { github, repo } = desk;
  const path = `/repos/${repo}/collaborators/${encodeURIComponent(login)}/permission`;
  desk.rights ??= new Map();
  if (!desk.rights.has(login)) desk.rights.set(login, await github.send("GET", path, { expected: [200, 404] }));
  const { status, body } = desk.rights.get(login);
  return status === 200 && WRITING.has(body.permission);
}
