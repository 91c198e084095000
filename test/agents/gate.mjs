// Stands in for askd's hook: puts a question off until a file with the answer is there.
import { existsSync, readFileSync } from "node:fs";
import process from "node:process";

if (process.argv[2] === "hook") {
  const { tool_input: input } = JSON.parse(readFileSync(0, "utf8"));
  const file = process.env.GATE_ANSWER ?? "";
  const answer = existsSync(file) ? readFileSync(file, "utf8") : undefined;
  const answers = Object.fromEntries(input.questions.map(({ question }) => [question, answer]));
  const decision =
    answer === undefined
      ? { permissionDecision: "defer" }
      : { permissionDecision: "allow", updatedInput: { ...input, answers } };
  process.stdout.write(JSON.stringify({ hookSpecificOutput: { hookEventName: "PreToolUse", ...decision } }));
}
