// A scheduled look at all questions of a repository: at those that wait, and at those that were closed lately.
import { findComment } from "./own.mjs";
import { deleteRecord, findRecord, listRecords } from "./record.mjs";
import { settle, write } from "./settle.mjs";

const HOUR_MS = 3_600_000;
/** How long the records of a closed question are kept: its workflow may be run again. */
const KEPT_MS = 7 * 24 * HOUR_MS;
/** GitHub says so of an issue that was deleted or moved. */
const GONE = new Set([301, 404, 410]);

/**
 * Takes answers, ends what is too old, and forgets what was closed long ago; returns the last question that it looked
 * into. A question that cannot be looked at holds no other.
 */
export async function sweep(desk) {
  const problems = [];
  let last;
  for (const [id, names] of await listRecords(desk)) {
    if (!names.has("asked")) continue; // it was forgotten before somebody went on with it
    try {
      last = (await lookAt({ ...desk, isSweep: true }, { id, names })) ?? last;
    } catch (error) {
      problems.push(`${id}: ${error.message}`);
    }
  }
  if (problems.length > 0) throw new Error(problems.join("\n"));
  return last;
}

async function lookAt(desk, { id, names }) {
  const { repo, nowMs } = desk;
  const { issue, key, askedAt } = await findRecord(desk, id, "asked");
  const { comment, state, isForged } = await findAsked(desk, { issue, key, repo, since: askedAt });
  // The same question twice is left by a job that died while it asked: the first one counts.
  if (state?.id !== id) {
    if (isForged)
      throw new Error(`Somebody changed the state of a comment in issue ${issue}, or ASKD_KEY is another one`);
    // Perhaps a job is about to post it.
    if (Date.parse(askedAt) < nowMs - HOUR_MS) await forget(desk, { id, names });
    return undefined;
  }
  if (state.status === "pending") return settle(desk, { comment, state });
  if (Date.parse(state.at) >= nowMs - KEPT_MS) return undefined;
  if (names.has("taken")) await write(desk, comment, { ...state, isTaken: true });
  await forget(desk, { id, names });
  return undefined;
}

async function findAsked(desk, wanted) {
  try {
    return await findComment(desk, wanted);
  } catch (error) {
    if (GONE.has(error.status)) return {};
    throw error;
  }
}

/** Deletes all that is kept of a question; the record that leads here goes last. */
async function forget(desk, { id, names }) {
  const others = [...names].filter((name) => name !== "asked");
  for (const name of [...others, "asked"]) await deleteRecord(desk, id, name);
}
