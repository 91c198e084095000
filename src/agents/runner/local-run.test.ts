import { expect, test } from "vitest";
import { aRun } from "../../../test/builders.ts";
import { AGENTS } from "../agents.ts";
import { findWorkspaceChanges, findTakeoverCommand } from "./local-run.ts";

const parked = aRun({
  status: "awaiting_input",
  host: "here",
  agent: "claude",
  session: "abc",
  dir: "/tmp/it's here",
});

test("how to go on in a session is said as a shell takes it", async () => {
  expect(await findTakeoverCommand(parked, { agents: AGENTS, host: "here", env: {} })).toBe(
    "cd '/tmp/it'\\''s here' && claude --resume abc",
  );
});

test.each([
  ["its agent works", { status: "running" }],
  ["it is elsewhere", { host: "other" }],
  ["its session looks like a flag", { session: "--help" }],
  ["it has no session", { session: undefined }],
] as const)("nothing is said where %s", async (_, over) => {
  expect(await findTakeoverCommand({ ...parked, ...over }, { agents: AGENTS, host: "here", env: {} })).toBeUndefined();
});

test("work is not looked for where there is no directory, or on another machine", async () => {
  expect(await findWorkspaceChanges({ ...parked, dir: undefined }, "here")).toBeUndefined();
  expect(await findWorkspaceChanges({ ...parked, host: "other" }, "here")).toBeUndefined();
  expect(await findWorkspaceChanges({ ...parked, dir: "/nowhere/at/all" }, "here")).toBeUndefined();
});
