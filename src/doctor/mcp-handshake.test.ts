import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { beforeAll, afterAll, describe, expect, test } from "vitest";
import { shakeHands } from "./mcp-handshake.ts";
import { findOldNode } from "./node-version.ts";

let dir = "";
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "askd-shake-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const start = (argv: readonly string[]) => ({
  argv,
  cwd: dir,
  env: { PATH: process.env["PATH"], ASKD_HOME: join(dir, "home") },
});
const script = (text: string) => start([process.execPath, "-e", text]);

describe("an MCP server", () => {
  test("of ours is greeted and tells its tools", async () => {
    expect(await shakeHands(start([process.execPath, resolve("bin", "askd"), "mcp"]))).toMatchObject({
      ok: true,
      name: "askd",
      ms: expect.any(Number),
      tools: ["ask_human", "check_answer", "cancel_question"],
    });
  });

  test("that crashes at its start is reported with what it said", async () => {
    const crash = 'console.error("cannot open \\u001b[31mthe store"); process.exit(3)';
    expect(await shakeHands(script(crash))).toEqual({
      ok: false,
      why: "it ended with exit code 3: cannot open \u001b[31mthe store", // whoever shows it makes it harmless
    });
  });

  test.each([
    ["is not there", start(["/no/such/askd", "mcp"]), /cannot be started \(ENOENT\)/],
    ["says nothing", script("setInterval(() => {}, 1000)"), /no reply in 1 s/],
    [
      "speaks another protocol",
      script('process.stdin.once("data", () => console.log(JSON.stringify({id: 1, result: {}})))'),
      /does not speak MCP/,
    ],
  ])("that %s is reported", async (_what, server, why) => {
    expect(await shakeHands(server, 1_000)).toEqual({ ok: false, why: expect.stringMatching(why) });
  });
});

describe("the Node of a command", () => {
  test("that is too old is found, by itself and behind a script", async () => {
    const node = join(dir, "node");
    writeFileSync(node, "#!/bin/sh\necho v18.19.0\n", { mode: 0o755 });
    const askd = join(dir, "askd");
    writeFileSync(askd, "#!/usr/bin/env node\n", { mode: 0o755 });
    const old = { node, version: "18.19.0" };
    expect(await findOldNode(start([node, "/x/askd", "mcp"]))).toEqual(old);
    expect(await findOldNode({ argv: [askd, "mcp"], cwd: dir, env: { PATH: `${dir}:/bin` } })).toEqual(old);
    expect(await findOldNode(start([askd, "mcp"]))).toBeUndefined();
    expect(await findOldNode(start(["/bin/sh"]))).toBeUndefined();
  });
});
