import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { BIN } from "../../test/built.ts";
import { ADA, AGENT } from "../../test/builders.ts";
import { ROOMY, Scene } from "../../test/scene.ts";
import { openEngine } from "../app.ts";
import type { QuestionId, RunId } from "../core/id.ts";
import type { Engine } from "../engine/engine.ts";

const BOUND_MS = 60_000;
const children: Array<ReturnType<typeof spawn>> = [];
let home = "";
let engine: Engine;
let url = "";

afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await engine.stop();
  rmSync(home, { recursive: true, force: true });
});

/** Serves a store with one waiting approval of high risk, by the built program. */
async function serve(config = ""): Promise<QuestionId> {
  home = mkdtempSync(join(tmpdir(), "askd-caller-"));
  mkdirSync(join(home, "config"));
  writeFileSync(join(home, "config", "config.toml"), config);
  const child = spawn(process.execPath, [BIN, "serve", "--port", "0"], {
    env: { PATH: process.env["PATH"], ASKD_HOME: home },
    stdio: ["ignore", "pipe", "ignore"],
  });
  children.push(child);
  url = await new Promise<string>((resolve) => {
    child.stdout.setEncoding("utf8").once("data", (text: string) => resolve(text.trim()));
  });
  engine = await openEngine({ store: { kind: "sqlite", file: join(home, "data", "askd.db") }, rules: ROOMY });
  const input = new Scene().input({ question: "Drop users_v1?", kind: "approval", risk: "high", options: undefined });
  return (await engine.ask(input, AGENT)).question.id;
}

async function startRun(): Promise<RunId> {
  const { id } = await engine.createRun({ name: "fix", agent: "claude", giveBack: "worker" }, AGENT);
  await engine.startRun(id, AGENT);
  return id;
}

function localToken(): string {
  return readFileSync(join(home, "run", "server", "token"), "utf8").trim();
}

/** Runs a program, in an agent's shell that stays above it and hides its run from it; without a run in nobody's. */
function run(argv: readonly string[], runId?: RunId, env: Record<string, string> = {}): Promise<number | null> {
  const hidden = ["-c", 'env -u ASKD_RUN -u ASKD_EPOCH "$@"; exit $?', "sh", ...argv];
  const child = spawn("/bin/sh", hidden, {
    env: { PATH: process.env["PATH"], ASKD_HOME: home, ...(runId && { ASKD_RUN: runId, ASKD_EPOCH: "1" }), ...env },
    stdio: "ignore",
    timeout: BOUND_MS,
  });
  return new Promise((resolve) => child.once("close", resolve));
}

/** A program that answers over HTTP with the token that the server left for this user, and ends with 0 if that was taken. */
function answering(id: QuestionId): string[] {
  const script = `
    const [url, token, id] = process.argv.slice(1);
    const headers = { authorization: "Bearer " + token, "content-type": "application/json" };
    const body = JSON.stringify({ answer: "approve", confirmed: true });
    fetch(url + "/api/v1/questions/" + id + "/answer", { method: "POST", headers, body })
      .then(({ status }) => process.exit(status === 403 ? 7 : status === 200 ? 0 : 1));`;
  return [process.execPath, "-e", script, url, localToken(), id];
}

/** The same, by a program that leaves as soon as it has sent its request. */
function leaving(id: QuestionId): string[] {
  const script = `
    const [url, token, id] = process.argv.slice(1);
    const { hostname, port, host } = new URL(url);
    const body = JSON.stringify({ answer: "approve", confirmed: true });
    const head = ["POST /api/v1/questions/" + id + "/answer HTTP/1.1", "Host: " + host, "Authorization: Bearer " + token,
      "Content-Type: application/json", "Content-Length: " + body.length, "", ""].join("\\r\\n");
    const socket = require("net").connect(port, hostname, () => socket.end(head + body, () => process.exit(0)));`;
  return [process.execPath, "-e", script, url, localToken(), id];
}

/** The same, by a program that resets the connection while the server is busy with others of its own. */
function resetting(id: QuestionId): string[] {
  const script = `
    const [url, token, id] = process.argv.slice(1);
    const { hostname, port, host } = new URL(url);
    const body = JSON.stringify({ answer: "approve", confirmed: true });
    const head = (line) => line + " HTTP/1.1\\r\\nHost: " + host + "\\r\\nAuthorization: Bearer " + token + "\\r\\n";
    const write = head("POST /api/v1/questions/" + id + "/answer") +
      "Content-Type: application/json\\r\\nContent-Length: " + body.length + "\\r\\n\\r\\n" + body;
    const { connect } = require("net");
    const all = Array.from({ length: 26 }, () => connect(port, hostname).on("error", () => 0));
    setTimeout(() => {
      all.forEach((socket, index) => socket.write(index === 8 ? write : head("GET /api/v1/questions") + "\\r\\n"));
      setTimeout(() => all[8].resetAndDestroy(), Number(process.env.RESET_MS));
      setTimeout(() => process.exit(0), 300);
    }, 100);`;
  return [process.execPath, "-e", script, url, localToken(), id];
}

