import { expect, test } from "vitest";
import { aRunScene } from "../../../test/run-dir.ts";
import { hasLostTools } from "./follower.ts";

test("an agent has lost its tools only if it had some that ask", async () => {
  const { runDir } = await aRunScene();
  expect(await hasLostTools(runDir, ["Bash", "Read"])).toBe(false);
  expect(await hasLostTools(runDir, ["Bash", "mcp__askd__ask_human"])).toBe(false);
  expect(await hasLostTools(runDir, ["Bash", "AskUserQuestion"])).toBe(false);
  expect(await hasLostTools(runDir, ["Bash", "Read"])).toBe(true);
});
