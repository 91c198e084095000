import { StringDecoder } from "node:string_decoder";
import type { Agent } from "../../../agents/agent.ts";
import { MAX_LINE_CHARS } from "../../../agents/json.ts";
import { findFileText } from "../../../agents/process/private-file.ts";
import { hasErrorCode } from "../../../core/error-code.ts";
import { epochFile, listEpochs } from "../../../agents/runner/run-files.ts";
import { LogLines } from "./log-lines.ts";
import { GrowingFiles } from "./growing-file.ts";
import { oneLine } from "../../view/sanitise.ts";
import type { Style } from "../../terminal/terminal.ts";

/** How to print the output of a run: readable or raw, stdout or stderr. */
export interface RunLogOptions {
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

  async #advance(write: (text: string) => void): Promise<void> {
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

  #take(bytes: Buffer, reading: Reading, write: (text: string) => void): void {
    const { writeRaw } = this.#wish;
    if (writeRaw) return writeRaw(bytes);
    const lines = (reading.left + reading.decoder.write(bytes)).split("\n");
    reading.left = (lines.pop() ?? "").slice(0, MAX_LINE_CHARS);
    write(joined(lines.flatMap((line) => reading.lines.take(line))));
  }

  #close(write: (text: string) => void): void {
    const { writeRaw } = this.#wish;
    const reading = this.#reading;
    if (!reading || writeRaw) return;
    const left = reading.left + reading.decoder.end();
    reading.left = "";
    write(joined([...(left === "" ? [] : reading.lines.take(left)), ...reading.lines.end()]));
  }

  /** The separator between two starts. */
  async #sayAgain(before: number, epoch: number): Promise<string> {
    const { runDir, style, writeRaw } = this.#wish;
    if (writeRaw) return "";
    const code = (await findFileText(epochFile(runDir, before, "exit")))?.trim();
    const how = code ? ` (exit code ${oneLine(code).slice(0, CODE_CHARS)})` : "";
    return `${style.dim(`── stopped${how}, then resumed: start ${epoch} ──`)}\n`;
  }
}

async function listAll(runDir: string, kind: "out" | "err"): Promise<number[]> {
  try {
    return await listEpochs(runDir, kind);
  } catch (error) {
    if (hasErrorCode(error, "ENOENT")) return [];
    throw error;
  }
}

function joined(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}
