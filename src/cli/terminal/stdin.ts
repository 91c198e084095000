import { createInterface } from "node:readline";
import { Refusal } from "../../core/refusal.ts";

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
  return Buffer.concat(chunks).toString("utf8");
}

/** Reads one line; undefined if the input ends or `signal` aborts. */
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
