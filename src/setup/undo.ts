import { createHash, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, readdir, rm, writeFile, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { replacePrivateFile } from "../agents/process/private-file.ts";
import type { FilePlan } from "./plan.ts";
import { type Json, isJson } from "../agents/json.ts";
import { type ConfigFile, findLock, readConfig, textOf, writeConfig } from "./config-file.ts";
import { editorFor } from "../edit/editor.ts";
import { withoutBlock } from "./project-file.ts";
import { applyToValue, valueAtPath, type Change, type Path, Unfit } from "../edit/change.ts";

const MANIFEST = "manifest.json";
const PRIVATE_DIR = 0o700;
const PRIVATE_FILE = 0o600;

const Path = z.array(z.union([z.string(), z.number()]));
const Change = z.discriminatedUnion("do", [
  z.object({ do: z.literal("set"), path: Path, value: z.unknown() }),
  z.object({ do: z.literal("append"), path: Path, value: z.unknown() }),
  z.object({ do: z.literal("remove"), path: Path }),
]);
const KeptFile = z.object({
  file: z.string(),
  real: z.string(),
  /** The name of the copy of what was there; null when there was no file. */
  copy: z.string().nullable(),
  before: z.string().nullable(),
  after: z.string(),
  /** Folders that had to be made for it, the topmost first. */
  folders: z.array(z.string()),
  how: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("settings"), format: z.enum(["json", "toml", "yaml"]), changes: z.array(Change) }),
    z.object({ kind: z.literal("new") }),
    z.object({ kind: z.literal("block") }),
  ]),
});
const Manifest = z.object({ version: z.literal(1), madeAt: z.string(), dir: z.string(), files: z.array(KeptFile) });

/** One file as it was before it was changed, and what it was changed to. */
export type KeptFile = z.infer<typeof KeptFile>;

/** The changes made at one time, and their copies. */
export interface SetupRecord {
  folder: string;
  madeAt: string;
  /** The project for which it was done. */
  dir: string;
  files: KeptFile[];
}

/** Keeps everything that it takes to undo the plans, before the first of them is carried out. */
export async function keepRecord(
  root: string,
  plans: readonly FilePlan[],
  at: { now: string; dir: string },
): Promise<SetupRecord> {
  const folder = join(root, `${at.now.replaceAll(/\D/g, "").slice(0, 17)}-${randomBytes(4).toString("hex")}`);
  await mkdir(folder, { recursive: true, mode: PRIVATE_DIR });
  const files: KeptFile[] = [];
  for (const [index, { file, real, before, after, how }] of plans.entries()) {
    const copy = before ? `${index}.copy` : null;
    if (before && copy !== null) await writeFile(join(folder, copy), before, { mode: PRIVATE_FILE });
    const hashes = { before: before ? hashOf(before) : null, after: hashOf(after) };
    files.push(KeptFile.parse({ file, real, copy, how, folders: missingFolders(dirname(real)), ...hashes }));
  }
  const manifest = { version: 1, madeAt: at.now, dir: at.dir, files };
  await replacePrivateFile(join(folder, MANIFEST), `${JSON.stringify(manifest, undefined, 2)}\n`);
  return { folder, madeAt: at.now, dir: at.dir, files };
}

/** Every record that was kept, newest first. */
export async function listRecords(root: string): Promise<SetupRecord[]> {
  const names = await readdir(root).catch(() => []); // nothing was ever kept
  const records: SetupRecord[] = [];
  for (const name of names.toSorted((one, other) => (one < other ? 1 : -1))) {
    const folder = join(root, name);
    const text = await readFile(join(folder, MANIFEST), "utf8").catch(() => undefined); // it was never finished
    if (text !== undefined) records.push({ folder, ...Manifest.parse(JSON.parse(text)) });
  }
  return records;
}

/** The earlier content of a file. */
export async function readCopy({ folder }: SetupRecord, { copy }: KeptFile): Promise<Buffer | undefined> {
  return copy === null ? undefined : readFile(join(folder, copy));
}

/** Forgets files that are as they were; the record goes with the last of them. */
export async function forget(record: SetupRecord, left: readonly KeptFile[]): Promise<void> {
  if (left.length === 0) return rm(record.folder, { recursive: true, force: true });
  const manifest = { version: 1, madeAt: record.madeAt, dir: record.dir, files: left };
  await replacePrivateFile(join(record.folder, MANIFEST), `${JSON.stringify(manifest, undefined, 2)}\n`);
}

function missingFolders(folder: string): string[] {
  return existsSync(folder) || dirname(folder) === folder ? [] : [...missingFolders(dirname(folder)), folder];
}

export function hashOf(bytes: Buffer | undefined): string {
  return createHash("sha256")
    .update(bytes ?? "")
    .digest("hex");
}

const PRIVATE_MODE = 0o600;

/** The result for a file: restored, removed, our part taken out, left to its new owner, or not undone. */
export type UndoResult =
  | { file: string; is: "restored" | "removed" | "taken_out" | "kept" }
  | { file: string; is: "failed"; why: string };

