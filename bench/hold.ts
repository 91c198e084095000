import { loadavg } from "node:os";
import { Client, times } from "./client.ts";
import { serveAskd, serveBareHold, serveBareMcp } from "./served.ts";
import { ServerProcess } from "./server-process.ts";

// npm run bench:hold -- 10000
const [mode, kind, directory = ""] = process.argv.slice(2);
const COUNT = Number(mode ?? 10_000);
const ASKING = 32;
const WAVE = 250;
const WARM = 500;
/** Sooner than the first of those that are held is let go. */
const LONGEST_MS = 240_000;

/** One way of being held: what is to be there before, and a call that comes back with its own answer or with none. */
interface Way {
  name: string;
  kind: "askd" | "bare" | "bare-mcp";
  prepare?(server: ServerProcess, numbers: readonly number[]): Promise<string[]>;
  hold(client: Client, n: number, id: string | undefined): Promise<Got>;
}

/** What a caller got: of which question, whether it was its own answer, and when. */
interface Got {
  id: string;
  isOwn: boolean;
  atMs: number;
}

interface Measured {
  rssBytes: number;
  heapBytes: number;
  /** How long all answers took to be on disk, where they are put there. */
  answeredMs: number;
  /** From an answer to its caller, when nothing else happens and when all are answered at once. */
  quietMs: number[];
  burstMs: number[];
  seenMs: number;
  cpuMs: number;
  asked: number;
}

const bareHono: Way = {
  name: "bare hono, a promise each",
  kind: "bare",
  hold: async (client, n) => {
    const { body, atMs } = await client.send("GET", `/hold/${n}`);
    return { id: String(n), isOwn: body["answer"] === `answer to ${n}`, atMs };
  },
};
const restWait: Way = { name: "askd, REST wait", kind: "askd", prepare: askAll, hold: waitForAnswer };
const bareMcp: Way = {
  name: "bare MCP library, a promise each",
  kind: "bare-mcp",
  hold: async (client, n) => ({ ...(await callTool(client, { mark: n }, `answer ${n}`)), id: String(n) }),
};
const mcpHold: Way = {
  name: "askd, MCP ask_human",
  kind: "askd",
  hold: (client, n) => callTool(client, { ...asked(n), timeout_seconds: 600 }, `Redis ${n}`),
};

if (mode === "serve") await serve();
else {
  console.log(`${COUNT} held calls in one server process, all answered at once; Node ${process.versions.node}`);
  console.log("answers on disk: SQLite, WAL, FULL; the floors keep nothing");
  await compare(bareHono, restWait, "20 kB");
  await compare(bareMcp, mcpHold, "1.2x");
}

async function serve(): Promise<void> {
  if (kind === "askd") return serveAskd(directory);
  return kind === "bare" ? serveBareHold() : serveBareMcp();
}

async function compare(floor: Way, ours: Way, goal: string): Promise<void> {
  const rows = [await measure(floor), await measure(ours)] as const;
  console.table(rows.map((row, index) => ({ "": [floor, ours][index]?.name, ...say(row, index === 1) })));
  const ratio = (of: (row: Measured) => number): string => (of(rows[1]) / of(rows[0])).toFixed(2);
  console.log(
    `memory ${ratio((row) => row.rssBytes)}x the floor, heap ${ratio((row) => row.heapBytes)}x (goal ${goal})`,
  );
  console.log(`all have it after ${ratio((row) => row.seenMs)}x the floor, which keeps nothing (goal 1 s of 10,000)`);
  console.log(`CPU of the server ${ratio((row) => row.cpuMs)}x the floor; load ${loadavg()[0]?.toFixed(1)}`);
}

function say(row: Measured, isKept: boolean): Record<string, string> {
  const { rssBytes, heapBytes, answeredMs, quietMs, burstMs, seenMs, cpuMs } = row;
  return {
    "kB per hold": (rssBytes / 1024).toFixed(1),
    "of it heap": (heapBytes / 1024).toFixed(1),
    "quiet p50 / p99 ms": `${quantile(quietMs, 0.5)} / ${quantile(quietMs, 0.99)}`,
    "answers/s on disk": isKept ? ((row.asked / answeredMs) * 1000).toFixed(0) : "none",
    "answer to caller p50 / p99 / max ms": [0.5, 0.99, 1].map((part) => quantile(burstMs, part)).join(" / "),
    "all have it ms": seenMs.toFixed(0),
    "server CPU ms": cpuMs.toFixed(0),
  };
}

function quantile(values: readonly number[], part: number): string {
  const sorted = values.toSorted((one, other) => one - other);
  return (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN).toFixed(1);
}

