import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type MachineSurroundings, findMachineId, ensureMachineId } from "./machine-id.ts";

const CONTAINER: MachineSurroundings = { hostName: "f3a9c1d2e4b5", install: undefined };

let stateDir = "";
beforeEach(() => {
  stateDir = join(mkdtempSync(join(tmpdir(), "askd-machine-")), "state");
});
afterEach(() => rmSync(join(stateDir, ".."), { recursive: true }));

test("a machine keeps its id, whatever it is called afterwards", () => {
  const id = ensureMachineId(stateDir, CONTAINER);
  expect(id).toMatch(/^f3a9c1d2e4b5~[0-9a-f]{6}$/);
  expect(ensureMachineId(stateDir, { ...CONTAINER, hostName: "0b1c2d3e4f50" })).toBe(id);
  expect(findMachineId(stateDir, { ...CONTAINER, hostName: "0b1c2d3e4f50" })).toBe(id);
  expect(readdirSync(stateDir)).toEqual(["machine"]);
  expect(readFileSync(join(stateDir, "machine"), "utf8")).toBe(`${id}\n`);
  expect(statSync(join(stateDir, "machine")).mode & 0o777).toBe(0o600);
  expect(statSync(stateDir).mode & 0o777).toBe(0o700);
});

test("two machines of the same name are two", () => {
  const other = join(stateDir, "other");
  expect(ensureMachineId(other, CONTAINER)).not.toBe(ensureMachineId(stateDir, CONTAINER));
});

test("whoever only reads writes nothing", () => {
  expect(findMachineId(stateDir, CONTAINER)).toBe("f3a9c1d2e4b5");
  expect(() => readdirSync(stateDir)).toThrow("ENOENT");
});

test("a directory with runs from before goes on under the name of its host, and keeps it when the host is renamed", () => {
  mkdirSync(join(stateDir, "runs", "r_1"), { recursive: true });
  expect(findMachineId(stateDir, CONTAINER)).toBe("f3a9c1d2e4b5");
  expect(ensureMachineId(stateDir, CONTAINER)).toBe("f3a9c1d2e4b5");
  expect(ensureMachineId(stateDir, { ...CONTAINER, hostName: "renamed" })).toBe("f3a9c1d2e4b5");
});

test("installations that share a directory over a network are machines of their own", () => {
  const first = { hostName: "node-1", install: "a".repeat(32) };
  const second = { hostName: "node-2", install: "b".repeat(32) };
  const ids = [first, second, first, second].map((around) => ensureMachineId(stateDir, around));
  expect(ids[0]).toMatch(/^node-1~/);
  expect(ids[1]).toMatch(/^node-2~/);
  expect(ids.slice(2)).toEqual(ids.slice(0, 2));
});

test("a file that is not ours is not believed, and a name that is no host name is made one", () => {
  mkdirSync(stateDir);
  writeFileSync(join(stateDir, "machine"), "../../etc\n");
  expect(ensureMachineId(stateDir, CONTAINER)).toBe("f3a9c1d2e4b5");
  const odd = join(stateDir, "odd");
  expect(ensureMachineId(odd, { hostName: "Ada's Laptop~1", install: undefined })).toMatch(
    /^Ada-s-Laptop-1~[0-9a-f]{6}$/,
  );
});

test("where nothing can be written the host name has to do", () => {
  mkdirSync(stateDir);
  writeFileSync(join(stateDir, "file"), "");
  expect(ensureMachineId(join(stateDir, "file", "below"), CONTAINER)).toBe("f3a9c1d2e4b5");
});
