import { open, type FileHandle } from "node:fs/promises";
import { watchPath } from "./file-watch.ts";

/** The longest line that is returned whole. */
export const LINE_BYTES = 16 * 1024 * 1024;
const READ_BYTES = 256 * 1024;
/** The polling interval of a growing file; a watch event for every write would cost more than reading it. */
const BUSY_MS = 20;
/** The polling interval of a quiet, watched file: a watch can be refused, and some file systems have none. */
const QUIET_MS = 1000;
const NEWLINE = 0x0a;

/** One line of a file, without its end. */
export interface TailedLine {
  text: string;
  /** The offset of the end of this line. */
  end: number;
  /** The line exceeded the limit and was cut. */
  isCut: boolean;
}

export interface TailInput {
  /** The start offset in bytes. */
  from: number;
  /** Aborted when the writer has ended: the rest is read, then the iteration ends. */
  gone: AbortSignal;
  /** Aborted when the reader stops: the iteration ends at once. */
  stop?: AbortSignal;
  lineBytes?: number;
}

/** Yields the lines of a growing file in batches as they come; an unterminated last line comes last. */
export async function* tail(file: string, input: TailInput): AsyncGenerator<TailedLine[], void, undefined> {
  const handle = await open(file, "r");
  const growth = new GrowthWatch(file, [input.gone, input.stop]);
  const splitter = new LineSplitter(input.from, input.lineBytes ?? LINE_BYTES);
  const buffer = Buffer.allocUnsafe(READ_BYTES);
  try {
    await requireLength(handle, file, input.from);
    for (let position = input.from; !input.stop?.aborted;) {
      const wasGone = input.gone.aborted;
      growth.forget();
      const { bytesRead } = await handle.read(buffer, 0, READ_BYTES, position);
      position += bytesRead;
      const lines = splitter.add(buffer.subarray(0, bytesRead));
      if (lines.length > 0) yield lines;
      if (bytesRead === READ_BYTES) continue;
      if (bytesRead > 0) await growth.rest();
      else if (wasGone) break;
      else await growth.wait();
    }
    const last = splitter.end();
    if (last && !input.stop?.aborted) yield [last];
  } finally {
    growth.close();
    await handle.close();
  }
}

/** Splits chunks of bytes into lines. */
class LineSplitter {
  readonly #limit: number;
  #end: number;
  /** The unterminated start of a line; copied, as the buffer is reused. */
  #parts: Buffer[] = [];
  #partBytes = 0;
  #isCut = false;

  constructor(from: number, limit: number) {
    this.#end = from;
    this.#limit = limit;
  }

  add(bytes: Buffer): TailedLine[] {
    const lines: TailedLine[] = [];
    let start = 0;
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, start)) {
      lines.push(this.#line(bytes.subarray(start, at), 1));
      start = at + 1;
    }
    if (start < bytes.length) this.#keep(Buffer.from(bytes.subarray(start)));
    return lines;
  }

  /** The unterminated last line, if any. */
  end(): TailedLine | undefined {
    return this.#partBytes > 0 ? this.#line(Buffer.alloc(0), 0) : undefined;
  }

  #line(last: Buffer, endBytes: number): TailedLine {
    if (this.#parts.length === 0 && last.length <= this.#limit) {
      this.#end += last.length + endBytes;
      return { text: last.toString("utf8"), end: this.#end, isCut: false };
    }
    this.#keep(last);
    const kept = Buffer.concat(this.#parts);
    this.#end += this.#partBytes + endBytes;
    const line = { text: (this.#isCut ? wholeCharacters(kept) : kept).toString("utf8"), end: this.#end };
    const isCut = this.#isCut;
    this.#parts = [];
    this.#partBytes = 0;
    this.#isCut = false;
    return { ...line, isCut };
  }

  /** Counts all bytes and stores those within the limit. */
  #keep(part: Buffer): void {
    const room = Math.max(this.#limit - this.#partBytes, 0);
    if (part.length > room) this.#isCut = true;
    if (room > 0 && part.length > 0) this.#parts.push(part.subarray(0, room));
    this.#partBytes += part.length;
  }
}

/** Drops an incomplete character at the end. */
function wholeCharacters(bytes: Buffer): Buffer {
  let start = bytes.length - 1;
  while (start > 0 && start > bytes.length - 4 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start -= 1;
  const first = bytes[start] ?? 0;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  return start + length > bytes.length ? bytes.subarray(0, start) : bytes;
}

/** Waits until a file may have grown, or a signal aborts. */
class GrowthWatch {
  readonly #file: string;
  readonly #signals: AbortSignal[];
  readonly #notice = (): void => {
    this.#hasGrown = true;
    this.#wake();
  };
  #hasGrown = false;
  #wake = (): void => undefined;
  #unwatch: (() => void) | undefined;

  constructor(file: string, signals: ReadonlyArray<AbortSignal | undefined>) {
    this.#file = file;
    this.#signals = signals.filter((signal) => signal !== undefined);
    for (const signal of this.#signals) signal.addEventListener("abort", this.#notice);
  }

  /** Clears earlier changes, which are about to be read. */
  forget(): void {
    this.#hasGrown = false;
  }

  /** Pauses briefly while a file grows. */
  async rest(): Promise<void> {
    this.#unwatch?.();
    this.#unwatch = undefined;
    this.forget();
    await this.#pause(BUSY_MS);
  }

  /** Waits for a quiet file; the first call returns at once, as the file may have grown just before. */
  async wait(): Promise<void> {
    if (this.#unwatch) return this.#pause(QUIET_MS);
    this.#unwatch = watchPath(this.#file, this.#notice);
  }

  close(): void {
    this.#unwatch?.();
    for (const signal of this.#signals) signal.removeEventListener("abort", this.#notice);
  }

  async #pause(ms: number): Promise<void> {
    if (this.#hasGrown || this.#signals.some((signal) => signal.aborted)) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

async function requireLength(handle: FileHandle, file: string, from: number): Promise<void> {
  const { size } = await handle.stat();
  if (size < from) throw new Error(`${file} has ${size} bytes, but ${from} of it were read before`);
}
