import type { ChannelResult } from "../core/channel/channel.ts";

const TIMEOUT_MS = 10_000;
const MOST_RESPONSE_BYTES = 1024 * 1024;

/** Runs a program of this machine to its end, without a shell; it is ended if it takes too long. */
export type RunProgram = (
  argv: readonly string[],
  options?: { env?: Readonly<Record<string, string>>; input?: string },
) => Promise<{ exitCode: number; stderr: string }>;

/** The ways out that a channel is given. */
export interface Outbound {
  /** Posts to an address that may come from anybody: only public addresses are connected to. */
  post(
    url: string,
    message: { body: string; headers: Record<string, string> },
  ): Promise<{ ok: boolean; isFinal: boolean; why: string; retryAfterMs?: number }>;
  fetch: typeof fetch;
  run: RunProgram;
  /** The clock that signed messages carry. */
  nowMs(): number;
}

/** The reply of a service: its status, and its body if that is JSON. */
export interface ServiceReply {
  status: number;
  body: unknown;
  headers: Headers;
  retryAfterMs: number | undefined;
}

/** A reply has more bytes than are read. */
export class ReplyTooLong extends Error {
  constructor() {
    super("the reply is too long");
  }
}

/** Sends JSON to a service and reads its reply; redirects, endless replies and silence are errors. */
export async function callService(
  outbound: Pick<Outbound, "fetch">,
  url: string,
  {
    method,
    json,
    headers = {},
    signal,
    timeoutMs = TIMEOUT_MS,
    mostBytes = MOST_RESPONSE_BYTES,
    redirect = "error",
  }: {
    method?: string;
    json?: unknown;
    headers?: Record<string, string>;
    signal?: AbortSignal;
    timeoutMs?: number;
    mostBytes?: number;
    /** `manual`: a redirect is a reply like any other; it is never followed. */
    redirect?: "error" | "manual";
  },
): Promise<ServiceReply> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const response = await outbound.fetch(url, {
    method: method ?? (json === undefined ? "GET" : "POST"),
    headers: {
      "user-agent": "askd",
      ...(json === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    redirect,
    signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
  });
  const text = await readText(response, mostBytes);
  const { status, headers: replied } = response;
  return { status, body: parseJson(text), headers: replied, retryAfterMs: readRetryAfter(replied) };
}

async function readText(response: Response, mostBytes: number) {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const body: AsyncIterable<Uint8Array> | null = response.body;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > mostBytes) throw new ReplyTooLong();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the status says enough
  }
}

function readRetryAfter(headers: Headers) {
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds * 1000 : undefined;
}

/** The connection was there and ended before a reply came. */
const CUT_OFF: ReadonlySet<string> = new Set([
  "ECONNRESET",
  "EPIPE",
  "UND_ERR_SOCKET",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
]);

/** Turns an error of the network into a result; nothing secret is in its message. */
export function networkFailure(error: unknown): Extract<ChannelResult, { ok: false }> {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const isSlow = error instanceof Error && error.name === "TimeoutError";
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : undefined;
  const why = isSlow ? "no reply in time" : `not reachable${code === undefined ? "" : ` (${code})`}`;
  return { ok: false, why, mayBeThere: isSlow || (code !== undefined && CUT_OFF.has(code)) };
}
