import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { processHolder } from "./process-holder.ts";
import { findIdentity } from "./process-identity.ts";

test("a process that waits is there until it ends, and what cannot be looked for may be there", async () => {
  const { own, isGone } = await processHolder();
  expect(await isGone(own)).toBe(false);
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const identity = await findIdentity(child.pid ?? 0);
  const name = `${identity?.pid}/${identity?.boot}/${identity?.born}`;
  expect(await isGone(name)).toBe(false);
  child.kill("SIGKILL");
  await ended;
  expect(await isGone(name)).toBe(true);
  expect(await isGone(own.replace(/[^/]+$/, "another time"))).toBe(true);
  expect(await isGone("something else")).toBe(false);
});