/** The records of one project, newest first. */
export async function recordsFor(root: string, dir: string): Promise<SetupRecord[]> {
  return (await listRecords(root)).filter((record) => record.dir === dir);
}

/** Undoes a record, file by file. What cannot be undone stays in it. */
export async function undoRecord(record: SetupRecord): Promise<UndoResult[]> {
  const undone: UndoResult[] = [];
  const left: KeptFile[] = [];
  for (const kept of record.files.toReversed()) {
    const one = await undoFile(record, kept);
    undone.push(one);
    if (one.is === "failed") left.unshift(kept);
  }
  await forget(record, left);
  return undone;
}

async function undoFile(record: SetupRecord, kept: KeptFile): Promise<UndoResult> {
  const { file } = kept;
  try {
    const now = await readConfig(file);
    const before = await readCopy(record, kept);
    if (isAsBefore(now, kept)) return { file, is: before ? "restored" : "removed" };
    const lock = await findLock(now.real);
    if (lock !== undefined) throw new Unfit(lock);
    if (hashOf(now.bytes) !== kept.after) return await takeOut(now, kept, before);
    if (before) await writeConfig(now.real, before, PRIVATE_MODE);
    else await removeFile(now.real, kept.folders);
    return { file, is: before ? "restored" : "removed" };
  } catch (error) {
    if (error instanceof Unfit) return { file, is: "failed", why: error.message };
    if (error instanceof Error && "code" in error) return { file, is: "failed", why: String(error.code) };
    throw error;
  }
}

/** The folders that were made for it go with it, unless somebody put something into them. */
async function removeFile(real: string, folders: readonly string[]): Promise<void> {
  await rm(real);
  for (const folder of folders.toReversed()) {
    const isEmpty = await rmdir(folder).then(
      () => true,
      () => false,
    );
    if (!isEmpty) return;
  }
}

function isAsBefore({ bytes }: ConfigFile, kept: KeptFile): boolean {
  return bytes === undefined ? kept.before === null : hashOf(bytes) === kept.before;
}

/** Somebody changed the file since: only what is ours goes. */
async function takeOut(
  { file, real, bytes }: ConfigFile,
  kept: KeptFile,
  before: Buffer | undefined,
): Promise<UndoResult> {
  if (bytes === undefined || kept.how.kind === "new") return { file, is: "kept" };
  const text = textOf(bytes);
  const after =
    kept.how.kind === "block" ? withoutBlock(text) : withoutChanges(text, kept.how, before ? textOf(before) : "");
  if (after !== text) await writeConfig(real, Buffer.from(after), PRIVATE_MODE);
  return { file, is: "taken_out" };
}

function withoutChanges(text: string, how: Extract<KeptFile["how"], { kind: "settings" }>, before: string): string {
  const editor = editorFor(how.format);
  const original = editor.parse(before);
  let current = editor.parse(text);
  let result = text;
  for (const made of how.changes.toReversed()) {
    const change = reverse(made, original, current);
    if (!change) continue;
    result = editor.apply(result, change);
    const wanted = applyToValue(current, change);
    current = editor.parse(result);
    // A mapping that lost its last member may be read as nothing.
    if (!isDeepStrictEqual(withoutEmpty(current), withoutEmpty(wanted))) {
      throw new Unfit("it is written in a way that ours cannot be taken out of");
    }
  }
  return result;
}

/** The change that reverts one change; undefined if somebody else reverted or changed it. */
function reverse(change: Change, original: Json, current: Json): Change | undefined {
  if (change.do === "remove") return undefined;
  const now = valueAtPath(current, change.path);
  if (change.do === "append") {
    const index = Array.isArray(now) ? now.findLastIndex((one) => isDeepStrictEqual(one, change.value)) : -1;
    return index < 0 ? undefined : { do: "remove", path: prune([...change.path, index], original, current) };
  }
  if (now === undefined) return undefined;
  const was = valueAtPath(original, change.path);
  if (was === undefined) return { do: "remove", path: prune(change.path, original, current) };
  return isDeepStrictEqual(now, change.value) ? { do: "set", path: change.path, value: was } : undefined;
}

/** The highest place that was not there before and holds nothing else. */
function prune(path: Path, original: Json, current: Json): Path {
  const parent = path.slice(0, -1);
  const holder = valueAtPath(current, parent);
  const members = Array.isArray(holder) ? holder.length : isJson(holder) ? Object.keys(holder).length : 0;
  if (parent.length === 0 || members > 1 || valueAtPath(original, parent) !== undefined) return path;
  return prune(parent, original, current);
}

function withoutEmpty(value: unknown): unknown {
  if (!isJson(value) || value instanceof Date) return value;
  const members = Object.entries(value).map(([name, inner]) => [name, withoutEmpty(inner)] as const);
  const full = members.filter(([, inner]) => inner !== null && !(isJson(inner) && Object.keys(inner).length === 0));
  return Object.fromEntries(full);
}
