import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterEach, beforeEach, expect, test } from "vitest";
import { AGENT } from "../../test/builders.ts";
import { ROOMY } from "../../test/scene.ts";
import { openEngine } from "../app.ts";
import { readRunFile } from "./run-file.ts";

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
