import { StringDecoder } from "node:string_decoder";
import type { Agent } from "../../../agents/agent.ts";
import { MAX_LINE_CHARS } from "../../../agents/json-line.ts";
import { findText } from "../../../agents/process/private-file.ts";
import { isCode } from "../../../core/error-code.ts";
import { epochFile, listEpochs } from "../../../agents/runner/run-files.ts";
import { LogLines } from "./log-lines.ts";
import { GrowingFiles } from "./growing-file.ts";
import { oneLine } from "../../view/sanitise.ts";
import type { Style } from "../../terminal/terminal.ts";

/** How the output of a run is wanted: in words, or byte by byte; what it printed, or what it complained of. */
export interface LogWish {
  runDir: string;
  kind: "out" | "err";
  /** Reads its lines; without one they are words as they are. */
  agent: Pick<Agent, "read"> | undefined;
  style: Style;
  write(text: string): void;
  /** Set where the bytes are wanted as they are. */
  writeRaw?: ((bytes: Buffer) => void) | undefined;
}

/** One start of the agent, as far as it was read. */
interface Reading {
  epoch: number;
  lines: LogLines;
  decoder: StringDecoder;
  /** The beginning of a line whose end has not come yet. */
  left: string;
}

const CODE_CHARS = 10;
const WORDS: Pick<Agent, "read"> = { read: (line) => [{ kind: "text", text: `${line}\n`, isPiece: true }] };

/** Writes out what all starts of an agent did, in their order, as far as it is there, and more each time. */
export class RunLog {
  readonly #wish: LogWish;
  readonly #files = new GrowingFiles();
  #reading: Reading | undefined;

  constructor(wish: LogWish) {
    this.#wish = wish;
  }

  /** Leaves out all that is there by now. */
  async skip(): Promise<void> {
    await this.#advance(() => undefined);
  }

  async more(): Promise<void> {
    await this.#advance((text) => this.#wish.write(text));
  }

  /** Writes out what is left: nobody writes any more. */
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
      ...{ epoch, decoder: new StringDecoder("utf8"), left: "" },
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

  /** The line between two starts. */
  async #sayAgain(before: number, epoch: number): Promise<string> {
    const { runDir, style, writeRaw } = this.#wish;
    if (writeRaw) return "";
    const code = (await findText(epochFile(runDir, before, "exit")))?.trim();
    const how = code ? ` (exit code ${oneLine(code).slice(0, CODE_CHARS)})` : "";
    return `${style.dim(`── stopped${how}, then resumed: start ${epoch} ──`)}\n`;
  }
}

async function listAll(runDir: string, kind: "out" | "err"): Promise<number[]> {
  try {
    return await listEpochs(runDir, kind);
  } catch (error) {
    if (isCode(error, "ENOENT")) return [];
    throw error;
  }
}

function joined(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}
