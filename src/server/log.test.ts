import { expect, test } from "vitest";
import { NOON } from "../../test/builders.ts";
import { jsonLog } from "./log.ts";

test("whatever somebody sends is one line, without control characters and without secrets", () => {
  const lines: string[] = [];
  const log = jsonLog((line) => lines.push(line), { now: () => NOON, least: "info" });
  log("debug", "request", { path: "/" });
  const path = '/a\n{"level":"error"}\r\u2028\u009b31m\u202e\u0000';
  log("warn", "request", { path, token: `Authorization: Bearer askd_h_${"a1B2c3D4e5".repeat(3)}`, status: 403 });
  expect(lines).toHaveLength(1);
  const [line = ""] = lines;
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  expect(line.slice(0, -1)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u202e]/);
  expect(line).not.toContain("a1B2c3D4e5");
  expect(JSON.parse(line)).toMatchObject({ time: NOON, level: "warn", event: "request", path, status: 403 });
});

test("a secret that the end of a long field would cut in two leaves nothing behind", () => {
  const lines: string[] = [];
  const log = jsonLog((line) => lines.push(line), { now: () => NOON, least: "info" });
  log("warn", "request", { text: `${"word ".repeat(798)}ghp_${"a1B2c3D4e5".repeat(4)} end` });
  expect(lines[0]).not.toContain("a1B2");
});
