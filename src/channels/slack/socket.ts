import { setTimeout as sleep } from "node:timers/promises";
import { SocketModeClient } from "@slack/socket-mode";
import { Refusal } from "../../core/refusal.ts";
import { clientOptions, SILENT } from "./client.ts";
import { isTokenRefused, readFailure } from "./failure.ts";

/** Connections at the same time: while one is renewed, the other hears. Slack brings each delivery to one of them. */
const CONNECTIONS = 2;
/** Slack shows an error after 3 s without an acknowledgement. */
const ACKNOWLEDGE_MS = 2_000;
const PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

/** One delivery of Slack over a connection. */
export interface Envelope {
  type: string;
  body: unknown;
}

/** The body that acknowledges a delivery; undefined for an empty one. */
type Acknowledge = (envelope: Envelope) => Record<string, unknown> | undefined;

interface Incoming extends Envelope {
  /** Acknowledges it; once is enough. */
  done: () => void;
}

interface SocketOptions {
  readAppToken: () => string;
  url: string;
  signal: AbortSignal;
  acknowledge: Acknowledge;
}

/** Not from Slack: a connection is there, or none is and why. */
export const CONNECTED = "connected";
export const DISCONNECTED = "disconnected";

/**
 * Brings deliveries until aborted, and how the connections are. A delivery is acknowledged once the next one is asked for, because then it is in the
 * store; or after two seconds, whatever the store does. Throws a refusal if Slack refuses the token.
 */
export async function* receiveEnvelopes(options: SocketOptions): AsyncIterable<Envelope> {
  const queue = new EnvelopeQueue(options.acknowledge);
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const connections = Array.from({ length: CONNECTIONS }, () => keepConnected({ ...options, signal }, queue));
  // A connection ends only when it is refused or aborted, and then nothing more comes by the others either.
  const ended = Promise.race(connections).finally(() => queue.end());
  ended.catch(() => undefined); // it is awaited below, and may fail before that
  try {
    for (;;) {
      const next = await queue.take();
      if (!next) break;
      yield { type: next.type, body: next.body };
      next.done();
    }
    await ended;
  } finally {
    stop.abort();
    await Promise.allSettled(connections);
  }
}

/** Deliveries that wait to be read. */
class EnvelopeQueue {
  readonly #waiting: Incoming[] = [];
  readonly #acknowledge: Acknowledge;
  #wake = (): void => undefined;
  #isEnded = false;
  /** The connections that are there. */
  #open = 0;

  constructor(acknowledge: Acknowledge) {
    this.#acknowledge = acknowledge;
  }

  /** Takes a delivery in; it is acknowledged in time, even if nobody reads it. */
  add(envelope: Envelope, ack: (body?: Record<string, unknown>) => Promise<void>): void {
    let isDone = false;
    const done = () => {
      clearTimeout(timer);
      if (isDone) return;
      isDone = true;
      // The connection may be gone: then Slack brings it again, and it counts once.
      ack(this.#acknowledge(envelope)).catch(() => undefined);
    };
    const timer = setTimeout(done, ACKNOWLEDGE_MS);
    this.#waiting.push({ ...envelope, done });
    this.#wake();
  }

  /** Takes note of a connection that is there until the returned function is called. */
  open(): () => void {
    this.#open += 1;
    this.#tell({ type: CONNECTED, body: undefined });
    return () => void (this.#open -= 1);
  }

  /** Takes note of a connection that cannot be made; while another is there nothing is missed. */
  tellFailure(error: unknown): void {
    const { code, status, retryAfterS } = readFailure(error);
    const unnamed = status === 0 ? "Slack cannot be reached" : `status ${status}`;
    const why = retryAfterS === undefined ? code || unnamed : "Slack limits the rate";
    if (this.#open === 0) this.#tell({ type: DISCONNECTED, body: why });
  }

  #tell(state: Envelope) {
    this.#waiting.push({ ...state, done: () => undefined });
    this.#wake();
  }

  /** The next delivery; undefined after the end. */
  async take(): Promise<Incoming | undefined> {
    while (this.#waiting.length === 0 && !this.#isEnded) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#waiting.shift();
  }

  end(): void {
    this.#isEnded = true;
    this.#wake();
  }
}

/**
 * Keeps one connection. The client's own loop is off: it stays deaf for 5 s after each renewal, and a refused token
 * would end the process.
 */
async function keepConnected(options: SocketOptions, queue: EnvelopeQueue): Promise<void> {
  const { signal } = options;
  for (let failures = 0; !signal.aborted;) {
    try {
      await connectOnce(options, queue, () => (failures = 0));
      // A service that hangs up at once must not be called in a tight loop.
      if (failures > 0) await pause(PAUSE_MS, signal);
      failures += 1;
    } catch (error) {
      if (signal.aborted) return;
      if (isTokenRefused(error)) throw refusedToken(error);
      const limitMs = (readFailure(error).retryAfterS ?? 0) * 1000;
      queue.tellFailure(error);
      const waitMs = Math.min(LONGEST_PAUSE_MS, PAUSE_MS * 2 ** failures) * (0.5 + Math.random() / 2);
      failures += 1;
      await pause(Math.max(limitMs, waitMs), signal);
    }
  }
}

function refusedToken(error: unknown) {
  return new Refusal("sign_in", `Slack refuses the app-level token (${readFailure(error).code})`, {
    hint: "Make a new one, and type: askd setup slack",
  });
}

/** Connects, and returns as soon as Slack announces the end of the connection, or it is lost. */
async function connectOnce(
  { readAppToken, url, signal }: SocketOptions,
  queue: EnvelopeQueue,
  onHello: () => void,
): Promise<void> {
  const client = new SocketModeClient({
    appToken: readAppToken(),
    autoReconnectEnabled: false,
    logger: SILENT,
    clientOptions: clientOptions(url),
  });
  let end = (): void => undefined;
  let close = (): void => undefined;
  const ending = new Promise<void>((resolve) => {
    end = resolve;
    client.on("disconnected", () => resolve());
    // The client closes this connection; another one is opened at once, without waiting for the end of this one.
    client.on("ws_message", (text: unknown) => void (isDisconnect(text) && resolve()));
    signal.addEventListener("abort", end, { once: true });
  });
  client.on("slack_event", ({ ack, type, body }: SlackEvent) => queue.add({ type, body }, ack));
  try {
    const started = client.start();
    await Promise.race([started, ending]);
    if (signal.aborted) return;
    onHello();
    close = queue.open();
    await ending;
  } finally {
    close();
    // Connections are renewed for as long as the signal lives.
    signal.removeEventListener("abort", end);
    // A connection that is being renewed finishes what it has; one that is not needed any more is closed.
    if (signal.aborted) void client.disconnect().catch(() => undefined);
  }
}

interface SlackEvent extends Envelope {
  ack: (body?: Record<string, unknown>) => Promise<void>;
}

function isDisconnect(text: unknown) {
  return typeof text === "string" && text.startsWith("{") && text.includes('"type":"disconnect"');
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined); // aborted
}
