import { expect, test } from "vitest";
import { claude } from "../../../agents/claude/claude.ts";
import { codex } from "../../../agents/codex/codex.ts";
import { command } from "../../../agents/command/command.ts";
import { LogLines } from "./run-log.ts";
import { styleFor } from "../../terminal/terminal.ts";

const PLAIN = styleFor("off");

function say(agent: typeof claude, ...lines: Array<string | object>): string[] {
  const log = new LogLines(agent, PLAIN);
  const texts = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line)));
  return [...texts.flatMap((line) => log.take(line)), ...log.end()];
}

function spoken(...content: object[]) {
  return { type: "assistant", message: { role: "assistant", content }, session_id: "s" };
}

test("words stand as they are, calls name what they are about, results are short", () => {
  const call = { type: "tool_use", id: "t1", name: "Edit", input: { file_path: "src/x.ts", old_string: "a" } };
  const result = { type: "tool_result", tool_use_id: "t1", content: "changed\nline\nline\n" };
  const failed = { type: "tool_result", tool_use_id: "t2", content: "no such file", is_error: true };
  expect(
    say(
      claude,
      spoken({ type: "text", text: "I look first.\nThen I write." }, call),
      { type: "user", message: { content: [result] } },
      { type: "user", message: { content: [failed] } },
    ),
  ).toEqual(["I look first.", "Then I write.", "→ Edit src/x.ts", "  changed (3 lines)", "  ✗ no such file"]);
});

test("a command that another agent runs is named", () => {
  const item = { id: "item_1", type: "command_execution", command: "npm test", status: "in_progress" };
  expect(say(codex, { type: "item.started", item }).join("\n")).toContain("npm test");
});

test("what a program prints comes line by line, also without an end", () => {
  expect(say(command, "one", "", "two")).toEqual(["one", "", "two"]);
});

test("nothing that an agent writes reaches the terminal as a command", () => {
  const call = {
    type: "tool_use",
    id: "t1",
    name: "Bash\u001b[2J",
    input: { command: "printf '\u001b]0;x\u0007'\nrm" },
  };
  const said = say(claude, spoken({ type: "text", text: "a\u001b[31mb\u202e" }, call)).join("\n");
  for (const unsafe of ["\u001b", "\u0007", "\u202e"]) expect(said).not.toContain(unsafe);
  expect(said).toContain("\\x1b[31m");
});

test("an end that is a failure says why", () => {
  const line = { type: "result", is_error: true, subtype: "error_max_turns", session_id: "s", num_turns: 3 };
  expect(say(claude, line)).toEqual(["✗ failed: error_max_turns"]);
});
