import { createInterface } from "node:readline";
import { Refusal } from "../core/refusal.ts";

/** Everything that comes in, up to a limit. */
export async function readAll(stream: NodeJS.ReadStream, limitBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    const buffer = Buffer.from(chunk);
    bytes += buffer.length;
    if (bytes > limitBytes) throw new Refusal("too_large", `The input is longer than ${limitBytes} bytes`);
    chunks.push(buffer);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** One line that a person types; undefined when the input ends or waiting is aborted. */
export function readLine(
  stream: NodeJS.ReadStream,
  echo: NodeJS.WriteStream,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const lines = createInterface({ input: stream, output: echo, terminal: stream.isTTY });
    const leave = (line?: string): void => {
      resolve(line);
      lines.close();
    };
    lines.once("line", leave);
    lines.once("close", () => resolve(undefined));
    lines.once("SIGINT", () => leave());
    signal?.addEventListener("abort", () => leave(), { once: true });
    if (signal?.aborted) leave();
  });
}
