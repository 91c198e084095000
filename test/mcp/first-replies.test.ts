import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BIN } from "../built.ts";

const VERSIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "1999-01-01"];

/** The same program without what was recorded when it was built: it replies only when it is loaded. */
let slow: { bin: string; dir: string };
let home: string;

beforeAll(() => {
  mkdirSync(resolve(".cache"), { recursive: true });
  const dir = mkdtempSync(resolve(".cache", "slow-mcp-")); // inside the package, so that its dependencies are found
  for (const name of ["bin", "dist", "package.json"]) cpSync(resolve(name), join(dir, name), { recursive: true });
  rmSync(join(dir, "dist", "first-replies.json"));
  slow = { bin: join(dir, "bin", "askd"), dir };
  home = mkdtempSync(join(tmpdir(), "askd-first-"));
});
afterAll(() => {
  for (const dir of [slow.dir, home]) rmSync(dir, { recursive: true, force: true });
});

interface Reply {
  id: number;
  result?: { tools?: unknown[]; content?: Array<{ text: string }>; isError?: boolean; serverInfo?: object };
  error?: object;
}

interface Talk {
  replies: Reply[];
  exit: number | null;
  stderr: string;
}

/** Writes these chunks one after another and leaves when everything that has an id was replied to. */
function talk(
  chunks: string[],
  options: { bin?: string; flags?: string[]; env?: Record<string, string>; leaves?: boolean } = {},
): Promise<Talk> {
  const { bin = BIN, flags = [], env = {}, leaves = false } = options;
  const child = spawn(process.execPath, [bin, "mcp", ...flags], {
    env: { PATH: process.env["PATH"], HOME: home, ASKD_HOME: home, ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const expected = [...chunks.join("").matchAll(/"id":/g)].length;
  let [stdout, stderr] = ["", ""];
  const read = (): Reply[] => {
    const lines = stdout.split("\n").slice(0, -1);
    return lines.map((line) => {
      const reply: Reply = JSON.parse(line);
      return reply;
    });
  };
  child.stdin.on("error", () => undefined); // it may have ended first
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    if (read().length >= expected) child.stdin.end();
  });
  for (const chunk of chunks) child.stdin.write(chunk);
  if (leaves) child.stdin.end();
  return new Promise((done) => child.on("close", (exit) => done({ replies: read(), exit, stderr })));
}

function initialize(protocolVersion: string): string {
  const params = { protocolVersion, capabilities: {}, clientInfo: { name: "test", version: "1" } };
  return `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`;
}

const INITIALIZED = `${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`;
const LIST = `${JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/list", params: {} })}\n`;

function call(name: string, input: object): string {
  return `${JSON.stringify({ jsonrpc: "2.0", id: 3, method: "tools/call", params: { name, arguments: input } })}\n`;
}

describe("what a client of MCP is replied before the program is loaded", () => {
  test.each(VERSIONS)("is what the program itself replies to version %s", async (version) => {
    const said = [initialize(version), INITIALIZED, LIST];
    const [fast, own] = await Promise.all([talk(said), talk(said, { bin: slow.bin })]);
    expect(own.replies).toHaveLength(2);
    expect(fast.replies).toEqual(own.replies);
  });

  test.each([["--tools", "post_question, check_answer"], ["--tools=approve"], ["--hold", "1m", "--attended"]])(
    "is what the program itself replies with the flags %s %s",
    async (...flags) => {
      const said = [initialize("2025-06-18"), INITIALIZED, LIST];
      const [fast, own] = await Promise.all([talk(said, { flags }), talk(said, { bin: slow.bin, flags })]);
      expect(own.replies).toHaveLength(2);
      expect(fast.replies).toEqual(own.replies);
    },
  );

  test("comes once, in whatever pieces its requests arrive, and the next call is served", async () => {
    const all = initialize("2025-06-18") + INITIALIZED + LIST + call("check_answer", { question_id: "q_nothing" });
    for (const chunks of [[all], all.split(""), [all.slice(0, 40), all.slice(40)]]) {
      const { replies } = await talk(chunks);
      expect(replies.map(({ id }) => id)).toEqual([1, 2, 3]);
      expect(replies[2]?.result?.isError).toBe(true); // there is no such question
    }
  });

  test("is sent to a client that leaves at once, too", async () => {
    const { replies, exit } = await talk([initialize("2025-06-18"), INITIALIZED, LIST], { leaves: true });
    expect(replies.map(({ id }) => id)).toEqual([1, 2]);
    expect(exit).toBe(0);
  });

  test("is left to the program where the request is not valid", async () => {
    const wrong = `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: 7 } })}\n`;
    const [fast, own] = await Promise.all([talk([wrong]), talk([wrong], { bin: slow.bin })]);
    expect(own.replies[0]?.error).toBeDefined();
    expect(fast.replies).toEqual(own.replies);
  });

  test("is left to the program where the flags are not understood", async () => {
    const { replies, exit, stderr } = await talk([initialize("2025-06-18")], { flags: ["--tools", "nothing"] });
    expect(replies).toEqual([]);
    expect(exit).toBe(2);
    expect(stderr).toContain("There is no tool");
  });

  test("does not hide a store that cannot be opened: each call says so, and so does the end", async () => {
    const store = join(home, "foreign.db");
    writeFileSync(store, "this is no database, and it is longer than the header of one would be");
    const said = [initialize("2025-06-18"), INITIALIZED, LIST, call("ask_human", { question: "Redis?" })];
    const { replies, exit, stderr } = await talk(said, { env: { ASKD_STORE: `sqlite:${store}` } });
    expect(replies.map(({ id }) => id)).toEqual([1, 2, 3]);
    expect(replies[1]?.result?.tools).toHaveLength(3);
    expect(replies[2]?.result?.isError).toBe(true);
    expect(replies[2]?.result?.content?.[0]?.text).toContain("foreign.db");
    expect(exit).not.toBe(0);
    expect(stderr).toContain("foreign.db");
  });
});
