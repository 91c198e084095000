const LONGEST_LINE = 64 * 1024;

/** Reads a response of JSON lines as they come; a stream that is silent for too long, or a line without end, fails. */
export async function* readJsonLines(
  response: Response,
  { silenceMs, signal }: { silenceMs: number; signal: AbortSignal },
): AsyncIterable<unknown> {
  if (!response.body) return;
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    while (!signal.aborted) {
      const { done, value } = await within(silenceMs, reader);
      if (done) return;
      const lines = `${rest}${decoder.decode(value, { stream: true })}`.split("\n");
      rest = lines.pop() ?? "";
      if (rest.length > LONGEST_LINE) throw new Error("the service sent a line without end");
      for (const line of lines) if (line.trim() !== "") yield JSON.parse(line);
    }
  } finally {
    await reader.cancel().catch(() => undefined); // the connection is closed either way
  }
}

async function within(ms: number, reader: ReadableStreamDefaultReader<Uint8Array>) {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing came for ${ms / 1000} s`)), ms);
  });
  try {
    return await Promise.race([reader.read(), silence]);
  } finally {
    clearTimeout(timer);
  }
}
