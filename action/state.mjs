// What the action keeps in the repository: the state of a question in a hidden part of its comment, and records in git
// commits. All of it is signed with a secret of the repository, and versioned.
import { createHmac, timingSafeEqual } from "node:crypto";

const VERSION = 1;
const STATE = /<!-- askd v1 state=([A-Za-z0-9_-]+)\.([0-9a-f]{64}) -->\s*$/;
const MARK = /<!-- askd v1 ([\w=/-]+)\.([0-9a-f]{64}) -->\s*$/;
const RECORD = /^askd v1 ([A-Za-z0-9_-]+)\.([0-9a-f]{64})\s*$/;
const LEAST_KEY_CHARS = 16;

/** The key that signs: without it anybody who can edit a comment could write an answer. */
export function readKey({ ASKD_KEY: key = "" }) {
  if (key.length >= LEAST_KEY_CHARS) return key;
  throw new Error(
    "Set ASKD_KEY: ${{ secrets.ASKD_KEY }} in env: of this step, a secret of at least 16 characters. Workflows of forks have no secrets: they cannot ask or read answers",
  );
}

export function writeState(state, key) {
  const text = pack({ ...state, v: VERSION });
  return `<!-- askd v1 state=${text}.${sign(text, key)} -->`;
}

/** The state of a comment: undefined if it has none, "forged" if somebody changed it. */
export function readState(body, key) {
  const [, text, signature] = STATE.exec(body ?? "") ?? [];
  if (text === undefined) return undefined;
  if (!isSignature(signature, text, key)) return "forged";
  const state = unpack(text);
  if (state.v !== VERSION)
    throw new Error(`The comment is of version ${state.v} of askd's state, and this action knows ${VERSION}`);
  return state;
}

/** The hidden mark of a comment that is no question; nobody else can write it before it is there. */
export function writeMark(name, key) {
  return `<!-- askd v1 ${name}.${sign(`mark ${name}`, key)} -->`;
}

/** Says whether this action wrote a comment, or somebody copied one of it. */
export function isSigned(body, key) {
  const [, text, signature] = STATE.exec(body ?? "") ?? [];
  if (text !== undefined) return isSignature(signature, text, key);
  const [, name, own] = MARK.exec(body ?? "") ?? [];
  return name !== undefined && isSignature(own, `mark ${name}`, key);
}

/** The message of the commit that keeps a record. */
export function writeRecord(record, key) {
  const text = pack(record);
  return `askd v1 ${text}.${sign(`record ${text}`, key)}`;
}

/** The record in the message of a commit; undefined if this action did not write it. */
export function readRecord(message, key) {
  const [, text, signature] = RECORD.exec(message ?? "") ?? [];
  return text !== undefined && isSignature(signature, `record ${text}`, key) ? unpack(text) : undefined;
}

function pack(value) {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

function unpack(text) {
  return JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
}

function sign(text, key) {
  return createHmac("sha256", key).update(text).digest("hex");
}

function isSignature(signature, text, key) {
  return timingSafeEqual(Buffer.from(sign(text, key), "hex"), Buffer.from(signature, "hex"));
}
