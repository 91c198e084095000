import { type Socket, connect } from "node:net";
import { DEFAULT_LIMITS } from "../../src/core/rules.ts";
import { aRun, anEvent } from "../builders.ts";
import { ROOMY, Scene } from "../scene.ts";
import { ServedScene } from "../served.ts";

const AT_ONCE = 20;
/** How far the writer may be ahead of the slowest reader. */
const MOST_AHEAD = 500;
const LARGE_EVENTS = 250;
const LARGE_CHARS = 60_000;
const LATEST_MS = 10_000;

export interface FanOutOptions {
  readers: number;
  /** Readers besides, that take nothing. */
  stalled: number;
  events: number;
}

export interface FanOutResult {
  delivered: number;
  seconds: number;
  p99Ms: number;
  dropped: number;
  /** By how much the process grew at most, clients and server together. */
  grownMb: number;
  problems: string[];
}

/**
 * Writes events to a server whom many read. Readers follow small events; those that are stalled are also sent large
 * ones, so that more waits for them than a machine's own buffers take.
 */
export async function fanOut({ readers, stalled, events }: FanOutOptions): Promise<FanOutResult> {
  const limits = { ...DEFAULT_LIMITS, streams: readers + stalled, streamsPerToken: readers + stalled };
  const at = await ServedScene.start({}, new Scene({ rules: { ...ROOMY, limits } }));
  const token = await at.token();
  const request = (query: string): string =>
    `GET /api/v1/events${query} HTTP/1.1\r\nHost: 127.0.0.1:${at.port}\r\nAccept: text/event-stream\r\nAuthorization: Bearer ${token}\r\n\r\n`;
  const writtenAt: number[] = [];
  const delays = new Uint32Array(LATEST_MS + 1);
  const reading: Reader[] = [];
  const stalling: Socket[] = [];
  try {
    for (let n = 0; n < readers; n += 1) {
      reading.push(
        await openReader(at.port, request("?types=question.*"), (mark) => countDelay(delays, writtenAt[mark])),
      );
    }
    for (let n = 0; n < stalled; n += 1) stalling.push(await openStalled(at.port, request("")));
    while (at.served.live.streams < readers + stalled) await turn();
    const startMb = memoryMb();
    let peakMb = startMb;
    const startedMs = performance.now();
    await write(at.scene, {
      events,
      writtenAt,
      slowest: () => slowestOf(reading),
      onTurn: () => (peakMb = Math.max(peakMb, memoryMb())),
    });
    const seconds = (performance.now() - startedMs) / 1000;
    const untilMs = performance.now() + LATEST_MS;
    while (at.served.live.streams > readers && performance.now() < untilMs) await turn();
    return {
      delivered: reading.reduce((sum, { next }) => sum + next, 0),
      seconds,
      p99Ms: percentile(delays, 0.99),
      dropped: readers + stalled - at.served.live.streams,
      grownMb: peakMb - startMb,
      problems: reading.flatMap(({ problem }) => problem ?? []),
    };
  } finally {
    for (const { socket } of reading) socket.destroy();
    for (const socket of stalling) socket.destroy();
    await at.stop();
  }
}

interface Reader {
  socket: Socket;
  /** The number of the event that comes next. */
  next: number;
  problem: string | undefined;
}

async function openReader(port: number, request: string, onMark: (mark: number) => void): Promise<Reader> {
  const socket = connect(port, "127.0.0.1");
  const reader: Reader = { socket, next: 0, problem: undefined };
  let rest = "";
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject);
    socket.once("data", () => resolve());
    socket.on("data", (chunk: Buffer) => {
      const text = rest + chunk.toString("latin1");
      const end = text.lastIndexOf("\n") + 1;
      rest = text.slice(end);
      for (const [, mark] of text.slice(0, end).matchAll(/"mark":(\d+)/g)) {
        if (Number(mark) !== reader.next) reader.problem ??= `got event ${mark}, not ${reader.next}`;
        onMark(Number(mark));
        reader.next += 1;
      }
    });
    socket.write(request);
  });
  socket.on("close", () => (reader.problem ??= `was cut off before event ${reader.next}`));
  return reader;
}

async function openStalled(port: number, request: string): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined); // being cut off is what is expected
  await new Promise<void>((resolve) => socket.once("connect", resolve));
  socket.pause();
  socket.write(request);
  return socket;
}

interface Writing {
  events: number;
  writtenAt: number[];
  slowest: () => Reader | undefined;
  onTurn: () => void;
}

async function write(scene: Scene, { events, writtenAt, slowest, onTurn }: Writing): Promise<void> {
  const run = aRun();
  await scene.store.commit({ runs: [run] });
  const large = { text: "x".repeat(LARGE_CHARS) };
  let larges = 0;
  for (let mark = 0; mark < events; mark += AT_ONCE) {
    const marks = Array.from({ length: Math.min(AT_ONCE, events - mark) }, (_, index) => mark + index);
    for (const each of marks) writtenAt[each] = performance.now();
    const small = marks.map((each) => anEvent({ type: "question.commented", runId: run.id, detail: { mark: each } }));
    await scene.store.commit({ events: small });
    for (; larges < (LARGE_EVENTS * (mark + AT_ONCE)) / events && larges < LARGE_EVENTS; larges += 1) {
      await scene.store.commit({
        events: [anEvent({ type: "workflow.step_completed", runId: run.id, detail: large })],
      });
    }
    while (isBehind(slowest(), mark - MOST_AHEAD)) await turn();
    onTurn();
    await turn();
  }
  while (isBehind(slowest(), events)) await turn();
}

function isBehind(reader: Reader | undefined, place: number): boolean {
  return reader !== undefined && reader.problem === undefined && reader.next < place;
}

function slowestOf(readers: readonly Reader[]): Reader | undefined {
  return readers.reduce<Reader | undefined>(
    (least, each) => (least && least.next <= each.next ? least : each),
    undefined,
  );
}

function countDelay(delays: Uint32Array, writtenAt: number | undefined): void {
  const ms = Math.min(LATEST_MS, Math.round(performance.now() - (writtenAt ?? 0)));
  delays[ms] = (delays[ms] ?? 0) + 1;
}

function percentile(delays: Uint32Array, part: number): number {
  const all = delays.reduce((sum, count) => sum + count, 0);
  let seen = 0;
  return delays.findIndex((count) => (seen += count) >= all * part);
}

function memoryMb(): number {
  return process.memoryUsage().rss / 1024 / 1024;
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
