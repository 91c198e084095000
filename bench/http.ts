import { Client } from "./client.ts";
import { median } from "./loop.ts";
import { serveAskd, serveBareTransactions } from "./served.ts";
import { ServerProcess } from "./server-process.ts";

// npm run bench:http -- <rounds> <milliseconds> <connections>
const [mode, kind, directory = ""] = process.argv.slice(2);
const ROUNDS = Number(mode ?? 3);
const MS = Number(kind ?? 3_000);
const CONNECTIONS = Number(directory || 32);
const ASKED = { options: ["Redis (recommended)", "Memcached"], context: "x".repeat(250) };

if (mode === "serve") await (kind === "askd" ? serveAskd(directory) : serveBareTransactions(directory));
else await compare();

/** Measures both in turn, round after round, so that a busy moment of the machine hits both alike. */
async function compare(): Promise<void> {
  const bare = { name: "bare hono, 2 transactions", server: await ServerProcess.start("bare"), base: "", rates: [] };
  const ours = { name: "askd", server: await ServerProcess.start("askd"), base: "/api/v1", rates: [] };
  const subjects: Array<{ name: string; server: ServerProcess; base: string; rates: number[] }> = [bare, ours];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { server, base, rates } of subjects) {
      await runFor(server, base, Math.min(500, MS / 4));
      rates.push(await runFor(server, base, MS));
    }
  }
  for (const { server } of subjects) await server.stop();
  console.log(`ask + answer over REST, ${CONNECTIONS} connections, ${ROUNDS} rounds of ${MS} ms; SQLite, WAL, FULL`);
  console.table(
    subjects.map(({ name, rates }) => ({
      "": name,
      "ask + answer /s": `${median(rates).toFixed(0)} (${Math.min(...rates).toFixed(0)}–${Math.max(...rates).toFixed(0)})`,
    })),
  );
  const parts = subjects[1]?.rates.map((rate, round) => rate / (subjects[0]?.rates[round] ?? Number.NaN)) ?? [];
  const percent = (part: number): string => (part * 100).toFixed(0);
  const range = `${percent(Math.min(...parts))}–${percent(Math.max(...parts))} %`;
  console.log(`${percent(median(parts))} % (${range}) of the bare server (goal 50 %)`);
}

/** Cycles per second. */
async function runFor(server: ServerProcess, base: string, ms: number): Promise<number> {
  const client = new Client(server, CONNECTIONS);
  const started = performance.now();
  let done = 0;
  const loop = async (): Promise<void> => {
    while (performance.now() < started + ms) {
      const question = `Redis or Memcached for cache ${done} at ${performance.now()}?`;
      const asked = await client.send("POST", `${base}/questions`, { ...ASKED, question });
      const id = String(asked.body["id"]);
      const { body } = await client.send("POST", `${base}/questions/${id}/answer`, { answer: "1" });
      if (body["status"] !== "answered") throw new Error(`not answered: ${JSON.stringify(body)}`);
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, loop));
  client.close();
  return done / ((performance.now() - started) / 1000);
}
