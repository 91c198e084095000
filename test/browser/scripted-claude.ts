import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Run } from "../../src/core/run/run.ts";
import type { WebStage } from "./stage.ts";

const SESSION = "5b0c7f1e-94c7-4e0e-8d4a-2f6a1c3b7d55";
const CACHE = `/** Keeps what was computed. */
export const cache = new Map<string, string>();

export function clear(): void {
  cache.clear();
}
`;
const BETTER = `export interface Cache {
  get(key: string): Promise<string | null>;
  set(key: string, value: string, seconds: number): Promise<void>;
}

/** Keeps what was computed, for tests. */
export function memoryCache(): Cache {
  const kept = new Map<string, string>();
  return {
    get: async (key) => kept.get(key) ?? null,
    set: async (key, value) => void kept.set(key, value),
  };
}
`;
const QUESTION = {
  question: "Redis or Memcached for the caching layer?",
  context:
    "Both are in the project's dependencies. Redis has pub/sub and persistence; Memcached is simpler and slightly faster for plain key-value caching. The answer decides 3 files and the compose setup.",
  options: [
    {
      label: "Redis",
      description: "Adds a redis:7 service and src/cache/redis_client.py. About 40 more minutes.",
      recommended: true,
    },
    { label: "Memcached", description: "No new service. Pub/sub would need a second system later." },
  ],
  confidence: 0.62,
  risk: "low",
  timeout: "5h12m",
  on_timeout: "default",
};

/** A run of an agent that read, wrote, failed once and asked; its work lies in a repository. */
export async function workedRun(stage: WebStage, name: string): Promise<Run> {
  const repository = makeRepository(stage.home);
  installClaude(stage.home);
  await stage.typeIn(repository, "run", "--agent", "claude", "--name", name, "Put a cache in front of the API");
  const engine = await stage.engine();
  return stage.until("the agent asks", async () => {
    const [run] = (await engine.lookUp({ by: "name", text: name }, 1)).runs;
    return run?.status === "awaiting_input" ? run : undefined;
  });
}

function makeRepository(home: string): string {
  const folder = join(home, "api");
  if (existsSync(folder)) return folder;
  mkdirSync(join(folder, "src", "cache"), { recursive: true });
  const git = (...args: string[]): unknown => execFileSync("git", ["-C", folder, ...args], { stdio: "ignore" });
  git("init", "--initial-branch", "feature/add-caching");
  git("remote", "add", "origin", "https://example.com/acme/api.git");
  writeFileSync(join(folder, "src", "cache", "index.ts"), CACHE);
  git("add", ".");
  git("-c", "user.name=Lena", "-c", "user.email=lena@example.com", "commit", "-m", "A cache in memory");
  writeFileSync(join(folder, "src", "cache", "index.ts"), BETTER);
  writeFileSync(join(folder, "src", "cache", "client.ts"), "export {};\n");
  return folder;
}

/** A program of that name which prints what the real one would. */
function installClaude(home: string): void {
  const bin = join(home, "bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(
    join(bin, "lines"),
    sayLines()
      .map((line) => `${JSON.stringify(line)}\n`)
      .join(""),
  );
  const script = `#!/bin/sh\ncase "$*" in *--version*) echo "2.1.325 (Claude Code)";; *) cat "${join(bin, "lines")}";; esac\n`;
  writeFileSync(join(bin, "claude"), script, { mode: 0o755 });
}

function sayLines(): object[] {
  const asked = `I read the code; two stores would do.\n<<ASK_HUMAN>> ${JSON.stringify(QUESTION)} <</ASK_HUMAN>>`;
  return [
    { type: "system", subtype: "init", session_id: SESSION, cwd: ".", tools: ["Read", "Edit", "Bash"] },
    said("I look at how the cache is used today."),
    ...called("Read", "export const cache = new Map<string, string>();\nexport function clear(): void {"),
    ...called("Bash", 'npm error Missing script: "bench"', true),
    said("There is no benchmark, so I compare the clients."),
    ...called("Edit", "src/cache/index.ts has been updated."),
    said(asked),
    {
      type: "result",
      subtype: "success",
      is_error: false,
      num_turns: 12,
      session_id: SESSION,
      total_cost_usd: 0.45,
      result: asked,
      stop_reason: "end_turn",
      modelUsage: { model: { inputTokens: 48_210, outputTokens: 3_904, costUSD: 0.45 } },
    },
  ];
}

function said(text: string): object {
  return { type: "assistant", message: { role: "assistant", content: [{ type: "text", text }] }, session_id: SESSION };
}

function called(name: string, shown: string, isError = false): object[] {
  const id = `toolu_${name}`;
  return [
    { type: "assistant", message: { role: "assistant", content: [{ type: "tool_use", id, name, input: {} }] } },
    {
      type: "user",
      message: { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: shown, is_error: isError }] },
    },
  ];
}
