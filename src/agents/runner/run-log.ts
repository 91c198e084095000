import { type FileHandle, open } from "node:fs/promises";
import { type Run, hasEnded } from "../../core/run/run.ts";
import { hasErrorCode } from "../../core/error-code.ts";
import { unreachable } from "../../core/unreachable.ts";
import type { Agent, AgentEvent } from "../agent.ts";
import { type AgentRegistry, findAgent } from "../registry.ts";
import { findCallDetail } from "./call-detail.ts";

import { epochFile, listEpochs, runDirOf } from "./run-files.ts";

/** How much of the log is read at a time. */
const TAIL_BYTES = 64 * 1024;
const ENTRY_CHARS = 2_000;
const MOST_ENTRIES = 300;

/** One log entry of an agent, as foreign text. */
export interface LogEntry {
  kind: "text" | "call" | "result" | "warning" | "failure" | "start";
  text: string;
  /** It continues the text of the previous entry. */
  isJoined?: boolean;
}

/** A part of the log and the position of the next. */
export interface LogPart {
  entries: LogEntry[];
  next: string;
  /** Earlier entries were left out. */
  isCut: boolean;
}

/** A reading position: the epoch, the offset, and whether text was left open. */
interface LogPosition {
  epoch: number;
  bytes: number;
  isOpen: boolean;
}

const WORDS: Pick<Agent, "read"> = { read: (line) => [{ kind: "text", text: `${line}\n`, isPiece: true }] };

/** The end of what a run's agent did, or what it did since then; undefined where its files are not here. */
export async function findRunLog(
  { agents, stateDir }: { agents: AgentRegistry; stateDir: string },
  run: Run,
  from?: string,
): Promise<LogPart | undefined> {
  const runDir = runDirOf(stateDir, run.id);
  const epochs = await listEpochs(runDir, "out").catch((error: unknown) => {
    if (hasErrorCode(error, "ENOENT")) return undefined;
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
    // An unterminated line of an ended agent is final.
    const isWhole = epoch !== epochs.at(-1) || (hasEnded(run) && run.worker === undefined);
    const part = await readPart(epochFile(runDir, epoch, "out"), at, {
      agent: findAgent(agents, run.agent) ?? WORDS,
      isWhole,
    });
    entries.push(...part.entries);
    at = part.end;
    isCut ||= part.isCut;
    if (part.isFull) break; // the rest comes with the next part
  }
  const shown = from === undefined ? entries.slice(-MOST_ENTRIES) : entries;
  const next = `${at.epoch}.${Math.max(0, at.bytes)}.${at.isOpen ? 1 : 0}`;
  return { entries: shown, next, isCut: isCut || shown.length < entries.length };
}

function parsePlace(text: string | undefined): LogPosition | undefined {
  const [, epoch, bytes, open] = /^(\d{1,9})\.(\d{1,15})\.([01])$/.exec(text ?? "") ?? [];
  return epoch === undefined ? undefined : { epoch: Number(epoch), bytes: Number(bytes), isOpen: open === "1" };
}

interface PartOptions {
  agent: Pick<Agent, "read">;
  /** The file is complete. */
  isWhole: boolean;
}

interface LogRead {
  entries: LogEntry[];
  end: LogPosition;
  isCut: boolean;
  isFull: boolean;
}

/**
 * Reads whole lines; an unterminated line is left for the next time, unless the file is complete or the line fills the
 * part.
 */
async function readPart(file: string, place: LogPosition, { agent, isWhole }: PartOptions): Promise<LogRead> {
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
    const said = new LogEntries(place.isOpen);
    for (const line of lines) for (const event of agent.read(line)) said.add(event, line);
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

/** Builds log entries from agent events: chunks of text become whole lines. */
class LogEntries {
  readonly entries: LogEntry[] = [];
  isOpen: boolean;

  constructor(isOpen: boolean) {
    this.isOpen = isOpen;
  }

  add(event: AgentEvent, line: string): void {
    if (event.kind === "text" && event.isPiece) return this.#addPiece(event.text);
    const entry = entryOf(event, line);
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

function entryOf(event: AgentEvent, line: string): LogEntry | undefined {
  switch (event.kind) {
    case "text":
      return event.text === "" ? undefined : { kind: "text", text: event.text };
    case "called":
      return { kind: "call", text: [event.name, findCallDetail(line, event.callId) ?? ""].join(" ").trim() };
    case "shown":
      return { kind: event.isError ? "failure" : "result", text: event.text.trim() };
    case "deferred":
      return { kind: "call", text: event.name };
    case "warning":
      return { kind: "warning", text: event.text };
    case "ended": {
      const { status, reason, summary } = event.result;
      if (status === "completed") return undefined;
      return { kind: "failure", text: [status, reason, summary].filter((part) => part).join(": ") };
    }
    case "limit":
    case "session":
    case "turn":
    case "usage":
      return undefined;
    default:
      return unreachable(event);
  }
}
