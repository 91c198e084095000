import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type MeasuredLimits, isMeasured, withMeasured } from "../../core/door/measured-limits.ts";
import { liveWindow } from "../../core/door/client-profile.ts";
import { MINUTE_MS, SECOND_MS } from "../../core/instant.ts";
import { claudeDefinition } from "../../agents/claude/definition.ts";
import { codexProfile } from "../../agents/codex/definition.ts";
import { NOON } from "../../../test/builders.ts";
import { Ward } from "../../../test/ward.ts";
import { shakeHands } from "../mcp-handshake.ts";
import { keepMeasured, measurements } from "./probe-file.ts";
import { startModel } from "./probe-model.ts";
import { probe } from "./probe.ts";

const CODEX = codexProfile;
const measured = (over: Partial<MeasuredLimits> = {}): MeasuredLimits => ({
  agent: "codex",
  version: "0.166.0",
  measuredAt: NOON,
  client: { name: "codex-mcp-client", version: "0.166.0" },
  ...over,
});

describe("what was measured of a client", () => {
  let dir = "";
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "askd-measured-"));
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  });

  test("is kept for this user alone, and read when it is asked for", async () => {
    const find = measurements(dir);
    const file = await keepMeasured(dir, measured({ limitMs: 40_000 }));
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(find("codex")).toEqual(measured({ limitMs: 40_000 }));
    expect(find("claude")).toBeUndefined();
    writeFileSync(file, "{");
    expect(measurements(dir)("codex")).toBeUndefined();
  });

  test("decides how long its calls are held", () => {
    const window = (over: Partial<MeasuredLimits>): number =>
      liveWindow(withMeasured(CODEX, measured(over)), "stdio", 10 * MINUTE_MS);
    expect(window({})).toBe(285 * SECOND_MS);
    expect(window({ limitMs: 40 * SECOND_MS })).toBe(25 * SECOND_MS);
    expect(window({ heldMs: 9 * SECOND_MS })).toBe(285 * SECOND_MS); // a short trial shows nothing against what is known
    expect(window({ heldMs: 600 * SECOND_MS })).toBe(585 * SECOND_MS);
    expect(window({ progressExtends: true })).toBe(10 * MINUTE_MS);
    expect(liveWindow(withMeasured(CODEX, measured({ limitMs: 40_000 })), "http", 10 * MINUTE_MS)).toBe(
      285 * SECOND_MS,
    );
  });

  test("counts for that very version only", () => {
    expect(isMeasured(measured(), { name: "codex-mcp-client", version: "0.166.0" })).toBe(true);
    expect(isMeasured(measured(), { name: "codex-mcp-client", version: "0.167.0" })).toBe(false);
    expect(isMeasured({ ...measured(), client: undefined }, { name: "codex-mcp-client", version: "0.166.0" })).toBe(
      false,
    );
  });
});

test("the server of a probe speaks MCP and holds what it is told to", async () => {
  const argv = [process.execPath, resolve("bin", "askd"), "probe-server", "--hold", "1s", "mcp"];
  expect(await shakeHands({ argv, env: { PATH: process.env["PATH"] }, cwd: tmpdir() })).toMatchObject({
    ok: true,
    version: "probe",
    tools: ["ask_human"],
  });
});

describe("the stand-in for a model", () => {
  const tool = { name: "mcp__askd__ask_human" };
  const result = { type: "tool_result", tool_use_id: "x", content: "the answer" };
  const requests = {
    "/v1/messages": (shown: boolean) => ({
      tools: [tool],
      messages: [{ role: "user", content: shown ? [result] : "hi" }],
    }),
    "/v1/responses": (shown: boolean) => ({
      tools: [{ type: "namespace", name: "mcp__askd", tools: [{ name: "ask_human" }] }],
      input: shown ? [{ type: "function_call_output", call_id: "x", output: "the answer" }] : "hi",
    }),
    "/v1/chat/completions": (shown: boolean) => ({
      tools: [{ type: "function", function: { name: "askd_ask_human" } }],
      messages: [shown ? { role: "tool", content: "the answer" } : { role: "user", content: "hi" }],
    }),
    "/v1beta/models/x:streamGenerateContent": (shown: boolean) => ({
      tools: [{ functionDeclarations: [{ name: "mcp_askd_ask_human" }] }],
      contents: [{ role: "user", parts: [shown ? { functionResponse: { response: "the answer" } } : { text: "hi" }] }],
    }),
  };

  test.each(Object.entries(requests))("calls our tool once at %s and notes what came back", async (path, build) => {
    const model = await startModel();
    onTestFinished(() => model.close());
    const say = async (body: object): Promise<string> =>
      (await fetch(model.url + path, { method: "POST", body: JSON.stringify(body) })).text();
    expect(await say(build(false))).toContain("ask_human");
    expect(await say(build(true))).toContain("Done.");
    await model.over;
    expect(model.saw).toMatchObject({ offeredAs: expect.stringMatching(/ask_human$/), ms: expect.any(Number) });
    expect(model.saw.result).toContain("the answer");
  });

  test("is reached from this machine only, and says no to what it does not know", async () => {
    const model = await startModel();
    onTestFinished(() => model.close());
    expect(new URL(model.url).hostname).toBe("127.0.0.1");
    expect((await fetch(`${model.url}/v1/models`)).status).toBe(404);
  });
});

test("an agent that does not work is reported, and nothing is made of it", async () => {
  const ward = new Ward();
  const { client, probe: agent } = claudeDefinition;
  if (!client || !agent) throw new Error("claude can be measured");
  const program = join(ward.bin, "claude");
  writeFileSync(program, "#!/bin/sh\necho 'Cannot start: no licence' >&2\nexit 1\n", { mode: 0o755 });
  const steps: string[] = [];
  const probed = await probe({
    client,
    agent,
    program,
    around: ward.around,
    stateDir: ward.stateDir,
    version: "1.0.0",
    now: NOON,
    maxMs: 30 * SECOND_MS,
    onStep: (text: string) => void steps.push(text),
  });
  expect(probed.measured).toEqual({ agent: "claude", version: "1.0.0", measuredAt: NOON });
  expect(probed.lines[0]).toEqual({ what: steps[0], result: undefined, why: "Cannot start: no licence" });
});
