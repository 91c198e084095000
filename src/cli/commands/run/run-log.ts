import { StringDecoder } from "node:string_decoder";
import { open } from "node:fs/promises";
import type { Agent, AgentEvent } from "../../../agents/agent.ts";
import { MAX_LINE_CHARS } from "../../../agents/json.ts";
import { findFileText } from "../../../agents/process/private-file.ts";
import { hasErrorCode } from "../../../core/error-code.ts";
import { epochFile, listEpochs } from "../../../agents/runner/run-files.ts";
import { findCallDetail } from "../../../agents/runner/call-detail.ts";
import { unreachable } from "../../../core/unreachable.ts";
import { oneLine, sanitise } from "../../view/sanitise.ts";
import { type Style, cutCells } from "../../terminal/terminal.ts";

/** How to print the output of a run: readable or raw, stdout or stderr. */
interface RunLogOptions {
  runDir: string;
  kind: "out" | "err";
  /** Parses its lines; without an agent they are plain text. */
  agent: Pick<Agent, "read"> | undefined;
  style: Style;
  write(text: string): void;
  /** Receives the raw bytes; set for raw output. */
  writeRaw?: ((bytes: Buffer) => void) | undefined;
}

/** The reading state of one start of the agent. */
interface Reading {
  epoch: number;
  lines: LogLines;
  decoder: StringDecoder;
  /** The beginning of a line that is not complete yet. */
  left: string;
}

const CODE_CHARS = 10;
const WORDS: Pick<Agent, "read"> = { read: (line) => [{ kind: "text", text: `${line}\n`, isPiece: true }] };

const RESULT_CELLS = 100;

const COPY_BYTES = 256 * 1024;

/** Prints the output of all starts of an agent in order, and what is new on each call. */
export class RunLog {
  readonly #wish: RunLogOptions;
  readonly #files = new GrowingFiles();
  #reading: Reading | undefined;

  constructor(wish: RunLogOptions) {
    this.#wish = wish;
  }

  /** Skips everything written so far. */
  async skip(): Promise<void> {
    await this.#advance(() => undefined);
  }

  async more(): Promise<void> {
    await this.#advance((text) => this.#wish.write(text));
  }

  /** Prints the rest after the last writer has ended. */
  async end(): Promise<void> {
    await this.more();
    this.#close((text) => this.#wish.write(text));
  }

  async #advance(write: (text: string) => void) {
    const { runDir, kind } = this.#wish;
    for (const epoch of await listAll(runDir, kind)) {
      if (this.#reading && epoch < this.#reading.epoch) continue;
      if (this.#reading && epoch > this.#reading.epoch) {
        this.#close(write);
        write(await this.#sayAgain(this.#reading.epoch, epoch));
      }
      if (this.#reading?.epoch !== epoch) this.#reading = this.#open(epoch);
      const reading = this.#reading;
      await this.#files.read(epochFile(runDir, epoch, kind), (bytes) => this.#take(bytes, reading, write));
    }
  }

  #open(epoch: number): Reading {
    const { agent = WORDS, kind, style } = this.#wish;
    return {
      epoch,
      decoder: new StringDecoder("utf8"),
      left: "",
      lines: new LogLines(kind === "err" ? WORDS : agent, style),
    };
  }

  #take(bytes: Buffer, reading: Reading, write: (text: string) => void) {
    const { writeRaw } = this.#wish;
    if (writeRaw) return writeRaw(bytes);
    const lines = (reading.left + reading.decoder.write(bytes)).split("\n");
    reading.left = (lines.pop() ?? "").slice(0, MAX_LINE_CHARS);
    write(joined(lines.flatMap((line) => reading.lines.take(line))));
  }

  #close(write: (text: string) => void) {
    const { writeRaw } = this.#wish;
    const reading = this.#reading;
    if (!reading || writeRaw) return;
    const left = reading.left + reading.decoder.end();
    reading.left = "";
    write(joined([...(left === "" ? [] : reading.lines.take(left)), ...reading.lines.end()]));
  }

  /** The separator between two starts. */
  async #sayAgain(before: number, epoch: number) {
    const { runDir, style, writeRaw } = this.#wish;
    if (writeRaw) return "";
    const code = (await findFileText(epochFile(runDir, before, "exit")))?.trim();
    const how = code ? ` (exit code ${oneLine(code).slice(0, CODE_CHARS)})` : "";
    return `${style.dim(`── stopped${how}, then resumed: start ${epoch} ──`)}\n`;
  }
}

