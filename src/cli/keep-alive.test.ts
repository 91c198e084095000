import { EventEmitter } from "node:events";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { stayUntilDone } from "./keep-alive.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A process that nothing can wake any more, as often as it is kept. */
function drain(done: () => boolean) {
  const process = Object.assign(new EventEmitter(), { exitCode: undefined as number | undefined });
  let said = "";
  const leave = stayUntilDone(process as unknown as NodeJS.Process, { write: (text: string) => (said += text) });
  let kept = 0;
  for (; kept < 1_000; kept += 1) {
    if (done()) leave();
    process.emit("beforeExit", 0);
    if (vi.getTimerCount() === 0) break;
    vi.runAllTimers();
  }
  return { kept, said, exitCode: process.exitCode };
}

test("a command that waits for something that never comes does not end as if it were done", () => {
  const { kept, said, exitCode } = drain(() => false);
  expect(kept).toBe(120);
  expect(exitCode).toBe(1);
  expect(said).toContain("askd status");
});

test("a process whose command is done ends at once", () => {
  expect(drain(() => true)).toEqual({ kept: 0, said: "", exitCode: undefined });
});