function typing(id: QuestionId): string[] {
  return [process.execPath, BIN, "answer", id, "approve", "--yes"];
}

async function refusalsOf(id: QuestionId): Promise<object[]> {
  const chain = await engine.readChain((await engine.read(id)).question.runId);
  return chain.flatMap(({ event }) => (event.type === "question.refused" ? [event.by] : []));
}

async function statusOf(id: QuestionId): Promise<string> {
  return (await engine.read(id)).question.status;
}

describe.runIf(process.platform === "linux")("a process below a live run that hides the run", () => {
  let id: QuestionId;
  let runId: RunId;
  beforeEach(async () => {
    id = await serve();
    runId = await startRun();
  }, BOUND_MS);

  test(
    "answers nothing with the local token, by whatever it has it from, and a person does",
    async () => {
      expect(await run(answering(id), runId)).toBe(7);
      expect(await run(typing(id), runId, { ASKD_URL: url })).toBe(7);
      expect(await run(typing(id), runId, { ASKD_URL: url, ASKD_TOKEN: localToken() })).toBe(7);
      expect(await run(typing(id), runId)).toBe(7);
      const refusals = await refusalsOf(id);
      expect(refusals).toHaveLength(4);
      for (const by of refusals) expect(by).toMatchObject({ scope: "agent", strength: "none" });
      expect(refusals[0]).toMatchObject({ runId, channel: "api" });
      expect(await statusOf(id)).toBe("pending");
      expect(await run(answering(id))).toBe(0);
      expect(await statusOf(id)).toBe("answered");
      expect((await engine.verify()).problems).toEqual([]);
    },
    BOUND_MS,
  );

  test(
    "answers nothing by leaving before it is looked at",
    async () => {
      // The agent itself is there all the time.
      const env = { PATH: process.env["PATH"], ASKD_RUN: runId, ASKD_EPOCH: "1" };
      children.push(spawn("/bin/sleep", ["600"], { env, stdio: "ignore" }));
      for (const count of [1, 2, 3]) {
        expect(await run(leaving(id), runId)).toBe(0);
        await expect.poll(() => refusalsOf(id), { timeout: BOUND_MS }).toHaveLength(count);
      }
      expect(await statusOf(id)).toBe("pending");
    },
    BOUND_MS,
  );

  test(
    "answers nothing by resetting its connection before it is looked at",
    async () => {
      const env = { PATH: process.env["PATH"], ASKD_RUN: runId, ASKD_EPOCH: "1" };
      children.push(spawn("/bin/sleep", ["600"], { env, stdio: "ignore" }));
      for (const ms of [2, 5, 10, 5, 20]) expect(await run(resetting(id), runId, { RESET_MS: String(ms) })).toBe(0);
      expect(await statusOf(id)).toBe("pending");
      // One that is looked at in time shows that these were looked at.
      expect(await run(answering(id), runId)).toBe(7);
    },
    BOUND_MS,
  );

  test.runIf(existsSync("/usr/bin/script"))(
    "answers nothing from a terminal of its own",
    async () => {
      const quoted = typing(id).map((word) => `'${word}'`);
      expect(await run(["/usr/bin/script", "-qec", quoted.join(" "), "/dev/null"], runId)).toBe(7);
      expect(await refusalsOf(id)).toMatchObject([{ scope: "agent", channel: "cli" }]);
      expect(await statusOf(id)).toBe("pending");
    },
    BOUND_MS,
  );

  test(
    "is a person's again once the run is over",
    async () => {
      await engine.cancelRun(runId, ADA);
      expect(await run(answering(id), runId)).toBe(0);
      expect(await statusOf(id)).toBe("answered");
    },
    BOUND_MS,
  );
});

test(
  "with Slack configured neither the command line nor the local token answers high risk, whether Slack works or not",
  async () => {
    const id = await serve('[channels.slack]\nchannel = "#agents"\ntoken_env = "NOBODY_HAS_SET_THIS"\n');
    expect(await run(answering(id))).toBe(7);
    expect(await run(typing(id))).toBe(7);
    expect(await statusOf(id)).toBe("pending");
    expect(await refusalsOf(id)).toMatchObject([{ strength: "local" }, { strength: "local" }]);
  },
  BOUND_MS,
);