async function listAll(runDir: string, kind: "out" | "err") {
  try {
    return await listEpochs(runDir, kind);
  } catch (error) {
    if (hasErrorCode(error, "ENOENT")) return [];
    throw error;
  }
}

function joined(lines: readonly string[]) {
  return lines.map((line) => `${line}\n`).join("");
}

/** Turns the output of one start of an agent into readable, sanitised lines. */
export class LogLines {
  readonly #agent: Pick<Agent, "read">;
  readonly #style: Style;
  /** The beginning of a line that is not complete yet. */
  #words = "";

  constructor(agent: Pick<Agent, "read">, style: Style) {
    this.#agent = agent;
    this.#style = style;
  }

  /** The readable lines for one line of the agent's output; often none. */
  take(line: string): string[] {
    return this.#agent.read(line).flatMap((sight) => this.#say(sight, line));
  }

  /** Flushes the incomplete line at the end of the output. */
  end(): string[] {
    const left = this.#words;
    this.#words = "";
    return left === "" ? [] : [sanitise(left)];
  }

  #say(sight: AgentEvent, line: string) {
    if (sight.kind === "text" && sight.isPiece) return this.#add(sight.text);
    const said = this.#sayWhole(sight, line);
    return said.length > 0 ? [...this.end(), ...said] : [];
  }

  #add(piece: string) {
    const lines = (this.#words + piece).split("\n");
    this.#words = lines.pop() ?? "";
    return lines.map(sanitise);
  }

  #sayWhole(sight: AgentEvent, line: string) {
    switch (sight.kind) {
      case "text":
        return sight.text === "" ? [] : sanitise(sight.text).split("\n");
      case "called": {
        const detail = oneLine(findCallDetail(line, sight.callId) ?? "");
        return [`→ ${oneLine(sight.name)}${detail === "" ? "" : ` ${cutCells(detail, RESULT_CELLS)}`}`];
      }
      case "shown":
        return [this.#style.dim(`  ${sight.isError ? "✗ " : ""}${shorten(sight.text)}`)];
      case "deferred":
        return [`→ ${oneLine(sight.name)} (waits for a person)`];
      case "warning":
        return [this.#style.yellow(`! ${oneLine(sight.text)}`)];
      case "ended": {
        if (sight.result.status === "completed") return [];
        const why = [sight.result.reason, sight.result.summary]
          .filter((part) => part)
          .map((part) => oneLine(part ?? ""));
        return [this.#style.red(`✗ ${[sight.result.status, ...why].join(": ")}`)];
      }
      case "limit":
        return [this.#style.yellow(`! its usage limit ends at ${sight.endsAt}`)];
      case "session":
      case "turn":
      case "usage":
        return [];
      default:
        return unreachable(sight);
    }
  }
}

/** The first line of a result, and the number of lines. */
function shorten(text: string) {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const first = cutCells(oneLine(lines[0] ?? "(nothing)"), RESULT_CELLS);
  return lines.length > 1 ? `${first} (${lines.length} lines)` : first;
}

/** Reads growing files: each read returns the bytes since the last one. */
export class GrowingFiles {
  readonly #done = new Map<string, number>();

  /** Passes on the new bytes of a file; none while it does not exist. */
  async read(file: string, take: (bytes: Buffer) => void): Promise<void> {
    const handle = await open(file, "r").catch((error: unknown) => {
      if (hasErrorCode(error, "ENOENT")) return undefined;
      throw error;
    });
    if (!handle) return;
    try {
      for (let at = this.#done.get(file) ?? 0; ;) {
        const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(COPY_BYTES), 0, COPY_BYTES, at);
        if (bytesRead === 0) break;
        take(buffer.subarray(0, bytesRead));
        at += bytesRead;
        this.#done.set(file, at);
      }
    } finally {
      await handle.close();
    }
  }
}
