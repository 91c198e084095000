import { Client, times } from "./client.ts";
import { serveAskd, serveBareHold, serveBareMcp } from "./served.ts";
import { ServerProcess } from "./server-process.ts";

// npm run bench:hold -- 10000
const [mode, kind, directory = ""] = process.argv.slice(2);
const COUNT = Number(mode ?? 10_000);
const ASKING = 32;
const WAVE = 250;

/** One way of being held: what is to be there before, and a call that comes back true with its own answer. */
interface Way {
  name: string;
  kind: "askd" | "bare" | "bare-mcp";
  prepare?(server: ServerProcess): Promise<string[]>;
  hold(client: Client, n: number, id: string | undefined): Promise<boolean>;
}

interface Measured {
  perHoldBytes: number;
  answeredMs: number;
  seenMs: number;
  cpuMs: number;
}

const bareHono: Way = {
  name: "bare hono, a promise each",
  kind: "bare",
  hold: async (client, n) => (await client.send("GET", `/hold/${n}`)).body["answer"] === `answer to ${n}`,
};
const restWait: Way = { name: "askd, REST wait", kind: "askd", prepare: askAll, hold: waitForAnswer };
const bareMcp: Way = {
  name: "bare MCP library, a promise each",
  kind: "bare-mcp",
  hold: (client, n) => callTool(client, { mark: n }, `answer ${n}`),
};
const mcpHold: Way = {
  name: "askd, MCP ask_human",
  kind: "askd",
  hold: (client, n) => callTool(client, { ...asked(n), timeout_seconds: 600 }, `Redis ${n}`),
};

if (mode === "serve") await serve();
else {
  console.log(`${COUNT} held calls in one server process, all answered at once; Node ${process.versions.node}`);
  await compare(bareHono, restWait, "20 kB");
  await compare(bareMcp, mcpHold, "1.2x");
}

async function serve(): Promise<void> {
  if (kind === "askd") return serveAskd(directory);
  return kind === "bare" ? serveBareHold() : serveBareMcp();
}

async function compare(floor: Way, ours: Way, goal: string): Promise<void> {
  const rows = [await measure(floor), await measure(ours)] as const;
  console.table(
    rows.map(({ perHoldBytes, answeredMs, seenMs, cpuMs }, index) => ({
      "": [floor, ours][index]?.name,
      "kB per hold": (perHoldBytes / 1024).toFixed(1),
      "answered ms": answeredMs.toFixed(0),
      "all have their answer ms": seenMs.toFixed(0),
      "of the server's CPU ms": cpuMs.toFixed(0),
    })),
  );
  console.log(`memory ${(rows[1].perHoldBytes / rows[0].perHoldBytes).toFixed(2)}x the floor (goal ${goal})`);
  console.log(
    `all have it after ${(rows[1].seenMs / rows[0].seenMs).toFixed(2)}x the floor, which keeps nothing (goal 1 s)`,
  );
}

async function measure(way: Way): Promise<Measured> {
  const server = await ServerProcess.start(way.kind);
  const ids = await way.prepare?.(server);
  const client = new Client(server, COUNT);
  const before = await server.call("memory");
  const held: Array<Promise<boolean>> = [];
  // In waves: a machine drops connections that come faster than they are accepted.
  while (held.length < COUNT) {
    const wave = Math.min(WAVE, COUNT - held.length);
    for (let n = 0; n < wave; n += 1) held.push(way.hold(client, held.length, ids?.[held.length]));
    while ((await server.call("holds")) < held.length) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const perHoldBytes = ((await server.call("memory")) - before) / COUNT;
  const cpuBefore = await server.call("cpu");
  const started = performance.now();
  const answering = server.call("answerAll");
  const own = await Promise.all(held);
  const seenMs = performance.now() - started;
  const answeredMs = await answering;
  const cpuMs = (await server.call("cpu")) - cpuBefore;
  const mistaken = own.filter((isOwn) => !isOwn).length;
  if (mistaken > 0) throw new Error(`${mistaken} callers got something else than their answer`);
  client.close();
  await server.stop();
  return { perHoldBytes, answeredMs, seenMs, cpuMs };
}

async function askAll(server: ServerProcess): Promise<string[]> {
  const client = new Client(server, ASKING);
  const ids: string[] = [];
  await times(COUNT, ASKING, async (n) => {
    const { body } = await client.send("POST", "/api/v1/questions", { ...asked(n), hold: "10m" });
    ids[n] = String(body["id"]);
  });
  client.close();
  return ids;
}

async function waitForAnswer(client: Client, n: number, id = ""): Promise<boolean> {
  for (;;) {
    const { body } = await client.send("GET", `/api/v1/questions/${id}/wait`);
    // A server lets nobody wait for ever.
    if (body["status"] !== "pending") return body["answer"] === `Redis ${n}`;
  }
}

async function callTool(client: Client, args: object, expected: string): Promise<boolean> {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const params = { name: "ask_human", arguments: args, _meta: meta };
  const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
  const headers = {
    ...{ accept: "application/json, text/event-stream", "mcp-protocol-version": "2026-07-28" },
    ...{ "mcp-method": "tools/call", "mcp-name": "ask_human" },
  };
  const reply = await client.send("POST", "/mcp", body, headers);
  return JSON.stringify(reply.body["result"] ?? "").includes(expected);
}

function asked(n: number): { question: string; options: string[] } {
  return { question: `Which cache for service ${n}?`, options: [`Redis ${n}`, `Memcached ${n}`] };
}
