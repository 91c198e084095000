import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldHttpTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openEngine } from "../../src/app.ts";
import { SYSTEM } from "../../src/core/people/actor.ts";
import type { QuestionId } from "../../src/core/id.ts";
import { isPending } from "../../src/core/question/question.ts";
import { LIVE_STATUSES } from "../../src/core/run/run.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { ADA } from "../builders.ts";
import { type Child, bundle, start } from "../child.ts";
import { ROOMY, said } from "../scene.ts";
import { until } from "./scene.ts";

/** Both libraries give up after two tries; a server under test may take longer to be back. */
const PATIENT = {
  initialReconnectionDelay: 100,
  maxReconnectionDelay: 100,
  reconnectionDelayGrowFactor: 1,
  maxRetries: 1_000,
};
const LONGEST_MS = 600_000;

/** A call that waits: what it returns, and the moment from which its client can come back for that. */
interface Waiting {
  reply: Promise<unknown>;
  isResumable: Promise<void>;
}
type Ask = (question: string) => Waiting;
interface CallOptions {
  timeout: number;
  onresumptiontoken: () => void;
}

let program = "";
let directory = "";
let file = "";
let token = "";
let port = 0;
let child: Child | undefined;
let engine: Engine;
const closers: Array<() => Promise<unknown>> = [];

beforeAll(async () => {
  program = await bundle("test/mcp/server.child.ts");
});
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "askd-restart-"));
  file = join(directory, "askd.db");
  engine = await openEngine({ store: { kind: "sqlite", file }, rules: ROOMY });
  token = (await engine.issueToken({ scope: "agent", subject: "agent" }, SYSTEM)).text;
  port = 0;
  await serve();
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  child?.process.kill("SIGKILL");
  await engine.stop();
  rmSync(directory, { recursive: true });
});

/** Starts the server, the second time where it was before. */
async function serve(): Promise<void> {
  child = start(program, [file, String(port)]);
  port = Number(await child.line());
}

async function kill(): Promise<void> {
  child?.process.kill("SIGKILL");
  await child?.exited;
}

const options = () => ({
  requestInit: { headers: { Authorization: `Bearer ${token}` } },
  reconnectionOptions: PATIENT,
});
const url = () => new URL(`http://127.0.0.1:${port}/mcp`);

async function connectNew(mode: "legacy" | { pin: string }): Promise<Ask> {
  const client = new Client({ name: "test-client", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(url(), options()));
  closers.push(() => client.close());
  return asking((call, more) => client.callTool(call, more));
}

async function connectOld(): Promise<Ask> {
  const client = new OldClient({ name: "test-client", version: "1" });
  await client.connect(new OldHttpTransport(url(), options()));
  closers.push(() => client.close());
  return asking((call, more) => client.callTool(call, undefined, more));
}

function asking(
  call: (params: { name: string; arguments: { question: string } }, more: CallOptions) => Promise<object>,
): Ask {
  return (question) => {
    let onresumptiontoken = (): void => undefined;
    const isResumable = new Promise<void>((resolve) => {
      onresumptiontoken = resolve;
    });
    const called = call({ name: "ask_human", arguments: { question } }, { timeout: LONGEST_MS, onresumptiontoken });
    const reply = called.then((result) => "structuredContent" in result && result.structuredContent);
    return { reply, isResumable };
  };
}

/** The question of that title once a process holds it that is not that one. */
function held(title: string, notBy = ""): Promise<{ id: QuestionId; holder: string }> {
  return until(async () => {
    const asked = await engine.listQuestions({ status: "pending", order: "oldest", limit: 10 });
    const found = asked.find((question) => question.title === title);
    const holder = found && isPending(found) ? found.hold?.holder : undefined;
    return found && holder !== undefined && holder !== notBy ? { id: found.id, holder } : undefined;
  });
}

/** Every outcome was given once, and nothing runs any more. */
async function expectAllGiven(ids: readonly QuestionId[]): Promise<void> {
  const asked = await engine.listQuestions({ order: "oldest", limit: 10 });
  expect(asked.map(({ id }) => id)).toEqual(ids);
  const live = async () => engine.listRuns({ statuses: LIVE_STATUSES, order: "oldest", limit: 10 });
  await until(async () => ((await live()).length === 0 ? true : undefined));
  for (const { id, runId } of asked) {
    const events = (await engine.readChain(runId)).map(({ event }) => event);
    expect(events.filter(({ type, questionId }) => type === "question.given" && questionId === id)).toHaveLength(1);
  }
  expect((await engine.verify()).problems).toEqual([]);
}

describe.each([
  { library: "client 2.4, newer era", connect: () => connectNew({ pin: "2026-07-28" }) },
  { library: "client 2.4, older era", connect: () => connectNew("legacy") },
  { library: "SDK 1.32", connect: connectOld },
])("a server killed while it holds a call of $library", ({ connect }) => {
  test("gives that call the answer when it is back, whenever that was given", async () => {
    const ask = await connect();
    const first = ask("Answered while it is down?");
    const one = await held("Answered while it is down?");
    await first.isResumable;
    await kill();
    await engine.answer(one.id, said("yes"), ADA);
    await serve();
    expect(await first.reply).toMatchObject({ status: "answered", question_id: one.id });

    const second = ask("Answered when it is back?");
    const two = await held("Answered when it is back?");
    await second.isResumable;
    await kill();
    await serve();
    await held("Answered when it is back?", two.holder);
    await engine.answer(two.id, said("yes"), ADA);
    expect(await second.reply).toMatchObject({ status: "answered", question_id: two.id });
    await expectAllGiven([one.id, two.id]);
  });

  test("is asked the same again by a client that starts anew, and has one question", async () => {
    const lost = (await connect())("Redis?").reply.catch(() => "no reply");
    const before = await held("Redis?");
    await kill();
    for (const close of closers.splice(0)) await close();
    expect(await lost).toBe("no reply");
    await serve();
    const again = (await connect())("Redis?").reply;
    await held("Redis?", before.holder);
    await engine.answer(before.id, said("yes"), ADA);
    expect(await again).toMatchObject({ status: "answered", question_id: before.id });
    await expectAllGiven([before.id]);
  });
});
