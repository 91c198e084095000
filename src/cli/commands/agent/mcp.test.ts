import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ADA, AGENT } from "../../../../test/builders.ts";
import { ROOMY, said } from "../../../../test/scene.ts";
import { openEngine } from "../../../app.ts";
import { SYSTEM } from "../../../core/people/actor.ts";
import type { RunId } from "../../../core/id.ts";
import type { Engine } from "../../../engine/engine.ts";
import { readRunFile } from "./mcp.ts";

const ASKD = resolve("bin", "askd");

let home = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "askd-mcp-"));
});
afterEach(() => rmSync(home, { recursive: true }));

/** A client that starts the built program as clients do: with next to nothing in its environment. */
async function connect(...args: string[]): Promise<Client> {
  const env = { PATH: process.env["PATH"] ?? "", ASKD_HOME: home };
  const client = new Client({ name: "codex-mcp-client", version: "1" });
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [ASKD, "mcp", ...args], env, stderr: "ignore" }),
  );
  return client;
}

/** A client that says that it can show forms and accepts every one, whatever starts the program for it. */
async function connectAccepting(start: readonly string[], env: Record<string, string> = {}): Promise<Client> {
  const [command = "", ...args] = start;
  const client = new Client({ name: "cursor", version: "1" }, { capabilities: { elicitation: { form: {} } } });
  client.setRequestHandler("elicitation/create", () => ({ action: "accept" as const, content: { item_1: "Redis" } }));
  const all = { PATH: process.env["PATH"] ?? "", ASKD_HOME: home, ...env };
  await client.connect(new StdioClientTransport({ command, args, env: all, stderr: "ignore" }));
  return client;
}

const DIRECT = [process.execPath, ASKD, "mcp", "--attended", "--hold", "1s"];
/** The shell of an agent, which stays above what it starts; what it starts does not see the run. */
const CLEARED = ["/bin/sh", "-c", 'env -u ASKD_RUN -u ASKD_EPOCH "$@"; exit $?', "sh", ...DIRECT];
const CHOICE = { question: "Redis or Memcached?", options: ["Redis", "Memcached"] };

/** Opens the store of this home, with a run whose agent is alive. */
async function withLiveRun(work: (engine: Engine, runId: RunId) => Promise<void>): Promise<void> {
  const engine = await openEngine({ store: { kind: "sqlite", file: join(home, "data", "askd.db") }, rules: ROOMY });
  try {
    const { id } = await engine.createRun({ name: "fix", agent: "claude", giveBack: "worker" }, AGENT);
    await engine.startRun(id, AGENT);
    await work(engine, id);
  } finally {
    await engine.stop();
  }
}

test("what is accepted at a client that nobody has started for a run is known by the client's word alone", async () => {
  const client = await connectAccepting(DIRECT);
  const { structuredContent } = await client.callTool({ name: "ask_human", arguments: CHOICE });
  await client.close();
  expect(structuredContent).toMatchObject({ status: "answered", channel: "mcp:cursor" });
  const env = { PATH: process.env["PATH"], ASKD_HOME: home };
  const { stdout } = await promisify(execFile)(process.execPath, [ASKD, "audit"], { env });
  expect(stdout).toMatch(/question\.answered +\S+ \(MCP client cursor, not proven\)/);
});

test.runIf(process.platform === "linux")(
  "an agent that hides its run accepts nothing at its own client until its run is over, and each try is in the trail",
  async () => {
    await withLiveRun(async (engine, runId) => {
      const client = await connectAccepting(CLEARED, { ASKD_RUN: runId, ASKD_EPOCH: "1" });
      const ask = async (question: string) =>
        (await client.callTool({ name: "ask_human", arguments: { ...CHOICE, question } })).structuredContent;
      for (const question of ["First?", "Second?"]) {
        expect(await ask(question)).toMatchObject({ status: "pending" });
        const asked = (await engine.listQuestions({ status: "pending", order: "oldest", limit: 1 }))[0]!;
        const { event } = (await engine.readChain(asked.runId)).find(({ event: { type } }) => /refused/.test(type))!;
        expect(event).toMatchObject({ by: { scope: "agent", channel: "mcp:cursor", runId } });
        await engine.answer(asked.id, said("1"), ADA);
      }
      await engine.cancelRun(runId, ADA);
      expect(await ask("Third?")).toMatchObject({ status: "answered", channel: "mcp:cursor" });
      await client.close();
      expect((await engine.verify()).problems).toEqual([]);
    });
  },
);

test("an agent's token, with or without a run, makes a client the agent's own", async () => {
  await withLiveRun(async (engine, runId) => {
    for (const more of [{}, { runId }]) {
      const { text } = await engine.issueToken({ scope: "agent", subject: "claude", ...more }, SYSTEM);
      const client = await connectAccepting(DIRECT, { ASKD_TOKEN: text });
      const { structuredContent } = await client.callTool({ name: "ask_human", arguments: CHOICE });
      expect(structuredContent).toMatchObject({ status: "pending" });
      await client.close();
    }
  });
});

function runFile(text: string): string {
  const file = join(home, "run");
  writeFileSync(file, text, { mode: 0o600 });
  return file;
}

test("the program serves the tools that were chosen, and parks what it holds when its client leaves", async () => {
  const client = await connect("--tools", "AskUser,ask_human");
  expect((await client.listTools()).tools.map((tool) => tool.name)).toEqual(["ask_human", "AskUser"]);
  const said = await new Promise<string | undefined>((resolve) => {
    const input = { name: "ask_human", arguments: { question: "Which port?" } };
    client.callTool(input, { onprogress: ({ message }) => resolve(message) }).catch(() => undefined); // it leaves below
  });
  expect(said).toBe("waiting for a person, 0s");
  await client.close();
  const env = { PATH: process.env["PATH"], ASKD_HOME: home };
  const { stdout } = await promisify(execFile)(process.execPath, [ASKD, "list", "--json"], { env });
  expect(JSON.parse(stdout)).toMatchObject([{ status: "pending", held_until: null, run_status: "awaiting_input" }]);
});

test("the run of an agent whose environment is not passed on comes from a file", async () => {
  const engine = await openEngine({ store: { kind: "sqlite", file: join(home, "data", "askd.db") }, rules: ROOMY });
  const created = await engine.createRun({ name: "add-caching", agent: "codex", giveBack: "worker" }, AGENT);
  const run = await engine.startRun(created.id, AGENT);
  const client = await connect("--run-file", runFile(`ASKD_RUN=${run.id}\n`), "--hold", "1s");
  const { structuredContent } = await client.callTool({ name: "ask_human", arguments: { question: "Which port?" } });
  await client.close();
  const [question] = await engine.listQuestions({ status: "pending", order: "oldest", limit: 2 });
  expect(structuredContent).toMatchObject({ question_id: question?.id });
  expect(structuredContent).toMatchObject({ message: expect.stringContaining("You will be resumed with the answer.") });
  expect(question?.runId).toBe(run.id);
  await engine.stop();
});

test("a file that others can read is not believed", async () => {
  const file = runFile("ASKD_RUN=r_1\nPATH=/evil\n");
  expect(await readRunFile(file)).toEqual({ ASKD_RUN: "r_1" });
  chmodSync(file, 0o644);
  await expect(readRunFile(file)).rejects.toThrow("can be read by others");
  await expect(readRunFile(`${file}.gone`)).rejects.toThrow("cannot be read");
});
