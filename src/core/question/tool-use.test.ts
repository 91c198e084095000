import { describe, expect, test } from "vitest";
import { diffLines } from "../text/line-diff.ts";
import { describeToolUse } from "./tool-use.ts";

const auth = {
  file_path: "src/auth.ts",
  old_string: "function check() {\n  return jwt.verify(token);\n}",
  new_string: "function check() {\n  return true;\n}",
};

describe("what an approval allows", () => {
  test("is the command of a shell, with its other arguments as named fields", () => {
    const said = describeToolUse({ tool: "Bash", input: { command: "rm -rf /", description: "Tidy up", timeout: 5 } });
    expect(said.title).toBe('May the agent use Bash to run "rm -rf /"?');
    expect(said.details).toBe("```sh\nrm -rf /\n```\n\n```\ndescription: Tidy up\ntimeout: 5\n```");
  });

  test("is a diff of an edit, the old text first", () => {
    const said = describeToolUse({ tool: "Edit", input: auth });
    expect(said.title).toBe('May the agent use Edit on "src/auth.ts"?');
    expect(said.details).toBe(
      [
        "```diff",
        "*** src/auth.ts",
        "@@ 1 removed, 1 line added @@",
        " function check() {",
        "-  return jwt.verify(token);",
        "+  return true;",
        " }",
        "```",
      ].join("\n"),
    );
  });

  test("has the line numbers of an edit, in whole lines, where the file is known", () => {
    const file = "import x;\n\nfunction check() {\n  return jwt.verify(token);\n}\n";
    const input = { file_path: "src/auth.ts", old_string: "jwt.verify(token)", new_string: "true" };
    const { details } = describeToolUse({ tool: "Edit", input, file });
    expect(details).toContain(
      "@@ -4,1 +4,1 @@ 1 removed, 1 line added\n-  return jwt.verify(token);\n+  return true;\n```",
    );
    const gone = describeToolUse({ tool: "Edit", input, file: "nothing of it" });
    expect(gone.details).toContain("@@ 1 removed, 1 line added @@\n-jwt.verify(token)\n+true");
  });

  test("has the line numbers of several edits, each after the one before", () => {
    const edits = [
      { old_string: "one\n", new_string: "one\nand a half\n" },
      { old_string: "three", new_string: "four" },
    ];
    const { details } = describeToolUse({
      tool: "MultiEdit",
      input: { file_path: "a", edits },
      file: "one\ntwo\nthree",
    });
    expect(details).toContain("@@ -1,2 +1,3 @@ edits[0]: 0 removed, 1 line added");
    expect(details).toContain("@@ -4,1 +4,1 @@ edits[1]: 1 removed, 1 line added\n-three\n+four");
  });

  test("is a diff against the file that is overwritten", () => {
    const input = { file_path: "a.txt", content: "one\n2\nthree\n" };
    const { details } = describeToolUse({ tool: "Write", input, file: "one\ntwo\nthree\n" });
    expect(details).toContain("@@ -1,4 +1,4 @@ 1 removed, 1 line added\n one\n-two\n+2\n three");
  });

  test("is every edit of several, and what else they say", () => {
    const { file_path, ...edit } = auth;
    const input = { file_path, edits: [edit, { old_string: "a", new_string: "b", replace_all: true }] };
    const { details } = describeToolUse({ tool: "MultiEdit", input });
    expect(details).toContain("@@ edits[1]: 1 removed, 1 line added @@\n-a\n+b");
    expect(details).toContain("edits[1].replace_all: true");
  });

  test("is the whole text of a file that is written", () => {
    const { details } = describeToolUse({ tool: "Write", input: { file_path: "a.txt", content: "one\ntwo" } });
    expect(details).toBe("```diff\n*** a.txt\n@@ 2 lines written @@\n+one\n+two\n```");
  });

  test("is all arguments of any other tool; text of several lines cannot pretend to be the next one", () => {
    const input = { to: { city: "Bonn\nurl: http://safe.example" }, url: "http://evil.example", n: "1", list: [] };
    const { title, details } = describeToolUse({ tool: "mcp__post__send", input });
    expect(title).toBe('May the agent use mcp__post__send with "http://evil.example"?');
    expect(details).toBe(
      '```\nto.city:\n    Bonn\n    url: http://safe.example\nurl: http://evil.example\nn: "1"\nlist: []\n```',
    );
  });

  test("has a title of one visible line; a longer command says its length", () => {
    const command = `echo \u001b[2J\u202e${"x".repeat(200)}\nrm -rf /`;
    const { title, details } = describeToolUse({ tool: "Bash", input: { command } });
    expect(title).toMatch(/^May the agent use Bash to run "echo \\x1b\[2J\\u202ex+…" \(\d+ characters\)\?$/);
    expect(details).toContain("echo \\x1b[2J\\u202exxx");
    expect(details).toContain("\nrm -rf /\n");
  });
});

test("a diff has all lines of both texts, in order", () => {
  const before = "a\nb\nc\nd";
  const after = "a\nx\nc\ny\nz";
  const lines = diffLines(before, after);
  expect(lines.map(({ mark, text }) => mark + text)).toEqual([" a", "-b", "+x", " c", "-d", "+y", "+z"]);
});
