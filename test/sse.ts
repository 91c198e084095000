/** One event as it came over the stream. */
export interface Heard {
  id: string;
  event: string;
  data: Record<string, unknown>;
}

interface Hearing {
  token: string;
  after?: string;
  enough: (heard: Heard[]) => boolean;
  onHeard?: (heard: Heard) => void;
  onOpen?: () => void;
}

/** Reads a stream of events until it ends or until enough was heard; comments are counted. */
export async function hear(
  url: string,
  { token, after, enough, onHeard, onOpen }: Hearing,
): Promise<{ status: number; heard: Heard[]; comments: number }> {
  const stop = new AbortController();
  const heard: Heard[] = [];
  let comments = 0;
  let rest = "";
  const response = await fetch(url, {
    signal: stop.signal,
    headers: {
      authorization: `Bearer ${token}`,
      accept: "text/event-stream",
      ...(after !== undefined && { "last-event-id": after }),
    },
  });
  onOpen?.();
  if (!response.ok || !response.body) return { status: response.status, heard, comments };
  try {
    const decoder = new TextDecoder();
    for await (const chunk of response.body) {
      rest += decoder.decode(chunk as Uint8Array, { stream: true });
      const blocks = rest.split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const parsed = parseBlock(block);
        if (!parsed) comments += 1;
        if (!parsed) continue;
        heard.push(parsed);
        onHeard?.(parsed);
      }
      if (enough(heard)) break;
    }
  } catch {
    // the server went away; what was heard until then counts
  }
  stop.abort();
  return { status: response.status, heard, comments };
}

function parseBlock(block: string): Heard | undefined {
  const fields = new Map(block.split("\n").map((line) => [line.split(":")[0] ?? "", line.replace(/^\w*: ?/, "")]));
  const data = fields.get("data");
  if (data === undefined) return undefined;
  const parsed: Record<string, unknown> = JSON.parse(data);
  return { id: fields.get("id") ?? "", event: fields.get("event") ?? "", data: parsed };
}
