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
  const subjects = [
    await start("bare hono, 2 transactions", "bare", ""),
    await start("askd", "askd", "/api/v1"),
  ] as const;
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { server, base, rates, cpuUs } of subjects) {
      await runFor(server, base, Math.min(500, MS / 4));
      const cpuBefore = await server.call("cpu");
      const perSecond = await runFor(server, base, MS);
      rates.push(perSecond);
      cpuUs.push((((await server.call("cpu")) - cpuBefore) / (perSecond * (MS / 1000))) * 1000);
    }
  }
  for (const { server } of subjects) await server.stop();
  console.log(`ask + answer over REST, ${CONNECTIONS} connections, ${ROUNDS} rounds of ${MS} ms; SQLite, WAL, FULL`);
  console.table(
    subjects.map(({ name, rates, cpuUs }) => ({
      "": name,
      "server CPU µs each": median(cpuUs).toFixed(0),
      "ask + answer /s": `${median(rates).toFixed(0)} (${Math.min(...rates).toFixed(0)}–${Math.max(...rates).toFixed(0)})`,
    })),
  );
  const [bare, ours] = subjects;
  const parts = ours.rates.map((rate, round) => rate / (bare.rates[round] ?? Number.NaN));
  const percent = (part: number): string => (part * 100).toFixed(0);
  const range = `${percent(Math.min(...parts))}–${percent(Math.max(...parts))} %`;
  console.log(`${percent(median(parts))} % (${range}) of the bare server (goal 50 %)`);
  console.log(`${percent(median(bare.cpuUs) / median(ours.cpuUs))} % by the CPU that each takes, whoever else is busy`);
}

interface Subject {
  name: string;
  server: ServerProcess;
  base: string;
  /** Cycles per second, and what each took of the server's processor, by round. */
  rates: number[];
  cpuUs: number[];
}

async function start(name: string, subject: string, base: string): Promise<Subject> {
  return { name, server: await ServerProcess.start(subject), base, rates: [], cpuUs: [] };
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
