// The work of a job that ends before its question is answered: the files of the agent's session and the changes of the
// working tree. They are kept in the repository under a ref of their own, encrypted with the key that signs states.
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { applyChanges, readChanges } from "./git.mjs";
import { writeNotice } from "./runner.mjs";

const VERSION = 1;
const MOST_FILES = 2_000;
const MOST_BYTES = 30 * 1024 * 1024;
const MOST_UNPACKED_BYTES = 256 * 1024 * 1024;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Keeps the work; returns where it is, with the list of changed files. Without the input carry nothing is kept. */
export async function keepWork({ github, repo, env, key, clean }, state) {
  const paths = (env.INPUT_CARRY ?? "").split(/\r?\n/).map((line) => line.trim());
  if (paths.every((path) => path === "")) return undefined;
  const changes = readChanges(env);
  const stat = clean(changes?.stat);
  try {
    const files = paths.filter(Boolean).flatMap((path) => listFiles(homeOf(env), path));
    if (files.length > MOST_FILES) throw new Error(`${files.length} files are more than ${MOST_FILES}`);
    const session = files.map((path) => ({ path, text: readFileSync(join(homeOf(env), path)).toString("base64") }));
    const packed = gzipSync(JSON.stringify({ v: VERSION, session, patch: changes?.patch ?? "", base: changes?.base }));
    if (packed.length > MOST_BYTES) throw new Error(`${packed.length} bytes are more than ${MOST_BYTES}`);
    const sealed = seal(packed, key, state);
    const send = (path, body) => github.send("POST", `/repos/${repo}/git/${path}`, { body, expected: [201] });
    const blob = (await send("blobs", { content: sealed.toString("base64"), encoding: "base64" })).body.sha;
    const tree = (await send("trees", { tree: [{ path: "work", mode: "100644", type: "blob", sha: blob }] })).body.sha;
    const commit = (await send("commits", { message: `Work of ${state.id}`, tree })).body.sha;
    await send("refs", { ref: `refs/askd/${state.id}/work`, sha: commit });
    return { blob, digest: digestOf(sealed), stat, files: session.length };
  } catch (error) {
    // The question matters more: without the work the agent begins anew.
    writeNotice(`The work could not be kept: ${error.message}`);
    return { stat };
  }
}

/** Brings the work back into this job. `session` is carried or lost; empty if none was to be kept. */
export async function restoreWork({ github, repo, env, key }, state) {
  const { work } = state;
  if (!work) return { session: "", message: answerOf(state) };
  const read = await findWork({ github, repo, key }, state);
  if (!read) return { session: "lost", message: lostMessage(env, state) };
  for (const { path, text } of read.session) writeInside(homeOf(env), path, Buffer.from(text, "base64"));
  const file = applyChanges(env, read.patch);
  const rest = file === undefined ? "" : `\nThe changes do not fit the working tree any more; they are in ${file}`;
  if (read.session.length === 0) return { session: "lost", message: `${lostMessage(env, state)}${rest}` };
  return { session: "carried", message: `${answerOf(state)}${rest}` };
}

async function findWork({ github, repo, key }, state) {
  const { blob, digest } = state.work;
  if (!blob) return undefined;
  try {
    const { status, body } = await github.send("GET", `/repos/${repo}/git/blobs/${blob}`, { expected: [200, 404] });
    if (status !== 200) return undefined;
    const sealed = Buffer.from(body.content, "base64");
    if (digestOf(sealed) !== digest) throw new Error("it is not what was kept");
    const read = JSON.parse(
      gunzipSync(unseal(sealed, key, state), { maxOutputLength: MOST_UNPACKED_BYTES }).toString(),
    );
    if (read.v !== VERSION) throw new Error(`it is of version ${read.v}`);
    return read;
  } catch (error) {
    writeNotice(`The work cannot be read: ${error.message}`);
    return undefined;
  }
}

/** The files of a path below the home folder, or the file itself. */
function listFiles(home, path) {
  const whole = resolve(home, path.replace(/^~(?=\/|$)/, home));
  const inner = relative(home, whole);
  if (inner.startsWith("..") || isAbsolute(inner)) throw new Error(`${path} is not below the home folder`);
  if (!existsSync(whole)) return [];
  if (statSync(whole).isFile()) return [inner];
  return readdirSync(whole, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(home, join(entry.parentPath ?? entry.path, entry.name)));
}

/** Writes a file of the session; the seal says that it is ours, and the path is checked all the same. */
function writeInside(home, path, bytes) {
  const whole = resolve(home, path);
  if (!whole.startsWith(home + sep)) throw new Error("A file of the session is not below the home folder");
  mkdirSync(dirname(whole), { recursive: true });
  writeFileSync(whole, bytes, { mode: 0o600 });
}

function homeOf({ HOME }) {
  return resolve(HOME || homedir());
}

function digestOf(bytes) {
  return createHash("sha256").update(bytes).digest("hex");
}

/** The work belongs to one question: it cannot be brought back for another. */
function seal(bytes, key, state) {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv("aes-256-gcm", keyOf(key), iv).setAAD(Buffer.from(nameOf(state)));
  const text = Buffer.concat([cipher.update(bytes), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), text]);
}

function unseal(sealed, key, state) {
  const tagEnd = IV_BYTES + TAG_BYTES;
  const decipher = createDecipheriv("aes-256-gcm", keyOf(key), sealed.subarray(0, IV_BYTES));
  decipher.setAAD(Buffer.from(nameOf(state))).setAuthTag(sealed.subarray(IV_BYTES, tagEnd));
  return Buffer.concat([decipher.update(sealed.subarray(tagEnd)), decipher.final()]);
}

function keyOf(key) {
  return Buffer.from(hkdfSync("sha256", key, "", "askd work", 32));
}

function nameOf({ repo, issue, id }) {
  return `${repo}#${issue} ${id}`;
}

/** The answer in a sentence; what people wrote is quoted, so that it cannot pass for anything else. */
function answerOf({ text, status, answer, note, by, policy }) {
  const asked = `You asked: ${JSON.stringify(text)}`;
  if (status === "answered")
    return `${asked}\nAnswer by ${by}: ${JSON.stringify(answer)}${note ? `\nReason: ${JSON.stringify(note)}` : ""}`;
  if (answer !== undefined) return `${asked}\nNobody answered in time, so this applies: ${JSON.stringify(answer)}`;
  return `${asked}\nNobody answered in time: ${policy}`;
}

/** The message for an agent that begins anew: its task, the question and answer, and what was changed before. */
function lostMessage(env, state) {
  const prompt = (env.INPUT_PROMPT ?? "").trim();
  return [
    "The session in which you asked is lost; this is a new one.",
    ...(prompt === "" ? [] : [`The task: ${prompt}`]),
    answerOf(state),
    ...(state.work?.stat ? [`Files that you had changed:\n${state.work.stat}`] : []),
  ].join("\n");
}
