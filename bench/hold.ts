import { Client, times } from "./client.ts";
import { serveAskd, serveBareHold } from "./served.ts";
import { ServerProcess } from "./server-process.ts";

// npm run bench:hold -- 10000
const [mode, kind, directory = ""] = process.argv.slice(2);
const COUNT = Number(mode ?? 10_000);
const ASKING = 32;

interface Row {
  perHoldBytes: number;
  answeredMs: number;
  seenMs: number;
}

if (mode === "serve") await (kind === "askd" ? serveAskd(directory) : serveBareHold());
else await compare();

async function compare(): Promise<void> {
  console.log(`${COUNT} held requests in one server process, all answered at once; Node ${process.versions.node}`);
  const bare = await measure("bare", bareIds, (id) => `/hold/${id}`);
  const ours = await measure("askd", askAll, (id) => `/api/v1/questions/${id}/wait`);
  const rows = { "bare hono, a promise each": bare, "askd, REST wait": ours };
  console.table(
    Object.entries(rows).map(([name, { perHoldBytes, answeredMs, seenMs }]) => ({
      "": name,
      "kB per hold": (perHoldBytes / 1024).toFixed(1),
      "answered ms": answeredMs.toFixed(0),
      "all have their answer ms": seenMs.toFixed(0),
    })),
  );
  console.log(`memory ${(ours.perHoldBytes / bare.perHoldBytes).toFixed(2)}x the floor (goal 20 kB)`);
  console.log(
    `until all have it ${(ours.seenMs / bare.seenMs).toFixed(2)}x the floor, which writes nothing (goal 1 s)`,
  );
}

/** Holds a request for each id, has all answered, and sees that each got its own. */
async function measure(
  kind: string,
  idsOn: (server: ServerProcess) => Promise<string[]>,
  pathOf: (id: string) => string,
): Promise<Row> {
  const server = await ServerProcess.start(kind);
  const ids = await idsOn(server);
  const holder = new Client(server, COUNT);
  const before = await server.call("memory");
  let mistaken = 0;
  const held = ids.map(async (id) => {
    for (;;) {
      const { body } = await holder.send("GET", pathOf(id));
      if (body["status"] === "pending") continue; // a server lets nobody wait for ever
      if (body["id"] !== id || !body["answer"]) mistaken += 1;
      return;
    }
  });
  while ((await server.call("holds")) < COUNT) await new Promise((resolve) => setTimeout(resolve, 50));
  const perHoldBytes = ((await server.call("memory")) - before) / COUNT;
  const started = performance.now();
  const answering = server.call("answerAll");
  await Promise.all(held);
  const seenMs = performance.now() - started;
  const answeredMs = await answering;
  if (mistaken > 0) throw new Error(`${mistaken} callers got something else than their answer`);
  holder.close();
  await server.stop();
  return { perHoldBytes, answeredMs, seenMs };
}

async function bareIds(): Promise<string[]> {
  return Array.from({ length: COUNT }, (_, n) => `q${n}`);
}

async function askAll(server: ServerProcess): Promise<string[]> {
  const client = new Client(server, ASKING);
  const ids: string[] = [];
  await times(COUNT, ASKING, async (n) => {
    const asked = { question: `Redis or Memcached for cache ${n}?`, options: ["Redis", "Memcached"], hold: "10m" };
    const { body } = await client.send("POST", "/api/v1/questions", asked);
    ids.push(String(body["id"]));
  });
  client.close();
  return ids;
}
