import { type StdioOptions, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { Refusal } from "../../core/refusal.ts";
import type { Child, Detached } from "../context.ts";
import { decodeText } from "./decode-text.ts";

/** How long to wait for the first byte of a redirected input. */
const FIRST_BYTE_MS = 1_000;
const PIPED: StdioOptions = ["ignore", "pipe", "pipe"];

/** Runs a program to its end and passes its stderr on line by line. */
export function runChild(
  { argv, env = {}, cwd, stdio, onLine, input }: Child,
  parentEnv: Readonly<Record<string, string | undefined>>,
): Promise<{ exitCode: number; stdout: string }> {
  const [program = "", ...args] = argv;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      env: { ...parentEnv, ...env },
      cwd,
      stdio: stdio === "inherit" ? [input === undefined ? "inherit" : "pipe", "inherit", "inherit"] : PIPED,
    });
    // The reader may exit before the end of the input.
    child.stdin?.once("error", () => undefined).end(input);
    let stdout = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    if (child.stderr && onLine) createInterface({ input: child.stderr }).on("line", onLine);
    child.once("error", reject);
    child.once("close", (code) => resolve({ exitCode: code ?? 1, stdout }));
  });
}

/** Starts a program that outlives this one, detached from its terminal. */
export function detach({ argv, env, log }: Detached): void {
  mkdirSync(dirname(log), { recursive: true, mode: 0o700 });
  const out = openSync(log, "a", 0o600);
  const [program = "", ...args] = argv;
  const child = spawn(program, args, { cwd: "/", env, detached: true, stdio: ["ignore", out, out] });
  closeSync(out);
  child.once("error", () => undefined); // its jobs stay due, and the next command starts it again
  child.unref();
}

/** Reads a stream to its end; refuses more than the limit. */
export async function readAll(stream: NodeJS.ReadStream, limitBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Streams are typed for any kind of chunk; without an encoding they give bytes.
  for await (const chunk of stream as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > limitBytes) throw new Refusal("too_large", `The input is longer than ${limitBytes} bytes`);
    chunks.push(chunk);
  }
  return decodeText(Buffer.concat(chunks), "The input");
}

/**
 * Reads a redirected stream to its end; undefined if nothing comes soon: programs often leave the input of their
 * children open and never write to it.
 */
export async function readPiped(stream: NodeJS.ReadStream, limitBytes: number): Promise<string | undefined> {
  const isThere = await new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => resolve(false), FIRST_BYTE_MS);
    const settle = () => {
      clearTimeout(timer);
      resolve(true);
    };
    stream.once("readable", settle).once("end", settle).once("error", settle);
  });
  if (isThere) return stream.readableEnded ? "" : readAll(stream, limitBytes);
  stream.destroy();
  return undefined;
}

/** Reads one line without showing it. */
export function readHiddenLine(
  stream: NodeJS.ReadStream,
  shown: NodeJS.WriteStream,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const nowhere = new Writable({ write: (_bytes, _encoding, done) => done() });
  const line = readLine(stream, nowhere, signal);
  // Only now: from here on the terminal itself shows nothing either.
  shown.write("(It is not shown. Press Enter after it.)\n");
  return line;
}

/** Reads one line; undefined if the input ends or `signal` aborts. */
export function readLine(
  stream: NodeJS.ReadStream,
  echo: NodeJS.WritableStream,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const lines = createInterface({ input: stream, output: echo, terminal: stream.isTTY });
    const leave = (line?: string) => {
      resolve(line);
      lines.close();
    };
    lines.once("line", leave);
    lines.once("close", () => resolve(undefined));
    // The terminal is in raw mode and sends a character for Ctrl-C: without a signal it would be an empty line.
    lines.once("SIGINT", () => process.kill(process.pid, "SIGINT"));
    signal?.addEventListener("abort", () => leave(), { once: true });
    if (signal?.aborted) leave();
  });
}
