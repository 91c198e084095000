import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median } from "./loop.ts";

// npm run bench:mcp [rounds]: from the start of `askd mcp` to its reply to `tools/list`, as a client waits for it
const ROUNDS = Number(process.argv[2] ?? 20);
const ASKD = join("bin", "askd");
const { NODE_EXTRA_CA_CERTS: _certificates, ...inherited } = process.env; // parsed at every start: it would hide ours
const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "bench", version: "1" } };
const FIRST = [
  { jsonrpc: "2.0", id: 1, method: "initialize", params },
  { jsonrpc: "2.0", method: "notifications/initialized" },
  { jsonrpc: "2.0", id: 2, method: "tools/list", params: {} },
];
const LOOK = {
  jsonrpc: "2.0",
  id: 3,
  method: "tools/call",
  params: { name: "check_answer", arguments: { question_id: "q_none" } },
};

const times: Record<string, number[]> = {
  "node -e 0": [],
  "tools/list": [],
  "tools/list, new store": [],
  "a call": [],
};
const kept = mkdtempSync(join(tmpdir(), "askd-bench-"));
try {
  await serve(kept);
  for (let round = 0; round < ROUNDS; round += 1) {
    const started = performance.now();
    spawnSync(process.execPath, ["-e", "0"], { env: inherited });
    times["node -e 0"]?.push(performance.now() - started);
    const { listMs, callMs } = await serve(kept);
    times["tools/list"]?.push(listMs);
    times["a call"]?.push(callMs);
    const fresh = mkdtempSync(join(tmpdir(), "askd-bench-"));
    times["tools/list, new store"]?.push((await serve(fresh)).listMs);
    rmSync(fresh, { recursive: true, force: true });
  }
} finally {
  rmSync(kept, { recursive: true, force: true });
}
const floor = median(times["node -e 0"] ?? []);
console.log(
  `from the start of askd mcp to its reply, ${ROUNDS} rounds, Node ${process.versions.node}; goal: tools/list within 2x`,
);
console.table(
  Object.entries(times).map(([name, all]) => ({
    "": name,
    "median ms": median(all).toFixed(1),
    ratio: (median(all) / floor).toFixed(2),
  })),
);

/** Starts a server with this home, and says when it listed its tools and when it had served a call. */
function serve(home: string): Promise<{ listMs: number; callMs: number }> {
  const started = performance.now();
  const child = spawn(process.execPath, [ASKD, "mcp"], {
    env: { ...inherited, ASKD_HOME: home },
    stdio: ["pipe", "pipe", "ignore"],
  });
  let [stdout, listMs, callMs] = ["", 0, 0];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    if (listMs === 0 && stdout.includes('"id":2')) listMs = performance.now() - started;
    if (callMs === 0 && stdout.includes('"id":3')) {
      callMs = performance.now() - started;
      child.stdin.end();
    }
  });
  for (const message of [...FIRST, LOOK]) child.stdin.write(`${JSON.stringify(message)}\n`);
  return new Promise((resolve) => child.on("close", () => resolve({ listMs, callMs })));
}
