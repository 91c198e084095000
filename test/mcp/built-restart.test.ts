import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldHttpTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { BIN, BuiltScene } from "../built.ts";
import { until } from "./scene.ts";

const LONGEST_MS = 600_000;
/** A machine that is busy may take longer to start a program than clients wait by themselves. */
const PATIENT = {
  initialReconnectionDelay: 1_000,
  maxReconnectionDelay: 1_000,
  reconnectionDelayGrowFactor: 1,
  maxRetries: 1_000,
};
const Listed = z.array(z.looseObject({ id: z.string(), title: z.string() }));

/** The built program in a home of its own: its commands, its server, and what waits there. */
class Home extends BuiltScene {
  url = "";
  #server: ChildProcess | undefined;

  async serve(): Promise<void> {
    const port = this.url === "" ? "0" : new URL(this.url).port;
    const env = { PATH: process.env["PATH"], HOME: this.home, ASKD_HOME: this.home };
    const server = spawn(process.execPath, [BIN, "serve", "--port", port], {
      cwd: this.project,
      env,
      stdio: ["ignore", "pipe", "ignore"],
    });
    this.#server = server;
    onTestFinished(() => void server.kill("SIGKILL"));
    const [line] = await once(server.stdout.setEncoding("utf8"), "data");
    this.url = String(line).trim();
  }

  async kill(): Promise<void> {
    const server = this.#server;
    if (!server) throw new Error("no server runs");
    const ended = once(server, "exit");
    server.kill("SIGKILL");
    await ended;
  }

  async say(...argv: string[]): Promise<string> {
    const { exit, stdout, stderr } = await this.type(...argv);
    if (exit !== 0) throw new Error(`askd ${argv.join(" ")} ended with ${exit}: ${stderr}`);
    return stdout.toString("utf8").trim();
  }

  /** The types of what has happened. */
  async events(): Promise<string[]> {
    return (await this.say("audit", "--limit", "1000", "--json=type")).match(/(question|run)\.\w+/g) ?? [];
  }

  /** The questions of these titles, as soon as they wait. */
  async waiting(titles: readonly string[]): Promise<string[]> {
    return until(async () => {
      const rows = Listed.parse(JSON.parse(await this.say("list", "--awaiting", "--json=id,title")));
      const ids = titles.map((title) => rows.find((row) => row.title === title)?.id);
      return ids.every((id) => id !== undefined) ? ids : undefined;
    });
  }
}

test("calls of both eras get their answers from a server that was killed and started again", async () => {
  const at = new Home();
  await at.serve();
  const token = await at.say("token", "create", "--scope", "agent", "--subject", "ci");
  const options = { requestInit: { headers: { Authorization: `Bearer ${token}` } }, reconnectionOptions: PATIENT };
  const modern = new Client({ name: "modern", version: "1" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  const legacy = new OldClient({ name: "legacy", version: "1" });
  await modern.connect(new StreamableHTTPClientTransport(new URL("/mcp", at.url), options));
  await legacy.connect(new OldHttpTransport(new URL("/mcp", at.url), options));
  for (const answeredWhen of ["down", "back"]) {
    const titles = ["Modern", "Legacy"].map((era) => `${era}, answered when it is ${answeredWhen}?`);
    const resumable: Array<Promise<void>> = [];
    const more = () => {
      let onresumptiontoken = (): void => undefined;
      resumable.push(new Promise<void>((resolve) => (onresumptiontoken = resolve)));
      return { timeout: LONGEST_MS, onresumptiontoken };
    };
    const callings = [
      modern.callTool({ name: "ask_human", arguments: { question: titles[0] } }, more()),
      legacy.callTool({ name: "ask_human", arguments: { question: titles[1] } }, undefined, more()),
    ];
    const ids = await at.waiting(titles);
    await Promise.all(resumable);
    await at.kill();
    if (answeredWhen === "back") await at.serve();
    for (const id of ids) await at.say("answer", id, "yes");
    if (answeredWhen === "down") await at.serve();
    const replies = await Promise.all(callings);
    expect(replies.map(({ structuredContent }) => structuredContent)).toMatchObject(
      ids.map((id) => ({ status: "answered", question_id: id })),
    );
  }
  await expectNothingLeft(at, 4);
  await modern.close();
  await legacy.close();
}, 240_000);

test.each([
  { on: "on the store", isServed: false },
  { on: "behind a server", isServed: true },
])(
  "askd mcp that was killed $on is followed by one that has the question and its answer",
  async ({ isServed }) => {
    const at = new Home();
    if (isServed) await at.serve();
    const begin = async () => {
      const transport = new StdioClientTransport({
        command: process.execPath,
        args: [BIN, "mcp"],
        cwd: at.project,
        stderr: "ignore",
        env: { PATH: process.env["PATH"] ?? "", ASKD_HOME: at.home, ...(isServed && { ASKD_URL: at.url }) },
      });
      const client = new Client({ name: "opencode", version: "1" });
      await client.connect(transport);
      return { client, pid: transport.pid ?? 0 };
    };
    const ask = (client: Client) =>
      client.callTool({ name: "ask_human", arguments: { question: "Redis?" } }, { timeout: LONGEST_MS });
    const first = await begin();
    const lost = ask(first.client).catch(() => "no reply");
    const [id = ""] = await at.waiting(["Redis?"]);
    process.kill(first.pid, "SIGKILL");
    expect(await lost).toBe("no reply");
    const second = await begin();
    const calling = ask(second.client);
    await until(async () => ((await at.events()).includes("question.held") ? true : undefined));
    process.kill(second.pid, "SIGKILL");
    await calling.catch(() => "no reply");
    await at.say("answer", id, "yes");
    const third = await begin();
    expect((await ask(third.client)).structuredContent).toMatchObject({ status: "answered", question_id: id });
    await third.client.close();
    await expectNothingLeft(at, 1);
  },
  240_000,
);

/** So many questions were asked, each has been given once, and nothing runs. */
async function expectNothingLeft(at: Home, asked: number): Promise<void> {
  const count = async (type: string) => (await at.events()).filter((each) => each === type).length;
  expect(await count("question.asked")).toBe(asked);
  await until(async () => ((await at.say("status", "--short")) === "?0 ▶0" ? true : undefined));
  expect(await count("question.given")).toBe(asked);
}
