import { createHash, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { replacePrivateFile } from "../agents/process/private-file.ts";
import type { FilePlan } from "./plan.ts";

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
