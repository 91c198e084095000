// The state of a question, in a hidden part of its comment: signed with a secret of the repository, and versioned.
import { createHmac, timingSafeEqual } from "node:crypto";

const VERSION = 1;
const STATE = /<!-- askd v1 state=([A-Za-z0-9_-]+)\.([0-9a-f]{64}) -->\s*$/;
const LEAST_KEY_CHARS = 16;

/** The key that signs states: without it anybody who can edit a comment could write an answer. */
export function readKey({ ASKD_KEY: key = "" }) {
  if (key.length >= LEAST_KEY_CHARS) return key;
  throw new Error(
    "Set ASKD_KEY: ${{ secrets.ASKD_KEY }} in env: of this step, a secret of at least 16 characters. Workflows of forks have no secrets: they cannot ask or read answers",
  );
}

export function writeState(state, key) {
  const text = Buffer.from(JSON.stringify({ ...state, v: VERSION })).toString("base64url");
  return `<!-- askd v1 state=${text}.${sign(text, key)} -->`;
}

/** The state of a comment: undefined if it has none, "forged" if somebody changed it. */
export function readState(body, key) {
  const [, text, signature] = STATE.exec(body ?? "") ?? [];
  if (text === undefined) return undefined;
  if (!timingSafeEqual(Buffer.from(sign(text, key), "hex"), Buffer.from(signature, "hex"))) return "forged";
  const state = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
  if (state.v !== VERSION)
    throw new Error(`The comment is of version ${state.v} of askd's state, and this action knows ${VERSION}`);
  return state;
}

function sign(text, key) {
  return createHmac("sha256", key).update(text).digest("hex");
}