async function measure(way: Way): Promise<Measured> {
  const server = await ServerProcess.start(way.kind);
  await warmUp(way, server);
  const calls = await askFor(way, server, 0, COUNT);
  const client = new Client(server, COUNT);
  const before = { rss: await server.call("memory"), heap: await server.call("heap") };
  const held = await holdAll(way, { server, client, calls });
  const rssBytes = ((await server.call("memory")) - before.rss) / COUNT;
  const heapBytes = ((await server.call("heap")) - before.heap) / COUNT;
  const few = await server.call("answerFew");
  const cpuBefore = await server.call("cpu");
  const { got, seenMs, answeredMs } = await answerAll(server, held);
  const cpuMs = (await server.call("cpu")) - cpuBefore;
  const mistaken = got.filter(({ isOwn }) => !isOwn).length;
  if (mistaken > 0) throw new Error(`${mistaken} callers got something else than their answer`);
  const answered = await server.answered();
  const order = [...answered.keys()];
  const quiet = new Set(order.slice(WARM, WARM + few));
  const lateMs = ({ id, atMs }: Got): number => atMs - (answered.get(id) ?? Number.NaN);
  client.close();
  await server.stop();
  return {
    rssBytes,
    heapBytes,
    answeredMs,
    seenMs,
    cpuMs,
    asked: COUNT - few,
    quietMs: got.filter(({ id }) => quiet.has(id)).map(lateMs),
    burstMs: got.filter(({ id }) => !quiet.has(id)).map(lateMs),
  };
}

/** What the first calls leave behind for good is not of those that are held. */
async function warmUp(way: Way, server: ServerProcess): Promise<void> {
  const calls = await askFor(way, server, COUNT, WARM);
  const client = new Client(server, WARM);
  await answerAll(server, await holdAll(way, { server, client, calls }));
  client.close();
}

/** A call that is to be held, and the question that it waits for if that is there before. */
interface Call {
  n: number;
  id: string | undefined;
}

async function askFor(way: Way, server: ServerProcess, from: number, count: number): Promise<Call[]> {
  const numbers = Array.from({ length: count }, (_, index) => from + index);
  const ids = await way.prepare?.(server, numbers);
  return numbers.map((n, index) => ({ n, id: ids?.[index] }));
}

/** Holds these calls. In waves: a machine drops connections that come faster than they are accepted. */
async function holdAll(
  way: Way,
  { server, client, calls }: { server: ServerProcess; client: Client; calls: readonly Call[] },
): Promise<Array<Promise<Got>>> {
  const held: Array<Promise<Got>> = [];
  const giveUpAt = performance.now() + LONGEST_MS;
  while (held.length < calls.length) {
    for (const { n, id } of calls.slice(held.length, held.length + WAVE)) held.push(way.hold(client, n, id));
    while ((await server.call("holds")) < held.length) {
      if (performance.now() > giveUpAt) throw new Error(`not all of ${held.length} calls are held`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
  return held;
}

async function answerAll(
  server: ServerProcess,
  held: ReadonlyArray<Promise<Got>>,
): Promise<{ got: Got[]; seenMs: number; answeredMs: number }> {
  const started = performance.now();
  const answering = server.call("answerAll");
  const got = await Promise.all(held);
  const seenMs = performance.now() - started;
  return { got, seenMs, answeredMs: await answering };
}

async function askAll(server: ServerProcess, numbers: readonly number[]): Promise<string[]> {
  const client = new Client(server, ASKING);
  const ids: string[] = [];
  await times(numbers.length, ASKING, async (index) => {
    const raw = { ...asked(numbers[index] ?? 0), hold: "10m" };
    const { body } = await client.send("POST", "/api/v1/questions", raw);
    ids[index] = String(body["id"]);
  });
  client.close();
  return ids;
}

async function waitForAnswer(client: Client, n: number, id = ""): Promise<Got> {
  for (;;) {
    const { body, atMs } = await client.send("GET", `/api/v1/questions/${id}/wait`);
    // A server lets nobody wait for ever.
    if (body["status"] !== "pending") return { id, isOwn: body["answer"] === `Redis ${n}`, atMs };
  }
}

async function callTool(client: Client, args: object, expected: string): Promise<Got> {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    // A client that is held for minutes, however long it takes until all of them are.
    "io.modelcontextprotocol/clientInfo": { name: "claude-code", version: "2.1.325" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const params = { name: "ask_human", arguments: args, _meta: meta };
  const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
  const headers = {
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "ask_human",
  };
  const { body: reply, atMs } = await client.send("POST", "/mcp", body, headers);
  const text = JSON.stringify(reply["result"] ?? "");
  return { id: /"question_id":"(\w+)"/.exec(text)?.[1] ?? "", isOwn: text.includes(expected), atMs };
}

function asked(n: number): { question: string; options: string[] } {
  return { question: `Which cache for service ${n}?`, options: [`Redis ${n}`, `Memcached ${n}`] };
}
