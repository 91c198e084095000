import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { claudeEnv } from "../test/e2e/agent.ts";
import install, { programFile } from "../test/e2e/install.ts";

/** What following an agent that writes 100 MB of events costs the worker, beside what the agent itself costs. */
const MEGABYTES = Number(process.argv[2] ?? 100);
const ASKD = resolve("bin", "askd");
const TICK_MS = 1000 / Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));
const GIVE_UP_MS = 300_000;

/** An agent that does a little work for every event, as agents do, and says at its end what it used. */
const AGENT = `
import { createHash } from "node:crypto";
import { writeFileSync, writeSync } from "node:fs";
const [bytes, report] = [Number(process.argv[2]) * 1e6, process.argv[3]];
const words = "The cache layer reads the value, and if it is missing asks the database for it. ".repeat(25);
let written = 0;
for (let turn = 0; written < bytes; turn += 1) {
  const id = "toolu_" + createHash("sha256").update(String(turn)).digest("hex").slice(0, 24);
  const base = { session_id: "5f0c0000-0000-4000-8000-000000000000", uuid: "u" + turn, parent_tool_use_id: null };
  const events = [
    { type: "assistant", message: { role: "assistant", content: [{ type: "text", text: words }] }, ...base },
    { type: "assistant", message: { role: "assistant", content: [{ type: "tool_use", id, name: "Read", input: { file_path: "src/cache.ts" } }] }, ...base },
    { type: "user", message: { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: words + words }] }, ...base },
  ];
  for (const event of events) {
    const line = JSON.stringify(event) + "\\n";
    written += line.length;
    for (let sent = 0; sent < line.length; ) sent += writeSync(1, line.slice(sent));
  }
}
const { user, system } = process.cpuUsage();
writeFileSync(report, String((user + system) / 1000));
`;

const home = mkdtempSync(join(homedir(), ".askd-bench-"));
const env = { PATH: process.env["PATH"] ?? "", HOME: home, ASKD_HOME: join(home, "askd"), ASKD_NO_SERVICE: "1" };
const worker = spawn(process.execPath, [ASKD, "worker"], { env, stdio: ["ignore", "ignore", "pipe"] });
try {
  await new Promise((ready) => worker.stderr.once("data", ready));
  const agent = join(home, "agent.mjs");
  const report = join(home, "report");
  writeFileSync(agent, AGENT);
  run("1", report); // warms the worker up
  const before = look();
  const startedAt = performance.now();
  run(String(MEGABYTES), report);
  const after = look();
  const agentMs = Number(readFileSync(report, "utf8"));
  const seconds = (performance.now() - startedAt) / 1000;
  console.log(`an agent that writes ${MEGABYTES} MB of events in ${seconds.toFixed(1)} s`);
  const workerMs = (after.cpuMs - before.cpuMs) / MEGABYTES;
  const real = await measureClaude(home);
  const share = (ms: number): string => `${((workerMs / ms) * 100).toFixed(1)} %`;
  console.table([
    {
      "": "an agent that only writes",
      "CPU ms per MB": round(agentMs / MEGABYTES),
      "worker adds": share(agentMs / MEGABYTES),
    },
    {
      "": `Claude Code, ${round(real.megabytes)} MB`,
      "CPU ms per MB": round(real.cpuMs / real.megabytes),
      "worker adds": share(real.cpuMs / real.megabytes),
    },
    { "": "the worker", "CPU ms per MB": round(workerMs) },
  ]);
  console.log(`the worker's memory at its peak: ${Math.round(after.peakMb - before.nowMb)} MB more (goal 30 MB)`);
  console.log(`CPU added to a real agent: ${share(real.cpuMs / real.megabytes)} (goal 5 %)`);

  function run(megabytes: string, to: string): void {
    const number = askd("run", "--", process.execPath, agent, megabytes, to).trim();
    const until = performance.now() + GIVE_UP_MS;
    while (!/"completed"/.test(askd("show", number, "--json=status"))) {
      if (performance.now() > until) throw new Error("the run does not end");
    }
  }
} finally {
  worker.kill("SIGKILL");
  await sleep(50);
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
}

/** What the real Claude Code uses for its events, with a scripted model that has much to say. */
async function measureClaude(root: string): Promise<{ cpuMs: number; megabytes: number }> {
  install();
  const model = spawn(process.execPath, [resolve("test", "agents", "model", "server.mjs")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const [line] = (await once(createInterface({ input: model.stdout }), "line")) as [string];
    const { port } = JSON.parse(line) as { port: number };
    const words = "The cache layer reads the value, and if it is missing asks the database for it. ".repeat(600);
    const steps = Array.from({ length: 40 }, () => ({ say: words, call: "Glob", input: { pattern: "*" } }));
    const prompt = `Do the job. @@mock ${JSON.stringify([...steps, { say: "Done." }])}`;
    const out = join(root, "claude.out");
    const script = `TIMEFORMAT="%U %S"; time "$0" -p --output-format stream-json --verbose >"$1"`;
    const { stderr } = spawnSync("bash", ["-c", script, programFile("claude"), out], {
      env: { ...env, ...claudeEnv({ home: root, dir: root, modelUrl: `http://127.0.0.1:${port}` }) },
      cwd: root,
      input: prompt,
      encoding: "utf8",
      timeout: 120_000,
    });
    const [user = 0, system = 0] = (stderr.trim().split("\n").at(-1) ?? "").split(" ").map(Number);
    return { cpuMs: (user + system) * 1000, megabytes: statSync(out).size / 1e6 };
  } finally {
    model.kill();
  }
}

function round(value: number): number {
  return Number(value.toPrecision(3));
}

function askd(...args: string[]): string {
  return execFileSync(process.execPath, [ASKD, ...args], { env, encoding: "utf8", cwd: home });
}

function look(): { cpuMs: number; nowMb: number; peakMb: number } {
  const stat = readFileSync(`/proc/${worker.pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const status = readFileSync(`/proc/${worker.pid}/status`, "utf8");
  const mb = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024;
  return { cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS, nowMb: mb("VmRSS"), peakMb: mb("VmHWM") };
}
