import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { Terminal } from "./tmux.ts";

test("a terminal shows what its shell prints, takes keys and pastes, and can be resized", async () => {
  const terminal = new Terminal({ columns: 60, rows: 10, cwd: tmpdir(), env: {} });
  terminal.enter("stty size; printf '\\303\\274\\n'");
  await terminal.shows("10 60\nü");
  terminal.resize(40, 12);
  terminal.enter("clear; stty size");
  expect(await terminal.shows(/^12 40\n\$/)).toBe("12 40\n$");
  terminal.paste("echo pa$((40 + 2))");
  terminal.press("Enter");
  await terminal.shows("pa42");
});
