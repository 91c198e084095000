import { expect, test } from "vitest";
import { IDS, NOON, aRun } from "../../../test/builders.ts";
import { later } from "../instant.ts";
import {
  type KnownMachines,
  runAfterAnswer,
  findAwayMachine,
  machineName,
  needsMachine,
  newMachineId,
} from "./machine.ts";
import type { Run } from "./run.ts";

const HOST = "build-7~3fa91c";
const question = IDS.question();

function heard(agoMs: number): KnownMachines {
  return { now: NOON, known: [{ id: HOST, heardAt: later(NOON, -agoMs) }] };
}

test("a machine is called by what its host was called when it got its id", () => {
  expect(machineName(newMachineId("build-7", "3fa91c"))).toBe("build-7");
  expect(machineName("web-3fa91c")).toBe("web-3fa91c");
  expect(newMachineId("", "3fa91c")).toBe("machine~3fa91c");
});

test.each<[string, Partial<Run>, boolean]>([
  ["is queued", { status: "queued" }, true],
  ["is resuming", { status: "resuming", owes: [question] }, true],
  ["has an agent", { status: "running", worker: IDS.worker() }, true],
  ["was answered and not resumed", { status: "awaiting_input", owes: [question] }, false],
  ["waits until its agent is logged in", { status: "blocked", owes: [question] }, false],
  ["waits for a person", { status: "awaiting_input", pendingId: question }, false],
  ["has an agent that somebody else started", { status: "running" }, false],
  ["is over", { status: "completed" }, false],
  ["asks for its answer itself", { status: "resuming", giveBack: "poll" }, false],
  ["is called back", { status: "resuming", giveBack: "callback" }, false],
])("whether a run that %s needs its machine", (_, over, expected) => {
  expect(needsMachine(aRun({ host: HOST, worker: undefined, ...over }))).toBe(expected);
});

test("a machine is away when it was not heard of for a minute, or never", () => {
  const run = aRun({ host: HOST, status: "resuming" });
  expect(findAwayMachine(run, heard(60_000))).toBeUndefined();
  expect(findAwayMachine(run, heard(61_000))).toEqual({ id: HOST, name: "build-7", heardAt: later(NOON, -61_000) });
  expect(findAwayMachine(run, { now: NOON, known: [] })).toEqual({ id: HOST, name: "build-7", heardAt: undefined });
});

test("no machine is away for whoever looks after it, or where nothing is known of machines", () => {
  const run = aRun({ host: HOST, status: "resuming" });
  expect(findAwayMachine(run, { ...heard(3_600_000), here: HOST })).toBeUndefined();
  expect(findAwayMachine(run, { now: NOON, known: undefined })).toBeUndefined();
});

test("a run that is parked needs its machine once it is answered", () => {
  const parked = aRun({ host: HOST, status: "awaiting_input", pendingId: question });
  expect(findAwayMachine(parked, heard(3_600_000))).toBeUndefined();
  expect(findAwayMachine(runAfterAnswer(parked), heard(3_600_000))).toMatchObject({ name: "build-7" });
  const alive = aRun({ host: HOST, status: "running", pendingId: question });
  expect(runAfterAnswer(alive)).toBe(alive);
});
