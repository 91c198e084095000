import { type FileHandle, open } from "node:fs/promises";
import { type Run, hasEnded } from "../../core/run/run.ts";
import { isCode } from "../../core/error-code.ts";
import { unreachable } from "../../core/unreachable.ts";
import type { Agent, Sight } from "../agent.ts";
import { agents } from "../agents.ts";
import { findCallDetail } from "./call-detail.ts";

import { epochFile, listEpochs, runDirOf } from "./run-files.ts";

/** How much is read at a time, from the end or from where somebody stopped. */
const TAIL_BYTES = 64 * 1024;
const ENTRY_CHARS = 2_000;
const MOST_ENTRIES = 300;

/** One thing that an agent did or said, in its own words; nothing of it is made safe yet. */
export interface LogEntry {
  kind: "text" | "call" | "result" | "warning" | "failure" | "start";
  text: string;
  /** It goes on with the words of the entry before it. */
  isJoined?: boolean;
}

/** A part of the log, and where the next one begins. */
export interface LogPart {
  entries: LogEntry[];
  next: string;
  /** There is more before it that was left out. */
  isCut: boolean;
}

/** Where somebody stopped reading: which start of the agent, how many bytes, and whether words were left open. */
interface Place {
  epoch: number;
  bytes: number;
  isOpen: boolean;
}

const WORDS: Pick<Agent, "read"> = { read: (line) => [{ kind: "text", text: `${line}\n`, isPiece: true }] };

/** The end of what a run's agent did, or what it did since then; undefined where its files are not here. */
export async function findLog(stateDir: string, run: Run, from?: string): Promise<LogPart | undefined> {
  const runDir = runDirOf(stateDir, run.id);
  const epochs = await listEpochs(runDir, "out").catch((error: unknown) => {
    if (isCode(error, "ENOENT")) return undefined;
    throw error;
  });
  if (!epochs) return undefined;
  const place = parsePlace(from) ?? { epoch: epochs.at(-1) ?? 0, bytes: -1, isOpen: false };
  const entries: LogEntry[] = [];
  let at = place;
  let isCut = place.bytes < 0 && epochs.length > 1;
  for (const epoch of epochs.filter((each) => each >= place.epoch)) {
    if (epoch > place.epoch) {
      entries.push({ kind: "start", text: String(epoch) });
      at = { epoch, bytes: 0, isOpen: false };
    }
    // Nobody goes on with a line of an agent that is gone.
    const isWhole = epoch !== epochs.at(-1) || (hasEnded(run) && run.worker === undefined);
    const part = await readPart(epochFile(runDir, epoch, "out"), at, { agent: agents[run.agent] ?? WORDS, isWhole });
    entries.push(...part.entries);
    at = part.end;
    isCut ||= part.isCut;
    if (part.isFull) break; // the rest comes with the next part
  }
  const shown = from === undefined ? entries.slice(-MOST_ENTRIES) : entries;
  const next = `${at.epoch}.${Math.max(0, at.bytes)}.${at.isOpen ? 1 : 0}`;
  return { entries: shown, next, isCut: isCut || shown.length < entries.length };
}

function parsePlace(text: string | undefined): Place | undefined {
  const [, epoch, bytes, open] = /^(\d{1,9})\.(\d{1,15})\.([01])$/.exec(text ?? "") ?? [];
  return epoch === undefined ? undefined : { epoch: Number(epoch), bytes: Number(bytes), isOpen: open === "1" };
}

interface Reading {
  agent: Pick<Agent, "read">;
  /** Nothing is added to the file any more. */
  isWhole: boolean;
}

interface Part {
  entries: LogEntry[];
  end: Place;
  isCut: boolean;
  isFull: boolean;
}

/** Reads whole lines; a line without its end is left for the next time, unless none comes or it alone is a part. */
async function readPart(file: string, place: Place, { agent, isWhole }: Reading): Promise<Part> {
  const handle = await open(file, "r");
  try {
    const start = place.bytes < 0 ? Math.max(0, (await handle.stat()).size - TAIL_BYTES) : place.bytes;
    const bytes = await readAt(handle, start);
    const isFull = bytes.length === TAIL_BYTES && place.bytes >= 0;
    const isMiddle = place.bytes < 0 && start > 0;
    const first = isMiddle ? bytes.indexOf(0x0a) + 1 : 0;
    const last = bytes.lastIndexOf(0x0a) + 1;
    const end = (isWhole && !isFull) || (last === 0 && isFull) ? bytes.length : last;
    const text = bytes.subarray(first, Math.max(first, end)).toString("utf8");
    const lines = text === "" ? [] : text.replace(/\n$/, "").split("\n");
    const said = new Said(place.isOpen);
    for (const line of lines) for (const sight of agent.read(line)) said.add(sight, line);
    return {
      entries: said.entries,
      end: { epoch: place.epoch, bytes: start + Math.max(first, end), isOpen: said.isOpen },
      isCut: isMiddle,
      isFull,
    };
  } finally {
    await handle.close();
  }
}

async function readAt(handle: FileHandle, start: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(TAIL_BYTES);
  const { bytesRead } = await handle.read(buffer, 0, TAIL_BYTES, start);
  return buffer.subarray(0, bytesRead);
}

/** Puts together what lines show: pieces of words become whole lines where their end is there. */
class Said {
  readonly entries: LogEntry[] = [];
  isOpen: boolean;

  constructor(isOpen: boolean) {
    this.isOpen = isOpen;
  }

  add(sight: Sight, line: string): void {
    if (sight.kind === "text" && sight.isPiece) return this.#addPiece(sight.text);
    const entry = entryOf(sight, line);
    if (!entry) return;
    this.isOpen = false;
    this.entries.push({ ...entry, text: entry.text.slice(0, ENTRY_CHARS) });
  }

  #addPiece(piece: string): void {
    const lines = piece.split("\n");
    const rest = lines.pop() ?? "";
    for (const line of lines) this.#addWords(line, false);
    if (rest !== "") this.#addWords(rest, true);
  }

  #addWords(text: string, isOpen: boolean): void {
    const last = this.entries.at(-1);
    if (this.isOpen && last) last.text = (last.text + text).slice(0, ENTRY_CHARS);
    else this.entries.push({ kind: "text", text: text.slice(0, ENTRY_CHARS), ...(this.isOpen && { isJoined: true }) });
    this.isOpen = isOpen;
  }
}

function entryOf(sight: Sight, line: string): LogEntry | undefined {
  switch (sight.kind) {
    case "text":
      return sight.text === "" ? undefined : { kind: "text", text: sight.text };
    case "called":
      return { kind: "call", text: [sight.name, findCallDetail(line, sight.callId) ?? ""].join(" ").trim() };
    case "shown":
      return { kind: sight.isError ? "failure" : "result", text: sight.text.trim() };
    case "deferred":
      return { kind: "call", text: sight.name };
    case "warning":
      return { kind: "warning", text: sight.text };
    case "ended": {
      const { status, reason, summary } = sight.result;
      if (status === "completed") return undefined;
      return { kind: "failure", text: [status, reason, summary].filter((part) => part).join(": ") };
    }
    case "session":
    case "usage":
      return undefined;
    default:
      return unreachable(sight);
  }
}
