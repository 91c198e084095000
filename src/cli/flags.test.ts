import { describe, expect, test } from "vitest";
import { findNearest } from "../core/text/nearest.ts";
import { type Flags, parseFlags, splitCommand } from "./flags.ts";

const flags = {
  json: { type: "string", optional: /^$/, about: "" },
  wait: { type: "string", optional: /^\d+[smh]$/, about: "" },
  option: { type: "string", short: "o", multiple: true, about: "" },
  dir: { type: "string", short: "C", about: "" },
  force: { type: "boolean", about: "" },
} as const satisfies Flags;

describe("flags", () => {
  test("are read before, between and after what is not a flag", () => {
    const args = parseFlags(["--force", "42", "-o", "a:A", "Redis", "--option=b"], flags);
    expect(args.positionals).toEqual(["42", "Redis"]);
    expect(args.flags).toEqual({ force: true, option: ["a:A", "b"] });
  });

  test("may have a value or not where that is allowed", () => {
    expect(parseFlags(["--json"], flags).flags.json).toBe("");
    expect(parseFlags(["--json=id,title"], flags).flags.json).toBe("id,title");
    expect(parseFlags(["--json", "42"], flags)).toMatchObject({ positionals: ["42"], flags: { json: "" } });
    expect(parseFlags(["--wait", "10m", "Which?"], flags)).toMatchObject({
      positionals: ["Which?"],
      flags: { wait: "10m" },
    });
    expect(parseFlags(["--wait", "Which?"], flags)).toMatchObject({ positionals: ["Which?"], flags: { wait: "" } });
  });

  test("end at two dashes", () => {
    expect(parseFlags(["42", "--", "--wait", "-5"], flags).positionals).toEqual(["42", "--wait", "-5"]);
  });

  test("that do not exist are refused with what was probably meant", () => {
    expect(() => parseFlags(["--forse"], flags)).toThrow(
      expect.objectContaining({
        code: "bad_input",
        message: "There is no flag --forse",
        hint: "Did you mean --force?",
      }),
    );
    expect(() => parseFlags(["-x"], flags)).toThrow("There is no flag -x");
  });

  test("with a value missing or too much are refused", () => {
    expect(() => parseFlags(["--dir"], flags)).toThrow("--dir needs a value");
    expect(() => parseFlags(["--force=1"], flags)).toThrow("--force takes no value");
  });
});

describe("the command", () => {
  test("is the first word that is not a flag or its value", () => {
    expect(splitCommand(["-C", "/tmp", "--json", "status", "x"], flags)).toEqual({
      name: "status",
      rest: ["-C", "/tmp", "--json=", "x"],
    });
    expect(splitCommand(["--json"], flags)).toEqual({ name: undefined, rest: ["--json="] });
    expect(splitCommand(["answer", "-o", "b", "--", "-x"], flags).rest).toEqual(["-o", "b", "--", "-x"]);
  });
});

test("the nearest name is found by typing errors and beginnings", () => {
  const names = ["status", "show", "answer", "ask", "list"];
  expect(findNearest("stauts", names)).toBe("status");
  expect(findNearest("anwser", names)).toBe("answer");
  expect(findNearest("stat", names)).toBe("status");
  expect(findNearest("deploy", names)).toBeUndefined();
});
